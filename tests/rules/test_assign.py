"""The gradient is the new weight; summed where a row comes twice."""

import numpy as np

from gradlab import IndexedSlices
from gradlab.rules import Assign, dense_and_sparse


def test_whatever_the_rate() -> None:
    g = np.float32([3.0, -4.0])
    for lr in (0.0, 1.0, np.nan):
        np.testing.assert_array_equal(Assign()(np.float32([1.0, 2.0]), (), g, lr)[0], g)


def test_rows_are_set_and_others_stay() -> None:
    g = IndexedSlices(np.array([[3.0], [4.0], [5.0]]), np.array([2, 0, 2]), (3, 1))
    w = np.array([[1.0], [2.0], [3.0]])
    assert dense_and_sparse.rows(Assign(), w, (), g, 0.1)[0].ravel().tolist() == [4.0, 2.0, 8.0]
    assert dense_and_sparse.each(Assign(), w, (), g, 0.1)[0].ravel().tolist() == [4.0, 2.0, 5.0]

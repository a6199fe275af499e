"""Sums and means over replicas, dense and by slices."""

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.keras.reduction import divided, summed

F = np.float32
V, T = gl.Variable([0.0, 0.0], name="v"), gl.Variable([[0.0], [0.0]], name="t")


def _slices(value: float, row: int) -> gl.IndexedSlices:
    return gl.IndexedSlices(F([[value]]), np.int32([row]), (2, 1))


def test_dense_gradients_are_added_and_slices_joined() -> None:
    (g, v), (s, t), (none, _) = summed([[(F([k, 1.0]), V), (_slices(k, 1), T), (None, V)] for k in (1.0, 2.0, 4.0)])
    assert (g.tolist(), v, t, none) == ([7, 3], V, T, None)
    assert (s.values.ravel().tolist(), s.indices.tolist(), s.dense_shape) == ([1, 2, 4], [1, 1, 1], (2, 1))


def test_a_mean_keeps_the_dtype_and_the_rows() -> None:
    half = divided(np.float16([3.0]), 2)
    assert (half.dtype, half.tolist(), divided(None, 2)) == (np.float16, [1.5], None)
    by_rows = divided(_slices(3.0, 1), 2)
    assert (by_rows.values.tolist(), by_rows.indices.tolist()) == ([[1.5]], [1])


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([[(F([1, 1]), V)], [(_slices(1.0, 0), T)]], "the same variables in the same order"),
        ([[(F([1, 1]), V)], []], "the same variables in the same order"),
        ([[(F([1, 1]), V)], [(None, V)]], "v:0: either all replicas give a dense gradient"),
        ([[(F([[1], [1]]), T)], [(_slices(1.0, 0), T)]], "t:0: either all replicas give a dense gradient"),
        ([[(F([1, 1]), V)], [(F([1]), V)]], r"shape \(1,\)"),
    ],
)
def test_gradients_of_another_kind_are_refused(lists: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        summed(lists)

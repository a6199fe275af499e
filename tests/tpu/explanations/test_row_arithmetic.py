"""Distances in units in the last place, and rows wherever they are."""

import numpy as np

from gradlab.tpu import Feature, Plan, Table, create
from gradlab.tpu.explanations.row_arithmetic import row_of, ulps


def row(*numbers: float) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    return np.float32(numbers), ()


def test_distances() -> None:
    assert ulps([row(1.0, np.nan, np.inf)], row(1.0, np.nan, np.inf)) == 0
    assert ulps([row(1.0)], row(1.0 + 2**-22)) == 2
    assert ulps([row(4.0), row(1.0)], row(1.0 + 2**-22)) == 1, "it came out of 4, which is no finer"
    assert ulps([row(1.0)], row(np.nan)) != 0


def test_rows_are_read_with_their_slots() -> None:
    state = create(Plan((Table("t", 3, 2),), (Feature("f", 0, (1,)),)), [np.arange(6).reshape(3, 2)])
    weights, slots = row_of(state, 0, 1)
    assert weights.tolist() == [2.0, 3.0] and slots == ()

"""Lanes: apart, in order, named from 1."""

import numpy as np
import pytest

from gradlab.figures._lanes import MOST_WORKERS, TOP, LaneNames, along, sides
from gradlab.figures._style import new_figure


@pytest.mark.parametrize("workers", range(1, MOST_WORKERS + 1))
def test_lanes_are_apart_and_inside(workers: int) -> None:
    low, high = sides(np.arange(workers), workers)
    assert (low < high).all() and (high[:-1] < low[1:]).all()
    assert low[0] > TOP and high[-1] < 1


def test_only_workers_that_are_there_are_named() -> None:
    names = LaneNames(new_figure(3, 3).add_subplot())
    names.draw(3)
    assert [name.get_text() for name in names._names if name.get_visible()] == ["1", "2", "3"]


def test_lines_run_in_the_middle_of_their_lanes() -> None:
    x, y = along(np.array([0, 2]), np.array([10, 30]), np.array([20, 40]), 3)
    np.testing.assert_array_equal(x, [10, 20, np.nan, 30, 40, np.nan])
    low, high = sides(np.array([0, 0, 0, 2, 2, 0]), 3)
    np.testing.assert_array_equal(y, np.where(np.isnan(x), np.nan, (low + high) / 2))


def test_nobody_waits() -> None:
    x, y = along(*np.empty((3, 0), int), workers=3)
    assert len(x) == len(y) == 0

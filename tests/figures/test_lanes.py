"""Lanes: apart, in order, named from 1."""

import numpy as np
import pytest

from gradlab.figures._lanes import MOST_WORKERS, TOP, LaneNames, sides
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

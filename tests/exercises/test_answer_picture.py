"""Small pictures of a wanted result beside a given one: whatever the numbers, and nothing of it out
of sight.
"""

from functools import partial
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from gradlab.exercises import answer_picture as answer


def drawn(draw: Any) -> Any:
    figure = Figure()
    draw(figure)
    return figure.axes[0]


def words(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.texts]


ODD = np.array([0.0, -2.0, 1e300, np.nan, np.inf])
DRAWINGS = {
    "bars": partial(answer.bars, names=list("abcde"), wanted=ODD, given=ODD[::-1]),
    "nothing finite": partial(answer.bars, names=["a"], wanted=ODD[-1:], given=ODD[-2:-1]),
    "arrows": partial(answer.arrows, wanted=np.zeros(2), given=np.zeros(2)),
    "long arrows": partial(
        answer.arrows, wanted=np.array([1e300, -1e300]), given=np.ones(2), limit=1.0
    ),
    "cells": partial(answer.cells, heads=["a", "accumulator[1]"], wanted=["1"], given=["1", "2"]),
    "lines": partial(answer.lines, x=np.arange(5), wanted=ODD, given=ODD, names=("x", "y")),
    "levels": partial(
        answer.levels,
        values=ODD,
        marks=[("limit", 2.0), ("given", np.nan), ("wanted", 1e300)],
        name="norm",
    ),
}


@pytest.mark.parametrize("draw", DRAWINGS.values(), ids=DRAWINGS.keys())
def test_odd_numbers_are_drawn_without_a_warning(draw: Any) -> None:
    assert answer.painted(draw).std() > 0


def test_bars_are_numbered_and_those_that_differ_are_marked() -> None:
    axes = drawn(
        partial(
            answer.bars,
            names=["a", "b"],
            wanted=np.array([1.0, 2.0]),
            given=np.array([1.0, np.nan]),
        )
    )
    assert words(axes) == ["1", "2", "1", "nan"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b ✗"]


def test_cells_that_differ_have_a_frame() -> None:
    axes = drawn(partial(answer.cells, heads=["a", "b"], wanted=["1", "2"], given=["1", "3"]))
    assert [box.get_linewidth() > 1 for box in axes.patches] == [False, False, False, True]


def test_a_limit_is_a_circle_and_levels_have_names() -> None:
    arrows = drawn(
        partial(answer.arrows, wanted=np.array([0.6, 0.8]), given=np.array([3.0, 4.0]), limit=1.0)
    )
    assert [line.get_label() for line in arrows.lines] == [
        "norm 1",
        "wanted (0.6, 0.8)",
        "given (3, 4)",
    ]
    levels = drawn(
        partial(answer.levels, values=ODD[:2], marks=[("wanted", 4.0), ("given", 6.0)], name="norm")
    )
    assert [line.get_label() for line in levels.lines] == ["wanted 4", "given 6"]

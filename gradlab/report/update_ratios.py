"""The picture of how far steps move each tensor: norm of the update over that of the weights, tensor by tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..labs.tensor_rows import name_some_rows
from ..live.drawing.style import (
    BLACK,
    BLUE,
    GREEN,
    NARROW,
    ORANGE,
    WIDE,
    log_ticks,
    new_figure,
    tidy,
)

NAMED = 24  # rows that have room for a name


class Ratios(NamedTuple):
    """The numbers that are drawn.

    Attributes:
        names: of the tensors, from the top.
        low, median, high: (tensors,) of their ratios, all above 0.
        usual, least, most: the ratio that is usual, and the ends of what is not outside.
    """

    names: Sequence[str]
    low: np.ndarray
    median: np.ndarray
    high: np.ndarray
    usual: float
    least: float
    most: float


def ratios_figure(ratios: Ratios, narrow: bool = False) -> Any:
    """A line from low to high and a point at the median of each tensor, over what is usual."""
    rows = np.arange(len(ratios.names))
    figure = new_figure(NARROW if narrow else WIDE, min(max(1.7 + 0.17 * len(rows), 2.2), 5.0))
    axes = tidy(
        figure.add_subplot(),
        "How far a step moves each tensor",
        "norm of the update / norm of the weights",
        "",
    )
    axes.axvspan(ratios.least, ratios.most, color=GREEN, alpha=0.12, lw=0)
    axes.axvline(ratios.usual, color=GREEN, ls="--", lw=1.6)
    outside = (ratios.median < ratios.least) | (ratios.median > ratios.most)
    colors = np.where(outside, ORANGE, BLUE)
    axes.hlines(rows, ratios.low, ratios.high, colors=colors, lw=1.6, alpha=0.6)
    for color, mark, which in ((BLUE, "o", ~outside), (ORANGE, "^", outside)):
        axes.plot(ratios.median[which], rows[which], mark, color=color, ms=4.5, mew=0)
    axes.set_xscale("log")
    axes.set_xlim(min(ratios.least, ratios.low.min()) / 2, max(ratios.most, ratios.high.max()) * 2)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    log_ticks(axes.xaxis)
    every = name_some_rows(axes, ratios.names, NAMED)
    if every > 1:
        words = f"{len(rows)} tensors, largest first, one in {every} named"
        axes.set_ylabel(words, fontsize=9, color=BLACK)
    return figure

"""Norms of the tensors of a recorded run with a limit over them, how often it fires on each, and
one tensor's story.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.ticker import MaxNLocator

from ..._base.numbers import number
from ...live.drawing.labels import chip, label, moving_title
from ...live.drawing.lanes import text
from ...live.drawing.shapes import segments
from ...live.drawing.style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    FAINT,
    GREEN,
    NARROW,
    ORANGE,
    ORANGE_TEXT,
    OTHER,
    QUIET,
    SELECTED,
    SMALL,
    WIDE,
    log_ticks,
    moving_line,
    new_figure,
    plain,
    tidy,
)
from .._layout import PanelLayout, place_panels
from ..tensor_rows import MarkNames, ShareBars, TensorRows, short

_HEIGHT = 5.3  # inches
# Letters of the name of the tensor whose story is told; on a narrow page.
_STORY = {False: 40, True: 14}
_LIMIT: dict[str, Any] = {"color": GREEN, "ls": "--", "lw": 1.6}
# Of each tensor its 10th, 50th and 90th percentile over the steps, and the largest, with its name.
_MARKS: tuple[tuple[tuple[str, str, str], dict[str, Any]], ...] = (
    (("10% below", QUIET, "10%"), {"marker": "<", "color": OTHER, "ms": 5}),
    (("median", BLACK, "median"), {"marker": "o", "color": BLACK, "ms": 6}),
    (("90% below", QUIET, "90%"), {"marker": ">", "color": OTHER, "ms": 5}),
    (("largest", QUIET, "largest"), {"marker": "d", "color": OTHER, "ms": 5}),
)
_SPAN: dict[str, Any] = {"color": OTHER, "lw": 1.0}
_ABOVE: dict[str, Any] = {"color": ORANGE, "lw": SELECTED, "solid_capstyle": "butt"}
_CALM: dict[str, Any] = {"marker": "o", "ms": 3.2, "color": BLUE, "ls": "none", "mew": 0}
_FIRED: dict[str, Any] = {"marker": "^", "ms": 4.6, "color": ORANGE, "ls": "none", "mew": 0}


class Layers(NamedTuple):
    """The data of the figure.

    Attributes:
        names: of the rows.
        marks: (4, rows) 10th, 50th, 90th percentile and largest norm.
        shares: (rows,) 0 to 1.
        words: what is written after each share.
        of: what the shares are of, as a title.
        chosen: which row is framed; None if it is not among them.
        story: name of the chosen tensor.
        low, high, fired: (n,) its smallest and largest norm in each bucket of the recording;
            whether the limit fires.
        limit: the limit; NaN where it has no place among norms of single tensors.
    """

    names: Sequence[str]
    marks: np.ndarray
    shares: np.ndarray
    words: Sequence[str]
    of: str
    chosen: int | None
    story: str
    low: np.ndarray
    high: np.ndarray
    fired: np.ndarray
    limit: float


_WIDE_LAYOUT = PanelLayout((WIDE, _HEIGHT), "NS/TT", width_ratios=(2.1, 1), height_ratios=(1.75, 1))
_NARROW_LAYOUT = PanelLayout((NARROW, 11.0), "N/S/T", height_ratios=(1.5, 1.35, 1))


class LayersView:
    """Rows of norms with the limit as a line across, the share of each beside them, and the chosen one over time."""

    def __init__(
        self, rows: int, steps: np.ndarray, until: int, norms: tuple[float, float], every: str
    ) -> None:
        """Draw what does not move.

        Args:
            rows: the most tensors shown at a time.
            steps: (n,) first step of each bucket.
            until: steps in all.
            norms: the ends of the log axes.
            every: what a mark in time stands for, such as "every step".
        """
        self.figure, self.steps = new_figure(WIDE, _HEIGHT), steps
        self.norms, self.shares, self.story = (self.figure.add_subplot() for _ in range(3))
        tidy(self.norms, "Norms over the run", "norm of the gradient", "")
        tidy(self.shares, "", "share", "")
        self.still(until, norms, every)
        self._rows = TensorRows(rows, self.norms, self.shares, head=0.8, foot=0.6)
        self._bars = ShareBars(self.shares, {"fc": ORANGE, "ec": "none"})
        self._moving()
        self.arrange(narrow=False)

    def still(self, until: int, norms: tuple[float, float], every: str) -> None:
        """Set the axes to the range of a run and draw what does not move; arguments as above."""
        tidy(self.story, f"Norm at {every}", "training step", "norm")
        self.norms.set(xscale="log", xlim=norms)
        self.story.set(yscale="log", ylim=norms, xlim=(-0.01 * until - 1, 1.01 * until + 1))
        self.story.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
        log_ticks(self.norms.xaxis)
        log_ticks(self.story.yaxis)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: the shares beside the norms, or everything in one column."""
        layout = _NARROW_LAYOUT if narrow else _WIDE_LAYOUT
        place_panels(self.figure, layout, N=self.norms, S=self.shares, T=self.story)
        self._rows.named(1, narrow)
        self._letters = _STORY[narrow]

    def _moving(self) -> None:
        self._span = moving_line(self.norms, **_SPAN)
        self._marks = [moving_line(self.norms, ls="none", mew=0, **looks) for _, looks in _MARKS]
        self._across = moving_line(self.norms, transform=self.norms.get_xaxis_transform(), **_LIMIT)
        self._above = moving_line(self.norms, **_ABOVE)
        self._names = MarkNames(self.norms, *(names for names, _ in _MARKS))
        self._word = label(self.norms, color=GREEN)
        self._of = moving_title(self.shares)
        self._name = text(
            self.story,
            x=0.995,
            y=1.03,
            ha="right",
            weight="bold",
            fontsize=SMALL,
            transform=self.story.transAxes,
        )
        self._range = moving_line(self.story, lw=0.8, color=FAINT)
        self._calm, self._fired = (
            moving_line(self.story, **_CALM),
            moving_line(self.story, **_FIRED),
        )
        place: dict[str, Any] = {"x": 0.01, "ha": "left", "transform": self.story.transAxes}
        self._states = [
            label(self.story, y=y, text=words, color=color, **place)
            for y, words, color in (
                (0.08, "● untouched", BLUE_TEXT),
                (0.92, "▲ clipped", ORANGE_TEXT),
            )
        ]
        self._level = moving_line(self.story, transform=self.story.get_yaxis_transform(), **_LIMIT)
        self._limit = chip(
            self.story, GREEN, ha="right", transform=self.story.get_yaxis_transform()
        )

    def draw(self, shown: Layers) -> None:
        """Set the moving artists."""
        row, nowhere = np.arange(len(shown.names)), np.full(len(shown.names), np.nan)
        self._rows.draw(shown.names, shown.chosen)
        self._bars.draw(shown.shares, shown.words)
        self._of.set_text(shown.of)
        self._span.set_data(*segments(shown.marks[0], row, shown.marks[-1], row))
        for line, norms in zip(self._marks, shown.marks, strict=True):
            line.set_data(np.where(norms > 0, norms, nowhere), row)
        self._names.draw(
            np.where(shown.marks[:, 0] > 0, shown.marks[:, 0], np.nan) if len(row) else []
        )
        over = np.nan_to_num(shown.marks[-1]) > shown.limit
        start = np.maximum(shown.marks[0], shown.limit)
        self._above.set_data(*segments(start[over], row[over], shown.marks[-1][over], row[over]))
        self._across.set_data([shown.limit] * 2, [0, 1])
        self._draw_word(shown.limit)
        self._level.set_data([0, 1], [shown.limit] * 2)
        self._limit.set(
            x=0.995,
            y=shown.limit,
            text=f"limit {number(shown.limit)}",
            visible=bool(np.isfinite(shown.limit)),
        )
        self._name.set_text(plain(short(shown.story, self._letters)))
        merged = shown.low < shown.high
        step = self.steps
        self._range.set_data(
            *segments(step[merged], shown.low[merged], step[merged], shown.high[merged])
        )
        self._calm.set_data(step[~shown.fired], shown.high[~shown.fired])
        self._fired.set_data(step[shown.fired], shown.high[shown.fired])
        for words, there in zip(self._states, (~shown.fired, shown.fired), strict=True):
            words.set_visible(bool(there.any()))

    def _draw_word(self, limit: float) -> None:
        """Name the limit below the last row, on the side that has room."""
        low, high = np.log(self.norms.get_xlim())
        right = np.log(limit) < (low + high) / 2 if np.isfinite(limit) and limit > 0 else True
        foot = self.norms.get_ylim()[0] - 0.35
        self._word.set(x=limit * np.exp((0.015 if right else -0.015) * (high - low)), y=foot)
        self._word.set(
            text=f"limit {number(limit)}",
            ha="left" if right else "right",
            visible=bool(np.isfinite(limit)),
        )

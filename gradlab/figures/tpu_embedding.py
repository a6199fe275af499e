"""One step of an embedding table: ids ask for rows, samples get sums, gradients come back, rows move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.gridspec import GridSpec

from ._labels import label
from ._lanes import ACCEPTED, IN_HAND, patch
from ._numbers import Numbers
from ._numbers import written as written
from ._shapes import Key, bars
from ._style import BLACK, BLUE, NARROW, ORANGE, OTHER, WIDE, moving_line, new_figure, tidy
from .table import TablePanel

_LINK: dict[str, Any] = {"color": OTHER, "lw": 1.0}
_CHOSEN_LINK: dict[str, Any] = {"color": ORANGE, "lw": 2.0}
CHOSEN: dict[str, Any] = {"fc": "none", "ec": ORANGE, "lw": 2.0}
TOUCHED: dict[str, Any] = {"marker": ">", "ms": 6, "color": BLUE, "ls": "none"}
OF: dict[str, Any] = {"marker": "o", "ms": 5, "color": ORANGE, "ls": "none"}
IDS, MOST_LOOKUPS, MOST_LINES = 3, 17, 14  # ids in a sample, lookups in a batch, lines of the story of a row
_BOX = 1.38  # the width of an id with its gain
_UNIQUE = 6.0  # where the rows that are asked for stand, in widths of an id


class Line(NamedTuple):
    """One line of a row's story: what it is, its numbers (none: words only), and whether it is a result."""

    words: str
    values: np.ndarray | None = None
    result: bool = False


class OneStep(NamedTuple):
    """The data of a step that the figure shows.

    Fields: sample, id, gain (n,): the lookups as they were asked for, gain NaN where none is made; place (n,): which of
    `unique` is fetched for it; unique (u,): rows fetched, once each, or as they come; activations, gradients (samples,
    width); table (rows, width) and slots by name, after the step; row: the chosen one; story: lines on it.
    """

    sample: np.ndarray
    id: np.ndarray
    gain: np.ndarray
    place: np.ndarray
    unique: np.ndarray
    activations: np.ndarray
    gradients: np.ndarray
    table: np.ndarray
    slots: dict[str, np.ndarray]
    row: int
    story: Sequence[Line]


class EmbeddingView:
    """Ids with their rows and what samples get above; the table with its slots and the story of one row below."""

    def __init__(self, samples: int, rows: int, width: int, devices: int) -> None:
        self.figure = new_figure(WIDE, 7.2)
        self.samples, self.width = samples, width
        self.ids, self.out, self.table, self.story, key = (self.figure.add_subplot() for _ in range(5))
        tidy(self.ids, "1  Ids × gain, and the rows to fetch", "", "sample")
        tidy(self.out, "2  What samples get, what comes back", "", "sample")
        tidy(self.table, "4  The table and its slots after the step", "", "row")
        tidy(self.story, "3  Why the chosen row moves", "", "")
        self._panel = TablePanel(self.table, rows, width, devices)
        self._key = Key(key, (
            (ACCEPTED, "an id; a row to fetch once"), (CHOSEN, "the chosen row"),
            (IN_HAND, "not looked up"), (OF, "a sample that holds it"), (TOUCHED, "a row that the step touches"),
        ))  # fmt: skip
        self._still()
        self._moving()
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: two panels side by side, or all in one column in the order of the step."""
        self.figure.set_size_inches(NARROW if narrow else WIDE, 16.2 if narrow else 7.2)
        if narrow:
            grid = GridSpec(5, 1, self.figure, height_ratios=(2.6, 2.6, 3.5, 5.0, 1.3))
            places = [grid[0], grid[1], grid[3], grid[2], grid[4]]
        else:
            grid = GridSpec(3, 2, self.figure, height_ratios=(2.75, 4.15, 0.5))
            places = [grid[0, 0], grid[0, 1], grid[1, 1], grid[1, 0], grid[2, :]]
        axes = (self.ids, self.out, self.table, self.story, self._key.axes)
        for one, place in zip(axes, places, strict=True):
            one.set_subplotspec(place)
        self._key.arrange(1 if narrow else 3, 3.3 if narrow else 8.2)

    def _still(self) -> None:
        for axes in (self.ids, self.out, self.story):
            axes.grid(False)
            axes.set_xticks([])
            axes.spines["bottom"].set_visible(False)
        for axes in (self.ids, self.out):
            axes.set(ylim=(self.samples - 0.5, -0.9), yticks=range(self.samples))
        self.ids.set_xlim(-0.05, _UNIQUE + 0.75)
        end = 2 * self.width + 0.5
        self.out.set_xlim(-0.6, end)
        for x, words in ((0, "activation"), (self.width + 0.6, "gradient")):
            self.out.text(x - 0.45, -0.75, words, fontsize=8.5, color=BLACK, va="center")
        self.ids.text(_UNIQUE + 0.7, -0.75, "rows", fontsize=8.5, color=BLACK, va="center", ha="right")
        self.story.set(xlim=(-4.4, self.width - 0.4), ylim=(MOST_LINES - 0.4, -0.6), yticks=[])
        self.story.spines["left"].set_visible(False)

    def _moving(self) -> None:
        self._boxes, self._rest = patch(self.ids, ACCEPTED), patch(self.ids, IN_HAND)
        self._links = moving_line(self.ids, zorder=1.5, **_LINK)
        self._chosen_links = moving_line(self.ids, zorder=1.8, **_CHOSEN_LINK)
        self._chosen = patch(self.ids, CHOSEN)
        self._names = [label(self.ids) for _ in range(MOST_LOOKUPS)]
        self._rows = [label(self.ids, x=_UNIQUE + 0.35) for _ in range(MOST_LOOKUPS)]
        self._numbers = Numbers(self.out, 2 * self.samples * self.width, digits=1)
        self._of = moving_line(self.out, **OF)
        self._told = Numbers(self.story, MOST_LINES * self.width)
        self._lines = [label(self.story, x=-4.35, ha="left", fontsize=8.5) for _ in range(MOST_LINES)]

    def draw(self, step: OneStep) -> None:
        """Set the moving artists."""
        self._draw_ids(step)
        self._draw_samples(step)
        self._draw_story(step.story)
        self._panel.draw(step.table, step.slots, np.unique(step.unique), step.row)

    def places(self, unique: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray]:
        """The place of each row of the table among those to fetch, x and y (rows,), NaN if nowhere."""
        y = np.full(rows, np.nan)
        y[unique[::-1]] = self._heights(len(unique))[::-1]
        return np.where(np.isnan(y), np.nan, _UNIQUE + 0.35), y

    def _heights(self, count: int) -> np.ndarray:
        """Rows to fetch stand as far apart as the most would, in the middle."""
        apart = self.samples / MOST_LOOKUPS
        return (self.samples - 1) / 2 + apart * (np.arange(count) - (count - 1) / 2)

    def _draw_ids(self, step: OneStep) -> None:
        within = np.arange(len(step.id)) - np.searchsorted(step.sample, step.sample)
        x, y, made = within * (_BOX + 0.04), step.sample.astype(float), ~np.isnan(step.gain)
        heights = self._heights(len(step.unique))
        half = 0.42 * self.samples / MOST_LOOKUPS
        mine = made.copy()
        mine[made] = step.unique[step.place[made]] == step.row
        fetched = np.full(len(heights), _UNIQUE)
        for shape, some, rows in (
            (self._boxes, made, np.full(len(heights), True)), (self._rest, ~made, heights < -np.inf),
            (self._chosen, mine, step.unique == step.row),
        ):  # fmt: skip
            left = np.concatenate([x[some], fetched[rows]])
            right = np.concatenate([x[some] + _BOX, fetched[rows] + 0.7])
            middle = np.concatenate([y[some], heights[rows]])
            tall = np.repeat([0.36, half], [some.sum(), rows.sum()])
            shape.set_path(bars(left, right, middle - tall, middle + tall))
        for line, some in ((self._links, made & ~mine), (self._chosen_links, mine)):
            nowhere = np.full(some.sum(), np.nan)
            ends = heights[step.place[some]]
            line.set_data(
                np.stack([x[some] + _BOX, np.full(some.sum(), _UNIQUE), nowhere], axis=1).ravel(),
                np.stack([y[some], ends, nowhere], axis=1).ravel(),
            )
        for k, words in enumerate(self._names):
            words.set_visible(k < len(x))
            if k < len(x):
                gain = f" × {written(step.gain[k])}" if made[k] else " ✗"
                words.set(x=x[k] + _BOX / 2, y=y[k], text=f"{step.id[k]}{gain}")
        for k, words in enumerate(self._rows):
            words.set_visible(k < len(heights))
            if k < len(heights):
                words.set(y=heights[k], text=f"{step.unique[k]}")

    def _draw_samples(self, step: OneStep) -> None:
        column = np.arange(self.width)
        x, y = np.meshgrid(np.concatenate([column, column + self.width + 0.6]), np.arange(self.samples))
        values = np.concatenate([step.activations, step.gradients], axis=1)
        there = np.isfinite(values)
        self._numbers.draw(x[there], y[there], values[there], 2.0)
        made = ~np.isnan(step.gain)
        mine = np.unique(step.sample[made][step.unique[step.place[made]] == step.row])
        self._of.set_data(np.full(len(mine), self.width - 0.2), mine)

    def _draw_story(self, story: Sequence[Line]) -> None:
        for k, words in enumerate(self._lines):
            words.set_visible(k < len(story))
            if k < len(story):
                words.set(y=k, text=story[k].words, weight="bold" if story[k].result else "normal")
        rows = [(k, line.values) for k, line in enumerate(story) if line.values is not None]
        values = np.array([v for _, v in rows]).reshape(-1, self.width)
        x, y = np.meshgrid(np.arange(self.width), np.array([k for k, _ in rows], float))
        self._told.draw(x.ravel(), y.ravel(), values.ravel(), 2.0)

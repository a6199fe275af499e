"""One row's way through a step of an embedding table: ids, the row, activations, gradients, memory, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.gridspec import GridSpec
from matplotlib.path import Path

from .._base.numbers import number, signed
from ._labels import label
from ._lanes import DROPPED, patch
from ._shapes import NOWHERE, bars
from ._style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    DASHED,
    LABEL,
    NARROW,
    ORANGE,
    OTHER,
    PALE_BLUE,
    QUIET,
    SELECTED,
    VIOLET,
    WIDE,
    moving_line,
    new_figure,
    tidy,
)

IDS, MOST_LOOKUPS, MOST_WORDS = 3, 17, 7  # ids in a sample, lookups in a batch, lines of a note
LARGEST = 1.5  # the weight with the highest bar; others, too, have the height of the largest one at least
_FULL = 0.5  # activations and gradients with the highest bar; others, too, have that of the largest one at least
_CHIP, _TALL, _APART = 34.0, 20.0, 28.0  # of an id: its width, its height, and from sample to sample
_WIDEST, _THINNEST = 3.6, 0.8  # bands, in points
_BAR = 15.0  # from one bar of an activation to the next


class OneStep(NamedTuple):
    """The data of a step that the figure shows, of the row that is followed.

    Fields: row: its number. sample, id (n,): the lookups as they were asked for; made (n,): whether each is made;
    mine (n,): whether it fetches the row; gain (n,). activations, gradients (samples, width). before, total, after
    (width,): the row's weights, the sum of its gradients, and its weights after the step. memory: name and values
    (width,) of a slot, or None. touched: rows that the step looks up. times: how often the row is fetched. note: words
    that say why the batch was refused.
    """

    row: int
    sample: np.ndarray
    id: np.ndarray
    made: np.ndarray
    mine: np.ndarray
    gain: np.ndarray
    activations: np.ndarray
    gradients: np.ndarray
    before: np.ndarray
    total: np.ndarray
    after: np.ndarray
    memory: tuple[str, np.ndarray] | None
    touched: np.ndarray
    times: int
    note: Sequence[str]


class _Places(NamedTuple):
    """The places of things in the flow, in units of about a pixel: boxes by left and top, the rest by left."""

    size: tuple[float, float]
    row: tuple[float, float]
    samples: tuple[float, float]  # of activations: left, and the middle of the first
    gradients: float
    boxes: tuple[tuple[float, float], ...]  # the sum, the memory, the row after
    box: tuple[float, float]
    note: tuple[float, float]


_ON_WIDE = _Places((726, 424), (236, 74), (482, 46), 606, ((538, 292), (387, 292), (236, 292)), (138, 118), (0, 300))
_ON_NARROW = _Places((358, 720), (214, 74), (96, 312), 236, ((242, 582), (122, 582), (2, 582)), (112, 118), (0, 350))


class EmbeddingView:
    """A loop to follow, 1 to 6, for one row; and below it which rows of the table the step moves."""

    def __init__(self, samples: int, rows: int, width: int, devices: int) -> None:
        self.figure = new_figure(WIDE, 5.3)
        self.samples, self.rows, self.width, self.devices = samples, rows, width, devices
        self.flow, self.table = self.figure.add_subplot(), self.figure.add_subplot()
        self.flow.set_axis_off()
        tidy(self.table, " ", "", "")
        self.table.grid(False)
        self.table.set(xticks=[], yticks=[])
        for spine in self.table.spines.values():
            spine.set_visible(False)
        self._at, self._line = _ON_WIDE, rows
        self._moving()
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: the way forth above the way back, or all in one column."""
        self._at, self._line = (_ON_NARROW, self.rows // 2) if narrow else (_ON_WIDE, self.rows)
        self.figure.set_size_inches(NARROW if narrow else WIDE, 9.4 if narrow else 5.3)
        grid = GridSpec(2, 1, self.figure, height_ratios=(6.4, 1.2) if narrow else (6.3, 0.8))
        for k, axes in enumerate((self.flow, self.table)):
            axes.set_subplotspec(grid[k])
        (width, height), lines = self._at.size, self.rows // self._line
        self.flow.set(xlim=(-2, width), ylim=(height, 0))
        self.table.set(xlim=(-0.05, self._line + 0.05), ylim=(1.9 * lines, -0.1))
        each = self.rows // self.devices
        for k, words in enumerate(self._devices):
            x, y = self._cell(np.array(each * k))
            words.set(x=float(x) + each / 2, y=float(y) + 1.35, text=f"device {k}")

    def _moving(self) -> None:
        flow, looks = self.flow, {"fontsize": LABEL, "weight": "bold", "ha": "left"}
        self._heads = [label(flow, **looks) for _ in range(6)]
        self._samples = [label(flow, ha="left") for _ in range(self.samples)]
        self._columns = [label(flow, color=color) for color in (QUIET, QUIET, BLACK)]
        self._others = patch(flow, {"fc": "white", "ec": OTHER, "lw": 0.9})
        self._own = patch(flow, {"fc": PALE_BLUE, "ec": BLACK, "lw": SELECTED})
        self._dropped = patch(flow, DROPPED)
        self._ids = [label(flow) for _ in range(MOST_LOOKUPS)]
        self._fetch, self._use = self._bands(OTHER), self._bands(OTHER)
        self._gains = [label(flow, weight="bold", ha="right") for _ in range(self.samples)]
        self._values = {name: patch(flow, {"fc": c, "ec": "none"}) for name, c in (
            ("quiet", OTHER), ("activation", BLACK), ("gradient", ORANGE))}  # fmt: skip
        self._back = self._bands(ORANGE)
        colors = (BLACK, ORANGE, VIOLET, BLUE)
        self._boxes = [patch(flow, {"fc": "none", "ec": color, "lw": 1.8}) for color in colors]
        self._bars = [patch(flow, {"fc": color, "ec": "none"}) for color in colors]
        self._zero = moving_line(flow, color=OTHER, lw=0.8)
        self._was = moving_line(flow, color=QUIET, lw=1.4, ls=DASHED, zorder=3)
        self._numbers = [[label(flow) for _ in range(self.width)] for _ in colors]
        self._said = [label(flow, color=QUIET) for _ in colors]
        self._arrows = [(moving_line(flow, color=c, lw=2.2), patch(flow, {"fc": c, "ec": "none"}))
                        for c in (ORANGE, ORANGE, VIOLET, BLUE)]  # fmt: skip
        self._written = label(flow, ha="right", color=BLUE_TEXT, text="written back")
        self._note = [label(flow, ha="left") for _ in range(MOST_WORDS)]
        self._title = label(self.table, x=0, y=1.16, transform=self.table.transAxes, **looks)
        self._still, self._moves = (patch(self.table, one) for one in (
            {"fc": "white", "ec": OTHER, "lw": 0.7}, {"fc": PALE_BLUE, "ec": BLUE, "lw": 1.4}))  # fmt: skip
        self._chosen = patch(self.table, {"fc": "none", "ec": BLACK, "lw": SELECTED})
        self._rows = [label(self.table) for _ in range(self.rows)]
        self._devices = [label(self.table, color=QUIET) for _ in range(self.devices)]

    def _bands(self, color: str) -> list[Any]:
        """A way for each sample, as wide as its share in the row."""
        return [moving_line(self.flow, color=color, zorder=1.5) for _ in range(self.samples)]

    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """The middle of every row's cell in the strip, x and y (rows,)."""
        x, y = self._cell(np.arange(self.rows))
        return x + 0.5, y + 0.45

    def draw(self, step: OneStep) -> None:
        """Set the moving artists."""
        self._draw_words(step)
        self._draw_ids(step)
        self._draw_samples(step)
        self._draw_boxes(step)
        self._draw_table(step)

    def _cell(self, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (row % self._line).astype(float), 1.9 * (row // self._line)

    def _holding(self, step: OneStep) -> np.ndarray:
        """The samples that use the row."""
        return np.unique(step.sample[step.mine])

    def _shares(self, step: OneStep) -> np.ndarray:
        """The gain of each sample that uses the row, over the largest one: (samples that use it,)."""
        gains = np.bincount(step.sample[step.mine], np.abs(step.gain[step.mine]))[self._holding(step)]
        shares: np.ndarray = gains / max(gains.max(initial=0.0), 1e-30)
        return shares

    def _height(self, sample: Any) -> Any:
        """The middle of a sample's activation, its id chips being as far apart."""
        return self._at.samples[1] + _APART * sample

    def _draw_words(self, step: OneStep) -> None:
        at, uses, ids = self._at, len(self._holding(step)), int(step.mine.sum())
        (row_x, row_y), (x, y) = at.row, at.samples
        moves = bool((step.before != step.after).any())
        below = [(left, top - 14) for left, top in at.boxes]
        wide = at is _ON_WIDE
        fetched = (row_x, row_y - 18) if wide else (row_x - 18, 12)
        heads = (
            (0, 12, f"1  {_many(ids, 'id')} {'names' if ids == 1 else 'name'} row {step.row}"),
            (*fetched, "2  It is fetched once" if step.times == 1 else f"2  Fetched {step.times} times"),
            (x - (12 if wide else 94), y - 34, f"3  {_many(uses, 'sample')} {'uses' if uses == 1 else 'use'} it"),
            (*below[0], "4  Sum"), (*below[1], "5  Memory"), (*below[2], "6  It moves" if moves else "6  It stays"),
        )  # fmt: skip
        for words, (left, top, text) in zip(self._heads, heads, strict=True):
            words.set(x=left, y=top, text=text)
        half = (self.width - 0.5) * _BAR / 2
        columns = (
            (x + half, "activation"),
            ((x + at.gradients) / 2 + half, "loss →"),
            (at.gradients + half, "gradient"),
        )
        for words, (left, text) in zip(self._columns, columns, strict=True):
            words.set(x=left, y=y - 17, text=text)
        for k, words in enumerate(self._note):
            text = step.note[k] if k < len(step.note) else ""
            words.set(x=at.note[0], y=at.note[1] + 17 * k, text=text)

    def _draw_ids(self, step: OneStep) -> None:
        within = np.arange(len(step.id)) - np.searchsorted(step.sample, step.sample)
        x, y = 70 + (_CHIP + 4) * within, 46 + _APART * step.sample
        for shape, some in (
            (self._own, step.mine), (self._others, step.made & ~step.mine), (self._dropped, ~step.made)
        ):  # fmt: skip
            shape.set_path(bars(x[some], x[some] + _CHIP, y[some] - _TALL / 2, y[some] + _TALL / 2))
        for k, words in enumerate(self._ids):
            words.set_text("")
            if k < len(step.id):
                words.set(x=x[k] + _CHIP / 2, y=y[k], text=f"{step.id[k]}{'' if step.made[k] else ' ✗'}")
                words.set(weight="bold" if step.mine[k] else "normal", color=BLACK if step.mine[k] else QUIET)
        holding = self._holding(step)
        for k, words in enumerate(self._samples):
            words.set(x=0, y=46 + _APART * k, text=f"sample {k}", weight="bold" if k in holding else "normal")
        left, middle = self._at.row[0] - 4, self._at.row[1] + self._at.box[1] / 2
        ends = np.linspace(-16, 16, len(holding)) if len(holding) > 1 else np.zeros(len(holding))
        last = [x[step.mine & (step.sample == s)].max() + _CHIP for s in holding]
        curves = [_curve(a, 46 + _APART * s, left, middle + e) for a, s, e in zip(last, holding, ends, strict=True)]
        _spread(self._fetch, curves, self._shares(step))

    def _draw_samples(self, step: OneStep) -> None:
        at, holding = self._at, self._holding(step)
        drawn: dict[str, list[np.ndarray]] = {"quiet": [], "activation": [], "gradient": []}
        columns = (("activation", at.samples[0], step.activations), ("gradient", at.gradients, step.gradients))
        for name, left, values in columns:
            scale = 12 / max(_FULL, float(np.nanmax(np.abs(values), initial=0)))
            for sample in range(self.samples):
                sides = _upright(left, self._height(sample), values[sample], scale)
                drawn[name if sample in holding else "quiet"].append(sides)
        for name, shape in self._values.items():
            sides = np.concatenate([np.empty((4, 0)), *drawn[name]], axis=1)
            shape.set_path(bars(*sides[:, np.isfinite(sides).all(axis=0)]))
        wide = at is _ON_WIDE
        for k, words in enumerate(self._gains):
            gain = step.gain[step.mine & (step.sample == k)].sum() if k in holding else 0
            text = f"× {signed(number(float(gain), 2))}" if k in holding else ""
            words.set(x=at.samples[0] - 10, y=self._height(k) - (10 if wide else 0), text=text)
        box = at.row[0] + at.box[0] + 4, at.row[1] + at.box[1] / 2
        used = [_curve(*box, at.samples[0] - 6, self._height(s)) for s in holding] if wide else []
        _spread(self._use, used, self._shares(step))
        right, ways = at.gradients + self.width * _BAR + 2, []
        end_x, end_y = at.boxes[0][0] + at.box[0], at.boxes[0][1] + at.box[1] / 2
        for k, s in enumerate(holding):
            turn = max(at.size[0] - 4, end_x + 14) - 5 * k if wide else end_x - 4 - 5 * k
            y = end_y - 6 * k if wide else at.boxes[0][1] - 30
            ways.append(
                np.array(
                    [(right, self._height(s)), (turn, self._height(s)), (turn, y), (end_x + 8 if wide else turn, y)]
                ).T
            )
        _spread(self._back, ways, self._shares(step))

    def _draw_boxes(self, step: OneStep) -> None:
        at, (wide, high) = self._at, self._at.box
        none = np.zeros(0)
        memory = none if step.memory is None else step.memory[1]
        total = step.total if step.mine.any() else none
        shown = ((at.row, step.before), (at.boxes[0], total), (at.boxes[1], memory), (at.boxes[2], step.after))
        told = (
            "",
            "" if step.mine.any() else "no id names it",
            "none kept" if step.memory is None else step.memory[0],
            "",
        )
        scale = max(LARGEST, float(np.abs([step.before, step.after]).max()))
        zero = []
        for k, ((left, top), values) in enumerate(shown):
            self._boxes[k].set_path(bars(left, left + wide, top, top + high))
            reach = scale if k in (0, 3) else max(float(np.abs(values).max(initial=0)), 1e-30)
            middle = top + 0.47 * high + (8 if k == 2 else 0)
            pitch = (wide - 8) / self.width
            x = left + 4 + pitch * (np.arange(len(values)) + 0.5)
            lengths = -values / reach * 0.33 * high
            self._bars[k].set_path(bars(x - 0.34 * pitch, x + 0.34 * pitch, np.minimum(middle, middle + lengths),
                                        np.maximum(middle, middle + lengths)) if len(values) else NOWHERE)  # fmt: skip
            zero.append(np.array([(left + 4, middle), (left + wide - 4, middle)]).T)
            for n, words in enumerate(self._numbers[k]):
                words.set_text("")
                if n < len(values) and at is _ON_WIDE:
                    words.set(
                        x=x[n],
                        y=top + high - 10,
                        text=_short(values[n]),
                    )
            self._said[k].set(x=left + wide / 2, y=top + 10, text=told[k])
            if k == 3:
                height = middle - step.before / reach * 0.33 * high
                self._was.set_data(*_joined([np.array([(a - 0.42 * pitch, b), (a + 0.42 * pitch, b)]).T
                                             for a, b in zip(x, height, strict=True)]))  # fmt: skip
        self._zero.set_data(*_joined(zero))
        self._draw_arrows(step)

    def _draw_arrows(self, step: OneStep) -> None:
        at, (wide, high) = self._at, self._at.box
        (sum_x, y), (memory_x, _), (after_x, _) = at.boxes
        y = y + high / 2
        right = sum_x + wide
        into = ((right + 9, y), (right + 2, y))
        if at is not _ON_WIDE:
            middle = right - 4 - 2.5 * (len(self._holding(step)) - 1)  # of the bands that come
            into = ((middle, y - high / 2 - 30), (middle, y - high / 2 - 2))
        level = (into, ((sum_x - 1, y), (memory_x + wide + 2, y)), ((memory_x - 1, y), (after_x + wide + 2, y)))
        some = bool(step.mine.any())
        for (line, head), (start, end) in zip(self._arrows[:3], level, strict=True):
            line.set_data(*zip(start, end, strict=True) if some else ((), ()))
            head.set_path(_head(end[0], end[1], np.subtract(end, start)) if some else NOWHERE)
        line, head = self._arrows[3]
        top = at.row[1] + high + 2
        way = np.array([(after_x + 24, y - high / 2 - 26), (after_x + 24, top)]) if at is _ON_WIDE else np.empty((0, 2))
        line.set_data(*(way.T if some else ((), ())))
        head.set_path(_head(way[-1, 0], way[-1, 1], np.array([0.0, -1.0])) if some and len(way) else NOWHERE)
        self._written.set(x=after_x + 16, y=(top + y - high / 2 - 26) / 2, visible=some and at is _ON_WIDE)

    def _draw_table(self, step: OneStep) -> None:
        rows = np.arange(self.rows)
        x, y = self._cell(rows)
        touched = np.isin(rows, step.touched)
        for shape, some in ((self._still, ~touched), (self._moves, touched), (self._chosen, rows == step.row)):
            shape.set_path(bars(x[some] + 0.05, x[some] + 0.95, y[some], y[some] + 0.9))
        for k, words in enumerate(self._rows):
            words.set(x=x[k] + 0.5, y=y[k] + 0.45, text=f"{k}", weight="bold" if touched[k] else "normal")
        self._title.set_text(f"The table: the step looks up {int(touched.sum())} of {self.rows} rows")


def _short(value: float) -> str:
    """In at most four signs, so that four numbers stand side by side."""
    size = abs(value)
    if size < 0.005:
        return "≈ 0" if size else "0"
    if size >= 0.1:
        return signed(number(float(value), 1) if size >= 100 else f"{value:.1f}")
    return signed(f"{value:.2f}".replace("0.", "."))


def _many(count: int, noun: str) -> str:
    words = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight")
    return f"{words[count] if count < len(words) else count} {noun}{'s' * (count != 1)}"


def _upright(left: float, zero: float, values: np.ndarray, scale: float) -> np.ndarray:
    """The sides (4, n) of bars for values (n,) that stand side by side on a line, or hang from it."""
    x = left + _BAR * np.arange(len(values))
    ends = zero - np.clip(values * scale, -12, 12)
    return np.stack([x, x + 0.7 * _BAR, np.minimum(zero, ends) - 0.4, np.maximum(zero, ends) + 0.4])


def _curve(x0: float, y0: float, x1: float, y1: float) -> np.ndarray:
    """A smooth way (2, n) that begins and ends level."""
    t = np.linspace(0, 1, 21)
    return np.stack([x0 + (x1 - x0) * t, y0 + (y1 - y0) * t * t * (3 - 2 * t)])


def _spread(bands: Sequence[Any], ways: Sequence[np.ndarray], shares: np.ndarray) -> None:
    """Lead each band along its way (2, n), as wide as its share (0 to 1); the others are not there."""
    for k, band in enumerate(bands):
        band.set_visible(k < len(ways))
        if k < len(ways):
            band.set_data(*ways[k])
            band.set_linewidth(max(_WIDEST * float(shares[k]), _THINNEST))


def _joined(ways: Sequence[np.ndarray]) -> np.ndarray:
    """Ways (2, n) as one line with gaps."""
    gap = np.full((2, 1), np.nan)
    return np.concatenate([np.empty((2, 0)), *(part for way in ways for part in (way, gap))], axis=1)


def _head(x: float, y: float, along: np.ndarray) -> Path:
    """The head of an arrow that ends there."""
    forth = along / np.hypot(*along) * 9
    across = np.array([-forth[1], forth[0]]) * 0.5
    tip = np.array([x, y], float)
    return Path([tip, tip - forth + across, tip - forth - across, tip], closed=True)

"""One row's way through a step of an embedding table: ids, the row, activations, gradients, memory,
and back.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from ..._base.numbers import decimals
from ...live.drawing.labels import label
from ...live.drawing.lanes import DROPPED, patch
from ...live.drawing.shapes import NOWHERE, bars, hatching
from ...live.drawing.strip import Strip, on_chip
from ...live.drawing.style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    DASHED,
    HATCH,
    LABEL,
    NARROW,
    ORANGE,
    ORANGE_TEXT,
    OTHER,
    QUIET,
    SMALL,
    VIOLET,
    WIDE,
    moving_line,
    new_figure,
)
from ...live.drawing.ways import arc, bent, curve, head, joined, side_by_side
from .._layout import PanelLayout, place_panels

IDS, MOST_LOOKUPS, MOST_WORDS = 3, 17, 7  # ids in a sample, lookups in a batch, lines of a note
MOST_RULE = 5  # lines that say how the row moves
# The weight with the highest bar; others, too, have the height of the largest one at least.
_LARGEST = 0.6
# Activations and gradients with the highest bar; others, too, have that of the largest one at
# least.
_FULL = 0.5
_FIRST, _APART = 54.0, 26.0  # the middle of the first sample's ids, and from sample to sample
# Of an id: its width, its height, and the left side of the first.
_CHIP, _TALL, _IDS = 32.0, 19.0, 67.0
_BAR = 15.0  # from one bar of an activation to the next
# Of the bands: the widest one, and all of them side by side at most.
_WIDEST, _TOGETHER = 11.0, 26.0
_POINTS = 0.72  # in a unit of the flow, which is about a pixel
# Of the bars in a box, below its top: their names are above, their numbers below.
_ROOM = (30.0, 92.0)
_SHARES = {round(a / b, 3): words for a, b, words in ((1, 2, "½"), (1, 3, "⅓"), (2, 3, "⅔"))}


_BOXES = (BLACK, ORANGE, VIOLET, BLUE)  # of the row, the sum, the memory, and the row after


class OneStep(NamedTuple):
    """The data of a step that the figure shows, of the row that is followed.

    Fields: row: its number. sample, id (n,): the lookups as they were asked for; made (n,): whether
    each is made;
    mine (n,): whether it fetches the row; gain (n,). activations, gradients (samples,
    width). before, total, after (width,): the row's weights, the sum of its gradients, and
    its weights after the step. memory: name and values (width,) of a slot before and after
    the step, or None. rule: how the weights move, in a few short lines. touched: rows that
    the step looks up. times: how often the row is fetched. note: words that say why the
    batch was refused.
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
    memory: tuple[str, np.ndarray, np.ndarray] | None
    rule: Sequence[str]
    touched: np.ndarray
    times: int
    note: Sequence[str]

    @property
    def holding(self) -> np.ndarray:
        """The samples that use the row."""
        return np.unique(self.sample[self.mine])

    @property
    def shares(self) -> np.ndarray:
        """The gain of the row in each of these samples."""
        gains: np.ndarray = np.bincount(self.sample[self.mine], self.gain[self.mine])[self.holding]
        return gains


class _Places(NamedTuple):
    """The places of things in the flow, in units of about a pixel: boxes by left and top, columns
    by left.
    """

    size: tuple[float, float]
    row: tuple[float, float]  # the box of the row before the step
    boxes: tuple[tuple[float, float], ...]  # of the sum, the memory, and the row after
    box: tuple[float, float]  # the size of each
    activations: float
    gradients: float
    first: float  # the middle of the first sample's activation
    heads: tuple[tuple[float, float], ...]
    rule: tuple[float, float]
    written: tuple[float, float]


_ON_WIDE = _Places(
    (726, 436), (226, 84), ((506, 304), (319, 304), (132, 304)), (172, 118), 492, 614, _FIRST,
    ((0, 12), (226, 12), (438, 12), (506, 290), (319, 290), (132, 290)), (124, 312), (104, 284),
)  # fmt: skip
_ON_NARROW = _Places(
    (358, 712), (250, 84), ((46, 574), (148, 574), (250, 574)), (86, 100), 194, 68, 336.0,
    ((0, 12), (190, 12), (0, 294), (46, 560), (148, 560), (250, 560)), (46, 690), (340, 536),
)  # fmt: skip
_WIDE_LAYOUT = PanelLayout((WIDE, 5.3), "F/T", height_ratios=(6.7, 0.8))
_NARROW_LAYOUT = PanelLayout((NARROW, 8.85), "F/T", height_ratios=(7.3, 1.2))


class EmbeddingView:
    """A loop to follow, 1 to 6, for one row; and below it which rows of the table the step looks up."""

    def __init__(self, samples: int, rows: int, width: int, devices: int) -> None:
        self.figure = new_figure(WIDE, 5.3)
        self.samples, self.width, self._at = samples, width, _ON_WIDE
        self.flow, self.table = self.figure.add_subplot(), self.figure.add_subplot()
        self.flow.set_axis_off()
        self.strip = Strip(self.table, rows, devices)
        self._still()
        self._moving()
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: the way forth above the way back, or all in one column."""
        self._at = _ON_NARROW if narrow else _ON_WIDE
        layout = _NARROW_LAYOUT if narrow else _WIDE_LAYOUT
        place_panels(self.figure, layout, F=self.flow, T=self.table)
        width, height = self._at.size
        self.flow.set(xlim=(0, width), ylim=(height, 0))
        self.strip.arrange(narrow)
        self._arrange_still()

    def _still(self) -> None:
        flow = self.flow
        looks: dict[str, Any] = {"fontsize": SMALL, "va": "center", "in_layout": False}
        self._steps = [
            flow.text(0, 0, f"{k}", color=QUIET, weight="bold", **looks | {"fontsize": LABEL})
            for k in range(1, 7)
        ]
        columns = ("activation", QUIET), ("loss", QUIET), ("gradient", ORANGE_TEXT)
        self._columns = [
            flow.text(0, 0, words, color=color, ha="center", **looks) for words, color in columns
        ]
        self._boxes = [PathPatch(NOWHERE, fc="none", ec=color, lw=1.8) for color in _BOXES]
        for box in self._boxes:
            flow.add_patch(box)

    def _arrange_still(self) -> None:
        at, half = self._at, (self.width - 0.3) * _BAR / 2
        for words, (x, y) in zip(self._steps, at.heads, strict=True):
            words.set(x=x, y=y)
        middle = (
            at.activations + half,
            (at.activations + at.gradients) / 2 + half,
            at.gradients + half,
        )
        for words, x in zip(self._columns, middle, strict=True):
            words.set(x=x, y=at.first - 21)
        for shape, (x, y) in zip(self._boxes, (at.row, *at.boxes), strict=True):
            shape.set_path(bars(x, x + at.box[0], y, y + at.box[1]))

    def _moving(self) -> None:
        flow = self.flow
        self._heads = [label(flow, fontsize=LABEL, weight="bold", ha="left") for _ in self._steps]
        self._samples = [label(flow, ha="left") for _ in range(self.samples)]
        # Where they are far below their ids.
        self._again = [label(flow) for _ in range(self.samples)]
        self._others = patch(flow, {"fc": "white", "ec": OTHER, "lw": 0.9})
        self._own = patch(flow, {"fc": BLACK, "ec": "none"})
        self._dropped, self._strokes = patch(flow, DROPPED), moving_line(flow, zorder=2.5, **HATCH)
        self._ids = [label(flow) for _ in range(MOST_LOOKUPS)]
        self._fetch, self._use, self._back = (
            self._bands(color) for color in (OTHER, OTHER, ORANGE)
        )
        self._gains = [label(flow, weight="bold") for _ in range(self.samples)]
        self._values = [
            patch(flow, {"fc": color, "ec": "none", "alpha": alpha})
            for color, alpha in ((BLACK, 1), (BLACK, 0.25), (ORANGE, 1), (ORANGE, 0.3))
        ]
        self._losses = moving_line(flow, color=OTHER, lw=1.2, ls=":")
        self._bars = [patch(flow, {"fc": color, "ec": "none"}) for color in _BOXES]
        self._zero = moving_line(flow, color=OTHER, lw=0.8)
        self._was = moving_line(flow, color=QUIET, lw=1.4, ls=DASHED, zorder=3)
        self._numbers = [[label(flow) for _ in range(self.width)] for _ in _BOXES]
        self._said = [label(flow, color=QUIET) for _ in _BOXES]
        self._said[0].set(color=BLACK, weight="bold")
        self._arrows = [
            (moving_line(flow, color=color, lw=2.2), patch(flow, {"fc": color, "ec": "none"}))
            for color in _BOXES[1:]
        ]
        self._written = label(flow, ha="right", color=BLUE_TEXT, text="written back")
        self._rule = [label(flow) for _ in range(MOST_RULE)]
        self._note = [label(flow, ha="left") for _ in range(MOST_WORDS)]

    def _bands(self, color: str) -> list[Any]:
        """A way for each sample, as wide as its share in the row."""
        looks = {"alpha": 0.55, "solid_capstyle": "butt", "solid_joinstyle": "round", "zorder": 1.5}
        return [moving_line(self.flow, color=color, **looks) for _ in range(self.samples)]

    def draw(self, step: OneStep) -> None:
        """Set the moving artists."""
        self._draw_heads(step)
        self._draw_ids(step)
        self._draw_samples(step)
        self._draw_ways(step)
        self._draw_boxes(step)
        self._draw_arrows(bool(step.mine.any()))
        self._draw_words(step)
        self.strip.draw(step.row, step.touched)

    def _draw_heads(self, step: OneStep) -> None:
        ids, uses, wide = int(step.mine.sum()), len(step.holding), self._at is _ON_WIDE
        fetched = {0: "It isn't fetched", 1: "It is fetched once"}.get(
            step.times, f"Fetched {step.times} times"
        )
        heads = (
            f"{_many(ids, 'id')} {'names' if ids == 1 else 'name'} row {step.row}",
            fetched,
            f"{_many(uses, 'sample')} {'uses' if uses == 1 else 'use'} it",
            ("No gradients", "Gradients summed", "Gradients in turn")[min(step.times, 2)]
            if wide
            else "Sum",
            _grown(step.memory) if wide else "Memory",
            f"{'The row' if wide else 'It'} {'moves' if (step.before != step.after).any() else 'stays'}",
        )
        for words, (left, top), text in zip(self._heads, self._at.heads, heads, strict=True):
            words.set(x=left + 14, y=top, text=text)

    def _draw_ids(self, step: OneStep) -> None:
        # Ids of the row stand last in their sample, where its way begins.
        order = np.lexsort((step.mine, step.sample))
        sample, mine, made = step.sample[order], step.mine[order], step.made[order]
        x = _IDS + (_CHIP + 4) * (np.arange(len(sample)) - np.searchsorted(sample, sample))
        y = _FIRST + _APART * sample
        for shape, some in (
            (self._own, mine),
            (self._others, made & ~mine),
            (self._dropped, ~made),
        ):
            shape.set_path(bars(x[some], x[some] + _CHIP, y[some] - _TALL / 2, y[some] + _TALL / 2))
        lost = x[~made], x[~made] + _CHIP, y[~made] - _TALL / 2, y[~made] + _TALL / 2
        self._strokes.set_data(*hatching(*lost, lean=12, apart=7).T)
        for k, words in enumerate(self._ids):
            words.set_text("")
            if k < len(sample):
                words.set(x=x[k] + _CHIP / 2, y=y[k], text=f"{step.id[order[k]]}")
                on_chip(words, bool(mine[k]), QUIET)
        for k, words in enumerate(self._samples):
            words.set(x=0, y=_FIRST + _APART * k, text=f"sample {k}")
            words.set(
                weight="bold" if k in step.holding else "normal",
                color=BLACK if k in step.holding else QUIET,
            )

    def _draw_samples(self, step: OneStep) -> None:
        at, uses = self._at, np.isin(np.arange(self.samples), step.holding)
        for k, (left, values) in enumerate(
            ((at.activations, step.activations), (at.gradients, step.gradients))
        ):
            scale = 12 / max(_FULL, float(np.nanmax(np.abs(values), initial=0)))
            for shape, some in zip(self._values[2 * k : 2 * k + 2], (uses, ~uses), strict=True):
                shape.set_path(
                    _upright(left, self._middle(np.flatnonzero(some)), values[some], scale)
                )
        for k, words in enumerate(self._gains):
            share = step.shares[step.holding == k]
            words.set_text(f"× {_share(float(share[0]))}" if len(share) else "")
            wide = at is _ON_WIDE
            x = at.activations - 12 if wide else at.activations + self.width * _BAR + 8
            words.set(x=x, y=self._middle(k) - 14, ha="right" if wide else "left")
        start, end = sorted((at.activations, at.gradients))
        for k, words in enumerate(self._again):
            there = at is _ON_NARROW and not any(step.note)
            words.set(
                x=(start + self.width * _BAR + end) / 2,
                y=self._middle(k),
                text=f"sample {k}" if there else "",
            )
            words.set_color(BLACK if uses[k] else QUIET)
        level = [
            np.array([[start + self.width * _BAR + 6, end - 8], [y, y]])
            for y in self._middle(step.holding)
        ]
        self._losses.set_data(*joined(level if at is _ON_WIDE else []))

    def _middle(self, sample: Any) -> Any:
        """The middle of a sample's activation."""
        return self._at.first + _APART * sample

    def _draw_ways(self, step: OneStep) -> None:
        """The bands of the row's samples: to the row, from it, and back to the sum."""
        at, holding, (wide, high) = self._at, step.holding, self._at.box
        gains = np.abs(step.shares)
        widths = gains * min(
            _WIDEST / max(gains.max(initial=0), 1e-30), _TOGETHER / max(gains.sum(), 1e-30)
        )
        sides = side_by_side(widths)
        middles, middle, into = (
            self._middle(holding),
            at.row[1] + high / 2,
            at.boxes[0][1] + high / 2,
        )
        ids = np.bincount(step.sample, minlength=self.samples)[holding]  # the last one is the row's
        starts = zip(_IDS + (_CHIP + 4) * ids - 4, _FIRST + _APART * holding, sides, strict=True)
        _spread(
            self._fetch,
            [curve(x, y, at.row[0] - 2, middle + side) for x, y, side in starts],
            widths,
        )
        # The first sample's way turns last, and ends lowest.
        outer = sides - sides[:1] + widths[:1] / 2 + 1
        ends = zip(middles, sides, outer, strict=True)
        if at is _ON_WIDE:
            right, left, edge = (
                at.row[0] + wide + 2,
                at.gradients + self.width * _BAR + 3,
                at.boxes[0][0] + wide + 3,
            )
            ways = [
                (
                    curve(right, middle + side, at.activations - 8, y),
                    bent(
                        (left, y),
                        (at.size[0] - out, y),
                        (at.size[0] - out, into - side),
                        (edge, into - side),
                    ),
                )
                for y, side, out in ends
            ]
        else:
            down, right, edge = (
                at.row[0] + wide - 18,
                at.activations + self.width * _BAR + 4,
                at.boxes[0][0] - 3,
            )
            ways = [(bent((down + side, at.row[1] + high + 2), (down + side, y), (right, y)),
                     bent((at.gradients - 6, y), (out, y), (out, into - side), (edge, into - side)))
                    for y, side, out in ends]  # fmt: skip
        _spread(self._use, [use for use, _ in ways], widths)
        _spread(self._back, [back for _, back in ways], widths)

    def _draw_boxes(self, step: OneStep) -> None:
        at, (wide, high), none = self._at, self._at.box, np.zeros(0)
        name, was, memory = step.memory or ("none kept", none, none)
        some = bool(step.mine.any())
        scale = max(_LARGEST, float(np.abs([step.before, step.after]).max()))
        shown = (
            (step.before, none, scale, f"row {step.row}"),
            (step.total if some else none, none, 0.0, "their sum" * (step.times > 1)),
            (memory, was, 0.0, name),
            (step.after, step.before, scale, ""),
        )
        pitch, zero, dashes = (wide - 8) / self.width, [], list[np.ndarray]()
        for k, ((left, top), (values, before, reach, said)) in enumerate(
            zip((at.row, *at.boxes), shown, strict=True)
        ):
            x = left + 4 + pitch * (np.arange(len(values)) + 0.5)
            y = _Scale(top, np.concatenate([values, before]), reach)
            ends = y(values)
            self._bars[k].set_path(
                bars(
                    x - 0.34 * pitch,
                    x + 0.34 * pitch,
                    np.minimum(y.zero, ends),
                    np.maximum(y.zero, ends),
                )
            )
            zero.append(np.array([(left + 4, y.zero), (left + wide - 4, y.zero)]).T)
            dashes += [np.array([(a - 0.42 * pitch, b), (a + 0.42 * pitch, b)]).T
                       for a, b in zip(x, y(before), strict=False)]  # fmt: skip
            self._said[k].set(x=left + wide / 2, y=top + 14, text=said)
            for n, words in enumerate(self._numbers[k]):
                told = n < len(values) and at is _ON_WIDE
                words.set(
                    x=x[n] if told else 0,
                    y=top + high - 12,
                    text=_short(values[n], values) if told else "",
                )
        self._zero.set_data(*joined(zero))
        self._was.set_data(*joined(dashes if some else []))

    def _draw_arrows(self, some: bool) -> None:
        at, (wide, high) = self._at, self._at.box
        level, lefts = at.boxes[0][1] + high / 2, [left for left, _ in at.boxes]
        ways = [np.array([[a - 1, b + wide + 2] if a > b else [a + wide + 1, b - 2], [level] * 2])
                for a, b in pairwise(lefts)]  # fmt: skip
        row, after = at.row, at.boxes[2]
        if at is _ON_WIDE:
            ways.append(
                arc(
                    (after[0] - 1, after[1] + 22),
                    (92, 284),
                    (150, 240),
                    (row[0] - 3, row[1] + high - 2),
                )
            )
        else:
            edge, middle = at.size[0] - 8, row[1] + high / 2
            ways.append(
                bent(
                    (after[0] + wide, level),
                    (edge, level),
                    (edge, middle),
                    (row[0] + wide + 2, middle),
                )
            )
        for (line, tip), way in zip(self._arrows, ways, strict=True):
            line.set_data(*(way if some else ((), ())))
            tip.set_path(head(way) if some else NOWHERE)
        self._written.set(x=at.written[0], y=at.written[1], visible=some)

    def _draw_words(self, step: OneStep) -> None:
        at, wide, high = self._at, self._at is _ON_WIDE, self._at.box[1]
        moved = bool((step.before != step.after).any())
        told = [*step.rule, "dashed: before"] if step.mine.any() and moved else []
        lines = told if wide else [" ".join(told[:-1]), *told[-1:]]
        x, top = at.rule[0], at.rule[1] + (high / 2 - 8.5 * (len(lines) - 1)) * wide
        for k, words in enumerate(self._rule):
            words.set(
                x=x,
                y=top + 17 * k,
                text=lines[k] if k < len(lines) else "",
                ha="right" if wide else "left",
            )
            words.set_color(QUIET if k == len(lines) - 1 else BLACK)
        for k, words in enumerate(self._note):
            words.set(
                x=at.heads[2][0],
                y=at.first + 17 * k,
                text=step.note[k] if k < len(step.note) else "",
            )


class _Scale:
    """Heights in a box: all of its bars fit, and those that only grow stand on its ground."""

    def __init__(self, top: float, values: np.ndarray, reach: float) -> None:
        low, high = (top + y for y in reversed(_ROOM))
        grows = not reach and bool((values >= 0).all())
        self.zero = low if grows else (low + high) / 2
        largest = reach or max(float(np.abs(values).max(initial=0)), 1e-30)
        self._each = (low - high) / largest / (1 if grows else 2)

    def __call__(self, values: np.ndarray) -> np.ndarray:
        heights: np.ndarray = self.zero - values * self._each
        return heights


def _short(value: float, among: np.ndarray) -> str:
    """With as few digits as tell these numbers apart, so that four stand side by side."""
    largest = float(np.abs(among).max())
    return decimals(float(value), 2 if largest < 0.3 else 1 if largest < 100 else 0)


def _share(gain: float) -> str:
    rounded = round(gain, 3)
    return _SHARES.get(rounded) or decimals(rounded, 0 if rounded.is_integer() else 2)


def _many(count: int, noun: str) -> str:
    words = (
        "No",
        "One",
        "Two",
        "Three",
        "Four",
        "Five",
        "Six",
        "Seven",
        "Eight",
        "Nine",
        "Ten",
        "Eleven",
        "Twelve",
    )
    return f"{words[count] if count < len(words) else count} {noun}{'s' * (count != 1)}"


def _grown(memory: tuple[str, np.ndarray, np.ndarray] | None) -> str:
    if memory is None or (memory[1] == memory[2]).all():
        return "Memory"
    return "Memory grows" if (memory[2] >= memory[1]).all() else "Memory changes"


def _upright(left: float, zero: np.ndarray, values: np.ndarray, scale: float) -> Path:
    """Bars for values (m, n), where they are numbers, side by side on m lines, or hanging from
    them.
    """
    x = np.broadcast_to(left + _BAR * np.arange(values.shape[-1]), values.shape)
    ends = zero[:, None] - np.clip(values * scale, -12, 12)
    sides = np.stack(
        [
            x,
            x + 0.7 * _BAR,
            np.minimum(zero[:, None], ends) - 0.4,
            np.maximum(zero[:, None], ends) + 0.4,
        ]
    )
    return bars(*sides[:, np.isfinite(values)])


def _spread(bands: Sequence[Any], ways: Sequence[np.ndarray], widths: np.ndarray) -> None:
    """Lead each band along its way (2, n); the others are not there."""
    for k, band in enumerate(bands):
        band.set_visible(k < len(ways))
        if k < len(ways):
            band.set_data(*ways[k])
            band.set_linewidth(_POINTS * max(float(widths[k]), 1.0))

"""An accumulator at work: a bucket that fills, a queue of takers, what falls out, and the mean that forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.gridspec import GridSpec
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from .._base.numbers import counted, number, signed
from ._labels import label
from ._lanes import DROPPED, patch
from ._shapes import NOWHERE, bars, hatching
from ._style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    GRID,
    HATCH,
    LABEL,
    NARROW,
    ORANGE,
    ORANGE_TEXT,
    OTHER,
    PALE_BLUE,
    QUIET,
    SELECTED,
    WIDE,
    moving_line,
    new_figure,
    tidy,
)

TINTS = ("#A9DBD3", "#F3D98B", "#E8B8D3", "#C3C8D0")  # of workers; their number or their mark is always there, too
_MARKS = ("o", "s", "^", "D")
_TALL = 5  # slots of the bucket in a column
_LOST = 7  # chips below the bucket; the others are a number
# The scene with workers, bucket, and what falls out, in units of about a pixel.
_SCENE, _CHIP, _PITCH = (480.0, 306.0), 34.0, 50.0
_BUCKET = (238.0, 432.0, 34.0, 226.0)  # left, right, top, bottom
_ROW, _SQUARE = 54.0, 17.0  # of the queue


class Arrivals(NamedTuple):
    """Gradients in the order in which they came; lists of equal length.

    Fields: worker; the local_step it passed, the accumulator's step then; accepted; count in the accumulator with it;
    served: the taker who got the mean, or ""; needs: what that taker had asked for; gradient (4,).
    """

    worker: Sequence[int]
    local_step: Sequence[int]
    step: Sequence[int]
    accepted: Sequence[bool]
    count: Sequence[int]  # type: ignore[assignment]  # not tuple.count
    served: Sequence[str]
    needs: Sequence[int]
    gradient: Sequence[np.ndarray]


class Inside(NamedTuple):
    """The state of an accumulator: step, count, the queue; the latest gradient (4,).

    `total` and `value` (4,) are the sum and what a take gives: those of the take that the latest gradient brought
    about, if it did; `of` says of how many gradients they are, 0 for none. `members` are those gradients, by their
    place among the arrivals, and `lost` are those dropped since the take before.
    """

    step: int
    count: int  # type: ignore[assignment]  # not tuple.count
    queue: Sequence[tuple[str, int]]
    latest: np.ndarray
    total: np.ndarray
    value: np.ndarray
    of: int
    members: Sequence[int] = ()
    lost: Sequence[int] = ()


class AccumulatorView:
    """All arrivals in a strip; below it workers, bucket, and queue; and the mean with what it is made of."""

    def __init__(self, workers: int, arrivals: int) -> None:
        self.figure = new_figure(WIDE, 5.3)
        self.workers, self.count, self._line = workers, arrivals, arrivals
        self.strip, self.scene, self.queue, self.mean = (self.figure.add_subplot() for _ in range(4))
        for axes in (self.strip, self.scene, self.queue):
            axes.set_axis_off()
        tidy(self.mean, " ", "entry", "gradient")
        self._still()
        self._chips = Chips(self.strip, workers, arrivals), Chips(self.scene, workers, 16)
        self._moving()
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: queue and mean beside the bucket, or all in one column, and the strip in two lines."""
        self._line = self.count // 2 if narrow else self.count
        lines = self.count // self._line
        self.strip.set(xlim=(-0.15, self._line + 0.15), ylim=(3.0 * lines, 0))
        if narrow:
            self.figure.set_size_inches(NARROW, 10.2)
            grid = GridSpec(4, 1, self.figure, height_ratios=(1.75, 3.0, 1.75, 2.2))
            places = [grid[k] for k in range(4)]
        else:
            self.figure.set_size_inches(WIDE, 5.3)
            grid = GridSpec(3, 2, self.figure, width_ratios=(1.9, 1), height_ratios=(0.95, 1.65, 1.75))
            places = [grid[0, :], grid[1:, 0], grid[1, 1], grid[2, 1]]
        for axes, place in zip((self.strip, self.scene, self.queue, self.mean), places, strict=True):
            axes.set_subplotspec(place)

    def _still(self) -> None:
        self.scene.set(xlim=(-2, _SCENE[0]), ylim=(_SCENE[1], 0))
        self.queue.set(xlim=(0, 240), ylim=(3 * _ROW + 8, 0))
        self.strip.set_title(" ", fontsize=LABEL)
        for k in range(self.workers):
            chip = bars(0, _CHIP, _middle(k) - _CHIP / 2, _middle(k) + _CHIP / 2)
            self.scene.add_patch(PathPatch(chip, fc=TINTS[k], ec=QUIET, lw=0.9))
        left, right, top, bottom = _BUCKET
        self.scene.plot([left, left, right, right], [top - 6, bottom, bottom, top - 6], color=QUIET, lw=3, zorder=3)
        self.mean.set(xlim=(0.45, 4.55), ylim=(-4.5, 10.5), xticks=range(1, 5), yticks=(-4, 0, 4, 8))
        self.mean.set_xticklabels(["1", "2", "3", "4"])
        self.mean.axhline(0, color=OTHER, lw=0.8)

    def _moving(self) -> None:
        looks: dict[str, Any] = {"fontsize": LABEL, "weight": "bold"}
        self._title = label(self.strip, x=0, y=1.09, ha="left", transform=self.strip.transAxes, **looks)
        self._takes = moving_line(self.strip, color=BLUE, lw=2.0, zorder=1.5)
        self._track = moving_line(self.strip, color=GRID, lw=2.0, zorder=1)
        self._served = [label(self.strip, color=BLUE_TEXT, weight="bold", ha="right") for _ in range(self.count)]
        self._newest = patch(self.strip, {"fc": "none", "ec": BLACK, "lw": SELECTED})
        label(self.scene, y=14, ha="left", text="Workers", **looks)
        self._bucket = label(self.scene, x=sum(_BUCKET[:2]) / 2, y=14, **looks)
        for k in range(self.workers):
            label(self.scene, x=_CHIP / 2, y=_middle(k), weight="bold", text=f"{k + 1}")
        self._path, self._out = (
            moving_line(self.scene, color=color, lw=2.0, ls=dashes) for color, dashes in ((BLACK, "-"), (ORANGE, "--"))
        )
        self._heads = [patch(self.scene, {"fc": color, "ec": "none"}) for color in (BLACK, ORANGE)]
        self._leaves = [moving_line(self.scene, color=BLUE, lw=lw, ls=ls) for lw, ls in ((1.2, "--"), (3.0, "-"))]
        self._left = patch(self.scene, {"fc": BLUE, "ec": "none"})
        self._slots = patch(self.scene, {"fc": "none", "ec": OTHER, "lw": 1.2, "ls": "--"})
        self._more = label(self.scene, color=QUIET)
        self._verdict = [label(self.scene, ha="left", y=254 + 17 * k) for k in range(3)]
        self._lost = label(self.scene, x=_BUCKET[0], y=294, ha="left", color=ORANGE_TEXT)
        label(self.queue, y=10, ha="left", text="Queue of takers", **looks)
        self._takers = moving_line(self.queue, "o", ms=23, mfc="none", mec=BLUE, mew=1.8, ls="none")
        self._who = [label(self.queue, x=18, weight="bold") for _ in range(3)]
        self._said = [label(self.queue, x=44, ha="left", color=BLACK) for _ in range(3)]
        self._has, self._needs = (patch(self.queue, {"fc": fc, "ec": BLUE, "lw": 1.2}) for fc in (BLUE, "white"))
        self._gets = label(self.mean, x=0, y=1.07, ha="left", transform=self.mean.transAxes, **looks)
        self._value = patch(self.mean, {"fc": PALE_BLUE, "ec": BLUE, "lw": 1.6})
        self._numbers = [label(self.mean, color=BLUE_TEXT, weight="bold") for _ in range(4)]
        self._dots = [
            moving_line(self.mean, mark, ms=6, mfc=tint, mec=QUIET, mew=0.9, ls="none", zorder=3)
            for tint, mark in zip(TINTS, _MARKS, strict=True)
        ]

    def draw(self, done: int, past: Arrivals, now: Inside) -> None:
        """Set the moving artists: how many gradients have come, those, and what the accumulator holds."""
        self._draw_strip(done, past)
        self._draw_bucket(done, past, now)
        self._draw_way(done, past, now)
        self._draw_queue(done, past, now)
        self._draw_mean(done, past, now)

    def _places(self, k: Any) -> tuple[Any, Any]:
        """Left side and top of the line of arrivals k, a number or an array."""
        return k % self._line, 3.0 * (k // self._line)

    def _marks(self, of: Sequence[int], x: Sequence[float], y: Sequence[float]) -> np.ndarray:
        """Points (x, y) beside the places of some arrivals, (n, 2)."""
        at = (self._places(k) for k in of)
        points = [(left + dx, top + dy) for left, top in at for dx, dy in zip(x, y, strict=True)]
        return np.array(points, float).reshape(-1, 2)

    def _draw_strip(self, done: int, past: Arrivals) -> None:
        k, accepted = np.arange(done), np.array(past.accepted, bool)
        x, top = self._places(k)
        y = top + np.where(accepted, 0.9, 1.95)
        self._chips[0].draw(x + 0.06, y, 0.88, 0.85, np.array(past.worker, int), accepted)
        self._newest.set_path(bars(x[-1:] + 0.02, x[-1:] + 0.98, y[-1:] - 0.05, y[-1:] + 0.9))
        lost = done - int(accepted.sum())
        self._title.set_text(f"Arrivals: {lost} of {done} dropped")
        takes = [n for n in range(done) if past.served[n]]
        self._takes.set_data(*self._marks(takes, (1.0, 1.0, np.nan), (0.1, 2.8, np.nan)).T)
        ahead = range(done, self.count)
        self._track.set_data(*self._marks(ahead, (0.2, 0.8, np.nan), (1.35, 1.35, np.nan)).T)
        for n, words in enumerate(self._served):
            words.set_text("")
            if n in takes:
                room = min(n % self._line + 1, n - max([-1, *(t for t in takes if t < n)]))
                short = f"{past.served[n]} {past.count[n]}"
                at = self._places(n)
                words.set(x=at[0] + 0.9, y=at[1] + 0.42, text=short if room < 4 else short.replace(" ", " takes "))

    def _draw_bucket(self, done: int, past: Arrivals, now: Inside) -> None:
        served = done > 0 and bool(past.served[-1])
        asked = past.needs[-1] if served else now.queue[0][1] if now.queue else 0
        n = len(now.members)
        left, right, top, high = _slots(max(n, asked))
        workers = np.array([past.worker[k] for k in now.members], int)
        lost = now.lost[-_LOST:]
        x, size = _BUCKET[0] + (_CHIP - 6) * np.arange(len(lost)), _CHIP - 11
        self._chips[1].draw(
            np.concatenate([left[:n], x]), np.concatenate([top[:n], np.full(len(lost), 246.0)]),
            np.concatenate([right[:n] - left[:n], np.full(len(lost), size)]),
            np.concatenate([np.full(n, high), np.full(len(lost), size + 8)]),
            np.concatenate([workers, np.array([past.worker[k] for k in lost], int)]),
            np.arange(n + len(lost)) < n,
        )  # fmt: skip
        self._slots.set_path(bars(left[n:], right[n:], top[n:], top[n:] + high))
        free = asked - n
        self._more.set_text("" if free <= 0 else "one more" if free == 1 else f"{free} more")
        if free > 0:
            self._more.set(x=(left[n] + right[n]) / 2, y=top[n] + high / 2)
        self._bucket.set_text(f"Taken: the step is now {now.step}" if served else f"Bucket, step {now.step}")
        for line, shown in zip(self._leaves, (bool(now.queue) and not served, served), strict=True):
            line.set_data(*(((_BUCKET[1] + 6, _SCENE[0] - 12), (70, 70)) if shown else ((), ())))
        self._left.set_path(_head(_SCENE[0] - 2, 70) if served or now.queue else NOWHERE)
        self._lost.set_text(f"{len(now.lost)} fell out" if now.lost else "")

    def _draw_way(self, done: int, past: Arrivals, now: Inside) -> None:
        """The way of the latest gradient, into the bucket or out, and why."""
        last = past.worker[-1] if done else None
        for shape in (self._path, self._out):
            shape.set_data([], [])
        for head in self._heads:
            head.set_path(NOWHERE)
        for words in self._verdict:
            words.set_text("")
        if last is None:
            return
        inside = bool(past.accepted[-1])
        if inside:
            _, _, top, high = _slots(max(len(now.members), past.needs[-1], now.queue[0][1] if now.queue else 0))
            end = (_BUCKET[0] - 4, top[len(now.members) - 1] + high / 2)
        else:
            end = (_BUCKET[0] - 4, 262.0)
        way = _curve((_CHIP + 8, _middle(last)), (end[0] - 9, end[1]))
        (self._path if inside else self._out).set_data(*way.T)
        self._heads[not inside].set_path(_head(*end))
        told = (f"noted step {past.local_step[-1]:,},", f"bucket at step {past.step[-1]:,}:",
                "accepted" if inside else "dropped")  # fmt: skip
        for words, text in zip(self._verdict, told, strict=True):
            words.set_text(text)
        self._verdict[-1].set(weight="bold", color=BLUE_TEXT if inside else ORANGE_TEXT)

    def _draw_queue(self, done: int, past: Arrivals, now: Inside) -> None:
        rows = []
        if done and past.served[-1]:
            n = past.count[-1]
            rows.append((past.served[-1], n, n, f"asked for {past.needs[-1]}, gets {n}"))
        for k, (who, needs) in enumerate(now.queue):
            has = 0 if k else min(now.count, needs)
            rows.append((who, has, needs, f"needs {needs}, waits for {now.queue[0][0]}" if k else
                         f"needs {needs}, has {now.count}"))  # fmt: skip
        full: list[tuple[float, ...]] = []
        empty: list[tuple[float, ...]] = []
        for k, (_, has, needs, _) in enumerate(rows[:3]):
            pitch = min(_SQUARE + 4, 190 / max(has, needs))
            for n in range(max(has, needs)):
                square = (44 + n * pitch, 44 + n * pitch + pitch - 4, 24 + _ROW * k, 24 + _SQUARE + _ROW * k)
                (full if n < has else empty).append(square)
        self._has.set_path(bars(*np.reshape(full, (-1, 4)).T))
        self._needs.set_path(bars(*np.reshape(empty, (-1, 4)).T))
        self._takers.set_data([18] * len(rows), [38 + _ROW * k for k in range(len(rows))])
        for k, (who, said) in enumerate(zip(self._who, self._said, strict=True)):
            row = rows[k] if k < len(rows) else ("", 0, 0, "nobody waits" if not rows and not k else "")
            who.set(text=row[0], y=38 + _ROW * k)
            said.set(text=row[3], y=51 + _ROW * k)

    def _draw_mean(self, done: int, past: Arrivals, now: Inside) -> None:
        at, high = np.arange(1, 5), max(self.mean.get_ylim())
        value = now.value if now.of else np.zeros(4)
        self._value.set_path(bars(at - 0.32, at + 0.32, np.minimum(value, 0), np.maximum(value, 0))
                             if now.of else NOWHERE)  # fmt: skip
        members = [(past.worker[k], past.gradient[k]) for k in now.members]
        for worker, dots in enumerate(self._dots):
            own = [(n, g) for n, (w, g) in enumerate(members) if w == worker]
            shift = np.array([n for n, _ in own]) / max(len(members) - 1, 1) * 0.44 - 0.22
            dots.set_data(*(np.ravel(x) for x in (shift[:, None] + at, [g for _, g in own])))
        for words, x, y in zip(self._numbers, at, value, strict=True):
            words.set(x=x, y=high - 1.0, text=signed(number(float(y), 2)) if now.of else "")
        served = past.served[-1] if done else ""
        first = now.queue[0][0] if now.queue else "A taker"
        what = f"from {counted(now.of, 'gradient')}"
        self._gets.set_text(
            f"{served} gets, {what}" if served else f"{first} would get, {what}" if now.of else "Empty: no mean"
        )


class Chips:
    """Boxes with the number of a worker in its tint; those that are dropped are hatched."""

    def __init__(self, axes: Any, workers: int, most: int) -> None:
        self._shapes = [patch(axes, {"fc": tint, "ec": QUIET, "lw": 0.9}) for tint in TINTS[:workers]]
        self._dropped = patch(axes, DROPPED)
        self._hatching = moving_line(axes, zorder=2.5, **HATCH)
        self._numbers = [label(axes, weight="bold") for _ in range(most)]

    def draw(self, left: Any, top: Any, width: Any, height: Any, worker: np.ndarray, accepted: np.ndarray) -> None:
        """Boxes (n,) by their sides, of workers (n,), accepted (n,) or not."""
        left, top, width, height = np.broadcast_arrays(left, top, width, height)
        sides = np.stack([left, left + width, top, top + height])
        for k, shape in enumerate(self._shapes):
            shape.set_path(bars(*sides[:, accepted & (worker == k)]))
        lost = sides[:, ~accepted]
        self._dropped.set_path(bars(*lost))
        wide = float(width[0]) if len(width) else 1.0
        x0, x1, y0, y1 = lost
        self._hatching.set_data(*hatching(x0, x1, y0, y1, lean=0.5 * wide, apart=0.3 * wide).T)
        for k, words in enumerate(self._numbers):
            words.set_text(f"{worker[k] + 1}" if k < len(worker) else "")
            if k < len(worker):
                words.set(x=left[k] + width[k] / 2, y=top[k] + height[k] / 2)


def _middle(worker: int) -> float:
    return 34 + _CHIP / 2 + _PITCH * worker


def _slots(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Left and right sides, tops (n,), and the height of the slots of a bucket, filled from below."""
    left, right, top, bottom = _BUCKET
    columns = max(1, -(-count // _TALL))
    rows = max(1, -(-count // columns))
    high, wide = (bottom - top) / max(rows, 3), (right - left) / columns
    k = np.arange(count)
    x, y = left + wide * (k // rows), bottom - high * (k % rows + 1)
    return x + 7, x + wide - 7, y + 2, high - 8


def _curve(start: tuple[float, float], end: tuple[float, float]) -> np.ndarray:
    """A smooth way (n, 2) that begins and ends level."""
    t = np.linspace(0, 1, 25)
    smooth = t * t * (3 - 2 * t)
    return np.column_stack([start[0] + (end[0] - start[0]) * t, start[1] + (end[1] - start[1]) * smooth])


def _head(x: float, y: float) -> Path:
    """The head of an arrow to the right that ends there."""
    return Path([(x, y), (x - 11, y - 5.5), (x - 11, y + 5.5), (x, y)], closed=True)

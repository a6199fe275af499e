"""An accumulator at work: a bucket that fills, a queue of takers, what falls out, and the mean that
forms.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._base.numbers import number, signed
from ...live.drawing.labels import label
from ...live.drawing.lanes import patch
from ...live.drawing.shapes import NOWHERE, bars, segments
from ...live.drawing.style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    GRID,
    LABEL,
    NARROW,
    ORANGE_TEXT,
    OTHER,
    PALE_BLUE,
    QUIET,
    SELECTED,
    SMALL,
    WIDE,
    moving_line,
    new_figure,
    tidy,
)
from .._layout import PanelLayout, place_panels
from .bucket_picture import TINTS, Arrivals, Bucket, BucketState, Chips

_MARKS = ("o", "s", "^", "D")
_ROW, _SQUARE, _ROWS = 50.0, 17.0, 3  # of the queue
_SCALES = (4, 8, 20, 40)  # ends of the axis of the mean
_NUMBERED = 4  # dots beside each other that have room for the numbers of their workers
_WIDE_LAYOUT = PanelLayout(
    (WIDE, 5.0), "SS/BQ/BM", width_ratios=(1.85, 1), height_ratios=(0.9, 1.74, 1.78)
)
_NARROW_LAYOUT = PanelLayout((NARROW, 10.4), "S/B/Q/M", height_ratios=(1.7, 3.6, 1.75, 2.2))


class AccumulatorView:
    """All arrivals in a strip; below it workers, bucket, and queue; and the mean with what it is made of."""

    def __init__(self, workers: int, arrivals: int) -> None:
        self.figure = new_figure(WIDE, 5.0)
        panels = [self.figure.add_subplot() for _ in range(4)]
        self.strip, self.scene = _Strip(panels[0], workers, arrivals), Bucket(panels[1], workers)
        self.queue, self.mean = _Queue(panels[2]), _Mean(panels[3])
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: queue and mean beside the bucket, or all in one column, and the strip in two lines."""
        self.strip.arrange(narrow)
        self.scene.arrange(narrow)
        strip, bucket, queue, mean = self.figure.axes
        layout = _NARROW_LAYOUT if narrow else _WIDE_LAYOUT
        place_panels(self.figure, layout, S=strip, B=bucket, Q=queue, M=mean)

    def draw(self, done: int, past: Arrivals, now: BucketState, reduction: str = "mean") -> None:
        """Set the moving artists: how many gradients have come, those, and what the accumulator holds."""
        self.strip.draw(done, past)
        self.scene.draw(done, past, now)
        self.queue.draw(done, past, now)
        self.mean.draw(done, past, now, reduction)


class _Strip:
    """All arrivals in their order; those that were dropped are lower, and lines are takes."""

    def __init__(self, axes: Any, workers: int, arrivals: int) -> None:
        self.axes, self._all, self._line = axes, arrivals, arrivals
        axes.set_axis_off()
        axes.set_title(" ", fontsize=LABEL)
        above: dict[str, Any] = {
            "y": 1.09,
            "fontsize": LABEL,
            "weight": "bold",
            "transform": axes.transAxes,
        }
        self._title = label(axes, x=0, ha="left", **above)
        self._lost = label(axes, x=1, ha="right", color=ORANGE_TEXT, **above)
        self.takes = moving_line(axes, color=BLUE, lw=2.0, zorder=1.5)
        self._ahead = patch(axes, {"fc": "none", "ec": GRID, "lw": 1.0})
        self.chips = Chips(axes, workers, arrivals)
        self.served = [
            label(axes, color=BLUE_TEXT, weight="bold", ha="right") for _ in range(arrivals)
        ]
        self._newest = patch(axes, {"fc": "none", "ec": BLACK, "lw": SELECTED})
        self._now = label(axes, text="now", weight="bold")

    def arrange(self, narrow: bool) -> None:
        self._line = self._all // 2 if narrow else self._all
        self.axes.set(xlim=(-0.15, self._line + 0.15), ylim=(3.0 * (self._all // self._line), 0))
        self._title.set_text("Arrivals" if narrow else "Gradients in the order they came")

    def draw(self, done: int, past: Arrivals) -> None:
        k, accepted = np.arange(done), np.array(past.accepted, bool)
        x, top = self._places(k)
        y = top + np.where(accepted, 0.9, 1.95)
        self.chips.draw(x + 0.06, y, 0.88, 0.85, np.array(past.worker, int), accepted)
        self._newest.set_path(bars(x[-1:] + 0.02, x[-1:] + 0.98, y[-1:] - 0.05, y[-1:] + 0.9))
        lost = done - int(accepted.sum())
        self._lost.set_text(f"{lost} of {done} dropped" if lost else "")
        later, row = self._places(np.arange(done, self._all))
        self._ahead.set_path(bars(later + 0.06, later + 0.94, row + 0.9, row + 1.75))
        self._draw_takes(done, past)

    def _draw_takes(self, done: int, past: Arrivals) -> None:
        """A line where a taker leaves with the mean, with its words; at the newest gradient else
        "now".
        """
        takes = [n for n in range(done) if past.served[n]]
        at = np.array([self._places(n) for n in takes]).reshape(-1, 2)
        x, top = at[:, 0] + 1, at[:, 1]
        self.takes.set_data(*segments(x, top + 0.1, x, top + 2.8))
        for n, words in enumerate(self.served):
            words.set_text("")
            if n in takes:
                room = min(n % self._line + 1, n - max([-1, *(t for t in takes if t < n)]))
                short = f"{past.served[n]} {past.count[n]}"
                left, top = self._places(n)
                words.set(
                    x=left + 0.9,
                    y=top + 0.42,
                    text=short if room < 4 else short.replace(" ", " takes "),
                )
        # There "now" reaches to the left, where the words of a take may end.
        last = done % self._line == 0
        self._now.set_visible(done > 0 and not any(past.served[done - 1 - last : done]))
        if done:
            left, top = self._places(done - 1)
            self._now.set(
                x=left + (1 if last else 0.1), y=top + 0.42, ha="right" if last else "left"
            )

    def _places(self, k: Any) -> tuple[Any, Any]:
        """Left side and top of the line of arrivals k, a number or an array."""
        return k % self._line, 3.0 * (k // self._line)


class _Queue:
    """Takers in the order in which they are served: what each asked for, and how much of it is
    there.
    """

    def __init__(self, axes: Any) -> None:
        self.axes = axes
        axes.set_axis_off()
        axes.set(xlim=(0, 240), ylim=(_ROWS * _ROW + 24, 0))
        looks: dict[str, Any] = {"ms": 23, "mfc": "none", "mew": 1.8, "ls": "none"}
        self._takers = [moving_line(axes, "o", mec=color, **looks) for color in (BLUE, OTHER)]
        self.who = [label(axes, x=18, weight="bold") for _ in range(_ROWS)]
        self.said = [label(axes, x=44, ha="left") for _ in range(_ROWS)]
        squares: tuple[dict[str, Any], ...] = (
            {"fc": BLUE, "ec": BLUE},
            {"fc": "white", "ec": BLUE},
            {"fc": "white", "ec": OTHER, "ls": "--"},
        )
        self.has, self.needs, self.later = (patch(axes, {"lw": 1.2, **looks}) for looks in squares)
        label(
            axes,
            y=14,
            ha="left",
            text="Takers, first come first served",
            fontsize=LABEL,
            weight="bold",
        )

    def draw(self, done: int, past: Arrivals, now: BucketState) -> None:
        rows = _in_line(done, past, now)[:_ROWS]
        kinds: dict[str, list[tuple[float, ...]]] = {"has": [], "needs": [], "later": []}
        for k, (_, has, needs, first, _) in enumerate(rows):
            pitch = min(_SQUARE + 4, 190 / max(has, needs))
            for n in range(max(has, needs)):
                square = (
                    44 + n * pitch,
                    44 + n * pitch + pitch - 4,
                    28 + _ROW * k,
                    28 + _SQUARE + _ROW * k,
                )
                kinds["has" if n < has else "needs" if first else "later"].append(square)
        for name, squares in kinds.items():
            getattr(self, name).set_path(bars(*np.reshape(squares, (-1, 4)).T))
        for line, chosen in zip(self._takers, (True, False), strict=True):
            some = [k for k, row in enumerate(rows) if row[3] == chosen]
            line.set_data([18] * len(some), [42 + _ROW * k for k in some])
        for k, (who, said) in enumerate(zip(self.who, self.said, strict=True)):
            row = (
                rows[k]
                if k < len(rows)
                else ("", 0, 0, False, "nobody waits" if not rows and not k else "")
            )
            who.set(text=row[0], y=42 + _ROW * k, color=BLACK if row[3] else QUIET)
            said.set(text=row[4], y=58 + _ROW * k)
            said.set(weight="bold" if row[3] else "normal", color=BLACK if row[3] else QUIET)


class _Mean:
    """The mean that a take would give, or gives: a bar for each entry, with a dot for each of its
    gradients.
    """

    def __init__(self, axes: Any) -> None:
        self.axes = tidy(axes, " ", "entry", "")
        axes.set(xlim=(0.45, 4.55), ylim=(-0.6, 1.3), xticks=range(1, 5))
        axes.set_yticks((-0.5, 0, 0.5, 1), labels=[""] * 4)
        axes.yaxis.labelpad = 22
        axes.set_ylabel(" ", fontsize=SMALL)  # the numbers that move need the room
        axes.axhline(0, color=OTHER, lw=0.8)
        self.title = label(
            axes, x=0, y=1.07, ha="left", transform=axes.transAxes, fontsize=LABEL, weight="bold"
        )
        beside: dict[str, Any] = {
            "x": -0.03,
            "ha": "right",
            "color": QUIET,
            "transform": axes.get_yaxis_transform(),
        }
        self._ticks = [label(axes, y=tick, **beside) for tick in (-0.5, 0, 0.5, 1)]
        self.value = patch(axes, {"fc": PALE_BLUE, "ec": BLUE, "lw": 1.6})
        self.numbers = [label(axes, y=1.17, color=BLUE_TEXT, weight="bold") for _ in range(4)]
        self.dots = [
            moving_line(axes, mfc=tint, mec=QUIET, mew=0.9, ls="none", zorder=3) for tint in TINTS
        ]
        self._worker = [label(axes) for _ in range(4 * _NUMBERED)]

    def draw(self, done: int, past: Arrivals, now: BucketState, reduction: str) -> None:
        at, value = np.arange(1, 5), now.value if now.of else np.zeros(4)
        who = np.array([past.worker[k] for k in now.members], int)
        grads = np.array([past.gradient[k] for k in now.members]).reshape(-1, 4)
        scale = next(
            (end for end in _SCALES if np.abs([*grads.ravel(), *value, 0]).max() <= end),
            _SCALES[-1],
        )
        for tick, words in zip((-0.5, 0, 0.5, 1), self._ticks, strict=True):
            words.set_text(signed(number(tick * scale)))
        low, high = np.minimum(value, 0) / scale, np.maximum(value, 0) / scale
        self.value.set_path(bars(at - 0.4, at + 0.4, low, high) if now.of else NOWHERE)
        for words, x, y in zip(self.numbers, at, value, strict=True):
            words.set(x=x, text=signed(number(float(y), 2)) if now.of else "")
        places = at + (np.arange(len(who))[:, None] - (len(who) - 1) / 2) * min(
            0.25, 0.7 / max(len(who), 1)
        )
        numbered = len(who) <= _NUMBERED
        for k, dots in enumerate(self.dots):
            dots.set_data(places[who == k].ravel(), grads[who == k].ravel() / scale)
            dots.set(marker="o" if numbered else _MARKS[k], markersize=10 if numbered else 6)
        of = np.repeat(who, 4)[: 4 * len(who) * numbered]
        for k, words in enumerate(self._worker):
            words.set_text(f"{of[k] + 1}" if k < len(of) else "")
            if k < len(of):
                words.set(x=places.ravel()[k], y=grads.ravel()[k] / scale)
        self._entitle(past.served[-1] if done else "", now, reduction)

    def _entitle(self, served: str, now: BucketState, reduction: str) -> None:
        who = (
            f"{served} gets"
            if served
            else f"{now.queue[0][0]} would get"
            if now.queue
            else "A taker would get"
        )
        self.title.set_text(
            f"{who} the {reduction} of {now.of}" if now.of else f"Empty: no {reduction}"
        )


def _in_line(done: int, past: Arrivals, now: BucketState) -> list[tuple[str, int, int, bool, str]]:
    """Takers from the one just served: name, what it has and needs, whether its turn is now, and
    both in words.
    """
    rows = []
    if done and past.served[-1]:
        n = past.count[-1]
        rows.append((past.served[-1], n, n, True, f"asked for {past.needs[-1]}, gets {n}"))
    for who, needs in now.queue:
        first = not rows
        said = (
            f"needs {needs}, has {now.count}"
            if who == now.queue[0][0]
            else f"needs {needs}, waits behind {now.queue[0][0]}"
        )
        rows.append(
            (who, min(now.count, needs) if who == now.queue[0][0] else 0, needs, first, said)
        )
    return rows

"""An accumulator at work: who came and was accepted, how full it is, who waits, and the mean that forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.gridspec import GridSpec
from matplotlib.ticker import NullLocator

from ._lanes import ACCEPTED, patch, text
from ._shapes import Key, bars
from ._style import BLACK, BLUE, GREEN, NARROW, ORANGE, OTHER, WIDE, moving_line, new_figure, tidy

_ACCEPTED: dict[str, Any] = {"marker": "o", "ms": 8, "color": BLUE, "mec": "white", "ls": "none"}
_DROPPED: dict[str, Any] = {"marker": "X", "ms": 9, "color": ORANGE, "mec": "white", "ls": "none"}
_TAKEN: dict[str, Any] = {"color": GREEN, "lw": 1.8, "ls": "-"}
_LATEST: dict[str, Any] = {"marker": "o", "ms": 8, "mfc": "none", "mec": BLACK, "mew": 1.6, "ls": "none"}
_MEAN: dict[str, Any] = {"marker": "D", "ms": 8, "color": GREEN, "mec": "white", "ls": "none"}
_ASKED: dict[str, Any] = {"fc": "none", "ec": BLACK, "lw": 1.4}
_MOST = 10  # gradients that fit the panel; a bar that is longer ends in its number


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
    about, if it did; `of` says of how many gradients they are, 0 for none.
    """

    step: int
    count: int  # type: ignore[assignment]  # not tuple.count
    queue: Sequence[tuple[str, int]]
    latest: np.ndarray
    total: np.ndarray
    value: np.ndarray
    of: int


class AccumulatorView:
    """Lanes of arrivals above; below them the count beside the queue, and the sum with the mean."""

    def __init__(self, workers: int, arrivals: int) -> None:
        self.figure = new_figure(WIDE, 6.2)
        self.arrivals, self.queue, self.mean, key = (self.figure.add_subplot() for _ in range(4))
        tidy(self.arrivals, "Gradients as they come", "gradient", "worker")
        tidy(self.queue, "Accumulated gradients and queue", "gradients", "")
        tidy(self.mean, "The sum, and what a take gives", "entry of the gradient", "")
        self._key = Key(key, (
            (_ACCEPTED, "accepted (below it: its local step)"), (_DROPPED, "dropped"),
            (_TAKEN, "a take: by whom, of how many"),
            (ACCEPTED, "what is in it; the sum"), (_ASKED, "what a taker asks for"), (_LATEST, "the latest gradient"),
            (_MEAN, "mean (or sum) a take gives"),
        ))  # fmt: skip
        self._still(workers, arrivals)
        self._moving()
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: everything below the arrivals side by side, or in one column."""
        if narrow:
            self.figure.set_size_inches(NARROW, 11.0)
            grid = GridSpec(4, 1, self.figure, height_ratios=(2.2, 1.5, 2, 1.7))
            places = [grid[k] for k in range(4)]
        else:
            self.figure.set_size_inches(WIDE, 6.2)
            grid = GridSpec(3, 2, self.figure, height_ratios=(1.5, 1.3, 0.5))
            places = [grid[0, :], grid[1, 0], grid[1, 1], grid[2, :]]
        for axes, place in zip((self.arrivals, self.queue, self.mean, self._key.axes), places, strict=True):
            axes.set_subplotspec(place)
        self._key.arrange(1 if narrow else 3, 3.3 if narrow else 8.2)

    def _still(self, workers: int, arrivals: int) -> None:
        self.arrivals.set(xlim=(0, arrivals + 2), ylim=(workers + 0.8, 0.3), yticks=range(1, workers + 1))
        self.arrivals.set_xticks(range(0, arrivals + 1, 4))
        self.queue.set(xlim=(-5.2, _MOST + 0.9), ylim=(3.0, -0.3), xticks=range(0, _MOST + 1, 2))
        self.queue.yaxis.set_major_locator(NullLocator())
        self.mean.set(xlim=(0.4, 4.6), ylim=(-12, 18), xticks=range(1, 5))
        self.mean.axhline(0, color=OTHER, lw=1)

    def _moving(self) -> None:
        axes = self.arrivals
        self._takes = moving_line(axes, zorder=1.5, **_TAKEN)
        self._accepted, self._dropped = (
            moving_line(axes, zorder=3, **_ACCEPTED),
            moving_line(axes, zorder=3, **_DROPPED),
        )
        self._newest = moving_line(axes, zorder=3.5, **{**_LATEST, "ms": 13})
        low, count = min(axes.get_ylim()), round(max(axes.get_xlim())) - 2
        self._steps = [text(axes, ha="center", va="top", fontsize=8) for _ in range(count)]
        looks: dict[str, Any] = {"ha": "center", "va": "bottom", "color": GREEN, "weight": "bold", "fontsize": 8.5}
        self._served = [text(axes, y=low + 0.3, **looks) for _ in range(count)]
        self._count, self._asked = patch(self.queue, ACCEPTED), patch(self.queue, _ASKED)
        self._has = text(self.queue, va="center", fontsize=9)
        self._rows = [text(self.queue, x=-5.0, va="center", fontsize=9) for _ in range(3)]
        self._total = patch(self.mean, ACCEPTED)
        self._value, self._latest = (
            moving_line(self.mean, zorder=4, **_MEAN),
            moving_line(self.mean, zorder=3, **_LATEST),
        )

    def draw(self, done: int, past: Arrivals, now: Inside) -> None:
        """Set the moving artists: how many gradients have come, those, and what the accumulator holds."""
        self._draw_arrivals(done, past)
        self._draw_queue(now)
        entries = np.arange(1, 5)
        self._total.set_path(bars(entries - 0.3, entries + 0.3, np.minimum(now.total, 0), np.maximum(now.total, 0)))
        self._value.set_data(entries if now.of else [], now.value if now.of else [])
        self._latest.set_data(entries - 0.2 if done else [], now.latest if done else [])  # beside the mean

    def _draw_arrivals(self, done: int, past: Arrivals) -> None:
        at, lane, accepted = np.arange(1, done + 1), np.array(past.worker, int) + 1, np.array(past.accepted, bool)
        self._accepted.set_data(at[accepted], lane[accepted])
        self._dropped.set_data(at[~accepted], lane[~accepted])
        self._newest.set_data(at[-1:], lane[-1:])
        low, high = sorted(self.arrivals.get_ylim())
        takes = [k for k in range(done) if past.served[k]]
        ends = np.array([[k + 1.5, k + 1.5, np.nan] for k in takes]).ravel()
        self._takes.set_data(ends, np.tile([low + 0.3, high, np.nan], len(takes)))
        for k, (step, served) in enumerate(zip(self._steps, self._served, strict=True)):
            for words in (step, served):
                words.set_visible(k < done)
            if k < done:
                step.set(x=k + 1, y=lane[k] + 0.21, text=_short(past.local_step[k]))
                served.set(x=k + 1.5, text=f"{past.served[k]}: {past.count[k]}" if past.served[k] else "")

    def _draw_queue(self, now: Inside) -> None:
        shown = np.arange(min(now.count, _MOST))
        self._count.set_path(bars(shown + 0.06, shown + 0.94, 0.05, 0.65))
        self._has.set(x=len(shown) + 0.2, y=0.35, text=f"{now.count}")
        asked = [(k + 1, needs) for k, (_, needs) in enumerate(now.queue)]
        boxes = np.array([[n + 0.06, n + 0.94, row + 0.05, row + 0.65] for row, needs in asked for n in range(needs)])
        self._asked.set_path(bars(*boxes.reshape(-1, 4).T))
        line = [f"{k + 1}. {who} needs {needs}" for k, (who, needs) in enumerate(now.queue)] or ["nobody in line"]
        names = [f"step {now.step}", *line]
        for k, words in enumerate(self._rows):
            words.set(y=k + 0.35, text=names[k] if k < len(names) else "")


def _short(step: int) -> str:
    return f"{step}" if step < 1000 else "1k"

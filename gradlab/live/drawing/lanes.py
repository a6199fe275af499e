"""Lanes of workers at work at the same time, and what came of their gradients, by worker and by age."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.ticker import FuncFormatter
from matplotlib.transforms import ScaledTranslation

from ..._base.numbers import number
from .labels import chip, label
from .moving import MovingPath, MovingText
from .shapes import NOWHERE, bars, hatching, segments
from .style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    GREEN,
    HATCH,
    LABEL,
    ORANGE,
    ORANGE_TEXT,
    OTHER,
    PALE_BLUE,
    QUIET,
    SMALL,
    moving_line,
    tidy,
)

MOST_WORKERS = 8
OLDEST = 15  # staleness from here on is one bar
ACCEPTED: dict[str, Any] = {"fc": PALE_BLUE, "ec": BLUE, "lw": 1.2}
DROPPED: dict[str, Any] = {"fc": "white", "ec": ORANGE, "lw": 1.4}  # and hatched
IN_HAND: dict[str, Any] = {"fc": "white", "ec": OTHER, "lw": 1.2, "ls": ":"}
UPDATE: dict[str, Any] = {"color": BLUE, "marker": "|", "ms": 9, "mew": 1.6, "ls": "none"}
LIMIT: dict[str, Any] = {"color": GREEN, "ls": "-.", "lw": 1.8}
RECORDED: dict[str, Any] = {"color": BLACK, "marker": "D", "ms": 5.5, "mew": 0, "ls": "none"}
TOP = 0.09  # the share of the height above the lanes
_Sides = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
_TALL, _TALLEST = 0.8, 0.16  # of a bar, in its lane and in all


def patch(axes: Any, looks: dict[str, Any]) -> Any:
    """A moving path, filled and edged."""
    return axes.add_patch(MovingPath(NOWHERE, animated=True, zorder=2, **looks))


def text(axes: Any, **looks: Any) -> Any:
    """A moving text, which no layout has to make room for."""
    plain: dict[str, Any] = {
        "fontsize": SMALL,
        "color": BLACK,
        "animated": True,
        "zorder": 4,
        "clip_on": False,
    }
    return axes.add_artist(MovingText(text=looks.pop("s", ""), in_layout=False, **plain | looks))


def sides(worker: np.ndarray, workers: int) -> tuple[np.ndarray, np.ndarray]:
    """Upper and lower edge of the bars of some of so many workers, in an Axes that runs from 1 up to 0."""
    lane = (1 - TOP) / workers
    tall, middle = min(_TALL * lane, _TALLEST), TOP + (worker + 0.5) * lane
    return middle - tall / 2, middle + tall / 2


class LaneNames:
    """The workers' names, from 1, beside their lanes; that of a slow one is heavy, and below it is how slow it is."""

    def __init__(self, axes: Any, room: bool = True) -> None:
        """Put names left of a panel; `room`: the layout leaves room for them there."""
        axes.set(ylim=(1, 0), yticks=[])
        base, looks = axes.get_yaxis_transform(), {"x": -0.02, "ha": "right"}
        above, below = (
            base + ScaledTranslation(0, inches, axes.figure.dpi_scale_trans)
            for inches in (0.08, -0.08)
        )
        self._names = [
            label(axes, text=f"worker {k + 1}", color=QUIET, transform=base, **looks)
            for k in range(MOST_WORKERS)
        ]
        self._slow = label(axes, weight="bold", transform=above, **looks)
        self._note = label(axes, color=QUIET, transform=below, **looks)
        if room:
            axes.yaxis.labelpad = 48
            axes.set_ylabel(" ", fontsize=SMALL)

    def draw(self, workers: int, slow: int = -1, times: float = 1.0) -> None:
        """Name so many workers, one of which may be so many times as slow."""
        noted = times > 1 and 0 <= slow < workers
        for k, name in enumerate(self._names):
            name.set(
                y=np.mean(sides(np.array(k), max(1, workers))),
                visible=k < workers and not (noted and k == slow),
            )
        for words, said in (
            (self._slow, f"worker {slow + 1}"),
            (self._note, f"{number(times)}× as slow"),
        ):
            words.set_visible(noted)
            if noted:
                words.set(y=np.mean(sides(np.array(slow), workers)), text=said)


class Waits:
    """Dots where workers wait, with a word above the longest wait that is in sight, if it is `room` ticks long."""

    def __init__(self, axes: Any, room: float) -> None:
        self.dots = moving_line(axes, color=BLACK, ls=":", lw=1.6, zorder=2.5)
        self.word, self._room = label(axes, text="waits"), room

    def draw(self, waits: np.ndarray, start: int, workers: int) -> None:
        """Draw waits (n, 3) of some of so many workers, each a worker and two ticks, from a tick on."""
        who, since, until = waits.T
        middle = np.mean(sides(who, workers), axis=0)
        self.dots.set_data(*segments(since - start, middle, until - start, middle))
        seen = until - np.maximum(since, start)
        self.word.set_visible(bool((seen > self._room).any()))
        if self.word.get_visible():
            k = int(np.argmax(seen))
            self.word.set(x=(max(since[k], start) + until[k]) / 2 - start, y=middle[k] - 0.045)


class Workers:
    """A tally for each worker: a mark for every gradient, first the accepted ones, then those that were dropped."""

    def __init__(self, axes: Any) -> None:
        self.axes = tidy(axes, " ", "", "")
        axes.set(xlim=(0, 36), xticks=[])
        for spine in axes.spines.values():
            spine.set_visible(False)
        above: dict[str, Any] = {
            "y": 1.04,
            "fontsize": LABEL,
            "weight": "bold",
            "transform": axes.transAxes,
        }
        self._accepted = label(axes, x=0, ha="left", text="■ accepted", color=BLUE_TEXT, **above)
        self._dropped = label(axes, x=1, ha="right", text="▨ dropped", color=ORANGE_TEXT, **above)
        self._given, self._taken = patch(axes, DROPPED), patch(axes, {"fc": BLUE, "ec": "none"})
        self._hatching = moving_line(axes, zorder=2.5, **HATCH)
        self._names = LaneNames(axes, room=False)
        self._counts = [label(axes, ha="left") for _ in range(MOST_WORKERS)]

    def draw(self, given: np.ndarray, taken: np.ndarray, starving: np.ndarray, named: bool) -> None:
        """Arrays (workers,): gradients handed in, those accepted, and who starves; with names, or beside lanes."""
        workers = len(given)
        low, high = sides(np.arange(workers), workers)
        self._taken.set_path(bars(*_tallies(np.zeros(workers), taken, low, high)))
        lost = _tallies(taken, given, low, high)
        self._given.set_path(bars(*lost))
        self._hatching.set_data(*hatching(*lost, lean=0.7, apart=0.7).T)
        self._accepted.set_visible(bool(taken.any()))
        self._dropped.set_visible(bool((taken < given).any()))
        for k, words in enumerate(self._counts):
            words.set_visible(k < workers)
            if k < workers:
                starves = bool(starving[k])
                words.set(
                    x=given[k] + 0.8,
                    y=(low[k] + high[k]) / 2,
                    weight="bold" if starves else "normal",
                )
                words.set(text=f"{taken[k]} of {given[k]}" + ", starves" * starves)
                words.set_color(ORANGE_TEXT if starves else BLACK)
        self._names.draw(workers if named else 0)


class Ages:
    """The number of gradients of each staleness: the true one as bars, the recorded one as marks where one differs."""

    def __init__(self, axes: Any) -> None:
        self.axes = tidy(axes, "How stale they are", "staleness (updates since the read)", "")
        axes.set(xlim=(-0.7, OLDEST + 0.7), ylim=(0, 1.45), yticks=[])
        axes.grid(False)
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_formatter(
            FuncFormatter(lambda x, _: f"≥ {x:g}" if x == OLDEST else f"{x:g}")
        )
        self._taken, self._lost = patch(axes, ACCEPTED), patch(axes, DROPPED)
        self._hatching = moving_line(axes, zorder=2.5, **HATCH)
        self._recorded = moving_line(axes, zorder=3, **RECORDED)
        self._noted = label(
            axes, x=1, y=1.08, ha="right", text="◆ as recorded", transform=axes.transAxes
        )
        self._limit = moving_line(axes, **LIMIT)
        self._chip = chip(axes, GREEN, ha="left")
        self._counts = [label(axes, x=age) for age in range(OLDEST + 1)]

    def arrange(self, narrow: bool) -> None:
        """Write fewer numbers at the axis of a narrow page."""
        self.axes.set_xticks(range(0, OLDEST + 1, 3 if narrow else 1))

    def draw(
        self, true: np.ndarray, recorded: np.ndarray, accepted: np.ndarray, limit: int | None
    ) -> None:
        """Staleness (n,) of what was handed in, true and recorded, what was accepted, and up to which staleness."""
        taken, lost, noted = (
            _counted(ages) for ages in (true[accepted], true[~accepted], recorded)
        )
        wrong = bool((true != recorded).any())
        top = max(1, (taken + lost).max(), noted.max() if wrong else 0)
        at = np.flatnonzero(taken)
        self._taken.set_path(bars(at - 0.4, at + 0.4, 0, taken[at] / top))
        at = np.flatnonzero(lost)
        rest = at - 0.4, at + 0.4, taken[at] / top, (taken + lost)[at] / top
        self._lost.set_path(bars(*rest))
        self._hatching.set_data(*hatching(*rest, lean=0.8, apart=0.4).T)
        self._recorded.set(data=(np.flatnonzero(noted), noted[noted > 0] / top), visible=wrong)
        self._noted.set_visible(wrong)
        for age, words in enumerate(self._counts):
            count = int(taken[age] + lost[age])
            # Above a mark that is near.
            over = noted[age] if wrong and 0 <= noted[age] - count < 0.3 * top else count
            words.set(text=f"{count}" if count else "", y=over / top + 0.12)
            words.set_color(BLACK if taken[age] else ORANGE_TEXT)
        self._limit.set_data(*([[], []] if limit is None else [[limit + 0.5] * 2, [0, 1.4]]))
        self._chip.set_visible(limit is not None)
        if limit is not None:
            self._chip.set(x=limit + (0.8 if limit < 10 else 0.2), y=1.3, text=f"limit {limit}")
            self._chip.set_ha("left" if limit < 10 else "right")


def _tallies(first: np.ndarray, last: np.ndarray, low: np.ndarray, high: np.ndarray) -> _Sides:
    """Sides of a mark for each gradient from the first to the last, of every worker (workers,)."""
    who = np.repeat(np.arange(len(first)), (last - first).astype(int))
    left = np.concatenate(
        [np.empty(0), *(np.arange(a, b) for a, b in zip(first, last, strict=True))]
    )
    return left + 0.15, left + 0.85, low[who], high[who]


def _counted(ages: np.ndarray) -> np.ndarray:
    """The number of gradients of each staleness."""
    return np.bincount(ages.clip(0, OLDEST), minlength=OLDEST + 1)

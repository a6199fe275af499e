"""Lanes of workers at work at the same time, and what came of their gradients, by worker and by age."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.patches import PathPatch
from matplotlib.ticker import FuncFormatter

from ._labels import chip
from ._moving import MovingText
from ._shapes import NOWHERE, bars, hatching
from ._style import (
    BLACK,
    BLUE,
    GREEN,
    HATCH,
    ORANGE,
    ORANGE_TEXT,
    OTHER,
    PALE_BLUE,
    SMALL,
    moving_line,
    percent_ticks,
    tidy,
)

MOST_WORKERS = 8
OLDEST = 15  # staleness from here on is one bar
ACCEPTED: dict[str, Any] = {"fc": PALE_BLUE, "ec": BLUE, "lw": 1.2}
DROPPED: dict[str, Any] = {"fc": "white", "ec": ORANGE, "lw": 1.4}  # and hatched
IN_HAND: dict[str, Any] = {"fc": "white", "ec": OTHER, "lw": 1.2, "ls": ":"}
WAITS: dict[str, Any] = {"color": BLACK, "ls": ":", "lw": 1.6}
UPDATE: dict[str, Any] = {"color": BLUE, "marker": "|", "ms": 9, "mew": 1.6, "ls": "none"}
LIMIT: dict[str, Any] = {"color": GREEN, "ls": "-.", "lw": 1.8}
RECORDED: dict[str, Any] = {"color": BLACK, "marker": "D", "ms": 5.5, "mew": 0, "ls": "none"}
TOP = 0.09  # the share of the height above the lanes
_Sides = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
_TALL, _TALLEST = 0.8, 0.16  # of a bar, in its lane and in all


def patch(axes: Any, looks: dict[str, Any]) -> Any:
    """A moving path, filled and edged."""
    return axes.add_patch(PathPatch(NOWHERE, animated=True, zorder=2, **looks))


def text(axes: Any, **looks: Any) -> Any:
    """A moving text, which no layout has to make room for."""
    plain: dict[str, Any] = {"fontsize": SMALL, "color": BLACK, "animated": True, "zorder": 4, "clip_on": False}
    return axes.add_artist(MovingText(text=looks.pop("s", ""), in_layout=False, **plain | looks))


def sides(worker: np.ndarray, workers: int) -> tuple[np.ndarray, np.ndarray]:
    """Upper and lower edge of the bars of some of so many workers, in an Axes that runs from 1 up to 0."""
    lane = (1 - TOP) / workers
    tall, middle = min(_TALL * lane, _TALLEST), TOP + (worker + 0.5) * lane
    return middle - tall / 2, middle + tall / 2


def along(worker: np.ndarray, since: np.ndarray, until: np.ndarray, workers: int) -> tuple[np.ndarray, np.ndarray]:
    """Lines in the middle of the lanes of some of so many workers, x and y (3 n,) with NaN between them."""
    nowhere = np.full(len(worker), np.nan)
    middle = np.mean(sides(worker, workers), axis=0)
    return np.stack([since, until, nowhere], axis=1).ravel(), np.stack([middle, middle, nowhere], axis=1).ravel()


class LaneNames:
    """The workers' numbers, from 1, beside their lanes."""

    def __init__(self, axes: Any) -> None:
        axes.set(ylim=(1, 0), yticks=[])
        axes.yaxis.labelpad = 15
        looks: dict[str, Any] = {"x": -0.02, "va": "center", "ha": "right", "transform": axes.get_yaxis_transform()}
        self._names = [text(axes, s=f"{k + 1}", **looks) for k in range(MOST_WORKERS)]

    def draw(self, workers: int) -> None:
        for k, name in enumerate(self._names):
            name.set(y=np.mean(sides(np.array(k), workers)), visible=k < workers)


class Workers:
    """A tally for each worker: a mark for every gradient, first the accepted ones, then those that were dropped."""

    def __init__(self, axes: Any) -> None:
        self.axes = tidy(axes, "Accepted", "gradients", "worker")
        axes.set(xlim=(0, 44), xticks=range(0, 31, 10))
        self._given, self._taken = patch(axes, DROPPED), patch(axes, {"fc": BLUE, "ec": "none"})
        self._hatching = moving_line(axes, zorder=2.5, **HATCH)
        self._names = LaneNames(axes)
        self._counts = [text(axes, va="center") for _ in range(MOST_WORKERS)]

    def draw(self, given: np.ndarray, taken: np.ndarray, starving: np.ndarray) -> None:
        """Arrays (workers,): gradients handed in, those accepted, and who starves."""
        workers = len(given)
        low, high = sides(np.arange(workers), workers)
        self._taken.set_path(bars(*_tallies(np.zeros(workers), taken, low, high)))
        lost = _tallies(taken, given, low, high)
        self._given.set_path(bars(*lost))
        self._hatching.set_data(*hatching(*lost, lean=0.7, apart=0.35).T)
        for k, words in enumerate(self._counts):
            words.set_visible(k < workers)
            if k < workers:
                starves = bool(starving[k])
                words.set(x=given[k] + 0.8, y=(low[k] + high[k]) / 2, weight="bold" if starves else "normal")
                words.set(text=f"{taken[k]} of {given[k]}" + ", starves" * starves)
                words.set_color(ORANGE_TEXT if starves else BLACK)
        self._names.draw(workers)


class Ages:
    """The share of every staleness, the true one as bars and, where one differs, the recorded one as marks."""

    def __init__(self, axes: Any) -> None:
        self.axes = tidy(axes, "How stale they are", "staleness (updates since the read)", "share")
        axes.set(xlim=(-0.7, OLDEST + 0.7), ylim=(0, 1.05), xticks=range(0, OLDEST + 1, 3), yticks=(0, 0.5, 1))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"≥ {x:g}" if x == OLDEST else f"{x:g}"))
        percent_ticks(axes.yaxis)
        self._taken, self._lost = patch(axes, ACCEPTED), patch(axes, DROPPED)
        self._hatching = moving_line(axes, zorder=2.5, **HATCH)
        self._recorded = moving_line(axes, zorder=3, **RECORDED)
        self._limit = moving_line(axes, **LIMIT)
        self._chip = chip(axes, GREEN, ha="left")

    def draw(self, true: np.ndarray, recorded: np.ndarray, accepted: np.ndarray, limit: int | None) -> None:
        """Staleness (n,) of what was handed in, true and recorded, what was accepted, and up to which staleness."""
        taken, lost, noted = (_shares(ages, len(true)) for ages in (true[accepted], true[~accepted], recorded))
        at = np.flatnonzero(taken)
        self._taken.set_path(bars(at - 0.4, at + 0.4, 0, taken[at]))
        at = np.flatnonzero(lost)
        rest = at - 0.4, at + 0.4, taken[at], (taken + lost)[at]
        self._lost.set_path(bars(*rest))
        self._hatching.set_data(*hatching(*rest, lean=0.8, apart=0.4).T)
        self._recorded.set(data=(np.flatnonzero(noted), noted[noted > 0]), visible=bool((true != recorded).any()))
        self._limit.set_data(*([[], []] if limit is None else [[limit + 0.5] * 2, [0, 1]]))
        self._chip.set_visible(limit is not None)
        if limit is not None:
            self._chip.set(x=limit + 0.7, y=0.9, text=f"limit {limit}", ha="left" if limit < 10 else "right")
            self._chip.set_x(limit + (0.8 if limit < 10 else 0.2))


def _tallies(first: np.ndarray, last: np.ndarray, low: np.ndarray, high: np.ndarray) -> _Sides:
    """Sides of a mark for each gradient from the first to the last, of every worker (workers,)."""
    who = np.repeat(np.arange(len(first)), (last - first).astype(int))
    left = np.concatenate([np.empty(0), *(np.arange(a, b) for a, b in zip(first, last, strict=True))])
    return left + 0.15, left + 0.85, low[who], high[who]


def _shares(ages: np.ndarray, of: int) -> np.ndarray:
    """The share of each staleness."""
    return np.bincount(ages.clip(0, OLDEST), minlength=OLDEST + 1) / max(1, of)

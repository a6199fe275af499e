"""Lanes of workers: what is drawn alike wherever several of them work at the same time."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.patches import PathPatch

from ._bars import NOWHERE
from ._style import BLACK, BLUE, GREEN, ORANGE, OTHER

# Text in orange would be too pale to read: rust says the same.
QUIET, RUST, PALE_BLUE = "#5F5F5F", "#A84300", "#CFE3F1"
MOST_WORKERS = 8
ACCEPTED: dict[str, Any] = {"fc": PALE_BLUE, "ec": BLUE, "lw": 1.2}
DROPPED: dict[str, Any] = {"fc": "white", "ec": ORANGE, "lw": 1.4}  # and hatched
IN_HAND: dict[str, Any] = {"fc": "white", "ec": OTHER, "lw": 1.2, "ls": ":"}
WAITS: dict[str, Any] = {"color": BLACK, "ls": ":", "lw": 1.6}
UPDATE: dict[str, Any] = {"color": BLUE, "marker": "|", "ms": 9, "mew": 1.6, "ls": "none"}
LIMIT: dict[str, Any] = {"color": GREEN, "ls": "-.", "lw": 1.8}
RECORDED: dict[str, Any] = {"color": BLACK, "marker": "D", "ms": 5.5, "mew": 0, "ls": "none"}
TOP = 0.09  # the share of the height above the lanes
_TALL, _TALLEST = 0.8, 0.16  # of a bar, in its lane and in all


def patch(axes: Any, looks: dict[str, Any]) -> Any:
    """A moving path, filled and edged."""
    return axes.add_patch(PathPatch(NOWHERE, animated=True, zorder=2, **looks))


def text(axes: Any, **looks: Any) -> Any:
    """A moving text, which no layout has to make room for."""
    looks = {"x": 0, "y": 0, "s": "", "fontsize": 8.5, "color": BLACK, "animated": True, "zorder": 4} | looks
    return axes.text(**looks, in_layout=False)


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

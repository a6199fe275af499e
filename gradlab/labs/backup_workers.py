"""How many workers to wait for: a published result, run small."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._base.numbers import percent
from ..figures.spare import SpareView
from ..live import Description, Slider
from ..workers.spare_workers import END, EVERY, GOAL, SEEDS, WORKERS, recorded, time_to, time_to_collect
from ._lab import Control, Lab, Target

_TIMES = np.arange(EVERY, END + 1, EVERY)


class Spared(NamedTuple):
    """A number of gradients that end a round; median learning curves in % with it and with all; what both cost."""

    aggregate: int
    curve: np.ndarray
    everybody: np.ndarray
    round: float
    needed: float


def _much_faster(trace: Spared) -> tuple[bool, str]:
    everybody = _needed()[-1].item()
    times = (
        f"{everybody / trace.needed:.2f} times as fast as all {WORKERS}"
        if trace.needed < np.inf
        else "never right on so many"
    )
    return trace.needed <= everybody / 1.8, f"It is {times} now"


class backup_workers(Lab):
    """Sixteen workers read digits in rounds; a round ends with the first `aggregate` gradients, the others are dropped.

    Now and then a worker stalls and takes six times as long. Recorded runs, the median of five; a small version of what
    Chen et al. (2016) found with a hundred machines.

    Controls: `aggregate` (1 to 16 gradients).

    >>> backup_workers(aggregate=16).description.table[0]
    ('gradients that end a round', '16 of 16')
    """

    label = "Spare workers"
    axis = "aggregate"
    presets: ClassVar = {
        "Wait for all": {"aggregate": 16},
        "One to spare": {"aggregate": 15},
        "First come": {"aggregate": 1},
    }
    targets: ClassVar = {
        "faster": Target(f"be right on {percent(GOAL)} 1.8 times as fast as with all, or faster", _much_faster)
    }

    def make_controls(self) -> list[Control]:
        return [Slider("aggregate", "Gradients that end a round", 1, WORKERS, WORKERS, scale="integer", play=True)]

    def compute(self, values: dict[str, Any]) -> Spared:
        k = values["aggregate"]
        curves = 100 * np.median(recorded(), axis=1)
        return Spared(k, curves[k - 1], curves[-1], float(time_to_collect()[k - 1]), float(_needed()[k - 1]))

    def make_view(self) -> SpareView:
        return SpareView(time_to_collect(), time_to(GOAL, recorded()), _TIMES, GOAL)

    def draw(self, view: SpareView, trace: Spared) -> None:
        view.draw(trace.aggregate, trace.curve, trace.everybody)

    def describe(self, trace: Spared) -> Description:
        needed = f"{trace.needed:.0f} ticks" if np.isfinite(trace.needed) else f"not within {END} ticks"
        return Description(
            alt=f"Sixteen workers; a round ends with {trace.aggregate} gradients and takes {trace.round:.0f} ticks. "
            f"Until {percent(GOAL)} of new digits are told right: {needed}, in the median of {SEEDS} runs. The time "
            "of a round is flat up to 14 of 16 and then steep; the time to learn is longest at both ends.",
            summary=f"{trace.aggregate} of {WORKERS}: a round takes {trace.round:.0f} ticks; until "
            f"{percent(GOAL)} are right: {needed}.",
            table=(
                ("gradients that end a round", f"{trace.aggregate} of {WORKERS}"),
                ("time of a round", f"{trace.round:.0f} ticks"),
                (f"until {percent(GOAL)} are right", needed),
                ("right in the end", f"{trace.curve[-1]:.1f} %"),
            ),
        )

    def columns(self, trace: Spared) -> dict[str, np.ndarray]:
        return {"ticks": _TIMES, "right": trace.curve, "right_all": trace.everybody}


@cache
def _needed() -> np.ndarray:
    """Median ticks to the goal by number of gradients."""
    return np.median(time_to(GOAL, recorded()), axis=1)

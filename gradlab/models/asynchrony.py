"""The shipped runs on stale gradients and backup workers, as comparisons, each contestant at its own learning rate.

`gradlab.workers.policy_study`, `studies` and `spare_workers` make these runs, and say how. This
module only reads the files, so that the table of claims doesn't import the simulator.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from .._base.paired import Comparison
from . import curves

# Six policies for stale gradients
TUNED = "tuned_policies"
POLICIES = ("apply", "drop", "wait", "damp", "compensate", "backup")
TUNED_STRAGGLERS = (1.0, 3.0)  # how many times slower the last worker is
# The loss after 200 gradients, and after as much time as the quickest policy needs.
CRITERIA = ("gradients", "time")
TUNING_RATES = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 11.0)
TUNING_SEEDS = tuple(range(10))
FRESH_SEEDS = tuple(range(100, 120))
_TICKS = 100  # in a gradient time, the time that a quick worker takes for a gradient


def own_rate(losses: np.ndarray) -> int:
    """Return the index of the rate whose mean loss over the tuning seeds is lowest.

    Args:
        losses: (rates, seeds), infinite for a run that diverged; its rate is never chosen.

    >>> own_rate(np.array([[1.0, 1.0], [0.1, np.inf], [0.5, 0.7]]))
    2
    """
    return int(losses.astype(np.float64).mean(axis=1).argmin())


class PolicyRuns(NamedTuple):
    """The fresh runs of one policy at its own rate.

    Attributes:
        rate: the learning rate that the sweep chose.
        time, loss: (seeds, points) gradient times of a quick worker, and held-out losses; NaN after
            the end.
        judged: (seeds,) the loss by which policies are compared, see `CRITERIA`.
        end: (seeds,) when all 200 gradients have arrived, in gradient times.
        accepted: the share of gradients accepted, the mean over seeds.
    """

    rate: float
    time: np.ndarray
    loss: np.ndarray
    judged: np.ndarray
    end: np.ndarray
    accepted: float


@cache
def policy_runs(straggler: float, criterion: str) -> dict[str, PolicyRuns]:
    """Return the runs of all policies at rates chosen by a criterion of `CRITERIA`.

    >>> policy_runs(3.0, "gradients")["wait"].loss.shape
    (20, 51)
    """
    stored = curves.arrays(TUNED)
    s = TUNED_STRAGGLERS.index(straggler)
    c = CRITERIA.index(criterion)
    runs = {}
    for p, policy in enumerate(POLICIES):
        loss = stored["loss"][s, c, p].astype(np.float64)
        ticks = stored["ticks"][s, p].astype(np.float64)
        time = np.where(np.isnan(loss), np.nan, ticks / _TICKS)
        rate = TUNING_RATES[own_rate(stored["sweep"][s, c, p])]
        judged = stored["judged"][s, c, p].astype(np.float64)
        end = stored["end"][s, p].astype(np.float64) / _TICKS
        runs[policy] = PolicyRuns(rate, time, loss, judged, end, float(stored["accepted"][s, p]))
    return runs


def horizon(straggler: float) -> float:
    """Return the time at which policies are compared by the clock, in gradient times.

    >>> round(horizon(3.0), 1)
    27.1
    """
    return float(curves.arrays(TUNED)["horizon"][TUNED_STRAGGLERS.index(straggler)])


def compare_policies(straggler: float, criterion: str) -> Comparison:
    """Return the losses of all policies, each at its own rate, by seed.

    >>> compare_policies(3.0, "gradients").best
    'wait'
    """
    measure = "loss after 200 gradients"
    if criterion == "time":
        measure = f"loss after {horizon(straggler):.0f} gradient times"
    runs = policy_runs(straggler, criterion)
    return Comparison(measure, {policy: run.judged for policy, run in runs.items()})


# Backup workers
BACKUP_WORKERS = 16
BACKUP_END = 20_000  # ticks of a run
# Where the curves still rise; above 86% they are flat, and the time to a goal is chance.
BACKUP_GOAL = 0.8
BACKUP_EVERY = 200  # ticks between two points of a curve
BACKUP_RATES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2, 2.0, 3.0)


def measured_rounds() -> np.ndarray:
    """Return the mean ticks of a round that ends with the first 1, 2, ..., 16 gradients."""
    return np.asarray(curves.arrays("spare_workers")["round"], np.float64)


def backup_curves() -> np.ndarray:
    """Return accuracies (16, seeds, points) of rounds that end with the first k = 1, 2, ..., 16 gradients.

    Each k has the learning rate that the sweep chose for it.
    """
    return curves.load("spare_workers")


def backup_rates() -> np.ndarray:
    """Return the learning rate that the sweep chose for each k, (16,)."""
    swept = curves.unpack_times(curves.arrays("spare_workers")["sweep"])
    return np.array([BACKUP_RATES[curves.best_rate(times)] for times in swept])


def backup_times() -> np.ndarray:
    """Return ticks to 80% accuracy (16, seeds), infinite for a run that doesn't get there."""
    return curves.time_to(BACKUP_GOAL, backup_curves(), BACKUP_EVERY)


def compare_backup() -> Comparison:
    """Return the ticks to 80% by k, as text; without each k at which some seed doesn't get there.

    >>> "16" in compare_backup().values
    True
    """
    times_by_k = {
        f"{k}": times for k, times in enumerate(backup_times(), 1) if np.isfinite(times).all()
    }
    return Comparison("ticks to 80% accuracy", times_by_k)


# Depth and delay
DELAYS = (0, 8, 16, 24, 32)  # the largest, in updates
DELAY_EVERY = 20  # updates between two points of a curve
DELAY_GOAL = 0.85  # all variants end above it: on a plateau the time to a goal would be chance
DEPTHS = (1, 2, 4, 6)  # hidden layers; the first variants of the recording
METHODS = {"gradient descent": 1, "Momentum 0.9": 4, "Adam": 5}  # their indices among the variants


def updates_needed() -> np.ndarray:
    """Return updates to 85% accuracy (variants, DELAYS, seeds), infinite for a run that doesn't get there."""
    return curves.time_to(DELAY_GOAL, curves.load("staleness"), DELAY_EVERY)


def compare_depths(delay: int) -> Comparison:
    """Return how many times as many updates each depth needs at this delay as without one, by seed.

    >>> sorted(compare_depths(16).values)
    ['1', '2', '4', '6']
    """
    slowdown = _slowdown(delay)
    return Comparison(
        f"slowdown by delays up to {delay}", {f"{n}": slowdown[k] for k, n in enumerate(DEPTHS)}
    )


def compare_methods(delay: int) -> Comparison:
    """Return how many times as many updates each method needs at this delay as without one, with two hidden layers.

    >>> list(compare_methods(16).values)
    ['gradient descent', 'Momentum 0.9', 'Adam']
    """
    slowdown = _slowdown(delay)
    return Comparison(
        f"slowdown by delays up to {delay}", {name: slowdown[k] for name, k in METHODS.items()}
    )


def _slowdown(delay: int) -> np.ndarray:
    """Return (variants, seeds) updates to the goal at a delay, divided by those without one."""
    needed = updates_needed()
    slowdown: np.ndarray = needed[:, DELAYS.index(delay)] / needed[:, 0]
    return slowdown

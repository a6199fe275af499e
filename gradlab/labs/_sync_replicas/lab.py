"""Synchronous replicas: moment by moment, and what backup workers cost and save."""

from __future__ import annotations

import functools
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..._base.numbers import are, counted, listed, number, percent, were
from ...live import Description, Slider
from ...models.asynchrony import (
    backup_curves,
    backup_rates,
    backup_times,
    compare_backup,
    measured_rounds,
)
from ...workers import Speeds
from ...workers.spare_workers import END, EVERY, GOAL, WORKERS
from ...workers.sync_rounds import Moment, sync_rounds
from .._lab import Control, Lab, Target
from .backup_picture import SpareView
from .tokens_picture import DrawnRounds, TokensView

MOMENTS, MOST = 40, 4


class Synced(NamedTuple):
    """A moment of synchronous training, and what it was asked to be."""

    done: int
    workers: int
    aggregate: int
    moment: Moment
    rounds: DrawnRounds

    @property
    def stuck(self) -> bool:
        """True if all workers wait for a token that no update will bring."""
        return len(self.moment.waiting) == self.workers and self.moment.count < self.aggregate


def _stale_at_once(trace: Synced) -> tuple[bool, str]:
    updates = len(trace.rounds.updates)
    lost = int(trace.rounds.handed_in.sum() - trace.rounds.accepted_of.sum())
    good = trace.workers == trace.aggregate and updates <= 1 <= lost
    return (
        good,
        f"Now {lost} {'is' if lost == 1 else 'are'} dropped after {counted(updates, 'update')}",
    )


def _more_than_needed(trace: Synced) -> tuple[bool, str]:
    most = int(trace.rounds.updates[:, 1].max(initial=0))
    needed = f"an update that needs {trace.aggregate}"
    return (
        most >= trace.aggregate + 2,
        f"Now {needed} is the mean of {most}" if most else "Now there is no update",
    )


def sync_replicas(
    *,
    event: int = 25,
    workers: int = 3,
    aggregate: int = 2,
    straggler: float = 2.0,
    start_tokens: int = 0,
    chief: int = 0,
    target: Literal["fast_fills", "more"] | None = None,
) -> SyncReplicasLab:
    """Step through `SyncReplicasOptimizer`: workers push and wait for tokens, a chief takes the mean and puts them in.

    At a glance: An update takes the first gradients that are there; a slow worker's come too late
    and are dropped.

    Args:
        event: how many events have happened, 0 to 40: pushes and updates.
        workers: n, 1 to 4.
        aggregate: k, the gradients that an update needs, 1 to 4; at most n count.
        straggler: how many times slower worker 1 is, 1 to 4.
        start_tokens: how many tokens there are at the start, 0 to 4.
        chief: ticks from the k-th gradient to the take, 0 to 100; gradients that come in the
            meantime are averaged in.
        target: a goal that is shown above the picture until it is reached.

    >>> sync_replicas().description.summary
    'The slow worker 1 is always too late: all 4 of its gradients are dropped.'
    """
    return SyncReplicasLab(
        target,
        event=event,
        workers=workers,
        aggregate=aggregate,
        straggler=straggler,
        start_tokens=start_tokens,
        chief=chief,
    )


class SyncReplicasLab(Lab):
    """Lab of `sync_replicas`: gradients and tokens, event by event."""

    function = "sync_replicas"
    label = "Tokens and backup workers"
    axis = "event"
    presets: ClassVar = {
        "In step": {
            "workers": 3,
            "aggregate": 3,
            "start_tokens": 0,
            "straggler": 1.0,
            "chief": 0,
            "event": 12,
        },
        "One backup worker": {
            "workers": 3,
            "aggregate": 2,
            "start_tokens": 0,
            "straggler": 2.0,
            "chief": 0,
            "event": 14,
        },
        "TensorFlow's start": {
            "workers": 2,
            "aggregate": 2,
            "start_tokens": 2,
            "straggler": 1.0,
            "chief": 0,
            "event": 2,
        },
        "Too few workers": {
            "workers": 2,
            "aggregate": 3,
            "start_tokens": 3,
            "straggler": 1.0,
            "chief": 0,
            "event": 6,
        },
    }
    targets: ClassVar = {
        "fast_fills": Target(
            "with as many workers as gradients needed, drop one gradient before the second update",
            _stale_at_once,
        ),
        "more": Target(
            "make an update the mean of two more gradients than it needs", _more_than_needed
        ),
    }

    def make_controls(self) -> list[Control]:
        return [
            Slider("event", "Events so far", 0, MOMENTS, 25, scale="integer", play=True),
            Slider("workers", "Workers", 1, MOST, 3, scale="integer"),
            Slider("aggregate", "Gradients per update", 1, MOST, 2, scale="integer"),
            Slider("straggler", "Worker 1 is slower", 1.0, 4.0, 2.0, step=0.25, unit="times"),
            Slider("start_tokens", "Tokens at the start", 0, MOST, 0, scale="integer", folded=True),
            Slider(
                "chief",
                "The chief takes after",
                0,
                100,
                0,
                scale="integer",
                step=10,
                unit="ticks",
                folded=True,
            ),
        ]

    def compute(self, values: dict[str, Any]) -> Synced:
        workers, aggregate = values["workers"], values["aggregate"]
        run = _run(workers, aggregate, values["start_tokens"], values["straggler"], values["chief"])
        done = min(values["event"], len(run) - 1)
        return Synced(
            done,
            workers,
            aggregate,
            run[done],
            _rounds(run[done], workers, aggregate, values["straggler"]),
        )

    def make_view(self) -> TokensView:
        return TokensView()

    def draw(self, view: TokensView, trace: Synced) -> None:
        view.draw(trace.rounds)

    def describe(self, trace: Synced) -> Description:
        now, r = trace.moment, trace.rounds
        waiting = ", ".join(f"{worker + 1}" for worker in now.waiting) or "nobody"
        tokens = ", ".join(map(str, now.tokens)) or "none"
        stuck = " No worker can continue." if trace.stuck else ""
        dropped = int(r.handed_in.sum() - r.accepted_of.sum())
        return Description(
            alt=f"{counted(trace.workers, 'worker')}, {counted(trace.aggregate, 'gradient')} for "
            f"an update, at {counted(now.time, 'tick')}: {now.event}. "
            f"{counted(len(r.updates), 'update')}, {counted(dropped, 'gradient')} dropped. "
            f"Waiting for a token: {waiting}. Tokens in the queue: {tokens}. Gradients that "
            f"are there: {now.count}.{stuck}",
            summary=_message(trace),
            table=(
                ("time", counted(now.time, "tick")),
                ("what has happened", now.event),
                ("global step", str(now.step)),
                ("gradients that are there", f"{now.count} of {trace.aggregate}"),
                ("tokens in the queue", tokens),
                ("waiting for a token", waiting),
                *(
                    (f"worker {k + 1}", f"{taken} of {given} accepted")
                    for k, (given, taken) in enumerate(zip(r.handed_in, r.accepted_of, strict=True))
                ),
            ),
        )

    def columns(self, trace: Synced) -> dict[str, np.ndarray]:
        r = trace.rounds
        times = {"worker": r.worker + 1, "began": r.began, "ended": r.ended}
        return times | {"local_step": r.local_step, "pushed": r.pushed, "accepted": r.accepted}


def _message(trace: Synced) -> str:
    """The worker all of whose gradients are dropped; else how many are; else what an update is made
    of.
    """
    r, updates = trace.rounds, len(trace.rounds.updates)
    lost = r.handed_in - r.accepted_of
    if trace.stuck:
        count = trace.moment.count
        needed = counted(trace.aggregate, "gradient")
        there = (
            f"only {count} of {needed} {are(count)} there"
            if count
            else f"none of {needed} is there"
        )
        n = trace.workers
        wait = {1: "The only worker waits", 2: "Both workers wait"}.get(n, f"All {n} workers wait")
        return f"{wait} for a token, and none will come: {there}."
    if (never := np.flatnonzero((lost > 0) & (r.accepted_of == 0))).size:
        k, n = int(never[0]), int(lost[never[0]])
        who = f"The slow worker {k + 1}" if k == 0 and r.straggler > 1 else f"Worker {k + 1}"
        if n == 1:
            return f"{who} is too late: its gradient is dropped."
        return (
            f"{who} is always too late: {'both' if n == 2 else f'all {n}'} "
            "of its gradients are dropped."
        )
    if lost.any():
        n = int(lost.sum())
        return (
            f"{n} of {counted(int(r.handed_in.sum()), 'gradient')} came too "
            f"late and {were(n)} dropped."
        )
    if not updates:
        return f"The first update has {r.count} of {counted(trace.aggregate, 'gradient')}."
    of, most = (
        f"each of the {updates} updates" if updates > 1 else "the first update",
        int(r.updates[:, 1].max()),
    )
    if most > trace.aggregate:
        return (
            "No gradient is dropped, and an update that needs "
            f"{trace.aggregate} is the mean of {most}."
        )
    return f"No gradient is dropped: {of} is the mean of {counted(trace.aggregate, 'gradient')}."


@functools.lru_cache(maxsize=128)
def _run(
    workers: int, aggregate: int, start_tokens: int, straggler: float, chief: int
) -> list[Moment]:
    speeds = Speeds(spread=0.12, slow={0: straggler})
    return sync_rounds(workers, aggregate, start_tokens, speeds, MOMENTS, chief, seed=1)


def _rounds(moment: Moment, workers: int, aggregate: int, straggler: float) -> DrawnRounds:
    """A moment as the picture wants it."""
    turns, now = moment.turns, moment.time
    names = ("worker", "began", "ended", "local_step", "accepted")
    worker, began, ended, local_step, accepted = (
        np.array([getattr(turn, name) for turn in turns]) for name in names
    )
    pushed, accepted = ended >= 0, accepted.astype(bool)  # None while it is computed
    waits = [
        (t.worker, t.ended, t.released if t.released >= 0 else now) for t in turns if t.ended >= 0
    ]

    def count(some: np.ndarray) -> np.ndarray:
        return np.bincount(worker[some], minlength=workers)

    return DrawnRounds(
        workers,
        now,
        moment.event,
        worker,
        began,
        np.where(pushed, ended, now),
        local_step,
        pushed,
        accepted,
        np.array(waits, int).reshape(-1, 3),
        np.array(moment.updates, int).reshape(-1, 2),
        moment.count,
        aggregate,
        moment.tokens,
        moment.waiting,
        count(pushed),
        count(pushed & accepted),
        straggler,
    )


_TIMES = np.arange(EVERY, END + 1, EVERY)
_ONE_BACKUP = WORKERS - 1


class Spared(NamedTuple):
    """A number of gradients that end a round, and another to compare with.

    Attributes:
        curve, other: (times,) the mean learning curves of both in %.
        quartiles: of the first, lower and upper.
        round: mean ticks of a round.
        needed: (seeds,) ticks to the goal, infinite for never.
        rate: of learning.
    """

    aggregate: int
    curve: np.ndarray
    quartiles: tuple[np.ndarray, np.ndarray]
    reference: int
    other: np.ndarray
    round: float
    needed: np.ndarray
    rate: float


def _half_a_round(trace: Spared) -> tuple[bool, str]:
    share = trace.round / measured_rounds()[-1]
    return share <= 0.55 and trace.aggregate >= 12, f"Now it takes {percent(share)}"


def backup_workers(
    *, aggregate: int = WORKERS, target: Literal["half_round"] | None = None
) -> BackupWorkersLab:
    """Sixteen workers read digits in rounds; a round ends with the first `aggregate` gradients, the others are dropped.

    At a glance: One or two backup workers save the wait for stalls; waiting for few gradients costs
    more than it saves.

    Now and then a worker stalls and takes six times as long. Recorded runs of 15 seeds, each number
    of gradients at the learning rate that a sweep chose for it on 15 other seeds; a small version
    of what Chen et al. (2016) found with a hundred machines, where rates were tuned, too. The time
    of a round is measured in such runs: a stalled worker goes on with its old gradient and misses
    the rounds that end meanwhile.

    Args:
        aggregate: how many gradients end a round, 1 to 16.
        target: a goal that is shown above the picture until it is reached.

    >>> backup_workers(aggregate=16).description.table[0]
    ('gradients that end a round', '16 of 16')
    """
    return BackupWorkersLab(target, aggregate=aggregate)


class BackupWorkersLab(Lab):
    """Lab of `backup_workers`: rounds that end before all gradients are there."""

    function = "backup_workers"
    label = "Backup workers"
    axis = "aggregate"
    presets: ClassVar = {
        "Wait for all": {"aggregate": 16},
        "One backup worker": {"aggregate": 15},
        "First come": {"aggregate": 1},
    }
    targets: ClassVar = {
        "half_round": Target(
            "with at least 12 gradients, make a round take at most 55% as long as with all 16",
            _half_a_round,
        ),
    }

    def make_controls(self) -> list[Control]:
        return [
            Slider(
                "aggregate", "Gradients per round", 1, WORKERS, WORKERS, scale="integer", play=True
            )
        ]

    def compute(self, values: dict[str, Any]) -> Spared:
        k = values["aggregate"]
        reference = WORKERS if k != WORKERS else _ONE_BACKUP
        runs = 100 * backup_curves()
        lower, upper = np.percentile(runs[k - 1], (25, 75), axis=0)
        other = runs[reference - 1].mean(axis=0)
        ticks = float(measured_rounds()[k - 1])
        rate = float(backup_rates()[k - 1])
        return Spared(
            k,
            runs[k - 1].mean(axis=0),
            (lower, upper),
            reference,
            other,
            ticks,
            backup_times()[k - 1],
            rate,
        )

    def make_view(self) -> SpareView:
        return SpareView(measured_rounds(), backup_times(), _TIMES, GOAL)

    def draw(self, view: SpareView, trace: Spared) -> None:
        view.draw(trace.aggregate, trace.curve, trace.quartiles, trace.reference, trace.other)

    def describe(self, trace: Spared) -> Description:
        needed = _ticks_needed(trace.needed)
        return Description(
            alt=f"Sixteen workers; a round ends with {counted(trace.aggregate, 'gradient')} and "
            f"takes {trace.round:,.0f} ticks. Until {percent(GOAL)} accuracy on new digits at "
            f"learning rate {number(trace.rate)}: {needed.replace('±', 'plus or minus')}. "
            f"{_lengths_of_rounds()}",
            summary=_waiting(trace),
            table=(
                ("gradients that end a round", f"{trace.aggregate} of {WORKERS}"),
                ("time of a round", f"{trace.round:,.0f} ticks"),
                ("learning rate, chosen by a sweep", number(trace.rate)),
                (f"until {percent(GOAL)} accuracy", needed),
                ("accuracy in the end", f"{trace.curve[-1]:.1f}%"),
            ),
        )

    def columns(self, trace: Spared) -> dict[str, np.ndarray]:
        lower, upper = trace.quartiles
        curves = {"right": trace.curve, "right_lower": lower, "right_upper": upper}
        return {"ticks": _TIMES, **curves, f"right_of_{trace.reference}": trace.other}


def _ticks_needed(needed: np.ndarray) -> str:
    late = int(np.isinf(needed).sum())
    if late:
        return f"not within {END:,} ticks in {late} of {len(needed)} runs"
    error = needed.std(ddof=1) / np.sqrt(len(needed))
    return f"{needed.mean():,.0f} ± {error:,.0f} ticks, the mean of {len(needed)} runs"


def _lengths_of_rounds() -> str:
    """Say how the time of a round rises with the gradients that it waits for."""
    counts = (1, 8, 13, _ONE_BACKUP, WORKERS)
    ticks = [f"{measured_rounds()[k - 1]:,.0f}" for k in counts]
    shown = listed([str(k) for k in counts], len(counts))
    return f"Rounds of {shown} gradients take {listed(ticks, len(ticks))} ticks."


def _mean_to_tens(ticks: np.ndarray) -> str:
    """Return the mean, rounded to tens: its standard error is hundreds of ticks."""
    return f"{ticks.mean().round(-1):,.0f}"


def _waiting(trace: Spared) -> str:
    """Say how long training takes if rounds wait for k workers, against waiting for all, if the
    runs tell.
    """
    goal = percent(GOAL)
    of = f"all {WORKERS}" if trace.aggregate == WORKERS else f"{trace.aggregate} of {WORKERS}"
    late = int(np.isinf(trace.needed).sum())
    if late:
        return (
            f"With {of}, {late} of {len(trace.needed)} runs don't reach "
            f"{goal} in {number(END)} ticks."
        )
    took = f"Waiting for {of} workers takes {_mean_to_tens(trace.needed)} ticks to {goal}"
    if trace.aggregate == WORKERS:
        return f"{took}; with one backup worker {_mean_to_tens(backup_times()[_ONE_BACKUP - 1])}."
    runs = compare_backup()
    chosen, everybody = f"{trace.aggregate}", f"{WORKERS}"
    times = runs.mean(everybody) / runs.mean(chosen)
    if runs.better(chosen, everybody):
        return f"{took}, {times:.2f} times as fast as all {WORKERS}."
    if runs.better(everybody, chosen):
        return f"{took}, {1 / times:.2f} times as long as all {WORKERS}."
    return f"{took}; in {runs.seeds} runs it can't be told apart from all {WORKERS}."

"""The two races of TensorFlow's way to drop stale gradients, move by move, and what all orders can
come to.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..._base.numbers import are, counted, number, percent
from ...live import Description, Menu, Slider, Toggle
from ...train.staleness import is_accepted
from ...workers import (
    CHECK,
    MOVES,
    READ,
    RECORD,
    UPDATE,
    Bowl,
    Experiment,
    Outcomes,
    Server,
    Simulation,
    Trace,
    explore,
)
from ...workers.experiment import worker_pieces
from ...workers.replays import replay_move
from .._lab import Control, Lab, Target
from .picture import Event, OrderCount, Schedule, SequenceView

WORKERS = 3
SWITCHES = {
    (False, False): "neither as one",
    (True, False): "check and update",
    (False, True): "read and note",
    (True, True): "both as one",
}


class StalenessRacesTrace(NamedTuple):
    """A schedule of which some moves have been made, and what all orders come to, by `SWITCHES`."""

    play: Play
    done: int
    outcomes: dict[tuple[bool, bool], Outcomes]

    @property
    def experiment(self) -> Experiment:
        return self.play.trace.experiment

    @property
    def settled(self) -> np.ndarray:
        """True for each gradient, in the order of the updates, that is settled."""
        return np.flatnonzero(self.play.trace.moves[:, 0] == UPDATE) < self.done

    def by_worker(self, name: str) -> np.ndarray:
        """A number of each worker's gradient, -1 as long as it is not settled."""
        trace, numbers = self.play.trace, np.full(WORKERS, -1)
        numbers[trace.rounds["worker"][self.settled]] = getattr(trace, name)[self.settled]
        return numbers

    @property
    def too_old(self) -> int:
        """By how many updates the oldest accepted gradient is over the limit."""
        trace = self.play.trace
        ages = trace.true_staleness[self.settled & trace.accepted]
        return max(0, int(ages.max(initial=0)) - self.experiment.staleness)

    @property
    def doomed(self) -> int:
        """The number of gradients that passed their check, aren't applied yet, and are too stale by now."""
        ledger = Simulation(self.play.trace).goto(self.done).ledger
        made = self.play.trace.moves[: self.done].tolist()
        passed = [
            k
            for k in range(WORKERS)
            if ledger.accepted[k] and made.count([CHECK, k]) > made.count([UPDATE, k])
        ]
        return sum(
            not is_accepted(ledger.step - ledger.read_at[k], ledger.staleness) for k in passed
        )


def _over(trace: StalenessRacesTrace) -> tuple[bool, str]:
    limit = trace.experiment.staleness
    return (
        trace.too_old >= 1 and limit == 1,
        f"Now the limit is {limit}, and the oldest accepted is {trace.too_old} above it",
    )


def _caught(trace: StalenessRacesTrace) -> tuple[bool, str]:
    return (
        trace.doomed > 0,
        f"Now, after {counted(trace.done, 'move')}, there are {trace.doomed} of them",
    )


def staleness_races(
    *,
    event: int = 4 * WORKERS,
    schedule: Literal["checks", "notes", "both", "turns"] = "checks",
    atomic: bool = False,
    step_first: bool = False,
    threshold: int = 0,
    target: Literal["over", "caught"] | None = None,
) -> StalenessRacesLab:
    """Step through moves of three workers, and see gradients accepted that are staler than the limit.

    At a glance: A check that is not one piece with its update lets gradients through that are too
    stale.

    A worker reads the weights, notes the step, lets its gradient be checked against the step of
    that time, and updates the weights. In TensorFlow the note may come after the forward pass, and
    updates of others between check and update.

    Args:
        event: how many moves are made, 0 to 12.
        schedule: the order in which workers would like to move: "checks" before any update, "notes"
            late, "both", or in "turns".
        atomic: whether the check and the update are one piece.
        step_first: whether the read and the note are one piece.
        threshold: the staleness limit, 0 to 2.
        target: a goal that is shown above the picture until it is reached.

    >>> staleness_races(schedule="checks").description.summary
    'Limit 0 fails: 2 accepted gradients are up to 2 updates stale.'
    """
    return StalenessRacesLab(
        target,
        event=event,
        schedule=schedule,
        atomic=atomic,
        step_first=step_first,
        threshold=threshold,
    )


class StalenessRacesLab(Lab):
    """Lab of `staleness_races`: three workers, move by move."""

    function = "staleness_races"
    label = "Races of stale gradients"
    axis = "event"
    presets: ClassVar = {
        "Check, check, update": {
            "schedule": "checks",
            "threshold": 0,
            "atomic": False,
            "step_first": True,
        },
        "A step noted late": {
            "schedule": "notes",
            "threshold": 0,
            "atomic": True,
            "step_first": False,
        },
        "Both races": {"schedule": "both", "threshold": 0, "atomic": False, "step_first": False},
        "Repaired": {"schedule": "both", "threshold": 0, "atomic": True, "step_first": True},
        "Luck": {"schedule": "turns", "threshold": 0, "atomic": False, "step_first": False},
    }
    targets: ClassVar = {
        "over": Target("with limit 1, accept a gradient whose true staleness is larger", _over),
        "caught": Target(
            "stop at a move where a gradient has passed its check, isn't applied yet, and is too "
            "stale by now",
            _caught,
        ),
    }

    def make_controls(self) -> list[Control]:
        return [
            Slider("event", "Moves made", 0, 4 * WORKERS, 4 * WORKERS, scale="integer", play=True),
            Menu(
                "schedule",
                "Schedule",
                [(name, words) for name, (words, _) in SCHEDULES.items()],
                "checks",
            ),
            Toggle("atomic", "Check and update as one", False),
            Toggle("step_first", "Read and note as one", False),
            Slider("threshold", "Staleness limit", 0, 2, 0, scale="integer", folded=True),
        ]

    def compute(self, values: dict[str, Any]) -> StalenessRacesTrace:
        play = played(
            values["schedule"], values["threshold"], values["atomic"], values["step_first"]
        )
        return StalenessRacesTrace(play, values["event"], _outcomes(values["threshold"]))

    def make_view(self) -> SequenceView:
        return SequenceView(WORKERS, 4 * WORKERS)

    def draw(self, view: SequenceView, trace: StalenessRacesTrace) -> None:
        e = trace.experiment
        versions = [
            (row, f"v{n}: {number(weight)}") for n, (row, weight) in enumerate(trace.play.versions)
        ]
        ranges = [
            OrderCount(
                SWITCHES[switches], found.interleavings, found.too_stale / found.interleavings
            )
            for switches, found in trace.outcomes.items()
        ]
        view.draw(
            Schedule(
                trace.play.events,
                trace.done,
                versions,
                trace.by_worker("staleness"),
                trace.by_worker("true_staleness"),
                trace.by_worker("accepted") == 1,
                e.staleness,
                ranges,
                [*SWITCHES].index((e.atomic, e.step_first)),
            )
        )

    def describe(self, trace: StalenessRacesTrace) -> Description:
        e, found = (
            trace.experiment,
            trace.outcomes[trace.experiment.atomic, trace.experiment.step_first],
        )
        accepted = int((trace.by_worker("accepted") == 1).sum())
        wrong = trace.too_old
        now = trace.play.events[trace.done - 1] if trace.done else None
        said = f"Move {trace.done} of {4 * WORKERS}" + (
            "" if now is None else f", worker {now.worker + 1}: {now.words}"
        )
        verdict = f"{accepted} of {int(trace.settled.sum())} accepted" + (
            f", the oldest {wrong} over the limit" if wrong else ", none over the limit"
        )
        share, few = found.too_stale / found.interleavings, min(found.accepted)
        orders = (
            f"Too stale a gradient is accepted in {percent(share)} of "
            f"{found.interleavings:,} orders"
        )
        return Description(
            alt=_ascii(
                f"Three workers, staleness limit {e.staleness}. {said}. {verdict}. {orders}."
            ),
            summary=_message(trace),
            table=(
                (
                    "schedule",
                    ", ".join(
                        f"{event.worker + 1} {event.words}"
                        for event in trace.play.events[: trace.done]
                    ),
                ),
                ("staleness limit", f"{e.staleness}"),
                (
                    "weights",
                    ", ".join(
                        f"v{n} {number(w)}"
                        for n, (row, w) in enumerate(trace.play.versions)
                        if row <= trace.done
                    ),
                ),
                *((f"worker {k + 1}", words) for k, words in enumerate(_workers(trace))),
                ("all orders", f"{found.interleavings:,}, {len(found):,} different weights"),
                ("accepted over all orders", f"{few} to {max(found.accepted)} of {WORKERS}"),
                ("too stale a gradient accepted", f"in {found.too_stale:,} orders"),
                ("staler than its check saw", f"in {found.understated:,} orders"),
            ),
        )

    def columns(self, trace: StalenessRacesTrace) -> dict[str, np.ndarray]:
        moves = trace.play.trace.moves[: trace.done]
        return {
            "move": np.arange(1, trace.done + 1), "worker": moves[:, 1] + 1,
            "what": np.array([MOVES[move] for move in moves[:, 0]], dtype=np.str_),
        }  # fmt: skip


def _message(trace: StalenessRacesTrace) -> str:
    """Gradients that are accepted too stale; else those that will be; else what was dropped, or how
    far it is.
    """
    limit, settled = trace.experiment.staleness, int(trace.settled.sum())
    ages, accepted = trace.by_worker("true_staleness"), trace.by_worker("accepted") == 1
    if over := int((accepted & (ages > limit)).sum()):
        staleness = counted(int(ages[accepted].max()), "update")
        which = "an accepted gradient is" if over == 1 else f"{over} accepted gradients are up to"
        return f"Limit {limit} fails: {which} {staleness} stale."
    if doomed := trace.doomed:
        passed = (
            "gradient has passed its check and is"
            if doomed == 1
            else "gradients have passed their checks and are"
        )
        return f"{doomed} {passed} too stale by now."
    if settled and (lost := settled - int(accepted.sum())):
        return (
            f"Limit {limit} holds: {lost} of {counted(settled, 'gradient')} "
            f"{'is' if lost == 1 else 'are'} dropped."
        )
    if settled:
        so_far = f"all {WORKERS}" if settled == WORKERS else f"{settled} of {WORKERS}"
        return f"Limit {limit} holds: {so_far} gradients {are(settled)} accepted, none too stale."
    if not trace.done:
        return "Before the first move no gradient is applied."
    return f"After {counted(trace.done, 'move')} no gradient is applied yet."


@functools.lru_cache(maxsize=8)
def _outcomes(threshold: int) -> dict[tuple[bool, bool], Outcomes]:
    """Return what all orders of all moves come to, for every setting of the switches."""
    e = Experiment(Bowl(), workers=WORKERS, staleness=threshold)
    return {
        switches: explore(e.with_(atomic=switches[0], step_first=switches[1]))
        for switches in SWITCHES
    }


def _workers(trace: StalenessRacesTrace) -> Iterator[str]:
    """Return what became of each worker's gradient."""
    of = {name: trace.by_worker(name) for name in ("true_staleness", "staleness", "accepted")}
    for true, recorded, accepted in zip(*of.values(), strict=True):
        what = "accepted" if accepted == 1 else "dropped"
        yield "not settled" if true < 0 else f"{what}, staleness {true}, recorded {recorded}"


def _ascii(words: str) -> str:
    return words.replace("−", "-").replace("≤", "<=")


_LETTERS = {"R": READ, "N": RECORD, "C": CHECK, "U": UPDATE}
# What a scheduler would like to run, move by move; where moves are one piece, the later ones come
# along.
SCHEDULES = {
    "checks": ("all check, all update", "1R 1N 2R 2N 3R 3N 1C 2C 3C 1U 2U 3U"),
    "notes": ("steps noted late", "1R 2R 3R 1N 1C 1U 2N 2C 2U 3N 3C 3U"),
    "both": ("late, checked together", "1R 2R 3R 1N 1C 1U 2N 3N 2C 3C 2U 3U"),
    "turns": ("one after the other", "1R 1N 1C 1U 2R 2N 2C 2U 3R 3N 3C 3U"),
}


class Play(NamedTuple):
    """A whole schedule: its trace, an event for each move, and the first weight in each version."""

    trace: Trace
    events: tuple[Event, ...]
    versions: tuple[tuple[int, float], ...]  # (moves made, weight)


@functools.lru_cache(maxsize=64)
def played(schedule: str, threshold: int, atomic: bool, step_first: bool) -> Play:
    """Every wish of the schedule in turn, with what is one piece with it."""
    e = Experiment(
        Bowl(),
        workers=WORKERS,
        staleness=threshold,
        gradients=WORKERS,
        atomic=atomic,
        step_first=step_first,
    )
    server, log, events, versions = (
        Server(e),
        list[tuple[int, int, int]](),
        list[Event](),
        [(0, _weight(e.start()))],
    )
    pieces = [list(worker_pieces(e, k, [1])) for k in range(WORKERS)]
    for wish in SCHEDULES[schedule][1].split():
        k = int(wish[0]) - 1
        if not pieces[k] or pieces[k][0].moves[0] != _LETTERS[wish[1]]:
            continue  # it came along with an earlier one
        for n, move in enumerate(pieces[k].pop(0).moves):
            before = server.step
            replay_move(server, move, k, len(log))
            log.append((move, k, len(log)))
            events.append(Event(k, *_told(server, move, k), joined=n > 0))
            if server.step > before:
                versions.append((len(log), _weight(server.weights)))
    return Play(
        Trace.of(e, "schedule", "moves", log, server.ledger.rounds, server.weights),
        tuple(events),
        tuple(versions),
    )


def _told(server: Server, move: int, k: int) -> tuple[str, str]:
    """Kind and words of the move that worker k has just made."""
    ledger = server.ledger
    if move == READ:
        return "read", f"reads v{ledger.read_at[k]}"
    if move == RECORD:
        return "note", f"notes {ledger.recorded[k]}"
    if move == CHECK:
        passed = ledger.accepted[k]
        sign = "≤" if passed else ">"
        return (
            "passed" if passed else "failed"
        ), f"{ledger.checked[k]}−{ledger.recorded[k]} {sign} {ledger.staleness}"
    return ("updated", f"now v{ledger.step}") if ledger.accepted[k] else ("dropped", "is dropped")


def _weight(weights: Any) -> float:
    return float(weights["w"][0])

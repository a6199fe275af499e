"""A run of several workers over time: who read which weights, how stale the gradients are, and what
comes of them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..._base.numbers import are, counted, listed, number, percent, were
from ...live import Description, Items, Menu, Slider, Toggle
from ...workers import UPDATE, Bowl, Experiment, Speeds, Trace
from ...workers.simulated import decide
from .._lab import Control, Lab, Target
from .picture import Lanes, TimelineView

END, _STRIDE = 1200, 20  # ticks that are shown, and between two positions of the slider
_GAP = 30  # ticks between two moves that are not one piece
_EACH = 30  # gradients of each worker that are surely enough for END
POLICIES = {
    "apply": "apply all",
    "drop": "drop the stale",
    "wait": "wait for the slowest",
    "backup": "one backup worker",
}
_SOUND = {"workers": 4, "step_first": True, "atomic": True}


class SettledRun(NamedTuple):
    """A run that is longer than what is shown, and when each of its gradients was settled."""

    trace: Trace
    settled: np.ndarray
    waits: np.ndarray

    def until(self, now: int) -> Lanes:
        """State of the picture at a time."""
        trace, experiment = self.trace, self.trace.experiment
        rounds, workers = trace.rounds, experiment.workers
        done = self.settled <= now
        # Those in hand come last. A worker that reads at this very tick has nothing in hand yet.
        order = np.concatenate(
            [np.flatnonzero(done), np.flatnonzero(~done & (rounds["began"] < now))]
        )
        ages = {
            name: np.where(done, getattr(trace, name), -1)[order]
            for name in ("staleness", "true_staleness")
        }
        handed_in, accepted = (
            np.bincount(rounds["worker"][some], minlength=workers)
            for some in (done, done & trace.accepted)
        )
        waits = self.waits[self.waits[:, 1] < now]
        return Lanes(
            workers,
            now,
            rounds["worker"][order],
            rounds["began"][order],
            np.minimum(self.settled, now)[order],
            rounds["read"][order],
            ages["staleness"],
            ages["true_staleness"],
            trace.accepted[order],
            self.settled[done & (rounds["moved"] > 0)],
            np.minimum(waits, (workers, now, now)),
            _limit(experiment),
            experiment.speeds.slow[workers - 1],
            handed_in,
            accepted,
            starving(handed_in, accepted),
        )


def _limit(experiment: Experiment) -> int | None:
    """The largest staleness that is accepted; None if all are."""
    return {"drop": experiment.staleness, "backup": 0}.get(experiment.policy)


class StalenessTrace(NamedTuple):
    """A run up to some time."""

    experiment: Experiment
    lanes: Lanes

    @property
    def straggler(self) -> float:
        """The slowdown of the last worker."""
        return self.experiment.speeds.slow[self.experiment.workers - 1]

    def ages(self, accepted: bool = False) -> np.ndarray:
        """True staleness of what was handed in, or of what was accepted of it."""
        lanes = self.lanes
        return lanes.true[lanes.settled & (lanes.accepted | (not accepted))]


def _all_fed(trace: StalenessTrace) -> tuple[bool, str]:
    lanes, oldest = trace.lanes, trace.ages(accepted=True).max(initial=0)
    share = float((lanes.accepted_of / np.maximum(1, lanes.handed_in)).min())
    but = {
        f"with {counted(lanes.workers, 'worker')}": lanes.workers >= 6,
        "without such a straggler": trace.straggler >= 3,
        f"after {counted(lanes.now, 'tick')}": lanes.now == END,
    }
    ifs = "".join(f", {words}" for words, kept in but.items() if not kept)
    part = "all" if share == 1 else f"at least {percent(share)}"
    now = f"Now {part} of each worker's are accepted, with a staleness of at most {oldest}{ifs}"
    return bool(share >= 0.5 and oldest <= 8) and not ifs, now


def _let_through(trace: StalenessTrace) -> tuple[bool, str]:
    e = trace.experiment
    if e.policy != "drop" or not e.step_first:
        return (
            False,
            "Now this is another policy" if e.policy != "drop" else "Now the step is noted late",
        )
    over = int(trace.ages(accepted=True).max(initial=0)) - e.staleness
    return bool(over >= 4), f"Now the oldest accepted is {max(over, 0)} above the limit"


def staleness(
    *,
    now: int = END,
    threshold: int = 3,
    policy: Literal["apply", "drop", "wait", "backup"] = "drop",
    straggler: float = 3.0,
    workers: int = 4,
    spread: float = 0.2,
    step_first: bool = True,
    atomic: bool = True,
    target: Literal["all_fed", "let_through"] | None = None,
) -> StalenessLab:
    """Several workers train one set of weights: who reads which version, and what comes of gradients that are late.

    At a glance: The slow worker hands in too late: all its gradients are dropped.

    Each gradient is a bar from the read of the weights to its update or drop. Its staleness is the
    number of updates in between. The last worker can be made slow.

    Args:
        now: the time up to which the run is shown, 0 to 1200 ticks.
        threshold: the most staleness that "drop" accepts, or the most gradients that "wait" lets a
            worker be ahead, 0 to 12.
        policy: "apply" every gradient, "drop" stale ones, "wait" for the slowest worker, or have
            one "backup" worker.
        straggler: how many times slower the last worker is, 1 to 5.
        workers: 1 to 8.
        spread: of the time that a gradient takes, 0 to 0.5.
        step_first: whether the step is noted with the read, not after the forward pass.
        atomic: whether nothing happens between the check and the update.
        target: a goal that is shown above the picture until it is reached.

    >>> staleness(workers=4, straggler=3.0).description.summary
    'The slow worker 4 starves: all 3 of its gradients are dropped.'
    """
    return StalenessLab(
        target,
        now=now,
        threshold=threshold,
        policy=policy,
        straggler=straggler,
        workers=workers,
        spread=spread,
        step_first=step_first,
        atomic=atomic,
    )


class StalenessLab(Lab):
    """Lab of `staleness`: several workers over time, under one policy."""

    function = "staleness"
    label = "Stale gradients"
    axis = "now"
    presets: ClassVar = {
        "Everybody at one speed": _SOUND
        | {"policy": "drop", "threshold": 3, "straggler": 1.0, "spread": 0.0},
        "A straggler starves": _SOUND
        | {"policy": "drop", "threshold": 3, "straggler": 3.0, "spread": 0.2},
        "All wait for it": _SOUND
        | {"policy": "wait", "threshold": 1, "straggler": 3.0, "spread": 0.2},
        "One backup worker": _SOUND | {"policy": "backup", "straggler": 3.0, "spread": 0.2},
        "Older than it says": {
            "policy": "drop",
            "threshold": 3,
            "workers": 8,
            "straggler": 1.0,
            "spread": 0.2,
            "step_first": False,
            "atomic": False,
        },
    }
    targets: ClassVar = {
        "all_fed": Target(
            "with at least six workers, the last one at least 3 times slower, accept at least "
            "half of each worker's gradients, with a staleness of at most 8",
            _all_fed,
        ),
        "let_through": Target(
            "with the step noted with the read, make “drop” accept a gradient whose staleness is "
            "4 above the limit",
            _let_through,
        ),
    }

    def make_controls(self) -> list[Control]:
        return [
            Slider(
                "now", "Time", 0, END, END, scale="integer", step=_STRIDE, unit="ticks", play=True
            ),
            Slider("threshold", "Staleness limit", 0, 12, 3, scale="integer"),
            Menu("policy", "Policy", [*POLICIES.items()], "drop"),
            Slider("straggler", "Straggler", 1.0, 5.0, 3.0, step=0.5, unit="times"),
            Slider("workers", "Workers", 1, 8, 4, scale="integer", folded=True),
            Slider("spread", "Spread of speed", 0.0, 0.5, 0.2, step=0.05, folded=True),
            Toggle("step_first", "Read and note as one", True, folded=True),
            Toggle("atomic", "Check and update as one", True, folded=True),
        ]

    def compute(self, values: dict[str, Any]) -> StalenessTrace:
        settings = {name: value for name, value in values.items() if name != "now"}
        ran = _ran(**settings)
        return StalenessTrace(ran.trace.experiment, ran.until(values["now"]))

    def idle(self, values: dict[str, Any]) -> Iterable[str]:
        return ["threshold"] * (values["policy"] not in ("drop", "wait"))

    def make_view(self) -> TimelineView:
        return TimelineView()

    def draw(self, view: TimelineView, trace: StalenessTrace) -> None:
        view.draw(trace.lanes)

    def items(self, view: TimelineView, trace: StalenessTrace) -> Items:
        x, y = view.places(trace.lanes)
        lanes = trace.lanes
        values = {
            "of worker": lanes.worker + 1,
            "weights read, version": lanes.read,
            "staleness": lanes.true,
            "recorded as": lanes.recorded,
            "ticks": lanes.ended - lanes.began,
        }
        done = lanes.settled
        return Items(
            "gradient",
            {view.lanes: (x[done], y[done])},
            {name: some[done] for name, some in values.items()},
        )

    def describe(self, trace: StalenessTrace) -> Description:
        e, lanes, ages = trace.experiment, trace.lanes, trace.ages()
        given, taken = len(ages), int(lanes.accepted_of.sum())
        oldest = trace.ages(accepted=True).max(initial=0)
        wrong = int((lanes.true != lanes.recorded)[lanes.settled].sum())
        starves = [f"worker {k + 1}" for k in np.flatnonzero(lanes.starving)]
        said = (
            f"{taken} of {counted(given, 'gradient')} accepted ({percent(taken / max(1, given))})"
        )
        mean = ages.mean() if given else 0.0
        return Description(
            alt=f"{counted(e.workers, 'worker')} under the policy {e.policy} for "
            f"{counted(lanes.now, 'tick')}, the last one {number(trace.straggler)} times as "
            f"slow: {said}, mean staleness {mean:.1f}, the oldest accepted {oldest}. "
            f"Starving: {', '.join(starves) or 'none'}. {counted(wrong, 'gradient')} of "
            "another age than recorded.",
            summary=_message(trace),
            table=(
                ("policy", POLICIES[e.policy]),
                (
                    "accepted up to",
                    "any staleness" if lanes.limit is None else f"staleness {lanes.limit}",
                ),
                ("time", f"{lanes.now:,} of {counted(END, 'tick')}"),
                ("updates", f"{len(lanes.updates)}"),
                ("handed in, accepted", f"{given}, {taken}"),
                (
                    "mean staleness, recorded",
                    f"{mean:.2f}, {_mean(lanes.recorded[lanes.settled]):.2f}",
                ),
                ("oldest accepted", f"{oldest}"),
                ("of another age than recorded", f"{wrong}"),
                *(
                    (
                        f"worker {k + 1}",
                        f"{lanes.accepted_of[k]} of {lanes.handed_in[k]}" + " (starves)" * starved,
                    )
                    for k, starved in enumerate(lanes.starving.tolist())
                ),
            ),
        )

    def columns(self, trace: StalenessTrace) -> dict[str, np.ndarray]:
        lanes = trace.lanes
        columns = {
            "worker": lanes.worker + 1,
            "read_at": lanes.began,
            "settled_at": lanes.ended,
            "version_read": lanes.read,
            "staleness_recorded": lanes.recorded,
            "staleness_true": lanes.true,
            "accepted": lanes.accepted.astype(int),
        }
        return {name: column[lanes.settled] for name, column in columns.items()}


def _message(trace: StalenessTrace) -> str:
    """Say what is wrong, if anything: ages recorded too small, workers that starve or wait,
    gradients dropped.
    """
    lanes, ages = trace.lanes, trace.ages()
    given, taken = len(ages), int(lanes.accepted_of.sum())
    if not given:
        return "No gradient has been handed in yet."
    late = ages - lanes.recorded[lanes.settled]
    if n := int((late > 0).sum()):
        return (
            f"{n} of {counted(given, 'gradient')} {are(n)} staler than recorded, by up to "
            f"{late.max()}."
        )
    if lanes.starving.any():
        return _starving(trace)
    if taken < given:
        why = "too late" if trace.experiment.policy == "backup" else "too stale"
        lost = given - taken
        return (
            f"{lost} of {counted(given, 'gradient')} {were(lost)} {why} and {were(lost)} dropped."
        )
    all_are = {1: "The first gradient is", 2: "Both gradients are"}.get(
        given, f"All {given} gradients are"
    )
    if len(lanes.waits):
        share = float((lanes.waits[:, 2] - lanes.waits[:, 1]).sum() / (lanes.workers * lanes.now))
        return f"{all_are} accepted, but workers wait {percent(share)} of the time."
    if not ages.max():
        return f"{all_are} accepted; none is stale."
    return f"{all_are} accepted; the largest staleness is {counted(int(ages.max()), 'update')}."


def _starving(trace: StalenessTrace) -> str:
    """Workers that starve, and how many of their gradients are dropped."""
    lanes = trace.lanes
    who = np.flatnonzero(lanes.starving)
    given, lost = (
        int(lanes.handed_in[who].sum()),
        int((lanes.handed_in - lanes.accepted_of)[who].sum()),
    )
    one = len(who) == 1
    slow = "The slow worker" if trace.straggler > 1 and who[0] == lanes.workers - 1 else "Worker"
    names = (
        f"{slow} {who[0] + 1} starves"
        if one
        else f"Workers {listed([f'{k + 1}' for k in who], 8)} starve"
    )
    whose = "its" if one else "their"
    share = (
        f"{'both' if lost == 2 else f'all {lost}'} of {whose}"
        if lost == given
        else f"{lost} of {whose} {given}"
    )
    return f"{names}: {share} gradients are dropped."


def _mean(ages: np.ndarray) -> float:
    return float(ages.mean()) if len(ages) else 0.0


def experiment(
    policy: str,
    threshold: int,
    workers: int,
    straggler: float,
    spread: float,
    step_first: bool,
    atomic: bool,
) -> Experiment:
    """Return what these settings mean; "backup" needs all workers but one."""
    speeds = Speeds(spread=spread, slow={workers - 1: straggler}, gap=_GAP)
    return Experiment(
        Bowl(),
        learning_rate=1e-3,
        workers=workers,
        speeds=speeds,
        policy=policy,
        staleness=threshold,
        gradients=_EACH * workers,
        aggregate=max(1, workers - 1) if policy == "backup" else 1,
        step_first=step_first,
        atomic=atomic,
    )


@functools.lru_cache(maxsize=64)
def _ran(**settings: Any) -> SettledRun:
    trace = decide(experiment(**settings))  # no weight is looked at
    settled = trace.times[trace.moves[:, 0] == UPDATE]
    worker, began = trace.rounds["worker"], trace.rounds["began"]
    waits = []
    for k in range(trace.experiment.workers):
        mine = worker == k
        since, until = settled[mine][:-1], began[mine][1:]
        waits += [(k, *gap) for gap in zip(since, until, strict=True) if gap[1] > gap[0]]
    return SettledRun(trace, settled, np.array(waits, np.int64).reshape(-1, 3))


def starving(handed_in: np.ndarray, accepted: np.ndarray) -> np.ndarray:
    """Return who hands in and is hardly ever accepted: less than one gradient in four, of two at least."""
    return (handed_in >= 2) & (4 * accepted < handed_in)

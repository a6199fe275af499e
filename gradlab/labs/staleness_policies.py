"""Six things to do with stale gradients, in the same training with the same workers."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..figures.policies import Curve, PoliciesView, number, written
from ..live import Description, Slider
from ..rules import Momentum
from ..workers import POLICIES, Digits, Experiment, Speeds, loss_curve
from ..workers.simulated import decide
from ._lab import Control, Lab, Target, plain

WORKERS, GRADIENTS, _EVERY = 8, 200, 4  # loss is watched after every fourth update
_TIME = 100  # ticks that a gradient takes
_BY_LIMIT = ("drop", "wait")  # whom the limit concerns
_HORIZON = 75.0  # gradient times shown: all of every policy with a worker three times slower


class Policies(NamedTuple):
    """The curves of all policies, and when the first of them is through."""

    staleness: int
    straggler: float
    learning_rate: float
    momentum: float
    curves: Mapping[str, Curve]
    accepted: Mapping[str, float]
    then: float

    def order(self, at_end: bool = True) -> list[str]:
        """Policies by their loss at the end or at `then`, lowest first."""
        loss = {name: curve.loss[-1] if at_end else curve.then for name, curve in self.curves.items()}
        return sorted(loss, key=lambda name: float(number(loss[name])))


def _drop_wins(trace: Policies) -> tuple[bool, str]:
    first, second = trace.order()[:2]
    lead = float(trace.curves[second].loss[-1] / trace.curves[first].loss[-1])
    now = f"The lowest is {first}, {lead - 1:.0%} below {second} now"
    return first == "drop" and lead >= 1.05, now


def _only_the_mean_holds(trace: Policies) -> tuple[bool, str]:
    start = float(trace.curves["apply"].loss[0])
    below = [name for name in trace.order() if trace.curves[name].loss[-1] < start]
    return below == ["backup"], f"Below it end {', '.join(below) or 'none'} now"


class staleness_policies(Lab):
    """Tell digits apart with eight workers under six policies for stale gradients: the loss over updates and over time.

    All six see the same workers, speeds and batches, and each of them hands in 200 gradients. "backup" takes the mean
    of the first seven, and "compensate" adapts its strength to the size of the gradients.

    Controls: `staleness` (the most that "drop" accepts, and how far "wait" lets workers get ahead), `straggler` (how
    many times slower the last worker is), `learning_rate` (log scale) and `momentum`.

    >>> staleness_policies().description.summary.partition(":")[0]
    'After 200 gradients each'
    """

    label = "Six policies for stale gradients"
    axis = "staleness"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "Small steps": {"staleness": 4, "straggler": 3.0, "learning_rate": 0.095, "momentum": 0.0},
        "Steps that suit": {"staleness": 4, "straggler": 3.0, "learning_rate": 0.3, "momentum": 0.0},
        "Large steps": {"staleness": 4, "straggler": 3.0, "learning_rate": 3.0, "momentum": 0.0},
        "Heavy momentum": {"staleness": 4, "straggler": 3.0, "learning_rate": 0.095, "momentum": 0.9},
    }
    targets: ClassVar[dict[str, Target]] = {
        "drop_wins": Target("let “drop” end 5 % lower than all others", _drop_wins),
        "only_backup": Target(
            "let “backup” be the only one that ends below the loss at the start", _only_the_mean_holds
        ),
    }

    def make_controls(self) -> list[Control]:
        return [
            Slider("staleness", "Limit of staleness", 0, 12, 4, scale="integer", play=True),
            Slider("straggler", "Straggler", 1.0, 5.0, 3.0, step=1.0, unit="times"),
            Slider("learning_rate", "Learning rate", 0.03, 3.0, 0.3, scale="log", step=8),
            Slider("momentum", "Momentum", 0.0, 0.9, 0.0, step=0.3),
        ]

    def compute(self, values: dict[str, Any]) -> Policies:
        straggler, rate, momentum = values["straggler"], values["learning_rate"], values["momentum"]
        found = {
            name: _trained(name, values["staleness"] if name in _BY_LIMIT else 0, straggler, rate, momentum)
            for name in POLICIES
        }
        then = min(trained.end for trained in found.values())
        curves, accepted = {}, {}
        for name, (curve, share, _) in found.items():
            last = int(np.searchsorted(curve["time"], then, side="right")) - 1
            curves[name], accepted[name] = Curve(**curve, then=float(curve["loss"][last])), share
        return Policies(values["staleness"], straggler, rate, momentum, curves, accepted, then)

    def make_view(self) -> PoliciesView:
        return PoliciesView(POLICIES, GRADIENTS, _HORIZON)

    def draw(self, view: PoliciesView, trace: Policies) -> None:
        view.draw(trace.curves, trace.then)

    def describe(self, trace: Policies) -> Description:
        losses = {name: written(curve.loss[-1]) for name, curve in trace.curves.items()}
        order, then = trace.order(), trace.order(at_end=False)[0]
        first, last = order[0], order[-1]
        said = (
            f"After {GRADIENTS} gradients each: lowest loss {first} with {losses[first]}, highest {last} with "
            f"{losses[last]}. After {plain(trace.then)} gradient times: lowest {then} with "
            f"{written(trace.curves[then].then)}."
        )
        return Description(
            alt=f"Six policies, {WORKERS} workers, the last one {plain(trace.straggler)} times as slow, learning rate "
            f"{plain(trace.learning_rate)}, momentum {plain(trace.momentum)}, limit {trace.staleness}. {said}",
            summary=said,
            table=(
                ("limit of staleness", f"{trace.staleness}"),
                ("last worker slower by", f"{plain(trace.straggler)} times"),
                ("learning rate, momentum", f"{plain(trace.learning_rate)}, {plain(trace.momentum)}"),
                *((name, _row(trace, name)) for name in order),
            ),
        )

    def columns(self, trace: Policies) -> dict[str, np.ndarray]:
        steps = np.arange(0, GRADIENTS + 1, _EVERY)
        columns = {"updates": steps}
        for name, curve in trace.curves.items():
            for what, column in (("time", curve.time), ("loss", curve.loss)):
                at = np.flatnonzero(curve.step % _EVERY == 0)[: len(steps)]
                columns[f"{name}_{what}"] = np.append(column[at], np.full(len(steps) - len(at), np.nan))
        return columns


def _row(trace: Policies, name: str) -> str:
    curve, accepted = trace.curves[name], f"{trace.accepted[name]:.0%} of the gradients accepted"
    took = f"{curve.step[-1]} updates and {plain(curve.time[-1])} gradient times"
    return f"loss {written(curve.loss[-1])} after {took}; {accepted}"


class _Trained(NamedTuple):
    """Step, gradient time and loss of one policy; the share of its gradients that was accepted; when all were there."""

    curve: dict[str, np.ndarray]
    accepted: float
    end: float


@functools.lru_cache(maxsize=1024)
def _trained(policy: str, staleness: int, straggler: float, learning_rate: float, momentum: float) -> _Trained:
    experiment = Experiment(
        Digits(), optimizer=Momentum(momentum), learning_rate=learning_rate, workers=WORKERS, policy=policy,
        speeds=Speeds(median=_TIME, slow={WORKERS - 1: straggler}), staleness=staleness, gradients=GRADIENTS,
        aggregate=WORKERS - 1 if policy == "backup" else 1, strength=1.0, mean_square_decay=0.95,
    )  # fmt: skip
    trace = decide(experiment)
    with np.errstate(all="ignore"):  # some of these runs are lost
        curve = loss_curve(trace, every=1 if policy == "backup" else _EVERY)
    end = float(trace.rounds["ended"][-1]) / _TIME
    return _Trained(curve | {"time": curve["time"] / _TIME}, float(trace.accepted.mean()), end)

"""Effects of staleness on training: deeper models, momentum, and several policies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._base.numbers import counted, listed, number, percent
from ..figures.delays import DelaysView
from ..figures.policies import Curve, PoliciesView, written
from ..live import Description, Slider
from ..workers import POLICIES
from ..workers.policy_study import EVERY, GRADIENTS, WORKERS, trained
from ..workers.studies import EVERY as POINTS_EVERY
from ..workers.studies import GOAL, SEEDS, STALENESS, UPDATES, VARIANTS, recorded, updates_to
from ._lab import Control, Lab, Target

_HORIZON = 28.0  # gradient times shown: until the first policy is through, however slow the last worker is


class Policies(NamedTuple):
    """The curves of all policies, and when the first of them is through."""

    staleness: int
    straggler: float
    learning_rate: float
    momentum: float
    curves: Mapping[str, Curve]
    accepted: Mapping[str, float]
    then: float

    def loss(self, name: str, at_end: bool = True) -> float:
        """The loss of a policy at its end, or at `then`; what isn't a number is the highest."""
        curve = self.curves[name]
        loss = float(curve.loss[-1] if at_end else curve.then)
        return loss if np.isfinite(loss) else np.inf

    def order(self, at_end: bool = True) -> list[str]:
        """Policies by their loss at the end or at `then`, lowest first."""
        return sorted(self.curves, key=lambda name: self.loss(name, at_end))

    def lowest(self, at_end: bool = True) -> list[str]:
        """The policies with the lowest loss: one as a rule, more where they did the same."""
        order = self.order(at_end)
        return [name for name in order if self.loss(name, at_end) == self.loss(order[0], at_end)]

    @property
    def told(self) -> tuple[str, str]:
        """The policy that is lowest at the end, and the one at `then`: the same if one is both."""
        both = [name for name in self.lowest() if name in self.lowest(at_end=False)]
        return (both[0], both[0]) if both else (self.lowest()[0], self.lowest(at_end=False)[0])


def _drop_wins(trace: Policies) -> tuple[bool, str]:
    first, second = trace.order()[:2]
    lead = float(trace.curves[second].loss[-1] / trace.curves[first].loss[-1])
    now = f"Now the lowest is {first}, {percent(lead - 1)} below {second}"
    return first == "drop" and lead >= 1.05, now


def _only_the_mean_holds(trace: Policies) -> tuple[bool, str]:
    start = float(trace.curves["apply"].loss[0])
    below = [name for name in trace.order() if trace.curves[name].loss[-1] < start]
    return below == ["backup"], f"Now {', '.join(below) or 'none'} {'end' if len(below) > 1 else 'ends'} below it"


class staleness_policies(Lab):
    """Tell digits apart with eight workers under six policies for stale gradients: the loss over updates and over time.

    At a glance: Which policy learns fastest depends on the clock: per update or per second.

    All six see the same workers, speeds and batches, and each of them hands in 200 gradients. "backup" takes the mean
    of the first seven, and "compensate" adapts its strength to the size of the gradients.

    The losses at every position of the sliders are recorded; those in between are computed, which takes a moment.

    Controls: `staleness` (the most that "drop" accepts, and how far "wait" lets workers get ahead), `straggler` (how
    many times slower the last worker is), `learning_rate` (log scale) and `momentum`.

    >>> staleness_policies(learning_rate=3.0).description.summary
    '“damp” leads by updates and by the clock: 0.448 in the end, “backup” at 0.524.'
    """

    label = "Six policies for stale gradients"
    axis = "staleness"
    presets: ClassVar = {
        "Small steps": {"staleness": 4, "straggler": 3.0, "learning_rate": 0.0949, "momentum": 0.0},
        "Good learning rate": {"staleness": 4, "straggler": 3.0, "learning_rate": 0.3, "momentum": 0.0},
        "Large steps": {"staleness": 4, "straggler": 3.0, "learning_rate": 3.0, "momentum": 0.0},
        "Heavy momentum": {"staleness": 4, "straggler": 3.0, "learning_rate": 0.0949, "momentum": 0.9},
    }
    targets: ClassVar = {
        "drop_wins": Target("make “drop” end at least 5% lower than all other policies", _drop_wins),
        "only_backup": Target("make “backup” the only policy that ends below the initial loss", _only_the_mean_holds),
    }

    def make_controls(self) -> list[Control]:
        return [
            Slider("staleness", "Staleness limit", 0, 12, 4, scale="integer", play=True),
            Slider("straggler", "Straggler", 1.0, 5.0, 3.0, step=1.0, unit="times"),
            Slider("learning_rate", "Learning rate", 0.03, 3.0, 0.3, scale="log", step=8),
            Slider("momentum", "Momentum", 0.0, 0.9, 0.0, step=0.3),
        ]

    def compute(self, values: dict[str, Any]) -> Policies:
        straggler, rate, momentum = values["straggler"], values["learning_rate"], values["momentum"]
        found = {name: trained(name, values["staleness"], straggler, rate, momentum) for name in POLICIES}
        then = min(one.end for one in found.values())
        at = {name: np.searchsorted(one.time, then, side="right") - 1 for name, one in found.items()}
        curves = {name: Curve(one.step, one.time, one.loss, one.loss[at[name]]) for name, one in found.items()}
        accepted = {name: one.accepted for name, one in found.items()}
        return Policies(values["staleness"], straggler, rate, momentum, curves, accepted, then)

    def make_view(self) -> PoliciesView:
        return PoliciesView(POLICIES, GRADIENTS, _HORIZON)

    def draw(self, view: PoliciesView, trace: Policies) -> None:
        view.draw(trace.curves, trace.then, *trace.told)

    def describe(self, trace: Policies) -> Description:
        order, first = trace.order(), trace.order(at_end=False)
        ends, then = (
            ", ".join(f"{name} {written(trace.loss(name, at_end))}" for name in some)
            for some, at_end in ((order, True), (first, False))
        )
        return Description(
            alt=f"Six policies, {WORKERS} workers, the last one {number(trace.straggler)} times as slow, learning rate "
            f"{number(trace.learning_rate)}, momentum {number(trace.momentum)}, limit {trace.staleness}. Losses after "
            f"{GRADIENTS} gradients each, lowest first: {ends}. After {number(trace.then)} gradient times: {then}.",
            summary=_clocks(trace),
            table=(
                ("staleness limit", f"{trace.staleness}"),
                ("last worker slower by", f"{number(trace.straggler)} times"),
                ("learning rate, momentum", f"{number(trace.learning_rate)}, {number(trace.momentum)}"),
                *((name, _row(trace, name)) for name in order),
            ),
        )

    def columns(self, trace: Policies) -> dict[str, np.ndarray]:
        steps = np.arange(0, GRADIENTS + 1, EVERY)
        columns = {"updates": steps}
        for name, curve in trace.curves.items():
            for what, column in (("time", curve.time), ("loss", curve.loss)):
                at = np.flatnonzero(curve.step % EVERY == 0)[: len(steps)]
                columns[f"{name}_{what}"] = np.append(column[at], np.full(len(steps) - len(at), np.nan))
        return columns


def _clocks(trace: Policies) -> str:
    """Say which policy is lowest when all have handed in all gradients, and which when the first has."""
    ends, leads = trace.lowest(), trace.lowest(at_end=False)
    both = [name for name in ends if name in leads]
    if not both:
        first, ahead = trace.told
        against = " to ".join(written(trace.loss(name, at_end=False)) for name in (ahead, first))
        return (
            f"{_quoted(ends)} {_verb('end', ends)} lowest, but by the clock {_quoted(leads)} {_verb('lead', leads)}: "
            f"{against} after {number(trace.then, 2)} gradient times."
        )
    last = written(trace.loss(both[0]))
    behind = [name for name in trace.order() if name not in ends][: len(both) == 1]
    next_best = f", {_quoted(behind)} at {written(trace.loss(behind[0]))}" if behind else ""
    return f"{_quoted(both)} {_verb('lead', both)} by updates and by the clock: {last} in the end{next_best}."


def _quoted(names: list[str]) -> str:
    return listed([f"“{name}”" for name in names], len(names))


def _verb(verb: str, names: list[str]) -> str:
    return verb if len(names) > 1 else f"{verb}s"


def _row(trace: Policies, name: str) -> str:
    curve, accepted = trace.curves[name], f"{percent(trace.accepted[name])} of the gradients accepted"
    took = f"{counted(curve.step[-1], 'update')} and {number(curve.time[-1])} gradient times"
    return f"loss {written(curve.loss[-1])} after {took}; {accepted}"


GROUPS = {"depth": "More hidden layers", "optimizer": "Two hidden layers, other methods"}


class Slowed(NamedTuple):
    """Medians over the seeds: learning curves (variants, points) at one delay; updates to the goal at all of them."""

    delay: int
    curves: np.ndarray
    needed: np.ndarray

    @property
    def never(self) -> np.ndarray:
        """True for each variant that never reaches the goal at this delay."""
        never: np.ndarray = ~np.isfinite(self.needed[:, self.delay])
        return never

    @property
    def told(self) -> np.ndarray:
        """The variants of the sentence: those that never get there; if all do, the shallowest and the deepest."""
        ends = np.isin(np.arange(len(VARIANTS)), (_MEMBERS[0][0], _MEMBERS[0][-1]))
        return self.never if self.never.any() else ends


class staleness_models(Lab):
    """Networks that read digits, trained with gradients that are up to `delay` updates stale.

    At a glance: Stale gradients slow a deep network down much more than a shallow one.

    Each gradient's delay is drawn again, from 0 to `delay` updates. Recorded runs, the median of five; a small version
    of what Dai et al. (2018) found with larger networks. Heavy lines are those of which the sentence speaks.

    Controls: `delay` (0 to 32 updates).

    >>> staleness_models(delay=32).params
    {'delay': 32}
    """

    label = "Staleness, depth and momentum"
    axis = "delay"
    presets: ClassVar = {"Fresh": {"delay": 0}, "Stale": {"delay": 16}, "Very stale": {"delay": 32}}

    def make_controls(self) -> list[Control]:
        step = STALENESS[1]
        return [Slider("delay", "Largest delay", 0, STALENESS[-1], 16, scale="integer", step=step, play=True)]

    def compute(self, values: dict[str, Any]) -> Slowed:
        curves = recorded()
        delay = STALENESS.index(values["delay"])
        needed = np.median(updates_to(GOAL, curves), axis=-1)
        return Slowed(delay, 100 * np.median(curves[:, delay], axis=1), needed)

    def make_view(self) -> DelaysView:
        labels = [[_SHORT[k] for k in of] for of in _MEMBERS]
        updates = np.arange(POINTS_EVERY, UPDATES + 1, POINTS_EVERY)
        return DelaysView(list(GROUPS.values()), labels, updates, STALENESS, GOAL)

    def draw(self, view: DelaysView, trace: Slowed) -> None:
        groups = [[some[of] for of in _MEMBERS] for some in (trace.curves, trace.needed, trace.told)]
        view.draw(trace.delay, *groups)

    def describe(self, trace: Slowed) -> Description:
        said = {v.label: _said(updates) for v, updates in zip(VARIANTS, trace.needed[:, trace.delay], strict=True)}
        delay = STALENESS[trace.delay]
        every = ", ".join(f"{label} {updates}" for label, updates in said.items())
        return Description(
            alt=f"Learning curves of networks that read digits, with gradients 0 to {counted(delay, 'update')} stale. "
            f"Updates until {percent(GOAL)} accuracy on new digits, the median of {SEEDS} runs: {every}.",
            summary=_slowed(trace),
            table=(("largest delay", counted(delay, "update")), *said.items()),
        )

    def columns(self, trace: Slowed) -> dict[str, np.ndarray]:
        names = (v.label.lower().replace(" ", "_").replace(".", "_") for v in VARIANTS)
        return {
            "updates": np.arange(POINTS_EVERY, UPDATES + 1, POINTS_EVERY),
            **dict(zip(names, trace.curves, strict=True)),
        }


_SHORT = [v.label.replace(" hidden", "") for v in VARIANTS]
_MEMBERS = [[k for k, v in enumerate(VARIANTS) if v.group == group] for group in GROUPS]


def _slowed(trace: Slowed) -> str:
    """Name the variants that never reach the goal; if all do, say how fast the deepest and the shallowest are."""
    late, goal, told = STALENESS[trace.delay], percent(GOAL), np.flatnonzero(trace.told)
    if trace.never.any():
        who = _together([_SHORT[k] for k in told])
        return f"Delays up to {late} keep {who} below {goal} for {number(UPDATES)} updates."
    first, last = (trace.needed[k, trace.delay] for k in told)
    shallow, deep = (_SHORT[k] for k in told)
    given = f"delays up to {late}" if late else "fresh gradients"
    said = f"a network of {deep} reaches {goal} in {number(last)} updates, one of {shallow} in {number(first)}"
    return f"With {given}, {said}."


def _together(names: list[str]) -> str:
    """Return names in a row; networks of several depths share their noun.

    >>> _together(["4 layers", "6 layers"]), _together(["4 layers", "6 layers", "Momentum 0.95"])
    ('networks of 4 and 6 layers', '4 and 6 layers, and Momentum 0.95,')
    """
    deep = [name.removesuffix(" layers") for name in names if name.endswith(" layers")]
    others = names[len(deep) :]
    said = [f"{listed(deep, len(deep))} layers"] * bool(deep)
    kind = "" if others else "a network of " if len(deep) == 1 else "networks of "
    if not said or not others:
        return kind + listed([*said, *others], len(names))
    return f"{said[0]}{',' if len(others) > 1 else ', and'} {listed(others, len(others))},"


def _said(updates: float) -> str:
    return number(updates) if np.isfinite(updates) else "never"

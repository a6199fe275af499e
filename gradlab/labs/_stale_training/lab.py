"""Effects of staleness on training: several policies, depths and optimizers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..._base.numbers import counted, number, percent
from ...live import Description, Slider
from ...models.asynchrony import DEPTHS, TUNED_STRAGGLERS, PolicyRuns, compare_policies, policy_runs
from ...models.claims import sentence
from ...workers import POLICIES
from ...workers.policy_study import EVERY, GRADIENTS, TUNED_LIMIT, WORKERS, Trained, trained
from ...workers.studies import EVERY as POINTS_EVERY
from ...workers.studies import (
    FRESH_SEEDS,
    GOAL,
    STALENESS,
    UPDATES,
    VARIANTS,
    chosen_rates,
    recorded,
    slowdown,
    updates_to,
)
from .._lab import Control, Lab, Target
from .delays_picture import DelaysView
from .policies_picture import PoliciesView, Row, Spread, written


class Policies(NamedTuple):
    """One run of every policy at one rate, and, where they were recorded, many runs at the policies' own rates.

    Attributes:
        runs: one run each.
        then: the time at which these are compared by the clock.
        own: (by gradients, by time) the runs at own rates; None at settings for which no rates were
            chosen.
    """

    staleness: int
    straggler: float
    learning_rate: float
    momentum: float
    runs: Mapping[str, Trained]
    then: float
    own: tuple[Mapping[str, PolicyRuns], Mapping[str, PolicyRuns]] | None

    def loss(self, name: str, at_end: bool = True) -> float:
        """The loss of a policy's one run at its end, or at `then`."""
        run = self.runs[name]
        at = -1 if at_end else int(np.searchsorted(run.time, self.then, side="right")) - 1
        return float(run.loss[at])

    def time(self, name: str) -> float:
        """The gradient times until all gradients are in: of the one run, or the mean of those at the own rate."""
        return self.runs[name].end if self.own is None else float(self.own[0][name].end.mean())

    @property
    def ends(self) -> np.ndarray:
        """The losses at the end of the one runs, infinite for those that aren't numbers."""
        ends = np.array([self.loss(name) for name in self.runs])
        return np.where(np.isfinite(ends), ends, np.inf)


def _all_learn(trace: Policies) -> tuple[bool, str]:
    worst = max(trace.runs, key=lambda name: np.nan_to_num(trace.loss(name), nan=np.inf))
    now = f"Now the run of “{worst}” ends at {written(trace.loss(worst))}"
    return bool(trace.ends.max() < 1), now


def _wait_is_slow(trace: Policies) -> tuple[bool, str]:
    times = trace.runs["wait"].end / trace.runs["apply"].end
    return times >= 3, f"Now it takes {number(times)} times as long"


def staleness_policies(
    *,
    learning_rate: float = 0.3,
    straggler: float = 3.0,
    staleness: int = 4,
    momentum: float = 0.0,
    target: Literal["all_learn", "slow_wait"] | None = None,
) -> StalenessPoliciesLab:
    """Tell digits apart with eight workers under six policies for stale gradients: the loss by gradients and by time.

    At a glance: With a slow worker, waiting has the lowest loss by gradients and the highest by
    time.

    Blue: 20 runs of each policy at the learning rate that a sweep chose for it on other seeds; the
    bar is the middle half, the dot the median. There are such runs for a straggler of 1 and 3
    times, limit 4, and momentum 0. Orange: one run of each policy at the rate of the slider, with
    the same speeds and batches for all. One run at one rate shows what a setting does; it can't
    rank the policies, whose own rates differ by a factor of about ten.

    Every policy gets 200 gradients. "backup" takes the mean of the first seven, and "compensate"
    adapts its strength to the size of the gradients. Single runs between the positions of the
    sliders are computed, which takes a moment.

    Args:
        learning_rate: of the single runs, 0.03 to 3.
        straggler: how many times slower the last worker is, 1 to 5.
        staleness: the most that "drop" accepts, and how far "wait" lets workers get ahead, 0 to 12.
        momentum: 0 to 0.9.
        target: a goal that is shown above the picture until it is reached.

    >>> staleness_policies(momentum=0.3).description.summary
    "One run each at rate 0.3: losses from 0.467 to 1.13. One run at one rate can't rank policies."
    """
    return StalenessPoliciesLab(
        target,
        learning_rate=learning_rate,
        straggler=straggler,
        staleness=staleness,
        momentum=momentum,
    )


class StalenessPoliciesLab(Lab):
    """Lab of `staleness_policies`: six policies on one task."""

    function = "staleness_policies"
    label = "Six policies for stale gradients"
    axis = "learning_rate"
    presets: ClassVar = {
        "Own rates": {"staleness": 4, "straggler": 3.0, "learning_rate": 0.3, "momentum": 0.0},
        "No straggler": {"staleness": 4, "straggler": 1.0, "learning_rate": 0.3, "momentum": 0.0},
        "Large steps": {"staleness": 4, "straggler": 3.0, "learning_rate": 3.0, "momentum": 0.0},
        "Heavy momentum": {
            "staleness": 4,
            "straggler": 3.0,
            "learning_rate": 0.0949,
            "momentum": 0.9,
        },
    }
    targets: ClassVar = {
        "all_learn": Target(
            "find one rate at which all six single runs end below a loss of 1", _all_learn
        ),
        "slow_wait": Target("make “wait” take at least 3 times as long as “apply”", _wait_is_slow),
    }

    def make_controls(self) -> list[Control]:
        return [
            Slider(
                "learning_rate",
                "Rate of single runs",
                0.03,
                3.0,
                0.3,
                scale="log",
                step=8,
                play=True,
            ),
            Slider("straggler", "Straggler", 1.0, 5.0, 3.0, step=1.0, unit="times"),
            Slider("staleness", "Staleness limit", 0, 12, 4, scale="integer"),
            Slider("momentum", "Momentum", 0.0, 0.9, 0.0, step=0.3),
        ]

    def compute(self, values: dict[str, Any]) -> Policies:
        limit, straggler = values["staleness"], values["straggler"]
        rate, momentum = values["learning_rate"], values["momentum"]
        runs = {name: trained(name, limit, straggler, rate, momentum) for name in POLICIES}
        then = min(run.end for run in runs.values())
        own = None
        if straggler in TUNED_STRAGGLERS and limit == TUNED_LIMIT and momentum == 0:
            own = policy_runs(straggler, "gradients"), policy_runs(straggler, "time")
        return Policies(limit, straggler, rate, momentum, runs, then, own)

    def make_view(self) -> PoliciesView:
        return PoliciesView(POLICIES)

    def draw(self, view: PoliciesView, trace: Policies) -> None:
        rows = {}
        for name in POLICIES:
            spreads = None
            if trace.own is not None:
                spreads = _spread(trace.own[0][name]), _spread(trace.own[1][name])
            single = trace.loss(name), trace.loss(name, at_end=False)
            rows[name] = Row(single, spreads, trace.time(name))
        view.draw(rows, (f"After {GRADIENTS} gradients", f"After {trace.then:.0f} gradient times"))

    def describe(self, trace: Policies) -> Description:
        ends = ", ".join(f"{name} {written(trace.loss(name))}" for name in POLICIES)
        then = ", ".join(f"{name} {written(trace.loss(name, at_end=False))}" for name in POLICIES)
        verdicts = ""
        if trace.own is not None:
            verdicts = " " + " ".join(_ascii(words) for words in _verdicts(trace.straggler))
        return Description(
            alt=f"Six policies, {WORKERS} workers{_slow_worker(trace.straggler)}, limit "
            f"{trace.staleness}. Losses of one run each at learning rate "
            f"{number(trace.learning_rate)}, momentum {number(trace.momentum)}, after "
            f"{GRADIENTS} gradients: {ends}; after {number(trace.then)} gradient times: "
            f"{then}.{verdicts}",
            summary=_summary(trace),
            table=(
                ("staleness limit", f"{trace.staleness}"),
                ("last worker slower by", f"{number(trace.straggler)} times"),
                (
                    "rate of single runs, momentum",
                    f"{number(trace.learning_rate)}, {number(trace.momentum)}",
                ),
                *((name, _row(trace, name)) for name in POLICIES),
            ),
        )

    def columns(self, trace: Policies) -> dict[str, np.ndarray]:
        steps = np.arange(0, GRADIENTS + 1, EVERY)
        columns = {"updates": steps}
        for name, run in trace.runs.items():
            for what, column in (("time", run.time), ("loss", run.loss)):
                at = np.flatnonzero(run.step % EVERY == 0)[: len(steps)]
                columns[f"{name}_{what}"] = np.append(
                    column[at], np.full(len(steps) - len(at), np.nan)
                )
        return columns


def _spread(runs: PolicyRuns) -> Spread:
    lower, median, upper = np.percentile(runs.judged, (25, 50, 75))
    return Spread(float(lower), float(median), float(upper), runs.rate, len(runs.judged))


def _verdicts(straggler: float) -> tuple[str, str]:
    """The sentences of the table of claims on the two clocks."""
    ending = "" if straggler > 1 else ".no_straggler"
    return sentence(f"staleness.per_gradient{ending}"), sentence(f"staleness.per_time{ending}")


def _summary(trace: Policies) -> str:
    """Say how the policies compare at their own rates, and where one run of each ends."""
    reach = f"{written(trace.ends.min())} to {written(trace.ends.max())}"
    rate = number(trace.learning_rate)
    if trace.own is None:
        return (
            f"One run each at rate {rate}: losses from {reach}. One run at "
            "one rate can't rank policies."
        )
    return f"Own rates: {_standing(trace.straggler)}. One run at {rate}: {reach}."


def _standing(straggler: float) -> str:
    """Name the policies that are lower, or higher, than all others, as far as the runs tell them
    apart.
    """
    places: dict[str, list[str]] = {}
    for criterion in ("gradients", "time"):
        runs = compare_policies(straggler, criterion)
        if runs.best is not None:
            places.setdefault(runs.best, []).append(f"lowest by {criterion}")
        elif runs.worst is not None:
            places.setdefault(runs.worst, []).append(f"highest by {criterion}")
    if not places:
        return "no policy leads, by gradients or by time"
    return " and ".join(f"“{name}” is {' and '.join(where)}" for name, where in places.items())


def _slow_worker(straggler: float) -> str:
    """Return the clause on the last worker; nothing where it is as fast as the others."""
    return f", the last one {number(straggler)} times as slow" if straggler > 1 else ""


def _ascii(words: str) -> str:
    """Write quotes as alternative texts have them."""
    return words.replace("“", '"').replace("”", '"')


def _row(trace: Policies, name: str) -> str:
    run = trace.runs[name]
    took = f"{counted(run.step[-1], 'update')} and {number(run.end)} gradient times"
    single = (
        f"loss {written(run.loss[-1])} after {took}; "
        f"{percent(run.accepted)} of the gradients accepted"
    )
    if trace.own is None:
        return single
    own = []
    for by_policy, clock in zip(trace.own, (f"{GRADIENTS} gradients", "equal time"), strict=True):
        runs = by_policy[name]
        error = runs.judged.std(ddof=1) / np.sqrt(len(runs.judged))
        own.append(
            f"mean {runs.judged.mean():.3f} ± {error:.3f} after {clock} at rate {number(runs.rate)}"
        )
    return f"own rates: {', '.join(own)}. One run: {single}"


# The lines of the two groups, by their places among the variants: two hidden layers with descent is
# in both.
GROUPS = {
    "Hidden layers, each at its own rates": (0, 1, 2, 3),
    "Two hidden layers, other methods": (1, 4, 5),
}
_NAMES = (("1 layer", "2 layers", "4 layers", "6 layers"), ("descent", "Momentum 0.9", "Adam"))


class Slowed(NamedTuple):
    """Networks at their own rates.

    Attributes:
        delay: its place among the delays.
        curves: (variants, points) the medians over seeds of the accuracies at that delay, in %.
        slowdown: (3, variants, delays) lower quartile, mean and upper quartile over seeds of the
            updates to the goal, as multiples of those without delay.
        needed: (variants,) median updates to the goal at that delay.
        rates: (variants,) at that delay.
    """

    delay: int
    curves: np.ndarray
    slowdown: np.ndarray
    needed: np.ndarray
    rates: np.ndarray


def staleness_models(*, delay: int = 16) -> StalenessModelsLab:
    """Networks that read digits, trained with gradients that are up to `delay` updates stale.

    At a glance: Delays slow every network, even at the smaller learning rate that it then needs.

    Each gradient's delay is drawn again, from 0 to `delay` updates. Recorded runs of ten seeds;
    each network has at each delay the learning rate that a sweep chose for it on five other seeds,
    rates a factor of 2 apart. Curves are medians, slowdowns means with the middle half as a bar.
    After Dai et al. (2018), who used larger networks.

    Args:
        delay: the largest delay, 0 to 32 updates.

    >>> staleness_models(delay=32).params
    {'delay': 32}
    """
    return StalenessModelsLab(delay=delay)


class StalenessModelsLab(Lab):
    """Lab of `staleness_models`: networks of several depths, with delayed gradients."""

    function = "staleness_models"
    label = "Staleness, depth and momentum"
    axis = "delay"
    presets: ClassVar = {"Fresh": {"delay": 0}, "Stale": {"delay": 16}, "Very stale": {"delay": 32}}

    def make_controls(self) -> list[Control]:
        step = STALENESS[1]
        return [
            Slider(
                "delay",
                "Largest delay",
                0,
                STALENESS[-1],
                16,
                scale="integer",
                step=step,
                play=True,
            )
        ]

    def compute(self, values: dict[str, Any]) -> Slowed:
        delay = STALENESS.index(values["delay"])
        curves = 100 * np.median(recorded()[:, delay], axis=1)
        times = slowdown()
        lower, upper = np.percentile(times, (25, 75), axis=-1)
        slow = np.stack([lower, times.mean(axis=-1), upper])
        needed = np.median(updates_to(GOAL, recorded()[:, delay]), axis=-1)
        return Slowed(delay, curves, slow, needed, chosen_rates()[:, delay])

    def make_view(self) -> DelaysView:
        updates = np.arange(POINTS_EVERY, UPDATES + 1, POINTS_EVERY)
        return DelaysView(list(GROUPS), _NAMES, updates, STALENESS, GOAL)

    def draw(self, view: DelaysView, trace: Slowed) -> None:
        members = [list(places) for places in GROUPS.values()]
        curves = [trace.curves[places] for places in members]
        slow = [trace.slowdown[:, places] for places in members]
        # The sentence has the numbers of the shallowest and the deepest network, whose lines are
        # heavy.
        heavy = [np.array([True, False, False, True]), np.zeros(len(members[1]), bool)]
        view.draw(trace.delay, curves, slow, heavy)

    def describe(self, trace: Slowed) -> Description:
        delay = STALENESS[trace.delay]
        rows = tuple((v.label, _said(trace, k)) for k, v in enumerate(VARIANTS))
        every = "; ".join(f"{label}: {words}" for label, words in rows)
        return Description(
            alt=f"Learning curves of networks that read digits, with {_how_stale(delay)}, each at "
            f"its own learning rate. Updates until {percent(GOAL)} accuracy on new digits, "
            f"the median of {len(FRESH_SEEDS)} runs: {every}.{_methods(trace)}",
            summary=_slowed(trace),
            table=(("largest delay", counted(delay, "update")), *rows),
        )

    def columns(self, trace: Slowed) -> dict[str, np.ndarray]:
        names = (v.label.lower().replace(" ", "_").replace(".", "_") for v in VARIANTS)
        return {
            "updates": np.arange(POINTS_EVERY, UPDATES + 1, POINTS_EVERY),
            **dict(zip(names, trace.curves, strict=True)),
        }


def _slowed(trace: Slowed) -> str:
    """Say how much a delay slows the depths, as far as the runs tell them apart."""
    delay = STALENESS[trace.delay]
    if delay:
        return sentence(f"depth.slowdown.{delay}")
    needed = trace.needed[: len(DEPTHS)]
    return (
        f"With fresh gradients, {DEPTHS[0]} layer reaches {percent(GOAL)} in {number(needed[0])} "
        f"updates, {DEPTHS[-1]} layers in {number(needed[-1])}."
    )


def _how_stale(delay: int) -> str:
    return f"gradients 0 to {counted(delay, 'update')} stale" if delay else "fresh gradients"


def _methods(trace: Slowed) -> str:
    """Return the sentence on the methods, which there is only for delays."""
    delay = STALENESS[trace.delay]
    return f" {sentence(f'methods.slowdown.{delay}')}" if delay else ""


def _said(trace: Slowed, variant: int) -> str:
    """Updates to the goal of a variant, its slowdown and its rate."""
    rate = f"at rate {number(trace.rates[variant])}"
    if not np.isfinite(trace.needed[variant]):
        return f"not within {number(UPDATES)} {rate}"
    needed = f"{number(trace.needed[variant])} {rate}"
    if not trace.delay:
        return needed
    times = trace.slowdown[1, variant, trace.delay]
    return f"{needed}, on average {number(times, 2)} times as many as with fresh gradients"

"""Gradient descent on a bowl with one slider: the learning rate."""

from __future__ import annotations

import functools
from typing import Any, ClassVar, Literal

import numpy as np

from ..._base.numbers import counted, number
from ...live import Description, Drag, Items, Slider
from ...models.surfaces import bowl, walk
from ...rules import StochasticGradientDescent
from .._lab import Control, Lab, Target
from .._quantities import TraceQuantity, csv_columns, tooltip_values
from .picture import TOP, BowlCurves, Descended, DescentView

# Where every run begins; the steps shown; those in which all that falls is down.
START, STEPS, ENOUGH = -4.0, 12, 400
NEAR = 1e-3  # a loss below it has arrived
RATE = Slider("learning_rate", "Learning rate", 0.05, 2.5, 1.7, step=0.05, play=True)
_GROUND = bowl(1.0)  # walked along its first weight; the second one is 0 throughout

# The trace has one step more than can be done.
QUANTITIES = (
    TraceQuantity("step", lambda trace: np.arange(STEPS + 1)),
    TraceQuantity("weight", lambda trace: trace.weights[:-1], "weight"),
    TraceQuantity("loss", lambda trace: trace.loss[:-1], "loss"),
    TraceQuantity("gradient", lambda trace: trace.gradient[:-1], "gradient"),
)


def _one_step(trace: Descended) -> tuple[bool, str]:
    needed = _needed(trace.rate)
    now = "never falls" if needed is None else f"takes {counted(needed, 'step')} to fall"
    return needed == 1, f"Now, at rate {number(trace.rate)}, the loss {now} below {NEAR:g}"


def _largest(trace: Descended) -> tuple[bool, str]:
    falls, larger = _falls(trace.rate), RATE.at(RATE.position(trace.rate) + 1)
    now = "rises" if trace.loss[1] > trace.loss[0] else "falls" if falls else "stays the same"
    more = ", and at a larger one, too" if falls and _falls(larger) else ""
    return falls and not more, f"At rate {number(trace.rate)} it {now}{more}"


def descent(
    *,
    learning_rate: float = RATE.value,
    step: int = 2,
    target: Literal["one_step", "largest"] | None = None,
) -> DescentLab:
    """Move the learning rate, and see gradient descent creep, arrive, jump across the minimum, or fly off.

    At a glance: A small rate creeps, a good one rolls down, a large one jumps across, and beyond 2
    the ball flies off.

    The loss is a bowl over one weight, and the ball is that weight. The arrow is the next step: the
    learning rate times the gradient, against the gradient.

    Args:
        learning_rate: 0.05 to 2.5.
        step: how many steps are done, 0 to 12.
        target: a goal that is shown above the picture until it is reached.

    >>> descent().description.summary
    'At rate 1.7 every step jumps across the minimum and lands lower: loss 8 to 1.92 in 2 steps.'
    """
    return DescentLab(target, learning_rate=learning_rate, step=step)


class DescentLab(Lab):
    """Lab of `descent`: a loss over one weight, and steps downhill."""

    function = "descent"
    label = "A ball on a bowl"
    axis = "learning_rate"
    presets: ClassVar = {
        "Too small": {"learning_rate": 0.05, "step": 6},
        "About right": {"learning_rate": 0.5, "step": 3},
        "Jumps across": {"learning_rate": 1.7, "step": 2},
        "Diverges": {"learning_rate": 2.1, "step": 2},
    }
    targets: ClassVar = {
        "one_step": Target("reach the minimum in one step", _one_step),
        "largest": Target(
            "find the largest learning rate of the slider at which the loss still falls", _largest
        ),
    }

    def make_controls(self) -> list[Control]:
        return [RATE, Slider("step", "Steps done", 0, STEPS, 2, scale="integer")]

    def compute(self, values: dict[str, Any]) -> Descended:
        return Descended(
            values["learning_rate"], values["step"], *_walked(values["learning_rate"], STEPS + 1)
        )

    def make_view(self) -> DescentView:
        return DescentView(_bowl(), STEPS)

    def draw(self, view: DescentView, trace: Descended) -> None:
        view.draw(trace)

    def drags(self, view: DescentView) -> list[Drag]:
        return [Drag(view.strip, x="learning_rate", label="drag the learning rate")]

    def items(self, view: DescentView, trace: Descended) -> Items:
        steps = np.arange(STEPS + 1)
        weights, loss, gradient = (x[:-1] for x in trace[2:])
        places = {
            view.bowl: (weights, loss),
            view.loss: (steps, loss),
            view.gradient: (steps, np.abs(gradient)),
        }
        return Items("step", places, tooltip_values(QUANTITIES, trace))

    def describe(self, trace: Descended) -> Description:
        k, needed = trace.step, _needed(trace.rate)
        weight, loss, gradient = (float(x[k]) for x in trace[2:])
        reached = number(loss) if loss >= NEAR or not loss else f"below {NEAR:g}"
        after = f"loss {number(trace.loss[0])} to {reached} in {counted(k, 'step')}"
        if k == 0:
            after = f"loss {number(loss)} before the first step"
        how, rate = _how(trace), number(trace.rate)
        return Description(
            alt=f"Gradient descent on a bowl from weight {number(START)} at learning rate {rate}: "
            f"{how}, {after}. The ball is at weight {number(weight)}, where the gradient is "
            f"{number(gradient)}; the next step takes it to "
            f"{number(float(trace.weights[k + 1]))}.",
            summary=f"At rate {rate} {how}: {after}.",
            table=(
                ("learning rate", rate),
                ("steps done", f"{k} of {STEPS}"),
                ("weight", number(weight)),
                ("loss", number(loss)),
                ("gradient", number(gradient)),
                (
                    "next step: rate × gradient, against it",
                    number(float(trace.weights[k + 1] - trace.weights[k])),
                ),
                (
                    f"steps until the loss is below {NEAR:g}",
                    "never" if needed is None else str(needed),
                ),
            ),
        )

    def columns(self, trace: Descended) -> dict[str, np.ndarray]:
        return csv_columns(QUANTITIES, trace)


def _how(trace: Descended) -> str:
    """The effect of every step at this rate."""
    before, after = trace.loss[:2]
    if (zone := _zone(trace.rate)) == "flies":
        return "the ball flies off, each step higher"
    if zone == "jumps":
        return (
            "every step jumps across the minimum "
            f"{'and lands lower' if after < before else 'to the same loss'}"
        )
    if after < NEAR:
        return "the first step lands on the minimum"
    return (
        "the ball creeps toward the minimum"
        if zone == "creeps"
        else "the ball rolls to the minimum"
    )


def _walked(rate: float, steps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights, losses and gradients, (steps + 1,) each."""
    weights, _ = walk(_GROUND, StochasticGradientDescent(), (START, 0.0), np.full(steps, rate))
    with np.errstate(invalid="ignore"):
        return (
            weights[:, 0],
            np.asarray(_GROUND.above(weights)),
            np.asarray(_GROUND.gradient(weights))[:, 0],
        )


@functools.lru_cache(maxsize=256)
def _needed(rate: float) -> int | None:
    """Steps until the loss is below NEAR; None if it never is."""
    below = np.flatnonzero(_walked(rate, ENOUGH)[1] < NEAR)
    return int(below[0]) if below.size else None


def _falls(rate: float) -> bool:
    before, after = _walked(rate, 1)[1]
    return bool(after < before)


def _zone(rate: float) -> str:
    """The name of what the ball does at a rate."""
    weights, loss, _ = _walked(rate, 1)
    if loss[1] > loss[0]:
        return "flies"
    if weights[0] * weights[1] < 0:
        return "jumps"
    return "rolls" if (_needed(rate) or ENOUGH) <= STEPS else "creeps"


@functools.cache
def _bowl() -> BowlCurves:
    """The bowl as high as the picture, and the zones of the slider."""
    weights = np.linspace(-8, 8, 641)
    loss = np.asarray(_GROUND.above(np.stack([weights, np.zeros_like(weights)], axis=1)))
    seen, rates = loss <= TOP, RATE.values()
    names = [_zone(rate) for rate in rates]
    starts = [k for k, name in enumerate(names) if k == 0 or name != names[k - 1]]
    between = [(rates[k - 1] + rates[k]) / 2 for k in starts[1:]]  # no rate stands on an edge
    edges = [rates[0], *between, rates[-1]]
    zones = tuple((names[k], edges[zone], edges[zone + 1]) for zone, k in enumerate(starts))
    slowest = rates[0]
    reference = _walked(slowest, STEPS)[1]
    return BowlCurves(weights[seen], loss[seen], _GROUND.minima[0][0], zones, reference, slowest)

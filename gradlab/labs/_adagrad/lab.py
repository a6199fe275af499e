"""Adagrad beside gradient descent, step by step."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..._base.numbers import counted, number, times_as
from ...live import Description, Drag, Items, Menu, Slider
from ...models.logistic_regression import logistic_regression
from ...models.surfaces import Surface, bowl, walk
from ...rules import Adagrad, Rule, StochasticGradientDescent
from ...schedules import CosineDecay, ExponentialDecay, InverseTimeDecay, LearningRateSchedule
from .._lab import Control, Lab, Target
from .._quantities import TraceQuantity, csv_columns, tooltip_values
from .picture import FAR, REACH, AdagradView, EffectiveRates, Ground, Walk

STEPS = 60
NEAR = 1e-3  # above the bottom that counts as reached

SURFACES: dict[str, tuple[str, Callable[[float], Surface]]] = {
    "bowl": ("bowl", bowl),
    "tumors": ("logistic regression", logistic_regression),
}
WEIGHTS = {"bowl": ("flat", "steep"), "tumors": ("radius", "texture")}
PLACES = (
    ("outside", "outside root (PyTorch)"),
    ("inside", "inside root (Keras 3)"),
    ("none", "nowhere (TensorFlow 1)"),
)
SCHEDULES: dict[str, tuple[str, Callable[[float], LearningRateSchedule]]] = {
    "constant": ("constant", lambda rate: ExponentialDecay(rate, 1, 1.0)),
    "inverse": ("divided by 1 + 0.1 step", lambda rate: InverseTimeDecay(rate, 1, 0.1)),
    "exponential": ("halved every 10 steps", lambda rate: ExponentialDecay(rate, 10, 0.5)),
    "cosine": ("down to 0 along a cosine", lambda rate: CosineDecay(rate, STEPS)),
}
CLIPS = ((None, "not at all"), (10.0, "to norm 10"), (1.0, "to norm 1"), (0.1, "to norm 0.1"))
_RAVINE: dict[str, Any] = {
    "surface": "bowl",
    "condition": 40.0,
    "learning_rate": 0.6,
    "descent_rate": 0.045,
    "initial_accumulator": 0.1,
    "epsilon": 1e-7,
    "epsilon_place": "outside",
    "schedule": "constant",
    "clip": None,
    "start_1": -4.0,
    "start_2": 2.0,
}


class Descent(NamedTuple):
    """State of the figure after `step` steps, and its settings."""

    settings: dict[str, Any]
    step: int
    ground: Ground
    adagrad: Walk
    descent: Walk
    rates: EffectiveRates


QUANTITIES = (
    TraceQuantity("step", lambda trace: np.arange(STEPS + 1)),
    TraceQuantity("adagrad_above", lambda trace: trace.adagrad.above, "Adagrad above the bottom"),
    TraceQuantity("descent_above", lambda trace: trace.descent.above, "gradient descent above it"),
    TraceQuantity("adagrad_weight_1", lambda trace: trace.adagrad.weights[:, 0]),
    TraceQuantity("adagrad_weight_2", lambda trace: trace.adagrad.weights[:, 1]),
    TraceQuantity("descent_weight_1", lambda trace: trace.descent.weights[:, 0]),
    TraceQuantity("descent_weight_2", lambda trace: trace.descent.weights[:, 1]),
    TraceQuantity(
        "accumulator_1", lambda trace: trace.rates.accumulator[:, 0], "first accumulator"
    ),
    TraceQuantity(
        "accumulator_2", lambda trace: trace.rates.accumulator[:, 1], "second accumulator"
    ),
    TraceQuantity(
        "effective_rate_1", lambda trace: trace.rates.effective[:, 0], "first effective rate"
    ),
    TraceQuantity(
        "effective_rate_2", lambda trace: trace.rates.effective[:, 1], "second effective rate"
    ),
    TraceQuantity("descent_rate", lambda trace: trace.descent.rates),
)


def _reaches_bottom(trace: Descent) -> tuple[bool, str]:
    settings, near = trace.settings, np.flatnonzero(trace.adagrad.above < NEAR)
    as_asked = {
        "at another rate": settings["learning_rate"] <= 1,
        "on another loss": settings["surface"] == "bowl",
        "from another start": all(
            settings[name] == _RAVINE[name] for name in ("start_1", "start_2")
        ),
    }
    but = "".join(f", {words}" for words, kept in as_asked.items() if not kept)
    if near.size:
        return bool(near[0] <= 15 and not but), f"It takes {counted(int(near[0]), 'step')} now{but}"
    return False, f"After {STEPS} steps it is {number(trace.adagrad.above[-1])} above now{but}"


def _descent_wins(trace: Descent) -> tuple[bool, str]:
    descent, adagrad = trace.descent.above[-1], trace.adagrad.above[-1]
    now, rate = (
        f"{_height(descent)} against Adagrad's {_height(adagrad)} now",
        trace.settings["learning_rate"],
    )
    return bool(
        rate >= 0.5 and descent < adagrad / 5
    ), now if rate >= 0.5 else f"{now}, whose rate is {number(rate)}"


def _becomes_descent(trace: Descent) -> tuple[bool, str]:
    effective = trace.rates.effective[1:]
    apart = float((effective.max(axis=1) / effective.min(axis=1)).max())
    return apart <= 1.06, f"At most {number(apart)} times now"


def adagrad(
    *,
    step: int = 20,
    learning_rate: float = 0.6,
    descent_rate: float = 0.045,
    initial_accumulator: float = 0.1,
    surface: Literal["bowl", "tumors"] = "bowl",
    condition: float = 40.0,
    epsilon: float = 1e-7,
    clip: float | None = None,
    epsilon_place: Literal["outside", "inside", "none"] = "outside",
    schedule: Literal["constant", "inverse", "exponential", "cosine"] = "constant",
    start_1: float = -4.0,
    start_2: float = 2.0,
    target: Literal["bottom_15", "descent_wins", "become_descent"] | None = None,
) -> AdagradLab:
    """Walk Adagrad and gradient descent down a ravine step by step, and see what the accumulator makes of the rate.

    At a glance: Adagrad divides each weight's rate by the root of its own memory and walks
    straight; descent zigzags.

    The loss is a bowl or a real logistic regression (569 breast tumors, malignant or benign, by the
    radius and the texture of their nuclei). Both optimizers get the same loss, start, clip, and
    schedule.

    Args:
        step: how many steps are done, 0 to 60.
        learning_rate: of Adagrad, 0.01 to 100.
        descent_rate: the learning rate of gradient descent, 0.001 to 10.
        initial_accumulator: 0.0001 to 10000.
        surface: the loss, "bowl" or "tumors".
        condition: how much more the loss is curved along the second weight than along the first, 1
            to 100; on the real loss, at weights of 0.
        epsilon: 1e-08 to 10000.
        clip: None, 10.0, 1.0 or 0.1: the norm to which a gradient is clipped before the accumulator
            sees it.
        epsilon_place: where epsilon is added: "outside" the root (PyTorch), "inside" it (Keras 3),
            or "none" (TensorFlow 1).
        schedule: of both learning rates: "constant", "inverse" (divided by 1 + 0.1 step),
            "exponential" (halved every 10 steps), or "cosine" (down to 0).
        start_1: the first weight at the start, -5 to 5.
        start_2: the second weight at the start, -3 to 3.
        target: a goal that is shown above the picture until it is reached.

    >>> adagrad(step=1, initial_accumulator=1e-4, learning_rate=1.0).description.summary
    "Adagrad's first step moves the weights by 1 and 1, descent's by 0.18 and 3.6."
    """
    return AdagradLab(
        target,
        step=step,
        learning_rate=learning_rate,
        descent_rate=descent_rate,
        initial_accumulator=initial_accumulator,
        surface=surface,
        condition=condition,
        epsilon=epsilon,
        clip=clip,
        epsilon_place=epsilon_place,
        schedule=schedule,
        start_1=start_1,
        start_2=start_2,
    )


class AdagradLab(Lab):
    """Lab of `adagrad`: two optimizers on one loss."""

    function = "adagrad"
    label = "Adagrad beside gradient descent"
    axis = "step"
    presets: ClassVar = {
        "Ravine": {**_RAVINE, "step": 20},
        "First step has length lr": {
            **_RAVINE,
            "step": 1,
            "learning_rate": 1.0,
            "initial_accumulator": 1e-4,
        },
        "Epsilon takes over": {**_RAVINE, "step": 20, "learning_rate": 45.0, "epsilon": 1000.0},
        "Adagrad's rate too low": {
            **_RAVINE,
            "step": 60,
            "surface": "tumors",
            "condition": 20.0,
            "learning_rate": 0.6,
            "descent_rate": 0.7,
        },
        "Clipped before it counts": {**_RAVINE, "step": 20, "clip": 1.0},
    }
    targets: ClassVar = {
        "bottom_15": Target(
            "bring Adagrad, with a rate of at most 1, from (-4, 2) on the bowl to less than 0.001 "
            "above the bottom within 15 steps",
            _reaches_bottom,
        ),
        "descent_wins": Target(
            "make gradient descent end at less than a fifth of Adagrad's height, with Adagrad's "
            "rate at least 0.5",
            _descent_wins,
        ),
        "become_descent": Target(
            "make Adagrad behave like gradient descent: keep its effective rates within a factor "
            "of 1.06 in every step",
            _becomes_descent,
        ),
    }

    def make_controls(self) -> list[Control]:
        losses = [(name, words) for name, (words, _) in SURFACES.items()]
        start, choices = _RAVINE, {name: words for name, (words, _) in SCHEDULES.items()}
        return [
            Slider("step", "Step", 0, STEPS, 20, scale="integer", play=True),
            Slider(
                "learning_rate", "Adagrad's rate", 0.01, 100.0, start["learning_rate"], scale="log"
            ),
            Slider(
                "descent_rate", "Descent's rate", 0.001, 10.0, start["descent_rate"], scale="log"
            ),
            Slider(
                "initial_accumulator",
                "Memory at the start",
                1e-4,
                1e4,
                start["initial_accumulator"],
                scale="log",
            ),
            Menu("surface", "Loss", losses, start["surface"], folded=True),
            Slider(
                "condition", "Condition", 1.0, 100.0, start["condition"], scale="log", folded=True
            ),
            Slider(
                "epsilon", "Epsilon", 1e-8, 1e4, start["epsilon"], scale="log", step=20, folded=True
            ),
            Menu("clip", "Clip gradients", CLIPS, start["clip"], folded=True),
            Menu("epsilon_place", "Epsilon is added", PLACES, start["epsilon_place"], folded=True),
            Menu("schedule", "Schedule", list(choices.items()), start["schedule"], folded=True),
            Slider(
                "start_1",
                "Start of the first weight",
                -REACH[0],
                REACH[0],
                start["start_1"],
                step=0.1,
                hidden=True,
            ),
            Slider(
                "start_2",
                "Start of the second weight",
                -REACH[1],
                REACH[1],
                start["start_2"],
                step=0.1,
                hidden=True,
            ),
        ]

    def compute(self, values: dict[str, Any]) -> Descent:
        settings = {name: value for name, value in values.items() if name != "step"}
        ground = _ground(values["surface"], values["condition"])
        return Descent(settings, values["step"], ground, *_walks(**settings))

    def make_view(self) -> AdagradView:
        return AdagradView(STEPS)

    def draw(self, view: AdagradView, trace: Descent) -> None:
        view.draw(*trace[1:])

    def drags(self, view: AdagradView) -> list[Drag]:
        return [
            Drag(view.plane, x="start_1", y="start_2", label="drag the start"),
            Drag(
                view.accumulator,
                y="initial_accumulator",
                at=0,
                label="drag the initial accumulator",
            ),
            Drag(view.rate, y="descent_rate", at=1, label="drag gradient descent's rate"),
        ]

    def items(self, view: AdagradView, trace: Descent) -> Items:
        steps, rates = np.arange(STEPS + 1), trace.rates
        places = {
            view.plane: tuple(trace.adagrad.weights.T),
            view.loss: (steps, trace.adagrad.above),
            view.accumulator: (steps, rates.accumulator[:, 0]),
            view.rate: (steps, rates.effective[:, 0]),
        }
        return Items("step", places, tooltip_values(QUANTITIES, trace))

    def describe(self, trace: Descent) -> Description:
        k, settings, rates = trace.step, trace.settings, trace.rates
        heights = [_height(side.above[k]) for side in (trace.adagrad, trace.descent)]
        effective = " and ".join(map(number, rates.effective[k])) if k else "none yet"
        loss, condition = SURFACES[settings["surface"]][0], number(settings["condition"])
        race = f"Adagrad is {heights[0]} above the bottom, gradient descent {heights[1]}"
        places = [
            f"({number(w[0])}, {number(w[1])})"
            for w in (trace.adagrad.weights[k], trace.descent.weights[k])
        ]
        return Description(
            alt=f"After {k} of {STEPS} steps on a {loss} (condition {condition}) {race}; the "
            f"effective rates of Adagrad are {effective}, the rate of gradient descent is "
            f"{number(settings['descent_rate'])}.",
            summary=_message(trace),
            table=(
                ("loss", f"{loss}, condition {condition}"),
                ("step", f"{k} of {STEPS}"),
                ("Adagrad, above the bottom", heights[0]),
                ("gradient descent, above the bottom", heights[1]),
                ("Adagrad's weights", places[0]),
                ("gradient descent's weights", places[1]),
                ("accumulator", " and ".join(map(number, rates.accumulator[k]))),
                ("effective rates", effective),
                (
                    "learning rates",
                    f"Adagrad {number(settings['learning_rate'])}, gradient descent "
                    f"{number(settings['descent_rate'])}, {SCHEDULES[settings['schedule']][0]}",
                ),
                (
                    "epsilon",
                    f"{number(settings['epsilon'])}, {dict(PLACES)[settings['epsilon_place']]}",
                ),
                ("gradients clipped", dict(CLIPS)[settings["clip"]]),
            ),
        )

    def columns(self, trace: Descent) -> dict[str, np.ndarray]:
        return csv_columns(QUANTITIES, trace)


@lru_cache(64)
def _ground(surface: str, condition: float) -> Ground:
    # Closer where it is narrow.
    x, y = REACH[0] * np.linspace(-1, 1, 41), REACH[1] * np.linspace(-1, 1, 41) ** 3
    ground = SURFACES[surface][1](condition)
    above = np.asarray(ground.above(np.stack(np.meshgrid(x, y), axis=-1)))
    return Ground(x, y, above, ground.minima[0], WEIGHTS[surface])


@lru_cache(64)
def _walks(
    surface: str,
    condition: float,
    learning_rate: float,
    descent_rate: float,
    initial_accumulator: float,
    epsilon: float,
    epsilon_place: Any,
    schedule: str,
    clip: float | None,
    start_1: float,
    start_2: float,
) -> tuple[Walk, Walk, EffectiveRates]:
    """Adagrad's walk, gradient descent's, and what became of Adagrad's rate: the same for every
    step looked at.
    """
    rule, ground = (
        Adagrad(initial_accumulator, epsilon, epsilon_place),
        SURFACES[surface][1](condition),
    )

    def walked(rule: Rule, rate: float) -> tuple[Walk, list[np.ndarray]]:
        rates = SCHEDULES[schedule][1](rate)(np.arange(STEPS))
        weights, slots = walk(ground, rule, (start_1, start_2), rates, clip)
        above = np.asarray(ground.above(weights))
        return Walk(np.asarray(weights), above, np.insert(rates, 0, np.nan)), [
            *map(np.asarray, slots)
        ]

    side, (accumulator,) = walked(rule, learning_rate)
    with np.errstate(divide="ignore"):  # without an epsilon there is no ceiling
        effective, ceiling = (
            side.rates[:, None] / rule.root(sums) for sums in (accumulator, np.zeros(1, np.float32))
        )
    floor = rule.root(np.zeros(1, np.float32)).item() ** 2
    rates = EffectiveRates(accumulator, effective, floor or np.nan, ceiling[:, 0])
    return side, walked(StochasticGradientDescent(), descent_rate)[0], rates


def _message(trace: Descent) -> str:
    """Say how both walk, and which of them is higher, and how much."""
    k, walks = trace.step, (trace.adagrad, trace.descent)
    if k == 0:
        return f"Both start {_height(trace.adagrad.above[0])} above the bottom."
    if k == 1:
        one, other = (
            " and ".join(map(number, np.abs(np.diff(walk.weights[:2], axis=0)[0])))
            for walk in walks
        )
        return f"Adagrad's first step moves the weights by {one}, descent's by {other}."
    gaits = [_gait(walk, k) for walk in walks]
    said = (
        f"Adagrad {gaits[0][1]}, descent {gaits[1][1]}"
        if gaits[0] != gaits[1]
        else f"Both {gaits[0][0]}"
    )
    heights = [float(np.nan_to_num(walk.above[k], nan=np.inf)) for walk in walks]
    high = max(range(2), key=lambda side: heights[side])
    name, low = ("Adagrad", "descent")[high], min(heights)
    if not np.isfinite(heights[high]):
        above = f"less than {NEAR:g}" if low < NEAR else _height(low)
        left = f"{('descent', 'Adagrad')[high]} is {above} above the bottom"
        return (
            f"{said}; after {k} steps {left if np.isfinite(low) else 'neither has a finite loss'}."
        )
    if heights[high] < NEAR:
        return f"{said}; after {k} steps both are within {NEAR:g} of the bottom."
    ratio = heights[high] / max(low, 1e-12)
    comparison = times_as(ratio, "high")
    # "about as high" lacks what it is compared with; "3 times as high" doesn't.
    if comparison.startswith("about"):
        comparison += f" as {('descent', 'Adagrad')[high]}"
    return f"{said}; after {k} steps {name} is {comparison}."


def _gait(walk: Walk, step: int) -> tuple[str, str]:
    """Say how a path goes, of two and of one: most of a zigzag is steps that turn back."""
    path = walk.weights[: step + 1].astype(np.float64)
    if not np.isfinite(path).all() or np.abs(path).max() > FAR:
        return "fly off", "flies off"
    moves = np.diff(path, axis=0)
    lengths = np.hypot(*moves.T)
    if not lengths.any():
        return "stay where they are", "stays where it is"
    back = (moves[1:] * moves[:-1]).sum(axis=1) < 0
    if 2 * lengths[1:][back].sum() > lengths[1:].sum():
        return "zigzag", "zigzags"
    straight = np.hypot(*(path[-1] - path[0])) >= 0.95 * lengths.sum()
    return ("walk straight", "walks straight") if straight else ("walk a curve", "walks a curve")


def _height(above: float) -> str:
    return number(above) if np.isfinite(above) else "beyond every number"

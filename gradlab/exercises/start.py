"""Questions and predictions of the first notebook."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._base.numbers import number
from ..workers.problems import Reader as Model
from .prediction import Prediction
from .prediction_picture import Quantity
from .questions import Choice, Coded, norm_of
from .random_cases import random_arrays, random_quarters

sign = Choice(
    "The gradient of a weight is positive: which way does gradient descent move it?",
    a=(False, "The gradient points to where the loss grows. Where does descent want to go?"),
    b=(
        True,
        (
            "A positive gradient says that a larger weight makes a larger loss, so the weight "
            "goes down: w - lr * g."
        ),
    ),
    c=(
        False,
        (
            "The sign of the weight doesn't matter: w - lr * g is below w, whether w is positive "
            "or negative."
        ),
    ),
)

units = Choice(
    "The loss is multiplied by 10: what becomes of a step of plain gradient descent?",
    a=(
        False,
        (
            "Adagrad does that once its gradients are large beside its initial accumulator. What "
            "does descent divide by?"
        ),
    ),
    b=(
        True,
        (
            "The gradient of 10 * loss is 10 times as large, and the step is lr * g: scaling the "
            "loss scales the step."
        ),
    ),
    c=(False, "The gradient of 10 * loss is 10 times the gradient, whatever the weights are."),
)

Arrays = Sequence[np.ndarray]


def _case(lr: float, weights: list[Any], grads: list[Any]) -> dict[str, Any]:
    return {
        "weights": [np.array(w) for w in weights],
        "grads": [None if g is None else np.array(g) for g in grads],
        "lr": lr,
    }


def _each(
    move: Callable[[Any, Any], Any], none: Callable[[Any], Any] = lambda w: w
) -> Callable[..., list[Any]]:
    """A step from what happens to a weight with its `lr * g`, and to one without a gradient."""

    def step(weights: Arrays, grads: Sequence[Any], lr: float) -> list[Any]:
        return [
            none(w) if g is None else move(w, lr * g) for w, g in zip(weights, grads, strict=True)
        ]

    return step


def _in_place(weights: Arrays, grads: Sequence[Any], lr: float) -> Arrays:
    for w, g in zip(weights, grads, strict=True):
        if g is not None:
            w -= lr * g
    return weights


def _kept(weights: Arrays, grads: Sequence[Any], lr: float) -> list[np.ndarray]:
    return [w - lr * g for w, g in zip(weights, grads, strict=True) if g is not None]


def _draw_descent(rng: np.random.Generator) -> dict[str, Any]:
    weights = random_arrays(rng)
    grads: list[Any] = [random_quarters(rng, len(w)) for w in weights]
    grads[rng.integers(len(grads))] = None
    return {"weights": weights, "grads": grads, "lr": float(rng.choice([0.125, 0.5, 0.75]))}


descent = Coded(
    question="Write a step of gradient descent for a list of weights; a "
    "weight without a gradient stays.",
    cases=[
        _case(0.5, [[1.0, 2.0], [3.0]], [[4.0, -2.0], [1.0]]),
        _case(0.1, [[1.0, -1.0], [5.0], [0.0, 2.0]], [[10.0, 0.0], None, [-5.0, 5.0]]),
    ],
    right=_each(lambda w, move: w - move),
    mistakes=(
        (lambda weights, grads, lr: weights, "Nothing moved."),
        (
            _each(lambda w, move: w + move),
            "That climbs: the gradient points uphill, and the step goes against it.",
        ),
        (
            lambda weights, grads, lr: _each(lambda w, g: w - g)(weights, grads, 1.0),
            "What is the gradient multiplied by?",
        ),
        (_each(lambda w, move: -move), "That is the step alone. Add it to the weight."),
        (
            lambda weights, grads, lr: [w - lr * g for w, g in zip(weights, grads, strict=True)],
            "One of the gradients is None: that weight stays as it is.",
        ),
        (
            _kept,
            "The weight without a gradient is gone: one weight comes back for each that went in.",
        ),
        (
            _each(lambda w, move: w - move, none=lambda w: 0 * w),
            (
                "The weight without a gradient became 0. None means that the loss doesn't depend "
                "on it: it stays."
            ),
        ),
        (
            lambda weights, grads, lr: [
                w - lr * (g or 0) for w, g in zip(weights, grads, strict=True)
            ],
            "`g or 0` asks whether an array is true or false. Ask `g is None` instead.",
        ),
        (
            lambda weights, grads, lr: weights - lr * grads,
            "`weights` and `grads` are lists: take them in pairs, weight by weight.",
        ),
        (
            lambda weights, grads, lr: np.array(weights) - lr * np.array(grads),
            (
                "The weights have different shapes, so they don't fit in one "
                "array. Take them one by one."
            ),
        ),
        (_in_place, "Leave it as it is: return new arrays."),
    ),
    otherwise=lambda got, weights, grads, lr: (
        f"Each weight moves against its gradient, by {number(lr)} times it."
    ),
    done="It agrees with gradient descent on 2 cases, a weight without a gradient among them.",
    keeps=True,
    starter="""
def step(weights, grads, lr):
    return weights
""",
    solution="""
def step(weights, grads, lr):
    return [w if g is None else w - lr * g for w, g in zip(weights, grads)]
""",
    draw=_draw_descent,
)


def _draw_norm(rng: np.random.Generator) -> dict[str, Any]:
    return {"grads": random_arrays(rng)}


norm = Coded(
    question="Write the norm of a list of gradients together, as if they were one long vector.",
    cases=[
        {"grads": [np.array([3.0, 4.0]), np.array([-7.2, 9.6])]},
        {"grads": [np.array([[-2.0, 1.0], [2.0, 4.0]])]},
        {"grads": [np.array([0.0]), np.array([-6.0, 0.0]), np.array([8.0])]},
    ],
    right=norm_of,
    mistakes=(
        (
            lambda grads: sum(norm_of([g]) for g in grads),
            "That adds the norms. Add the squares of all entries.",
        ),
        (
            lambda grads: sum(norm_of([g]) for g in grads) / len(grads),
            "That is the mean of the norms. Add the squares of all entries, then take one root.",
        ),
        (
            lambda grads: np.sqrt(sum(norm_of([g]) for g in grads)),
            (
                "That takes the root twice: the norm of each gradient is one already. Add "
                "squares, then take the root."
            ),
        ),
        (
            lambda grads: abs(sum(g.sum() for g in grads)),
            (
                "That adds the entries before it squares them, so that signs cancel. Square each "
                "entry first."
            ),
        ),
        (
            lambda grads: norm_of(grads) ** 2,
            "That is the sum of the squares. The norm is the root of it.",
        ),
        (
            lambda grads: sum(np.abs(g).sum() for g in grads),
            "That adds absolute values. The norm adds squares.",
        ),
        (
            lambda grads: max(norm_of([g]) for g in grads),
            "That is the largest of the norms. The others count as well.",
        ),
        (
            lambda grads: max(np.abs(g).max() for g in grads),
            "That is the largest entry. All entries count.",
        ),
        (
            lambda grads: norm_of(grads) / np.sqrt(sum(g.size for g in grads)),
            (
                "That is the root of the mean square. A norm adds the "
                "squares up and divides by nothing."
            ),
        ),
        (
            lambda grads: np.sqrt(sum(g * g for g in grads)),
            (
                "That adds entry by entry and gives several numbers. Add up the entries of each "
                "gradient, too."
            ),
        ),
        (
            lambda grads: [norm_of([g]) for g in grads],
            "That is a norm for each. One number belongs to all of them.",
        ),
        (
            lambda grads: 0.0,
            (
                "Begin with one gradient of two entries, the sides of a "
                "right triangle: how long is it?"
            ),
        ),
        (
            lambda grads: np.linalg.norm(grads),
            (
                "The gradients have different shapes, so they don't fit in one "
                "array. Take them one by one."
            ),
        ),
    ),
    otherwise=lambda got, grads: (
        "Try one gradient of two entries, the sides of a right triangle. How do further "
        "entries count, and arrays?"
    ),
    done="It agrees on 3 cases. This one number is what "
    "gl.clip_by_global_norm compares with its limit.",
    starter="""
def norm(grads):
    return 0.0
""",
    solution="""
def norm(grads):
    return np.sqrt(sum((g * g).sum() for g in grads))
""",
    draw=_draw_norm,
)


class Reader(Prediction):
    """Prediction: the accuracy on new lines after a number of steps."""

    name, label = "start.reader", "Predict how fast the reader learns"
    question = "What is the reader's accuracy on lines that it was not trained on?"
    discuss = (
        "Which words tell a topic after one step, and which only after 256? "
        "Why do rare words come late?"
    )
    x = Quantity("step", "", 1.0, 256.0, "log", ticks=(1, 4, 16, 64, 256))
    y, step = (
        Quantity("lines with the right topic", "%", 0.0, 100.0, ticks=(0, 25, 50, 75, 100)),
        1.0,
    )
    at = (1.0, 4.0, 16.0, 64.0, 256.0)

    def truth(self, x: np.ndarray) -> np.ndarray:
        model, rng = Model(), np.random.default_rng(0)  # as in the notebook's loop
        weights, right = model.start(), []
        for _ in range(int(max(self.at))):
            gradient = model.gradient(weights, rng)
            weights = {name: w - gradient[name] for name, w in weights.items()}
            right.append(100 * model.accuracy(weights))
        return np.asarray(np.interp(x, np.arange(1, len(right) + 1), right))

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if guess[-1] < guess[0]:
            return "It learns, so the curve rises."
        if guess[0] < 13:
            return (
                "A random guess gets one line in eight, and always naming the largest topic gets "
                "one in four."
            )
        if guess[-1] > 85:
            return "Four lines in ten are still wrong after 256 steps."
        if guess[2] > 60:
            return "Not that soon: after 16 steps the reader hasn't met 360 of its 867 words yet."
        return (
            "It stalls between 4 and 16 steps, then climbs. By step 16 the reader has met 507 of "
            "its 867 words."
        )

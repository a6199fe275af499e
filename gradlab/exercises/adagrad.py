"""Questions and predictions of the Adagrad notebook."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._base.slices import IndexedSlices
from ..rules import Adagrad
from ..rules.dense_and_sparse import each, rows
from .pictures import bars, cells
from .prediction import Prediction
from .prediction_picture import Quantity
from .questions import Choice, Coded
from .random_cases import as_float32, random_quarters

_RULE = replace(Adagrad(), epsilon=0.0, epsilon_place="none")  # without epsilon, as in TensorFlow 1

first_step = Choice(
    "How far does the first step go for a gradient of 100, beside one of 1?",
    a=(
        False,
        (
            "Gradient descent does that. Here the gradient is divided by "
            "something computed from itself."
        ),
    ),
    b=(
        True,
        "g / sqrt(0.1 + g * g) is 0.953 for 1 and 0.999995 for 100: both steps are about as long "
        "as the learning rate. That holds for gradients well above 0.3, the root of the initial "
        "accumulator: a gradient of 0.01 moves its weight by 3.2% of the rate.",
    ),
    c=(False, "It would be if the accumulator were not under a root. sqrt(g * g) is ..."),
)

zero_epsilon = Choice(
    "What does Keras, up to TensorFlow 2.10, make of epsilon=0?",
    a=(
        False,
        "Keras from 2.11 on keeps it, as others do. Here it passes through `epsilon or default`.",
    ),
    b=(True, "0 is falsy, so it becomes the default, 1e-7. gl.keras does the same, and says so."),
    c=(False, "It is accepted without a word. So what is it replaced by?"),
)

stopped = Choice(
    "What becomes of a weight whose gradient was 1e20 once?",
    a=(False, "The step would be lr * 1e20 / sqrt(inf). What is the square of 1e20 in float32?"),
    b=(
        False,
        "A NaN gradient does that. Here the gradient is finite, and inf / inf never happens.",
    ),
    c=(
        True,
        "The square overflows, the accumulator is inf, and every later step is divided by inf.",
    ),
)


def _f32(*values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def _case(w: Any, accumulator: Any, g: Any) -> dict[str, Any]:
    return {"w": _f32(*w), "accumulator": _f32(*accumulator), "g": _f32(*g), "lr": 0.5}


def _right_step(
    w: np.ndarray, accumulator: np.ndarray, g: np.ndarray, lr: float
) -> list[np.ndarray]:
    new, (total,) = _RULE(w, (accumulator,), g, lr)
    return [np.asarray(new), np.asarray(total)]


_ORDER = "That divides by the accumulator of the step before. The new square is added first."


def _draw_step(rng: np.random.Generator) -> dict[str, Any]:
    w, g = as_float32([random_quarters(rng, 3), random_quarters(rng, 3)])
    return {"w": w, "accumulator": rng.uniform(0.5, 4.0, 3).astype(np.float32), "g": g, "lr": 0.25}


step = Coded(
    question="Write a step of Adagrad without epsilon: the new weights and the new accumulator.",
    cases=[
        _case([1.0, 1.0], [0.0, 0.0], [3.0, -4.0]),
        _case([1.0, -2.0], [9.0, 0.75], [4.0, 0.5]),
        _case([0.0, 5.0], [4.0, 1.0], [0.0, 0.0]),
    ],
    right=_right_step,
    mistakes=(
        (
            lambda w, a, g, lr: [w, a],
            "Nothing moved. Add the square to the accumulator, then step.",
        ),
        (
            lambda w, a, g, lr: [w - lr * g, a + g * g],
            "That is gradient descent. What is the step divided by?",
        ),
        (lambda w, a, g, lr: [w - lr * g / np.sqrt(a), a + g * g], _ORDER),
        (lambda w, a, g, lr: [w - lr * g / (a + g * g), a + g * g], "The root is missing."),
        (
            lambda w, a, g, lr: [w + lr * g / np.sqrt(a + g * g), a + g * g],
            "That climbs: the step goes against g.",
        ),
        (
            lambda w, a, g, lr: [w - lr * g / np.sqrt(a + (g * g).sum()), a + (g * g).sum()],
            "That keeps one sum for all weights. Every weight has an accumulator of its own.",
        ),
        (
            lambda w, a, g, lr: [w - lr * g / np.sqrt(a + np.abs(g)), a + np.abs(g)],
            "That adds the absolute value of the gradient. Add its square.",
        ),
        (
            lambda w, a, g, lr: [w - lr * g / np.sqrt(a + g), a + g],
            "That adds the gradient itself, so that signs cancel. Add its square.",
        ),
        (
            lambda w, a, g, lr: [w - lr * g / np.sqrt(a + (lr * g) ** 2), a + (lr * g) ** 2],
            (
                "That squares lr * g. The accumulator adds squares of the gradient; lr only "
                "multiplies the step."
            ),
        ),
        (
            lambda w, a, g, lr: [
                w - lr * g / np.sqrt(0.9 * a + 0.1 * g * g),
                0.9 * a + 0.1 * g * g,
            ],
            "That forgets old squares, as RMSProp does. Adagrad's accumulator adds them all up.",
        ),
        (
            lambda w, a, g, lr: [w - lr * g / np.sqrt(a + g * g + 0.1), a + g * g + 0.1],
            "The initial value is in `accumulator` already. Add the square and nothing else.",
        ),
        (
            lambda w, a, g, lr: [w - lr * g / np.sqrt(g * g), g * g],
            "That replaces the accumulator. Add the square to what is there.",
        ),
        (
            lambda w, a, g, lr: [w - lr * g / np.sqrt(a + g * g), a],
            "The step is right, but the accumulator isn't updated.",
        ),
        (
            lambda w, a, g, lr: _right_step(w, a, g, lr)[::-1],
            "The weights come first, then the accumulator.",
        ),
    ),
    otherwise=lambda got, w, accumulator, g, lr: (
        f"The new accumulator is {(accumulator + g * g).tolist()}; divide lr * g by the root of it."
    ),
    done="It agrees with the rule on 3 cases, a gradient of zero among them.",
    show=bars("w", "accumulator"),
    starter="""
def adagrad_step(w, accumulator, g, lr):
    return [w, accumulator]
""",
    solution="""
def adagrad_step(w, accumulator, g, lr):
    accumulator = accumulator + g * g
    return [w - lr * g / np.sqrt(accumulator), accumulator]
""",
    draw=_draw_step,
)


def _table(indices: list[int], values: list[float]) -> dict[str, Any]:
    return {
        "w": _f32(1.0, 2.0, 3.0), "accumulator": _f32(1.0, 1.0, 1.0),
        "indices": np.array(indices), "values": _f32(*values), "lr": 1.0,
    }  # fmt: skip


def _sparse(
    way: Any,
    w: np.ndarray,
    accumulator: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    lr: float,
) -> Any:
    slices = IndexedSlices(values[:, None], indices, (len(w), 1))
    new, (total,) = way(_RULE, w[:, None], (accumulator[:, None],), slices, lr)
    return [new[:, 0], total[:, 0]]


def _last_wins(w: Any, accumulator: Any, indices: Any, values: Any, lr: float) -> list[np.ndarray]:
    total = accumulator.copy()
    total[indices] += values * values
    new = w.copy()
    new[indices] -= lr * values / np.sqrt(total[indices])
    return [np.asarray(new), np.asarray(total)]


def _squares_apart(
    w: Any, accumulator: Any, indices: Any, values: Any, lr: float
) -> list[np.ndarray]:
    total, new = accumulator.copy(), w.copy()
    np.add.at(total, indices, values * values)
    np.subtract.at(new, indices, lr * values / np.sqrt(total[indices]))
    return [np.asarray(new), np.asarray(total)]


def _joined(join: Any) -> Any:
    """TensorFlow's step with one value for each row that is named, which `join` makes of all of
    that row.
    """

    def step(w: Any, accumulator: Any, indices: Any, values: Any, lr: float) -> Any:
        rows_named = np.unique(indices)
        return _sparse(
            rows,
            w,
            accumulator,
            rows_named,
            np.array([join(values[indices == i]) for i in rows_named]),
            lr,
        )

    return step


def _dense(w: Any, accumulator: Any, indices: Any, values: Any, lr: float) -> list[np.ndarray]:
    g = np.zeros_like(w)
    np.add.at(g, indices, values)
    return [w - lr * g, accumulator + g * g]


def _draw_sparse(rng: np.random.Generator) -> dict[str, Any]:
    count = int(rng.integers(3, 7))
    w, values = as_float32([random_quarters(rng, 4), random_quarters(rng, count) + 1 / 8])
    accumulator = rng.uniform(0.5, 4.0, 4).astype(np.float32)
    return {
        "w": w,
        "accumulator": accumulator,
        "indices": rng.integers(0, 4, count),
        "values": values,
        "lr": 0.5,
    }


sparse = Coded(
    question="Write TensorFlow's sparse Adagrad step for a table of one column, "
    "of which some rows are named.",
    cases=[
        _table([2, 0], [2.0, -1.0]),
        _table([1, 1], [3.0, 4.0]),
        _table([0, 2, 0, 0], [1.0, 5.0, -3.0, 2.0]),
    ],
    right=lambda *case: _sparse(rows, *case),
    mistakes=(
        (lambda w, a, i, v, lr: [w, a], "Nothing moved. Only the rows in `indices` do."),
        (_dense, "That is gradient descent. Divide by the root of the new accumulator."),
        (
            lambda *case: [_dense(*case)[0], case[1]],
            "That is gradient descent. Where is the accumulator?",
        ),
        (lambda *case: _sparse(rows, *case)[::-1], "The weights come first, then the accumulator."),
        (
            _last_wins,
            (
                "A row that is named twice got only its last value: w[indices] -= ... writes it "
                "once. np.add.at adds all."
            ),
        ),
        (
            _joined(np.mean),
            "That averages the values of a row that is named twice. TensorFlow adds them.",
        ),
        (
            _joined(lambda values: values[0]),
            "A row that is named twice got only its first value. Add all of them.",
        ),
        (
            _squares_apart,
            (
                "That adds the squares of the parts, as Keras 3 does. TensorFlow sums a row's "
                "values and squares the sum."
            ),
        ),
        (
            lambda *case: _sparse(each, *case),
            (
                "That applies one value after the other. TensorFlow sums a row's values first, "
                "and steps once."
            ),
        ),
    ),
    otherwise=lambda got, w, accumulator, indices, values, lr: (
        "Sum the values of each row first. Then step the rows that are named; the others stay "
        "as they are."
    ),
    done="It agrees with TensorFlow on 3 cases. Values of one row that cancel leave it alone, "
    "accumulator and all.",
    show=cells("w", "accumulator"),
    starter="""
def sparse_step(w, accumulator, indices, values, lr):
    return [w, accumulator]
""",
    solution="""
def sparse_step(w, accumulator, indices, values, lr):
    for row in np.unique(indices):
        g = values[indices == row].sum()
        accumulator[row] += g * g
        w[row] -= lr * g / np.sqrt(accumulator[row])
    return [w, accumulator]
""",
    draw=_draw_sparse,
)


class Rate(Prediction):
    """Prediction: the effective learning rate after many steps of one gradient."""

    name, label = "adagrad.rate", "Predict the effective rate"
    question = "The gradient is 1 on every step. How large is Adagrad's step?"
    discuss = (
        "The steps add up without a bound. Why does that matter, and when is it still too slow?"
    )
    x = Quantity("step", "", 1.0, 1000.0, "log")
    y, step = (
        Quantity("step length over learning rate", "%", 0.0, 100.0, ticks=(0, 25, 50, 75, 100)),
        1.0,
    )
    at = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)

    def truth(self, x: np.ndarray) -> np.ndarray:
        w: Any = np.zeros(1)
        rule = Adagrad()
        slots, lengths = rule.init(w), []
        for _ in range(int(x.max())):
            before = w
            w, slots = rule(w, slots, np.ones(1), 1.0)
            lengths.append(100 * float((before - w)[0]))
        return np.asarray(np.interp(x, np.arange(1, len(lengths) + 1), lengths))

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if guess[-1] > guess[0]:
            return "The accumulator only grows, so the step only shrinks: the curve falls."
        if np.ptp(guess) < 20:
            return (
                "It does not stay: after k steps the accumulator is about k, and the step is "
                "divided by its root."
            )
        if guess[2] < 10:
            return (
                "Not that fast. After k steps the accumulator is about k, but the step is divided "
                "by the root of it."
            )
        if guess[-1] > 15:
            return (
                "It falls further: one over the root of 1000 is 3%. Adagrad slows down, but its "
                "steps still add up."
            )
        return (
            "One over the root of the number of steps: never zero, and the "
            "sum of all steps has no bound."
        )


class Ratio(Prediction):
    """Prediction: the step of a weight with a gradient in one step of a hundred, relative to others."""

    name, label = "adagrad.rare", "Predict the rate of a rare feature"
    question = "A feature is 100 times rarer. How many times larger is its rate?"
    discuss = (
        "Which of the two weights has moved further in total, and is that "
        "what you want of a rare word?"
    )
    y, step = Quantity("how many times larger", "times", 1.0, 1000.0, "log"), None

    def truth(self, x: np.ndarray) -> float:
        rule, often_and_once = (
            Adagrad(),
            np.array([[1.0, float(k % 100 == 0)] for k in range(10_000)]),
        )
        w: Any = np.zeros(2)
        slots = rule.init(w)
        for g in often_and_once:
            w, slots = rule(w, slots, g, 1.0)
        often, once = rule.root(slots[0])
        return float(often / once)

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if guess[0] < 2:
            return "Each weight has its own accumulator, and that of a rare feature has grown less."
        if guess[0] > 50:
            return (
                "Its accumulator is 100 times smaller, but what divides the step is the root of it."
            )
        return (
            "The root of 100. It takes a hundredth of the steps, each 10 times as long, "
            "so in total it moves about a tenth as far."
        )

"""Questions and predictions of the notebook on TPU embeddings."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..models.datasets import python_docs
from .pictures import cells, over
from .prediction import Prediction
from .prediction_picture import Quantity
from .questions import Choice, Coded
from .random_cases import random_quarters

twice = Choice(
    "A sample names row 7 twice and row 3 once, combiner mean: what is the share of row 7?",
    a=(
        False,
        "That is the mean of the distinct rows. Is what is fetched once also counted once?",
    ),
    b=(
        True,
        "Three lookups of weight 1/3, two of them row 7. It is fetched once and counted twice.",
    ),
    c=(False, "Row 3 is in the sample as well."),
)

zero = Choice(
    "Two samples send a row opposite gradients, the rule has momentum: what happens to the row?",
    a=(False, "The sum is 0, but the row is named. Which rows does the rule run for?"),
    b=(
        True,
        "A row that is named is touched, with a sum of 0 too: the rule runs, and its momentum "
        "moves it. A row that isn't looked up keeps its momentum and doesn't move.",
    ),
    c=(False, "They are summed before the rule runs, and it runs once."),
)

ftrl = Choice(
    "A row starts at 0.5, the optimizer is FTRL, its first gradient is 0: what is the weight?",
    a=(
        False,
        (
            "A gradient of 0 leaves it alone with SGD. FTRL computes the weight from its slots, "
            "which start without it."
        ),
    ),
    b=(
        True,
        "While its linear slot is 0, FTRL keeps the share 1 - sqrt(a0 / a1) of a weight, where "
        "the accumulator is a0 before the step and a1 after it. A gradient of 0 doesn't change "
        "the accumulator, so the share is 0. A gradient of 1 would keep 70%.",
    ),
    c=(False, "The accumulator starts at 0.1, so nothing is divided by 0."),
)


def _pooled_case(samples: list[int], ids: list[int], count: int) -> dict[str, Any]:
    table = np.array([[1.0, 10.0], [2.0, -4.0], [7.0, 0.0]])
    return {
        "table": table,
        "samples": np.array(samples, int),
        "ids": np.array(ids, int),
        "count": count,
    }


def _sums(table: np.ndarray, samples: np.ndarray, ids: np.ndarray, count: int) -> np.ndarray:
    total = np.zeros((count, table.shape[1]))
    np.add.at(total, samples, table[ids])
    return total


def _lookups(samples: np.ndarray, count: int) -> np.ndarray:
    return np.bincount(samples, minlength=count)[:, None]


def _pooled(table: np.ndarray, samples: np.ndarray, ids: np.ndarray, count: int) -> np.ndarray:
    return np.asarray(_sums(table, samples, ids, count) / np.maximum(_lookups(samples, count), 1))


def _pooled_last(table: np.ndarray, samples: np.ndarray, ids: np.ndarray, count: int) -> np.ndarray:
    total = np.zeros((count, table.shape[1]))
    total[samples] += table[ids]
    return np.asarray(total / np.maximum(_lookups(samples, count), 1))


def _pooled_distinct(
    table: np.ndarray, samples: np.ndarray, ids: np.ndarray, count: int
) -> np.ndarray:
    pairs = np.unique(np.stack([samples, ids], axis=1), axis=0)
    return _pooled(table, pairs[:, 0], pairs[:, 1], count)


def _draw_pooled(rng: np.random.Generator) -> dict[str, Any]:
    lookups = int(rng.integers(1, 7))
    samples = np.sort(rng.integers(0, 4, lookups))
    return {
        "table": random_quarters(rng, 5, 2),
        "samples": samples,
        "ids": rng.integers(0, 5, lookups),
        "count": 4,
    }


pooled = Coded(
    question="Write the combiner mean: for every sample the mean of the rows that it names.",
    cases=[
        _pooled_case([0, 0, 1], [2, 0, 1], 2),
        _pooled_case([0, 0, 0], [1, 1, 0], 1),
        _pooled_case([1, 1], [2, 2], 3),
    ],
    right=_pooled,
    mistakes=(
        (_sums, "Those are the sums. What is each divided by?"),
        (
            lambda table, samples, ids, count: table[ids],
            "Those are the rows, one for each lookup. Which of them belong to one sample?",
        ),
        (_pooled_distinct, "A row that a sample names twice counts twice."),
        (
            _pooled_last,
            (
                "A sample got only its last row: total[samples] += ... writes "
                "it once. np.add.at adds all."
            ),
        ),
        (
            lambda table, samples, ids, count: (
                _sums(table, samples, ids, count) / np.bincount(samples, minlength=count).max()
            ),
            (
                "That divides by the lookups of the longest sample, as a mean over padding does. "
                "Each sample has its own."
            ),
        ),
        (
            lambda table, samples, ids, count: (
                _sums(table, samples, ids, count) / np.sqrt(np.maximum(_lookups(samples, count), 1))
            ),
            "That is the combiner sqrtn. A mean divides by the number of lookups, not by its root.",
        ),
        (
            lambda table, samples, ids, count: (
                _sums(table, samples, ids, count) / _lookups(samples, count)
            ),
            "A sample without ids divides 0 by 0. What should the model get for it?",
        ),
        (
            lambda table, samples, ids, count: _sums(table, samples, ids, count) / max(len(ids), 1),
            "That divides by the lookups of the whole batch. How many has each sample?",
        ),
    ),
    otherwise=lambda got, table, samples, ids, count: (
        "For every sample: the sum of the rows it names, divided by how many it names; 0 "
        "where it names none."
    ),
    done="It agrees on 3 cases, with a row named twice and with samples that name none.",
    show=cells(),
    starter="""
def pooled(table, samples, ids, count):
    return np.zeros((count, table.shape[1]))
""",
    solution="""
def pooled(table, samples, ids, count):
    total = np.zeros((count, table.shape[1]))
    np.add.at(total, samples, table[ids])
    lookups = np.bincount(samples, minlength=count)
    return total / np.maximum(lookups, 1)[:, None]
""",
    draw=_draw_pooled,
)


def _gradient_case(
    samples: list[int], ids: list[int], gradients: list[float], rows: int
) -> dict[str, Any]:
    return {
        "samples": np.array(samples, int),
        "ids": np.array(ids, int),
        "gradients": np.array(gradients),
        "rows": rows,
    }


def _spread(gain: Callable[[np.ndarray], np.ndarray]) -> Callable[..., np.ndarray]:
    """The gradient of each row, from a formula for the gain of each lookup."""

    def gradient(
        samples: np.ndarray, ids: np.ndarray, gradients: np.ndarray, rows: int
    ) -> np.ndarray:
        found = np.zeros(rows)
        np.add.at(found, ids, gain(samples) * gradients[samples])
        return found

    return gradient


def _mean_gains(samples: np.ndarray) -> np.ndarray:
    return np.asarray(1 / np.bincount(samples)[samples])


def _last(samples: np.ndarray, ids: np.ndarray, gradients: np.ndarray, rows: int) -> np.ndarray:
    found = np.zeros(rows)
    found[ids] = _mean_gains(samples) * gradients[samples]
    return found


def _once(samples: np.ndarray, ids: np.ndarray, gradients: np.ndarray, rows: int) -> np.ndarray:
    pairs = np.unique(np.stack([samples, ids], axis=1), axis=0)
    return _spread(_mean_gains)(pairs[:, 0], pairs[:, 1], gradients, rows)


def _per_mention(
    samples: np.ndarray, ids: np.ndarray, gradients: np.ndarray, rows: int
) -> np.ndarray:
    total = _spread(_mean_gains)(samples, ids, gradients, rows)
    return total / np.maximum(np.bincount(ids, minlength=rows), 1)


def _draw_row_gradient(rng: np.random.Generator) -> dict[str, Any]:
    lookups = int(rng.integers(2, 8))
    samples, ids = np.sort(rng.integers(0, 4, lookups)), rng.integers(0, 5, lookups)
    return {"samples": samples, "ids": ids, "gradients": random_quarters(rng, 4), "rows": 5}


row_gradient = Coded(
    question="Write the gradient of each row of a table, for the combiner mean.",
    cases=[
        _gradient_case([0, 0, 1], [2, 0, 1], [6.0, -1.0], 3),
        _gradient_case([0, 0, 0, 1], [1, 1, 3, 1], [3.0, 8.0], 4),
        _gradient_case([0, 2], [2, 2], [1.0, 50.0, 4.0], 3),
    ],
    right=_spread(_mean_gains),
    mistakes=(
        (
            _spread(lambda samples: np.ones(len(samples))),
            "By how much was each row multiplied on the way there?",
        ),
        (
            _spread(lambda samples: np.bincount(samples)[samples]),
            "That multiplies by the lookups of a sample. A mean divides by them.",
        ),
        (
            lambda samples, ids, gradients, rows: _spread(np.ones_like)(
                samples, ids, gradients / len(gradients), rows
            ),
            (
                "That divides by the samples of the batch. The mean of a sample divides by its "
                "own lookups."
            ),
        ),
        (
            lambda samples, ids, gradients, rows: _spread(_mean_gains)(
                samples, ids, gradients * len(gradients), rows
            ),
            (
                "That multiplies by the samples of the batch. Each sample's gradient is what the "
                "loss makes it."
            ),
        ),
        (_once, "A row that a sample names twice gets that sample's gradient twice."),
        (_last, "A row that comes again is overwritten. Add it: NumPy has np.add.at."),
        (_per_mention, "What a row gets is summed, not averaged: a popular row gets more."),
        (lambda samples, ids, gradients, rows: np.zeros(rows), "Nothing is added."),
    ),
    otherwise=lambda got, samples, ids, gradients, rows: (
        "For every lookup: the gradient of its sample, divided by how many lookups the sample "
        "has, added to its row."
    ),
    done="It agrees with the derivative of the mean on 3 cases, a row in two samples among them.",
    show=cells(),
    starter="""
def row_gradient(samples, ids, gradients, rows):
    found = np.zeros(rows)
    found[ids] = gradients[samples]
    return found
""",
    solution="""
def row_gradient(samples, ids, gradients, rows):
    found = np.zeros(rows)
    lookups = np.bincount(samples)
    np.add.at(found, ids, gradients[samples] / lookups[samples])
    return found
""",
    draw=_draw_row_gradient,
)


def _rate_case(lr: float, beta1: float, beta2: float, step: int) -> dict[str, Any]:
    return {"lr": lr, "beta1": beta1, "beta2": beta2, "step": step}


def _corrected(lr: float, beta1: float, beta2: float, step: int) -> float:
    return lr * float(np.sqrt(1 - beta2**step) / (1 - beta1**step))


def _draw_rate(rng: np.random.Generator) -> dict[str, Any]:
    beta1, beta2 = float(rng.uniform(0.5, 0.95)), float(rng.uniform(0.9, 0.999))
    return {
        "lr": float(rng.uniform(0.001, 1.0)),
        "beta1": beta1,
        "beta2": beta2,
        "step": int(rng.integers(1, 200)),
    }


rate = Coded(
    question="Write the learning rate that makes up for the bias correction that the engine's Adam "
    "does not have.",
    cases=[
        _rate_case(0.001, 0.9, 0.999, 1),
        _rate_case(0.5, 0.8, 0.99, 7),
        _rate_case(0.1, 0.0, 0.5, 2),
    ],
    right=_corrected,
    mistakes=(
        (lambda lr, beta1, beta2, step: lr, "That leaves the correction out, as the engine does."),
        (
            lambda lr, beta1, beta2, step: lr * (1 - beta2**step) / (1 - beta1**step),
            (
                "The step is divided by the root of the mean square, so its correction is under a "
                "root as well."
            ),
        ),
        (
            lambda lr, beta1, beta2, step: lr * (1 - beta1**step) / np.sqrt(1 - beta2**step),
            "The other way round: the mean starts too small, and the rate has to make up for it.",
        ),
        (
            lambda lr, beta1, beta2, step: lr / (1 - beta1**step),
            "That corrects the mean alone. The mean square starts too small as well.",
        ),
        (
            lambda lr, beta1, beta2, step: lr * np.sqrt(1 - beta2**step),
            "That corrects the mean square alone. The mean starts too small as well.",
        ),
        (
            lambda lr, beta1, beta2, step: _corrected(lr, beta1, beta2, step + 1),
            "The first step is step 1: raise the betas to `step` itself.",
        ),
        (
            lambda lr, beta1, beta2, step: _corrected(lr, beta1, beta2, step - 1),
            "`step` counts from 1, and 1 - beta**0 would be 0: raise the betas to `step` itself.",
        ),
        (
            lambda lr, beta1, beta2, step: lr * np.sqrt(1 - beta2) / (1 - beta1),
            "That is right for the first step. What are the betas raised to?",
        ),
    ),
    otherwise=lambda got, lr, beta1, beta2, step: (
        "Adam divides the mean by 1 - beta1**step and the mean square by 1 - beta2**step; put "
        "both into the rate."
    ),
    done="It agrees on 3 cases: this rate, sent as a tag, gives Adam its bias correction back.",
    show=over("step", range(1, 21), _corrected, "learning rate"),
    starter="""
def rate(lr, beta1, beta2, step):
    return lr
""",
    solution="""
def rate(lr, beta1, beta2, step):
    return lr * np.sqrt(1 - beta2**step) / (1 - beta1**step)
""",
    draw=_draw_rate,
)


class Distinct(Prediction):
    """Prediction: the number of distinct ids in a batch."""

    name, label = "tpu_embeddings.distinct", "Predict the distinct ids"
    question = "Of the first n words of a text, how many are different?"
    discuss = "How much memory traffic does this save, and what does a larger batch change?"
    x = Quantity("words in the batch", "", 10.0, 50_000.0, "log")
    y, step = Quantity("different words", "%", 0.0, 100.0, ticks=(0, 25, 50, 75, 100)), 1.0
    at = (10.0, 100.0, 1000.0, 5000.0, 50_000.0)

    def truth(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(
            np.interp(
                x, np.arange(1, len(_seen()) + 1), 100 * _seen() / np.arange(1, len(_seen()) + 1)
            )
        )

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if guess[-1] > guess[0]:
            return "The more words, the more of them were there before: the share falls."
        if guess[-1] > 30:
            return (
                "It falls much further: a few words are everywhere, and the next word is mostly "
                "one of them."
            )
        if guess[2] < 15:
            return "Not that soon: most words are rare, and new ones keep coming."
        return (
            "Each row is fetched once for all of its lookups: the larger "
            "the batch, the more that saves."
        )


@cache
def _seen() -> np.ndarray:
    """The number of distinct words among the first n words of Python's documentation, for n = 1,
    2, ...
    """
    codes, alphabet = python_docs()
    words = re.findall(r"[a-z_]+", "".join(alphabet[c] for c in codes).lower())
    _, first = np.unique(np.array(words), return_index=True)
    new = np.zeros(len(words), int)
    new[first] = 1
    return np.cumsum(new)

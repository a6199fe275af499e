"""Questions and predictions of the notebook on accumulators."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..models.asynchrony import BACKUP_WORKERS, measured_rounds
from .pictures import cells
from .prediction import Prediction
from .prediction_picture import Quantity
from .questions import Choice, Coded
from .random_cases import as_float32, random_quarters

divisor = Choice(
    "Five gradients have arrived and a take asks for two: which ones does it average?",
    a=(False, "Nothing is kept apart: the accumulator holds one sum and a count."),
    b=(False, "Which two would be the newest? The accumulator holds one sum and a count."),
    c=(
        True,
        (
            "The sum of all five, divided by five. num_required says when a take may go on, not "
            "how many it takes."
        ),
    ),
)

forgotten = Choice(
    "What happens if a worker never passes local_step?",
    a=(False, "It is for the first round. What is the accumulator's step after the first take?"),
    b=(False, "There is no error: a stale gradient is dropped silently."),
    c=(
        True,
        "local_step stays 0, the accumulator's step is 1 after the first take, and 0 < 1: every "
        "gradient is silently dropped, and the next take waits forever.",
    ),
)

sparse_rows = Choice(
    "Rows {0: 2, 1: 4} and {1: 8, 3: 6}: what is the mean of row 3?",
    a=(False, "That is the mean over gradients, which a dense accumulator would give."),
    b=(True, "One gradient holds row 3, so it is divided by 1. Row 1 is in both: (4 + 8) / 2."),
    c=(False, "Row 3 is in one of them. What is each row divided by?"),
)


def _mean_case(grads: list[list[float]], steps: list[int], step: int) -> dict[str, Any]:
    return {"grads": [np.array(g, np.float32) for g in grads], "local_steps": steps, "step": step}


def _running(accepted: list[np.ndarray]) -> np.ndarray:
    found = accepted[0]
    for g in accepted[1:]:
        found = (found + g) / 2
    return found


def _mean_of(accepted: list[np.ndarray]) -> np.ndarray:
    return sum(accepted[1:], accepted[0]) / len(accepted)


def _draw_mean(rng: np.random.Generator) -> dict[str, Any]:
    steps, step = rng.integers(0, 5, 5).tolist(), 2
    steps[rng.integers(5)] = step
    return {
        "grads": as_float32([random_quarters(rng, 2) for _ in steps]),
        "local_steps": steps,
        "step": step,
    }


mean = Coded(
    question="Write what a take gives: the mean of the gradients that are not stale.",
    cases=[
        _mean_case([[2.0, 4.0], [4.0, 0.0]], [0, 0], 0),
        _mean_case([[1.0], [10.0], [3.0], [8.0]], [1, 0, 2, 1], 1),
        _mean_case([[5.0], [1.0], [2.0]], [-1, 7, -3], -1),
    ],
    right=lambda grads, steps, step: _mean_of(
        [g for g, s in zip(grads, steps, strict=True) if s >= step]
    ),
    mistakes=(
        (
            lambda grads, steps, step: _mean_of(grads),
            "Stale gradients are in it. Which local steps are too low?",
        ),
        (
            lambda grads, steps, step: sum(
                g for g, s in zip(grads, steps, strict=True) if s >= step
            ),
            "That is the sum. What is it divided by?",
        ),
        (
            lambda grads, steps, step: (
                sum(g for g, s in zip(grads, steps, strict=True) if s >= step) / len(grads)
            ),
            "The sum is divided by how many were accepted, not by how many arrived.",
        ),
        (
            lambda grads, steps, step: _mean_of(
                [g for g, s in zip(grads, steps, strict=True) if s == step]
            ),
            (
                "A local step above the accumulator's is accepted as well: "
                "only lower ones are dropped."
            ),
        ),
        (
            lambda grads, steps, step: _mean_of(
                [g for g, s in zip(grads, steps, strict=True) if s <= step]
            ),
            "The other way round: those are the stale ones.",
        ),
        (
            lambda grads, steps, step: _running(
                [g for g, s in zip(grads, steps, strict=True) if s >= step]
            ),
            (
                "That halves the mean with every gradient, so the last one counts half. Add all "
                "of them, then divide."
            ),
        ),
        (
            lambda grads, steps, step: _mean_of(
                [g / (1 + max(step - s, 0)) for g, s in zip(grads, steps, strict=True)]
            ),
            "That makes stale gradients smaller. An accumulator drops them.",
        ),
        (
            lambda grads, steps, step: (
                sum(g for g, s in zip(grads, steps, strict=True) if s > step)
                / sum(s > step for s in steps)
            ),
            (
                "No gradient is accepted, so the sum is divided by 0. A local step equal to the "
                "accumulator's is accepted."
            ),
        ),
    ),
    otherwise=lambda got, grads, local_steps, step: (
        f"Accept the gradients with a local step of at least {step}, and divide their sum by "
        "their number."
    ),
    done="It agrees on 3 cases, with steps from the past and from the future.",
    starter="""
def mean(grads, local_steps, step):
    return sum(grads)
""",
    solution="""
def mean(grads, local_steps, step):
    accepted = [g for g, local_step in zip(grads, local_steps) if local_step >= step]
    return sum(accepted) / len(accepted)
""",
    draw=_draw_mean,
)


def _rows(indices: list[list[int]], values: list[list[float]], rows: int) -> dict[str, Any]:
    return {
        "indices": [np.array(i, int) for i in indices],
        "values": [np.array(v, np.float32) for v in values],
        "rows": rows,
    }


def _sums(
    indices: list[np.ndarray], values: list[np.ndarray], rows: int
) -> tuple[np.ndarray, np.ndarray]:
    """Sum and count of every row."""
    total, count = np.zeros(rows, np.float32), np.zeros(rows)
    for i, v in zip(indices, values, strict=True):
        np.add.at(total, i, v)
        count[np.unique(i)] += 1
    return total, count


def _by_rows(indices: Any, values: Any, rows: int) -> np.ndarray:
    total, count = _sums(indices, values, rows)
    return np.asarray(total / np.maximum(count, 1))


def _last_wins(indices: Any, values: Any, rows: int) -> np.ndarray:
    found = np.zeros(rows)
    for i, v in zip(indices, values, strict=True):
        found[i] = v
    return found


def _by_position(indices: Any, values: Any, rows: int) -> np.ndarray:
    found = np.zeros(rows)
    found[indices[0]] = np.mean(values, axis=0)
    return found


def _draw_row_mean(rng: np.random.Generator) -> dict[str, Any]:
    indices = [np.sort(rng.choice(5, rng.integers(0, 4), replace=False)) for _ in range(3)]
    return {
        "indices": indices,
        "values": as_float32([random_quarters(rng, len(i)) for i in indices]),
        "rows": 5,
    }


row_mean = Coded(
    question="Write TensorFlow's mean of sparse gradients for a table of one column.",
    cases=[
        _rows([[0, 1], [1, 3]], [[2.0, 4.0], [8.0, 6.0]], 4),
        _rows([[2], [2], [0, 2]], [[3.0], [6.0], [5.0, 9.0]], 3),
        _rows([[1], []], [[7.0], []], 3),
    ],
    right=_by_rows,
    mistakes=(
        (lambda i, v, rows: np.zeros(rows), "Nothing is added."),
        (
            lambda i, v, rows: _sums(i, v, rows)[0],
            "Those are the sums. What is each row divided by?",
        ),
        (
            lambda i, v, rows: _sums(i, v, rows)[0] / len(i),
            "That divides every row by the number of gradients, as a dense accumulator does. Here "
            "each row counts for itself.",
        ),
        (
            lambda i, v, rows: _sums(i, v, rows)[0] / sum(map(len, i)),
            "That divides every row by the number of all values. Here each row counts for itself.",
        ),
        (
            _by_position,
            (
                "That adds values by their place in the gradient. `indices` says to which row "
                "each belongs."
            ),
        ),
        (_last_wins, "A row that occurs again is overwritten. Add it."),
        (
            lambda i, v, rows: _sums(i, v, rows)[0] / _sums(i, v, rows)[1],
            "A row that no gradient contains is 0/0 here. It is 0 in TensorFlow.",
        ),
    ),
    otherwise=lambda got, indices, values, rows: (
        "For every row: the sum of its values, divided by the number of gradients that hold "
        "it; 0 where none does."
    ),
    done="It agrees with TensorFlow's SparseConditionalAccumulator on 3 cases, "
    "an empty gradient among them.",
    show=cells(),
    starter="""
def row_mean(indices, values, rows):
    return np.zeros(rows)
""",
    solution="""
def row_mean(indices, values, rows):
    total, count = np.zeros(rows), np.zeros(rows)
    for i, v in zip(indices, values):
        total[i] += v
        count[i] += 1
    return total / np.maximum(count, 1)
""",
    draw=_draw_row_mean,
)


class Collect(Prediction):
    """Prediction: the time of a round that needs only the k fastest of sixteen workers, measured over many rounds."""

    name, label = "accumulators.collect", "Predict the time of a round"
    question = "Sixteen workers, now and then one stalls. How long until k gradients are there?"
    discuss = (
        "What do two backup workers cost, and what do they save? What becomes of their gradients?"
    )
    x = Quantity("gradients needed", "of 16", 1.0, 16.0)
    y, step = (
        Quantity("time of a round, 16 of 16 = 100", "%", 0.0, 100.0, ticks=(0, 25, 50, 75, 100)),
        1.0,
    )
    at = (1.0, 4.0, 8.0, 12.0, 14.0, 15.0, 16.0)

    def truth(self, x: np.ndarray) -> np.ndarray:
        rounds = measured_rounds()
        return np.asarray(np.interp(x, np.arange(1, BACKUP_WORKERS + 1), 100 * rounds / rounds[-1]))

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if np.ptp(guess) < 15:
            return (
                "The last one is late far more often than any single one: a stall in one gradient "
                "of fifty hits one round in four."
            )
        if guess[0] < 25:
            return (
                "Even the fastest needs its time, more than a third of the round. It is the last "
                "worker that costs."
            )
        if guess[4] > 70:
            return (
                "It is the very last that costs: with one or two workers to spare most stalls are "
                "left behind."
            )
        return (
            "Flat, then steep: waiting for all sixteen takes 1.5 times as long as for fifteen, and "
            "1.9 times as long as for fourteen."
        )

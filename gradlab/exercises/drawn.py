"""Cases that a grader draws for the functions that exercises ask for, so that nobody can have written their results.

The cases that stand in an exercise are in every copy of gradlab; those of here differ from one grading to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .catalog import EXERCISES, Exercise
from .questions import Coded, Feedback, Judged

Draw = Callable[[np.random.Generator], dict[str, Any]]
CASES = 6  # of an exercise, beside its own


def drawn(name: str, rng: np.random.Generator) -> Exercise:
    """An exercise with cases of its own and then some that were drawn; one that draws nothing as it is.

    >>> len(drawn("start.norm", np.random.default_rng(0)).cases)
    9
    """
    exercise = EXERCISES[name]
    if name not in DRAW:
        return exercise
    cases = [DRAW[name](rng) for _ in range(CASES)]
    if isinstance(exercise, Coded):
        return replace(exercise, cases=[*exercise.cases, *cases])
    assert isinstance(exercise, Judged)
    return replace(exercise, judge=_each_of(exercise.judge, cases))


def _each_of(judge: Callable[..., Feedback], cases: Sequence[dict[str, Any]]) -> Callable[[Any], Feedback]:
    """The judgement of the first case that fails, its own before those that were drawn."""

    def judged(answer: Any) -> Feedback:
        for case in ({}, *cases):
            if not (feedback := judge(answer, **case)).right:
                break
        return feedback

    return judged


def _values(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Values that are the same in every float: quarters."""
    return np.round(rng.normal(0.0, 3.0, shape) * 4) / 4


def _some(rng: np.random.Generator) -> list[np.ndarray]:
    """A few arrays of several shapes, not all of them zero."""
    sizes = rng.integers(1, 5, rng.integers(2, 5))
    return [_values(rng, int(size)) + np.float64(k == 0) / 8 for k, size in enumerate(sizes)]


def _float32(arrays: list[np.ndarray]) -> list[np.ndarray]:
    return [array.astype(np.float32) for array in arrays]


def _descent(rng: np.random.Generator) -> dict[str, Any]:
    weights = _some(rng)
    grads: list[Any] = [_values(rng, len(w)) for w in weights]
    grads[rng.integers(len(grads))] = None
    return {"weights": weights, "grads": grads, "lr": float(rng.choice([0.125, 0.5, 0.75]))}


def _gradients(rng: np.random.Generator) -> dict[str, Any]:
    rows: list[Any] = [array.tolist() for array in _some(rng)[:2]]
    rows.insert(int(rng.integers(3)), None)
    return {"gradients": [rows]}


def _adagrad(rng: np.random.Generator) -> dict[str, Any]:
    w, g = _float32([_values(rng, 3), _values(rng, 3)])
    return {"w": w, "accumulator": rng.uniform(0.5, 4.0, 3).astype(np.float32), "g": g, "lr": 0.25}


def _sparse(rng: np.random.Generator) -> dict[str, Any]:
    count = int(rng.integers(3, 7))
    w, values = _float32([_values(rng, 4), _values(rng, count) + 1 / 8])
    accumulator = rng.uniform(0.5, 4.0, 4).astype(np.float32)
    return {"w": w, "accumulator": accumulator, "indices": rng.integers(0, 4, count), "values": values, "lr": 0.5}


def _accept(rng: np.random.Generator) -> dict[str, Any]:
    now = int(rng.integers(5, 50))
    return {"global_step": now, "local_steps": now - rng.integers(-3, 9, 8), "limit": int(rng.integers(0, 6))}


def _compensate(rng: np.random.Generator) -> dict[str, Any]:
    g, now, read = _float32([_values(rng, 3) for _ in range(3)])
    return {"g": g, "w_now": now, "w_read": read, "strength": float(rng.choice([0.25, 0.5, 2.0]))}


def _mean(rng: np.random.Generator) -> dict[str, Any]:
    steps, step = rng.integers(0, 5, 5).tolist(), 2
    steps[rng.integers(5)] = step
    return {"grads": _float32([_values(rng, 2) for _ in steps]), "local_steps": steps, "step": step}


def _row_mean(rng: np.random.Generator) -> dict[str, Any]:
    indices = [np.sort(rng.choice(5, rng.integers(0, 4), replace=False)) for _ in range(3)]
    return {"indices": indices, "values": _float32([_values(rng, len(i)) for i in indices]), "rows": 5}


def _pooled(rng: np.random.Generator) -> dict[str, Any]:
    lookups = int(rng.integers(1, 7))
    samples = np.sort(rng.integers(0, 4, lookups))
    return {"table": _values(rng, 5, 2), "samples": samples, "ids": rng.integers(0, 5, lookups), "count": 4}


def _row_gradient(rng: np.random.Generator) -> dict[str, Any]:
    lookups = int(rng.integers(2, 8))
    samples, ids = np.sort(rng.integers(0, 4, lookups)), rng.integers(0, 5, lookups)
    return {"samples": samples, "ids": ids, "gradients": _values(rng, 4), "rows": 5}


def _rate(rng: np.random.Generator) -> dict[str, Any]:
    beta1, beta2 = float(rng.uniform(0.5, 0.95)), float(rng.uniform(0.9, 0.999))
    return {"lr": float(rng.uniform(0.001, 1.0)), "beta1": beta1, "beta2": beta2, "step": int(rng.integers(1, 200))}


def _norms(rng: np.random.Generator) -> np.ndarray:
    norms = np.round(rng.lognormal(0.0, 1.0, 9), 3)
    norms[rng.choice(9, 3, replace=False)] = [np.inf, np.nan, 0.0]
    return norms


# In the order of the course.
DRAW: dict[str, Draw] = {
    "start.descent": _descent,
    "start.norm": lambda rng: {"grads": _some(rng)},
    "three_steps.process": _gradients,
    "three_steps.minimize": lambda rng: {"rate": 0.125, "start": (_values(rng, 2) + 1 / 8).tolist()},
    "clipping.by_norm": lambda rng: {"t": _float32(_some(rng))[0], "limit": float(rng.uniform(0.5, 6.0))},
    "clipping.by_global_norm": lambda rng: {"tensors": _float32(_some(rng)), "limit": float(rng.uniform(0.5, 9.0))},
    "adagrad.step": _adagrad,
    "adagrad.sparse": _sparse,
    "staleness.accept": _accept,
    "staleness.compensate": _compensate,
    "accumulators.mean": _mean,
    "accumulators.row_mean": _row_mean,
    "tpu_embeddings.pooled": _pooled,
    "tpu_embeddings.row_gradient": _row_gradient,
    "tpu_embeddings.rate": _rate,
    "your_run.fired": lambda rng: {"norms": _norms(rng), "limit": float(rng.uniform(0.3, 3.0))},
    "your_run.suggest": lambda rng: {"norms": _norms(rng), "percentile": float(rng.integers(10, 95))},
}

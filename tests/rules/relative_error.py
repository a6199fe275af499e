"""The relative error of a rule in float32, beside that of an original, against a run in float64."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

import gradlab as gl

# A result rounded to float32 may be this far from the exact one.
ROUNDING = float(np.finfo(np.float32).eps) / 2


def inputs(seed: int, shape: tuple[int, ...], steps: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Return weights and the gradients of some steps, numbers of float32."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=shape).astype(np.float32)
    return w, rng.normal(size=(steps, *shape)).astype(np.float32)


def run(rule: Any, rate: float, w: Any, gradients: Any, dtype: Any = np.float32) -> np.ndarray:
    """Return the weights after each step of a rule on NumPy, as float64."""
    return _steps(rule, rate, {"w": np.asarray(w, dtype)}, np.asarray(gradients, dtype))


def run_jit(rule: Any, rate: float, w: Any, gradients: Any) -> np.ndarray:
    """Return the weights after each step of a rule under jit in float32, as float64."""
    return _steps(rule, rate, {"w": jax.numpy.float32(w)}, np.float32(gradients), jax.jit)


def _steps(rule: Any, rate: float, w: Any, gradients: Any, compiled: Any = None) -> np.ndarray:
    def step(state: Any, w: Any, g: Any) -> Any:
        return gl.rules.pure.update(rule, rate, state, w, {"w": g})

    stepped = compiled(step) if compiled else step
    state = gl.rules.pure.init(rule, w)
    after = []
    for g in gradients:
        w, state = stepped(state, w, g)
        after.append(np.asarray(w["w"], np.float64))
    return np.stack(after)


def relative_error(got: Any, exact: Any) -> float:
    return float(np.linalg.norm(got - exact) / np.linalg.norm(exact))


def check(ours: Any, theirs: Any, exact: Any, factor: float = 1.0) -> None:
    """Check that our run is about as near to the exact one as the original's, or rounding apart."""
    error = relative_error(ours, exact)
    limit = max(factor * relative_error(theirs, exact), ROUNDING)
    assert error <= limit, (error, limit)

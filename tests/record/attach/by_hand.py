"""A small network, its batches, and its gradients by JAX and by hand."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

ROWS = 16  # of a batch
SHAPES = {"b": (8,), "w1": (8, 8), "w2": (8, 16)}
NAMES = tuple(SHAPES)


def weights() -> dict[str, Any]:
    draw = np.random.default_rng(0)
    return {name: jnp.float32(draw.normal(size=shape)) for name, shape in SHAPES.items()}


def batch(step: int, rows: slice = slice(None)) -> tuple[Any, Any]:
    draw = np.random.default_rng(1 + step)
    return draw.normal(size=(ROWS, 8)).astype(np.float32)[rows], draw.normal(
        size=(ROWS, 16)
    ).astype(np.float32)[rows]


def loss_of(w: Any, x: Any, y: Any) -> Any:
    return ((jnp.tanh(x @ w["w1"] + w["b"]) @ w["w2"] - y) ** 2).mean()


def gradients_of(w: Any, x: Any, y: Any) -> Any:
    return jax.grad(loss_of)(w, x, y)


def by_hand(w: Any, step: int, rows: slice = slice(None)) -> dict[str, np.ndarray]:
    """What `gradients_of` a batch, or some rows of it, has to be."""
    x, y = (a.astype(np.float64) for a in batch(step, rows))
    w = {name: np.asarray(a, np.float64) for name, a in w.items()}
    hidden = np.tanh(x @ w["w1"] + w["b"])
    error = 2 * (hidden @ w["w2"] - y) / y.size
    before = error @ w["w2"].T * (1 - hidden**2)
    return {"b": before.sum(axis=0), "w1": x.T @ before, "w2": hidden.T @ error}


def norms(grads: dict[str, np.ndarray]) -> list[float]:
    """One row of a recording."""
    return [float(np.linalg.norm(grads[name])) for name in NAMES]

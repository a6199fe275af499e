"""clip_by_global_norm against the formula written plainly in NumPy, and against optax, both under
jit.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.benchmarks.race import race
from tests.benchmarks.table import Row

TENSORS, NUMBERS, ROUNDS = 200, 10_000_000, 30
LIMIT = 1.0
WHAT = "clip_by_global_norm, 200 tensors, 10 M float32"


def gradients() -> list[Any]:
    """Tensors of very different sizes, as a network has them; their norm is far above the limit."""
    numbers = np.random.default_rng(0)
    shares = numbers.dirichlet(np.full(TENSORS, 0.5))
    sizes = np.maximum(1, (shares * NUMBERS).astype(int))
    sizes[np.argmax(sizes)] += NUMBERS - sizes.sum()
    return [numbers.standard_normal(size, dtype=np.float32) for size in sizes]


def plainly(tensors: list[Any], limit: float) -> tuple[list[Any], Any]:
    """What somebody types who has the formula before them."""
    norm = np.sqrt(sum(np.sum(t * t) for t in tensors))
    scale = limit / np.maximum(norm, limit)
    return [t * scale for t in tensors], norm


def rows() -> Iterator[Row]:
    """Two races: NumPy, and jit."""
    import gradlab as gl

    tensors = gradients()
    numpy: dict[str, Callable[[], Any]] = {
        "gradlab": lambda: gl.clip_by_global_norm(tensors, LIMIT),
        "plain formula": lambda: plainly(tensors, LIMIT),
    }
    yield from race(f"{WHAT}, NumPy", numpy, ROUNDS)
    if importlib.util.find_spec("optax") is None:
        yield Row(f"{WHAT}, jit", "optax", note="not measured: optax missing")
        return
    yield from race(f"{WHAT}, jit", _jitted(tensors), ROUNDS)


def _jitted(tensors: list[Any]) -> dict[str, Callable[[], Any]]:
    import jax
    import optax

    import gradlab as gl

    arrays = [jax.numpy.asarray(t) for t in tensors]
    ours = jax.jit(lambda ts: gl.clip_by_global_norm(ts, LIMIT)[0])
    transformation = optax.clip_by_global_norm(LIMIT)
    theirs = jax.jit(lambda ts: transformation.update(ts, optax.EmptyState())[0])
    return {
        "gradlab": lambda: jax.block_until_ready(ours(arrays)),
        "optax": lambda: jax.block_until_ready(theirs(arrays)),
    }

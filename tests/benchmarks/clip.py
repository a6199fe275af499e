"""clip_by_global_norm against the formula written plainly in NumPy, and against optax, both under jit."""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .table import Row, percentile

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
    yield from _race(
        f"{WHAT}, NumPy",
        {
            "gradlab": lambda: gl.clip_by_global_norm(tensors, LIMIT),
            "plain formula": lambda: plainly(tensors, LIMIT),
        },
    )
    if importlib.util.find_spec("optax") is None:
        yield Row(f"{WHAT}, jit", "optax", note="not measured: optax missing")
        return
    yield from _race(f"{WHAT}, jit", _jitted(tensors))


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


def _race(what: str, runners: dict[str, Callable[[], Any]]) -> Iterator[Row]:
    """Run them in turns, A B A B, so that whatever disturbs the machine disturbs both."""
    times: dict[str, list[float]] = {name: [] for name in runners}
    for round_ in range(ROUNDS + 3):
        for name, run in runners.items():
            start = time.perf_counter()
            run()
            if round_ >= 3:  # the first ones compile and warm up
                times[name].append(1000 * (time.perf_counter() - start))
    ours = statistics.median(times["gradlab"])
    for name, found in times.items():
        median = statistics.median(found)
        yield Row(what, name, median, percentile(found, 95), median / ours, note=f"{ROUNDS} rounds in turns")

"""Recordings of runs that went wrong, as practitioners bring them: each a function that records
one.

The network has 3 blocks between an embedding and a head, its tensors in the order of the forward
pass. A healthy run has norms that scatter by about a fifth and a loss that falls from 4.3 to about
2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradlab as gl

BLOCK = ("ln.weight", "qkv.weight", "up.weight", "down.weight", "down.bias")
NAMES = (
    "wte.weight",
    "wpe.weight",
    *(f"blocks.{k}.{name}" for k in range(3) for name in BLOCK),
    "head.weight",
)
SIZE = 6  # entries of each tensor

Gradients = dict[str, np.ndarray]
Change = Callable[[int, Gradients, float], tuple[Gradients, float]]


def record(
    steps: int, change: Change | None = None, *, buckets: int = 1000, seed: int = 0
) -> gl.Recorder:
    """Record a run whose gradients and loss are what `change(step, gradients, loss)` makes of
    healthy ones.
    """
    draw, rec = np.random.default_rng(seed), gl.Recorder(buckets, entries=0)
    rec.prepare(dict.fromkeys(NAMES, (SIZE,)), ["loss"])  # so that they stay in this order
    columns: dict[str, list[Any]] = {"norm": [], "largest": [], "nonfinite": [], "loss": []}
    for step in range(steps):
        size = np.exp(0.2 * draw.normal())
        gradients = {name: np.float32(size * draw.normal(size=SIZE)) for name in NAMES}
        loss = 2 + 2.3 * np.exp(-3 * step / steps) + 0.05 * draw.normal()
        if change is not None:
            gradients, loss = change(step, gradients, loss)
        every = np.stack([gradients[name] for name in NAMES])
        columns["norm"].append(np.sqrt((every.astype(float) ** 2).sum(axis=1)))
        columns["largest"].append(np.nan_to_num(np.abs(every), nan=0.0, posinf=0.0).max(axis=1))
        columns["nonfinite"].append((~np.isfinite(every)).sum(axis=1))
        columns["loss"].append(loss)
    rec.extend({name: np.array(values) for name, values in columns.items()})
    return rec


def scaled(gradients: Gradients, factor: float, prefix: str = "") -> Gradients:
    """Multiply the gradients whose names begin so."""
    return {
        name: g * np.float32(factor) if name.startswith(prefix) else g
        for name, g in gradients.items()
    }


def healthy() -> gl.Recorder:
    return record(120)


def nan_from_step_51() -> gl.Recorder:
    """The backward pass of step 50 meets NaN behind blocks.1, and the weights are NaN from then on."""

    def change(step: int, gradients: Gradients, loss: float) -> tuple[Gradients, float]:
        if step < 50:
            return gradients, loss
        if step > 50:
            return scaled(gradients, np.nan), np.nan
        up_to = NAMES.index("blocks.1.down.bias")
        return {
            name: g * np.nan if k <= up_to else g for k, (name, g) in enumerate(gradients.items())
        }, loss

    return record(80, change)


def diverged() -> gl.Recorder:
    """Norms and loss grow from step 1 on; from step 8 of 80 on nothing is finite.

    Most of the norm is one tensor.
    """

    def change(step: int, gradients: Gradients, loss: float) -> tuple[Gradients, float]:
        if step >= 8:
            return scaled(gradients, np.nan), np.nan
        return scaled(scaled(gradients, 30.0**step), 30.0, "blocks.0.qkv"), loss * 3.0**step

    return record(80, change)


def exploding() -> gl.Recorder:
    """Norms grow by a tenth in every step of the second half, all of them finite, and the loss
    rises.
    """

    def change(step: int, gradients: Gradients, loss: float) -> tuple[Gradients, float]:
        growth = 1.1 ** max(0, step - 60)
        return scaled(gradients, growth), loss + 0.05 * max(0, step - 60)

    return record(120, change)


def bad_batch(buckets: int = 1000) -> gl.Recorder:
    """In step 70 all tensors are 10 times as large, the embedding 40 times, and the loss is 5.43."""

    def change(step: int, gradients: Gradients, loss: float) -> tuple[Gradients, float]:
        if step != 70:
            return gradients, loss
        return scaled(scaled(gradients, 10.0), 4.0, "wte"), 5.43

    return record(120, change, buckets=buckets)


def bad_layer() -> gl.Recorder:
    """In step 70 one tensor is 200 times as large, and the loss is as usual."""
    return record(
        120, lambda step, g, loss: (scaled(g, 200.0, "blocks.1.up") if step == 70 else g, loss)
    )


def dominated() -> gl.Recorder:
    """One tensor has nearly all of the squared norm in every step."""
    return record(120, lambda step, g, loss: (scaled(g, 60.0, "blocks.0.qkv"), loss))


def dead_block() -> gl.Recorder:
    """A stray detach: no gradient reaches blocks.1."""
    return record(120, lambda step, g, loss: (scaled(g, 0.0, "blocks.1"), loss))


def loss_comes_back() -> gl.Recorder:
    """The loss falls from 4 to 1, and jumps to 3.5 for the last half."""
    return record(400, lambda step, g, loss: (g, 3.5 if step >= 200 else 4 - 3 * step / 200))


def times_four() -> gl.Recorder:
    """Every gradient is 4 times that of the healthy run: a sum where it has a mean."""
    return record(120, lambda step, g, loss: (scaled(g, 4.0), loss))

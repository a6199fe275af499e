"""Gradients of tensors: what made them is computed again, by JAX, with other values in place of the
sources.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import gradlab as gl
from tests.originals.stand_ins import graph
from tests.originals.stand_ins.graph import Tensor, raw


def gradients(ys: Any, xs: Any, grad_ys: Any = None, **_: Any) -> list[Any]:
    """`tf.gradients` with respect to tensors."""
    import jax

    sources = list(xs) if isinstance(xs, list | tuple) else [xs]
    targets = list(ys) if isinstance(ys, list | tuple) else [ys]

    def compute() -> list[Any]:
        def run(values: list[Any]) -> list[Any]:
            with graph.recomputing(dict(zip(sources, values, strict=True))):
                return [raw(y) for y in targets]

        values, pullback = jax.vjp(run, [jax.numpy.asarray(raw(x)) for x in sources])
        upstream = (
            [jax.numpy.ones_like(y) for y in values]
            if grad_ys is None
            else [jax.numpy.asarray(raw(g)) for g in grad_ys]
        )
        return [np.asarray(g) for g in pullback(upstream)[0]]

    whole = graph.deferred(compute, "gradients")
    if isinstance(whole, list):
        return whole
    return [Tensor(lambda i=i: raw(whole)[i]) for i in range(len(sources))]


class GradientTape:
    """`tf.GradientTape`, for tensors that are watched; each tensor knows what made it, so nothing
    is recorded.
    """

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def watch(self, _tensor: Any) -> None: ...

    def gradient(self, target: Any, sources: Any, output_gradients: Any = None, **_: Any) -> Any:
        upstream = None if output_gradients is None else [output_gradients]
        listed = list(sources) if isinstance(sources, list | tuple) else [sources]
        if all(isinstance(x, gl.Variable) for x in listed):
            found = [graph.boxed(g) for g in gl.gradients(lambda: _again(target), listed, upstream)]
        else:
            found = gradients(target, listed, upstream)
        return type(sources)(found) if isinstance(sources, list | tuple) else found[0]

    def __enter__(self) -> GradientTape:
        return self

    def __exit__(self, *error: object) -> None: ...


def _again(target: Any) -> Any:
    """The target from what made it, which reads variables as gradlab's own tape wants them read."""
    with graph.recomputing({}):
        return raw(target)


GRADIENTS = {
    "GradientTape": GradientTape,
    "gradients": gradients,
    "function": lambda f=None, **_: f or (lambda g: g),
}

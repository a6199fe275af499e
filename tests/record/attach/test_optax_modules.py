"""Loops of flax.nnx and of equinox, as their guides have them: rows of the table in
`test_loops.py`.

The network, its batches and its gradients by hand are those of the other rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import gradlab as gl
from tests.record.attach.by_hand import NAMES, batch, by_hand, loss_of, norms, weights

pytestmark = pytest.mark.modules
STEPS, CLIP = 3, 1e-3  # all gradients are larger


def clipped(rec: gl.Recorder) -> Any:
    return optax.chain(
        gl.record.optax(rec, scalars=["loss"]), optax.clip_by_global_norm(CLIP), optax.sgd(0.1)
    )


def with_nnx(rec: gl.Recorder) -> tuple[Callable[[int], dict[str, Any]], Callable[[], gl.Recorder]]:
    from flax import nnx

    class Network(nnx.Module):
        def __init__(self) -> None:
            for name, w in weights().items():
                setattr(self, name, nnx.Param(w))
            self.calls = nnx.Variable(jnp.int32(0))  # which is no parameter

        def __call__(self, x: Any) -> Any:
            self.calls[...] += 1
            return jnp.tanh(x @ self.w1[...] + self.b[...]) @ self.w2[...]

    net = Network()
    optimizer = nnx.Optimizer(net, clipped(rec), wrt=nnx.Param)

    @nnx.jit
    def train(net: Any, optimizer: Any, x: Any, y: Any) -> None:
        loss, grads = nnx.value_and_grad(lambda net: ((net(x) - y) ** 2).mean())(net)
        optimizer.update(net, grads, loss=loss)

    def step(k: int) -> dict[str, Any]:
        before = {name: np.asarray(getattr(net, name)[...]) for name in weights()}
        train(net, optimizer, *batch(k))
        return before

    return step, lambda: gl.record.absorb(rec, optimizer.opt_state)


def with_equinox(
    rec: gl.Recorder,
) -> tuple[Callable[[int], dict[str, Any]], Callable[[], gl.Recorder]]:
    import equinox as eqx

    class Network(eqx.Module):
        b: jax.Array
        w1: jax.Array
        w2: jax.Array
        activation: Callable[[Any], Any] = jnp.tanh  # which is no array

        def __call__(self, x: Any) -> Any:
            return self.activation(x @ self.w1 + self.b) @ self.w2

    tx = clipped(rec)
    net = Network(**weights())
    kept = [net, tx.init(eqx.filter(net, eqx.is_inexact_array))]

    @eqx.filter_jit(donate="all")
    def train(net: Any, state: Any, x: Any, y: Any) -> Any:
        loss, grads = eqx.filter_value_and_grad(lambda net: ((net(x) - y) ** 2).mean())(net)
        updates, state = tx.update(grads, state, eqx.filter(net, eqx.is_inexact_array), loss=loss)
        return eqx.apply_updates(net, updates), state

    def step(k: int) -> dict[str, Any]:
        before = {name: np.array(getattr(kept[0], name)) for name in weights()}
        kept[:] = train(*kept, *map(jnp.asarray, batch(k)))
        return before

    return step, lambda: gl.record.absorb(rec, kept[1])


@pytest.mark.parametrize("library", [with_nnx, with_equinox])
def test_a_module_is_recorded_before_its_clip(library: Callable[..., Any]) -> None:
    rec, expected, losses = gl.Recorder(), [], []
    step, absorbed = library(rec)
    for k in range(STEPS):
        before = step(k)
        expected.append(norms(by_hand(before, k)))
        losses.append(loss_of(before, *batch(k)))
    got = absorbed()
    assert (got.names, got.seen) == (NAMES, STEPS)
    np.testing.assert_allclose(got["norm"], expected, 1e-5)
    np.testing.assert_allclose(got["loss"], losses, 1e-5)

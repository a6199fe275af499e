"""Training steps as users of optax write them, and the same by the pure form."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from gradlab import rules
from gradlab.rules import pure
from tests import ways
from tests.optax.trees import gradients


def equal(a: Any, b: Any) -> bool:
    return ways.ulps(a, b) == 0


def stepped(
    tx: optax.GradientTransformation, params: Any, state: Any, grads: Any
) -> tuple[Any, Any]:
    updates, state = tx.update(grads, state, params)
    return optax.apply_updates(params, updates), state


def run(tx: optax.GradientTransformation, params: Any, steps: int = 3, jit: bool = False) -> Any:
    """The weights after some steps, seen from outside as optax's users do."""
    step = jax.jit(lambda *args: stepped(tx, *args)) if jit else lambda *args: stepped(tx, *args)
    state = tx.init(params)
    for k in range(steps):
        params, state = step(params, state, gradients(params, k))
    return params


def widened(params: Any) -> Any:
    """Weights of 16 bits as float32, in which the bridge steps them."""
    return jax.tree.map(lambda w: w.astype("float32") if w.dtype.itemsize == 2 else w, params)


def pure_step(rule: rules.Rule, rate: Any, params: Any, state: Any, grads: Any) -> Any:
    """The weights and the state after one step of a rule, of 16-bit weights in float32, and then
    rounded.
    """
    new, state = pure.update(rule, rate, state, widened(params), widened(grads))
    return jax.tree.map(lambda n, w: n.astype(w.dtype), new, params), state


def pure_run(rule: rules.Rule, rate: Any, params: Any, steps: int = 3) -> Any:
    state = pure.init(rule, widened(params))
    for k in range(steps):
        now = rate(state["step"]) if callable(rate) else rate
        params, state = pure_step(rule, now, params, state, gradients(params, k))
    return params


def weights(dtype: str, n: int = 500) -> jax.Array:
    rng = np.random.default_rng(0)
    return jnp.asarray(rng.normal(size=n) * 10 ** rng.uniform(-2, 2, n)).astype(dtype)

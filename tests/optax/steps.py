"""Training steps as users of optax write them, and the same by the pure form."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from gradlab import rules
from gradlab._steps import pure
from tests import ways
from tests.optax.trees import gradients


def equal(a: Any, b: Any) -> bool:
    return ways.ulps(a, b) == 0


def stepped(tx: optax.GradientTransformation, params: Any, state: Any, grads: Any) -> tuple[Any, Any]:
    updates, state = tx.update(grads, state, params)
    return optax.apply_updates(params, updates), state


def run(tx: optax.GradientTransformation, params: Any, steps: int = 3, jit: bool = False) -> Any:
    """The weights after some steps, seen from outside as optax's users do."""
    step = jax.jit(lambda *args: stepped(tx, *args)) if jit else lambda *args: stepped(tx, *args)
    state = tx.init(params)
    for k in range(steps):
        params, state = step(params, state, gradients(params, k))
    return params


def pure_run(rule: rules.Rule, rate: Any, params: Any, steps: int = 3) -> Any:
    def step(params: Any, state: Any, grads: Any) -> Any:
        return pure.update(rule, rate(state["step"]) if callable(rate) else rate, state, params, grads)

    state = pure.init(rule, params)
    for k in range(steps):
        params, state = step(params, state, gradients(params, k))
    return params


def weights(dtype: str, n: int = 500) -> jax.Array:
    rng = np.random.default_rng(0)
    return jnp.asarray(rng.normal(size=n) * 10 ** rng.uniform(-2, 2, n)).astype(dtype)

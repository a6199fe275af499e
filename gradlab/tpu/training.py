"""A whole step in one call, for models whose loss is a function of the activations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._base.arrays import Array
from .._steps.jax import jax
from .batch import Batch
from .lookup import lookup
from .state import State
from .update import update


def train_step(
    state: State, batch: Batch, learning_rates: Sequence[Any], loss: Callable[..., Any], *arguments: Any
) -> tuple[Array, State]:
    """Lookup, loss, gradients and update.

        activations = lookup(state, batch);   state = update(state, d loss(activations, *arguments) / d activations)

    Pure. As `jax.jit(train_step, static_argnames="loss", donate_argnums=0)` rows that are looked up are read once, and
    tables are changed where they are: the memory of a step is that of tables, slots and batch. (Not so with a loss that
    is linear in the activations: its gradients are there before the lookup, and XLA copies tables to be safe.)

    Args:
        batch: of `make_batch`.
        learning_rates: a scalar for each tag.
        loss: takes the activations, a tuple with an array for each feature, and the other arguments; gives a scalar.

    Raises: what `update` raises.

    Not in TensorFlow, where a step is ops between which gradients are tied to activations by name.

    >>> import jax.numpy as jnp
    >>> from gradlab.tpu import Feature, Ids, Plan, Table, create, make_batch
    >>> plan = Plan((Table("t", 4, 1, combiner="sum", learning_rate=0.5),), (Feature("f", 0, (2,)),))
    >>> batch, step = make_batch(plan, {"f": Ids([0, 0, 1], [3, 1, 3])}), jax.jit(train_step, static_argnames="loss")
    >>> value, state = step(create(plan, [jnp.ones((4, 1))]), batch, [], lambda activations: activations[0].sum())
    >>> float(value), state.tables[0].ravel().tolist()
    (3.0, [1.0, 0.5, 1.0, 0.0])
    """
    activations, dedup = lookup(state, batch)
    value, gradients = jax.value_and_grad(loss)(activations, *arguments)
    return value, update(state, gradients, learning_rates, dedup)

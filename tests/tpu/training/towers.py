"""A small recommender of two towers, trained by gradlab and, beside it, by JAX and optax alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from gradlab.rules import Adagrad
from gradlab.tpu import Feature, Ids, Plan, Table, Tag, make_batch, place_batch

USERS, ITEMS, WIDTH, BATCH, STEPS = 45, 29, 4, 16, 50
SIZES = ((16, 16), (32, 32))  # fixed, so that all steps share a compiled program
OPTIMIZER = optax.chain(
    optax.clip_by_global_norm(1.0), optax.adamw(optax.linear_schedule(0.02, 0.0, 60))
)


def rate(step: Any) -> Any:
    """A schedule of the users' table."""
    return 0.3 / (1.0 + 0.1 * step)


def plan_of(cores: int) -> Plan:
    """Users by one id, items by two; neither table can be shared equally."""
    tables = (
        Table("users", USERS, WIDTH, Adagrad(epsilon_place="none"), Tag(0), combiner="sum"),
        Table("items", ITEMS, WIDTH, Adagrad(epsilon_place="none"), 0.2, combiner="sum"),
    )
    batch = (BATCH // cores,)
    return Plan(tables, (Feature("user", 0, batch), Feature("item", 1, batch)), cores)


def row(rows: int, width: int) -> Any:
    """An initializer that knows nothing but ids."""
    return lambda ids: (
        np.sin(np.arange(1, width + 1) * (rows + ids[:, None])).astype(np.float32) / 2
    )


def tower() -> dict[str, Any]:
    """Two dense layers."""
    numbers = np.random.default_rng(5)
    return {name: np.float32(numbers.normal(0, 0.5, (WIDTH, WIDTH))) for name in ("user", "item")}


def loss(activations: Any, params: Any, clicked: Any) -> Any:
    """The cross-entropy of clicks."""
    user, item = activations
    scores = (jnp.tanh(user @ params["user"]) * jnp.tanh(item @ params["item"])).sum(-1)
    return optax.sigmoid_binary_cross_entropy(scores, clicked).mean()


def examples(steps: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Users, pairs of items and clicks of each step."""
    numbers = np.random.default_rng(7)
    for _ in range(steps):
        users, items = numbers.integers(0, USERS, BATCH), numbers.integers(0, ITEMS, (BATCH, 2))
        yield users, items, np.float32((users + items.sum(1)) % 3 == 0)


def batch_of(plan: Plan, placement: Any, users: Any, items: Any, cores: Any = None) -> Any:
    """The batch of some examples; `cores` are those of this process."""
    each = np.arange(BATCH).reshape(plan.cores, -1)
    own = [each[k] for k in (range(plan.cores) if cores is None else cores)]
    n = each.shape[1]
    ids = [
        {
            "user": Ids(np.arange(n), users[k]),
            "item": Ids(np.repeat(np.arange(n), 2), items[k].ravel()),
        }
        for k in own
    ]
    part = plan if cores is None else plan_of_cores(plan, len(own))
    return place_batch(plan, placement, make_batch(part, ids), SIZES)


def plan_of_cores(plan: Plan, cores: int) -> Plan:
    """The same plan for some of its cores."""
    return Plan(plan.tables, plan.features, cores)


def plain(steps: int, optimizer: Any = OPTIMIZER) -> list[float]:
    """The losses by JAX and optax alone: whole tables, dense gradients."""
    optimizer = optax.with_extra_args_support(optimizer)
    tables = [jnp.asarray(row(n, WIDTH)(np.arange(n))) for n in (USERS, ITEMS)]
    params: Any = jax.tree.map(jnp.asarray, tower())
    carried, slots = optimizer.init(params), [jnp.full_like(t, 0.1) for t in tables]

    @jax.jit
    def step(
        tables: Any,
        slots: Any,
        params: Any,
        carried: Any,
        k: Any,
        users: Any,
        items: Any,
        clicked: Any,
    ) -> Any:
        def of_all(tables: Any, params: Any) -> Any:
            return loss((tables[0][users], tables[1][items].sum(1)), params, clicked)

        value, (rows, dense) = jax.value_and_grad(of_all, (0, 1))(tables, params)
        slots = [s + g * g for s, g in zip(slots, rows, strict=True)]
        rates = (rate(k), 0.2)
        tables = [
            w - lr * g / jnp.sqrt(s) for w, lr, g, s in zip(tables, rates, rows, slots, strict=True)
        ]
        updates, carried = optimizer.update(dense, carried, params, value=value)
        return value, tables, slots, optax.apply_updates(params, updates), carried

    losses = []
    for k, example in enumerate(examples(steps)):
        value, tables, slots, params, carried = step(
            tables, slots, params, carried, jnp.float32(k), *example
        )
        losses.append(float(value))
    return losses

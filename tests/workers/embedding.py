"""A small recommender: a rating is the dot product of a user's row and the mean of the rows of the
items.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gradlab.rules import Adagrad, Momentum
from gradlab.tpu import Feature, Ids, Plan, Table
from gradlab.workers import Experiment, Tables


def recommender(users: int = 7, items: int = 11, width: int = 3, batch: int = 4) -> Tables:
    """Its problem, with gradients that NumPy computes."""
    tables = (
        Table("users", users, width, Adagrad(), 0.1),
        Table("items", items, width, Momentum(0.5), 0.1, gradient_limits=(-1.0, 1.0)),
    )
    plan = Plan(tables, (Feature("user", 0, (batch,)), Feature("history", 1, (batch,))))

    draw = partial(drawn, users, items, batch)
    return Tables(
        plan, draw, loss, draw(np.random.default_rng(9)), gradient_of=derivatives, scale=0.5
    )


def drawn(
    users: int, items: int, batch: int, rng: np.random.Generator
) -> tuple[dict[str, Ids], np.ndarray]:
    """The ids of a batch, some of them twice, and its ratings."""
    history = Ids(np.sort(rng.integers(batch, size=batch + 2)), rng.integers(items, size=batch + 2))
    ids = {"user": Ids(np.arange(batch), rng.integers(users, size=batch)), "history": history}
    return ids, rng.standard_normal(batch, np.float32)


def loss(activations: Any, ratings: Any) -> Any:
    users, items = activations
    return (((users * items).sum(axis=1) - ratings) ** 2).mean()


def derivatives(activations: Any, ratings: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of `loss`, by hand: processes of their own need no JAX for it."""
    users, items = activations
    error = ((users * items).sum(axis=1) - ratings)[:, None] * np.float32(2 / len(ratings))
    return error * items, error * users


POLICIES: dict[str, dict[str, Any]] = {
    "drop": {"policy": "drop", "staleness": 1},
    "apply": {"policy": "apply", "atomic": False},
    "wait": {"policy": "wait", "staleness": 1},
    "damp": {"policy": "damp"},
    "backup": {"policy": "backup", "aggregate": 2},
}


def experiment(policy: str, problem: Tables | None = None, **changes: Any) -> Experiment:
    """One of this policy, small if nothing else is said."""
    return Experiment(
        problem or recommender(), **{"workers": 3, "gradients": 12, **POLICIES[policy], **changes}
    )

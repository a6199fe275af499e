"""Plans and batches for both engines."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradlab import rules
from gradlab.tpu import Batch, Feature, Ids, Lookups, Plan, State, Table, create, lookup, update

CORES = 2
WIDTHS = (3, 5, 3)


def plan(rule: rules.Rule | None = None, **table: Any) -> Plan:
    """Three tables, two of which share a stack; four features, one of them a sequence."""
    rule = rules.Adagrad() if rule is None else rule
    tables = tuple(
        Table(name, rows, width, rule, 0.1, combiner=combiner, **table)
        for name, rows, width, combiner in (
            ("a", 40, 3, "sum"),
            ("b", 9, 5, "mean"),
            ("c", 70, 3, "sum"),
        )
    )
    features = (
        Feature("f", 0, (4,)),
        Feature("g", 2, (4,)),
        Feature("h", 1, (8,)),
        Feature("s", 2, (4, 2), 2),
    )
    return Plan(tables, features, CORES)


def ids(seed: int, most: int = 5, weights: bool = True) -> list[dict[str, Ids]]:
    """Drawn ids with duplicates, by core."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(CORES):
        core = {}
        for name, samples, rows in (("f", 4, 40), ("g", 4, 70), ("h", 8, 9), ("s", 4, 70)):
            where = np.repeat(np.arange(samples), rng.integers(0, most + 1, samples))
            gains = (
                rng.integers(1, 5, where.size).astype(np.float32)
                if weights and name != "s"
                else None
            )
            core[name] = Ids(where, rng.integers(0, rows, where.size), gains)
        found.append(core)
    return found


def once(plan: Plan) -> list[dict[str, Ids]]:
    """Every row of every table is looked up by one sample at most, every sample looks up one."""
    rng, found = np.random.default_rng(0), []
    orders = [rng.permutation(t.rows) for t in plan.tables]
    for core in range(CORES):
        core_ids = {}
        for name, k, n in (("f", 0, 4), ("g", 2, 4), ("h", 1, 4), ("s", 2, 4)):
            start = core * 4 + (8 if name == "s" else 0)
            core_ids[name] = Ids(np.arange(n), orders[k][start : start + n])
        found.append(core_ids)
    return found


def start(plan: Plan) -> State:
    rng = np.random.default_rng(1)
    return create(
        plan, [rng.normal(size=(t.rows, t.width)).astype(np.float32) for t in plan.tables]
    )


def step(state: State, batch: Batch) -> tuple[list[np.ndarray], State]:
    """Activations, and the state after gradients that do not depend on them."""
    activations, dedup = jax.jit(lookup)(state, batch)
    rng = np.random.default_rng(2)
    gradients = [jnp.asarray(rng.normal(size=a.shape), jnp.float32) for a in activations]
    return [np.asarray(a) for a in activations], jax.jit(update)(state, gradients, [], dedup)


def sums(plan: Plan, k: int, t: Lookups) -> tuple[np.ndarray, np.ndarray]:
    """What a table gives to samples and gets from them, every row of it being 1 + its number,
    samples as well.
    """
    rows, each, end = t.unique.size // CORES, t.inverse.size // CORES, plan.samples_of(k)
    activations, gradients = np.zeros((CORES, end)), np.zeros(plan.tables[k].rows)
    for core in range(CORES):
        own = slice(core * each, (core + 1) * each)
        made = t.inverse[own] < rows
        where = t.unique[core * rows :][:rows][t.inverse[own][made]]
        samples, gains = t.samples[own][made], t.weights[own][made].astype(np.float64)
        np.add.at(activations[core], samples, gains * (1.0 + where))
        np.add.at(gradients, where, gains * (1.0 + samples))
    return activations, gradients


def leaves(state: State) -> list[np.ndarray]:
    """Tables and slots."""
    return [np.asarray(x) for x in (*state.tables, *(s for slots in state.slots for s in slots))]

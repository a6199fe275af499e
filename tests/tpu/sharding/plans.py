"""Plans, batches and steps that tests on meshes share.

The devices are eight of the CPU: see tests/conftest.py.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

from gradlab.rules import Adagrad, Adam
from gradlab.tpu import (
    Feature,
    Ids,
    Plan,
    State,
    Table,
    Tag,
    create,
    flush_pending,
    lookup,
    make_batch,
    place_batch,
    update,
)
from gradlab.tpu import gather as gathered

SIZES = ((48, 24), (12, 12))  # fixed, so that all steps share a compiled program


def mesh(*shape: int) -> Mesh:
    """A mesh of CPU devices, its axes named a, b, ..."""
    devices = np.array(jax.devices("cpu")[: int(np.prod(shape))])
    return Mesh(devices.reshape(shape), tuple("abc"[: len(shape)]))


def two_tables(cores: int, pipelined: bool = False, accumulate: bool = True) -> Plan:
    """Two tables, three features, a rate that comes with the step; neither table can be shared
    equally by 8.
    """
    tables = (
        Table(
            "words", 37, 5, Adagrad(), Tag(0), gradient_limits=(-0.5, 0.5), accumulate=accumulate
        ),
        Table("users", 11, 3, Adam(), 0.1, combiner="sqrtn", weight_limits=(-1.0, 1.0)),
    )
    features = (
        Feature("f", 0, (4,)),
        Feature("g", 1, (3,)),
        Feature("h", 0, (2, 2), sequence_length=2),
    )
    return Plan(tables, features, cores=cores, pipelined=pipelined)


def start(plan: Plan, seed: int = 0) -> State:
    """Random tables on one device."""
    rng = np.random.default_rng(seed)
    return create(
        plan, [rng.normal(size=(t.rows, t.width)).astype(np.float32) for t in plan.tables]
    )


def ids_of_cores(plan: Plan, seed: int) -> list[dict[str, Ids]]:
    """Ids of all cores: some often, some features of some cores without any."""
    rng = np.random.default_rng(seed)
    return [
        {f.name: _ids(rng, f, plan.tables[f.table].rows) for f in plan.features}
        for _ in range(plan.cores)
    ]


def _ids(rng: np.random.Generator, feature: Feature, rows: int) -> Ids:
    count, end = rng.choice([0, 2, 11, 11]), feature.samples // (feature.sequence_length or 1)
    ids = rng.integers(0, rows, count) // rng.integers(1, 4)
    weights = None if feature.sequence_length else rng.uniform(0.1, 2, count)
    return Ids(np.sort(rng.integers(0, end, count)), ids, weights)


def step(state: State, batch: Any, rates: Any) -> Any:
    """Activations, and the state moved by a gradient that depends on them."""
    activations, dedup = lookup(state, batch)
    return activations, update(state, [jnp.cos(3 * a) for a in activations], rates, dedup)


compiled, flushed = jax.jit(step), jax.jit(flush_pending)


def stepped(state: State, seeds: Any, step: Any = compiled) -> tuple[list[Any], State]:
    """The activations of some steps, and the state after them."""
    plan, seen = state.plan, []
    for seed in seeds:
        batch = place_batch(
            plan, state.placement, make_batch(plan, ids_of_cores(plan, seed)), SIZES
        )
        activations, state = step(state, batch, [np.float32(0.1)] * plan.tag_count)
        seen.append([np.asarray(a) for a in activations])
    return seen, state


def values(state: State) -> list[np.ndarray]:
    """Return all tables and slots, an update that is pending included."""
    whole = gathered(state if state.pending is None else flushed(jax.tree.map(jnp.asarray, state)))
    return [np.asarray(x) for x in jax.tree.leaves((whole.tables, whole.slots, whole.shared))]


def bits(state: State) -> list[bytes]:
    """Return the bytes of `values`."""
    return [x.tobytes() for x in values(state)]


def rows_of(table: Table) -> Any:
    """An initializer that knows nothing but ids."""
    return lambda ids: np.sin(np.arange(1, table.width + 1) * (1 + ids[:, None])).astype(np.float32)

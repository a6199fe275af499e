"""Steps large enough for parts, optimized by XLA, on eight devices and on one."""

import functools
from typing import Any

import jax
import numpy as np
import pytest

from gradlab.rules import Adagrad, Adam, Ftrl, Momentum
from gradlab.tpu import (
    Feature,
    Ids,
    Plan,
    Table,
    create,
    gather,
    lookup,
    make_batch,
    place,
    place_batch,
    sizes_of,
    update,
)
from gradlab.tpu.table_update import CACHED_ROWS

ROWS, WIDTH, CORES, SAMPLES, LOOKUPS = 20_000, 4, 8, 128, 2048


RULES = {
    type(rule).__name__: rule
    for rule in (Adagrad(), Adam(bias_correction=False), Ftrl(), Momentum(0.9))
}


@functools.cache
def moved() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the states of all rules after two steps on one device and on eight, all rules in one
    program.
    """
    rng = np.random.default_rng(0)
    start = rng.normal(size=(ROWS, WIDTH))
    plans = {
        name: Plan((Table("t", ROWS, WIDTH, rule, 0.05),), (Feature("f", 0, (SAMPLES,)),), CORES)
        for name, rule in RULES.items()
    }
    plan = plans["Adagrad"]
    batches = [make_batch(plan, [{"f": _ids(rng)} for _ in range(CORES)]) for _ in range(2)]
    assert all(batch.tables[0].unique.size > CACHED_ROWS for batch in batches)
    gradients = [[rng.normal(size=plan.activation_shape(0)).astype(np.float32)] for _ in range(2)]

    @jax.jit
    def step(states: dict[str, Any], batch: Any, gradients: Any) -> dict[str, Any]:
        return {
            name: update(state, gradients, [], lookup(state, batch)[1])
            for name, state in states.items()
        }

    one = {name: create(plan, [start]) for name, plan in plans.items()}
    many = {
        name: place(state, jax.make_mesh((CORES,), ("x",)), "mod") for name, state in one.items()
    }
    placement = many["Adagrad"].placement
    sizes = [
        tuple(map(max, *parts))
        for parts in zip(*(sizes_of(plan, placement, x) for x in batches), strict=True)
    ]
    for batch, g in zip(batches, gradients, strict=True):
        one, many = step(one, batch, g), step(many, place_batch(plan, placement, batch, sizes), g)
    return one, many


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", RULES)
def test_eight_devices_move_rows_as_one_does(name: str) -> None:
    one, many = (states[name] for states in moved())
    for a, b in zip(_arrays(one), _arrays(gather(many)), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=np.spacing(abs(a).max()))


def _ids(rng: Any) -> Ids:
    return Ids(np.sort(rng.integers(0, SAMPLES, LOOKUPS)), (rng.zipf(1.3, LOOKUPS) - 1) % ROWS)


def _arrays(state: Any) -> list[np.ndarray]:
    return [np.asarray(x) for x in (*state.tables, *state.slots[0])]

"""Steps large enough for parts, optimized by XLA, on eight devices and on one."""

from typing import Any

import jax
import numpy as np
import pytest

from gradlab.rules import Adagrad, Adam, Ftrl, Momentum, Rule
from gradlab.tpu import Feature, Ids, Plan, Table, create, gather, lookup, make_batch, place, place_batch, update
from gradlab.tpu.row_update import PART

ROWS, WIDTH, CORES, SAMPLES, LOOKUPS = 20_000, 4, 8, 128, 2048


@pytest.mark.parametrize(
    "rule", [Adagrad(), Adam(bias_correction=False), Ftrl(), Momentum(0.9)], ids=lambda r: type(r).__name__
)
def test_eight_devices_move_rows_as_one_does(rule: Rule) -> None:
    rng = np.random.default_rng(0)
    plan = Plan((Table("t", ROWS, WIDTH, rule, 0.05),), (Feature("f", 0, (SAMPLES,)),), CORES)
    one = create(plan, [rng.normal(size=(ROWS, WIDTH))])
    many = place(one, jax.make_mesh((CORES,), ("x",)), "mod")
    look, move = jax.jit(lookup), jax.jit(update)
    for _ in range(2):
        batch = make_batch(plan, [{"f": _ids(rng)} for _ in range(CORES)])
        assert batch.tables[0].unique.size > PART
        gradients = [rng.normal(size=plan.activation_shape(0)).astype(np.float32)]
        one = move(one, gradients, [], look(one, batch)[1])
        many = move(many, gradients, [], look(many, place_batch(plan, many.placement, batch))[1])
    for a, b in zip(_arrays(one), _arrays(gather(many)), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=np.spacing(abs(a).max()))


def _ids(rng: Any) -> Ids:
    return Ids(np.sort(rng.integers(0, SAMPLES, LOOKUPS)), (rng.zipf(1.3, LOOKUPS) - 1) % ROWS)


def _arrays(state: Any) -> list[np.ndarray]:
    return [np.asarray(x) for x in (*state.tables, *state.slots[0])]

"""A step cut down to the rows it touches moves them as the whole step does."""

from typing import Any

import numpy as np
import pytest

from gradlab.rules import Adagrad, Adam, FrequencyAwareAdagrad, Momentum
from gradlab.tpu import (
    Feature,
    Ids,
    Plan,
    Sent,
    StepRecord,
    Table,
    Tag,
    create,
    lookup,
    make_batch,
    update,
)
from gradlab.tpu.explanations.traps import excerpt

FEATURES = (Feature("f", 0, (3,)), Feature("g", 1, (2,)), Feature("h", 1, (1,)))
IDS = [{"f": Ids([0], [1]), "g": Ids([0, 0, 1], [90, 7, 90]), "h": Ids([0], [50])}, {"g": Ids([1], [7])}]


@pytest.mark.exhaustive
@pytest.mark.parametrize("rule", [Adagrad(), Adam(), Adam(lazy=False), Momentum()], ids=str)
@pytest.mark.parametrize("accumulate", [True, False])
def test_rows_move_as_in_the_whole_table(rule: Any, accumulate: bool) -> None:
    table = Table("b", 100, 2, rule, Tag(0), accumulate=accumulate or not rule.lazy)
    check(Plan((Table("a", 4, 1), table), FEATURES, cores=2), [0.5])


@pytest.mark.exhaustive
def test_a_counter_that_comes_with_the_step() -> None:
    table = Table("b", 100, 2, FrequencyAwareAdagrad(), Tag(0), step_counter=Tag(1))
    check(Plan((Table("a", 4, 1), table), FEATURES, cores=2), [0.5, 8.0])


def check(plan: Plan, rates: Any) -> None:
    rng = np.random.default_rng(0)
    state = create(plan, [rng.normal(size=(t.rows, t.width)) for t in plan.tables])
    gradients = [rng.normal(size=plan.activation_shape(k)).astype(np.float32) for k in range(3)]
    whole = update(state, gradients, rates, lookup(state, make_batch(plan, IDS))[1])
    cut = excerpt(StepRecord(state, Sent(gradients, rates, IDS)), 1)
    assert cut.rows.tolist() == [7, 50, 90, 0] and cut.untouched
    weights, slots = cut.after()
    np.testing.assert_allclose(weights, np.asarray(whole.tables[1])[cut.rows], rtol=1e-6, atol=1e-7)
    for mine, all_rows in zip(slots, whole.slots[1], strict=True):
        np.testing.assert_allclose(mine, np.asarray(all_rows)[cut.rows], rtol=1e-6, atol=1e-7)

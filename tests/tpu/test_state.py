"""Tables and slots as one tree."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradlab.rules import Adagrad, Adam
from gradlab.tpu import Feature, Plan, Table, create

PLAN = Plan(
    (Table("a", 3, 2, Adagrad()), Table("b", 2, 1, Adam(bias_correction=False))),
    (Feature("f", 0, (2,)),),
)
TABLES = [np.ones((3, 2)), np.zeros((2, 1))]


def test_rules_make_the_slots() -> None:
    state = create(PLAN, TABLES)
    assert [x.dtype for x in jax.tree.leaves(state)] == [jnp.float32] * len(jax.tree.leaves(state))
    assert state.slots[0][0].tolist() == jnp.full((3, 2), 0.1, jnp.float32).tolist()
    assert [s.shape for s in state.slots[1]] == [(2, 1), (2, 1)]


def test_slots_may_be_given() -> None:
    state = create(PLAN, TABLES, [[np.full((3, 2), 7.0)], None])
    assert state.slots[0][0].tolist() == [[7.0, 7.0]] * 3


def test_the_state_is_a_tree_whose_plan_is_static() -> None:
    state = jax.tree.map(lambda x: x + 1, create(PLAN, TABLES))
    assert state.plan is PLAN
    assert state.tables[0].tolist() == [[2.0, 2.0]] * 3


@pytest.mark.parametrize(
    ("tables", "slots", "message"),
    [
        ([TABLES[0]], None, "the plan has 2 tables, got 1"),
        (TABLES, [None], "the plan has 2 tables, got slots of 1"),
        (
            [np.ones((2, 2)), TABLES[1]],
            None,
            r"parameters of table 'a' must have shape \(3, 2\), got \(2, 2\)",
        ),
        (TABLES, [[], None], "table 'a' has the slots accumulator; got 0"),
        (
            TABLES,
            [[np.ones((3, 1))], None],
            r"accumulator of table 'a' must have shape \(3, 2\), got \(3, 1\)",
        ),
    ],
)
def test_what_does_not_fit_is_refused(tables: Any, slots: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        create(PLAN, tables, slots)

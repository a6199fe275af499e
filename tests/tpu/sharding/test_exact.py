"""Any plan moves on four devices as on one, bit for bit: rules, policies, combiners and cores are
drawn.
"""

import dataclasses
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradlab import rules
from gradlab.tpu import Feature, Levels, Plan, Policy, Table, Tag, make_batch, place, place_batch
from tests.tpu.sharding.plans import bits, compiled, ids_of_cores, mesh, start

RULES = [
    rules.Adagrad(),
    rules.Adam(),
    rules.Ftrl(l1=0.01, l2=0.1),
    rules.Lion(lazy=False),
    rules.Momentum(0.9),
    rules.OnlineYogi(),
    rules.StochasticGradientDescent(),
]
LIMITS = st.sampled_from([(None, None), (-0.5, 0.5), (None, 0.25)])
POLICIES = st.builds(
    Policy,
    weight_decay_place=st.sampled_from(["before", "after"]),
    gradient_clip_place=st.sampled_from(["sum", "contribution"]),
    without_accumulation=st.sampled_from(["lookup", "core"]),
)


@st.composite
def tables(draw: Any, name: str) -> Table:
    rule = draw(st.sampled_from(RULES))
    return Table(
        name,
        draw(st.integers(1, 40)),
        draw(st.integers(1, 9)),
        rule,
        draw(st.sampled_from([0.1, Tag(0)])),
        draw(st.sampled_from(["sum", "mean", "sqrtn"])),
        gradient_limits=draw(LIMITS),
        weight_limits=draw(LIMITS),
        weight_decay=draw(st.sampled_from([0.0, 0.01])),
        levels=draw(st.sampled_from([None, Levels(-1.0, 1.0, 9)])),
        accumulate=not rule.lazy or draw(st.booleans()),
    )


@pytest.mark.exhaustive  # one plan with two tables: test_place.py
@settings(max_examples=4)  # each compiles two programs
@given(
    st.tuples(tables("a"), tables("b")),
    POLICIES,
    st.sampled_from([4, 8]),
    st.sampled_from(["div", "mod"]),
)
def test_a_drawn_plan_moves_as_on_one_device(
    drawn: Any, policy: Policy, cores: int, strategy: Any
) -> None:
    features = (Feature("f", 0, (3,)), Feature("g", 1, (2,)), Feature("h", 0, (1, 4)))
    plan = Plan(drawn, features, cores=cores, policy=policy)
    one = start(plan)
    many = place(one, mesh(4), strategy)
    batch, rates = make_batch(plan, ids_of_cores(plan, 3)), [np.float32(0.05)] * plan.tag_count
    expected, after = compiled(one, batch, rates)
    got, placed = compiled(many, place_batch(plan, many.placement, batch), rates)
    assert [np.asarray(x).tobytes() for x in got] == [np.asarray(x).tobytes() for x in expected]
    assert bits(placed) == bits(
        dataclasses.replace(after, tables=jax.tree.map(np.asarray, after.tables))
    )

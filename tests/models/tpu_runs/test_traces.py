"""What is kept of steps is what the steps give when they are made one by one."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradlab.models.tpu_runs.traces import record, sized
from gradlab.rules import Adagrad
from gradlab.tpu import (
    Feature,
    Ids,
    Plan,
    State,
    Table,
    Tag,
    create,
    explain,
    lookup,
    make_batch,
    update,
)

PLAN = Plan(
    (Table("a", 6, 2, Adagrad(), Tag(0)), Table("b", 4, 1, learning_rate=0.5, combiner="sum")),
    (Feature("x", 0, (3,)), Feature("y", 1, (2,)), Feature("z", 0, (1,))),
)
IDS = (
    {"x": Ids([0, 0, 2], [5, 1, 5]), "y": Ids([1], [3])},
    {"x": Ids([1], [1]), "y": Ids([0, 1], [3, 0]), "z": Ids([0, 0], [2, 2])},
)

look, move = jax.jit(lookup), jax.jit(update)
# So that the last bit has no reason to differ between shapes.
PLAINLY = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}


def states() -> tuple[State, State]:
    rng = np.random.default_rng(0)
    begin, end = ([rng.normal(size=(t.rows, t.width)) for t in PLAN.tables] for _ in range(2))
    return create(PLAN, begin), create(PLAN, end)


def test_a_trace_holds_what_single_steps_give() -> None:
    state, wanted = states()
    batches = [sized(make_batch(PLAN, ids), 1, 6, 8, 4) for ids in IDS]
    trace = record(state, wanted, batches, [[0.3], [0.1]])
    for k, rate in enumerate((0.3, 0.1)):
        assert trace.lookups[1].samples[k].tolist() == batches[k].tables[1].samples.tolist()
        for table, kept in zip(state.tables, trace.states.tables, strict=True):
            np.testing.assert_allclose(kept[k], table, rtol=1e-6)
        activations, dedup = look(state, batches[k])
        targets, _ = look(wanted, batches[k])
        gradients = [a - b for a, b in zip(activations, targets, strict=True)]
        for got, expected in zip(
            (*trace.activations, *trace.gradients), (*activations, *gradients), strict=True
        ):
            np.testing.assert_allclose(got[k], expected, rtol=1e-6)
        state = move(state, gradients, [jnp.float32(rate)], dedup)
    np.testing.assert_allclose(trace.states.tables[0][2], state.tables[0], rtol=1e-6)
    np.testing.assert_allclose(trace.states.slots[0][0][2], state.slots[0][0], rtol=1e-6)
    assert trace.states.slots[1] == () and trace.states.tables[1].shape == (3, 4, 1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("cores", [1, 2])
def test_room_changes_nothing(cores: int) -> None:
    plan = Plan((Table("a", 6, 2, Adagrad(), 0.1),), (Feature("x", 0, (3,)),), cores=cores)
    batch = make_batch(plan, [{"x": Ids([0, 0, 2], [k, 1, 5])} for k in range(cores)])
    state = create(plan, [np.arange(12.0).reshape(6, 2)])
    larger = sized(batch, cores, 7, 9, 3)
    assert [x.size for x in larger.tables[0]] == [7 * cores, 9 * cores, 9 * cores, 9 * cores]
    ways = []
    look, move = (jax.jit(f, compiler_options=PLAINLY) for f in (lookup, update))
    for one in (batch, larger):
        activations, dedup = look(state, one)
        ways.append((activations[0], move(state, activations, [], dedup).tables[0]))
    for plain, roomy in zip(*ways, strict=True):
        np.testing.assert_array_equal(plain, roomy)


@pytest.mark.exhaustive
def test_a_pipelined_trace_is_one_update_late() -> None:
    plan = dataclasses.replace(PLAN, pipelined=True)
    state, wanted = (dataclasses.replace(x, plan=plan) for x in states())
    trace = record(
        state,
        wanted,
        [sized(make_batch(plan, ids), 1, 6, 8, 4) for ids in (*IDS, *IDS)],
        [[0.3]] * 4,
    )
    for k, ids in enumerate((*IDS, *IDS)):
        np.testing.assert_allclose(trace.states.tables[0][k], state.tables[0], rtol=1e-6)
        activations, dedup = look(state, make_batch(plan, ids))
        targets, _ = look(wanted, make_batch(plan, ids))
        state = move(
            state, [a - b for a, b in zip(activations, targets, strict=True)], [0.3], dedup
        )
    np.testing.assert_array_equal(trace.states.tables[0][0], trace.states.tables[0][1])


def test_a_step_of_a_trace_is_explained() -> None:
    trace = record(
        *states(), [sized(make_batch(PLAN, ids), 1, 6, 8, 4) for ids in IDS], [[0.3], [0.1]]
    )
    why = explain(trace.step(1, IDS[1]), row=1, table="a")
    np.testing.assert_array_equal(why.weights_before, trace.states.tables[0][1, 1])
    assert (
        [c.sample for c in why.contributions] == [1]
        and why.moved
        and why.ulps is not None
        and why.ulps <= 4
    )

"""What is said about a row is what happened to it: worked out again it is the same row, rule by
rule, in every plan.
"""

import dataclasses
import functools
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from jax.sharding import Mesh

import gradlab as gl
from gradlab.errors import InvalidArgumentError
from gradlab.rules import Adagrad, Adam, Ftrl, Momentum, Rule, StochasticGradientDescent
from gradlab.tpu import (
    Feature,
    Ids,
    Plan,
    Policy,
    Sent,
    StepRecord,
    System,
    Table,
    Tag,
    config_of,
    create,
    explain,
    lookup,
    make_batch,
    sparsecore,
    update,
)  # fmt: skip
from gradlab.tpu.explanations.explain import count_ulps, find_contributions, given_ids, read_row
from gradlab.tpu.sparsecore import Limits

ROWS, WIDTH = 6, 2
TWO = (Feature("f", 0, (3,)), Feature("g", 0, (2, 2), sequence_length=2))
# XLA rounds by how many numbers it takes at once; these subtract near equals.
WIDER = {"Ftrl": 4, "OnlineYogi": 4}
RULES = [name for name in gl.rules.catalog() if name not in ("UserDefined", "AdagradDA")]


def record(
    plan: Plan,
    ids: Any,
    gradients: Any,
    rates: Any = (),
    before: Any = None,
    late: Sent | None = None,
) -> Any:
    state = (
        create(plan, [np.ones((t.rows, t.width)) for t in plan.tables])
        if before is None
        else before
    )
    batch = make_batch(plan, ids)
    after = update(state, gradients, rates, lookup(state, batch)[1])
    return StepRecord(state, Sent(gradients, rates, ids), after, late)


@functools.cache
def made(name: str) -> Rule:
    return gl.rules.catalog()[name]()


@st.composite
def plans(draw: Any, rule: Rule) -> Plan:
    accumulate = draw(st.booleans()) or not rule.lazy
    limits = draw(st.sampled_from([(None, None), (-0.5, 0.75), (None, 0.25)]))
    policy = Policy(
        out_of_range=draw(st.sampled_from(["clamp", "wrap"])),
        weight_decay_place=draw(st.sampled_from(["before", "after"])),
        gradient_clip_place=draw(st.sampled_from(["sum", "contribution"])),
        without_accumulation=draw(st.sampled_from(["lookup", "core"])),
    )
    table = Table(
        "t",
        ROWS,
        WIDTH,
        rule,
        draw(st.sampled_from([0.125, Tag(0)])),
        draw(st.sampled_from(["sum", "mean", "sqrtn"])),
        gradient_limits=limits,
        weight_limits=draw(st.sampled_from([(None, None), (-1.0, 0.95)])),
        weight_decay=draw(st.sampled_from([0.0, 0.01])),
        weight_decay_times_rate=draw(st.booleans()),
        accumulate=accumulate,
    )
    return Plan((table,), TWO, cores=2, policy=policy)


@st.composite
def bags(draw: Any, samples: int, each: int, weighted: bool) -> Ids:
    """As many ids in every sample, so that JAX compiles once."""
    ids = draw(st.lists(st.integers(-2, 8), min_size=samples * each, max_size=samples * each))
    weights = [draw(st.sampled_from([0.5, 1.0, 3.0])) for _ in ids] if weighted else None
    return Ids(np.repeat(np.arange(samples), each), np.array(ids), weights)


def steps(draw: Any, plan: Plan) -> tuple[Any, Any, Any]:
    ids = [{"f": draw(bags(3, 2, True)), "g": draw(bags(2, 3, False))} for _ in range(plan.cores)]
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    gradients = [rng.normal(size=plan.activation_shape(k)).astype(np.float32) for k in range(2)]
    return ids, gradients, [np.float32(0.3)] * plan.tag_count


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", RULES)
@settings(max_examples=1, phases=[Phase.generate])
@given(data=st.data())
def test_the_explanation_is_the_update(name: str, data: Any) -> None:
    plan, state = data.draw(plans(made(name))), None
    for _ in range(2):
        ids, gradients, rates = steps(data.draw, plan)
        # Not the simplest example.
        assume(all(len({*x.ids.tolist()}) > 2 for core in ids for x in core.values()))
        step = record(plan, ids, gradients, rates, before=state)
        for row in range(ROWS):
            why = explain(step, row=row, table="t")
            assert (why.ulps or 0) <= len(why.runs) * WIDER.get(name, 1), str(why)
            expected = np.asarray(step.after.tables[0][row])
            np.testing.assert_allclose(why.weights_after, expected, rtol=1e-5, atol=1e-5)
            assert len(str(why).splitlines()) > 1 and "</table>" in why._repr_html_()
        state = step.after


@pytest.mark.exhaustive
@settings(max_examples=3, phases=[Phase.generate])
@given(data=st.data())
def test_contributions_are_all_there_is(data: Any) -> None:
    """Their products sum to the gradient of the row, taken by JAX through a lookup of its own."""
    table = Table("t", ROWS, WIDTH, combiner=data.draw(st.sampled_from(["sum", "mean", "sqrtn"])))
    plan = Plan((table,), TWO, 2, policy=Policy(out_of_range="clamp"))
    ids, gradients, _ = steps(data.draw, plan)
    step = record(plan, ids, gradients)
    batch = make_batch(plan, ids)

    def loss(w: Any) -> Any:
        activations, _ = lookup(dataclasses.replace(step.before, tables=(w,)), batch)
        return sum((a * g).sum() for a, g in zip(activations, gradients, strict=True))

    true = jax.grad(loss)(step.before.tables[0])
    for row in range(ROWS):
        products = [c.product for c in explain(step, row=row).contributions]
        np.testing.assert_allclose(
            np.sum(products, axis=0) if products else np.zeros(WIDTH), true[row], atol=1e-5
        )


@pytest.mark.exhaustive
def test_who_touched_a_row_and_how() -> None:
    plan = Plan(
        (Table("t", ROWS, 1, learning_rate=Tag(0)),), TWO, 2, policy=Policy(out_of_range="clamp")
    )
    ids = [{"f": Ids([0, 0, 2], [3, 5, 5], [1.0, 3.0, 2.0])}, {"g": Ids([1, 1, 1], [2, 9, 5])}]
    gradients = [
        np.arange(6, dtype=np.float32)[:, None],
        np.arange(10, 18, dtype=np.float32).reshape(4, 2, 1),
    ]
    why = explain(record(plan, ids, gradients, [0.5]), row=5, table="t")
    seen = [
        (c.core, c.feature, c.sample, c.position, c.given_id, c.given_weight, c.gain)
        for c in why.contributions
    ]
    assert seen == [
        (0, "f", 0, 1, 5, 3.0, 0.75), (0, "f", 2, 0, 5, 2.0, 1.0), (1, "g", 1, 1, 9, 1.0, 1.0),
    ]  # fmt: skip
    assert [c.product.tolist() for c in why.contributions] == [[0.0], [2.0], [17.0]]
    assert {core: x.tolist() for core, x in why.core_sums.items()} == {0: [2.0], 1: [17.0]}
    assert (why.learning_rate, why.rate_source, why.cause) == (0.5, "tag 0", "looked up")
    assert [(e.id, e.position, e.fate) for e in why.left_out] == [(5, 2, "truncated")]
    text = str(why)
    assert "id 9 (outside the table; the policy made row 5 of it)" in text
    assert "3 lookups on 2 cores" in text and "(tag 0)" in text and "to the last bit" in text


@pytest.mark.exhaustive
def test_clips_decay_and_limits_are_told() -> None:
    table = Table(
        "t", ROWS, 1, Momentum(0.5), 1.0, "sum", (-1.0, 1.0), (-0.25, 0.25), weight_decay=0.5
    )
    step = record(
        Plan((table,), (Feature("f", 0, (2,)),)),
        {"f": Ids([0, 1], [2, 2])},
        [np.float32([[3.0], [4.0]])],
    )
    why = explain(step, row=2)
    (run,) = why.runs
    assert (run.total.item(), run.gradient.item(), run.decay.item()) == (7.0, 1.0, 0.5)
    assert (run.free.item(), run.weights.item(), run.clipped, run.limited) == (
        -0.5,
        -0.25,
        True,
        True,
    )
    assert {n: x.item() for n, x in why.slots_after.items()} == {"momentum": 1.0}
    for line in (
        "clipped to -1 to 1: [1]",
        "weight decay takes: [0.5]",
        "slot momentum: [0] -> [1]",
    ):
        assert line in str(why)


def test_without_accumulation_the_rule_runs_for_every_lookup() -> None:
    table = Table("t", ROWS, 1, Adagrad(), accumulate=False, combiner="sum")
    step = record(
        Plan((table,), (Feature("f", 0, (2,)),)),
        {"f": Ids([0, 1], [2, 2])},
        [np.float32([[3.0], [4.0]])],
    )
    why = explain(step, row=2)
    assert [run.total.item() for run in why.runs] == [3.0, 4.0]
    assert "gradient 2 of 2: [4]" in str(why)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("table", "ids", "row", "cause", "words"),
    [
        (
            Table("t", 6, 1),
            {"f": Ids([0], [1])},
            3,
            "never looked up",
            "no id of the step names it",
        ),
        (
            Table("t", 6, 1, Adam(lazy=False)),
            {"f": Ids([0], [1])},
            3,
            "not lazy",
            "Adam is not lazy here",
        ),
        (
            Table("t", 6, 1),
            {"f": Ids([0], [9])},
            5,
            "dropped",
            "dropped: core 0, feature 'f', sample 0, id 9",
        ),
        (Table("t", 6, 1), {"g": Ids([0, 0, 0], [1, 2, 3])}, 3, "truncated", "cut off"),
        (
            Table("t", 6, 1),
            {"f": Ids([0], [1])},
            0,
            "never looked up",
            "4 samples without an id: padding gives 0",
        ),
    ],
)
def test_why_a_row_stood_still(table: Table, ids: Any, row: int, cause: str, words: str) -> None:
    step = record(
        Plan((table,), TWO, policy=Policy(out_of_range="drop")),
        ids,
        [np.zeros((3, 1)), np.zeros((2, 2, 1))],
    )
    why = explain(step, row=row)
    assert (why.cause, why.moved, why.ulps) == (cause, False, 0)
    assert words in str(why)


def test_a_sum_of_0_is_a_touch() -> None:
    start = create(Plan((Table("t", ROWS, 1, Ftrl()),), TWO), [np.ones((ROWS, 1))])
    why = explain(
        record(start.plan, {"f": Ids([0], [2])}, [np.zeros((3, 1)), np.zeros((2, 2, 1))]), row=2
    )
    assert "gradients sum to 0, and the rule runs all the same" in str(why)
    assert why.moved and why.weights_after.item() == 0, (
        "FTRL keeps nothing of a weight after a gradient of 0"
    )


def test_a_pipelined_step_moves_rows_by_the_step_before() -> None:
    plan = Plan(
        (Table("t", ROWS, 1, combiner="sum", learning_rate=Tag(0)),),
        (Feature("f", 0, (1,)),),
        pipelined=True,
    )
    first = record(plan, {"f": Ids([0], [2])}, [np.float32([[3.0]])], [0.5])
    still = explain(first, row=2)
    assert (still.cause, still.moved, still.ulps) == ("not yet", False, None)
    second = record(
        plan, {"f": Ids([0], [4])}, [np.float32([[9.0]])], [0.25], first.after, first.sent
    )
    moved = explain(second, row=2)
    assert (moved.weights_after.item(), moved.learning_rate, moved.steps_late, moved.ulps) == (
        -0.5,
        0.5,
        1,
        0,
    )
    assert "gradients of the step before" in str(moved)
    assert not explain(second, row=4).moved
    with pytest.raises(ValueError, match="what the step before sent"):
        explain(dataclasses.replace(second, late=None), row=2)


def test_it_answers_from_the_batch_where_ids_were_not_kept() -> None:
    plan = Plan((Table("t", ROWS, 1),), (Feature("f", 0, (1,)),))
    batch = make_batch(plan, {"f": Ids([0, 0], [2, 3])})
    step = StepRecord(create(plan, [np.ones((ROWS, 1))]), Sent([np.float32([[2.0]])], batch=batch))
    (one,) = explain(step, row=2).contributions
    assert (one.given_id, one.position, one.gain, one.product.tolist()) == (None, None, 0.5, [1.0])
    assert "gain 0.5" in str(explain(step, row=2))


def test_a_jitted_step_is_explained_too() -> None:
    plan = Plan((Table("t", ROWS, WIDTH, Adagrad()),), (Feature("f", 0, (3,)),))
    ids = {"f": Ids([0, 0, 1, 2], [2, 3, 2, 2])}
    sent = Sent([np.random.default_rng(0).normal(size=(3, WIDTH)).astype(np.float32)], ids=ids)
    state = create(plan, [np.ones((ROWS, WIDTH))])
    step = jax.jit(lambda s, b, g: update(s, g, [], lookup(s, b)[1]))
    record = StepRecord(state, sent, step(state, make_batch(plan, ids), sent.gradients))
    assert max(explain(record, row=r).ulps or 0 for r in range(ROWS)) <= 1


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("drop", "the policy dropped it"),
        ("clamp", "made row 5 of it"),
        ("wrap", "made row 3 of it"),
    ],
)
def test_a_row_that_the_table_does_not_have(policy: Any, words: str) -> None:
    plan = Plan(
        (Table("t", ROWS, 1),), (Feature("f", 0, (1,)),), policy=Policy(out_of_range=policy)
    )
    step = record(plan, {"f": Ids([0], [9])}, [np.zeros((1, 1))])
    with pytest.raises(InvalidArgumentError, match=f"rows 0 to 5, not 9; .*{words}"):
        explain(step, row=9)


def test_what_is_asked_wrongly() -> None:
    plan = Plan((Table("t", ROWS, 1, StochasticGradientDescent()),), (Feature("f", 0, (1,)),))
    step = record(plan, {"f": Ids([0], [1])}, [np.zeros((1, 1))])
    with pytest.raises(ValueError, match="no table 'u'; the plan has t, 0 to 0"):
        explain(step, row=1, table="u")
    with pytest.raises(ValueError, match="no step was kept"):
        explain(object(), row=1)
    with pytest.raises(ValueError, match="give the ids of the step"):
        Sent([np.zeros((1, 1))])


@pytest.mark.exhaustive
@pytest.mark.parametrize("pipelined", [False, True])
@pytest.mark.parametrize("engine", ["classic", "sparsecore"])
def test_the_running_system_is_explained(pipelined: bool, engine: str) -> None:
    config = gl.tpu.TPUEmbeddingConfiguration(
        mode="TRAINING", num_tensor_cores=2, batch_size_per_tensor_core=4
    )
    config.pipeline_execution_with_tensor_core = pipelined
    t = config.table_descriptor.add(name="t", vocabulary_size=8, dimension=1, num_features=1)
    t.optimization_parameters.adagrad.SetInParent()
    t.optimization_parameters.learning_rate.constant = 0.5
    system = gl.tpu.initialize_system(config, engine=engine)
    try:
        for keeps in (False, True, True):
            system.keeps_steps = keeps
            for core in range(2):
                system.enqueue({"t": Ids([0, 0, 1], [3, 3, 5 + core])}, core)
            for replica in range(system.replicas):
                system.receive_activations(replica=replica)
                system.send_gradients([np.full((4, 1), 1.0 + replica)], [], replica=replica)
            if not keeps:
                with pytest.raises(ValueError, match="set keeps_steps = True"):
                    explain(row=3, table="t")
        why = explain(row=3, table="t")
        assert why.ulps is not None and why.ulps <= 1 and why.moved and why.steps_late == pipelined
        assert list(why.core_sums) == [0, 1] and sum(c.joined for c in why.contributions) == 4
        assert gl.tpu.explain_missing(table="t").named("Replicas are summed").applies
    finally:
        gl.tpu.shutdown_system()
    with pytest.raises(gl.errors.FailedPreconditionError, match="there is no TPU system"):
        explain(row=3)


@pytest.mark.exhaustive
@pytest.mark.parametrize("devices", [None, 2])
def test_what_an_engine_dropped_is_not_explained_as_looked_up(devices: int | None) -> None:
    few = functools.partial(
        sparsecore.make_batch, per_core=1, limits=Limits(1, 1), allow_id_dropping=True
    )
    plan = Plan(
        (Table("t", 4, 1, combiner="sum", learning_rate=0.5),), (Feature("f", 0, (1,)),), cores=2
    )
    mesh = None if devices is None else Mesh(jax.devices()[:devices], "x")
    system = System(config_of(plan), mesh, engine=few)
    system.keeps_steps = True
    for core in range(2):
        system.enqueue({"f": Ids([0, 0], [0, 2])}, core)
    for replica in range(2):
        system.receive_activations(replica=replica)
    for replica in range(2):
        system.send_gradients([np.ones((1, 1), np.float32)], [], replica=replica)
    touched = [explain(system, row=row) for row in range(4)]
    assert [len(why.contributions) for why in touched] == [2, 0, 0, 0]
    assert [why.cause for why in touched] == [
        "looked up",
        "never looked up",
        "dropped",
        "never looked up",
    ]
    assert len(touched[2].left_out) == 2
    assert [why.ulps for why in touched] == [0] * 4


PLAN = Plan(
    (Table("t", 6, 1, combiner="sum"),),
    (Feature("f", 0, (2,)),),
    policy=Policy(out_of_range="drop"),
)
IDS = {"f": Ids([0, 0, 0, 1], [4, 4, 9, 4], [1.0, 2.0, 5.0, 3.0])}
GRADIENTS = [np.float32([[1.0], [10.0]])]


def test_every_id_of_a_row_is_a_lookup() -> None:
    found = find_contributions(PLAN, 0, 4, Sent(GRADIENTS, ids=IDS))
    assert [(c.sample, c.position, c.given_weight, c.product.item(), c.joined) for c in found] == [
        (0, 0, 1.0, 1.0, 1), (0, 1, 2.0, 2.0, 1), (1, 0, 3.0, 30.0, 1),
    ]  # fmt: skip


def test_equal_ids_that_the_engine_joined() -> None:
    joined = make_batch(PLAN, {"f": Ids([0, 1], [4, 4], [3.0, 3.0])})
    first, second = find_contributions(PLAN, 0, 4, Sent(GRADIENTS, ids=IDS, batch=joined))
    assert (first.joined, first.given_weight, first.gain, first.product.item()) == (
        2,
        3.0,
        3.0,
        3.0,
    )
    assert (second.joined, second.given_weight) == (1, 3.0)


def test_what_was_dropped_names_the_nearest_row() -> None:
    (out,) = (e for e in given_ids(PLAN, 0, 5, Sent(GRADIENTS, ids=IDS)))
    assert (out.id, out.row, out.fate, out.weight) == (9, 5, "dropped", 5.0)
    assert len(list(given_ids(PLAN, 0, None, Sent(GRADIENTS, ids=IDS)))) == 4


def row(*numbers: float) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    return np.float32(numbers), ()


def test_distances() -> None:
    assert count_ulps([row(1.0, np.nan, np.inf)], row(1.0, np.nan, np.inf)) == 0
    assert count_ulps([row(1.0)], row(1.0 + 2**-22)) == 2
    assert count_ulps([row(4.0), row(1.0)], row(1.0 + 2**-22)) == 1, (
        "it came out of 4, which is no finer"
    )
    assert count_ulps([row(1.0)], row(np.nan)) != 0


def test_rows_are_read_with_their_slots() -> None:
    state = create(
        Plan((Table("t", 3, 2),), (Feature("f", 0, (1,)),)), [np.arange(6).reshape(3, 2)]
    )
    weights, slots = read_row(state, 0, 1)
    assert weights.tolist() == [2.0, 3.0] and slots == ()

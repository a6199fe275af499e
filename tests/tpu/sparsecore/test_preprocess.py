"""Both engines give the same numbers; what does not fit is refused, dropped and counted, or split."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradlab import rules
from gradlab.errors import InvalidArgumentError
from gradlab.tpu import Feature, Ids, Lookups, Plan, Table, make_batch
from gradlab.tpu.plan import PADDING_ID
from gradlab.tpu.sparsecore import Limits, Unplaced, preprocess, stack, stacked, static_size
from gradlab.tpu.sparsecore.preprocess import batch_of, by_stack
from tests.tpu.sparsecore import cases

ONE = Plan((Table("t", 16, 1, combiner="sum"),), (Feature("f", 0, (2,)),))


@settings(max_examples=50)
@given(st.integers(0, 10_000), st.sampled_from([1, 2, 4]), st.booleans())
def test_engines_look_up_and_sum_the_same(seed: int, per_core: int, stacking: bool) -> None:
    plan, given_ids = cases.plan(), cases.ids(seed)
    layout = stack(plan, per_core, enabled=stacking)
    batches = (
        make_batch(plan, given_ids),
        make_batch(plan, given_ids, "sparsecore", per_core=per_core, layout=layout),
    )
    for k in range(3):
        classic, other = (cases.sums(plan, k, b.tables[k]) for b in batches)
        for a, b in zip(classic, other, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-6)


@pytest.mark.exhaustive
def test_engines_step_alike() -> None:
    plan, given_ids = cases.plan(), cases.ids(0)
    state = cases.start(plan)
    classic = cases.step(state, make_batch(plan, given_ids))
    other = cases.step(state, make_batch(plan, given_ids, "sparsecore"))
    for a, b in zip(
        [*classic[0], *cases.leaves(classic[1])], [*other[0], *cases.leaves(other[1])], strict=True
    ):
        np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6)


@pytest.mark.exhaustive
@pytest.mark.parametrize("rule", [rules.LaProp(), rules.FrequencyAwareAdagrad()])
def test_engines_give_the_same_bits_where_nothing_is_summed(rule: rules.Rule) -> None:
    plan = cases.plan(rule)
    state, given_ids = cases.start(plan), cases.once(plan)
    classic = cases.step(state, make_batch(plan, given_ids))
    other = cases.step(state, make_batch(plan, given_ids, "sparsecore"))
    for a, b in zip(
        [*classic[0], *cases.leaves(classic[1])], [*other[0], *cases.leaves(other[1])], strict=True
    ):
        assert a.tobytes() == b.tobytes()


@pytest.mark.exhaustive
def test_minibatches_are_the_batch() -> None:
    plan, given_ids = cases.plan(), cases.ids(0, most=9)
    state = cases.start(plan)
    found = preprocess(plan, given_ids, per_core=2, limits=Limits(20, 9), minibatching=True)
    assert found.minibatches == 2
    whole = cases.step(state, found.batch)
    parts, then = [], state
    for m in range(found.minibatches):
        activations, then = cases.step(then, found.minibatch(m))
        parts.append(activations)
    for k, a in enumerate(whole[0]):
        np.testing.assert_allclose(sum(p[k] for p in parts), a, rtol=1e-5, atol=1e-5)
    for a, b in zip(cases.leaves(whole[1]), cases.leaves(then), strict=True):
        assert a.tobytes() == b.tobytes()  # each row moved in one of them, by all of its gradient


@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_no_row_is_in_two_minibatches(seed: int) -> None:
    plan, given_ids = cases.plan(), cases.ids(seed, most=9)
    found = preprocess(
        plan, given_ids, per_core=2, limits=Limits(12, 5), minibatching=True, allow_id_dropping=True
    )
    parts = [found.minibatch(m) for m in range(found.minibatches)]
    for k, whole in enumerate(found.batch.tables):
        rows = [set(p.tables[k].unique.tolist()) - {PADDING_ID} for p in parts]
        assert sorted(r for x in rows for r in x) == sorted(
            set(whole.unique.tolist()) - {PADDING_ID}
        )
        each = [cases.sums(plan, k, p.tables[k]) for p in parts]
        for n, a in enumerate(cases.sums(plan, k, whole)):
            np.testing.assert_allclose(sum(x[n] for x in each), a, rtol=1e-6)


def test_a_batch_within_its_limits_is_not_split() -> None:
    found = preprocess(cases.plan(), cases.ids(0), limits=Limits(), minibatching=True)
    assert found.minibatches == 1


def test_what_is_beyond_a_limit_is_refused_or_dropped() -> None:
    given_ids = {"f": Ids([0, 0, 0, 1], [0, 2, 4, 1])}
    with pytest.raises(
        InvalidArgumentError, match=r"asks partition 0 of 't' for 3 ids, the limit is 2"
    ):
        preprocess(ONE, given_ids, per_core=2, limits=Limits(2, 9))
    with pytest.raises(
        InvalidArgumentError, match=r"for 3 different ids, the limit is 2; raise max_unique_ids"
    ):
        preprocess(ONE, given_ids, per_core=2, limits={"t": Limits(9, 2)})
    found = preprocess(ONE, given_ids, per_core=2, limits=Limits(2, 9), allow_id_dropping=True)
    assert found.statistics["t"].dropped.tolist() == [[1, 0]]
    t = found.batch.tables[0]
    assert t.unique[t.inverse[t.weights > 0]].tolist() == [0, 2, 1]


def test_duplicates_in_a_sample_count_once() -> None:
    found = preprocess(ONE, {"f": Ids([0, 0, 0, 0], [2, 4, 2, 2])}, per_core=2, limits=Limits(2, 2))
    assert found.statistics["t"].ids.tolist() == [[2, 0], [0, 0]]
    assert found.buffers["t"].gains[0, :2].tolist() == [3.0, 1.0]


def test_what_the_buffers_do_not_hold_is_refused_or_cut() -> None:
    given_ids = {"f": Ids([0] * 9, [0, 2, 4, 6, 8, 10, 12, 14, 1])}
    with pytest.raises(
        InvalidArgumentError, match="'t' hold 16 entries for a core, 1 of 9 ids find no room; raise"
    ):
        preprocess(ONE, given_ids, per_core=2, buffer_size=16)
    found = preprocess(ONE, given_ids, per_core=2, buffer_size=16, allow_id_dropping=True)
    assert found.statistics["t"].cut.tolist() == [[0, 1]]


def test_ids_below_zero_look_like_rows_and_ids_beyond_the_end_read_nothing() -> None:
    given_ids = {"f": Ids([0, 1], [-1, 16])}
    with pytest.raises(
        InvalidArgumentError, match="id -1 of feature 'f', sample 0, is outside table 't'"
    ):
        preprocess(ONE, given_ids, per_core=2)
    found = preprocess(ONE, given_ids, per_core=2, out_of_range="as_found")
    t = found.batch.tables[0]
    assert t.unique[t.inverse[t.weights > 0]].tolist() == [0]
    assert found.statistics["t"].outside.tolist() == [2]
    assert found.buffers["t"].embedding_ids[0, [0, 8]].tolist() == [0, 8]


@pytest.mark.parametrize(
    ("plan", "options", "message"),
    [
        (ONE, {"per_core": 3}, "must be a power of 2, got 1 cores with 3 each"),
        (
            ONE,
            {"limits": {"u": Limits()}, "per_core": 2},
            "there is no stack 'u'; the layout has t",
        ),
        (
            ONE,
            {"limits": Limits(8), "buffer_size": 99, "per_core": 2},
            "buffer_size of stack 't' can be at most 32",
        ),
        (ONE, {"layout": stack(ONE, 1), "per_core": 2}, "this one has 1 tables, 1 cores, 1 each"),
        (cases.plan(accumulate=False), {}, "table 'a' cannot have accumulate=False"),
        (
            ONE,
            {"per_core": 4},
            "feature 'f' has 2 samples on a core, which 4 SparseCores cannot share evenly",
        ),
    ],
)
def test_what_cannot_be_is_refused(plan: Plan, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        preprocess(plan, [{}] * plan.cores, **options)


def test_an_empty_batch_is_a_batch() -> None:
    found = preprocess(ONE, {}, per_core=2)
    assert (found.buffers["t"].kinds() == "unwritten").all()
    assert not found.batch.tables[0].weights.any()


LAYOUT = stacked([Unplaced("a", 8, 8), Unplaced("b", 8, 16)], 1, 2)


def test_values_are_for_all_stacks_or_by_name() -> None:
    assert by_stack(LAYOUT, 7) == {"a": 7, "b": 7}
    assert by_stack(LAYOUT, {"b": 7}) == {"a": None, "b": 7}
    with pytest.raises(ValueError, match="no stack 'c'; the layout has a, b"):
        by_stack(LAYOUT, {"c": 7})


def test_buffers_are_as_large_as_the_limits_ask_or_as_they_need_to_be() -> None:
    plan, given_ids = cases.plan(), cases.ids(3)
    limited = preprocess(plan, given_ids, per_core=2, limits=Limits(20, 20))
    assert {b.gains.shape[1] for b in limited.buffers.values()} == {
        static_size(Limits(20), limited.layout)
    }
    for name, b in preprocess(plan, given_ids, per_core=2).buffers.items():
        assert b.gains.shape[1] == 2 * limited.statistics[name].required.max()
    for name, b in preprocess(plan, given_ids, per_core=2, minibatching=True).buffers.items():
        need = limited.statistics[name].required.reshape(2, 2).sum(1).max()
        assert b.gains.shape[1] == -(-need // 16) * 16


def test_one_stack_beyond_its_limits_splits_all() -> None:
    plan = cases.plan()
    given_ids = [{"f": Ids([0] * 40, range(40)), "h": Ids([0] * 9, range(9))}, {}]
    found = preprocess(plan, given_ids, per_core=2, limits={"a_c": Limits(6, 6)}, minibatching=True)
    assert found.minibatches > 1
    assert all(
        b.row_pointers.shape == (2, 2 * 8 * found.minibatches) for b in found.buffers.values()
    )
    assert len(set(found.reads["b"].minibatches)) > 1


def triples(t: Lookups, core: int) -> list[tuple[int, int]]:
    """(sample, row) of each lookup of a core."""
    rows, each = t.unique.size // cases.CORES, t.inverse.size // cases.CORES
    unique, own = t.unique[core * rows :][:rows], slice(core * each, (core + 1) * each)
    made = t.inverse[own] < rows
    return sorted(
        zip(t.samples[own][made].tolist(), unique[t.inverse[own][made]].tolist(), strict=True)
    )


@pytest.mark.parametrize("per_core", [1, 4])
def test_buffers_hold_the_classic_lookups_merged(per_core: int) -> None:
    plan, given_ids = cases.plan(), cases.ids(5)
    found = make_batch(plan, given_ids, "sparsecore", per_core=per_core)
    for k, classic in enumerate(make_batch(plan, given_ids).tables):
        for core in range(cases.CORES):
            assert triples(found.tables[k], core) == sorted(set(triples(classic, core)))


def test_what_the_buffers_say_is_what_is_looked_up() -> None:
    found = preprocess(cases.plan(), cases.ids(5), per_core=2)
    reads = {name: r._replace(gains=r.gains * 2) for name, r in found.reads.items()}
    doubled = batch_of(found.plan, found.layout, reads)
    for a, b in zip(found.batch.tables, doubled.tables, strict=True):
        assert np.array_equal(b.weights, 2 * a.weights)
        assert np.array_equal(b.unique, a.unique)

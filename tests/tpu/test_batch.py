"""The host's part: gains, the policy for ids outside, distinct rows, and what is refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradlab.errors import InvalidArgumentError
from gradlab.tpu import (
    Feature,
    Ids,
    Lookups,
    Plan,
    Policy,
    Table,
    combiner_gains,
    coo_rows,
    make_batch,
)
from gradlab.tpu.plan import PADDING_ID, Combiner

PAIR = (Feature("f", 0, (2,)), Feature("g", 0, (3,)))


def plan(policy: Policy = Policy(), cores: int = 1, **table: Any) -> Plan:  # noqa: B008 - frozen
    return Plan((Table("t", 10, 1, **table),), PAIR, cores, policy=policy)


def lists(x: Lookups) -> list[list[Any]]:
    return [v.tolist() for v in x]


def test_features_of_a_table_share_its_rows() -> None:
    (t,) = make_batch(plan(), {"f": Ids([0, 1, 1], [4, 4, 2]), "g": Ids([2], [2])}).tables
    assert lists(t) == [[2, 4], [1, 1, 0, 0], [0, 1, 1, 4], [1.0, 0.5, 0.5, 1.0]]
    assert [x.dtype for x in t] == [np.uint32, np.uint32, np.uint32, np.float32]


def test_cores_get_equal_shares() -> None:
    (t,) = make_batch(
        plan(cores=2, combiner="sum"), [{"f": Ids([0], [7])}, {"f": Ids([0, 1], [3, 1])}]
    ).tables
    assert lists(t) == [[7, PADDING_ID, 1, 3], [0, 2, 1, 0], [0, 5, 0, 1], [1.0, 0.0, 1.0, 1.0]]


def test_a_batch_without_ids_is_a_batch() -> None:
    (t,) = make_batch(plan(), {}).tables
    assert lists(t) == [[PADDING_ID], [1], [5], [0.0]]


def test_without_accumulation_nothing_is_joined() -> None:
    ids = {"f": Ids([0, 0, 1], [4, 4, 2])}
    each = plan(accumulate=False)
    assert lists(make_batch(each, ids).tables[0])[:2] == [[4, 4, 2], [0, 1, 2]]
    core = plan(Policy(without_accumulation="core"), accumulate=False)
    assert lists(make_batch(core, ids).tables[0])[:2] == [[2, 4, PADDING_ID][:2], [1, 1, 0]]


def test_sequences_are_cut_and_not_combined() -> None:
    features = (Feature("f", 0, (2, 2), 2),)
    (t,) = make_batch(
        Plan((Table("t", 10, 1),), features), {"f": Ids([0, 0, 0, 1], [5, 6, 7, 5])}
    ).tables
    assert lists(t) == [[5, 6], [0, 1, 0], [0, 1, 2], [1.0, 1.0, 1.0]]


@pytest.mark.parametrize(
    ("choice", "rows", "gains"),
    [("drop", [3], [0.5]), ("clamp", [9, 3], [0.5, 0.5]), ("wrap", [2, 3], [0.5, 0.5])],
)
def test_ids_outside_follow_the_policy(choice: Any, rows: list[int], gains: list[float]) -> None:
    (t,) = make_batch(plan(Policy(out_of_range=choice)), {"f": Ids([0, 0], [12, 3])}).tables
    n = len(rows)
    assert [t.unique[i] for i in t.inverse[:n]] == rows
    assert t.weights[:n].tolist() == gains


@pytest.mark.parametrize(("choice", "rows"), [("wrap", [5, 299]), ("clamp", [0, 5])])
def test_narrow_ids_of_a_table_that_they_cannot_count_follow_it_too(
    choice: Any, rows: list[int]
) -> None:
    wide = Plan((Table("t", 300, 1),), (Feature("f", 0, (1,)),), policy=Policy(out_of_range=choice))
    assert make_batch(wide, {"f": Ids([0, 0], np.int8([-1, 5]))}).tables[0].unique.tolist() == rows
    huge = make_batch(wide, {"f": Ids([0], np.uint64([2**63 + 5]))}).tables[0].unique.tolist()
    assert huge == [(2**63 + 5) % 300 if choice == "wrap" else 299]


def test_weights_that_sum_to_0_follow_the_policy() -> None:
    ids = {"f": Ids([0, 1, 1], [4, 2, 3], [0.0, 1.0, -1.0])}
    assert make_batch(plan(), ids).tables[0].weights.tolist() == [0.0, 0.0, 0.0]
    strict = Policy(zero_normalizer="raise")
    with pytest.raises(
        InvalidArgumentError, match="the weights of feature 'f', sample 0, sum to 0"
    ):
        make_batch(plan(strict), ids)
    with pytest.raises(InvalidArgumentError, match="sample 1, sum to 0"):
        make_batch(plan(strict), {"f": ids["f"]._replace(weights=[2.0, 1.0, -1.0])})
    kept = make_batch(
        plan(strict, combiner="sqrtn"), {"f": ids["f"]._replace(weights=[2.0, 0.0, -1.0])}
    )
    assert kept.tables[0].weights.tolist() == [1.0, 0.0, -1.0, 0.0][:3]
    make_batch(plan(strict, combiner="sum"), ids)


@pytest.mark.parametrize("bad", [-1, 10, 2**40])
def test_an_id_outside_is_named(bad: int) -> None:
    message = rf"id {bad} of feature 'g', sample 2, is outside table 't', whose rows are 0 to 9"
    with pytest.raises(InvalidArgumentError, match=message):
        make_batch(plan(), {"g": Ids([0, 2], [0, bad])})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Ids([0, 1], [1]), "feature 'f' needs vectors of one length"),
        (Ids([0], [1], [1.0, 2.0]), "feature 'f' needs vectors of one length"),
        (Ids([[0]], [[1]]), "feature 'f' needs vectors of one length"),
        (Ids([0], [1.0]), "the ids of feature 'f' must be integers, got float64"),
        (Ids([2], [1]), "feature 'f' has samples 0 to 1, got 2 to 2"),
        (Ids([-1], [1]), "feature 'f' has samples 0 to 1, got -1 to -1"),
    ],
)
def test_malformed_ids_name_their_feature(given: Ids, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        make_batch(plan(), {"f": given})


def test_cores_and_features_must_be_those_of_the_plan() -> None:
    with pytest.raises(ValueError, match="the plan has 2 cores, got the ids of 1"):
        make_batch(plan(cores=2), {})
    with pytest.raises(ValueError, match="there is no feature 'h'; the plan has f, g"):
        make_batch(plan(), {"h": Ids([], [])})
    with pytest.raises(
        TypeError,
        match=r"feature 'f' needs Ids\(samples, ids\), which ids_of.* makes of lists; got list",
    ):
        make_batch(plan(), {"f": [[7], [3]]})


def test_a_sequence_needs_its_samples_in_order() -> None:
    sequence = Plan((Table("t", 10, 1),), (Feature("f", 0, (2, 2), 2),))
    with pytest.raises(
        InvalidArgumentError, match="the samples of feature 'f', a sequence, must not decrease"
    ):
        make_batch(sequence, {"f": Ids([1, 0], [1, 2])})


SAMPLES, IDS = [0, 0, 0, 1, 3, 3, 3], [5, 5, 7, 2, 4, 9, 4]
WEIGHTS = [1.0, 2.0, 1.0, 0.0, 0.5, 1.5, 2.0]
lookups = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.floats(0.125, 4.0, width=32)))


def test_gains_of_each_combiner() -> None:
    sums, squares = np.array([4.0, 0.0, 0.0, 4.0]), np.array([6.0, 0.0, 0.0, 6.5])
    assert combiner_gains(SAMPLES, WEIGHTS, 4, "sum").tolist() == WEIGHTS
    for combiner, size in (("mean", sums), ("sqrtn", np.sqrt(squares))):
        with np.errstate(all="ignore"):
            expected = np.nan_to_num(np.array(WEIGHTS) / size[SAMPLES])
        np.testing.assert_allclose(
            combiner_gains(SAMPLES, WEIGHTS, 4, combiner), expected, rtol=2e-7
        )


def test_neighbors_are_joined_and_others_are_not() -> None:
    rows = coo_rows(SAMPLES, IDS, WEIGHTS, 4, "sum")
    assert [x.tolist() for x in rows] == [
        [0, 0, 1, 3, 3, 3],
        [5, 7, 2, 4, 9, 4],
        [3.0, 1.0, 0.0, 0.5, 1.5, 2.0],
    ]
    assert [x.dtype for x in rows] == [np.int32, np.int32, np.float32]


def test_the_same_id_in_the_next_sample_is_another_lookup() -> None:
    assert coo_rows([0, 1], [5, 5], None, 2, "sum").gains.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@given(lookups)
def test_joining_changes_no_activation(
    combiner: Combiner, given_lookups: list[tuple[int, int, float]]
) -> None:
    ordered = sorted(given_lookups, key=lambda x: x[0])
    samples, ids, weights = ([x[k] for x in ordered] for k in range(3))
    table, rows = np.array([1.0, 10.0, 100.0, 1000.0]), coo_rows(samples, ids, weights, 5, combiner)
    plain, joined = np.zeros(5), np.zeros(5)
    np.add.at(
        plain,
        np.array(samples, int),
        combiner_gains(samples, weights, 5, combiner) * table[np.array(ids, int)],
    )
    np.add.at(joined, rows.row_ids, rows.gains * table[rows.col_ids])
    np.testing.assert_allclose(joined, plain, rtol=1e-6)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (([0, 1], [3, 4], [1.0], 2, "sum"), "2 sample_ids, 1 weights"),
        (([0, 1], [3], None, 2, "sum"), "2 sample_ids, 1 values"),
        (([0, 2], [3, 4], None, 2, "sum"), r"sample_ids must be in \[0, 2\), got 0 to 2"),
        (([-1, 0], [3, 4], None, 2, "sum"), "got -1 to 0"),
        (([[0]], [3], None, 2, "sum"), r"sample_ids must be a vector, got shape \(1, 1\)"),
        (([0], [3], None, 2, "max"), "combiner must be 'sum', 'mean' or 'sqrtn', got 'max'"),
    ],
)
def test_refused(args: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        coo_rows(*args)

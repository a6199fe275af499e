"""The host's part: gains, the policy for ids outside, distinct rows, and what is refused by name."""

from typing import Any

import numpy as np
import pytest

from gradlab.errors import InvalidArgumentError
from gradlab.tpu import Feature, Ids, Lookups, Plan, Policy, Table, make_batch
from gradlab.tpu.lookups import OUTSIDE

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
    (t,) = make_batch(plan(cores=2, combiner="sum"), [{"f": Ids([0], [7])}, {"f": Ids([0, 1], [3, 1])}]).tables
    assert lists(t) == [[7, OUTSIDE, 1, 3], [0, 2, 1, 0], [0, 5, 0, 1], [1.0, 0.0, 1.0, 1.0]]


def test_a_batch_without_ids_is_a_batch() -> None:
    (t,) = make_batch(plan(), {}).tables
    assert lists(t) == [[OUTSIDE], [1], [5], [0.0]]


def test_without_accumulation_nothing_is_joined() -> None:
    ids = {"f": Ids([0, 0, 1], [4, 4, 2])}
    each = plan(accumulate=False)
    assert lists(make_batch(each, ids).tables[0])[:2] == [[4, 4, 2], [0, 1, 2]]
    core = plan(Policy(without_accumulation="core"), accumulate=False)
    assert lists(make_batch(core, ids).tables[0])[:2] == [[2, 4, OUTSIDE][:2], [1, 1, 0]]


def test_sequences_are_cut_and_not_combined() -> None:
    features = (Feature("f", 0, (2, 2), 2),)
    (t,) = make_batch(Plan((Table("t", 10, 1),), features), {"f": Ids([0, 0, 0, 1], [5, 6, 7, 5])}).tables
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
def test_narrow_ids_of_a_table_that_they_cannot_count_follow_it_too(choice: Any, rows: list[int]) -> None:
    wide = Plan((Table("t", 300, 1),), (Feature("f", 0, (1,)),), policy=Policy(out_of_range=choice))
    assert make_batch(wide, {"f": Ids([0, 0], np.int8([-1, 5]))}).tables[0].unique.tolist() == rows
    huge = make_batch(wide, {"f": Ids([0], np.uint64([2**63 + 5]))}).tables[0].unique.tolist()
    assert huge == [(2**63 + 5) % 300 if choice == "wrap" else 299]


def test_weights_that_sum_to_0_follow_the_policy() -> None:
    ids = {"f": Ids([0, 1, 1], [4, 2, 3], [0.0, 1.0, -1.0])}
    assert make_batch(plan(), ids).tables[0].weights.tolist() == [0.0, 0.0, 0.0]
    strict = Policy(zero_normalizer="raise")
    with pytest.raises(InvalidArgumentError, match="the weights of feature 'f', sample 0, sum to 0"):
        make_batch(plan(strict), ids)
    with pytest.raises(InvalidArgumentError, match="sample 1, sum to 0"):
        make_batch(plan(strict), {"f": ids["f"]._replace(weights=[2.0, 1.0, -1.0])})
    kept = make_batch(plan(strict, combiner="sqrtn"), {"f": ids["f"]._replace(weights=[2.0, 0.0, -1.0])})
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
        TypeError, match=r"feature 'f' needs Ids\(samples, ids\), which ids_of.* makes of lists; got list"
    ):
        make_batch(plan(), {"f": [[7], [3]]})


def test_a_sequence_needs_its_samples_in_order() -> None:
    sequence = Plan((Table("t", 10, 1),), (Feature("f", 0, (2, 2), 2),))
    with pytest.raises(InvalidArgumentError, match="the samples of feature 'f', a sequence, must not decrease"):
        make_batch(sequence, {"f": Ids([1, 0], [1, 2])})

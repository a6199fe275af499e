"""The buffers of one device are the batch that `preprocess` makes for one core."""

from __future__ import annotations

import numpy as np
import pytest

from gradlab._base.slices import IndexedSlices
from gradlab.errors import InvalidArgumentError
from gradlab.rules import Adagrad, StochasticGradientDescent
from gradlab.tpu import Feature, Ids, Plan, Table, create, lookup, sparsecore
from gradlab.tpu.sparsecore import Limits
from gradlab.tpu.sparsecore.coo import Coo
from gradlab.tpu.sparsecore.matmul import (
    Lookups,
    read_lookups,
    sort_lookups,
    sum_rows,
    update_looked_up_rows,
    update_slices,
)


@pytest.mark.parametrize("minibatching", [False, True])
def test_a_device_does_what_lookup_and_a_table_do(minibatching: bool) -> None:
    rng = np.random.default_rng(0)
    rule = Adagrad(epsilon=0.0, epsilon_place="none")
    plan = Plan((Table("t", 32, 8, rule=rule, combiner="mean"),), (Feature("f", 0, (8,)),))
    samples = np.sort(rng.integers(0, 8, 60))
    ids = rng.integers(0, 32, 60)
    limits = sparsecore.Limits(3, 3) if minibatching else None
    made = sparsecore.preprocess(
        plan,
        {"f": Ids(samples, ids)},
        per_core=4,
        limits=limits,
        minibatching=True,
    )
    assert (made.minibatches > 1) is minibatching
    table = rng.normal(size=(32, 8)).astype(np.float32)
    stacks = sparsecore.to_stacks(made.layout, {"t": table}, padding=0.0)

    buffers = made.buffers["t"]
    vectors = (buffers.row_pointers, buffers.sample_ids, buffers.embedding_ids, buffers.gains)
    lookups = read_lookups([x[0] for x in vectors], made.minibatches, 4, 8, len(stacks["t"]))
    activations = sum_rows(lookups, stacks["t"], 8, None)

    state = create(plan, [table])
    expected, _ = lookup(state, made.batch)
    expected = np.asarray(expected[0])
    np.testing.assert_allclose(activations, expected, rtol=1e-5, atol=1e-6)

    gradients = rng.normal(size=(8, 8)).astype(np.float32)
    slots = np.ones_like(stacks["t"])
    updated = update_looked_up_rows(
        rule, (stacks["t"], slots), lookups, gradients[lookups.samples], 0.1, (-np.inf, np.inf)
    )
    found = sparsecore.from_stacks(made.layout, {"t": updated[0]})["t"]
    sums = mean_gains(samples, ids).T @ gradients
    touched = np.unique(ids)
    expected_rows = table[touched] - 0.1 * sums[touched] / np.sqrt(1 + sums[touched] ** 2)
    np.testing.assert_allclose(found[touched], expected_rows, rtol=1e-5, atol=1e-6)


def mean_gains(samples: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """What each row counts in each sample."""
    gains = np.zeros((8, 32), np.float32)
    np.add.at(gains, (samples, ids), 1)
    return gains / np.maximum(gains.sum(1, keepdims=True), 1)


def read_two_minibatches(pointers: list[int], limits: Limits | None = None) -> Lookups:
    """Two minibatches of one SparseCore, whose lookups are rows 0 and 1, and 2 and 3."""
    ids = np.zeros(16, np.int32)
    ids[[0, 1, 8, 9]] = [0, 1, 2, 3]
    buffers = (pointers, np.zeros(16, np.int32), ids, np.ones(16, np.float32))
    return read_lookups(buffers, 2, 1, 1, 4, limits)


POINTERS = [2, *[8] * 7, 10, *[16] * 7]


def test_limits_are_those_of_a_minibatch() -> None:
    assert read_two_minibatches(POINTERS, Limits(2, 2)).rows.tolist() == [0, 1, 2, 3]
    with pytest.raises(InvalidArgumentError, match="a partition has 2 unique ids"):
        read_two_minibatches(POINTERS, Limits(2, 1))


def test_pointers_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="must go from 0 to 16"):
        read_two_minibatches([-1, *POINTERS[1:]])
    with pytest.raises(InvalidArgumentError, match="must go from 0 to 16"):
        read_two_minibatches([12, *POINTERS[1:]])
    with pytest.raises(InvalidArgumentError, match="more than 1 partitions"):
        read_two_minibatches([2, 9, *POINTERS[2:]])


def test_lookups_are_sorted_by_partition_row_and_sample() -> None:
    coo = Coo(np.int32([1, 0, 0, 1]), np.int32([2, 3, 2, 0]), np.float32([1, 2, 3, 4]))

    lookups, ends = sort_lookups(coo, 2, 2, 4, Limits(3, 2))

    assert lookups.gains.tolist() == [4, 3, 1, 2]
    assert lookups.rows.tolist() == [0, 1, 1, 3]
    assert ends.tolist() == [3, 4]


def test_weights_may_have_one_value_only() -> None:
    table = np.zeros((2, 1), np.float32)
    slices = IndexedSlices(np.ones((1, 1), np.float32), np.array([1]), table.shape)

    (found,) = update_slices(StochasticGradientDescent(), (table,), slices, 1.0, (0.5, 0.5))

    assert found.tolist() == [[0], [0.5]]

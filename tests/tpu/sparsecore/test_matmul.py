"""The buffers of one device are the batch that `preprocess` makes for one core."""

from __future__ import annotations

import numpy as np
import pytest

from gradlab.rules import Adagrad
from gradlab.tpu import Feature, Ids, Plan, Table, create, lookup, sparsecore
from gradlab.tpu.sparsecore.matmul import read_lookups, sum_rows, update_looked_up_rows


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

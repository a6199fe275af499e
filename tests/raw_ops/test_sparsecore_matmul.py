"""Rows looked up by the SparseCores of a device, and updated: from ids to tables by ops alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from gradlab import raw_ops, tpu
from gradlab.errors import DTypeError, InvalidArgumentError
from tests.differences import differs
from tests.raw_ops.sparsecore_formulas import CASES, FORMULAS, draw_tables

CORES, SAMPLES, ROWS, WIDTH = 2, 8, 32, 8
NO_LEVELS = {
    "quantization_config_low": 0.0,
    "quantization_config_high": 0.0,
    "quantization_config_num_buckets": 0,
}
LIMITS = {"max_ids_per_sparse_core": 40, "max_unique_ids_per_sparse_core": 20}
TABLE = {"table_name": "t", "num_sparsecores_per_device": CORES}


class Batch(NamedTuple):
    """Ids of a device as a matrix of gains (samples, rows), and its buffers."""

    gains: np.ndarray
    buffers: dict[str, np.ndarray]


def draw_batch(seed: int, minibatches: bool = False) -> Batch:
    """Ids by the preprocessing ops, in one minibatch or in several."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 6, SAMPLES)
    ids = rng.integers(0, ROWS, counts.sum())
    weights = rng.normal(size=ids.size).astype(np.float32)
    gains = np.zeros((SAMPLES, ROWS), np.float32)
    np.add.at(gains, (np.repeat(np.arange(SAMPLES), counts), ids), weights)
    feature = {
        "indices_or_row_splits": np.cumsum([0, *counts]),
        "values": ids,
        "weights": weights,
        "sample_count": SAMPLES,
        "combiner": "sum",
    }
    csr = split_into_minibatches(feature) if minibatches else sort(feature)
    names = ("row_pointers", "sorted_sample_ids", "sorted_token_ids", "sorted_gains")
    return Batch(
        gains,
        {
            **{name: getattr(csr, name) for name in names},
            "num_minibatches_per_physical_sparse_core": csr[-1],
        },
    )


COMMON: dict[str, Any] = {
    "num_replica": 1,
    "table_vocab_size": ROWS,
    "feature_width": WIDTH,
    "table_name": "t",
}


def sort(feature: dict[str, Any]) -> Any:
    lists = raw_ops.ConvertToListOfSparseCoreCooTensors(
        **feature,
        num_sc_per_chip=CORES,
        row_offset=0,
        col_offset=0,
        col_shift=0,
        num_sc_shards=CORES,
        stacked_table_sample_count=SAMPLES,
    )
    in_order = [
        raw_ops.SortListOfSparseCoreCooTensors(
            row_ids_list=[rows],
            col_ids_list=[cols],
            gains_list=[gains],
            sample_count_list=[SAMPLES // CORES],
            col_offset_list=[0],
            num_sc_per_chip=CORES,
            **LIMITS,
            **COMMON,
        )
        for rows, cols, gains in zip(*lists, strict=True)
    ]
    return raw_ops.ConvertToSparseCoreCsrWrappedCooTensor(
        sorted_row_ids_list=[x.sorted_row_ids for x in in_order],
        sorted_col_ids_list=[x.sorted_col_ids for x in in_order],
        sorted_gains_list=[x.sorted_gains for x in in_order],
        id_counts_list=[x.id_counts for x in in_order],
        splits=0,
        sample_count_per_sc=SAMPLES // CORES,
        max_minibatches_per_sc=1,
        max_ids_per_chip_per_sample=16,
        allow_id_dropping=False,
        **COMMON,
    )


def split_into_minibatches(feature: dict[str, Any]) -> Any:
    coo = raw_ops.ConvertToCooTensor(**feature)
    chip = {**COMMON, "sample_count": SAMPLES, "num_sc_per_chip": CORES, "program_key": [""]}
    batch = raw_ops.GetMinibatchSplitsWithPhysicalReplica(
        row_ids=coo.row_ids, col_ids=coo.col_ids, gains=coo.gains, mini_batch_splits="", **chip
    )
    return raw_ops.GetMinibatchesInCsrWithPhysicalReplica(
        row_ids=batch.sorted_row_ids,
        col_ids=batch.sorted_col_ids,
        gains=batch.sorted_gains,
        splits=batch.splits | 0b111,
        id_counts=batch.id_counts,
        max_minibatches_per_sc=8,
        max_ids_per_chip_per_sample=64,
        mini_batch_in_csr="",
        **chip,
    )


def by_core(table: np.ndarray) -> np.ndarray:
    """Rows of the stack as the device has them, SparseCore by SparseCore."""
    return table.reshape(-1, CORES, table.shape[1]).transpose(1, 0, 2).reshape(table.shape)


def in_order(table: np.ndarray) -> np.ndarray:
    """The inverse of `by_core`."""
    return table.reshape(CORES, -1, table.shape[1]).transpose(1, 0, 2).reshape(table.shape)


@pytest.mark.parametrize("minibatches", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_activations_are_sums_of_rows(seed: int, minibatches: bool) -> None:
    batch = draw_batch(seed, minibatches)
    assert batch.buffers["num_minibatches_per_physical_sparse_core"] == (4 if minibatches else 1)
    table = draw_tables(np.random.default_rng(seed), "Sgd", ROWS, WIDTH)["embedding_table"]

    found = raw_ops.XlaSparseDenseMatmulWithCsrInput(
        **batch.buffers, embedding_table=by_core(table), input_size=SAMPLES, **NO_LEVELS, **TABLE
    )

    np.testing.assert_allclose(found, batch.gains @ table, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("minibatches", [False, True])
@pytest.mark.parametrize("kind", ["CsrInput", "StaticBufferSize"])
def test_rows_that_are_looked_up_take_a_step(kind: str, minibatches: bool) -> None:
    for name, attributes in CASES:
        check_step(name, attributes, kind, minibatches)


def check_step(name: str, attributes: dict[str, float], kind: str, minibatches: bool) -> None:
    batch = draw_batch(3, minibatches)
    rng = np.random.default_rng(3)
    tables = draw_tables(rng, name, ROWS, WIDTH)
    gradients = rng.normal(size=(SAMPLES, WIDTH)).astype(np.float32)

    found = getattr(raw_ops, f"XlaSparseDenseMatmulGradWith{name}And{kind}")(
        **batch.buffers,
        **{n: by_core(x) for n, x in tables.items()},
        activation_gradients=gradients,
        learning_rate=0.25,
        clip_weight_min=-1.0,
        **attributes,
        **(LIMITS if kind == "StaticBufferSize" else {}),
        **TABLE,
    )

    updated = [found] if isinstance(found, np.ndarray) else list(found)
    is_touched = (batch.gains != 0).any(0)
    assert 0 < is_touched.sum() < ROWS
    own = tuple(x[is_touched] for x in tables.values())
    sums = (batch.gains.T @ gradients)[is_touched]
    weights, *slots = FORMULAS[name](own, sums, 0.25, **attributes)
    expected = [np.maximum(weights, -1), *slots]
    for old, new, got in zip(tables.values(), expected, updated, strict=True):
        message = f"{name} {attributes}"
        new_rows = in_order(got)
        np.testing.assert_allclose(new_rows[is_touched], new, rtol=2e-5, atol=2e-5, err_msg=message)
        assert np.array_equal(new_rows[~is_touched], old[~is_touched]), message


def test_a_function_of_your_own_is_the_optimizer() -> None:
    batch = draw_batch(1)
    rng = np.random.default_rng(1)
    tables = draw_tables(rng, "Adagrad", ROWS, WIDTH)
    gradients = rng.normal(size=(SAMPLES, WIDTH)).astype(np.float32)

    def adagrad(g: Any, w: Any, a: Any, rate: Any) -> Any:
        return w - rate * g / np.sqrt(a + g * g), a + g * g

    found = raw_ops.XlaSparseDenseMatmulGradWithCsrInput(
        **batch.buffers,
        activation_gradients=gradients,
        tables=list(tables.values()),
        hyperparameters=[np.float32(0.25)],
        custom_computation=adagrad,
        **TABLE,
    )

    expected = raw_ops.XlaSparseDenseMatmulGradWithAdagradAndCsrInput(
        **batch.buffers, activation_gradients=gradients, learning_rate=0.25, **tables, **TABLE
    )
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_rows_are_rounded_before_they_are_summed() -> None:
    batch = draw_batch(2)
    table = draw_tables(np.random.default_rng(2), "Sgd", ROWS, WIDTH)["embedding_table"]

    found = raw_ops.XlaSparseDenseMatmulWithStaticBufferSize(
        **batch.buffers,
        embedding_table=by_core(table),
        input_size=SAMPLES,
        quantization_config_low=-1.0,
        quantization_config_high=1.0,
        quantization_config_num_buckets=3,
        **LIMITS,
        **TABLE,
    )

    rounded = np.floor(np.clip(table, -1, 1) + 0.5)
    np.testing.assert_allclose(found, batch.gains @ rounded, rtol=1e-5, atol=1e-5)


def test_unsorted_lookups_give_the_same_activations() -> None:
    batch = draw_batch(5)
    table = draw_tables(np.random.default_rng(5), "Sgd", ROWS, WIDTH)["embedding_table"]
    samples, rows = np.nonzero(batch.gains)
    tpu.sparsecore.set_sparsecores_per_device(CORES)
    try:
        found = raw_ops.XlaSparseDenseMatmul(
            row_ids=[*samples, 0],
            col_ids=[*rows, 0],
            values=[*batch.gains[samples, rows], 99.0],
            offsets=samples.size,
            embedding_table=by_core(table),
            max_ids_per_partition=64,
            max_unique_ids_per_partition=64,
            input_size=SAMPLES,
        )
    finally:
        tpu.sparsecore.set_sparsecores_per_device(None)

    np.testing.assert_allclose(found.activations, batch.gains @ table, rtol=1e-5, atol=1e-5)
    assert found.row_pointers[-1] == samples.size
    partition = np.repeat(np.arange(CORES), np.diff(found.row_pointers, prepend=0))
    ids = found.sorted_embedding_ids * CORES + partition
    sparse = np.zeros_like(batch.gains)
    sparse[found.sorted_sample_ids, ids] = found.sorted_gains
    assert np.array_equal(sparse, batch.gains)


@differs(
    "`XlaSparseDenseMatmul...`: rows of other devices",
    tensorflow="a table is dealt out over the SparseCores of all devices",
    gradlab="the device has all rows; partitions that it hasn't are refused",
)
@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"num_sparsecores_per_device": -1}, InvalidArgumentError, "power of two, but got: -1"),
        ({"num_sparsecores_per_device": 1}, InvalidArgumentError, "more than 1 partitions"),
        ({"input_size": 7}, InvalidArgumentError, "num_samples_per_chip 7 not divisible"),
        ({"embedding_table": np.zeros((3, 8))}, InvalidArgumentError, "table 3 not divisible"),
        ({"embedding_table": np.zeros((2, 8))}, InvalidArgumentError, "sorted_token_ids must be"),
        ({"input_size": 2}, InvalidArgumentError, "sorted_sample_ids must be 0 to 0"),
        ({"row_pointers": [1] * 8}, InvalidArgumentError, "row_pointers must have 16 entries"),
        ({"row_pointers": [500] * 16}, InvalidArgumentError, "must go from 0 to 128"),
        ({"sorted_gains": [1.0]}, InvalidArgumentError, "buffers must be vectors"),
        (
            {"num_minibatches_per_physical_sparse_core": [1]},
            InvalidArgumentError,
            "must be scalar",
        ),
        ({"quantization_config_num_buckets": 1}, InvalidArgumentError, "at least 2 buckets"),
        ({"embedding_table": np.zeros((32, 8), int)}, DTypeError, "must be float32"),
    ],
)
def test_what_cannot_be_looked_up_is_refused(
    changes: dict[str, Any], error: type[Exception], words: str
) -> None:
    arguments: dict[str, Any] = {
        **draw_batch(3).buffers,
        "embedding_table": np.zeros((ROWS, WIDTH), np.float32),
        "input_size": SAMPLES,
        **NO_LEVELS,
        **TABLE,
    }
    with pytest.raises(error, match=words):
        raw_ops.XlaSparseDenseMatmulWithCsrInput(**{**arguments, **changes})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"max_ids_per_sparse_core": 2}, "ids, and the limit is 2"),
        ({"max_unique_ids_per_sparse_core": 1}, "unique ids, and the limit is 1"),
        ({"max_ids_per_sparse_core": 0}, "max_ids_per_sparse_core must be > 0"),
        ({"clip_weight_min": 1.0, "clip_weight_max": 0.0}, "clip_weight_min must be smaller"),
        ({"activation_gradients": np.zeros((SAMPLES, 3))}, r"shape \(samples, 8\)"),
        ({"learning_rate": [0.5]}, "learning_rate must be a scalar"),
    ],
)
def test_what_cannot_be_updated_is_refused(changes: dict[str, Any], words: str) -> None:
    arguments: dict[str, Any] = {
        **draw_batch(3).buffers,
        "activation_gradients": np.zeros((SAMPLES, WIDTH)),
        "learning_rate": 0.5,
        "embedding_table": np.zeros((ROWS, WIDTH), np.float32),
        **LIMITS,
        **TABLE,
    }
    with pytest.raises(InvalidArgumentError, match=words):
        raw_ops.XlaSparseDenseMatmulGradWithSgdAndStaticBufferSize(**{**arguments, **changes})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hyperparameters": []}, "there must be tables and hyperparameters"),
        ({"custom_computation": lambda g, w, rate: (w, w)}, "must return 1 arrays"),
    ],
)
def test_a_function_that_does_not_fit_is_refused(changes: dict[str, Any], words: str) -> None:
    arguments: dict[str, Any] = {
        **draw_batch(3).buffers,
        "activation_gradients": np.zeros((SAMPLES, WIDTH)),
        "tables": [np.zeros((ROWS, WIDTH))],
        "hyperparameters": [0.5],
        "custom_computation": lambda g, w, rate: w,
        **TABLE,
    }
    with pytest.raises(InvalidArgumentError, match=words):
        raw_ops.XlaSparseDenseMatmulGradWithCsrInput(**{**arguments, **changes})

"""Ops that look up the rows of a table for a device, and update them by gradients of activations.

The buffers are those of `ConvertToSparseCoreCsrWrappedCooTensor` or
`GetMinibatchesInCsrWithPhysicalReplica` for the one device there is: its SparseCores have all rows
of the table, one SparseCore's rows after another's, row r of the stack at r div n of SparseCore r
mod n. TensorFlow has these ops in programs for TPUs only, around calls whose code isn't public.
Their optimizers are: the formulas of `sparsecore_update.py`.

`...StaticBufferSize` ops take the limits of a partition, and lookups beyond them are refused; of
`...CsrInput` ops TensorFlow's compiler knows the limits, and here there are none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import rules
from ..errors import InvalidArgumentError
from . import sparsecore_shapes as shapes
from .sparsecore_update import adagrad_rule, adam_rule, ftrl_rule
from .tpu_op import Tensor, Tensors, op, tpu_module

INFINITY = float("inf")


class Csr(NamedTuple):
    """Buffers of a device, and what says how to read them."""

    row_pointers: Tensor
    sorted_sample_ids: Tensor
    sorted_token_ids: Tensor
    sorted_gains: Tensor
    minibatches: Tensor
    num_sparsecores_per_device: int
    limits: tuple[int, int] | None = None


@op(shapes.lookup)
def XlaSparseDenseMatmulWithCsrInput(
    *,
    row_pointers: Tensor,
    sorted_sample_ids: Tensor,
    sorted_token_ids: Tensor,
    sorted_gains: Tensor,
    embedding_table: Tensor,
    num_minibatches_per_physical_sparse_core: Tensor,
    input_size: int,
    quantization_config_low: float,
    quantization_config_high: float,
    quantization_config_num_buckets: int,
    table_name: str | bytes,
    num_sparsecores_per_device: int = -1,
    name: str | None = None,
) -> np.ndarray:
    """Return the activations of a device: for each sample the sum of its rows times their gains.

    Args:
        row_pointers, sorted_sample_ids, sorted_token_ids, sorted_gains: the buffers.
        embedding_table: float32, (rows, width), the rows of one SparseCore after those of another.
        num_minibatches_per_physical_sparse_core: a scalar, as the op that wrote the buffers gave.
        input_size: the samples of the device.
        quantization_config_low, quantization_config_high, quantization_config_num_buckets: rows
            are rounded to so many levels before they are summed; 0 levels for none.
        table_name: not read.
        num_sparsecores_per_device: the SparseCores of the device; -1 is the number that
            `gl.tpu.sparsecore.set_sparsecores_per_device` set.

    Returns:
        float32, (input_size, width).

    Raises:
        InvalidArgumentError: arrays that don't fit each other, lookups outside the samples or the
            table, samples or rows that the SparseCores can't share evenly, or no number of
            SparseCores.
        DTypeError: a table of integers, whose sums aren't public.

    Source: `tf.raw_ops.XlaSparseDenseMatmulWithCsrInput`, TensorFlow 2.21 (2026), read.

    >>> XlaSparseDenseMatmulWithCsrInput(
    ...     row_pointers=[2] * 8, sorted_sample_ids=[0, 1], sorted_token_ids=[1, 1],
    ...     sorted_gains=[1.0, 0.5], embedding_table=[[0.0], [4.0]],
    ...     num_minibatches_per_physical_sparse_core=1, input_size=2, quantization_config_low=0.0,
    ...     quantization_config_high=0.0, quantization_config_num_buckets=0, table_name="t",
    ...     num_sparsecores_per_device=1,
    ... ).tolist()
    [[4.0], [2.0]]
    """
    csr = Csr(
        row_pointers,
        sorted_sample_ids,
        sorted_token_ids,
        sorted_gains,
        num_minibatches_per_physical_sparse_core,
        num_sparsecores_per_device,
    )
    levels = read_levels(
        quantization_config_low, quantization_config_high, quantization_config_num_buckets
    )
    return _look_up(csr, embedding_table, input_size, levels)


@op(shapes.lookup)
def XlaSparseDenseMatmulWithStaticBufferSize(
    *,
    row_pointers: Tensor,
    sorted_sample_ids: Tensor,
    sorted_token_ids: Tensor,
    sorted_gains: Tensor,
    embedding_table: Tensor,
    num_minibatches_per_physical_sparse_core: Tensor,
    input_size: int,
    quantization_config_low: float,
    quantization_config_high: float,
    quantization_config_num_buckets: int,
    max_ids_per_sparse_core: int,
    max_unique_ids_per_sparse_core: int,
    table_name: str | bytes,
    num_sparsecores_per_device: int = -1,
    name: str | None = None,
) -> np.ndarray:
    """Return what `XlaSparseDenseMatmulWithCsrInput` returns, with limits of a partition.

    Args:
        max_ids_per_sparse_core: the most lookups of a partition in a minibatch.
        max_unique_ids_per_sparse_core: the most different rows of a partition in a minibatch.

    Others and raises: as there; also InvalidArgumentError for more than a limit.

    Source: `tf.raw_ops.XlaSparseDenseMatmulWithStaticBufferSize`, TensorFlow 2.21 (2026), read.

    >>> XlaSparseDenseMatmulWithStaticBufferSize(
    ...     row_pointers=[2] * 8, sorted_sample_ids=[0, 1], sorted_token_ids=[1, 1],
    ...     sorted_gains=[1.0, 0.5], embedding_table=[[0.0], [4.0]],
    ...     num_minibatches_per_physical_sparse_core=1, input_size=2, quantization_config_low=0.0,
    ...     quantization_config_high=0.0, quantization_config_num_buckets=0,
    ...     max_ids_per_sparse_core=2, max_unique_ids_per_sparse_core=1, table_name="t",
    ...     num_sparsecores_per_device=1,
    ... ).tolist()
    [[4.0], [2.0]]
    """
    csr = Csr(
        row_pointers,
        sorted_sample_ids,
        sorted_token_ids,
        sorted_gains,
        num_minibatches_per_physical_sparse_core,
        num_sparsecores_per_device,
        _read_limits(max_ids_per_sparse_core, max_unique_ids_per_sparse_core),
    )
    levels = read_levels(
        quantization_config_low, quantization_config_high, quantization_config_num_buckets
    )
    return _look_up(csr, embedding_table, input_size, levels)


class MatmulOutputs(NamedTuple):
    """Activations, and the lookups sorted by partition, with where the partitions end."""

    activations: np.ndarray
    row_pointers: np.ndarray
    sorted_embedding_ids: np.ndarray
    sorted_sample_ids: np.ndarray
    sorted_gains: np.ndarray


@op(shapes.coo_lookup)
def XlaSparseDenseMatmul(
    *,
    row_ids: Tensor,
    col_ids: Tensor,
    values: Tensor,
    offsets: Tensor,
    embedding_table: Tensor,
    max_ids_per_partition: int,
    max_unique_ids_per_partition: int,
    input_size: int,
    name: str | None = None,
) -> MatmulOutputs:
    """Return the activations of lookups that are not sorted yet, and the sorted lookups.

    Args:
        row_ids, col_ids, values: the lookups: int32 samples, uint32 rows of the stack, float32
            gains.
        offsets: uint32 scalar, how many of the lookups count; the others are filling.
        embedding_table: float32, (rows, width), the rows of one SparseCore after those of another.
        max_ids_per_partition: the most lookups of a partition.
        max_unique_ids_per_partition: the most different rows of a partition.
        input_size: the samples.

    The number of SparseCores is that which `gl.tpu.sparsecore.set_sparsecores_per_device` set.
    Within a partition lookups are sorted by row and sample; TensorFlow's own order isn't public.

    Raises:
        InvalidArgumentError: arrays that don't fit each other, lookups outside the samples or the
            table, more than a limit, or no number of SparseCores.

    Source: `tf.raw_ops.XlaSparseDenseMatmul`, TensorFlow 2.21 (2026), read.

    >>> from gradlab import tpu
    >>> tpu.sparsecore.set_sparsecores_per_device(2)
    >>> found = XlaSparseDenseMatmul(
    ...     row_ids=[0, 0, 1], col_ids=[3, 2, 3], values=[1.0, 1.0, 0.5], offsets=3,
    ...     embedding_table=[[0.0], [2.0], [1.0], [3.0]], max_ids_per_partition=2,
    ...     max_unique_ids_per_partition=2, input_size=2,
    ... )
    >>> found.activations.tolist(), found.row_pointers.tolist()
    ([[5.0], [1.5]], [1, 3])
    >>> tpu.sparsecore.set_sparsecores_per_device(None)
    """
    matmul = tpu_module("sparsecore.matmul")
    cores = tpu_module("sparsecore.topology").sparsecores_per_device()
    coo = tpu_module("sparsecore.coo").read_coo(row_ids, np.asarray(col_ids, np.int64), values)
    coo = type(coo)(*(vector[: int(offsets)] for vector in coo))
    (table,) = matmul.read_tables(embedding_table=embedding_table)
    limits = tpu_module("sparsecore.partitions").Limits(
        max_ids_per_partition, max_unique_ids_per_partition
    )
    found, ends = matmul.sort_lookups(coo, cores, input_size, table.shape[0], limits)
    activations = matmul.sum_rows(found, table, input_size, None)
    own_rows = table.shape[0] // cores
    rows = (found.rows % own_rows).astype(np.int32)
    return MatmulOutputs(activations, ends, rows, found.samples, found.gains)


@op(shapes.same_as("embedding_table"))
def XlaSparseDenseMatmulGradWithSgdAndCsrInput(
    *,
    row_pointers: Tensor,
    sorted_sample_ids: Tensor,
    sorted_token_ids: Tensor,
    sorted_gains: Tensor,
    activation_gradients: Tensor,
    learning_rate: Tensor,
    embedding_table: Tensor,
    num_minibatches_per_physical_sparse_core: Tensor,
    table_name: str | bytes,
    clip_weight_min: float = -INFINITY,
    clip_weight_max: float = INFINITY,
    num_sparsecores_per_device: int = -1,
    name: str | None = None,
) -> np.ndarray:
    """Return a table after a step of gradient descent of the rows that were looked up.

        G[row] = sum over its lookups of gain * activation_gradients[sample]
        w = w - learning_rate * G;    w = clip(w)

    A row that was not looked up stays as it is, limits of weights included.

    Args:
        row_pointers, sorted_sample_ids, sorted_token_ids, sorted_gains: the buffers, as they were
            looked up.
        activation_gradients: float32, (samples of the device, width).
        learning_rate: float32 scalar.
        embedding_table: float32, (rows, width), the rows of one SparseCore after those of another.
        num_minibatches_per_physical_sparse_core: a scalar, as the op that wrote the buffers gave.
        clip_weight_min, clip_weight_max: limits of the new weights.
        table_name: not read.
        num_sparsecores_per_device: as in `XlaSparseDenseMatmulWithCsrInput`.

    Raises:
        InvalidArgumentError: what `XlaSparseDenseMatmulWithCsrInput` raises, gradients of another
            shape, or a lower limit of weights above the upper one.
        DTypeError: a table that isn't float32.

    Source: `tf.raw_ops.XlaSparseDenseMatmulGradWithSgdAndCsrInput`, TensorFlow 2.21 (2026), read.

    >>> found = XlaSparseDenseMatmulGradWithSgdAndCsrInput(
    ...     row_pointers=[2] * 8, sorted_sample_ids=[0, 1], sorted_token_ids=[1, 1],
    ...     sorted_gains=[1.0, 0.5], activation_gradients=[[1.0], [2.0]], learning_rate=0.5,
    ...     embedding_table=[[0.0], [4.0]], num_minibatches_per_physical_sparse_core=1,
    ...     table_name="t", num_sparsecores_per_device=1,
    ... )
    >>> found.tolist()
    [[0.0], [3.0]]
    """
    csr = Csr(
        row_pointers,
        sorted_sample_ids,
        sorted_token_ids,
        sorted_gains,
        num_minibatches_per_physical_sparse_core,
        num_sparsecores_per_device,
    )
    (table,) = _update(
        rules.StochasticGradientDescent(),
        {"embedding_table": embedding_table},
        csr,
        activation_gradients,
        learning_rate,
        (clip_weight_min, clip_weight_max),
    )
    return table


@op(shapes.same_as("embedding_table"))
def XlaSparseDenseMatmulGradWithSgdAndStaticBufferSize(
    *,
    row_pointers: Tensor,
    sorted_sample_ids: Tensor,
    sorted_token_ids: Tensor,
    sorted_gains: Tensor,
    activation_gradients: Tensor,
    learning_rate: Tensor,
    embedding_table: Tensor,
    num_minibatches_per_physical_sparse_core: Tensor,
    max_ids_per_sparse_core: int,
    max_unique_ids_per_sparse_core: int,
    table_name: str | bytes,
    clip_weight_min: float = -INFINITY,
    clip_weight_max: float = INFINITY,
    num_sparsecores_per_device: int = -1,
    name: str | None = None,
) -> np.ndarray:
    """Do the same as `XlaSparseDenseMatmulGradWithSgdAndCsrInput`, with limits of a partition.

    Args:
        max_ids_per_sparse_core: the most lookups of a partition in a minibatch.
        max_unique_ids_per_sparse_core: the most different rows of a partition in a minibatch.

    Others and raises: as there; also InvalidArgumentError for more than a limit.

    Source: `tf.raw_ops.XlaSparseDenseMatmulGradWithSgdAndStaticBufferSize`,
    TensorFlow 2.21 (2026), read.

    >>> found = XlaSparseDenseMatmulGradWithSgdAndStaticBufferSize(
    ...     row_pointers=[2] * 8, sorted_sample_ids=[0, 1], sorted_token_ids=[1, 1],
    ...     sorted_gains=[1.0, 0.5], activation_gradients=[[1.0], [2.0]], learning_rate=0.5,
    ...     embedding_table=[[0.0], [4.0]], num_minibatches_per_physical_sparse_core=1,
    ...     max_ids_per_sparse_core=2, max_unique_ids_per_sparse_core=1, table_name="t",
    ...     num_sparsecores_per_device=1,
    ... )
    >>> found.tolist()
    [[0.0], [3.0]]
    """
    csr = Csr(
        row_pointers,
        sorted_sample_ids,
        sorted_token_ids,
        sorted_gains,
        num_minibatches_per_physical_sparse_core,
        num_sparsecores_per_device,
        _read_limits(max_ids_per_sparse_core, max_unique_ids_per_sparse_core),
    )
    (table,) = _update(
        rules.StochasticGradientDescent(),
        {"embedding_table": embedding_table},
        csr,
        activation_gradients,
        learning_rate,
        (clip_weight_min, clip_weight_max),
    )
    return table


class AdagradUpdate(NamedTuple):
    """A table and its slot."""

    updated_embedding_table: np.ndarray
    updated_accumulator: np.ndarray


@op(shapes.same_as("embedding_table", "accumulator"))
def XlaSparseDenseMatmulGradWithAdagradAndCsrInput(
    *,
    row_pointers: Tensor,
    sorted_sample_ids: Tensor,
    sorted_token_ids: Tensor,
    sorted_gains: Tensor,
    activation_gradients: Tensor,
    learning_rate: Tensor,
    embedding_table: Tensor,
    accumulator: Tensor,
    num_minibatches_per_physical_sparse_core: Tensor,
    table_name: str | bytes,
    clip_weight_min: float = -INFINITY,
    clip_weight_max: float = INFINITY,
    num_sparsecores_per_device: int = -1,
    name: str | None = None,
) -> AdagradUpdate:
    """Return a table and its slots after a step of Adagrad of rows looked up.

        G[row] = sum over its lookups of gain * activation_gradients[sample]
        a = a + G * G;    w = w - learning_rate * G / sqrt(a)
        w = clip(w)

    Args:
        accumulator: float32, of the shape of the table.

    Others and raises: as in `XlaSparseDenseMatmulGradWithSgdAndCsrInput`.

    Source: `tf.raw_ops.XlaSparseDenseMatmulGradWithAdagradAndCsrInput`,
    TensorFlow 2.21 (2026), read.

    >>> found = XlaSparseDenseMatmulGradWithAdagradAndCsrInput(
    ...     row_pointers=[2] * 8, sorted_sample_ids=[0, 1], sorted_token_ids=[1, 1],
    ...     sorted_gains=[1.0, 0.5], activation_gradients=[[1.0], [2.0]], learning_rate=0.5,
    ...     embedding_table=[[0.0], [4.0]], accumulator=[[0.0], [12.0]],
    ...     num_minibatches_per_physical_sparse_core=1, table_name="t",
    ...     num_sparsecores_per_device=1,
    ... )
    >>> [x.round(4).ravel().tolist() for x in found]
    [[0.0, 3.75], [0.0, 16.0]]
    """
    csr = Csr(
        row_pointers,
        sorted_sample_ids,
        sorted_token_ids,
        sorted_gains,
        num_minibatches_per_physical_sparse_core,
        num_sparsecores_per_device,
    )
    arrays = _update(
        adagrad_rule(),
        {"embedding_table": embedding_table, "accumulator": accumulator},
        csr,
        activation_gradients,
        learning_rate,
        (clip_weight_min, clip_weight_max),
    )
    return AdagradUpdate(*arrays)


@op(shapes.same_as("embedding_table", "accumulator"))
def XlaSparseDenseMatmulGradWithAdagradAndStaticBufferSize(
    *,
    row_pointers: Tensor,
    sorted_sample_ids: Tensor,
    sorted_token_ids: Tensor,
    sorted_gains: Tensor,
    activation_gradients: Tensor,
    learning_rate: Tensor,
    embedding_table: Tensor,
    accumulator: Tensor,
    num_minibatches_per_physical_sparse_core: Tensor,
    max_ids_per_sparse_core: int,
    max_unique_ids_per_sparse_core: int,
    table_name: str | bytes,
    clip_weight_min: float = -INFINITY,
    clip_weight_max: float = INFINITY,
    num_sparsecores_per_device: int = -1,
    name: str | None = None,
) -> AdagradUpdate:
    """Do the same as `XlaSparseDenseMatmulGradWithAdagradAndCsrInput`, with limits of a partition.

    Args:
        max_ids_per_sparse_core: the most lookups of a partition in a minibatch.
        max_unique_ids_per_sparse_core: the most different rows of a partition in a minibatch.

    Others and raises: as there; also InvalidArgumentError for more than a limit.

    Source: `tf.raw_ops.XlaSparseDenseMatmulGradWithAdagradAndStaticBufferSize`,
    TensorFlow 2.21 (2026), read.

    >>> found = XlaSparseDenseMatmulGradWithAdagradAndStaticBufferSize(
    ...     row_pointers=[2] * 8, sorted_sample_ids=[0, 1], sorted_token_ids=[1, 1],
    ...     sorted_gains=[1.0, 0.5], activation_gradients=[[1.0], [2.0]], learning_rate=0.5,
    ...     embedding_table=[[0.0], [4.0]], accumulator=[[0.0], [12.0]],
    ...     num_minibatches_per_physical_sparse_core=1, max_ids_per_sparse_core=2,
    ...     max_unique_ids_per_sparse_core=1, table_name="t", num_sparsecores_per_device=1,
    ... )
    >>> [x.round(4).ravel().tolist() for x in found]
    [[0.0, 3.75], [0.0, 16.0]]
    """
    csr = Csr(
        row_pointers,
        sorted_sample_ids,
        sorted_token_ids,
        sorted_gains,
        num_minibatches_per_physical_sparse_core,
        num_sparsecores_per_device,
        _read_limits(max_ids_per_sparse_core, max_unique_ids_per_sparse_core),
    )
    arrays = _update(
        adagrad_rule(),
        {"embedding_table": embedding_table, "accumulator": accumulator},
        csr,
        activation_gradients,
        learning_rate,
        (clip_weight_min, clip_weight_max),
    )
    return AdagradUpdate(*arrays)


class AdagradMomentumUpdate(NamedTuple):
    """A table and its slots."""

    updated_embedding_table: np.ndarray
    updated_accumulator: np.ndarray
    updated_momenta: np.ndarray


@op(shapes.same_as("embedding_table", "accumulator", "momenta"))
def XlaSparseDenseMatmulGradWithAdagradMomentumAndCsrInput(
    *,
    row_pointers: Tensor,
    sorted_sample_ids: Tensor,
    sorted_token_ids: Tensor,
    sorted_gains: Tensor,
    activation_gradients: Tensor,
    learning_rate: Tensor,
    embedding_table: Tensor,
    accumulator: Tensor,
    momenta: Tensor,
    num_minibatches_per_physical_sparse_core: Tensor,
    use_nesterov: bool,
    exponent: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    table_name: str | bytes,
    clip_weight_min: float = -INFINITY,
    clip_weight_max: float = INFINITY,
    num_sparsecores_per_device: int = -1,
    name: str | None = None,
) -> AdagradMomentumUpdate:
    """Return a table and its slots after a step of Adagrad with momentum of rows looked up.

        G[row] = sum over its lookups of gain * activation_gradients[sample]
        a = a + G * G                               if beta2 is 1
            beta2 * a + (1 - beta2) * G * G         else
        s = (a + epsilon) ** (-1 / exponent) * G;   m = beta1 * m + s
        w = w - learning_rate * m                   plain
            w - learning_rate * (beta1 * m + s)     use_nesterov
        w = clip(w)

    Args:
        accumulator, momenta: float32, of the shape of the table.

    Others and raises: as in `XlaSparseDenseMatmulGradWithSgdAndCsrInput`.

    Source: `tf.raw_ops.XlaSparseDenseMatmulGradWithAdagradMomentumAndCsrInput`,
    TensorFlow 2.21 (2026), read.

    >>> found = XlaSparseDenseMatmulGradWithAdagradMomentumAndCsrInput(
    ...     row_pointers=[2] * 8, sorted_sample_ids=[0, 1], sorted_token_ids=[1, 1],
    ...     sorted_gains=[1.0, 0.5], activation_gradients=[[1.0], [2.0]], learning_rate=0.5,
    ...     embedding_table=[[0.0], [4.0]], accumulator=[[0.0], [12.0]], momenta=[[0.0], [0.0]],
    ...     num_minibatches_per_physical_sparse_core=1, use_nesterov=False, exponent=2.0, beta1=0.5,
    ...     beta2=1.0, epsilon=0.0, table_name="t", num_sparsecores_per_device=1,
    ... )
    >>> [x.round(4).ravel().tolist() for x in found]
    [[0.0, 3.75], [0.0, 16.0], [0.0, 0.5]]
    """
    csr = Csr(
        row_pointers,
        sorted_sample_ids,
        sorted_token_ids,
        sorted_gains,
        num_minibatches_per_physical_sparse_core,
        num_sparsecores_per_device,
    )
    arrays = _update(
        rules.AdagradMomentum(
            momentum=beta1,
            use_nesterov=use_nesterov,
            exponent=exponent,
            beta2=beta2,
            epsilon=epsilon,
        ),
        {"embedding_table": embedding_table, "accumulator": accumulator, "momenta": momenta},
        csr,
        activation_gradients,
        learning_rate,
        (clip_weight_min, clip_weight_max),
    )
    return AdagradMomentumUpdate(*arrays)


@op(shapes.same_as("embedding_table", "accumulator", "momenta"))
def XlaSparseDenseMatmulGradWithAdagradMomentumAndStaticBufferSize(
    *,
    row_pointers: Tensor,
    sorted_sample_ids: Tensor,
    sorted_token_ids: Tensor,
    sorted_gains: Tensor,
    activation_gradients: Tensor,
    learning_rate: Tensor,
    embedding_table: Tensor,
    accumulator: Tensor,
    momenta: Tensor,
    num_minibatches_per_physical_sparse_core: Tensor,
    use_nesterov: bool,
    exponent: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    max_ids_per_sparse_core: int,
    max_unique_ids_per_sparse_core: int,
    table_name: str | bytes,
    clip_weight_min: float = -INFINITY,
    clip_weight_max: float = INFINITY,
    num_sparsecores_per_device: int = -1,
    name: str | None = None,
) -> AdagradMomentumUpdate:
    """Do the same as the op for CsrInput, with limits of a partition.

    Args:
        max_ids_per_sparse_core: the most lookups of a partition in a minibatch.
        max_unique_ids_per_sparse_core: the most different rows of a partition in a minibatch.

    Others and raises: as there; also InvalidArgumentError for more than a limit.

    Source: `tf.raw_ops.XlaSparseDenseMatmulGradWithAdagradMomentumAndStaticBufferSize`,
    TensorFlow 2.21 (2026), read.

    >>> found = XlaSparseDenseMatmulGradWithAdagradMomentumAndStaticBufferSize(
    ...     row_pointers=[2] * 8, sorted_sample_ids=[0, 1], sorted_token_ids=[1, 1],
    ...     sorted_gains=[1.0, 0.5], activation_gradients=[[1.0], [2.0]], learning_rate=0.5,
    ...     embedding_table=[[0.0], [4.0]], accumulator=[[0.0], [12.0]], momenta=[[0.0], [0.0]],
    ...     num_minibatches_per_physical_sparse_core=1, use_nesterov=False, exponent=2.0, beta1=0.5,
    ...     beta2=1.0, epsilon=0.0, max_ids_per_sparse_core=2, max_unique_ids_per_sparse_core=1,
    ...     table_name="t", num_sparsecores_per_device=1,
    ... )
    >>> [x.round(4).ravel().tolist() for x in found]
    [[0.0, 3.75], [0.0, 16.0], [0.0, 0.5]]
    """
    csr = Csr(
        row_pointers,
        sorted_sample_ids,
        sorted_token_ids,
        sorted_gains,
        num_minibatches_per_physical_sparse_core,
        num_sparsecores_per_device,
        _read_limits(max_ids_per_sparse_core, max_unique_ids_per_sparse_core),
    )
    arrays = _update(
        rules.AdagradMomentum(
            momentum=beta1,
            use_nesterov=use_nesterov,
            exponent=exponent,
            beta2=beta2,
            epsilon=epsilon,
        ),
        {"embedding_table": embedding_table, "accumulator": accumulator, "momenta": momenta},
        csr,
        activation_gradients,
        learning_rate,
        (clip_weight_min, clip_weight_max),
    )
    return AdagradMomentumUpdate(*arrays)


class AdamUpdate(NamedTuple):
    """A table and its slots."""

    updated_embedding_table: np.ndarray
    updated_momenta: np.ndarray
    updated_velocity: np.ndarray


@op(shapes.same_as("embedding_table", "momenta", "velocity"))
def XlaSparseDenseMatmulGradWithAdamAndCsrInput(
    *,
    row_pointers: Tensor,
    sorted_sample_ids: Tensor,
    sorted_token_ids: Tensor,
    sorted_gains: Tensor,
    activation_gradients: Tensor,
    learning_rate: Tensor,
    embedding_table: Tensor,
    momenta: Tensor,
    velocity: Tensor,
    num_minibatches_per_physical_sparse_core: Tensor,
    use_sum_inside_sqrt: bool,
    beta1: float,
    beta2: float,
    epsilon: float,
    table_name: str | bytes,
    clip_weight_min: float = -INFINITY,
    clip_weight_max: float = INFINITY,
    num_sparsecores_per_device: int = -1,
    name: str | None = None,
) -> AdamUpdate:
    """Return a table and its slots after a step of uncorrected Adam of rows looked up.

        G[row] = sum over its lookups of gain * activation_gradients[sample]
        m = beta1 * m + (1 - beta1) * G;    v = beta2 * v + (1 - beta2) * G * G
        w = w - learning_rate * m / (sqrt(v) + epsilon)            plain
            w - learning_rate * m / sqrt(v + epsilon * epsilon)    use_sum_inside_sqrt
        w = clip(w)

    Args:
        momenta, velocity: float32, of the shape of the table.

    Others and raises: as in `XlaSparseDenseMatmulGradWithSgdAndCsrInput`.

    Source: `tf.raw_ops.XlaSparseDenseMatmulGradWithAdamAndCsrInput`, TensorFlow 2.21 (2026), read.

    >>> found = XlaSparseDenseMatmulGradWithAdamAndCsrInput(
    ...     row_pointers=[2] * 8, sorted_sample_ids=[0, 1], sorted_token_ids=[1, 1],
    ...     sorted_gains=[1.0, 0.5], activation_gradients=[[1.0], [2.0]], learning_rate=0.5,
    ...     embedding_table=[[0.0], [4.0]], momenta=[[0.0], [0.0]], velocity=[[0.0], [0.0]],
    ...     num_minibatches_per_physical_sparse_core=1, use_sum_inside_sqrt=False, beta1=0.5,
    ...     beta2=0.75, epsilon=0.0, table_name="t", num_sparsecores_per_device=1,
    ... )
    >>> [x.round(4).ravel().tolist() for x in found]
    [[0.0, 3.5], [0.0, 1.0], [0.0, 1.0]]
    """
    csr = Csr(
        row_pointers,
        sorted_sample_ids,
        sorted_token_ids,
        sorted_gains,
        num_minibatches_per_physical_sparse_core,
        num_sparsecores_per_device,
    )
    arrays = _update(
        adam_rule(use_sum_inside_sqrt, beta1, beta2, epsilon),
        {"embedding_table": embedding_table, "momenta": momenta, "velocity": velocity},
        csr,
        activation_gradients,
        learning_rate,
        (clip_weight_min, clip_weight_max),
    )
    return AdamUpdate(*arrays)


@op(shapes.same_as("embedding_table", "momenta", "velocity"))
def XlaSparseDenseMatmulGradWithAdamAndStaticBufferSize(
    *,
    row_pointers: Tensor,
    sorted_sample_ids: Tensor,
    sorted_token_ids: Tensor,
    sorted_gains: Tensor,
    activation_gradients: Tensor,
    learning_rate: Tensor,
    embedding_table: Tensor,
    momenta: Tensor,
    velocity: Tensor,
    num_minibatches_per_physical_sparse_core: Tensor,
    use_sum_inside_sqrt: bool,
    beta1: float,
    beta2: float,
    epsilon: float,
    max_ids_per_sparse_core: int,
    max_unique_ids_per_sparse_core: int,
    table_name: str | bytes,
    clip_weight_min: float = -INFINITY,
    clip_weight_max: float = INFINITY,
    num_sparsecores_per_device: int = -1,
    name: str | None = None,
) -> AdamUpdate:
    """Do the same as `XlaSparseDenseMatmulGradWithAdamAndCsrInput`, with limits of a partition.

    Args:
        max_ids_per_sparse_core: the most lookups of a partition in a minibatch.
        max_unique_ids_per_sparse_core: the most different rows of a partition in a minibatch.

    Others and raises: as there; also InvalidArgumentError for more than a limit.

    Source: `tf.raw_ops.XlaSparseDenseMatmulGradWithAdamAndStaticBufferSize`,
    TensorFlow 2.21 (2026), read.

    >>> found = XlaSparseDenseMatmulGradWithAdamAndStaticBufferSize(
    ...     row_pointers=[2] * 8, sorted_sample_ids=[0, 1], sorted_token_ids=[1, 1],
    ...     sorted_gains=[1.0, 0.5], activation_gradients=[[1.0], [2.0]], learning_rate=0.5,
    ...     embedding_table=[[0.0], [4.0]], momenta=[[0.0], [0.0]], velocity=[[0.0], [0.0]],
    ...     num_minibatches_per_physical_sparse_core=1, use_sum_inside_sqrt=False, beta1=0.5,
    ...     beta2=0.75, epsilon=0.0, max_ids_per_sparse_core=2, max_unique_ids_per_sparse_core=1,
    ...     table_name="t", num_sparsecores_per_device=1,
    ... )
    >>> [x.round(4).ravel().tolist() for x in found]
    [[0.0, 3.5], [0.0, 1.0], [0.0, 1.0]]
    """
    csr = Csr(
        row_pointers,
        sorted_sample_ids,
        sorted_token_ids,
        sorted_gains,
        num_minibatches_per_physical_sparse_core,
        num_sparsecores_per_device,
        _read_limits(max_ids_per_sparse_core, max_unique_ids_per_sparse_core),
    )
    arrays = _update(
        adam_rule(use_sum_inside_sqrt, beta1, beta2, epsilon),
        {"embedding_table": embedding_table, "momenta": momenta, "velocity": velocity},
        csr,
        activation_gradients,
        learning_rate,
        (clip_weight_min, clip_weight_max),
    )
    return AdamUpdate(*arrays)


class FtrlUpdate(NamedTuple):
    """A table and its slots."""

    updated_embedding_table: np.ndarray
    updated_accumulator: np.ndarray
    updated_linear: np.ndarray


@op(shapes.same_as("embedding_table", "accumulator", "linear"))
def XlaSparseDenseMatmulGradWithFtrlAndCsrInput(
    *,
    row_pointers: Tensor,
    sorted_sample_ids: Tensor,
    sorted_token_ids: Tensor,
    sorted_gains: Tensor,
    activation_gradients: Tensor,
    learning_rate: Tensor,
    embedding_table: Tensor,
    accumulator: Tensor,
    linear: Tensor,
    num_minibatches_per_physical_sparse_core: Tensor,
    multiply_linear_by_learning_rate: bool,
    beta: float,
    learning_rate_power: float,
    l1_regularization_strength: float,
    l2_regularization_strength: float,
    table_name: str | bytes,
    clip_weight_min: float = -INFINITY,
    clip_weight_max: float = INFINITY,
    num_sparsecores_per_device: int = -1,
    name: str | None = None,
) -> FtrlUpdate:
    """Return a table and its slots after a step of FTRL of rows looked up.

        G[row] = sum over its lookups of gain * activation_gradients[sample]
        a = a + G * G;    p = a ** -learning_rate_power, before it p'
        linear = linear + G - (p - p') * w / learning_rate
        w = (clip(linear, -l1, l1) - linear) / ((p + beta) / learning_rate + 2 * l2)
        w = clip(w)

    With `multiply_linear_by_learning_rate`, `linear` and both parts of the quotient are these times
    the rate, beta isn't.

    Args:
        accumulator, linear: float32, of the shape of the table.

    Others and raises: as in `XlaSparseDenseMatmulGradWithSgdAndCsrInput`.

    Source: `tf.raw_ops.XlaSparseDenseMatmulGradWithFtrlAndCsrInput`, TensorFlow 2.21 (2026), read.

    >>> found = XlaSparseDenseMatmulGradWithFtrlAndCsrInput(
    ...     row_pointers=[2] * 8, sorted_sample_ids=[0, 1], sorted_token_ids=[1, 1],
    ...     sorted_gains=[1.0, 0.5], activation_gradients=[[1.0], [2.0]], learning_rate=0.5,
    ...     embedding_table=[[0.0], [4.0]], accumulator=[[0.0], [12.0]], linear=[[0.0], [0.0]],
    ...     num_minibatches_per_physical_sparse_core=1, multiply_linear_by_learning_rate=False,
    ...     beta=0.0, learning_rate_power=-0.5, l1_regularization_strength=0.0,
    ...     l2_regularization_strength=0.0, table_name="t", num_sparsecores_per_device=1,
    ... )
    >>> [x.round(4).ravel().tolist() for x in found]
    [[0.0, 0.2858999967575073], [0.0, 16.0], [0.0, -2.2871999740600586]]
    """
    csr = Csr(
        row_pointers,
        sorted_sample_ids,
        sorted_token_ids,
        sorted_gains,
        num_minibatches_per_physical_sparse_core,
        num_sparsecores_per_device,
    )
    arrays = _update(
        ftrl_rule(
            multiply_linear_by_learning_rate,
            beta,
            learning_rate_power,
            l1_regularization_strength,
            l2_regularization_strength,
        ),
        {"embedding_table": embedding_table, "accumulator": accumulator, "linear": linear},
        csr,
        activation_gradients,
        learning_rate,
        (clip_weight_min, clip_weight_max),
    )
    return FtrlUpdate(*arrays)


@op(shapes.same_as("embedding_table", "accumulator", "linear"))
def XlaSparseDenseMatmulGradWithFtrlAndStaticBufferSize(
    *,
    row_pointers: Tensor,
    sorted_sample_ids: Tensor,
    sorted_token_ids: Tensor,
    sorted_gains: Tensor,
    activation_gradients: Tensor,
    learning_rate: Tensor,
    embedding_table: Tensor,
    accumulator: Tensor,
    linear: Tensor,
    num_minibatches_per_physical_sparse_core: Tensor,
    multiply_linear_by_learning_rate: bool,
    beta: float,
    learning_rate_power: float,
    l1_regularization_strength: float,
    l2_regularization_strength: float,
    max_ids_per_sparse_core: int,
    max_unique_ids_per_sparse_core: int,
    table_name: str | bytes,
    clip_weight_min: float = -INFINITY,
    clip_weight_max: float = INFINITY,
    num_sparsecores_per_device: int = -1,
    name: str | None = None,
) -> FtrlUpdate:
    """Do the same as `XlaSparseDenseMatmulGradWithFtrlAndCsrInput`, with limits of a partition.

    Args:
        max_ids_per_sparse_core: the most lookups of a partition in a minibatch.
        max_unique_ids_per_sparse_core: the most different rows of a partition in a minibatch.

    Others and raises: as there; also InvalidArgumentError for more than a limit.

    Source: `tf.raw_ops.XlaSparseDenseMatmulGradWithFtrlAndStaticBufferSize`,
    TensorFlow 2.21 (2026), read.

    >>> found = XlaSparseDenseMatmulGradWithFtrlAndStaticBufferSize(
    ...     row_pointers=[2] * 8, sorted_sample_ids=[0, 1], sorted_token_ids=[1, 1],
    ...     sorted_gains=[1.0, 0.5], activation_gradients=[[1.0], [2.0]], learning_rate=0.5,
    ...     embedding_table=[[0.0], [4.0]], accumulator=[[0.0], [12.0]], linear=[[0.0], [0.0]],
    ...     num_minibatches_per_physical_sparse_core=1, multiply_linear_by_learning_rate=False,
    ...     beta=0.0, learning_rate_power=-0.5, l1_regularization_strength=0.0,
    ...     l2_regularization_strength=0.0, max_ids_per_sparse_core=2,
    ...     max_unique_ids_per_sparse_core=1, table_name="t", num_sparsecores_per_device=1,
    ... )
    >>> [x.round(4).ravel().tolist() for x in found]
    [[0.0, 0.2858999967575073], [0.0, 16.0], [0.0, -2.2871999740600586]]
    """
    csr = Csr(
        row_pointers,
        sorted_sample_ids,
        sorted_token_ids,
        sorted_gains,
        num_minibatches_per_physical_sparse_core,
        num_sparsecores_per_device,
        _read_limits(max_ids_per_sparse_core, max_unique_ids_per_sparse_core),
    )
    arrays = _update(
        ftrl_rule(
            multiply_linear_by_learning_rate,
            beta,
            learning_rate_power,
            l1_regularization_strength,
            l2_regularization_strength,
        ),
        {"embedding_table": embedding_table, "accumulator": accumulator, "linear": linear},
        csr,
        activation_gradients,
        learning_rate,
        (clip_weight_min, clip_weight_max),
    )
    return FtrlUpdate(*arrays)


@op(shapes.updated_tables)
def XlaSparseDenseMatmulGradWithCsrInput(
    *,
    row_pointers: Tensor,
    sorted_sample_ids: Tensor,
    sorted_token_ids: Tensor,
    sorted_gains: Tensor,
    activation_gradients: Tensor,
    tables: Tensors,
    hyperparameters: Tensors,
    num_minibatches_per_physical_sparse_core: Tensor,
    custom_computation: Callable[..., Any],
    table_name: str | bytes,
    num_sparsecores_per_device: int = -1,
    name: str | None = None,
) -> list[np.ndarray]:
    """Return tables after a step by a function of your own of the rows that were looked up.

        G[row] = sum over its lookups of gain * activation_gradients[sample]
        new rows of all tables = custom_computation(G, rows of all tables, hyperparameters)

    Args:
        tables: float32, each (rows, width): the table, then its slots.
        hyperparameters: at least one float32 scalar or (1, width).
        custom_computation: a function of the gradient, each table and each hyperparameter, in this
            order, that returns a new value of each table. All are (n, width), a row for each row
            that was looked up, and it computes entry by entry. In TensorFlow n is 1.

    Others and raises: as in `XlaSparseDenseMatmulGradWithSgdAndCsrInput`; also InvalidArgumentError
    where the function returns another number of tables or other shapes, or no tables or
    hyperparameters are given.

    Source: `tf.raw_ops.XlaSparseDenseMatmulGradWithCsrInput`, TensorFlow 2.21 (2026), read.

    >>> def step(gradient, table, counter, rate):
    ...     return table - rate * gradient, counter + 1
    >>> found = XlaSparseDenseMatmulGradWithCsrInput(
    ...     row_pointers=[2] * 8, sorted_sample_ids=[0, 1], sorted_token_ids=[1, 1],
    ...     sorted_gains=[1.0, 0.5], activation_gradients=[[1.0], [2.0]],
    ...     tables=[[[0.0], [4.0]], [[0.0], [0.0]]], hyperparameters=[0.5],
    ...     num_minibatches_per_physical_sparse_core=1, custom_computation=step, table_name="t",
    ...     num_sparsecores_per_device=1,
    ... )
    >>> [x.ravel().tolist() for x in found]
    [[0.0, 3.0], [0.0, 1.0]]
    """
    csr = Csr(
        row_pointers,
        sorted_sample_ids,
        sorted_token_ids,
        sorted_gains,
        num_minibatches_per_physical_sparse_core,
        num_sparsecores_per_device,
    )
    rule = custom_rule(custom_computation, tables, hyperparameters)
    named = {f"tables[{k}]": table for k, table in enumerate(tables)}
    return list(_update(rule, named, csr, activation_gradients, 0.0, (-INFINITY, INFINITY)))


def custom_rule(
    computation: Callable[..., Any], tables: Sequence[Any], hyperparameters: Sequence[Any]
) -> rules.Rule:
    """Return a rule that calls an op's function for an optimizer.

    Raises:
        InvalidArgumentError: there are no tables or no hyperparameters; in a step, results that
            aren't the tables'.
    """
    if not tables or not hyperparameters:
        raise InvalidArgumentError(
            f"there must be tables and hyperparameters, got {len(tables)} and "
            f"{len(hyperparameters)}"
        )

    def step(w: Any, slots: Any, g: Any, lr: Any) -> Any:
        values = [np.broadcast_to(np.asarray(x, np.float32), w.shape) for x in hyperparameters]
        results = computation(g, w, *slots, *values)
        if not isinstance(results, tuple | list):
            results = (results,)
        found = [np.shape(result) for result in results]
        if found != [w.shape] * len(tables):
            raise InvalidArgumentError(
                f"the function must return {len(tables)} arrays of shape {w.shape}, got {found}"
            )
        new_w, *new_slots = (np.asarray(result) for result in results)
        return new_w, tuple(new_slots)

    initial_values = tuple((f"slot {k}", 0.0) for k in range(1, len(tables)))
    return rules.UserDefined(step, initial_values)


def read_levels(low: float, high: float, num_buckets: int) -> tuple[float, float, int] | None:
    """Return levels of quantization; None where there are 0.

    Raises:
        InvalidArgumentError: levels that can't be.
    """
    if num_buckets == 0:
        return None
    if num_buckets < 2 or not low < high:
        raise InvalidArgumentError(
            "quantization needs at least 2 buckets and a low below high, got "
            f"{num_buckets} from {low} to {high}"
        )
    return (low, high, num_buckets)


def _read_limits(max_ids: int, max_unique_ids: int) -> tuple[int, int]:
    """Return limits of a partition, which must be above 0."""
    for name, limit in (
        ("max_ids_per_sparse_core", max_ids),
        ("max_unique_ids_per_sparse_core", max_unique_ids),
    ):
        if limit < 1:
            raise InvalidArgumentError(f"{name} must be > 0")
    return (max_ids, max_unique_ids)


def _look_up(
    csr: Csr, embedding_table: Tensor, samples: int, levels: tuple[float, float, int] | None
) -> np.ndarray:
    matmul = tpu_module("sparsecore.matmul")
    (table,) = matmul.read_tables(embedding_table=embedding_table)
    activations: np.ndarray = matmul.sum_rows(
        read_lookups(csr, samples, table.shape[0]), table, samples, levels
    )
    return activations


def _update(
    rule: rules.Rule,
    tables: dict[str, Tensor],
    csr: Csr,
    activation_gradients: Tensor,
    learning_rate: Tensor,
    weight_limits: tuple[float, float],
) -> tuple[np.ndarray, ...]:
    """Return a table and its slots after a step of the rows that were looked up."""
    matmul = tpu_module("sparsecore.matmul")
    arrays = matmul.read_tables(**tables)
    gradients = np.asarray(activation_gradients, np.float32)
    num_rows, width = arrays[0].shape
    if gradients.ndim != 2 or gradients.shape[1] != width:
        raise InvalidArgumentError(
            f"activation_gradients must have shape (samples, {width}), got {gradients.shape}"
        )
    if np.ndim(learning_rate):
        raise InvalidArgumentError(
            f"learning_rate must be a scalar, got shape {np.shape(learning_rate)}"
        )
    lookups = read_lookups(csr, len(gradients), num_rows)
    updated: tuple[np.ndarray, ...] = matmul.update_looked_up_rows(
        rule, arrays, lookups, gradients[lookups.samples], learning_rate, weight_limits
    )
    return updated


def read_lookups(csr: Csr, samples: int, table_rows: int) -> Any:
    """Return the lookups in buffers of a device."""
    if np.ndim(csr.minibatches):
        raise InvalidArgumentError("num_minibatches_per_physical_sparse_core must be scalar")
    limits = None
    if csr.limits is not None:
        limits = tpu_module("sparsecore.partitions").Limits(*csr.limits)
    return tpu_module("sparsecore.matmul").read_lookups(
        csr[:4],
        int(csr.minibatches),
        tpu_module("sparsecore.topology").sparsecores_per_device(csr.num_sparsecores_per_device),
        samples,
        table_rows,
        limits,
    )

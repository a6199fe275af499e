"""Ops that look up rows one by one, for a combiner that is a function of your own, and update them.

A sample's rows are not summed: row number `pos` of a sample stands at vectors[sample, pos], and a
function combines them, with weights of its own if it has some. Two more functions are its
derivatives: that by the vectors updates the table, that by the weights moves these by gradient
descent.

The buffers and the table are those of `sparsecore_matmul.py`, in one minibatch. What a gain other
than 1 does is not public, so gains must be 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import rules
from ..errors import InvalidArgumentError
from . import sparsecore_shapes as shapes
from .sparsecore_matmul import INFINITY, Csr, custom_rule, read_levels, read_lookups
from .sparsecore_update import adagrad_rule, adam_rule, ftrl_rule
from .tpu_op import Tensor, Tensors, op, tpu_module


class CombinedActivations(NamedTuple):
    """Activations, and what the gradient ops need: rows of each sample, and how many it has."""

    activations: np.ndarray
    preserved_valencies: np.ndarray
    preserved_vectors: np.ndarray


@op(shapes.combined_lookup)
def XlaSparseDenseMatmulCustomCombinerOnTcWithCsrInput(
    *,
    row_pointers: Tensor,
    sorted_sample_ids: Tensor,
    sorted_token_ids: Tensor,
    sorted_pos_ids: Tensor,
    sorted_gains: Tensor,
    embedding_table: Tensor,
    weights: Tensor,
    input_size: int,
    max_valency: int,
    num_weights: int,
    combiner_computation: Callable[..., Any],
    quantization_config_low: float,
    quantization_config_high: float,
    quantization_config_num_buckets: int,
    table_name: str | bytes,
    num_sparsecores_per_device: int = -1,
    name: str | None = None,
) -> CombinedActivations:
    """Return the activations of a device, combined by a function.

        activations = combiner_computation(valencies, vectors[, weights])

    where `valencies`, int32 (input_size,), are the numbers of rows of the samples, `vectors`,
    float32 (input_size, max_valency, width), are their rows and zeros, and `weights`, (input_size,
    num_weights), are the weights again for each sample.

    Args:
        row_pointers, sorted_sample_ids, sorted_token_ids, sorted_gains: the buffers.
        sorted_pos_ids: int32, the place of each lookup in its sample, below `max_valency`.
        embedding_table: float32, (rows, width).
        weights: float32, (num_weights,).
        input_size: the samples of the device.
        combiner_computation: a function that returns (input_size, width). It isn't passed weights
            if `num_weights` is 0.
        quantization_config_low, quantization_config_high, quantization_config_num_buckets: rows
            are rounded to so many levels; 0 levels for none.
        table_name: not read.
        num_sparsecores_per_device: as in `XlaSparseDenseMatmulWithCsrInput`.

    Raises:
        InvalidArgumentError: what that op raises, gains other than 1, two lookups in one place of a
            sample, or a result of another shape.

    Source: `tf.raw_ops.XlaSparseDenseMatmulCustomCombinerOnTcWithCsrInput`, TensorFlow 2.21 (2026),
    read.

    >>> def weighted_sum(valencies, vectors, weights):
    ...     return (vectors * weights[:, :, None]).sum(1)
    >>> found = XlaSparseDenseMatmulCustomCombinerOnTcWithCsrInput(
    ...     row_pointers=[2] * 8, sorted_sample_ids=[0, 0], sorted_token_ids=[0, 1],
    ...     sorted_pos_ids=[1, 0], sorted_gains=[1.0, 1.0], embedding_table=[[2.0], [3.0]],
    ...     weights=[10.0, 1.0], input_size=1, max_valency=2, num_weights=2,
    ...     combiner_computation=weighted_sum, quantization_config_low=0.0,
    ...     quantization_config_high=0.0, quantization_config_num_buckets=0, table_name="t",
    ...     num_sparsecores_per_device=1,
    ... )
    >>> found.activations.tolist(), found.preserved_vectors.tolist()
    ([[32.0]], [[[3.0], [2.0]]])
    """
    csr = _PositionedCsr(
        row_pointers,
        sorted_sample_ids,
        sorted_token_ids,
        sorted_pos_ids,
        sorted_gains,
        num_sparsecores_per_device,
    )
    levels = read_levels(
        quantization_config_low, quantization_config_high, quantization_config_num_buckets
    )
    (table,) = tpu_module("sparsecore.matmul").read_tables(embedding_table=embedding_table)
    lookups, positions = _read_positions(csr, input_size, table.shape[0], max_valency)
    rows = table[lookups.rows]
    if levels is not None:
        rows = np.asarray(tpu_module("storage").quantize(rows, *levels))
    vectors = np.zeros((input_size, max_valency, table.shape[1]), np.float32)
    vectors[lookups.samples, positions] = rows
    valencies = np.bincount(lookups.samples, minlength=input_size).astype(np.int32)
    arguments = [valencies, vectors, *_spread_weights(weights, num_weights, input_size)]
    activations = _call(combiner_computation, arguments, (input_size, table.shape[1]))
    return CombinedActivations(activations, valencies, vectors)


class CombinedSgdUpdate(NamedTuple):
    """A table and the weights of a combiner."""

    updated_embedding_table: np.ndarray
    updated_weights: np.ndarray


@op(shapes.combined_update("embedding_table"))
def XlaSparseDenseMatmulCustomCombinerOnTcGradWithSgdAndCsrInput(
    *,
    row_pointers: Tensor,
    sorted_sample_ids: Tensor,
    sorted_token_ids: Tensor,
    sorted_pos_ids: Tensor,
    sorted_gains: Tensor,
    weights: Tensor,
    preserved_valencies: Tensor,
    preserved_vectors: Tensor,
    preserved_weights: Tensor,
    activation_gradients: Tensor,
    learning_rate: Tensor,
    combiner_weights_learning_rate: Tensor,
    embedding_table: Tensor,
    max_valency: int,
    num_weights: int,
    combiner_table_vjp_computation: Callable[..., Any],
    combiner_weights_vjp_computation: Callable[..., Any],
    table_name: str | bytes,
    clip_weight_min: float = -INFINITY,
    clip_weight_max: float = INFINITY,
    num_sparsecores_per_device: int = -1,
    name: str | None = None,
) -> CombinedSgdUpdate:
    """Return a table and the weights of a combiner after a step of gradient descent.

        V = combiner_table_vjp_computation(valencies, vectors[, weights], activation_gradients)
        W = combiner_weights_vjp_computation(valencies, vectors, weights, activation_gradients)
        G[row] = sum of V[sample, pos] over its lookups;    w = w - learning_rate * G
        weights = weights - combiner_weights_learning_rate * sum of W over the samples

    Args:
        row_pointers, sorted_sample_ids, sorted_token_ids, sorted_pos_ids, sorted_gains: the
            buffers, as they were looked up.
        weights: float32, (num_weights,), which take the step.
        preserved_valencies, preserved_vectors, preserved_weights: the outputs of the lookup, and
            the weights that it had; the functions are passed these.
        activation_gradients: float32, (samples of the device, width).
        learning_rate, combiner_weights_learning_rate: float32 scalars.
        embedding_table: float32, (rows, width).
        max_valency: the most rows of a sample.
        num_weights: the number of weights; 0 for none, which the functions aren't passed then.
        combiner_table_vjp_computation: a function that returns (samples, max_valency, width).
        combiner_weights_vjp_computation: a function that returns (samples, num_weights).
        table_name: not read.
        clip_weight_min, clip_weight_max: limits of the new rows.
        num_sparsecores_per_device: as in `XlaSparseDenseMatmulWithCsrInput`.

    In TensorFlow the weights' gradients are summed over all devices.

    Raises:
        InvalidArgumentError: what `XlaSparseDenseMatmulCustomCombinerOnTcWithCsrInput` and
            `XlaSparseDenseMatmulGradWithSgdAndCsrInput` raise.

    Source: `tf.raw_ops.XlaSparseDenseMatmulCustomCombinerOnTcGradWithSgdAndCsrInput`,
    TensorFlow 2.21 (2026), read.

    >>> def of_vectors(valencies, vectors, weights, gradients):
    ...     return weights[:, :, None] * gradients[:, None, :]
    >>> def of_weights(valencies, vectors, weights, gradients):
    ...     return (vectors * gradients[:, None, :]).sum(2)
    >>> found = XlaSparseDenseMatmulCustomCombinerOnTcGradWithSgdAndCsrInput(
    ...     row_pointers=[2] * 8, sorted_sample_ids=[0, 0], sorted_token_ids=[0, 1],
    ...     sorted_pos_ids=[1, 0], sorted_gains=[1.0, 1.0], weights=[10.0, 1.0],
    ...     preserved_valencies=[2], preserved_vectors=[[[3.0], [2.0]]],
    ...     preserved_weights=[10.0, 1.0], activation_gradients=[[1.0]], learning_rate=0.5,
    ...     combiner_weights_learning_rate=0.1, embedding_table=[[2.0], [3.0]], max_valency=2,
    ...     num_weights=2, combiner_table_vjp_computation=of_vectors,
    ...     combiner_weights_vjp_computation=of_weights, table_name="t",
    ...     num_sparsecores_per_device=1,
    ... )
    >>> [x.round(4).ravel().tolist() for x in found]
    [[1.5, -2.0], [9.699999809265137, 0.800000011920929]]
    """
    csr = _PositionedCsr(
        row_pointers,
        sorted_sample_ids,
        sorted_token_ids,
        sorted_pos_ids,
        sorted_gains,
        num_sparsecores_per_device,
    )
    combiner = _Combiner(
        weights,
        preserved_valencies,
        preserved_vectors,
        preserved_weights,
        combiner_weights_learning_rate,
        max_valency,
        num_weights,
        combiner_table_vjp_computation,
        combiner_weights_vjp_computation,
    )
    tables, new_weights = _update(
        rules.StochasticGradientDescent(),
        {"embedding_table": embedding_table},
        csr,
        combiner,
        activation_gradients,
        learning_rate,
        (clip_weight_min, clip_weight_max),
    )
    return CombinedSgdUpdate(tables[0], new_weights)


class CombinedAdagradUpdate(NamedTuple):
    """A table, its slot and the weights of a combiner."""

    updated_embedding_table: np.ndarray
    updated_accumulator: np.ndarray
    updated_weights: np.ndarray


@op(shapes.combined_update("embedding_table", "accumulator"))
def XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdagradAndCsrInput(
    *,
    row_pointers: Tensor,
    sorted_sample_ids: Tensor,
    sorted_token_ids: Tensor,
    sorted_pos_ids: Tensor,
    sorted_gains: Tensor,
    weights: Tensor,
    preserved_valencies: Tensor,
    preserved_vectors: Tensor,
    preserved_weights: Tensor,
    activation_gradients: Tensor,
    learning_rate: Tensor,
    combiner_weights_learning_rate: Tensor,
    embedding_table: Tensor,
    accumulator: Tensor,
    max_valency: int,
    num_weights: int,
    combiner_table_vjp_computation: Callable[..., Any],
    combiner_weights_vjp_computation: Callable[..., Any],
    table_name: str | bytes,
    clip_weight_min: float = -INFINITY,
    clip_weight_max: float = INFINITY,
    num_sparsecores_per_device: int = -1,
    name: str | None = None,
) -> CombinedAdagradUpdate:
    """Do the same as the op with Sgd, with a step of Adagrad of the table.

    Args:
        accumulator: float32, of the shape of the table.

    The formula is that of `XlaSparseDenseMatmulGradWithAdagradAndCsrInput`. Others and
    raises: as in `XlaSparseDenseMatmulCustomCombinerOnTcGradWithSgdAndCsrInput`.

    Source: `tf.raw_ops.XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdagradAndCsrInput`,
    TensorFlow 2.21 (2026), read.

    >>> def of_vectors(valencies, vectors, weights, gradients):
    ...     return weights[:, :, None] * gradients[:, None, :]
    >>> def of_weights(valencies, vectors, weights, gradients):
    ...     return (vectors * gradients[:, None, :]).sum(2)
    >>> found = XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdagradAndCsrInput(
    ...     row_pointers=[2] * 8, sorted_sample_ids=[0, 0], sorted_token_ids=[0, 1],
    ...     sorted_pos_ids=[1, 0], sorted_gains=[1.0, 1.0], weights=[10.0, 1.0],
    ...     preserved_valencies=[2], preserved_vectors=[[[3.0], [2.0]]],
    ...     preserved_weights=[10.0, 1.0], activation_gradients=[[1.0]], learning_rate=0.5,
    ...     combiner_weights_learning_rate=0.1, embedding_table=[[2.0], [3.0]],
    ...     accumulator=[[3.0], [3.0]], max_valency=2, num_weights=2,
    ...     combiner_table_vjp_computation=of_vectors, combiner_weights_vjp_computation=of_weights,
    ...     table_name="t", num_sparsecores_per_device=1,
    ... )
    >>> found.updated_embedding_table.round(4).ravel().tolist()
    [1.75, 2.5072999000549316]
    """
    csr = _PositionedCsr(
        row_pointers,
        sorted_sample_ids,
        sorted_token_ids,
        sorted_pos_ids,
        sorted_gains,
        num_sparsecores_per_device,
    )
    combiner = _Combiner(
        weights,
        preserved_valencies,
        preserved_vectors,
        preserved_weights,
        combiner_weights_learning_rate,
        max_valency,
        num_weights,
        combiner_table_vjp_computation,
        combiner_weights_vjp_computation,
    )
    tables, new_weights = _update(
        adagrad_rule(),
        {"embedding_table": embedding_table, "accumulator": accumulator},
        csr,
        combiner,
        activation_gradients,
        learning_rate,
        (clip_weight_min, clip_weight_max),
    )
    return CombinedAdagradUpdate(tables[0], tables[1], new_weights)


class CombinedAdagradMomentumUpdate(NamedTuple):
    """A table, its slots and the weights of a combiner."""

    updated_embedding_table: np.ndarray
    updated_accumulator: np.ndarray
    updated_momenta: np.ndarray
    updated_weights: np.ndarray


@op(shapes.combined_update("embedding_table", "accumulator", "momenta"))
def XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdagradMomentumAndCsrInput(
    *,
    row_pointers: Tensor,
    sorted_sample_ids: Tensor,
    sorted_token_ids: Tensor,
    sorted_pos_ids: Tensor,
    sorted_gains: Tensor,
    weights: Tensor,
    preserved_valencies: Tensor,
    preserved_vectors: Tensor,
    preserved_weights: Tensor,
    activation_gradients: Tensor,
    learning_rate: Tensor,
    combiner_weights_learning_rate: Tensor,
    embedding_table: Tensor,
    accumulator: Tensor,
    momenta: Tensor,
    use_nesterov: bool,
    exponent: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    max_valency: int,
    num_weights: int,
    combiner_table_vjp_computation: Callable[..., Any],
    combiner_weights_vjp_computation: Callable[..., Any],
    table_name: str | bytes,
    clip_weight_min: float = -INFINITY,
    clip_weight_max: float = INFINITY,
    num_sparsecores_per_device: int = -1,
    name: str | None = None,
) -> CombinedAdagradMomentumUpdate:
    """Do the same as the op with Sgd, with a step of Adagrad with momentum of the table.

    Args:
        accumulator, momenta: float32, of the shape of the table.

    The formula is that of `XlaSparseDenseMatmulGradWithAdagradMomentumAndCsrInput`. Others and
    raises: as in `XlaSparseDenseMatmulCustomCombinerOnTcGradWithSgdAndCsrInput`.

    Source: `tf.raw_ops.XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdagradMomentumAndCsrInput`,
    TensorFlow 2.21 (2026), read.

    >>> def of_vectors(valencies, vectors, weights, gradients):
    ...     return weights[:, :, None] * gradients[:, None, :]
    >>> def of_weights(valencies, vectors, weights, gradients):
    ...     return (vectors * gradients[:, None, :]).sum(2)
    >>> found = XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdagradMomentumAndCsrInput(
    ...     row_pointers=[2] * 8, sorted_sample_ids=[0, 0], sorted_token_ids=[0, 1],
    ...     sorted_pos_ids=[1, 0], sorted_gains=[1.0, 1.0], weights=[10.0, 1.0],
    ...     preserved_valencies=[2], preserved_vectors=[[[3.0], [2.0]]],
    ...     preserved_weights=[10.0, 1.0], activation_gradients=[[1.0]], learning_rate=0.5,
    ...     combiner_weights_learning_rate=0.1, embedding_table=[[2.0], [3.0]],
    ...     accumulator=[[3.0], [3.0]], momenta=[[0.0], [0.0]], use_nesterov=False, exponent=2.0,
    ...     beta1=0.5, beta2=1.0, epsilon=0.0, max_valency=2, num_weights=2,
    ...     combiner_table_vjp_computation=of_vectors, combiner_weights_vjp_computation=of_weights,
    ...     table_name="t", num_sparsecores_per_device=1,
    ... )
    >>> found.updated_embedding_table.round(4).ravel().tolist()
    [1.75, 2.5072999000549316]
    """
    csr = _PositionedCsr(
        row_pointers,
        sorted_sample_ids,
        sorted_token_ids,
        sorted_pos_ids,
        sorted_gains,
        num_sparsecores_per_device,
    )
    combiner = _Combiner(
        weights,
        preserved_valencies,
        preserved_vectors,
        preserved_weights,
        combiner_weights_learning_rate,
        max_valency,
        num_weights,
        combiner_table_vjp_computation,
        combiner_weights_vjp_computation,
    )
    tables, new_weights = _update(
        rules.AdagradMomentum(
            momentum=beta1,
            use_nesterov=use_nesterov,
            exponent=exponent,
            beta2=beta2,
            epsilon=epsilon,
        ),
        {"embedding_table": embedding_table, "accumulator": accumulator, "momenta": momenta},
        csr,
        combiner,
        activation_gradients,
        learning_rate,
        (clip_weight_min, clip_weight_max),
    )
    return CombinedAdagradMomentumUpdate(tables[0], tables[1], tables[2], new_weights)


class CombinedAdamUpdate(NamedTuple):
    """A table, its slots and the weights of a combiner."""

    updated_embedding_table: np.ndarray
    updated_momenta: np.ndarray
    updated_velocity: np.ndarray
    updated_weights: np.ndarray


@op(shapes.combined_update("embedding_table", "momenta", "velocity"))
def XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdamAndCsrInput(
    *,
    row_pointers: Tensor,
    sorted_sample_ids: Tensor,
    sorted_token_ids: Tensor,
    sorted_pos_ids: Tensor,
    sorted_gains: Tensor,
    weights: Tensor,
    preserved_valencies: Tensor,
    preserved_vectors: Tensor,
    preserved_weights: Tensor,
    activation_gradients: Tensor,
    learning_rate: Tensor,
    combiner_weights_learning_rate: Tensor,
    embedding_table: Tensor,
    momenta: Tensor,
    velocity: Tensor,
    use_sum_inside_sqrt: bool,
    beta1: float,
    beta2: float,
    epsilon: float,
    max_valency: int,
    num_weights: int,
    combiner_table_vjp_computation: Callable[..., Any],
    combiner_weights_vjp_computation: Callable[..., Any],
    table_name: str | bytes,
    clip_weight_min: float = -INFINITY,
    clip_weight_max: float = INFINITY,
    num_sparsecores_per_device: int = -1,
    name: str | None = None,
) -> CombinedAdamUpdate:
    """Do the same as the op with Sgd, with a step of uncorrected Adam of the table.

    Args:
        momenta, velocity: float32, of the shape of the table.

    The formula is that of `XlaSparseDenseMatmulGradWithAdamAndCsrInput`. Others and
    raises: as in `XlaSparseDenseMatmulCustomCombinerOnTcGradWithSgdAndCsrInput`.

    Source: `tf.raw_ops.XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdamAndCsrInput`,
    TensorFlow 2.21 (2026), read.

    >>> def of_vectors(valencies, vectors, weights, gradients):
    ...     return weights[:, :, None] * gradients[:, None, :]
    >>> def of_weights(valencies, vectors, weights, gradients):
    ...     return (vectors * gradients[:, None, :]).sum(2)
    >>> found = XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdamAndCsrInput(
    ...     row_pointers=[2] * 8, sorted_sample_ids=[0, 0], sorted_token_ids=[0, 1],
    ...     sorted_pos_ids=[1, 0], sorted_gains=[1.0, 1.0], weights=[10.0, 1.0],
    ...     preserved_valencies=[2], preserved_vectors=[[[3.0], [2.0]]],
    ...     preserved_weights=[10.0, 1.0], activation_gradients=[[1.0]], learning_rate=0.5,
    ...     combiner_weights_learning_rate=0.1, embedding_table=[[2.0], [3.0]],
    ...     momenta=[[0.0], [0.0]], velocity=[[0.0], [0.0]], use_sum_inside_sqrt=False, beta1=0.5,
    ...     beta2=0.75, epsilon=0.0, max_valency=2, num_weights=2,
    ...     combiner_table_vjp_computation=of_vectors, combiner_weights_vjp_computation=of_weights,
    ...     table_name="t", num_sparsecores_per_device=1,
    ... )
    >>> found.updated_embedding_table.round(4).ravel().tolist()
    [1.5, 2.5]
    """
    csr = _PositionedCsr(
        row_pointers,
        sorted_sample_ids,
        sorted_token_ids,
        sorted_pos_ids,
        sorted_gains,
        num_sparsecores_per_device,
    )
    combiner = _Combiner(
        weights,
        preserved_valencies,
        preserved_vectors,
        preserved_weights,
        combiner_weights_learning_rate,
        max_valency,
        num_weights,
        combiner_table_vjp_computation,
        combiner_weights_vjp_computation,
    )
    tables, new_weights = _update(
        adam_rule(use_sum_inside_sqrt, beta1, beta2, epsilon),
        {"embedding_table": embedding_table, "momenta": momenta, "velocity": velocity},
        csr,
        combiner,
        activation_gradients,
        learning_rate,
        (clip_weight_min, clip_weight_max),
    )
    return CombinedAdamUpdate(tables[0], tables[1], tables[2], new_weights)


class CombinedFtrlUpdate(NamedTuple):
    """A table, its slots and the weights of a combiner."""

    updated_embedding_table: np.ndarray
    updated_accumulator: np.ndarray
    updated_linear: np.ndarray
    updated_weights: np.ndarray


@op(shapes.combined_update("embedding_table", "accumulator", "linear"))
def XlaSparseDenseMatmulCustomCombinerOnTcGradWithFtrlAndCsrInput(
    *,
    row_pointers: Tensor,
    sorted_sample_ids: Tensor,
    sorted_token_ids: Tensor,
    sorted_pos_ids: Tensor,
    sorted_gains: Tensor,
    weights: Tensor,
    preserved_valencies: Tensor,
    preserved_vectors: Tensor,
    preserved_weights: Tensor,
    activation_gradients: Tensor,
    learning_rate: Tensor,
    combiner_weights_learning_rate: Tensor,
    embedding_table: Tensor,
    accumulator: Tensor,
    linear: Tensor,
    multiply_linear_by_learning_rate: bool,
    beta: float,
    learning_rate_power: float,
    l1_regularization_strength: float,
    l2_regularization_strength: float,
    max_valency: int,
    num_weights: int,
    combiner_table_vjp_computation: Callable[..., Any],
    combiner_weights_vjp_computation: Callable[..., Any],
    table_name: str | bytes,
    clip_weight_min: float = -INFINITY,
    clip_weight_max: float = INFINITY,
    num_sparsecores_per_device: int = -1,
    name: str | None = None,
) -> CombinedFtrlUpdate:
    """Do the same as the op with Sgd, with a step of FTRL of the table.

    Args:
        accumulator, linear: float32, of the shape of the table.

    The formula is that of `XlaSparseDenseMatmulGradWithFtrlAndCsrInput`. Others and
    raises: as in `XlaSparseDenseMatmulCustomCombinerOnTcGradWithSgdAndCsrInput`.

    Source: `tf.raw_ops.XlaSparseDenseMatmulCustomCombinerOnTcGradWithFtrlAndCsrInput`,
    TensorFlow 2.21 (2026), read.

    >>> def of_vectors(valencies, vectors, weights, gradients):
    ...     return weights[:, :, None] * gradients[:, None, :]
    >>> def of_weights(valencies, vectors, weights, gradients):
    ...     return (vectors * gradients[:, None, :]).sum(2)
    >>> found = XlaSparseDenseMatmulCustomCombinerOnTcGradWithFtrlAndCsrInput(
    ...     row_pointers=[2] * 8, sorted_sample_ids=[0, 0], sorted_token_ids=[0, 1],
    ...     sorted_pos_ids=[1, 0], sorted_gains=[1.0, 1.0], weights=[10.0, 1.0],
    ...     preserved_valencies=[2], preserved_vectors=[[[3.0], [2.0]]],
    ...     preserved_weights=[10.0, 1.0], activation_gradients=[[1.0]], learning_rate=0.5,
    ...     combiner_weights_learning_rate=0.1, embedding_table=[[2.0], [3.0]],
    ...     accumulator=[[3.0], [3.0]], linear=[[0.0], [0.0]],
    ...     multiply_linear_by_learning_rate=False, beta=0.0, learning_rate_power=-0.5,
    ...     l1_regularization_strength=0.0, l2_regularization_strength=0.0, max_valency=2,
    ...     num_weights=2, combiner_table_vjp_computation=of_vectors,
    ...     combiner_weights_vjp_computation=of_weights, table_name="t",
    ...     num_sparsecores_per_device=1,
    ... )
    >>> found.updated_embedding_table.round(4).ravel().tolist()
    [0.017899999395012856, 1.995300054550171]
    """
    csr = _PositionedCsr(
        row_pointers,
        sorted_sample_ids,
        sorted_token_ids,
        sorted_pos_ids,
        sorted_gains,
        num_sparsecores_per_device,
    )
    combiner = _Combiner(
        weights,
        preserved_valencies,
        preserved_vectors,
        preserved_weights,
        combiner_weights_learning_rate,
        max_valency,
        num_weights,
        combiner_table_vjp_computation,
        combiner_weights_vjp_computation,
    )
    tables, new_weights = _update(
        ftrl_rule(
            multiply_linear_by_learning_rate,
            beta,
            learning_rate_power,
            l1_regularization_strength,
            l2_regularization_strength,
        ),
        {"embedding_table": embedding_table, "accumulator": accumulator, "linear": linear},
        csr,
        combiner,
        activation_gradients,
        learning_rate,
        (clip_weight_min, clip_weight_max),
    )
    return CombinedFtrlUpdate(tables[0], tables[1], tables[2], new_weights)


class CombinedUpdate(NamedTuple):
    """Tables, and the weights of a combiner."""

    updated_tables: list[np.ndarray]
    updated_weights: np.ndarray


@op(shapes.combined_tables)
def XlaSparseDenseMatmulCustomCombinerOnTcGradWithCsrInput(
    *,
    row_pointers: Tensor,
    sorted_sample_ids: Tensor,
    sorted_token_ids: Tensor,
    sorted_pos_ids: Tensor,
    sorted_gains: Tensor,
    weights: Tensor,
    preserved_valencies: Tensor,
    preserved_vectors: Tensor,
    preserved_weights: Tensor,
    activation_gradients: Tensor,
    tables: Tensors,
    hyperparameters: Tensors,
    combiner_weights_learning_rate: Tensor,
    max_valency: int,
    num_weights: int,
    combiner_table_vjp_computation: Callable[..., Any],
    combiner_weights_vjp_computation: Callable[..., Any],
    optimizer_custom_computation: Callable[..., Any],
    table_name: str | bytes,
    num_sparsecores_per_device: int = -1,
    name: str | None = None,
) -> CombinedUpdate:
    """Do the same as the op with Sgd, with a step by a function of your own of the tables.

    Args:
        tables, hyperparameters, optimizer_custom_computation: as `tables`, `hyperparameters` and
            `custom_computation` in `XlaSparseDenseMatmulGradWithCsrInput`.

    Others and raises: as there and in
    `XlaSparseDenseMatmulCustomCombinerOnTcGradWithSgdAndCsrInput`.

    Source: `tf.raw_ops.XlaSparseDenseMatmulCustomCombinerOnTcGradWithCsrInput`,
    TensorFlow 2.21 (2026), read.

    >>> def of_vectors(valencies, vectors, gradients):
    ...     return vectors * 0 + gradients[:, None, :]
    >>> found = XlaSparseDenseMatmulCustomCombinerOnTcGradWithCsrInput(
    ...     row_pointers=[2] * 8, sorted_sample_ids=[0, 0], sorted_token_ids=[0, 1],
    ...     sorted_pos_ids=[1, 0], sorted_gains=[1.0, 1.0], weights=[], preserved_valencies=[2],
    ...     preserved_vectors=[[[3.0], [2.0]]], preserved_weights=[], activation_gradients=[[1.0]],
    ...     tables=[[[2.0], [3.0]]], hyperparameters=[0.5], combiner_weights_learning_rate=0.1,
    ...     max_valency=2, num_weights=0, combiner_table_vjp_computation=of_vectors,
    ...     combiner_weights_vjp_computation=None,
    ...     optimizer_custom_computation=lambda g, w, rate: w - rate * g, table_name="t",
    ...     num_sparsecores_per_device=1,
    ... )
    >>> found.updated_tables[0].ravel().tolist(), found.updated_weights.tolist()
    ([1.5, 2.5], [])
    """
    csr = _PositionedCsr(
        row_pointers,
        sorted_sample_ids,
        sorted_token_ids,
        sorted_pos_ids,
        sorted_gains,
        num_sparsecores_per_device,
    )
    combiner = _Combiner(
        weights,
        preserved_valencies,
        preserved_vectors,
        preserved_weights,
        combiner_weights_learning_rate,
        max_valency,
        num_weights,
        combiner_table_vjp_computation,
        combiner_weights_vjp_computation,
    )
    updated, new_weights = _update(
        custom_rule(optimizer_custom_computation, tables, hyperparameters),
        {f"tables[{k}]": table for k, table in enumerate(tables)},
        csr,
        combiner,
        activation_gradients,
        0.0,
        (-INFINITY, INFINITY),
    )
    return CombinedUpdate(list(updated), new_weights)


class _PositionedCsr(NamedTuple):
    """Buffers of a device in which each lookup has its place in the sample."""

    row_pointers: Tensor
    sorted_sample_ids: Tensor
    sorted_token_ids: Tensor
    sorted_pos_ids: Tensor
    sorted_gains: Tensor
    num_sparsecores_per_device: int


class _Combiner(NamedTuple):
    """The weights of a combiner, what its lookup preserved, and its derivatives."""

    weights: Tensor
    preserved_valencies: Tensor
    preserved_vectors: Tensor
    preserved_weights: Tensor
    learning_rate: Tensor
    max_valency: int
    num_weights: int
    of_vectors: Callable[..., Any]
    of_weights: Callable[..., Any]


def _update(
    rule: rules.Rule,
    tables: dict[str, Tensor],
    csr: _PositionedCsr,
    combiner: _Combiner,
    activation_gradients: Tensor,
    learning_rate: Tensor,
    weight_limits: tuple[float, float],
) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """Return a table and its slots, and the weights of the combiner, after a step."""
    matmul = tpu_module("sparsecore.matmul")
    arrays = matmul.read_tables(**tables)
    num_rows, width = arrays[0].shape
    gradients = np.asarray(activation_gradients, np.float32)
    samples = len(gradients)
    valencies = np.asarray(combiner.preserved_valencies, np.int32)
    vectors = np.asarray(combiner.preserved_vectors, np.float32)
    for name, array, shape in (
        ("activation_gradients", gradients, (samples, width)),
        ("preserved_valencies", valencies, (samples,)),
        ("preserved_vectors", vectors, (samples, combiner.max_valency, width)),
    ):
        if array.shape != shape:
            raise InvalidArgumentError(f"{name} must have shape {shape}, got {array.shape}")

    spread = _spread_weights(combiner.preserved_weights, combiner.num_weights, samples)
    arguments = [valencies, vectors, *spread, gradients]
    of_vectors = _call(combiner.of_vectors, arguments, vectors.shape)
    weights = np.zeros(0, np.float32)
    if combiner.num_weights:
        shape = (samples, combiner.num_weights)
        step = _call(combiner.of_weights, arguments, shape).sum(0)
        rate = np.float32(combiner.learning_rate)
        weights = np.asarray(combiner.weights, np.float32) - rate * step

    lookups, positions = _read_positions(csr, samples, num_rows, combiner.max_valency)
    updated = matmul.update_looked_up_rows(
        rule,
        arrays,
        lookups,
        of_vectors[lookups.samples, positions],
        learning_rate,
        weight_limits,
    )
    return updated, weights


def _read_positions(
    csr: _PositionedCsr, samples: int, table_rows: int, max_valency: int
) -> tuple[Any, np.ndarray]:
    """Return the lookups in buffers, and the place of each in its sample."""
    buffers = Csr(
        csr.row_pointers,
        csr.sorted_sample_ids,
        csr.sorted_token_ids,
        csr.sorted_gains,
        1,
        csr.num_sparsecores_per_device,
    )
    lookups = read_lookups(buffers, samples, table_rows)
    all_positions = np.asarray(csr.sorted_pos_ids, np.int32)
    if all_positions.shape != np.shape(csr.sorted_sample_ids):
        raise InvalidArgumentError(
            "sorted_pos_ids must be as long as sorted_sample_ids, got shapes "
            f"{all_positions.shape} and {np.shape(csr.sorted_sample_ids)}"
        )
    positions = all_positions[lookups.places]
    if positions.size and not 0 <= positions.min() <= positions.max() < max_valency:
        raise InvalidArgumentError(
            f"sorted_pos_ids must be 0 to {max_valency - 1}, got {positions.min()} to "
            f"{positions.max()}"
        )
    places = lookups.samples.astype(np.int64) * max_valency + positions
    if np.unique(places).size < places.size:
        raise InvalidArgumentError("two lookups of a sample have one position")
    if (lookups.gains != 1).any():
        raise InvalidArgumentError("gains of lookups for a custom combiner must be 1")
    return lookups, positions


def _spread_weights(weights: Tensor, num_weights: int, samples: int) -> list[np.ndarray]:
    """Return the weights again for each sample; nothing where there are none."""
    array = np.asarray(weights, np.float32)
    if array.shape != (num_weights,):
        raise InvalidArgumentError(f"weights must have shape ({num_weights},), got {array.shape}")
    return [np.broadcast_to(array, (samples, num_weights))] if num_weights else []


def _call(
    function: Callable[..., Any], arguments: list[np.ndarray], shape: tuple[int, ...]
) -> np.ndarray:
    """Return what a function of the combiner returns; refuse another shape."""
    result = np.asarray(function(*arguments), np.float32)
    if result.shape != shape:
        raise InvalidArgumentError(
            f"the function must return an array of shape {shape}, got {result.shape}"
        )
    return result

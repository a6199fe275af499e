"""Ops between a model and a stack: activations of several tables cut from one array, gradients put in one.

Interleaved, each SparseCore of the device has its share of the samples of every table side by side,
as `ConvertToListOfSparseCoreCooTensors` writes them; otherwise the tables stand one after another.
`tf.raw_ops` doesn't show these ops, but TensorFlow registers them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from . import sparsecore_shapes as shapes
from .tpu_op import Tensor, Tensors, op, tpu_module
from .tpu_shapes import numpy_dtype


@op(shapes.unstack)
def XlaSparseActivationsUnstack(
    *,
    stacked_activations: Tensor,
    num_tables: int,
    sample_counts: Sequence[int],
    features: Sequence[int],
    interleaved: bool,
    input_dtype: Any = "float32",
    dtype: Any = "float32",
    name: str | None = None,
) -> list[np.ndarray]:
    """Return the activations of each table of a stack, without what its width was padded by.

    Args:
        stacked_activations: float32, (all samples, width).
        num_tables: the number of tables.
        sample_counts: the samples of each.
        features: the width of each.
        interleaved: each SparseCore has its share of the samples of every table. Their number is
            that which `gl.tpu.sparsecore.set_sparsecores_per_device` set.
        input_dtype: float32.
        dtype: of the results.

    Raises:
        InvalidArgumentError: attributes that aren't one for each table or don't fit the array,
            another input_dtype, or samples that the SparseCores can't share evenly.

    Source: op `XlaSparseActivationsUnstack`, TensorFlow 2.21 (2026), whose shape function is
    public; the layout is that of `TPUEmbeddingV2` there.

    >>> found = XlaSparseActivationsUnstack(
    ...     stacked_activations=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], num_tables=2,
    ...     sample_counts=[1, 2], features=[2, 1], interleaved=False,
    ... )
    >>> [x.tolist() for x in found]
    [[[1.0, 2.0]], [[3.0], [5.0]]]
    """
    shapes.check_unstack(num_tables, sample_counts, features, input_dtype)
    stacked = np.asarray(stacked_activations, np.float32)
    if stacked.ndim != 2 or stacked.shape[0] != sum(sample_counts):
        raise InvalidArgumentError(
            f"stacked_activations must have {sum(sample_counts)} rows, got shape {stacked.shape}"
        )
    if max(features) > stacked.shape[1]:
        raise InvalidArgumentError(
            f"features must be at most the width {stacked.shape[1]}, got {list(features)}"
        )
    cores = _count_shares(interleaved, sample_counts)
    shares = stacked.reshape(cores, -1, stacked.shape[1])
    tables = []
    start = 0
    for samples, width in zip(sample_counts, features, strict=True):
        end = start + samples // cores
        table = shares[:, start:end, :width].reshape(samples, width)
        tables.append(table.astype(numpy_dtype(dtype)))
        start = end
    return tables


@op(shapes.stack)
def XlaSparseGradientsStack(
    *,
    unstacked_gradients: Tensors,
    interleaved: bool,
    num_tables: int | None = None,
    input_dtype: Any = "float32",
    dtype: Any = "float32",
    name: str | None = None,
) -> np.ndarray:
    """Return the gradients of the activations of all tables of a stack as one array.

    Args:
        unstacked_gradients: for each table (samples, width).
        interleaved: as in `XlaSparseActivationsUnstack`.
        num_tables: the number of gradients, where it is given.
        input_dtype: not read.
        dtype: float32.

    Returns:
        float32, (all samples, the largest width padded to a multiple of 8), zeros where a table is
        narrower. TensorFlow's shape function takes every table for as long as the first.

    Raises:
        InvalidArgumentError: no gradients or another number, one that isn't a matrix, another
            dtype, or samples that the SparseCores can't share evenly.

    Source: op `XlaSparseGradientsStack`, TensorFlow 2.21 (2026), whose shape function is public;
    the layout is that of `TPUEmbeddingV2` there.

    >>> stacked = XlaSparseGradientsStack(
    ...     unstacked_gradients=[[[1.0, 2.0]], [[3.0], [5.0]]], interleaved=False
    ... )
    >>> stacked.shape, stacked[:, :3].tolist()
    ((3, 8), [[1.0, 2.0, 0.0], [3.0, 0.0, 0.0], [5.0, 0.0, 0.0]])
    """
    gradients = [np.asarray(gradient, np.float32) for gradient in unstacked_gradients]
    shapes.check_stack([gradient.shape for gradient in gradients], num_tables, dtype)
    counts = [len(gradient) for gradient in gradients]
    cores = _count_shares(interleaved, counts)
    width = shapes.padded_width([gradient.shape[1] for gradient in gradients])
    shares = []
    for gradient in gradients:
        wide = np.pad(gradient, ((0, 0), (0, width - gradient.shape[1])))
        shares.append(wide.reshape(cores, -1, width))
    return np.concatenate(shares, axis=1).reshape(-1, width)


def _count_shares(interleaved: bool, counts: Sequence[int]) -> int:
    """Return into how many shares the samples of tables are cut, each of which has some of all."""
    if not interleaved:
        return 1
    cores: int = tpu_module("sparsecore.topology").sparsecores_per_device()
    for samples in counts:
        tpu_module("sparsecore.coo").check_shared_evenly(samples, cores)
    return cores

"""Enqueue operations whose core is an input, known only when they run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .tpu_enqueue import EnqueueTPUEmbeddingArbitraryTensorBatch, EnqueueTPUEmbeddingRaggedTensorBatch
from .tpu_op import Tensor, Tensors, op
from .tpu_shapes import enqueue


@op(enqueue)
def DynamicEnqueueTPUEmbeddingArbitraryTensorBatch(
    *,
    sample_indices_or_row_splits: Tensors,
    embedding_indices: Tensors,
    aggregation_weights: Tensors,
    mode_override: Any,
    device_ordinal: Tensor,
    combiners: Sequence[Any] = (),
    name: str | None = None,
) -> None:
    """`EnqueueTPUEmbeddingArbitraryTensorBatch` whose device_ordinal is an input.

    Source: `tf.raw_ops.DynamicEnqueueTPUEmbeddingArbitraryTensorBatch`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> config = tpu.parse(tpu.example_config())
    >>> feature = config.feature_descriptor.add(name="f", table_id=0, input_shape=[2])
    >>> system = tpu.initialize_system(config)
    >>> DynamicEnqueueTPUEmbeddingArbitraryTensorBatch(
    ...     sample_indices_or_row_splits=[[]], embedding_indices=[[3, 1]], aggregation_weights=[[]], mode_override="",
    ...     device_ordinal=0
    ... )
    >>> tpu.shutdown_system()
    """
    EnqueueTPUEmbeddingArbitraryTensorBatch(
        sample_indices_or_row_splits=sample_indices_or_row_splits,
        embedding_indices=embedding_indices,
        aggregation_weights=aggregation_weights,
        mode_override=mode_override,
        device_ordinal=int(device_ordinal),
        combiners=combiners,
    )


@op(enqueue)
def DynamicEnqueueTPUEmbeddingRaggedTensorBatch(
    *,
    sample_splits: Tensors,
    embedding_indices: Tensors,
    aggregation_weights: Tensors,
    mode_override: Any,
    device_ordinal: Tensor,
    table_ids: Sequence[int],
    combiners: Sequence[Any] = (),
    max_sequence_lengths: Sequence[int] = (),
    num_features: Sequence[int] = (),
    name: str | None = None,
) -> None:
    """`EnqueueTPUEmbeddingRaggedTensorBatch` whose device_ordinal is an input.

    Source: `tf.raw_ops.DynamicEnqueueTPUEmbeddingRaggedTensorBatch`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config())
    >>> DynamicEnqueueTPUEmbeddingRaggedTensorBatch(
    ...     sample_splits=[[0, 2, 3]], embedding_indices=[[3, 1, 3]], aggregation_weights=[[]], mode_override="",
    ...     device_ordinal=0, table_ids=[0]
    ... )
    >>> tpu.shutdown_system()
    """
    EnqueueTPUEmbeddingRaggedTensorBatch(
        sample_splits=sample_splits,
        embedding_indices=embedding_indices,
        aggregation_weights=aggregation_weights,
        mode_override=mode_override,
        table_ids=table_ids,
        device_ordinal=int(device_ordinal),
        combiners=combiners,
        max_sequence_lengths=max_sequence_lengths,
        num_features=num_features,
    )

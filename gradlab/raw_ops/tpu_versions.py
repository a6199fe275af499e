"""The V2 forms, which carry what the configuring operations found out; and an operation older than all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.arrays import Array
from .tpu_dedup import ComputeDedupDataSize, ComputeDedupDataTupleMask
from .tpu_op import Config, Tensor, Tensors, Variant, op
from .tpu_shapes import SCALAR, activations, first_again, fixed, gradients
from .tpu_step import XlaRecvTPUEmbeddingActivations, XlaRecvTPUEmbeddingDeduplicationData, XlaSendTPUEmbeddingGradients


@op(fixed(SCALAR))
def XlaRecvTPUEmbeddingDeduplicationDataV2(
    *,
    config: Config,
    embedding_partitions: bytes,
    hbm_buffers_config: bytes,
    tpu_topology: bytes,
    name: str | None = None,
) -> Any:
    """`XlaRecvTPUEmbeddingDeduplicationData` compiled elsewhere: the three attributes more are not needed here.

    Source: op `XlaRecvTPUEmbeddingDeduplicationDataV2`, TensorFlow 2.21 (2026).

    >>> from gradlab import raw_ops, tpu
    >>> config = tpu.example_config()
    >>> system = tpu.initialize_system(config)
    >>> more = {"embedding_partitions": b"", "hbm_buffers_config": b"", "tpu_topology": b""}
    >>> raw_ops.EnqueueTPUEmbeddingIntegerBatch(batch=[[3, 3]], mode_override="")
    >>> dedup = XlaRecvTPUEmbeddingDeduplicationDataV2(config=config, **more)
    >>> len(dedup[0])
    4
    >>> tpu.shutdown_system()
    """
    return XlaRecvTPUEmbeddingDeduplicationData(config=config)


@op(activations)
def XlaRecvTPUEmbeddingActivationsV2(
    *,
    deduplication_data: Variant,
    num_tables: int,
    config: Config,
    embedding_partitions: bytes,
    hbm_buffers_config: bytes,
    tpu_topology: bytes,
    name: str | None = None,
) -> list[Array]:
    """`XlaRecvTPUEmbeddingActivations` compiled elsewhere: the three attributes more are not needed here.

    Source: op `XlaRecvTPUEmbeddingActivationsV2`, TensorFlow 2.21 (2026).

    >>> from gradlab import raw_ops, tpu
    >>> config = tpu.example_config()
    >>> system = tpu.initialize_system(config)
    >>> more = {"embedding_partitions": b"", "hbm_buffers_config": b"", "tpu_topology": b""}
    >>> raw_ops.EnqueueTPUEmbeddingIntegerBatch(batch=[[3, 3]], mode_override="")
    >>> dedup = XlaRecvTPUEmbeddingDeduplicationDataV2(config=config, **more)
    >>> XlaRecvTPUEmbeddingActivationsV2(deduplication_data=dedup, num_tables=1, config=config, **more)[0].shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    return XlaRecvTPUEmbeddingActivations(deduplication_data=deduplication_data, num_tables=num_tables, config=config)


@op(gradients)
def XlaSendTPUEmbeddingGradientsV2(
    *,
    gradients: Tensors,
    learning_rates: Tensors,
    deduplication_data: Variant,
    config: Config,
    embedding_partitions: bytes,
    hbm_buffers_config: bytes,
    tpu_topology: bytes,
    name: str | None = None,
) -> None:
    """`XlaSendTPUEmbeddingGradients` compiled elsewhere: the three attributes more are not needed here.

    Source: op `XlaSendTPUEmbeddingGradientsV2`, TensorFlow 2.21 (2026).

    >>> from gradlab import raw_ops, tpu
    >>> config = tpu.example_config()
    >>> system = tpu.initialize_system(config)
    >>> more = {"embedding_partitions": b"", "hbm_buffers_config": b"", "tpu_topology": b""}
    >>> raw_ops.EnqueueTPUEmbeddingIntegerBatch(batch=[[3, 3]], mode_override="")
    >>> dedup = XlaRecvTPUEmbeddingDeduplicationDataV2(config=config, **more)
    >>> XlaRecvTPUEmbeddingActivationsV2(deduplication_data=dedup, num_tables=1, config=config, **more)[0].shape
    (2, 1)
    >>> XlaSendTPUEmbeddingGradientsV2(
    ...     gradients=[[[1.0], [1.0]]], learning_rates=[], deduplication_data=dedup, config=config, **more
    ... )
    >>> system.retrieve(0)[0].ravel().tolist()
    [0.0, 0.0, 0.0, -1.0]
    >>> tpu.shutdown_system()
    """
    XlaSendTPUEmbeddingGradients(
        gradients=gradients, learning_rates=learning_rates, deduplication_data=deduplication_data, config=config
    )


@op(fixed(SCALAR))
def ComputeDedupDataSizeV2(
    *,
    config: Config,
    embedding_partitions: bytes,
    hbm_buffers_config: bytes,
    tpu_topology: bytes,
    name: str | None = None,
) -> np.int32:
    """`ComputeDedupDataSize` compiled elsewhere: the three attributes more are not needed here.

    Source: op `ComputeDedupDataSizeV2`, TensorFlow 2.21 (2026).

    >>> from gradlab import raw_ops, tpu
    >>> config = tpu.example_config()
    >>> system = tpu.initialize_system(config)
    >>> more = {"embedding_partitions": b"", "hbm_buffers_config": b"", "tpu_topology": b""}
    >>> raw_ops.EnqueueTPUEmbeddingIntegerBatch(batch=[[3, 3]], mode_override="")
    >>> int(ComputeDedupDataSizeV2(config=config, **more))
    7
    >>> tpu.shutdown_system()
    """
    return ComputeDedupDataSize(config=config)


@op(fixed((None, None)))
def ComputeDedupDataTupleMaskV2(
    *,
    config: Config,
    embedding_partitions: bytes,
    hbm_buffers_config: bytes,
    tpu_topology: bytes,
    name: str | None = None,
) -> np.ndarray:
    """`ComputeDedupDataTupleMask` compiled elsewhere: the three attributes more are not needed here.

    Source: op `ComputeDedupDataTupleMaskV2`, TensorFlow 2.21 (2026).

    >>> from gradlab import raw_ops, tpu
    >>> config = tpu.example_config()
    >>> system = tpu.initialize_system(config)
    >>> more = {"embedding_partitions": b"", "hbm_buffers_config": b"", "tpu_topology": b""}
    >>> raw_ops.EnqueueTPUEmbeddingIntegerBatch(batch=[[3, 3]], mode_override="")
    >>> ComputeDedupDataTupleMaskV2(config=config, **more).shape
    (4, 2)
    >>> tpu.shutdown_system()
    """
    return ComputeDedupDataTupleMask(config=config)


@op(first_again)
def TPUEmbeddingActivations(
    *, embedding_variable: Tensor, sliced_activations: Tensor, table_id: int, lookup_id: int, name: str | None = None
) -> Array:
    """The activations as they are; TensorFlow 1 hung the gradient of `embedding_variable` on it.

    Here `jax.grad` with respect to the activations says the same.

    Raises:
        InvalidArgumentError: a number below 0.

    Source: `tf.raw_ops.TPUEmbeddingActivations`, TensorFlow 2.21 (2026).

    >>> TPUEmbeddingActivations(embedding_variable=[0.0], sliced_activations=[1.0, 2.0], table_id=0, lookup_id=0)
    [1.0, 2.0]
    """
    return sliced_activations

"""Ops of a step after enqueueing: receive deduplication data and activations, send gradients.

The V2 ops have three attributes more, with which TensorFlow says what the configuring ops found
out. The system here knows that, so they are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._base.arrays import Array
from . import tpu_shapes as shapes
from .tpu_op import Config, Tensor, Tensors, Variant, op, running_system, shapes_of


@op(shapes.fixed(shapes.SCALAR))
def XlaRecvTPUEmbeddingDeduplicationData(*, config: Config, name: str | None = None) -> Any:
    """Receive which rows the current replica looks up, and how: a tuple with one tuple of vectors.

    For each table the distinct ids, for each lookup which of them it is and the sample it goes into
    (uint32), and its weight (float32). The engine's own order is not public.

    Raises:
        FailedPreconditionError: not all cores have enqueued, it was received already, or another
            configuration runs.

    Source: op `XlaRecvTPUEmbeddingDeduplicationData`, TensorFlow 2.21 (2026).

    >>> from gradlab import raw_ops, tpu
    >>> config = tpu.example_config()
    >>> system = tpu.initialize_system(config)
    >>> raw_ops.EnqueueTPUEmbeddingIntegerBatch(batch=[[3, 3]], mode_override="")
    >>> [x.tolist() for x in XlaRecvTPUEmbeddingDeduplicationData(config=config)[0]]
    [[3], [0, 0], [0, 1], [1.0, 1.0]]
    >>> tpu.shutdown_system()
    """
    return running_system(config).receive_deduplication_data()


@op(shapes.fixed(shapes.SCALAR))
def XlaRecvTPUEmbeddingDeduplicationDataV2(
    *,
    config: Config,
    embedding_partitions: bytes,
    hbm_buffers_config: bytes,
    tpu_topology: bytes,
    name: str | None = None,
) -> Any:
    """Do the same as `XlaRecvTPUEmbeddingDeduplicationData`, for a program that is compiled elsewhere.

    Args:
        config: the configuration of the running system.
        embedding_partitions: ignored, as are `hbm_buffers_config` and `tpu_topology`.

    Source: op `XlaRecvTPUEmbeddingDeduplicationDataV2`, TensorFlow 2.21 (2026).

    >>> from gradlab import raw_ops, tpu
    >>> config = tpu.example_config()
    >>> system = tpu.initialize_system(config)
    >>> raw_ops.EnqueueTPUEmbeddingIntegerBatch(batch=[[3, 3]], mode_override="")
    >>> dedup = XlaRecvTPUEmbeddingDeduplicationDataV2(
    ...     config=config, embedding_partitions=b"", hbm_buffers_config=b"", tpu_topology=b""
    ... )
    >>> len(dedup[0])
    4
    >>> tpu.shutdown_system()
    """
    return XlaRecvTPUEmbeddingDeduplicationData(config=config)


@op(shapes.activations)
def XlaRecvTPUEmbeddingActivations(
    *, deduplication_data: Variant, num_tables: int, config: Config, name: str | None = None
) -> list[Array]:
    """Receive the activations of the current replica: float32, one for each feature, or else for each table.

    Raises:
        InvalidArgumentError: another number of outputs than the configuration has, or deduplication
            data of another step.
        FailedPreconditionError: deduplication data were not received, or activations were.

    Source: op `XlaRecvTPUEmbeddingActivations`, TensorFlow 2.21 (2026).

    >>> from gradlab import raw_ops, tpu
    >>> config = tpu.example_config()
    >>> system = tpu.initialize_system(config)
    >>> system.load(0, [[[0.0], [1.0], [2.0], [3.0]]])
    >>> raw_ops.EnqueueTPUEmbeddingIntegerBatch(batch=[[3, 1]], mode_override="")
    >>> dedup = XlaRecvTPUEmbeddingDeduplicationData(config=config)
    >>> XlaRecvTPUEmbeddingActivations(deduplication_data=dedup, num_tables=1, config=config)[0].tolist()
    [[3.0], [1.0]]
    >>> tpu.shutdown_system()
    """
    shapes.activations(config=config, num_tables=num_tables)
    return list(running_system(config).receive_activations(_vectors(deduplication_data)))


@op(shapes.activations)
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
    """Do the same as `XlaRecvTPUEmbeddingActivations`, for a program that is compiled elsewhere.

    Args:
        deduplication_data: as there, and so are `num_tables` and `config`.
        embedding_partitions: ignored, as are `hbm_buffers_config` and `tpu_topology`.

    Source: op `XlaRecvTPUEmbeddingActivationsV2`, TensorFlow 2.21 (2026).

    >>> from gradlab import raw_ops, tpu
    >>> config = tpu.example_config()
    >>> system = tpu.initialize_system(config)
    >>> raw_ops.EnqueueTPUEmbeddingIntegerBatch(batch=[[3, 3]], mode_override="")
    >>> ignored = {"embedding_partitions": b"", "hbm_buffers_config": b"", "tpu_topology": b""}
    >>> dedup = XlaRecvTPUEmbeddingDeduplicationDataV2(config=config, **ignored)
    >>> XlaRecvTPUEmbeddingActivationsV2(deduplication_data=dedup, num_tables=1, config=config, **ignored)[0].shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    return XlaRecvTPUEmbeddingActivations(
        deduplication_data=deduplication_data, num_tables=num_tables, config=config
    )


@op(shapes.gradients)
def XlaSendTPUEmbeddingGradients(
    *,
    gradients: Tensors,
    learning_rates: Tensors,
    deduplication_data: Variant,
    config: Config,
    name: str | None = None,
) -> None:
    """Send the gradients of the activations; the tables move when every replica has sent its own.

        G[row] = sum over all cores of (sum over its lookups of weight * gradient[sample]);   rule(row, slots, G, rate)

    Args:
        gradients: float32, in number, order and shape as the activations; zeros where there is
            none.
        learning_rates: a float32 scalar for each tag of the configuration, in the order of tags;
            none where all rates are constant.
        deduplication_data: what was received in this step: a tuple with one tuple of uint32 and
            float32 vectors.

    Raises:
        InvalidArgumentError: gradients, rates or deduplication data that do not fit; it names the
            feature and both shapes. Nothing moves.
        FailedPreconditionError: activations were not received, gradients were sent already, or the
            batch is for inference; it says the order. Nothing moves.

    Source: op `XlaSendTPUEmbeddingGradients`, TensorFlow 2.21 (2026).

    >>> from gradlab import raw_ops, tpu
    >>> config = tpu.example_config()
    >>> system = tpu.initialize_system(config)
    >>> raw_ops.EnqueueTPUEmbeddingIntegerBatch(batch=[[3, 3]], mode_override="")
    >>> dedup = XlaRecvTPUEmbeddingDeduplicationData(config=config)
    >>> activations = XlaRecvTPUEmbeddingActivations(deduplication_data=dedup, num_tables=1, config=config)
    >>> XlaSendTPUEmbeddingGradients(
    ...     gradients=[[[1.0], [2.0]]], learning_rates=[], deduplication_data=dedup, config=config
    ... )
    >>> system.retrieve(0)[0].ravel().tolist()
    [0.0, 0.0, 0.0, -1.5]
    >>> tpu.shutdown_system()
    """
    shapes.gradients(gradients=shapes_of(gradients), learning_rates=shapes_of(learning_rates))
    running_system(config).send_gradients(gradients, learning_rates, _vectors(deduplication_data))


@op(shapes.gradients)
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
    """Do the same as `XlaSendTPUEmbeddingGradients`, for a program that is compiled elsewhere.

    Args:
        gradients: as there, and so are `learning_rates`, `deduplication_data` and `config`.
        embedding_partitions: ignored, as are `hbm_buffers_config` and `tpu_topology`.

    Source: op `XlaSendTPUEmbeddingGradientsV2`, TensorFlow 2.21 (2026).

    >>> from gradlab import raw_ops, tpu
    >>> config = tpu.example_config()
    >>> system = tpu.initialize_system(config)
    >>> raw_ops.EnqueueTPUEmbeddingIntegerBatch(batch=[[3, 3]], mode_override="")
    >>> ignored = {"embedding_partitions": b"", "hbm_buffers_config": b"", "tpu_topology": b""}
    >>> dedup = XlaRecvTPUEmbeddingDeduplicationDataV2(config=config, **ignored)
    >>> XlaRecvTPUEmbeddingActivationsV2(deduplication_data=dedup, num_tables=1, config=config, **ignored)[0].shape
    (2, 1)
    >>> XlaSendTPUEmbeddingGradientsV2(
    ...     gradients=[[[1.0], [1.0]]], learning_rates=[], deduplication_data=dedup, config=config, **ignored
    ... )
    >>> system.retrieve(0)[0].ravel().tolist()
    [0.0, 0.0, 0.0, -1.0]
    >>> tpu.shutdown_system()
    """
    XlaSendTPUEmbeddingGradients(
        gradients=gradients,
        learning_rates=learning_rates,
        deduplication_data=deduplication_data,
        config=config,
    )


@op(shapes.activations)
def RecvTPUEmbeddingActivations(
    *, num_outputs: int, config: Config, name: str | None = None
) -> list[Array]:
    """Receive activations as `XlaRecvTPUEmbeddingActivations` does, and the deduplication data with them.

    Data of this step that were received before are used again.

    Source: `tf.raw_ops.RecvTPUEmbeddingActivations`, TensorFlow 2.21 (2026), which a graph pass
    rewrites so.

    >>> from gradlab import raw_ops, tpu
    >>> system = tpu.initialize_system(tpu.example_config())
    >>> raw_ops.EnqueueTPUEmbeddingIntegerBatch(batch=[[3, 1]], mode_override="")
    >>> RecvTPUEmbeddingActivations(num_outputs=1, config=tpu.example_config())[0].shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    shapes.activations(config=config, num_outputs=num_outputs)
    return list(running_system(config).receive_activations())


@op(shapes.gradients)
def SendTPUEmbeddingGradients(
    *, inputs: Tensors, learning_rates: Tensors, config: Config, name: str | None = None
) -> None:
    """Send gradients as `XlaSendTPUEmbeddingGradients` does, with the deduplication data of this step.

    Source: `tf.raw_ops.SendTPUEmbeddingGradients`, TensorFlow 2.21 (2026), which a graph pass
    rewrites so.

    >>> from gradlab import raw_ops, tpu
    >>> config = tpu.example_config()
    >>> system = tpu.initialize_system(config)
    >>> raw_ops.EnqueueTPUEmbeddingIntegerBatch(batch=[[3, 1]], mode_override="")
    >>> activations = RecvTPUEmbeddingActivations(num_outputs=1, config=config)
    >>> SendTPUEmbeddingGradients(inputs=[[[1.0], [2.0]]], learning_rates=[], config=config)
    >>> system.retrieve(0)[0].ravel().tolist()
    [0.0, -1.0, 0.0, -0.5]
    >>> tpu.shutdown_system()
    """
    shapes.gradients(inputs=shapes_of(inputs), learning_rates=shapes_of(learning_rates))
    running_system(config).send_gradients(inputs, learning_rates)


@op(shapes.first_again)
def TPUEmbeddingActivations(
    *,
    embedding_variable: Tensor,
    sliced_activations: Tensor,
    table_id: int,
    lookup_id: int,
    name: str | None = None,
) -> Array:
    """Return the activations as they are.

    TensorFlow 1 attached the gradient of `embedding_variable` to this op. Here `jax.grad` with
    respect to the activations gives it.

    Raises:
        InvalidArgumentError: `table_id` or `lookup_id` is below 0.

    Source: `tf.raw_ops.TPUEmbeddingActivations`, TensorFlow 2.21 (2026).

    >>> TPUEmbeddingActivations(embedding_variable=[0.0], sliced_activations=[1.0, 2.0], table_id=0, lookup_id=0)
    [1.0, 2.0]
    """
    shapes.first_again(sliced_activations=None, table_id=table_id, lookup_id=lookup_id)
    activations: Array = sliced_activations
    return activations


def _vectors(deduplication_data: Variant) -> Sequence[Any]:
    """Return deduplication data as they are; None becomes an empty tuple, which no step has, so it
    is refused.
    """
    return () if deduplication_data is None else deduplication_data

"""Operations of a step after enqueueing: receive deduplication data and activations, send gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._base.arrays import Array
from .tpu_op import Config, Tensors, Variant, op, system
from .tpu_shapes import SCALAR, activations, fixed, gradients


@op(fixed(SCALAR))
def XlaRecvTPUEmbeddingDeduplicationData(*, config: Config, name: str | None = None) -> Any:
    """Which rows the current replica looks up, and how: a tuple with one tuple of vectors.

    For each table the distinct ids, for each lookup which of them it is and the sample it goes into (uint32), and its
    weight (float32). The engine's own order is not public.

    Raises:
        FailedPreconditionError: not all cores have enqueued, it was received already, or another configuration runs.

    Source: op `XlaRecvTPUEmbeddingDeduplicationData`, TensorFlow 2.21 (2026).

    >>> from gradlab import raw_ops, tpu
    >>> config = tpu.example_config()
    >>> system = tpu.initialize_system(config)
    >>> raw_ops.EnqueueTPUEmbeddingIntegerBatch(batch=[[3, 3]], mode_override="")
    >>> [x.tolist() for x in XlaRecvTPUEmbeddingDeduplicationData(config=config)[0]]
    [[3], [0, 0], [0, 1], [1.0, 1.0]]
    >>> tpu.shutdown_system()
    """
    return system(config).receive_deduplication_data()


@op(activations)
def XlaRecvTPUEmbeddingActivations(
    *, deduplication_data: Variant, num_tables: int, config: Config, name: str | None = None
) -> list[Array]:
    """The activations of the current replica: float32, one for each feature, or for each table without features.

    Raises:
        InvalidArgumentError: another number of outputs than the configuration has, or deduplication data of another
            step.
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
    return list(system(config).receive_activations(_given(deduplication_data)))


@op(gradients)
def XlaSendTPUEmbeddingGradients(
    *,
    gradients: Tensors,
    learning_rates: Tensors,
    deduplication_data: Variant,
    config: Config,
    name: str | None = None,
) -> None:
    """Give the gradients of the activations; the tables move when every replica has.

        G[row] = sum over all cores of (sum over its lookups of weight * gradient[sample]);   rule(row, slots, G, rate)

    Args:
        gradients: float32, in number, order and shape as the activations; zeros where there is none.
        learning_rates: a float32 scalar for each tag of the configuration, in the order of tags; none where all rates
            are constant.
        deduplication_data: what was received in this step: a tuple with one tuple of uint32 and float32 vectors.

    Raises:
        InvalidArgumentError: gradients, rates or deduplication data that do not fit; it names the feature and both
            shapes. FailedPreconditionError: activations were not received, gradients were sent already, or the batch is
            for inference; it says the order. In either case nothing moves.

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
    system(config).send_gradients(gradients, learning_rates, _given(deduplication_data))


@op(activations)
def RecvTPUEmbeddingActivations(*, num_outputs: int, config: Config, name: str | None = None) -> list[Array]:
    """`XlaRecvTPUEmbeddingActivations` with the deduplication data of this step, received here if they were not yet.

    Source: `tf.raw_ops.RecvTPUEmbeddingActivations`, TensorFlow 2.21 (2026), which a graph pass rewrites so.

    >>> from gradlab import raw_ops, tpu
    >>> system = tpu.initialize_system(tpu.example_config())
    >>> raw_ops.EnqueueTPUEmbeddingIntegerBatch(batch=[[3, 1]], mode_override="")
    >>> RecvTPUEmbeddingActivations(num_outputs=1, config=tpu.example_config())[0].shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    return list(system(config).receive_activations())


@op(gradients)
def SendTPUEmbeddingGradients(
    *, inputs: Tensors, learning_rates: Tensors, config: Config, name: str | None = None
) -> None:
    """`XlaSendTPUEmbeddingGradients` with the deduplication data of this step.

    Source: `tf.raw_ops.SendTPUEmbeddingGradients`, TensorFlow 2.21 (2026), which a graph pass rewrites so.

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
    system(config).send_gradients(inputs, learning_rates)


def _given(dedup: Any) -> Sequence[Any]:
    """Deduplication data as they are; None is nothing that could have been received."""
    return () if dedup is None else dedup

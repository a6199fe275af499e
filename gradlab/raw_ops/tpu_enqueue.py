"""Ops that put the ids of a batch in the queue of a core, one for each way to write ids.

Two of them have a `Dynamic` form, in which the core is an input rather than an attribute: in a
graph it is known only when the op runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import InvalidArgumentError
from . import tpu_shapes as shapes
from .tpu_op import Tensor, Tensors, op, running_system, tpu_module


@op(shapes.integers)
def EnqueueTPUEmbeddingIntegerBatch(
    *, batch: Tensors, mode_override: Any, device_ordinal: int = -1, name: str | None = None
) -> None:
    """Enqueue a vector of ids for each table or feature, each id its own sample.

    Args:
        batch: the ids of each table or feature.
        mode_override: "train", "training", "inference" or "backward_pass_only"; "" or "unspecified"
            is the configuration's.
        device_ordinal: the core, counted over all hosts; -1 is that of the current replica.

    Raises:
        InvalidArgumentError: ids that do not fit or are outside their table, an unknown mode or
            core.
        FailedPreconditionError: the core has a batch that wasn't received.

    Source: `tf.raw_ops.EnqueueTPUEmbeddingIntegerBatch`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config())
    >>> EnqueueTPUEmbeddingIntegerBatch(batch=[[3, 1]], mode_override="")
    >>> EnqueueTPUEmbeddingIntegerBatch(batch=[[3, 1]], mode_override="")
    Traceback (most recent call last):
    gradlab.errors.FailedPreconditionError: core 0 has a batch that nobody received; each step is: \
enqueue once for each core, receive deduplication data, receive activations, send gradients
    >>> tpu.shutdown_system()
    """
    shapes.check_lengths(batch=batch)
    nothing = [()] * len(batch)
    _enqueue(_make_inputs(nothing, batch, nothing), mode_override, device_ordinal)


@op(shapes.enqueue_by_table)
def EnqueueTPUEmbeddingSparseBatch(
    *,
    sample_indices: Tensors,
    embedding_indices: Tensors,
    aggregation_weights: Tensors,
    mode_override: Any,
    device_ordinal: int = -1,
    combiners: Sequence[Any] = (),
    name: str | None = None,
) -> None:
    """Enqueue vectors of samples, ids and weights for each table.

    Args:
        sample_indices: for each id its sample, element * num_features + feature; empty: each id its
            own.
        aggregation_weights: one for each id; empty: all 1.
        combiners: "sum", "mean" or "sqrtn" for each table; none: "sum".

    Others and raises: as in `EnqueueTPUEmbeddingIntegerBatch`.

    Source: `tf.raw_ops.EnqueueTPUEmbeddingSparseBatch`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config())
    >>> EnqueueTPUEmbeddingSparseBatch(
    ...     sample_indices=[[0, 0, 1]], embedding_indices=[[3, 1, 3]], aggregation_weights=[[]], mode_override="train"
    ... )
    >>> tpu.shutdown_system()
    """
    shapes.check_combiners(combiners, len(embedding_indices))
    shapes.check_lengths(
        sample_indices=sample_indices,
        embedding_indices=embedding_indices,
        aggregation_weights=aggregation_weights,
    )
    inputs = _make_inputs(_as_indices(sample_indices), embedding_indices, aggregation_weights)
    _enqueue(inputs, mode_override, device_ordinal, combiners, is_flat=True)


@op(shapes.enqueue_batch)
def EnqueueTPUEmbeddingBatch(
    *,
    batch: Sequence[Sequence[bytes]],
    mode_override: Any,
    device_ordinal: int = -1,
    combiners: Sequence[Any] = (),
    name: str | None = None,
) -> None:
    """Enqueue ids and weights of each table as serialized messages, one for each sample.

    Args:
        batch: for each table a vector of bytes, each a message `SparseFeatures`: the ids that one
            sample looks up, and a weight for each id or none for weights of 1.
        combiners: "sum", "mean" or "sqrtn" for each table; none: "sum".

    Others and raises: as in `EnqueueTPUEmbeddingIntegerBatch`; also InvalidArgumentError where
    bytes aren't such a message, or a message has another number of weights than of ids.

    `SparseFeatures` has the fields of the message that TensorFlow's documentation names
    (`dist_belief.SparseFeatures`), as SyntaxNet (2016) publishes them.

    Source: op `EnqueueTPUEmbeddingBatch`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config())
    >>> Sample = tpu.proto.SparseFeatures
    >>> samples = [Sample(id=[3, 1], weight=[0.5, 2.0]), Sample(id=[3])]
    >>> EnqueueTPUEmbeddingBatch(
    ...     batch=[[sample.SerializeToString() for sample in samples]], mode_override="train"
    ... )
    >>> tpu.shutdown_system()
    """
    shapes.enqueue_batch(batch=batch, combiners=combiners)
    inputs = [_parse_samples(table, samples) for table, samples in enumerate(batch)]
    _enqueue(inputs, mode_override, device_ordinal, combiners, is_flat=True)


@op(shapes.enqueue)
def EnqueueTPUEmbeddingSparseTensorBatch(
    *,
    sample_indices: Tensors,
    embedding_indices: Tensors,
    aggregation_weights: Tensors,
    mode_override: Any,
    table_ids: Sequence[int],
    device_ordinal: int = -1,
    combiners: Sequence[Any] = (),
    max_sequence_lengths: Sequence[int] = (),
    num_features: Sequence[int] = (),
    name: str | None = None,
) -> None:
    """Enqueue indices, values and weights of a sparse tensor for each input, several of which may read one table.

    Args:
        sample_indices: (ids, 2): the row and the place in it; or a vector of rows; empty: each id
            its own row.
        table_ids: the table of each input.
        max_sequence_lengths: of each input; above 0 ids are not combined but stand in a row of that
            length.
        num_features: how many rows each input has for an element of the batch; none: 1 each.
        combiners: one for each table; none: "sum".

    Others and raises: as in `EnqueueTPUEmbeddingSparseBatch`.

    Source: `tf.raw_ops.EnqueueTPUEmbeddingSparseTensorBatch`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config())
    >>> EnqueueTPUEmbeddingSparseTensorBatch(
    ...     sample_indices=[[[0, 0], [0, 1], [1, 0]]], embedding_indices=[[3, 1, 3]], aggregation_weights=[[]],
    ...     mode_override="train", table_ids=[0], combiners=["mean"]
    ... )
    >>> tpu.shutdown_system()
    """
    shapes.check_lengths(
        sample_indices=sample_indices,
        embedding_indices=embedding_indices,
        aggregation_weights=aggregation_weights,
    )
    inputs = _make_inputs(
        _as_indices(sample_indices),
        embedding_indices,
        aggregation_weights,
        max_sequence_lengths,
        num_features,
    )
    _enqueue(inputs, mode_override, device_ordinal, combiners, table_ids, is_flat=True)


@op(shapes.enqueue)
def EnqueueTPUEmbeddingRaggedTensorBatch(
    *,
    sample_splits: Tensors,
    embedding_indices: Tensors,
    aggregation_weights: Tensors,
    mode_override: Any,
    table_ids: Sequence[int],
    device_ordinal: int = -1,
    combiners: Sequence[Any] = (),
    max_sequence_lengths: Sequence[int] = (),
    num_features: Sequence[int] = (),
    name: str | None = None,
) -> None:
    """Enqueue row splits, values and weights of a ragged tensor for each input, several of which may read one table.

    Args:
        sample_splits: row k has the ids splits[k] to splits[k + 1].

    Others and raises: as in `EnqueueTPUEmbeddingSparseTensorBatch`.

    Source: `tf.raw_ops.EnqueueTPUEmbeddingRaggedTensorBatch`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config())
    >>> EnqueueTPUEmbeddingRaggedTensorBatch(
    ...     sample_splits=[[0, 2, 3]], embedding_indices=[[3, 1, 3]], aggregation_weights=[[]], mode_override="train",
    ...     table_ids=[0]
    ... )
    >>> tpu.shutdown_system()
    """
    shapes.check_lengths(
        sample_splits=sample_splits,
        embedding_indices=embedding_indices,
        aggregation_weights=aggregation_weights,
    )
    inputs = _make_inputs(
        sample_splits, embedding_indices, aggregation_weights, max_sequence_lengths, num_features
    )
    _enqueue(inputs, mode_override, device_ordinal, combiners, table_ids, is_flat=True)


@op(shapes.enqueue)
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
    """Do the same as `EnqueueTPUEmbeddingRaggedTensorBatch`, with the core as an input.

    Args:
        device_ordinal: the core, a scalar.

    Others and raises: as there.

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


@op(shapes.enqueue)
def EnqueueTPUEmbeddingArbitraryTensorBatch(
    *,
    sample_indices_or_row_splits: Tensors,
    embedding_indices: Tensors,
    aggregation_weights: Tensors,
    mode_override: Any,
    device_ordinal: int = -1,
    combiners: Sequence[Any] = (),
    name: str | None = None,
) -> None:
    """Enqueue sparse, ragged or dense ids for each feature; the op of TensorFlow 2.

    Args:
        sample_indices_or_row_splits: of rank 2 the indices of a sparse tensor, a column for each
            axis of the feature and one for the place; of rank 1 the splits of a ragged one; empty:
            each id its own sample. What goes past the last axis of the feature is left out, as the
            end of a sequence.
        combiners: one for each table; none: "sum".

    Others and raises: as in `EnqueueTPUEmbeddingIntegerBatch`; also InvalidArgumentError where the
    configuration has no features.

    Source: `tf.raw_ops.EnqueueTPUEmbeddingArbitraryTensorBatch`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> config = tpu.parse(tpu.example_config())
    >>> feature = config.feature_descriptor.add(name="f", table_id=0, input_shape=[2])
    >>> system = tpu.initialize_system(config)
    >>> EnqueueTPUEmbeddingArbitraryTensorBatch(
    ...     sample_indices_or_row_splits=[[0, 2, 3]], embedding_indices=[[3, 1, 3]], aggregation_weights=[[]],
    ...     mode_override="train", combiners=["mean"]
    ... )
    >>> tpu.shutdown_system()
    """
    shapes.check_lengths(
        sample_indices_or_row_splits=sample_indices_or_row_splits,
        embedding_indices=embedding_indices,
        aggregation_weights=aggregation_weights,
    )
    if not running_system().config.feature_descriptor:
        raise InvalidArgumentError(
            "this operation needs feature descriptors, and the configuration has none"
        )
    inputs = _make_inputs(sample_indices_or_row_splits, embedding_indices, aggregation_weights)
    _enqueue(inputs, mode_override, device_ordinal, combiners)


@op(shapes.enqueue)
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
    """Do the same as `EnqueueTPUEmbeddingArbitraryTensorBatch`, with the core as an input.

    Args:
        device_ordinal: the core, a scalar.

    Others and raises: as there.

    Source: `tf.raw_ops.DynamicEnqueueTPUEmbeddingArbitraryTensorBatch`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> config = tpu.parse(tpu.example_config())
    >>> feature = config.feature_descriptor.add(name="f", table_id=0, input_shape=[2])
    >>> system = tpu.initialize_system(config)
    >>> DynamicEnqueueTPUEmbeddingArbitraryTensorBatch(
    ...     sample_indices_or_row_splits=[[]], embedding_indices=[[3, 1]], aggregation_weights=[[]],
    ...     mode_override="", device_ordinal=0
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


def _parse_samples(table: int, samples: Sequence[bytes]) -> Any:
    """Return an `Input` of the system from the serialized samples of a table.

    Raises:
        InvalidArgumentError: bytes that aren't a message, or weights that don't fit its ids.
    """
    read = tpu_module("engine.wire").read
    message = tpu_module("engine.proto").SparseFeatures
    sample_ids: list[int] = []
    ids: list[int] = []
    weights: list[float] = []
    for k, data in enumerate(samples):
        try:
            features = read(message, bytes(data))
        except ValueError as error:
            raise InvalidArgumentError(f"sample {k} of table {table} is {error}") from None
        if len(features.weight) not in (0, len(features.id)):
            raise InvalidArgumentError(
                f"sample {k} of table {table} has {len(features.id)} ids and "
                f"{len(features.weight)} weights; give one for each id, or none"
            )
        sample_ids += [k] * len(features.id)
        ids += features.id
        weights += features.weight or [1.0] * len(features.id)
    as_indices = tpu_module("engine.enqueue").as_indices
    make_input = tpu_module("engine.enqueue").Input
    return make_input(as_indices(sample_ids), ids, weights)


def _as_indices(sample_indices: Tensors) -> list[Any]:
    """Return the sample indices of each input as indices of rank 2."""
    as_indices = tpu_module("engine.enqueue").as_indices
    return [as_indices(samples) for samples in sample_indices]


def _make_inputs(
    where: Tensors,
    ids: Tensors,
    weights: Tensors,
    max_sequence_lengths: Sequence[int] = (),
    num_features: Sequence[int] = (),
) -> list[Any]:
    """Return an `Input` of the system for each entry of the lists that an op takes.

    Raises:
        InvalidArgumentError: other numbers of lengths or features than inputs, or numbers that are
            too small.
    """
    for name, numbers in (
        ("max_sequence_lengths", max_sequence_lengths),
        ("num_features", num_features),
    ):
        if len(numbers) not in (0, len(ids)):
            raise InvalidArgumentError(
                f"{name} must be none or one for each of {len(ids)} inputs, got {list(numbers)}"
            )
    lengths = max_sequence_lengths or [0] * len(ids)
    rows = num_features or [1] * len(ids)
    if min(lengths) < 0 or min(rows) < 1:
        raise InvalidArgumentError(
            f"sequences must be 0 or longer and features 1 or more, got {lengths} and {rows}"
        )

    make_input = tpu_module("engine.enqueue").Input
    inputs = []
    for k, length in enumerate(lengths):
        if length > 0:
            # A sequence fills a row for each place, and its ids are not combined, so they have no
            # weights.
            inputs.append(make_input(where[k], ids[k], (), length, is_sequence=True))
        else:
            inputs.append(make_input(where[k], ids[k], weights[k], rows[k]))
    return inputs


def _enqueue(
    inputs: list[Any],
    mode: Any,
    core: int,
    combiners: Sequence[Any] = (),
    table_ids: Sequence[int] | None = None,
    is_flat: bool = False,
) -> None:
    """Enqueue inputs for features, or for tables where the configuration has no features.

    Args:
        is_flat: indices have two columns, the sample (all axes of the feature in one) and the
            place.
    """
    system = running_system()
    enqueue = tpu_module("engine.enqueue")
    if not system.config.feature_descriptor:
        ids = enqueue.ids_of_tables(system.plan, inputs, table_ids)
    else:
        feature_tables = [feature.table for feature in system.plan.features]
        if table_ids is not None and list(table_ids) != feature_tables:
            raise InvalidArgumentError(
                f"the features read tables {feature_tables}, but table_ids are {list(table_ids)}"
            )
        ids = enqueue.ids_of_features(system.plan, inputs, is_flat)
    system.enqueue(ids, core, mode, combiners)

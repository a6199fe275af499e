"""Operations that put the ids of a batch in the queue of a core, one for each way to write ids.

Two of them exist once more with the core as an input, known only when they run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import InvalidArgumentError
from .tpu_op import Tensors, op, part, system, variant
from .tpu_shapes import enqueue, enqueue_by_table, integers


@op(integers)
def EnqueueTPUEmbeddingIntegerBatch(
    *, batch: Tensors, mode_override: Any, device_ordinal: int = -1, name: str | None = None
) -> None:
    """A vector of ids for each table or feature, each id its own sample.

    Args:
        mode_override: "train", "training", "inference" or "backward_pass_only"; "" or "unspecified" is the
            configuration's.
        device_ordinal: the core, counted over all hosts; -1 is that of the current replica.

    Raises:
        InvalidArgumentError: ids that do not fit or are outside their table, an unknown mode or core.
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
    _enqueue([((), ids, ()) for ids in batch], mode_override, device_ordinal)


@op(enqueue_by_table)
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
    """Vectors of samples, ids and weights for each table.

    Args:
        sample_indices: for each id its sample, element * num_features + feature; empty: each id its own.
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
    where = [part("engine.enqueued").as_indices(x) for x in sample_indices]
    inputs = list(zip(where, embedding_indices, aggregation_weights, strict=True))
    _enqueue(inputs, mode_override, device_ordinal, combiners, flat=True)


@op(enqueue)
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
    """Indices, values and weights of a sparse tensor for each input, several of which may read one table.

    Args:
        sample_indices: (ids, 2): the row and the place in it; or a vector of rows; empty: each id its own row.
        table_ids: the table of each input.
        max_sequence_lengths: of each input; above 0 ids are not combined but stand in a row of that length.
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
    where = [part("engine.enqueued").as_indices(x) for x in sample_indices]
    inputs = list(zip(where, embedding_indices, aggregation_weights, strict=True))
    inputs = _with_lengths(inputs, max_sequence_lengths, num_features)
    _enqueue(inputs, mode_override, device_ordinal, combiners, table_ids, flat=True)


@op(enqueue)
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
    """Row splits, values and weights of a ragged tensor for each input, several of which may read one table.

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
    inputs = list(zip(sample_splits, embedding_indices, aggregation_weights, strict=True))
    inputs = _with_lengths(inputs, max_sequence_lengths, num_features)
    _enqueue(inputs, mode_override, device_ordinal, combiners, table_ids, flat=True)


@op(enqueue)
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
    """Sparse, ragged or dense ids for each feature; the operation of TensorFlow 2.

    Args:
        sample_indices_or_row_splits: of rank 2 the indices of a sparse tensor, a column for each axis of the feature
            and one for the place; of rank 1 the splits of a ragged one; empty: each id its own sample. What goes past
            the last axis of the feature is left out, as the end of a sequence.
        combiners: one for each table; none: "sum".

    Others and raises: as in `EnqueueTPUEmbeddingIntegerBatch`; also InvalidArgumentError where the configuration has no
    features.

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
    if not system().config.feature_descriptor:
        raise InvalidArgumentError("this operation needs feature descriptors, and the configuration has none")
    inputs = list(zip(sample_indices_or_row_splits, embedding_indices, aggregation_weights, strict=True))
    _enqueue(inputs, mode_override, device_ordinal, combiners)


_DYNAMIC = """`{name}` whose device_ordinal is an input.

Source: `tf.raw_ops.Dynamic{name}`, TensorFlow 2.21 (2026).

>>> from gradlab import tpu
{example}
... )
>>> tpu.shutdown_system()
"""


def _dynamic(base: Callable[..., Any], example: str) -> Callable[..., Any]:
    """The operation with its core after `mode_override`, as an array that is known only when it runs."""
    own = dict(inspect.signature(base).parameters)
    own["device_ordinal"] = own["device_ordinal"].replace(annotation="Tensor", default=inspect.Parameter.empty)
    names = [n for n in own if n != "device_ordinal"]
    names.insert(names.index("mode_override") + 1, "device_ordinal")
    doc = _DYNAMIC.format(name=base.__name__, example=example)
    return variant(base, f"Dynamic{base.__name__}", doc, [own[n] for n in names], device_ordinal=int)


DynamicEnqueueTPUEmbeddingArbitraryTensorBatch = _dynamic(
    EnqueueTPUEmbeddingArbitraryTensorBatch,
    """>>> config = tpu.parse(tpu.example_config())
>>> feature = config.feature_descriptor.add(name="f", table_id=0, input_shape=[2])
>>> system = tpu.initialize_system(config)
>>> DynamicEnqueueTPUEmbeddingArbitraryTensorBatch(
...     sample_indices_or_row_splits=[[]], embedding_indices=[[3, 1]], aggregation_weights=[[]], mode_override="",
...     device_ordinal=0""",
)
DynamicEnqueueTPUEmbeddingRaggedTensorBatch = _dynamic(
    EnqueueTPUEmbeddingRaggedTensorBatch,
    """>>> system = tpu.initialize_system(tpu.example_config())
>>> DynamicEnqueueTPUEmbeddingRaggedTensorBatch(
...     sample_splits=[[0, 2, 3]], embedding_indices=[[3, 1, 3]], aggregation_weights=[[]], mode_override="",
...     device_ordinal=0, table_ids=[0]""",
)


def _with_lengths(inputs: list[Any], sequences: Sequence[int], features: Sequence[int]) -> list[Any]:
    """Inputs with the rows they fill for an element of the batch, and whether these are a sequence."""
    for what, given in (("max_sequence_lengths", sequences), ("num_features", features)):
        if len(given) not in (0, len(inputs)):
            raise InvalidArgumentError(
                f"{what} must be none or one for each of {len(inputs)} inputs, got {list(given)}"
            )
    lengths, rows = sequences or [0] * len(inputs), features or [1] * len(inputs)
    if min(lengths) < 0 or min(rows) < 1:
        raise InvalidArgumentError(f"sequences must be 0 or longer and features 1 or more, got {lengths} and {rows}")
    return [
        (where, ids, () if n else w, n or m, n > 0) for (where, ids, w), n, m in zip(inputs, lengths, rows, strict=True)
    ]


def _enqueue(
    inputs: list[Any],
    mode: Any,
    core: int,
    combiners: Sequence[Any] = (),
    table_ids: Sequence[int] | None = None,
    flat: bool = False,
) -> None:
    running, enqueued = system(), part("engine.enqueued")
    given, plan = [enqueued.Input(*i) for i in inputs], running.plan
    if not running.config.feature_descriptor:
        ids = enqueued.of_tables(plan, given, table_ids)
    elif table_ids is not None and list(table_ids) != [f.table for f in plan.features]:
        raise InvalidArgumentError(
            f"the features read tables {[f.table for f in plan.features]}, but table_ids are {list(table_ids)}"
        )
    else:
        ids = enqueued.of_features(plan, given, flat)
    running.enqueue(ids, core, mode, combiners)

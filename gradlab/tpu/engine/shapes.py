"""Shapes of the arguments and results of operations, from the configuration alone.

Axes of an unknown size are None, and so are those that a message gives as -1.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..._base.suggest import did_you_mean
from ...errors import InternalError, InvalidArgumentError
from .messages import own_slots, slot_names
from .proto import TPUEmbeddingConfiguration

Shape = tuple[int | None, ...]
MOST_AUXILIARY = 7


def core_shapes(message: TPUEmbeddingConfiguration) -> list[tuple[int, ...]]:
    """Return the shapes of activations and gradients on one core: for each feature descriptor, else for each table.

        input_shape + [dimension]                                    with feature descriptors
        [num_features * batch_size_per_tensor_core, dimension]       without

    Raises:
        ValueError: a feature of a table that is not there.
    """
    tables = message.table_descriptor
    if not message.feature_descriptor:
        return [(t.num_features * message.batch_size_per_tensor_core, t.dimension) for t in tables]
    for k, f in enumerate(message.feature_descriptor):
        if not 0 <= f.table_id < len(tables):
            raise ValueError(
                f"feature {f.name or k!r} reads table {f.table_id}, but "
                f"there are {len(tables)} tables"
            )
    return [(*f.input_shape, tables[f.table_id].dimension) for f in message.feature_descriptor]


def cores_per_output(message: TPUEmbeddingConfiguration) -> int:
    """Return the number of cores of one operation: with SPMD sharding a replica's, unless partitioning is manual."""
    spmd = message.spmd_sharding
    return spmd.num_cores_per_replica if spmd.enabled and not spmd.use_manual_partitioning else 1


def activation_shapes(message: TPUEmbeddingConfiguration) -> list[Shape]:
    """Return the shapes of the activations that are received, and of the gradients that are sent.

    That of one core, the first axis times the cores of a replica under SPMD sharding.

    Raises:
        ValueError: a feature of a table that is not there, or a size below -1.

    Source: shape function of `RecvTPUEmbeddingActivations`, TensorFlow 2.21 (2026), which reads
    past the end of the tables instead of raising.

    >>> config = TPUEmbeddingConfiguration(batch_size_per_tensor_core=3)
    >>> t = config.table_descriptor.add(num_features=2, dimension=4)
    >>> activation_shapes(config)
    [(6, 4)]
    """
    cores, shapes = cores_per_output(message), core_shapes(message)
    return [_known((first * cores, *rest), k) for k, (first, *rest) in enumerate(shapes)]


def check_output_count(message: TPUEmbeddingConfiguration, count: int) -> None:
    """Refuse another number of activations or gradients than the configuration has."""
    wanted = len(message.feature_descriptor or message.table_descriptor)
    if count != wanted:
        each = "feature" if message.feature_descriptor else "table"
        raise InvalidArgumentError(
            f"there must be {wanted} outputs, one for each {each}; got {count}"
        )


def check_rate_shapes(shapes: Sequence[Sequence[int | None]]) -> None:
    """Refuse learning rates that are not scalars."""
    for k, shape in enumerate(shapes):
        if len(shape):
            raise InvalidArgumentError(
                f"learning rate {k} must be a scalar, got shape {tuple(shape)}"
            )


def shard_rows(rows: int, num_shards: int, shard_id: int) -> int:
    """Return the number of rows of a table that one host holds: as many as the others, or one more.

    Raises:
        InvalidArgumentError: no shards, a shard that is not there, or one that would hold nothing.

    Source: shape function of `RetrieveAllTPUEmbeddingParameters`, TensorFlow 2.21 (2026).

    >>> [shard_rows(13, 5, k) for k in range(5)]
    [3, 3, 3, 2, 2]
    """
    if num_shards < 1:
        raise InvalidArgumentError(f"num_shards must be at least 1, got {num_shards}")
    if not 0 <= shard_id < num_shards:
        raise InvalidArgumentError(f"shard_id must be 0 to {num_shards - 1}, got {shard_id}")
    held = rows // num_shards + (shard_id < rows % num_shards)
    if held < 1:
        raise InvalidArgumentError(
            f"{rows} rows over {num_shards} shards leave shard {shard_id} empty"
        )
    return held


def all_parameter_shapes(
    message: TPUEmbeddingConfiguration, num_shards: int = 1, shard_id: int = 0
) -> list[list[Shape]]:
    """Return the shapes that `RetrieveAllTPUEmbeddingParameters` returns: parameters and 7 auxiliaries of all tables.

    An auxiliary that a table lacks has shape (0, 0).

    Raises:
        InvalidArgumentError: as in `shard_rows`.
        ValueError: no optimizer.

    Source: shape function of the operation, TensorFlow 2.21 (2026).

    >>> config = TPUEmbeddingConfiguration()
    >>> t = config.table_descriptor.add(vocabulary_size=13, dimension=4)
    >>> t.optimization_parameters.adagrad.SetInParent()
    >>> all_parameter_shapes(config, 5, 3)[:4]
    [[(2, 4)], [(2, 4)], [(2, 4)], [(0, 0)]]
    """
    columns: list[list[Shape]] = []
    for k, t in enumerate(message.table_descriptor):
        shape = _known((shard_rows(t.vocabulary_size, num_shards, shard_id), t.dimension), k)
        held = 1 + len(slot_names(t.optimization_parameters))
        if held > 1 + MOST_AUXILIARY:
            raise InvalidArgumentError(
                f"table {k} has {held - 1} slots, its hidden one counted; there can be 7"
            )
        columns.append([shape if part < held else (0, 0) for part in range(1 + MOST_AUXILIARY)])
    return [[column[k] for column in columns] for k in range(1 + MOST_AUXILIARY)]


def parameter_shapes(
    message: TPUEmbeddingConfiguration, table: int, num_shards: int = 1, shard_id: int = 0
) -> list[Shape]:
    """Return the shapes of one table that is loaded or retrieved: parameters and slots, without the hidden one.

    Raises:
        InvalidArgumentError: as in `shard_rows`.
        ValueError: no optimizer.
    """
    t = message.table_descriptor[table]
    shape = (shard_rows(t.vocabulary_size, num_shards, shard_id), t.dimension)
    return [shape] * (1 + len(own_slots(t.optimization_parameters)))


def check_one_of(table_id: int, table_name: str) -> None:
    """Refuse a table that is named twice, or not at all.

    Source: shape function of `LoadTPUEmbeddingAdagradParameters`, TensorFlow 2.21 (2026).
    """
    if (table_id >= 0) == bool(table_name):
        raise InvalidArgumentError(
            f"give either table_id or table_name, got table_id={table_id} and "
            f"table_name={table_name!r}"
        )


def table_number(
    message: TPUEmbeddingConfiguration, table_id: int = -1, table_name: str = ""
) -> int:
    """Return the position of the table that is meant.

    Raises:
        InvalidArgumentError: both or neither are given, or there is no such table.

    >>> config = TPUEmbeddingConfiguration()
    >>> t = config.table_descriptor.add(name="user")
    >>> table_number(config, table_name="user")
    0
    """
    check_one_of(table_id, table_name)
    names = [t.name or f"table_{k}" for k, t in enumerate(message.table_descriptor)]
    if table_name and table_name not in names:
        raise InvalidArgumentError(
            f"there is no table {table_name!r}; {did_you_mean(table_name, names)}"
        )
    if table_id >= len(names):
        raise InvalidArgumentError(
            f"there is no table {table_id}; the configuration has {len(names)} tables"
        )
    return names.index(table_name) if table_name else table_id


def check_loaded(shapes: Sequence[Sequence[int | None]]) -> None:
    """Refuse parameters and slots of one table that are not matrices of one shape; None fits any size.

    Source: shape function of `LoadTPUEmbeddingAdagradParameters`, TensorFlow 2.21 (2026).
    """
    for shape in shapes:
        if len(shape) != 2:
            raise InvalidArgumentError(
                f"parameters and slots must have 2 axes, got shape {tuple(shape)}"
            )
        if not _fit(shape, shapes[0]):
            raise InvalidArgumentError(
                f"parameters and slots must have one shape, got {tuple(shapes[0])} and "
                f"{tuple(shape)}"
            )


def check_all_loaded(
    message: TPUEmbeddingConfiguration,
    shapes: Sequence[Sequence[Sequence[int | None]]],
    num_shards: int = 1,
    shard_id: int = 0,
) -> None:
    """Refuse what `LoadAllTPUEmbeddingParameters` cannot take: anything but the shapes of `all_parameter_shapes`.

    Args:
        shapes: of parameters, then of the 7 auxiliaries, each with all tables.

    Source: shape function of the operation, TensorFlow 2.21 (2026); it wants the hidden slot, too,
    and of slots that a table lacks any shape without entries.
    """
    wanted = all_parameter_shapes(message, num_shards, shard_id)
    for what, need, have in zip(_ALL, wanted, shapes, strict=True):
        if len(have) != len(need):
            raise InternalError(f"{what} must have {len(need)} tables, got {len(have)}")
        for k, (a, b) in enumerate(zip(need, have, strict=True)):
            if not (_fit(a, b) if a != (0, 0) else 0 in b or None in b):
                raise InvalidArgumentError(
                    f"{what} of table {k} must have shape {a}, got {tuple(b)}"
                )


_ALL = ("parameters", *(f"auxiliary{k}" for k in range(1, 1 + MOST_AUXILIARY)))


def _fit(a: Sequence[int | None], b: Sequence[int | None]) -> bool:
    return len(a) == len(b) and all(
        None in pair or pair[0] == pair[1] for pair in zip(a, b, strict=True)
    )


def _known(shape: tuple[int, ...], k: int) -> Shape:
    if min(shape, default=0) < -1:
        raise InvalidArgumentError(
            f"output {k} would have shape {list(shape)}; sizes cannot be below -1"
        )
    return tuple(None if n == -1 else n for n in shape)

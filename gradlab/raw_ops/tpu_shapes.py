"""Shape functions of the operations of TPU embeddings: shapes of outputs from shapes of inputs and attributes.

Each takes what its operation takes. Errors are of TensorFlow's classes. Source: shape functions of TensorFlow 2.21
(2026), run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import InternalError, InvalidArgumentError
from .tpu_op import part

Shape = Sequence[int | None] | None
SCALAR: tuple[int, ...] = ()
_INTEGERS, _FLOATS = ("int32", "int64", "uint32", "uint64"), ("float16", "bfloat16", "float32")


def fixed(*outputs: Sequence[int | None] | None) -> Callable[..., list[Any]]:
    """Always these shapes."""
    return lambda **_: list(outputs)


def activations(config: Any, num_outputs: int = 0, num_tables: int = 0, **_: Any) -> list[Any]:
    """One for each feature, or for each table where the configuration has no features."""
    message, shapes = part("engine.parse").parse(config), part("engine.shapes")
    shapes.check_output_count(message, num_outputs or num_tables)
    return list(shapes.activation_shapes(message))


def gradients(learning_rates: Sequence[Shape], inputs: Any = (), gradients: Any = (), **_: Any) -> list[Any]:
    """Check that learning rates are scalars; gradients are checked when they are sent. No outputs."""
    if not inputs and not gradients:
        raise InvalidArgumentError("there must be a gradient for each feature or table, got none")
    part("engine.shapes").check_rate_shapes([s for s in learning_rates if s is not None])
    return []


def split(tuple_mask: bytes, integer_type: Any, float_type: Any, config: Any, **_: Any) -> list[Any]:
    """The integers and the floats, whose lengths are those of the mask added up by kind."""
    for what, given, allowed in (("integer_type", integer_type, _INTEGERS), ("float_type", float_type, _FLOATS)):
        if dtype_of(given).name not in allowed:
            raise TypeError(f"{what} must be one of {', '.join(allowed)}; got {given}")
    part("engine.parse").parse(config)
    mask = part("dedup").parse_tuple_mask(tuple_mask)
    return [(int(mask[mask[:, 0] == kind, 1].sum()),) for kind in (0, 1)]


def load(*, table_id: int, table_name: str, **given: Any) -> list[Any]:
    """Check that parameters and slots are matrices of one shape, for one table. No outputs."""
    part("engine.shapes").check_one_of(table_id, text(table_name))
    attributes = ("num_shards", "shard_id", "config")
    part("engine.shapes").check_loaded([s for name, s in given.items() if name not in attributes and s is not None])
    return []


def retrieve(count: int) -> Callable[..., list[Any]]:
    """Return one matrix of unknown size per output."""

    def shapes(*, table_id: int, table_name: str, **_: Any) -> list[Any]:
        part("engine.shapes").check_one_of(table_id, text(table_name))
        return [(None, None)] * count

    return shapes


def load_all(*, config: Any, num_shards: int, shard_id: int, **given: Sequence[Shape]) -> list[Any]:
    """Check that each list has an entry for each table. No outputs."""
    lists = [[(None, None) if s is None else s for s in shapes] for shapes in given.values()]
    part("engine.shapes").check_all_loaded(_internal(config), lists, num_shards, shard_id)
    return []


def retrieve_all(*, NumTables: int, config: Any, num_shards: int, shard_id: int) -> list[Any]:
    """Parameters and 7 auxiliaries of every table."""
    message = _internal(config)
    if NumTables != len(message.table_descriptor):
        raise InternalError(f"NumTables must be {len(message.table_descriptor)}, as in config; got {NumTables}")
    return list(part("engine.shapes").all_parameter_shapes(message, num_shards, shard_id))


def partitioner(*, config: Any) -> list[Any]:
    """A scalar; the configuration must say what it is for."""
    message = _internal(config)
    if not message.mode:
        raise InvalidArgumentError("mode must be TRAINING, INFERENCE or BACKWARD_PASS_ONLY, got UNSPECIFIED")
    return [SCALAR]


def strings(*outputs: Sequence[int] | None) -> Callable[..., list[Any]]:
    """These shapes; every input is a scalar string."""

    def shapes(config: Any = b"", **given: Any) -> list[Any]:
        _internal(config)
        for name, x in given.items():
            for shape in x if isinstance(x, list) else [x]:
                if shape is not None and len(shape):
                    raise InvalidArgumentError(f"{name} must be scalars, got shape {tuple(shape)}")
            if x == []:
                raise InvalidArgumentError(f"{name} must not be empty")
        return list(outputs)

    return shapes


def enqueue(embedding_indices: Sequence[Shape], combiners: Sequence[Any] = (), **given: Any) -> list[Any]:
    """Check that the lists have one length, other than 0. No outputs."""
    lists = {name: x for name, x in given.items() if name.startswith("sample_") or name == "aggregation_weights"}
    sizes = {"embedding_indices": len(embedding_indices), **{name: len(x) for name, x in lists.items()}}
    if len(set(sizes.values())) > 1 or not embedding_indices:
        raise InvalidArgumentError(f"the lists must have one length of at least 1, got {sizes}")
    return []


def enqueue_by_table(embedding_indices: Sequence[Shape], combiners: Sequence[Any], **given: Any) -> list[Any]:
    """Like `enqueue`; an input is a table, so there is a combiner for each, or none."""
    if len(combiners) not in (0, len(embedding_indices)):
        raise InvalidArgumentError(
            f"combiners must be none or one for each of {len(embedding_indices)} inputs, got {len(combiners)}"
        )
    return enqueue(embedding_indices, combiners, **given)


def integers(batch: Sequence[Shape], **_: Any) -> list[Any]:
    """Check that there is an input. No outputs."""
    return enqueue(batch)


def first_again(sliced_activations: Shape, table_id: int, lookup_id: int, **_: Any) -> list[Any]:
    """The shape of the activations."""
    if min(table_id, lookup_id) < 0:
        raise InvalidArgumentError(f"table_id and lookup_id must be at least 0, got {table_id} and {lookup_id}")
    return [sliced_activations]


def dtype_of(given: Any) -> Any:
    """A dtype of NumPy, from what any library calls it."""
    part("engine.shapes")  # with JAX comes the name bfloat16
    return np.dtype(getattr(given, "as_numpy_dtype", given))


def text(x: Any) -> str:
    """An attribute of strings, which TensorFlow gives as bytes."""
    return x.decode() if isinstance(x, bytes) else x


def _internal(config: Any) -> Any:
    """The message; TensorFlow's shape functions check it for themselves here."""
    try:
        return part("engine.parse").parse(config)
    except ValueError as error:
        raise InternalError(str(error)) from None

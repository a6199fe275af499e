"""Shape functions of the ops of TPU embeddings: shapes of outputs from shapes of inputs and attributes.

Each takes the arguments of its op by name, with a shape for each tensor, and returns a shape for
each output, or raises an error of the class that TensorFlow raises. Source: shape functions of
TensorFlow 2.21 (2026), run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from ..errors import InternalError, InvalidArgumentError
from .tpu_op import tpu_module

Shape: TypeAlias = Sequence[int | None] | None
SCALAR: tuple[int, ...] = ()
_INTEGER_TYPES = ("int32", "int64", "uint32", "uint64")
_FLOAT_TYPES = ("float16", "bfloat16", "float32")


def fixed(*outputs: Shape) -> Callable[..., list[Any]]:
    """Return a shape function that returns these shapes."""
    return lambda **_: list(outputs)


# Configuring


def partitioner(*, config: Any) -> list[Any]:
    """Return a scalar; the configuration must have a mode."""
    message = _parse(config)
    if not message.mode:
        raise InvalidArgumentError(
            "mode must be TRAINING, INFERENCE or BACKWARD_PASS_ONLY, got UNSPECIFIED"
        )
    return [SCALAR]


def check_parts(config: Any = b"", **parts: Any) -> None:
    """Refuse parts of a configuration that are not scalars, and an empty list of them."""
    _parse(config)
    for name, given in parts.items():
        if given == []:
            raise InvalidArgumentError(f"{name} must not be empty")
        for shape in given if isinstance(given, list) else [given]:
            if shape is not None and len(shape):
                raise InvalidArgumentError(f"{name} must be scalars, got shape {tuple(shape)}")


def from_parts(*outputs: Shape) -> Callable[..., list[Any]]:
    """Return a shape function of ops that take parts of a configuration: it returns these shapes."""

    def shapes(**parts: Any) -> list[Any]:
        check_parts(**parts)
        return list(outputs)

    return shapes


# Enqueueing


def integers(*, batch: Sequence[Shape], **_: Any) -> list[Any]:
    """Check that there is an input. No outputs."""
    check_lengths(batch=batch)
    return []


def enqueue(**arguments: Any) -> list[Any]:
    """Check that the lists have one length, other than 0. No outputs."""
    lists = ("embedding_indices", "aggregation_weights")
    check_lengths(
        **{name: x for name, x in arguments.items() if name in lists or name.startswith("sample_")}
    )
    return []


def enqueue_by_table(*, combiners: Sequence[Any] = (), **arguments: Any) -> list[Any]:
    """Do the same, and check that there is no combiner or one for each input."""
    check_combiners(combiners, len(arguments["embedding_indices"]))
    return enqueue(**arguments)


def enqueue_batch(*, batch: Sequence[Any], combiners: Sequence[Any] = (), **_: Any) -> list[Any]:
    """Check that there is no combiner or one for each input. No outputs."""
    check_combiners(combiners, len(batch))
    return []


def check_lengths(**lists: Sequence[Any]) -> None:
    """Refuse lists of inputs that have several lengths or are empty."""
    lengths = {name: len(x) for name, x in lists.items()}
    if len(set(lengths.values())) > 1 or 0 in lengths.values():
        raise InvalidArgumentError(f"the lists must have one length of at least 1, got {lengths}")


def check_combiners(combiners: Sequence[Any], num_inputs: int) -> None:
    """Refuse another number of combiners than inputs, unless there are none."""
    if len(combiners) not in (0, num_inputs):
        raise InvalidArgumentError(
            f"combiners must be none or one for each of {num_inputs} inputs, got {len(combiners)}"
        )


# A step


def activations(*, config: Any, num_outputs: int = 0, num_tables: int = 0, **_: Any) -> list[Any]:
    """Return a shape for each feature, or for each table where the configuration has no features."""
    message = tpu_module("engine.parse").parse(config)
    shapes = tpu_module("engine.shapes")
    shapes.check_output_count(message, num_outputs or num_tables)
    return list(shapes.activation_shapes(message))


def gradients(
    *,
    learning_rates: Sequence[Shape],
    inputs: Sequence[Shape] = (),
    gradients: Sequence[Shape] = (),
    **_: Any,
) -> list[Any]:
    """Check that learning rates are scalars; the system checks gradients when they are sent.

    No outputs.
    """
    if not inputs and not gradients:
        raise InvalidArgumentError("there must be a gradient for each feature or table, got none")
    tpu_module("engine.shapes").check_rate_shapes([s for s in learning_rates if s is not None])
    return []


def first_again(*, sliced_activations: Shape, table_id: int, lookup_id: int, **_: Any) -> list[Any]:
    """Return the shape of the activations."""
    if min(table_id, lookup_id) < 0:
        raise InvalidArgumentError(
            f"table_id and lookup_id must be at least 0, got {table_id} and {lookup_id}"
        )
    return [sliced_activations]


# Deduplication data


def split(
    *, tuple_mask: bytes, integer_type: Any, float_type: Any, config: Any, **_: Any
) -> list[Any]:
    """Return the lengths of the integers and of the floats: those of the mask, added up by kind."""
    _check_dtype("integer_type", integer_type, _INTEGER_TYPES)
    _check_dtype("float_type", float_type, _FLOAT_TYPES)
    tpu_module("engine.parse").parse(config)
    mask = tpu_module("dedup").parse_tuple_mask(tuple_mask)
    return [(int(mask[mask[:, 0] == kind, 1].sum()),) for kind in (0, 1)]


# Tables and their slots


def load(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int,
    table_name: str | bytes,
    config: Any,
    **arrays: Shape,
) -> list[Any]:
    """Check that one table is named, and that its arrays are matrices of one shape. No outputs."""
    check_load(table_id, table_name, list(arrays.values()))
    return []


def check_load(table_id: int, table_name: str | bytes, arrays: Sequence[Shape]) -> None:
    """Refuse what the shape function `load` refuses."""
    shapes = tpu_module("engine.shapes")
    shapes.check_one_of(table_id, text(table_name))
    shapes.check_loaded([shape for shape in arrays if shape is not None])


def matrices(count: int) -> Callable[..., list[Any]]:
    """Return a shape function of ops that retrieve one table: `count` matrices of unknown size."""

    def shapes(*, table_id: int, table_name: str | bytes, **_: Any) -> list[Any]:
        tpu_module("engine.shapes").check_one_of(table_id, text(table_name))
        return [(None, None)] * count

    return shapes


def load_all(
    *, config: Any, num_shards: int, shard_id: int, **arrays: Sequence[Shape]
) -> list[Any]:
    """Check that each list has an entry for each table. No outputs."""
    lists = [[(None, None) if s is None else s for s in shapes] for shapes in arrays.values()]
    tpu_module("engine.shapes").check_all_loaded(_parse(config), lists, num_shards, shard_id)
    return []


def retrieve_all(*, NumTables: int, config: Any, num_shards: int, shard_id: int) -> list[Any]:
    """Return the shapes of parameters and 7 auxiliaries of every table."""
    message = _parse(config)
    if NumTables != len(message.table_descriptor):
        raise InternalError(
            f"NumTables must be {len(message.table_descriptor)}, as in config; got {NumTables}"
        )
    return list(tpu_module("engine.shapes").all_parameter_shapes(message, num_shards, shard_id))


# Attributes


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """Return NumPy's dtype for a dtype of any library, or its name."""
    tpu_module("engine.shapes")  # imports JAX, which registers the name bfloat16
    return cast("np.dtype[Any]", np.dtype(getattr(dtype, "as_numpy_dtype", dtype)))


def text(attribute: str | bytes) -> str:
    """Return an attribute as a string; TensorFlow passes bytes."""
    return attribute.decode() if isinstance(attribute, bytes) else attribute


def _check_dtype(name: str, dtype: Any, allowed: Sequence[str]) -> None:
    if numpy_dtype(dtype).name not in allowed:
        raise TypeError(f"{name} must be one of {', '.join(allowed)}; got {dtype}")


def _parse(config: Any) -> Any:
    """Parse a configuration; where it is wrong, these shape functions of TensorFlow raise
    InternalError.
    """
    try:
        return tpu_module("engine.parse").parse(config)
    except ValueError as error:
        raise InternalError(str(error)) from None

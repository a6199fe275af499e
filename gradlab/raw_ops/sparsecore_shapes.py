"""Shape functions of the SparseCore ops, and the checks of attributes and lists that they share.

As in `tpu_shapes.py`: each takes the arguments of its op by name, with a shape for each tensor, and
returns a shape for each output. Source: shape functions of TensorFlow 2.21 (2026), run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors import InvalidArgumentError
from .tpu_shapes import SCALAR, Shape, fixed, numpy_dtype

__all__ = ["SCALAR", "fixed"]

ALIGNMENT = 8  # row pointers of a SparseCore begin at a multiple


# Checks


def check_at_least_one(**attributes: int) -> None:
    """Refuse attributes below 1."""
    _check_least(1, attributes)


def check_not_negative(**attributes: int) -> None:
    """Refuse attributes below 0."""
    _check_least(0, attributes)


def count_of(**lists: Sequence[Any]) -> int:
    """Return the one length of some lists, which must be at least 1."""
    lengths = {name: len(x) for name, x in lists.items()}
    if len(set(lengths.values())) > 1 or 0 in lengths.values():
        raise InvalidArgumentError(f"the lists must have one length of at least 1, got {lengths}")
    return min(lengths.values())


def check_feature_lists(
    features: int, sample_count_list: Sequence[int], col_offset_list: Sequence[int]
) -> None:
    """Refuse lists of attributes with another length than there are features."""
    for name, given in (
        ("sample_count_list", sample_count_list),
        ("col_offset_list", col_offset_list),
    ):
        if len(given) != features:
            raise InvalidArgumentError(
                f"{name} must have the same size as number of feature inputs, but got "
                f"{len(given)} vs {features}"
            )


def check_rank(rank: int, **shapes: Shape) -> None:
    """Refuse shapes of another rank; None is unknown."""
    for name, shape in shapes.items():
        if shape is not None and len(shape) != rank:
            raise InvalidArgumentError(
                f"Shape must be rank {rank} but is rank {len(shape)}: {name} {tuple(shape)}"
            )


def _check_least(least: int, attributes: dict[str, int]) -> None:
    for name, given in attributes.items():
        if given < least:
            raise InvalidArgumentError(f"{name} must be at least {least}, got {given}")


# Preprocessing


def list_of_coo(*, num_sc_per_chip: int, **_: Any) -> list[Any]:
    """Return vectors of unknown length for each SparseCore."""
    return [[(None,)] * num_sc_per_chip for _ in range(3)]


def sort_list(
    *,
    row_ids_list: Sequence[Shape],
    sample_count_list: Sequence[int],
    col_offset_list: Sequence[int],
    **_: Any,
) -> list[Any]:
    """Return vectors of unknown length; there must be attributes for each feature."""
    check_feature_lists(len(row_ids_list), sample_count_list, col_offset_list)
    return [(None,)] * 4


def csr_of_cores(
    *,
    sorted_row_ids_list: Sequence[Shape],
    sample_count_per_sc: int,
    num_replica: int,
    max_minibatches_per_sc: int,
    max_ids_per_chip_per_sample: int,
    **_: Any,
) -> list[Any]:
    """Return the shapes of the buffers of a chip, and of their sizes."""
    cores = len(sorted_row_ids_list)
    ids = max_ids_per_chip_per_sample * sample_count_per_sc * cores
    return _csr(cores, num_replica, max_minibatches_per_sc, ids)


def minibatch_splits(**_: Any) -> list[Any]:
    """Return vectors of unknown length, and scalars."""
    return [(None,), (None,), (None,), SCALAR, (None,), SCALAR, SCALAR]


def minibatches_in_csr(
    *,
    sample_count: int,
    num_replica: int,
    max_minibatches_per_sc: int,
    max_ids_per_chip_per_sample: int,
    num_sc_per_chip: int,
    **arguments: Any,
) -> list[Any]:
    """Return the shapes of the buffers of a chip, and of their sizes; all inputs are vectors."""
    inputs = ("program_key", "row_ids", "col_ids", "gains", "splits", "id_counts")
    for name in inputs:
        check_rank(1, **{name: arguments[name]})
    ids = max_ids_per_chip_per_sample * sample_count
    return _csr(num_sc_per_chip, num_replica, max_minibatches_per_sc, ids)


def _csr(cores: int, num_replica: int, max_minibatches_per_sc: int, ids: int) -> list[Any]:
    pointers = -(-num_replica * cores // ALIGNMENT) * ALIGNMENT
    size = max_minibatches_per_sc * cores * pointers
    return [(size,), (ids,), (ids,), (ids,), SCALAR, SCALAR, SCALAR]


# Updates


def same_as(*names: str) -> Callable[..., list[Any]]:
    """Return a shape function whose outputs have the shapes of these inputs."""

    def shapes(**arguments: Any) -> list[Any]:
        return [arguments[name] for name in names]

    return shapes


# Lookups


def lookup(
    *,
    row_pointers: Shape,
    sorted_sample_ids: Shape,
    sorted_token_ids: Shape,
    sorted_gains: Shape,
    embedding_table: Shape,
    num_minibatches_per_physical_sparse_core: Shape,
    input_size: int,
    **_: Any,
) -> list[Any]:
    """Return the shape of the activations; the buffers must be vectors, three of one length."""
    vectors = {
        "sorted_sample_ids": sorted_sample_ids,
        "sorted_token_ids": sorted_token_ids,
        "sorted_gains": sorted_gains,
    }
    check_rank(1, row_pointers=row_pointers, **vectors)
    check_rank(2, embedding_table=embedding_table)
    _check_one_length(**vectors)
    check_rank(0, num_minibatches_per_physical_sparse_core=num_minibatches_per_physical_sparse_core)
    return [_activations(input_size, embedding_table)]


def _activations(input_size: int, table: Shape) -> Shape:
    """Return the shape of activations from that of a table; None is unknown."""
    return None if table is None else (input_size, table[1])


def coo_lookup(
    *,
    row_ids: Shape,
    col_ids: Shape,
    values: Shape,
    offsets: Shape,
    embedding_table: Shape,
    input_size: int,
    **_: Any,
) -> list[Any]:
    """Return the shape of the activations, and vectors of unknown length."""
    vectors = {"row_ids": row_ids, "col_ids": col_ids, "values": values}
    check_rank(1, **vectors)
    check_rank(0, offsets=offsets)
    check_rank(2, embedding_table=embedding_table)
    _check_one_length(**vectors)
    return [_activations(input_size, embedding_table), *[(None,)] * 4]


def updated_tables(*, tables: Sequence[Shape], **_: Any) -> list[Any]:
    """Return the shape of the first table for each of them."""
    return [[tables[0]] * len(tables)]


# Custom combiners


def combined_lookup(
    *,
    sorted_sample_ids: Shape,
    sorted_token_ids: Shape,
    sorted_pos_ids: Shape,
    sorted_gains: Shape,
    row_pointers: Shape,
    embedding_table: Shape,
    weights: Shape,
    input_size: int,
    max_valency: int,
    num_weights: int,
    **_: Any,
) -> list[Any]:
    """Return the shapes of activations, valencies and vectors."""
    vectors = {
        "sorted_sample_ids": sorted_sample_ids,
        "sorted_token_ids": sorted_token_ids,
        "sorted_pos_ids": sorted_pos_ids,
        "sorted_gains": sorted_gains,
    }
    check_rank(1, row_pointers=row_pointers, **vectors)
    check_rank(2, embedding_table=embedding_table)
    _check_one_length(**vectors)
    if num_weights:
        _check_shape("weights", weights, (num_weights,))
    width = None if embedding_table is None else embedding_table[1]
    activations = _activations(input_size, embedding_table)
    return [activations, (input_size,), (input_size, max_valency, width)]


def combined_update(*names: str) -> Callable[..., list[Any]]:
    """Return a shape function of ops that update these tables, and weights."""

    def shapes(*, num_weights: int, **arguments: Any) -> list[Any]:
        table = arguments[names[0]]
        _check_combiner(table=table, num_weights=num_weights, **arguments)
        return [*[table] * len(names), (num_weights,)]

    return shapes


def combined_tables(*, tables: Sequence[Shape], num_weights: int, **arguments: Any) -> list[Any]:
    """Return the shape of the first table for each of them, and that of the weights."""
    _check_combiner(table=tables[0], num_weights=num_weights, **arguments)
    return [[tables[0]] * len(tables), [(num_weights,)]]


def _check_combiner(
    *,
    table: Shape,
    weights: Shape,
    preserved_valencies: Shape,
    preserved_vectors: Shape,
    preserved_weights: Shape,
    activation_gradients: Shape,
    max_valency: int,
    num_weights: int,
    **_: Any,
) -> None:
    """Refuse what the lookup didn't give."""
    if num_weights:
        _check_shape("weights", weights, (num_weights,))
        _check_shape("preserved_weights", preserved_weights, (num_weights,))
    samples = None if activation_gradients is None else activation_gradients[0]
    width = None if table is None else table[1]
    _check_shape("preserved_valencies", preserved_valencies, (samples,))
    _check_shape("preserved_vectors", preserved_vectors, (samples, max_valency, width))


def _check_shape(name: str, shape: Shape, expected: Sequence[int | None]) -> None:
    """Refuse another shape; None is unknown."""
    if shape is None:
        return
    if len(shape) != len(expected) or any(
        a is not None and b is not None and a != b for a, b in zip(shape, expected, strict=True)
    ):
        raise InvalidArgumentError(f"{name} must have shape {tuple(expected)}, got {tuple(shape)}")


def _check_one_length(**vectors: Shape) -> None:
    """Refuse vectors of several lengths; None is unknown."""
    lengths = {shape[0] for shape in vectors.values() if shape is not None} - {None}
    if len(lengths) > 1:
        raise InvalidArgumentError(f"vectors must have one length, got {vectors}")


# Stacks


def unstack(
    *,
    num_tables: int,
    sample_counts: Sequence[int],
    features: Sequence[int],
    input_dtype: Any,
    **_: Any,
) -> list[Any]:
    """Return a matrix for each table."""
    check_unstack(num_tables, sample_counts, features, input_dtype)
    return [list(zip(sample_counts, features, strict=True))]


def check_unstack(
    num_tables: int, sample_counts: Sequence[int], features: Sequence[int], input_dtype: Any
) -> None:
    """Refuse attributes that aren't one for each table, and activations that aren't float32."""
    for what, given in (("sample counts", sample_counts), ("features", features)):
        if len(given) != num_tables:
            raise InvalidArgumentError(
                f"Invalid number of {what}. Expected: {num_tables}, got: {len(given)}"
            )
    if numpy_dtype(input_dtype).name != "float32":
        raise InvalidArgumentError(f"Unsupported dtype for stacked activations: {input_dtype}")


def stack(
    *, unstacked_gradients: Sequence[Shape], num_tables: int | None, dtype: Any, **_: Any
) -> list[Any]:
    """Return a matrix as wide as the widest table, padded, and as long as the first times their number."""
    check_stack(unstacked_gradients, num_tables, dtype)
    shapes = [shape for shape in unstacked_gradients if shape is not None]
    samples = len(unstacked_gradients) * (shapes[0][0] or 0)
    return [(samples, padded_width([shape[1] or 0 for shape in shapes]))]


def check_stack(gradients: Sequence[Shape], num_tables: int | None, dtype: Any) -> None:
    """Refuse another number of gradients than tables, other ranks, and results that aren't float32."""
    if not gradients or num_tables not in (None, len(gradients)):
        raise InvalidArgumentError(
            f"Invalid number of gradients. Expected: {num_tables}, got: {len(gradients)}"
        )
    for k, shape in enumerate(gradients):
        check_rank(2, **{f"unstacked_gradients[{k}]": shape})
    if numpy_dtype(dtype).name != "float32":
        raise InvalidArgumentError(f"Unsupported dtype for stacked gradients: {dtype}")


def padded_width(widths: Sequence[int]) -> int:
    """Return the largest width, padded to a multiple of 8."""
    return -(-max(widths) // ALIGNMENT) * ALIGNMENT

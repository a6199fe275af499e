"""Shape functions of the SparseCore ops, and the checks of attributes and lists that they share.

As in `tpu_shapes.py`: each takes the arguments of its op by name, with a shape for each tensor, and
returns a shape for each output. Source: shape functions of TensorFlow 2.21 (2026), run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import InvalidArgumentError
from .tpu_shapes import SCALAR, Shape, fixed

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

"""Sparse and ragged tensors, structures of tensors, and datasets of them: what the tests of TPU
embeddings feed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.originals.stand_ins.graph import Tensor, constant_array, raw


class SparseTensor:
    """`tf.SparseTensor`."""

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self.indices = Tensor.of(np.asarray(raw(indices), np.int64).reshape(-1, len(dense_shape)))
        self.values = values if isinstance(values, Tensor) else Tensor.of(constant_array(values))
        self.dense_shape = tuple(int(n) for n in dense_shape)

    def plain(self) -> Any:
        """What gradlab reads as sparse ids."""
        indices, values = np.asarray(raw(self.indices)), np.asarray(raw(self.values))
        return SimpleNamespace(indices=indices, values=values, dense_shape=self.dense_shape)


class RaggedTensor:
    """`tf.RaggedTensor` with one ragged axis."""

    def __init__(self, values: Any, row_lengths: Any) -> None:
        self.values = values if isinstance(values, Tensor) else Tensor.of(constant_array(values))
        self._lengths = np.asarray(raw(row_lengths), np.int64)

    from_row_lengths = classmethod(lambda cls, values, row_lengths, **_: cls(values, row_lengths))

    @classmethod
    def from_sparse(cls, sparse: SparseTensor) -> RaggedTensor:
        samples = np.asarray(raw(sparse.indices))[:, 0]
        return cls(sparse.values, np.bincount(samples, minlength=sparse.dense_shape[0]))

    @property
    def row_splits(self) -> Tensor:
        return Tensor.of(np.concatenate([[0], np.cumsum(self._lengths)]))

    def row_lengths(self) -> Tensor:
        return Tensor.of(self._lengths)

    def row_starts(self) -> Tensor:
        return Tensor.of(np.cumsum(self._lengths) - self._lengths)

    def to_sparse(self) -> SparseTensor:
        places = [[k, i] for k, n in enumerate(self._lengths) for i in range(n)]
        return SparseTensor(
            places, self.values, [len(self._lengths), max(self._lengths, default=0)]
        )

    def plain(self) -> Any:
        """What gradlab reads as ragged ids."""
        return SimpleNamespace(
            row_splits=np.asarray(raw(self.row_splits)), values=np.asarray(raw(self.values))
        )


class rows_of:  # a function by its use
    """The rows of a tensor of any of the three kinds, and tensors of some of them."""

    def __init__(self, x: Any) -> None:
        self._x = x

    def __len__(self) -> int:
        x = self._x
        if isinstance(x, SparseTensor):
            return x.dense_shape[0]
        return len(x._lengths) if isinstance(x, RaggedTensor) else int(np.shape(raw(x))[0])

    def of(self, rows: Iterable[int]) -> Any:
        x, chosen = self._x, list(rows)
        if isinstance(x, RaggedTensor):
            parts = np.split(np.asarray(raw(x.values)), np.cumsum(x._lengths)[:-1])
            return RaggedTensor(np.concatenate([parts[k] for k in chosen]), x._lengths[chosen])
        if not isinstance(x, SparseTensor):
            return Tensor.of(np.asarray(raw(x))[chosen])
        indices, values = np.asarray(raw(x.indices)), np.asarray(raw(x.values))
        entries = [
            (new, i) for new, k in enumerate(chosen) for i in np.flatnonzero(indices[:, 0] == k)
        ]
        places = [[new, *indices[i, 1:]] for new, i in entries]
        picked = values[[i for _, i in entries]] if entries else values[:0]
        return SparseTensor(places, Tensor.of(picked), (len(chosen), *x.dense_shape[1:]))


def mapped(function: Callable[..., Any], structure: Any, *others: Any, **_: Any) -> Any:
    """`nest.map_structure`."""
    if isinstance(structure, dict):
        return {k: mapped(function, x, *(o[k] for o in others)) for k, x in structure.items()}
    if isinstance(structure, list | tuple):
        return type(structure)(
            mapped(function, *parts) for parts in zip(structure, *others, strict=True)
        )
    return function(structure, *others)


def flattened(structure: Any) -> list[Any]:
    """`nest.flatten`."""
    found: list[Any] = []
    mapped(found.append, structure)
    return found


def packed(structure: Any, flat: Any) -> Any:
    """`nest.pack_sequence_as`."""
    rest = iter(flat)
    return mapped(lambda _: next(rest), structure)


class Dataset:
    """`tf.data.Dataset` of one element: its rows, again and again, so many at a time."""

    def __init__(self, structure: Any, size: int = 0) -> None:
        self._structure, self._size = structure, size

    from_tensors = classmethod(lambda cls, structure: cls(structure))

    def unbatch(self) -> Dataset:
        return self

    repeat = unbatch

    def batch(self, size: int, drop_remainder: bool = False) -> Dataset:
        return Dataset(self._structure, size)

    def __iter__(self) -> Iterator[Any]:
        count = len(rows_of(flattened(self._structure)[0]))
        for start in itertools.count(step=self._size):
            rows = [k % count for k in range(start, start + self._size)]
            yield mapped(lambda x, rows=rows: rows_of(x).of(rows), self._structure)


RAGGED = {
    "DatasetV2": Dataset,
    "RaggedTensor": RaggedTensor,
    "SparseTensor": SparseTensor,
    "assert_same_structure": lambda a, b: mapped(lambda *_: None, a, b),
    "flatten": flattened,
    "map_structure": mapped,
    "pack_sequence_as": packed,
}

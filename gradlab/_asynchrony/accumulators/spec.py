"""What an accumulator is made of, and which of those made alike are one object."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Hashable, MutableMapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._base.errors import InvalidArgumentError
from ..._base.options import is_strict
from ..._variables.variable import Collection, current_collection
from .arguments import Shape, read_dtype, read_reduction, read_shape, shown
from .dense import DenseSum
from .kernel import Kernel
from .machine import Sum
from .sparse import SparseSum

DENSE, SPARSE = "conditional_accumulator", "sparse_conditional_accumulator"


@dataclass(frozen=True)
class Spec:
    """All that is fixed: `Spec.read` checks it."""

    kind: str  # DENSE or SPARSE
    dtype: np.dtype[Any]
    shape: Shape
    reduction_type: str
    strict: bool
    sum_dtype: np.dtype[Any]
    mean: str

    @classmethod
    def read(
        cls,
        kind: str,
        dtype: Any,
        shape: Any,
        reduction_type: Any,
        strict: Any,
        sum_dtype: Any = None,
        mean: Any = "row",
    ) -> Spec:
        """What the constructors are given. Errors as said there."""
        is_tf = is_strict(strict)
        if mean not in ("row", "gradient"):
            raise ValueError(f'mean must be "row" or "gradient", got {mean!r}')
        own = read_dtype(dtype, is_tf)
        wide = own if sum_dtype is None else read_dtype(sum_dtype, is_tf)
        return cls(kind, own, read_shape(shape), read_reduction(reduction_type), is_tf, wide, mean)

    def new_sum(self) -> Sum:
        """An empty sum of this kind."""
        is_mean = self.reduction_type == "MEAN"
        if self.kind == DENSE:
            return DenseSum(self.dtype, self.shape, is_mean, self.sum_dtype, self.strict)
        by_row = self.mean == "row"
        return SparseSum(self.dtype, self.shape, is_mean, self.sum_dtype, by_row, self.strict)

    def __str__(self) -> str:
        more = f", mean by {self.mean}" if self.kind == SPARSE else ""
        more += f", sum_dtype {self.sum_dtype}" if self.sum_dtype != self.dtype else ""
        return f"{self.reduction_type} of {self.dtype}, shape {shown(self.shape)}{more}"


_lock = threading.Lock()
_kernels: weakref.WeakKeyDictionary[Collection, tuple[Any, Any]] = weakref.WeakKeyDictionary()


def kernel_for(spec: Spec, shared_name: str, name: str) -> Kernel:
    """A new kernel, or one that is there: one shared_name is one kernel in a collection.

    As in TensorFlow, strict specs without a graph need no shared_name to be one, nobody compares strict specs of one
    shared_name, and such kernels stay when nobody refers to them. Others must be equal (InvalidArgumentError).
    """
    collection = current_collection()
    alike = spec if spec.strict and not collection.graph else None
    key = (spec.kind, shared_name) if shared_name else alike
    with _lock:
        kernels = _of(collection, spec.strict)
        kernel = None if key is None else kernels.get(key)
        if kernel is None:
            kernel = Kernel(shared_name or name or spec.kind, spec)
            if key is not None:
                kernels[key] = kernel
    if kernel.spec != spec and not spec.strict:
        raise InvalidArgumentError(f"shared_name {shared_name!r} belongs to a {kernel.spec}, this is a {spec}")
    return kernel


def _of(collection: Collection, keep: bool) -> MutableMapping[Hashable, Kernel]:
    kept, alive = _kernels.setdefault(collection, ({}, weakref.WeakValueDictionary()))
    return kept if keep else alive

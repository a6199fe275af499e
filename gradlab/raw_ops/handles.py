"""Handles, and how ops read what they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .._asynchrony.accumulators.arguments import read_step
from .._asynchrony.accumulators.kernel import DENSE, SPARSE, Kernel, Spec, kernel_for
from .._base.arrays import as_array
from .._base.errors import InvalidArgumentError, NotFoundError

RESOURCE, REF = "resource", "string_ref"
_Op = TypeVar("_Op", bound=Callable[..., Any])


class Handle(NamedTuple):
    """Says which accumulator an op is about; `dtype` is the type of the handle itself."""

    kernel: Kernel
    dtype: str

    def __repr__(self) -> str:
        return f"<gradlab.raw_ops.Handle {self.kernel.name!r} dtype={self.dtype}>"


def op(function: _Op) -> _Op:
    """Give an op its TensorFlow name as OP_NAME."""
    function.OP_NAME = function.__name__  # type: ignore[attr-defined]
    return function


def make(
    kind: str, handle_type: str, dtype: Any, shape: Any, container: Any, shared_name: Any, reduction: Any, name: Any
) -> Handle:
    """What the constructors do."""
    for what, x in (("container", container), ("shared_name", shared_name)):
        if x is not None and not isinstance(x, str):
            raise TypeError(f"{what} must be a string or None, got {x!r}")
    if isinstance(shape, list | tuple):
        shape = [None if n == -1 else n for n in shape]
    spec = Spec.read(kind, dtype, shape, reduction, strict=None)
    shared = f"{container}/{shared_name}" if container and shared_name else shared_name or ""
    return Handle(kernel_for(spec, shared, name or kind), handle_type)


def kernel_of(handle: Any, handle_type: str, kind: str | None = None) -> Kernel:
    """The accumulator that a handle means, if the op may have it."""
    if handle is None:
        raise ValueError("handle is None; give what a constructor of gl.raw_ops returned")
    if isinstance(handle, Kernel):  # the accumulator_ref of an object
        handle = Handle(handle, RESOURCE if handle.spec.kind == DENSE else REF)
    if not isinstance(handle, Handle):
        raise TypeError(f"handle must be a handle of gl.raw_ops or an accumulator_ref, got {type(handle).__name__}")
    if handle.dtype != handle_type:
        raise TypeError(
            f"this op takes a handle of type {handle_type}, got a {handle.dtype}; "
            "Resource... ops and the others do not go together"
        )
    kernel, is_kind = handle.kernel, handle.kernel.spec.kind
    if kind is not None and is_kind != kind:
        error = NotFoundError if kind == DENSE else InvalidArgumentError  # TensorFlow's classes
        words = {DENSE: "dense", SPARSE: "sparse"}
        raise error(f"this op is for {words[kind]} accumulators, {kernel.name} is {words[is_kind]}")
    return kernel


def take(kernel: Kernel, num_required: Any, dtype: Any) -> Any:
    """What the takes do."""
    if dtype is None:
        raise TypeError(f"dtype is None; give the accumulator's, {kernel.dtype}")
    return kernel.take(read_integer(num_required, "num_required"), dtype)


def read_integer(x: Any, what: str) -> Any:
    """What becomes a scalar integer, if the kernel takes it: a number of Python must be one, an array is cast."""
    if x is None:
        raise ValueError(f"{what} is None; give an integer")
    if isinstance(x, float | str | bytes) and not isinstance(x, np.generic):
        raise TypeError(f"{what} must be an integer, got {x!r}")
    return read_integers(x, what) if isinstance(x, list | tuple) else read_step(x, what)


def read_integers(x: Any, what: str) -> np.ndarray:
    """An array of int64."""
    array = np.asarray(as_array(x, what))
    if array.size and array.dtype.kind not in "biu":
        raise TypeError(f"{what} must be integers, got {array.dtype}")
    return array.astype(np.int64)

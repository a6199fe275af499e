"""The checks and the step that all training ops share.

An op of `training.py` reads its scalars with `read_scalars`, chooses the rule, and calls
`step_dense` or `step_rows`, which check slots, gradient and indices. The order of checks and the
words of errors are TensorFlow's. Everything is checked before anything is written, and the variable
and its slots are written together, under their locks. `tpu_op.py` is the same for TPU ops.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._base.arrays import Array, as_array
from .._base.slices import IndexedSlices
from ..errors import DTypeError, InvalidArgumentError, NotAVariableError
from ..rules import Rule, dense_and_sparse
from ..rules.rule import Slots
from ..train.buffers import Buffer
from ..train.state_dict import lock_variables
from ..train.update import Job, prepare_commits
from ..train.variable import Variable

# Dtypes of the kernels of an op. Most ops have kernels for all of REAL, complex64 and complex128.
REAL = ("float16", "bfloat16", "float32", "float64")
FLOAT_16_32_64 = ("float16", "float32", "float64")
FLOAT_32_64 = ("float32", "float64")
ALL_BUT_BFLOAT16 = ("float16", "float32", "float64", "complex64", "complex128")


def read_scalars(var: Any, **values: Any) -> dict[str, Any]:
    """Return scalars in the dtype of the variable, by name.

    Raises:
        NotAVariableError: `var` isn't a Variable.
        InvalidArgumentError: one of them isn't a scalar.
        DTypeError: an array of another dtype than the variable's, which TensorFlow doesn't convert.
    """
    check_variable("var", var)
    scalars = {}
    for name, x in values.items():
        scalar = as_array(x, name)
        if scalar.shape != ():
            raise InvalidArgumentError(f"{name} is not a scalar: {list(scalar.shape)}")
        if hasattr(x, "dtype") and scalar.dtype != var.dtype:
            raise DTypeError(f"{name} must be {var.dtype} as the variable, got {scalar.dtype}")
        scalars[name] = scalar.astype(var.dtype)
    return scalars


def read_scalar_step(global_step: Any) -> int:
    """Return a global step, which must be a scalar integer."""
    step = as_array(global_step, "global_step")
    if step.shape != ():
        raise InvalidArgumentError(f"global_step is not a scalar: {list(step.shape)}")
    if step.dtype.kind not in "iu":
        raise DTypeError(f"global_step must be int64, got {step.dtype}")
    return int(step)


def check_rate_sign(lr: Array, allows_zero: bool = False) -> None:
    """Refuse a learning rate below 0 or NaN, as the kernels of some ops do; 0 too by default."""
    if not (lr > 0 or (allows_zero and lr == 0)):
        raise InvalidArgumentError(f"lr is not a positive scalar: {lr}")


def check_penalties(l1: Array, l2: Array) -> None:
    """Refuse regularization strengths below 0, as the kernels of some ops do."""
    for name, strength in (("l1", l1), ("l2", l2)):
        if not strength >= 0:
            raise InvalidArgumentError(
                f"{name} regularization strength is not a non-negative scalar: {strength}"
            )


def check_power(lr_power: Array) -> None:
    """Refuse a power of the learning rate above 0."""
    if not lr_power <= 0:
        raise InvalidArgumentError(f"lr_power is not a non-positive scalar: {lr_power}")


def clamp_negative_l1(l1: Any) -> Any:
    """Return `l1`, or 0 if it is negative, for kernels that then don't shrink weights."""
    return l1 if l1 > 0 else l1.dtype.type(0)


def check_variable(name: str, x: Any) -> None:
    """Refuse anything that isn't a Variable."""
    if not isinstance(x, Variable):
        raise NotAVariableError(f"{name} must be a gl.Variable, got {type(x).__name__}")


def step_dense(
    rule: Rule,
    var: Variable,
    slots: Mapping[str, Any],
    lr: Array,
    grad: Any,
    *,
    dtypes: tuple[str, ...] = (),
) -> None:
    """Step a variable and its slots by a gradient of its shape.

    Args:
        rule: with the scalars of the op.
        var: the variable.
        slots: its slots by the op's argument names, in the order of the rule's.
        lr: a scalar of the variable's dtype.
        grad: an array of the shape and dtype of `var`.
        dtypes: those that the op has kernels for; empty for all.

    Raises:
        NotAVariableError: a slot isn't a Variable.
        InvalidArgumentError: shapes or dtypes differ.
    """
    _check_slots(var, slots, dtypes)
    g = as_array(grad, "grad")
    _check_dtype("grad", g, var)
    if g.shape != var.shape:
        raise InvalidArgumentError(
            f"var and grad do not have the same shape {list(var.shape)} {list(g.shape)}"
        )
    _step(Job(rule, var, g, lr, dense_and_sparse.dense), slots)


def step_rows(
    rule: Rule,
    var: Variable,
    slots: Mapping[str, Any],
    lr: Array,
    grad: Any,
    indices: Any,
    *,
    dtypes: tuple[str, ...] = (),
    order: str = "",
    scalar_row_order: str | None = None,
) -> None:
    """Step rows of a variable and of its slots, once for each index, in the order of `indices`.

    Args:
        rule, var, slots, lr, dtypes: as for `step_dense`.
        grad: (n, ...), n rows.
        indices: (n,), of int32 or int64, in range.
        order: the order of operations of TensorFlow's kernel for rows; empty for that of `rule`.
        scalar_row_order: the order of its kernel for rows of one element, if there is one.

    Raises:
        InvalidArgumentError: shapes or dtypes differ, or an index is out of range.
    """
    _check_slots(var, slots, dtypes)
    g = as_array(grad, "grad")
    _check_dtype("grad", g, var)
    rows = np.asarray(as_array(indices, "indices"))
    if rows.ndim != 1:
        raise InvalidArgumentError("indices must be one-dimensional")
    if rows.dtype not in (np.int32, np.int64):
        raise DTypeError(f"indices must be int32 or int64, got {rows.dtype}")
    if len(var.shape) < 1:
        raise InvalidArgumentError("var must be at least 1 dimensional")
    if g.ndim != len(var.shape):
        raise InvalidArgumentError(
            f"var and grad must have as many axes, got {len(var.shape)} and {g.ndim}"
        )
    for axis in range(1, g.ndim):
        if g.shape[axis] != var.shape[axis]:
            raise InvalidArgumentError(f"var and grad must match in dimension {axis}")
    if g.shape[0] != rows.shape[0]:
        raise InvalidArgumentError("grad must be the same size as indices in the first dimension.")
    outside = np.flatnonzero((rows < 0) | (rows >= var.shape[0]))
    if outside.size:
        raise InvalidArgumentError(
            f"Index {rows[outside[0]]} at offset {outside[0]} in indices is out of range"
        )
    slices = IndexedSlices(g, rows, var.shape)
    if order:
        if scalar_row_order and slices.one_each:
            order = scalar_row_order
        # Rules of ops with such kernels have the field.
        rule = dataclasses.replace(rule, order=order)  # type: ignore[call-arg]
    _step(Job(rule, var, slices, lr, dense_and_sparse.each), slots)


def _check_slots(var: Variable, slots: Mapping[str, Any], dtypes: tuple[str, ...]) -> None:
    if dtypes and var.dtype.name not in dtypes:
        raise DTypeError(f"the op has kernels for {', '.join(dtypes)}; var is {var.dtype}")
    for name, slot in slots.items():
        check_variable(name, slot)
        _check_dtype(name, slot, var)
        if slot.shape != var.shape:
            raise InvalidArgumentError(
                f"var and {name} do not have the same shape {list(var.shape)} {list(slot.shape)}"
            )


def _check_dtype(name: str, x: Any, var: Variable) -> None:
    if x.dtype != var.dtype:
        raise DTypeError(f"{name} must be {var.dtype} as the variable, got {x.dtype}")


def _step(job: Job, slots: Mapping[str, Any]) -> None:
    variables = list(slots.values())

    # `prepare_commits` is for many variables and names the one it asks about: here `job.v`.
    def buffers(v: Variable) -> list[Buffer]:
        return [slot._buffer for slot in variables]

    def store(v: Variable, values: Slots) -> None:
        for slot, value in zip(variables, values, strict=True):
            slot.load(value)  # at once, in a Graph too

    with lock_variables([job.v, *variables]):
        for commit in prepare_commits([job], buffers, store):
            commit()

"""Checks of the arguments of `apply_gradients`, before anything is changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._base.arrays import as_array, is_float
from .._base.gradient_types import Gradient, check_shape
from .._base.slices import IndexedSlices
from .._base.tensors import Tensor, compute_now, is_running, take_first
from ..errors import DTypeError, NotAVariableError, NotPairsError
from .autodiff import check_variables
from .variable import Variable, current_collection


def check_step(global_step: Any) -> None:
    (step,) = check_variables([global_step], "global_step")
    if not np.issubdtype(step.dtype, np.integer) or step.shape != ():
        raise TypeError(
            f"global_step must be an integer scalar, {step.name} is {step.dtype} of shape "
            f"{step.shape}"
        )


def checked_pairs(grads_and_vars: Any) -> list[tuple[Gradient, Variable]]:
    """The pairs that have a gradient, each checked against its variable before anything is changed."""
    pairs = read_pairs(grads_and_vars)
    if not pairs:
        raise ValueError("No variables provided: grads_and_vars is empty")
    checked = [(checked_gradient(g, v), v) for g, v in pairs if g is not None]
    if not checked:
        raise ValueError(f"No gradients provided for any variable: {[v.name for _, v in pairs]}")
    return checked


def read_pairs(grads_and_vars: Any) -> list[tuple[Any, Variable]]:
    """Pairs of anything and a Variable, from any iterable; TypeError for what is none."""
    pairs = [tuple(pair) if isinstance(pair, tuple | list) else pair for pair in grads_and_vars]
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise NotPairsError(
                f"grads_and_vars must hold (gradient, variable) pairs, got {type(pair).__name__}"
            )
        if not isinstance(pair[1], Variable):
            raise NotAVariableError(
                f"can only update a gradlab Variable, got {type(pair[1]).__name__}"
            )
    return pairs


def checked_gradient(
    g: Any, v: Variable, allowed: Callable[[Any], bool] = is_float, whole_constraint: bool = False
) -> Gradient:
    """The gradient as an array or as slices, of the variable's dtype and shape.

    `allowed` tells which dtypes may be; `whole_constraint`, whether a constraint runs after sparse
    updates too.
    """
    if not allowed(v.dtype):
        raise DTypeError(f"{v.name} is {v.dtype}; only floating-point variables can be optimized")
    if isinstance(g, Tensor | IndexedSlices):
        # While an update is described only shape and dtype count, and a gradient that isn't
        # computed changes no variable.
        is_description = current_collection().graph and not is_running()
        g = take_first(g) if is_description else compute_now(g)
    is_sparse = isinstance(g, IndexedSlices)
    values = g.values if is_sparse else as_array(g, f"the gradient of {v.name}")
    if values.dtype != v.dtype:
        raise DTypeError(
            f"{v.name} is {v.dtype} but its gradient is {values.dtype}; cast the gradient"
        )
    if is_sparse and v.constraint is not None and not whole_constraint:
        raise RuntimeError(
            f"{v.name} has a constraint, which a sparse gradient cannot keep; use a dense gradient"
        )
    check_shape(g if is_sparse else values, v.shape, v.name)
    return g if is_sparse else values

"""Shampoo: Adagrad with a matrix for each axis of a variable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ... import rules
from ..._base.arrays import Array, as_array, namespace, sum_duplicates
from ..._base.slices import IndexedSlices
from ...errors import DTypeError
from ...rules import dense_and_sparse
from ...rules.rule import Rule, Shared, Slots
from ...rules.shampoo import OfStep
from ..rule_optimizer import RuleOptimizer
from ..variable import GraphKey, Variable


def _step_sparse(
    rule: Any, w: Array, slots: Slots, g: IndexedSlices, lr: Any
) -> tuple[Array, Slots]:
    """Step by the whole gradient where a variable has few rows or momentum, else by rows."""
    if w.shape[0] <= rule.max_matrix_size or callable(rule.gbar_decay) or rule.gbar_decay != 0.0:
        whole: tuple[Array, Slots] = rule(w, slots, dense_and_sparse.whole(w, g), lr)
        return whole
    w, slots, g = dense_and_sparse.of_one_library(w, slots, g, lr)
    indices, values = sum_duplicates(g.indices, g.values)
    summed = IndexedSlices(values, indices, g.dense_shape)
    stepped: tuple[Array, Slots] = rule.step_rows(
        w, slots, summed, namespace(w).asarray(lr, w.dtype)
    )
    return stepped


class ShampooOptimizer(RuleOptimizer):
    """Shampoo: precondition the gradient by a matrix power for each axis of a variable.

        gbar = gbar_decay * gbar + gbar_weight * g
        Gbar_i = mat_gbar_decay * Gbar_i + mat_gbar_weight * gg_i
        H_i = (Gbar_i / d_i + epsilon * I) ** (-alpha / n)
        w = w - learning_rate * gbar multiplied by H_i along each axis i

    with gg_i the products of the slices of g along axis i, n the rank of the variable and d_i its
    sizes. Slots: "gbar", "Gbar_0", "Gbar_1", ..., and
    "H_0", "H_1", ... if svd_interval is above 1. An axis longer than max_matrix_size has a diagonal
    only: sums of squares, which neither epsilon nor, in a vector or by rows, d_i touches.

    IndexedSlices: slices of one row are summed first. If axis 0 has a matrix, or gradients have
    momentum, the step is that of the whole gradient; else the rows named move alone.

    Args:
        global_step: an integer variable, which is read at every step, or a number that stays. Give
            a variable to `apply_gradients` or `minimize` too, else every step is the first one.
        max_matrix_size: the longest axis that has a matrix.
        gbar_decay, gbar_weight, mat_gbar_decay, mat_gbar_weight, learning_rate, alpha: numbers, or
            functions of the number of the step, from 1.
        svd_interval: the root of the matrices is taken at every multiple of this number.
        precond_update_interval: the matrices are updated at every multiple of this number, or of
            what a function of the step returns; the gradient then counts so often.
        epsilon: added to the diagonals.
        use_iterative_root: take the root by iterations in place of a singular value decomposition.
        use_locking: no effect on values.
        name: not empty (ValueError).

    Raises:
        DTypeError: weights that aren't of float32.
        ZeroDivisionError: a scalar variable; both as in TensorFlow.
        FailedAssertionError: a sparse step by rows with a mat_gbar_decay that isn't 1; it is a
            ValueError, and the AssertionError of TensorFlow.

    The pure form counts its own steps. Source: `tf.contrib.opt.ShampooOptimizer`, TensorFlow 1.15
    (2019); Gupta, Koren & Singer, "Shampoo: Preconditioned Stochastic Tensor Optimization" (2018).

    >>> import gradlab as gl
    >>> v = gl.Variable([[1.0, 0.0], [0.0, 1.0]], name="v")
    >>> opt = gl.contrib.opt.ShampooOptimizer(epsilon=0.0)
    >>> opt.apply_gradients([([[2.0, 0.0], [0.0, 4.0]], v)])
    >>> [round(x, 4) for x in v.numpy().ravel().tolist()]
    [-0.4142, 0.0, 0.0, -0.4142]
    """

    _sparse = staticmethod(_step_sparse)

    def __init__(
        self,
        global_step: Variable | int = 0,
        max_matrix_size: int = 768,
        gbar_decay: OfStep = 0.0,
        gbar_weight: OfStep = 1.0,
        mat_gbar_decay: OfStep = 1.0,
        mat_gbar_weight: OfStep = 1.0,
        learning_rate: OfStep = 1.0,
        svd_interval: float = 1,
        precond_update_interval: OfStep = 1,
        epsilon: float = 0.0001,
        alpha: OfStep = 0.5,
        use_iterative_root: bool = False,
        use_locking: bool = False,
        name: str = "Shampoo",
    ) -> None:
        rule = rules.Shampoo(
            max_matrix_size,
            gbar_decay,
            gbar_weight,
            mat_gbar_decay,
            mat_gbar_weight,
            svd_interval,
            precond_update_interval,
            epsilon,
            alpha,
            use_iterative_root,
        )
        rate: Any = learning_rate
        if callable(learning_rate):
            rule = replace(rule, rate_of_step=learning_rate)
            rate = 1.0
        super().__init__(rule, rate, use_locking, name)
        self._global_step = global_step
        as_array(global_step, "global_step")

    def _reads(self) -> dict[str, Any]:
        return {**super()._reads(), "global_step": self._global_step}

    def _shared(self, key: GraphKey, rule: Rule) -> Shared:
        return {"count": np.float32(as_array(self._global_step, "global_step")) + np.float32(1)}

    def _keep_shared(self, key: GraphKey, values: Shared) -> None:
        """The step is the caller's."""

    def _declare_slots(self, variables: Sequence[Variable]) -> None:
        fixed: Any = self._fixed
        if callable(fixed.svd_interval):
            raise TypeError(
                "svd_interval must be a number, got a function; it decides which slots there are"
            )
        for v in variables:
            if v.dtype != np.float32:
                raise DTypeError(f"Shampoo has matrices of float32, and {v.name} is {v.dtype}")
            if not v.shape:
                raise ZeroDivisionError(f"{v.name} is a scalar: Shampoo divides by the rank")
        super()._declare_slots(variables)

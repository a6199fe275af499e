"""Keras's Adadelta."""

from __future__ import annotations

from typing import Any

from .. import rules
from .._base.arrays import Array, namespace
from .._base.slices import IndexedSlices
from .._base.sums import decaying_mean
from ..rules import dense_and_sparse, pure
from ..rules.rule import Rule, Slots
from ..train.variable import Variable as Variable
from .optimizer import Optimizer, own_argument
from .unsummed import warn_of_unsummed
from .versions import Declaration, Name, Strict, Version


def every_row_unsummed(
    rule: rules.Adadelta, w: Array, slots: Slots, g: IndexedSlices, lr: Any
) -> tuple[Array, Slots]:
    """Move every row as Keras 3 does, which squares each slice, and each step of a slice, alone.

    >>> import numpy as np
    >>> g = IndexedSlices(np.ones((2, 1)), np.array([0, 0]), (1, 1))
    >>> w = np.zeros((1, 1))
    >>> rule = rules.Adadelta(0.5, 1.0)
    >>> w, slots = every_row_unsummed(rule, w, (w, w), g, 1.0)
    >>> w.round(4).tolist(), [s.round(4).tolist() for s in slots]
    ([[-1.4142]], [[[1.0]], [[0.5]]])
    """
    rule = rule._in(w.dtype)
    xp = namespace(w, lr)
    squares = dense_and_sparse.whole(w, g.with_values(g.values * g.values))
    accum = decaying_mean(slots[0], squares, rule.rho, "sparse", rule.share)
    factor = xp.sqrt(slots[1] + rule.epsilon) / xp.sqrt(accum + rule.epsilon)
    step_squares = factor * factor * squares
    accum_update = decaying_mean(slots[1], step_squares, rule.rho, "sparse", rule.share)
    step = factor * dense_and_sparse.whole(w, g) * xp.asarray(lr, w.dtype)
    return w - step, (accum, accum_update)


def _choose_sparse(version: Version, rule: type[Rule]) -> pure.Sparse:
    if version.engine == "legacy":
        return dense_and_sparse.rows
    return dense_and_sparse.every_row if version.sums_duplicates else every_row_unsummed


class Adadelta(Optimizer):
    """Adadelta as Keras has it.

        accum = rho * accum + (1 - rho) * g * g
        u = g * sqrt(accum_update + epsilon) / sqrt(accum + epsilon)
        accum_update = rho * accum_update + (1 - rho) * u * u
        w = w - u * lr_t

    Args:
        learning_rate: number, scalar array, Variable, schedule, or function, as of `Adagrad`. The
            paper has 1.0.
        rho: share of the old mean in the new one; in "tf2.3" and "legacy" also an array, a Variable
            or a function, and a number becomes a float32 variable at the first use.
        epsilon: number under both roots. None and 0 become `gl.keras.epsilon()` in "tf2.3" and
            "legacy", with a warning for 0.
        name: as of `Adagrad`.
        semantics: as of `Adagrad`.
        strict: as of `Adagrad`.
        kwargs: as of `Adagrad`.

    IndexedSlices: other rows keep everything in "tf2.3" and "legacy"; their means decay in
    "rewrite" and "keras3". Slices of one row are summed first; in "keras3" the means get the sums
    of their squares instead (a warning says so). Shapes: w, g, accum, accum_update (...); dtypes
    float16, bfloat16, float32, float64.

    Raises:
        ValueError: limits that exclude each other; None for epsilon in "rewrite" and "keras3".
        TypeError: unknown arguments.

    Results agree with Keras's within a few units in the last place.

    Source: `tf.keras.optimizers.Adadelta`, TensorFlow 2.3 (2020), tf_keras 2.21 and Keras 3.15
    (2026); Zeiler, "ADADELTA: An Adaptive Learning Rate Method" (2012).

    >>> v = Variable([1.0], name="v")
    >>> opt = Adadelta(1.0, rho=0.75, epsilon=1.0)
    >>> opt.apply_gradients([([2.0], v)]).numpy().item()
    1
    >>> round(v.numpy().item(), 4), opt.get_slot(v, "accum_grad").numpy().tolist()
    (-0.4142, [1.0])
    """

    _declaration = Declaration(
        choose_rule=lambda version, arguments: rules.Adadelta,
        fields={"rho": "rho", "epsilon": "epsilon"},
        shares={"share": "rho"},
        hyperparameters=("rho",),
        slots={
            "tf2.3": {"accum": "accum_grad", "accum_update": "accum_var"},
            "legacy": {"accum": "accum_grad", "accum_update": "accum_var"},
            "rewrite": {"accum": "accumulated_grad", "accum_update": "accumulated_delta_var"},
            "keras3": {"accum": "accumulated_grad", "accum_update": "accumulated_delta_var"},
        },
        slots_by_variable=lambda version: (
            ("accum", "accum_update") if version.engine == "newer" else ()
        ),
        choose_sparse=_choose_sparse,
        inspect_gradient=warn_of_unsummed,
        needs_count=False,
    )

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: float | None = 1e-7,
        name: str | None = "Adadelta",
        semantics: Name = "legacy",
        *,
        strict: Strict = None,
        **kwargs: Any,
    ) -> None:
        own = {"rho": rho, "epsilon": epsilon}
        super().__init__(name, semantics, strict, learning_rate, own, kwargs)

    rho = own_argument("rho", "The share of the old mean in the new one.")
    epsilon = own_argument("epsilon", "The number under both roots; it may be set.")

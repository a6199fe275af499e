"""Keras's Lion."""

from __future__ import annotations

from typing import Any

from .. import rules
from ..rules import dense_and_sparse
from ..train.variable import Variable as Variable
from .optimizer import Optimizer, own_argument
from .versions import Declaration, Name, Strict


class Lion(Optimizer):
    """Lion as Keras has it: steps of the learning rate along the sign of a mean.

        w = w - lr_t * sign(m * beta_1 + g * (1 - beta_1))
        m = m * beta_2 + g * (1 - beta_2)

    Args:
        learning_rate: number, scalar array, Variable, schedule, or function, as of `Adagrad`. None
            is the default of the version, 0.0001 in "rewrite" and 0.001 in "keras3".
        beta_1: share of the old mean in the direction, above 0 and at most 1.
        beta_2: share of the old mean in the new one.
        name: as of `Adagrad`.
        semantics: "rewrite" or "keras3"; older versions have no Lion.
        strict: as of `Adagrad`.
        kwargs: as of `Adagrad`.

    IndexedSlices move every row, those not named by a gradient of 0; slices of one row are summed.

    Shapes: w, g, m (...); dtypes float16, bfloat16, float32, float64.

    Raises:
        ValueError: beta_1 outside ]0, 1]; another version; limits that exclude each other.
        TypeError: unknown arguments, in "rewrite".

    Source: `tf.keras.optimizers.Lion`, tf_keras 2.21 and Keras 3.15 (2026); Chen et al., "Symbolic
    Discovery of Optimization Algorithms" (2023).

    >>> v = Variable([1.0, 1.0], name="v")
    >>> opt = Lion(0.25, beta_2=0.75)
    >>> opt.apply_gradients([([4.0, -8.0], v)]).numpy().item()
    1
    >>> v.numpy().tolist(), opt.get_slot(v, "momentum").numpy().tolist()
    ([0.75, 1.25], [1.0, -2.0])
    """

    _declaration = Declaration(
        choose_rule=lambda version, arguments: rules.Lion,
        fields={"beta1": "beta_1", "beta2": "beta_2"},
        slots={"rewrite": {"momenta": "m"}, "keras3": {"momenta": "momentum"}},
        only=("rewrite", "keras3"),
        choose_sparse=lambda version, rule: dense_and_sparse.every_row,
    )

    def __init__(
        self,
        learning_rate: Any = None,
        beta_1: float = 0.9,
        beta_2: float = 0.99,
        name: str | None = "Lion",
        semantics: Name = "keras3",
        *,
        strict: Strict = None,
        **kwargs: Any,
    ) -> None:
        if learning_rate is None:
            learning_rate = 0.0001 if semantics == "rewrite" else 0.001
        if not 0 < beta_1 <= 1:
            raise ValueError(
                "Argument `beta_1` must be in the [0, 1] range. Otherwise, the optimizer "
                f"degenerates to SignSGD. Received: beta_1={beta_1}. 0 itself is refused, too"
            )
        own = {"beta_1": beta_1, "beta_2": beta_2}
        super().__init__(name, semantics, strict, learning_rate, own, kwargs)

    beta_1 = own_argument("beta_1", "The share of the old mean in the direction.")
    beta_2 = own_argument("beta_2", "The share of the old mean in the new one.")

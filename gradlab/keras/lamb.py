"""Keras's Lamb."""

from __future__ import annotations

from typing import Any

from .. import rules
from ..train.variable import Variable as Variable
from .adam import powers_of_betas
from .optimizer import Optimizer, own_argument
from .unsummed import choose_every_row, warn_of_unsummed
from .versions import Declaration, Name, Strict


class Lamb(Optimizer):
    """Lamb as Keras 3 has it: Adam whose steps are scaled by the norm of the weights.

        m = m + (g - m) * (1 - beta_1)
        v = v + (g * g - v) * (1 - beta_2)
        u = m / (1 - beta_1 ** t) / (sqrt(v / (1 - beta_2 ** t)) + epsilon)
        w = w - u * lr_t * norm(w) / norm(u)

    with t the number of the step, from 1, and norms of whole variables. Where a norm is 0 their
    ratio counts as 1.

    Args:
        learning_rate: float, schedule, or function without arguments.
        beta_1: share of the old mean in the new one.
        beta_2: share of the old mean square in the new one.
        epsilon: number beside the root.
        name: as of `Adagrad`.
        semantics: "keras3"; older versions have no Lamb.
        strict: as of `Adagrad`.
        kwargs: as of `Adagrad`.

    IndexedSlices move every row, those not named by a gradient of 0; v gets the sum of the squares
    of the slices of one row (a warning says so). Shapes: w, g, m, v (...); dtypes float16,
    bfloat16, float32, float64.

    Raises:
        ValueError: another version; unknown arguments; limits that exclude each other.

    Differs from the paper: the decay of the weights acts before the step and outside the norms, as
    `weight_decay` does in all optimizers of Keras.

    Source: `keras.optimizers.Lamb`, Keras 3.15 (2026); You et al., "Large Batch Optimization for
    Deep Learning: Training BERT in 76 minutes" (2019).

    >>> v = Variable([3.0, 4.0], name="v")
    >>> opt = Lamb(0.5)
    >>> opt.apply_gradients([([1.0, 0.0], v)]).numpy().item()
    1
    >>> v.numpy().round(3).tolist()
    [0.5, 4.0]
    """

    _declaration = Declaration(
        choose_rule=lambda version, arguments: rules.Lamb,
        fields={"beta1": "beta_1", "beta2": "beta_2", "epsilon": "epsilon"},
        shares={"share1": "beta_1", "share2": "beta_2"},
        step_fields=powers_of_betas,
        hyperparameters=("beta_1", "beta_2"),
        slots={"keras3": {"m": "momentum", "v": "velocity"}},
        slots_by_variable=lambda version: ("m", "v"),
        only=("keras3",),
        choose_sparse=choose_every_row,
        inspect_gradient=warn_of_unsummed,
    )

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        name: str | None = "Lamb",
        semantics: Name = "keras3",
        *,
        strict: Strict = None,
        **kwargs: Any,
    ) -> None:
        own = {"beta_1": beta_1, "beta_2": beta_2, "epsilon": epsilon}
        super().__init__(name, semantics, strict, learning_rate, own, kwargs)

    beta_1 = own_argument("beta_1", "The share of the old mean in the new one.")
    beta_2 = own_argument("beta_2", "The share of the old mean square in the new one.")
    epsilon = own_argument("epsilon", "The number beside the root; it may be set.")

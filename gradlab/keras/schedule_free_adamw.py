"""Keras's schedule-free AdamW."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import rules
from ..rules.rule import Shared
from ..train.variable import Variable as Variable
from .adam import powers_of_betas
from .optimizer import Optimizer, own_argument
from .unsummed import choose_every_row, warn_of_unsummed
from .versions import Declaration, Name, Strict


def _step_fields(rule: Any, steps: Any, dtype: Any) -> Shared:
    return {"steps": 1 + int(np.asarray(steps)), **powers_of_betas(rule, steps, dtype)}


class ScheduleFreeAdamW(Optimizer):
    """Adam that averages its iterates in place of a falling learning rate, as Keras 3 has it.

        v = v + (g * g - v) * (1 - beta_2)
        rate = lr_t * min(t / warmup_steps, 1)
        z' = z - rate * g / (sqrt(v / (1 - beta_2 ** t)) + epsilon)
        x = (w - (1 - beta_1) * z') / beta_1
        x' = (1 - 1 / t) * x + 1 / t * z'
        w = (1 - beta_1) * z' + beta_1 * x'

    with t the number of the step, from 1. Gradients are taken at w.

    Args:
        learning_rate: float, schedule, or function without arguments.
        beta_1: how near to x the weights are; 0 divides by 0, as in Keras.
        beta_2: share of the old mean square in the new one.
        epsilon: number beside the root.
        warmup_steps: the rate grows for so many steps; 0 for none.
        name: as of `Adagrad`.
        semantics: "keras3"; older versions have no such optimizer.
        strict: as of `Adagrad`.
        kwargs: as of `Adagrad`; weight_decay makes it AdamW, and is None unless it is given.

    IndexedSlices move every row, those not named by a gradient of 0; v gets the sum of the squares
    of the slices of one row (a warning says so). Shapes: w, g, z, v (...); dtypes float16,
    bfloat16, float32, float64.

    Raises:
        ValueError: another version; unknown arguments; limits that exclude each other.

    Differs from the paper: x should be recovered with z, not z'. Keras 3 on TensorFlow reads z
    after it has changed, so x isn't the mean of the iterates. `gl.rules.ScheduleFreeAdam` has both.

    Source: `keras.optimizers.ScheduleFreeAdamW`, Keras 3.15 (2026); Defazio et al., "The Road Less
    Scheduled" (2024).

    >>> v = Variable([1.0], name="v")
    >>> opt = ScheduleFreeAdamW(0.25, beta_1=0.5)
    >>> for _ in range(2):
    ...     _ = opt.apply_gradients([([4.0], v)])
    >>> v.numpy().round(4).tolist(), opt.get_slot(v, "momentum").numpy().round(4).tolist()
    ([0.625], [0.5])
    """

    _declaration = Declaration(
        choose_rule=lambda version, arguments: rules.ScheduleFreeAdam,
        fields={
            "beta1": "beta_1",
            "beta2": "beta_2",
            "epsilon": "epsilon",
            "warmup_steps": "warmup_steps",
        },
        version_fields=lambda version: {"recovers_from": "new"},
        step_fields=_step_fields,
        hyperparameters=("beta_1", "beta_2"),
        slots={"keras3": {"z": "momentum", "v": "velocity"}},
        slots_by_variable=lambda version: ("z", "v"),
        only=("keras3",),
        choose_sparse=choose_every_row,
        inspect_gradient=warn_of_unsummed,
    )

    def __init__(
        self,
        learning_rate: Any = 0.0025,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        warmup_steps: int = 0,
        name: str | None = "ScheduleFreeAdamW",
        semantics: Name = "keras3",
        *,
        strict: Strict = None,
        **kwargs: Any,
    ) -> None:
        own = {
            "beta_1": beta_1,
            "beta_2": beta_2,
            "epsilon": epsilon,
            "warmup_steps": warmup_steps,
        }
        super().__init__(name, semantics, strict, learning_rate, own, kwargs)

    beta_1 = own_argument("beta_1", "How near to x the weights are.")
    beta_2 = own_argument("beta_2", "The share of the old mean square in the new one.")
    epsilon = own_argument("epsilon", "The number beside the root; it may be set.")
    warmup_steps = own_argument("warmup_steps", "For how many steps the rate grows.")

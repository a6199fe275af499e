"""A draft of Keras's Adam, which tf_keras's suites still run: its rule under what gl.keras does
around every rule.

`gl.keras.Adam` and `gl.keras.AdamW` can take its place where the sources of these suites are at
hand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import gradlab as gl
from gradlab.keras.optimizer import own_argument
from gradlab.keras.versions import Declaration
from gradlab.rules import dense_and_sparse


def _powers(rule: Any, steps: Any) -> dict[str, Any]:
    """The powers of beta are those of the iterations, as Keras computes them."""
    step = 1 + int(np.asarray(steps))
    return {
        "beta1_power": np.float64(rule.beta1) ** step,
        "beta2_power": np.float64(rule.beta2) ** step,
    }


class Adam(gl.keras.Optimizer):
    """Adam of any `semantics`."""

    _declaration = Declaration(
        choose_rule=lambda version, arguments: (
            gl.rules.AMSGrad if arguments["amsgrad"] else gl.rules.Adam
        ),
        fields={"beta1": "beta_1", "beta2": "beta_2", "epsilon": "epsilon"},
        step_fields=_powers,
        choose_sparse=lambda version, rule: dense_and_sparse.every_row,
        slots={"keras3": {"m": "momentum", "v": "velocity"}},
    )

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: Any = 1e-7,
        amsgrad: bool = False,
        name: Any = "Adam",
        semantics: Any = "legacy",
        **kwargs: Any,
    ) -> None:
        own = {"beta_1": beta_1, "beta_2": beta_2, "epsilon": epsilon, "amsgrad": amsgrad}
        super().__init__(name, semantics, None, learning_rate, own, kwargs)

    beta_1 = own_argument("beta_1", "Share of the old mean.")
    beta_2 = own_argument("beta_2", "Share of the old mean square.")
    epsilon = own_argument("epsilon", "Number beside the root.")
    amsgrad = own_argument("amsgrad", "Whether the largest mean square counts.")


class AdamW(Adam):
    """Adam whose weights decay unless told otherwise."""

    def __init__(
        self, learning_rate: Any = 0.001, weight_decay: Any = 0.004, *given: Any, **kwargs: Any
    ) -> None:
        if weight_decay is None:
            raise ValueError(
                "Missing value of `weight_decay` which is required and must be a float value."
            )
        super().__init__(learning_rate, *given, weight_decay=weight_decay, **kwargs)

"""Keras's Adam."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import rules
from ..rules.rule import Rule, Shared
from ..train.variable import Variable as Variable
from .optimizer import Optimizer, own_argument
from .unsummed import choose_every_row, warn_of_unsummed
from .versions import Declaration, Name, Strict


def beta_in_double(beta: Any, dtype: Any) -> Any:
    """Return a beta as variables of a dtype have it, which may be 1 in 16 bits, as a float64.

    >>> import ml_dtypes
    >>> beta_in_double(0.999, np.dtype(ml_dtypes.bfloat16)).item()
    1.0
    """
    if np.dtype(dtype).itemsize == 2:
        beta = np.asarray(beta, dtype)
    return np.float64(beta)


def powers_of_betas(rule: Any, steps: Any, dtype: Any) -> Shared:
    """Return the fields of a rule that are its betas to the power of the step."""
    step = 1 + int(np.asarray(steps))
    fields = {}
    for beta in ("beta1", "beta2"):
        if hasattr(rule, f"{beta}_power"):
            fields[f"{beta}_power"] = beta_in_double(getattr(rule, beta), dtype) ** step
    return fields


def _choose_rule(version: Any, arguments: Any) -> type[Rule]:
    return rules.AMSGrad if arguments["amsgrad"] else rules.Adam


class Adam(Optimizer):
    """Adam as Keras has it, with or without AMSGrad.

        m = m + (g - m) * (1 - beta_1)
        v = v + (g * g - v) * (1 - beta_2)
        vhat = max(vhat, v)                           amsgrad; else v takes its place below
        rate = lr_t * sqrt(1 - beta_2 ** t) / (1 - beta_1 ** t)
        w = w - (m * rate) / (sqrt(vhat) + epsilon)

    with t the number of the step, from 1.

    Args:
        learning_rate: number, scalar array, Variable, schedule, or function, as of `Adagrad`.
        beta_1: share of the old mean in the new one; in "tf2.3" and "legacy" also an array, a
            Variable or a function, and a number becomes a float32 variable at the first use.
        beta_2: share of the old mean square, likewise.
        epsilon: number beside the root. None and 0 become `gl.keras.epsilon()` in "tf2.3" and
            "legacy", with a warning for 0.
        amsgrad: divide by the root of the largest mean square so far.
        name: as of `Adagrad`.
        semantics: as of `Adagrad`.
        strict: as of `Adagrad`.
        kwargs: as of `Adagrad`.

    IndexedSlices move every row, those not named by a gradient of 0. Slices of one row are summed
    first; in "keras3" v gets the sum of their squares instead (a warning says so). Shapes: w, g, m,
    v, vhat (...); dtypes float16, bfloat16, float32, float64.

    Raises:
        ValueError: limits that exclude each other; None for epsilon in "rewrite" and "keras3".
        TypeError: unknown arguments.

    Differs from Keras: the undocumented `adaptive_epsilon` of the rewrite is left out, and so is
    the reading of weights of Keras 1 by `set_weights`. Powers are computed in float64 and rounded,
    so results agree within a few units in the last place.

    Source: `tf.keras.optimizers.Adam`, TensorFlow 2.3 (2020), tf_keras 2.21 and Keras 3.15 (2026);
    Kingma & Ba, "Adam: A Method for Stochastic Optimization" (2014); Reddi, Kale & Kumar, "On the
    Convergence of Adam and Beyond" (2018).

    >>> v = Variable([1.0], name="v")
    >>> opt = Adam(0.25)
    >>> opt.apply_gradients([(np.float32([4.0]), v)]).numpy().item()
    1
    >>> [round(x.numpy().item(), 4) for x in (v, opt.get_slot(v, "m"), opt.get_slot(v, "v"))]
    [0.75, 0.4, 0.016]
    >>> [w.name for w in opt.weights]
    ['Adam/iter:0', 'Adam/v/m:0', 'Adam/v/v:0']
    """

    _declaration = Declaration(
        choose_rule=_choose_rule,
        fields={"beta1": "beta_1", "beta2": "beta_2", "epsilon": "epsilon"},
        shares={"share1": "beta_1", "share2": "beta_2"},
        step_fields=powers_of_betas,
        hyperparameters=("beta_1", "beta_2"),
        slots={"keras3": {"m": "momentum", "v": "velocity", "vhat": "velocity_hat"}},
        slots_by_variable=lambda version: ("m", "v") if version.engine == "newer" else (),
        choose_sparse=choose_every_row,
        inspect_gradient=warn_of_unsummed,
    )

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float | None = 1e-7,
        amsgrad: bool = False,
        name: str | None = "Adam",
        semantics: Name = "legacy",
        *,
        strict: Strict = None,
        **kwargs: Any,
    ) -> None:
        own = {"beta_1": beta_1, "beta_2": beta_2, "epsilon": epsilon, "amsgrad": amsgrad}
        super().__init__(name, semantics, strict, learning_rate, own, kwargs)

    beta_1 = own_argument("beta_1", "The share of the old mean in the new one.")
    beta_2 = own_argument("beta_2", "The share of the old mean square in the new one.")
    epsilon = own_argument("epsilon", "The number beside the root; it may be set.")
    amsgrad = own_argument("amsgrad", "Whether the largest mean square counts.")

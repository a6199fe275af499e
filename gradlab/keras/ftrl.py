"""Keras's Ftrl."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import rules
from ..errors import KerasWarning, warn
from ..rules import pure
from ..rules.rule import Rule
from ..train.kernel_order import with_order
from ..train.variable import Variable as Variable
from .optimizer import Optimizer, own_argument
from .unsummed import choose_every_row, warn_of_unsummed
from .versions import Declaration, Name, Strict, Version, version_of

_NAMES = {"accum": "accumulator"}
_NOT_NEGATIVE = (
    "initial_accumulator_value",
    "l1_regularization_strength",
    "l2_regularization_strength",
    "l2_shrinkage_regularization_strength",
)


def _choose_sparse(version: Version, rule: type[Rule]) -> pure.Sparse:
    if version.engine == "legacy":
        return with_order("sparse", scalar_row_order="scalar")
    return choose_every_row(version, rule)


class Ftrl(Optimizer):
    """FTRL-Proximal as Keras has it.

        g' = g + 2 * l2_shrinkage * w
        accum' = accum + g * g
        sigma = (accum' ** -power - accum ** -power) / lr_t
        linear = linear + g' - sigma * w
        w = (clip(linear, -l1, l1) - linear) / ((accum' ** -power + beta) / lr_t + 2 * l2)

    with power, l1, l2 and l2_shrinkage the arguments with these names in theirs.

    Args:
        learning_rate: number, scalar array, Variable, schedule, or function, as of `Adagrad`.
        learning_rate_power: <= 0; -0.5 takes the square root.
        initial_accumulator_value: >= 0.
        l1_regularization_strength: >= 0; makes weights 0.
        l2_regularization_strength: >= 0.
        l2_shrinkage_regularization_strength: >= 0; acts on the gradient, not on the accumulator.
        beta: number beside the root. Not in "tf2.3".
        name: as of `Adagrad`.
        semantics: as of `Adagrad`.
        strict: as of `Adagrad`.
        kwargs: as of `Adagrad`; lr has no effect.

    In "tf2.3" and "legacy" the power, l1, l2 and beta may also be arrays, Variables or functions.
    IndexedSlices: other rows keep everything in "tf2.3" and "legacy"; they move by a gradient of 0
    in "rewrite" and "keras3". Slices of one row are summed first; in "keras3" the accumulator gets
    the sum of their squares instead (a warning says so). Shapes: w, g, accum, linear (...); dtypes
    float16, bfloat16, float32, float64.

    Raises:
        ValueError: an argument with the wrong sign; limits that exclude each other.
        TypeError: unknown arguments.

    Differs from Keras: `name` comes after `beta` in all versions. Differences of powers cancel, so
    results agree to a few parts in a million.

    Source: `tf.keras.optimizers.Ftrl`, TensorFlow 2.3 (2020), tf_keras 2.21 and Keras 3.15 (2026);
    McMahan et al., "Ad Click Prediction: a View from the Trenches" (2013).

    >>> v = Variable([1.0, 1.0], name="v")
    >>> opt = Ftrl(0.5, initial_accumulator_value=9.0, l1_regularization_strength=1.0)
    >>> opt.apply_gradients([([4.0, 0.0], v)]).numpy().item()
    1
    >>> v.numpy().tolist(), opt.get_slot(v, "accumulator").numpy().tolist()
    ([0.0, 0.0], [25.0, 9.0])
    """

    _declaration = Declaration(
        choose_rule=lambda version, arguments: rules.Ftrl,
        fields={
            "lr_power": "learning_rate_power",
            "initial_accumulator_value": "initial_accumulator_value",
            "l1": "l1_regularization_strength",
            "l2": "l2_regularization_strength",
            "l2_shrinkage": "l2_shrinkage_regularization_strength",
            "beta": "beta",
        },
        version_fields=lambda version: {
            "order": "dense" if version.engine == "legacy" else "sparse"
        },
        hyperparameters=(
            "learning_rate_power",
            "l1_regularization_strength",
            "l2_regularization_strength",
            "beta",
        ),
        slots={"tf2.3": _NAMES, "legacy": _NAMES, "rewrite": _NAMES, "keras3": _NAMES},
        slots_by_variable=lambda version: ("accum", "linear"),
        choose_sparse=_choose_sparse,
        inspect_gradient=warn_of_unsummed,
    )

    def __init__(
        self,
        learning_rate: Any = 0.001,
        learning_rate_power: Any = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: Any = 0.0,
        l2_regularization_strength: Any = 0.0,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: Any = 0.0,
        name: str | None = "Ftrl",
        semantics: Name = "legacy",
        *,
        strict: Strict = None,
        **kwargs: Any,
    ) -> None:
        own = {
            "learning_rate_power": learning_rate_power,
            "initial_accumulator_value": initial_accumulator_value,
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength,
            "beta": beta,
        }
        for argument in _NOT_NEGATIVE:
            if _is_number(own[argument]) and own[argument] < 0:
                raise ValueError(
                    f"`{argument}` needs to be positive or zero. Received: "
                    f"{argument}={own[argument]}."
                )
        if _is_number(learning_rate_power) and learning_rate_power > 0:
            raise ValueError(
                "`learning_rate_power` needs to be negative or zero. Received: "
                f"learning_rate_power={learning_rate_power}."
            )
        has_beta = not _is_number(beta) or beta != 0
        if has_beta and version_of(semantics).name == "tf2.3":
            raise TypeError(f"Ftrl of semantics {semantics!r} has no beta; take 'legacy'")
        if version_of(semantics).engine == "legacy" and "lr" in kwargs:
            warn("lr has no effect on Ftrl; use learning_rate", KerasWarning)
            del kwargs["lr"]
        super().__init__(name, semantics, strict, learning_rate, own, kwargs)

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        if self._engine.version.name == "tf2.3":
            del config["beta"]
        return config

    learning_rate_power = own_argument("learning_rate_power", "What the accumulator is raised to.")
    l1_regularization_strength = own_argument("l1_regularization_strength", "The pull to 0.")
    l2_regularization_strength = own_argument("l2_regularization_strength", "The pull by size.")
    beta = own_argument("beta", "The number beside the root.")


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float | np.number)

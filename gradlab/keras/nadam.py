"""Keras's Nadam."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import rules
from .._base.arrays import Array, set_rows, take_rows
from .._base.slices import IndexedSlices
from ..rules import dense_and_sparse, pure
from ..rules.rule import Rule, Shared, Slots
from ..schedules import LearningRateSchedule
from ..train.variable import Variable as Variable
from .adam import beta_in_double
from .optimizer import Optimizer, own_argument
from .unsummed import choose_every_row, warn_of_unsummed
from .versions import Declaration, Name, Strict, Version, version_of

_BLOCK = 1000  # steps whose product is computed at once


def move_named_rows(
    rule: Rule, w: Array, slots: Slots, g: IndexedSlices, lr: Any
) -> tuple[Array, Slots]:
    """Step as Nadam of TensorFlow 2.3 and legacy: the means of all rows, weights of the rows named.

    >>> g = IndexedSlices(np.ones((1, 1)), np.array([1]), (2, 1))
    >>> w = np.zeros((2, 1))
    >>> w, (m, _) = move_named_rows(rules.Nadam(0.5), w, (w + 1, w + 1), g, 1.0)
    >>> w.ravel().round(2).tolist(), m.ravel().tolist()
    ([0.0, -1.0], [0.5, 1.0])
    """
    w, slots, g = dense_and_sparse.of_one_library(w, slots, g, lr)
    moved, slots = dense_and_sparse.every_row(rule, w, slots, g, lr)
    return set_rows(w, g.indices, take_rows(moved, g.indices)), slots


def _choose_sparse(version: Version, rule: type[Rule]) -> pure.Sparse:
    return move_named_rows if version.engine == "legacy" else choose_every_row(version, rule)


def _step_fields(rule: Any, steps: Any, dtype: Any) -> Shared:
    """Return what changes from step to step, computed from the number of the step."""
    step = 1 + int(np.asarray(steps))
    decay_power, next_decay_power = _powers(rule, step, step + 1)
    product = np.float32(1)
    for first in range(1, step + 1, _BLOCK):
        powers = _powers(rule, first, min(first + _BLOCK - 1, step))
        product *= np.prod(np.float32(rule.beta1) * (1 - np.float32(0.5) * powers))
        if product == 0:  # as it is after a thousand steps with beta_1 = 0.9
            break
    return {
        "decay_power": decay_power,
        "next_decay_power": next_decay_power,
        "mu_product": product,
        "beta2_power": beta_in_double(rule.beta2, dtype) ** step,
    }


def _powers(rule: Any, first: int, last: int) -> Any:
    """Return the powers of 0.96 of these steps."""
    exponents = np.float64(rule.momentum_decay) * np.arange(first, last + 1)
    return np.float32(0.96**exponents)


class Nadam(Optimizer):
    """Nadam as Keras has it: Adam with Nesterov's momentum.

        mu(t) = beta_1 * (1 - 0.5 * 0.96 ** (t * s))
        product = mu(1) * ... * mu(t)
        m = m + (g - m) * (1 - beta_1)
        v = v + (g * g - v) * (1 - beta_2)
        ahead = mu(t + 1) * m / (1 - product * mu(t + 1)) + (1 - mu(t)) * g / (1 - product)
        w = w - ahead * lr_t / (sqrt(v / (1 - beta_2 ** t)) + epsilon)

    with t the number of the step, from 1; s is 1 in "rewrite" and "keras3", `schedule_decay` in
    "tf2.3" and "legacy".

    Args:
        learning_rate: number, scalar array, Variable, schedule, or function, as of `Adagrad`; in
            "tf2.3" and "legacy" no schedule.
        beta_1: share of the old mean in the new one; in "tf2.3" and "legacy" also an array, a
            Variable or a function, and a number becomes a float32 variable at the first use.
        beta_2: share of the old mean square, likewise.
        epsilon: number beside the root. None and 0 become `gl.keras.epsilon()` in "tf2.3" and
            "legacy", with a warning for 0.
        name: as of `Adagrad`.
        semantics: as of `Adagrad`.
        strict: as of `Adagrad`.
        kwargs: as of `Adagrad`; in "tf2.3" and "legacy" schedule_decay, 0.004 by default, which
            takes the place of any decay.

    IndexedSlices: the means of other rows decay, and these rows move on in "rewrite" and "keras3".
    Slices of one row are summed first; in "keras3" v gets the sum of their squares instead (a
    warning says so). Shapes: w, g, m, v (...); dtypes float16, bfloat16, float32, float64.

    Raises:
        ValueError: a schedule in "tf2.3" and "legacy"; limits that exclude each other.
        TypeError: unknown arguments.

    Differs from Keras: the product is computed from `iterations` at each step, in float32. Keras
    multiplies a weight, "momentum_cache" in "legacy", which here only shows the product.

    Source: `tf.keras.optimizers.Nadam`, TensorFlow 2.3 (2020), tf_keras 2.21 and Keras 3.15 (2026);
    Dozat, "Incorporating Nesterov Momentum into Adam" (2016).

    >>> v = Variable([1.0], name="v")
    >>> opt = Nadam(0.25, beta_1=0.5, semantics="keras3")
    >>> opt.apply_gradients([([4.0], v)]).numpy().item()
    1
    >>> round(v.numpy().item(), 4), opt.get_slot(v, "momentum").numpy().tolist()
    (0.7138, [2.0])
    """

    _declaration = Declaration(
        choose_rule=lambda version, arguments: rules.Nadam,
        fields={
            "beta1": "beta_1",
            "beta2": "beta_2",
            "epsilon": "epsilon",
            "momentum_decay": "decay",
        },
        version_fields=lambda version: {
            "momentum_decay": 1.0,
            "order": "sparse" if version.engine == "legacy" else "dense",
        },
        step_fields=_step_fields,
        decays_rate=False,
        counted={"tf2.3": "momentum_cache", "legacy": "momentum_cache", "keras3": "variable"},
        counted_field="mu_product",
        hyperparameters=("beta_1", "beta_2"),
        slots={"keras3": {"m": "momentum", "v": "velocity"}},
        slots_by_variable=lambda version: ("m", "v") if version.engine == "newer" else (),
        choose_sparse=_choose_sparse,
        inspect_gradient=warn_of_unsummed,
    )

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float | None = 1e-7,
        name: str | None = "Nadam",
        semantics: Name = "legacy",
        *,
        strict: Strict = None,
        **kwargs: Any,
    ) -> None:
        if version_of(semantics).engine == "legacy":
            if isinstance(kwargs.get("lr", learning_rate), LearningRateSchedule):
                raise ValueError(
                    f"Nadam of semantics {semantics!r} takes no schedule for learning_rate; give a "
                    "number or a function, or take another version"
                )
            kwargs["decay"] = kwargs.pop("schedule_decay", 0.004)
        own = {"beta_1": beta_1, "beta_2": beta_2, "epsilon": epsilon}
        super().__init__(name, semantics, strict, learning_rate, own, kwargs)

    beta_1 = own_argument("beta_1", "The share of the old mean in the new one.")
    beta_2 = own_argument("beta_2", "The share of the old mean square in the new one.")
    epsilon = own_argument("epsilon", "The number beside the root; it may be set.")

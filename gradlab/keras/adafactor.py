"""Keras's Adafactor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import rules
from ..rules.rule import Rule, Shared
from ..train.variable import Variable as Variable
from .optimizer import Optimizer, own_argument
from .unsummed import choose_every_row, warn_of_unsummed
from .versions import Declaration, Name, Strict, Version


def _step_fields(rule: Any, steps: Any, dtype: Any) -> Shared:
    return {"steps": 1 + int(np.asarray(steps))}


def _argument_fields(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return epsilon_2 as Keras casts it, which is through float32 for all dtypes."""
    return {"epsilon2": float(np.float32(arguments["epsilon_2"]))}


def _unused_slots(version: Version, rule: Rule) -> Mapping[str, Any]:
    """Return the zeros that Keras 3 makes for variables whose mean square isn't factored."""
    if version.name != "keras3" or "r" in rule.slots:
        return {}
    return {"r": np.asarray(np.int32(0)), "c": np.asarray(np.int32(0))}


class Adafactor(Optimizer):
    """Adafactor as Keras has it: rates relative to the weights, and a mean square of two vectors.

        beta_2 = 1 - t ** beta_2_decay
        square = g * g + epsilon_1
        r = beta_2 * r + (1 - beta_2) * mean(square over the last axis)
        c = beta_2 * c + (1 - beta_2) * mean(square over the last axis but one)
        v = r / mean(r) * c
            beta_2 * v + (1 - beta_2) * square          variables of one axis, or none
        u = g / sqrt(v)
        rate = max(epsilon_2, rms(w)) * min(lr_t, 1 / sqrt(t))
        w = w - rate * u / max(1, rms(u) / clip_threshold)

    with t the number of the step, from 1, and rms the root of the mean square of a whole variable.

    Args:
        learning_rate: float, schedule, or function without arguments; in "rewrite" also another
            number, a scalar array or a Variable, whose value is taken once.
        beta_2_decay: the exponent of t, below 0.
        epsilon_1: number beside the square.
        epsilon_2: the smallest size of weights that counts.
        clip_threshold: limit for rms(u).
        relative_step: no effect, in Keras neither: the rate is at most 1 / sqrt(t) in any case.
        name: as of `Adagrad`.
        semantics: "rewrite" or "keras3"; older versions have no Adafactor.
        strict: as of `Adagrad`.
        kwargs: as of `Adagrad`.

    IndexedSlices are gradients of whole variables, 0 in other rows. Slices of one row are summed
    first; in "keras3" the squares are of each slice alone (a warning says so). Shapes: w, g, v
    (..., n, m), r (..., n), c (..., m); dtypes float16, bfloat16, float32, float64. In 16 bits
    epsilon_1 is 0 by default, so a gradient of 0 gives NaN, as in Keras.

    Raises:
        ValueError: another version; limits that exclude each other.
        TypeError: unknown arguments, in "rewrite".

    Source: `tf.keras.optimizers.Adafactor`, tf_keras 2.21 and Keras 3.15 (2026); Shazeer & Stern,
    "Adafactor: Adaptive Learning Rates with Sublinear Memory Cost" (2018).

    >>> v = Variable([[1.0, -1.0], [1.0, 1.0]], name="v")
    >>> opt = Adafactor(0.5)
    >>> opt.apply_gradients([([[1.0, 2.0], [2.0, 4.0]], v)]).numpy().item()
    1
    >>> v.numpy().round(4).tolist(), opt.get_slot(v, "r").numpy().tolist()
    ([[0.5, -1.5], [0.5, 0.5]], [2.5, 10.0])
    """

    _declaration = Declaration(
        choose_rule=lambda version, arguments: rules.Adafactor,
        fields={
            "beta2_decay": "beta_2_decay",
            "epsilon1": "epsilon_1",
            "clip_threshold": "clip_threshold",
        },
        argument_fields=_argument_fields,
        step_fields=_step_fields,
        slots={"keras3": {"v": "velocity"}},
        unnamed_slots={"keras3": ("r", "c")},
        unused_slots=_unused_slots,
        slots_by_variable=lambda version: ("r", "c", "v"),
        only=("rewrite", "keras3"),
        choose_sparse=choose_every_row,
        inspect_gradient=warn_of_unsummed,
    )

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_2_decay: float = -0.8,
        epsilon_1: float = 1e-30,
        epsilon_2: float = 1e-3,
        clip_threshold: float = 1.0,
        relative_step: bool = True,
        name: str | None = "Adafactor",
        semantics: Name = "keras3",
        *,
        strict: Strict = None,
        **kwargs: Any,
    ) -> None:
        own = {
            "beta_2_decay": beta_2_decay,
            "epsilon_1": epsilon_1,
            "epsilon_2": epsilon_2,
            "clip_threshold": clip_threshold,
            "relative_step": relative_step,
        }
        super().__init__(name, semantics, strict, learning_rate, own, kwargs)

    beta_2_decay = own_argument("beta_2_decay", "The exponent of the number of the step.")
    epsilon_1 = own_argument("epsilon_1", "The number beside the square.")
    epsilon_2 = own_argument("epsilon_2", "The smallest size of weights that counts.")
    clip_threshold = own_argument("clip_threshold", "The limit for the size of a step.")
    relative_step = own_argument("relative_step", "Without effect, as in Keras.")

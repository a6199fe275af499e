"""Keras's AdamW."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..train.variable import Variable as Variable
from .adam import Adam
from .versions import Name, Strict


class AdamW(Adam):
    """Adam after a decay of the weights that does not enter the means.

        w = w - w * weight_decay * lr_t
        then the step of `Adam`

    Args:
        learning_rate: as of `Adam`.
        weight_decay: number; every step takes this share, times the rate, of each weight.
        beta_1: as of `Adam`.
        beta_2: as of `Adam`.
        epsilon: as of `Adam`.
        amsgrad: as of `Adam`.
        name: as of `Adagrad`.
        semantics: "rewrite" or "keras3"; older versions have no AdamW.
        strict: as of `Adagrad`.
        kwargs: as of `Adagrad`.

    `exclude_from_weight_decay` leaves variables out. Shapes, dtypes and IndexedSlices are as of
    `Adam`.

    Raises:
        ValueError: None for weight_decay; another version; limits that exclude each other.
        TypeError: unknown arguments, in "rewrite".

    Source: `tf.keras.optimizers.AdamW`, tf_keras 2.21 and Keras 3.15 (2026); Loshchilov & Hutter,
    "Decoupled Weight Decay Regularization" (2017).

    >>> v = Variable([1.0], name="v")
    >>> opt = AdamW(0.25, weight_decay=0.5)
    >>> opt.apply_gradients([([4.0], v)]).numpy().item()
    1
    >>> round(v.numpy().item(), 4)
    0.625
    """

    _declaration = dataclasses.replace(Adam._declaration, only=("rewrite", "keras3"))

    def __init__(
        self,
        learning_rate: Any = 0.001,
        weight_decay: float = 0.004,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float | None = 1e-7,
        amsgrad: bool = False,
        name: str | None = "AdamW",
        semantics: Name = "keras3",
        *,
        strict: Strict = None,
        **kwargs: Any,
    ) -> None:
        if weight_decay is None:
            raise ValueError(
                "Missing value of `weight_decay`. Argument `weight_decay` must be a float. "
                "Received: weight_decay=None; take Adam instead"
            )
        super().__init__(
            learning_rate,
            beta_1,
            beta_2,
            epsilon,
            amsgrad,
            name,
            semantics,
            strict=strict,
            weight_decay=weight_decay,
            **kwargs,
        )

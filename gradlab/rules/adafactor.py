"""Adafactor: the mean square of a matrix from those of its rows and columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from .._base.arrays import Array, namespace
from .._base.options import check_choice
from ..errors import InvalidArgumentError
from .rule import Rule, Shared, SizedRule, Slots, float32


@dataclass(frozen=True)
class Adafactor(SizedRule):
    """Step along the gradient over the root of a factored mean square, by a share of the weights.

        beta2 = 1 - steps ** beta2_decay
        size = g * g + epsilon1                                epsilon_place="square"
               g * g                                                         "floor"
        r = beta2 * r + (1 - beta2) * mean(size over the last axis)
        c = beta2 * c + (1 - beta2) * mean(size over the last axis but one)
        v = r / mean(r over its last axis) * c
            beta2 * v + (1 - beta2) * size                         weights of one axis, or none
        u = g / sqrt(v)                                                      "square"
            g / sqrt(max(v, epsilon1 ** 2))                                  "floor"
        rate = max(epsilon2, rms(w)) * min(lr, 1 / sqrt(steps))    limits_rate; else the first * lr
        w = w - rate * u / max(1, rms(u) / clip_threshold)

    rms is the root of the mean square of a whole tensor. `steps`, the number of the step from 1,
    changes from step to step. Weights of an axis shorter than `min_factored`, of the last two, count
    as weights of one axis.

    Keras has the defaults; torch "floor", with an epsilon1 of the dtype's eps unless it is given,
    which is also the least mean(r); optax limits_rate=False and min_factored=128. Differs from
    optax: of more than two axes it factors the largest two, here the last two.

    Shapes: w, g, v (..., n, m), r (..., n), c (..., m). Slots: r, c and v, from 0; of weights with
    fewer than two axes v only. v isn't read by the next step; Keras keeps it. A tensor rule.

    Source: Shazeer & Stern, "Adafactor: Adaptive Learning Rates with Sublinear Memory Cost"
    (2018); `keras.optimizers.Adafactor`, Keras 3.15 (2026); `torch.optim.Adafactor`, torch 2.13
    (2026); `optax.adafactor`, optax 0.2.8 (2026).

    >>> rule, w = Adafactor(), np.array([[1.0, -1.0], [1.0, 1.0]])
    >>> w, (r, c, v) = rule(w, rule.init(w), np.array([[1.0, 2.0], [2.0, 4.0]]), 0.5)
    >>> w.tolist(), r.tolist(), c.tolist()
    ([[0.5, -1.5], [0.5, 0.5]], [2.5, 10.0], [2.5, 10.0])
    """

    beta2_decay: float = -0.8
    epsilon1: float = 1e-30
    epsilon2: float = 1e-3
    clip_threshold: float = 1.0
    epsilon_place: Literal["square", "floor"] = "square"
    limits_rate: bool = True
    min_factored: int = 0
    steps: float = 1.0
    slots: ClassVar[dict[str, float | str]] = {"r": 0.0, "c": 0.0, "v": 0.0}
    is_row_local: ClassVar[bool] = False
    depends_on_weights: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_choice("epsilon_place", self.epsilon_place, ("square", "floor"))

    def for_weights(self, name: str, shape: Sequence[int]) -> Rule:
        if len(shape) >= 2 and min(shape[-2:]) >= self.min_factored:
            return self
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return AdafactorOfVectors(**fields)

    def slot_shape(self, slot: str, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of a slot: r lacks the last axis, c the last but one.

        >>> Adafactor().slot_shape("c", (4, 2, 3))
        (4, 3)
        """
        if slot in ("r", "c") and len(shape) < 2:
            raise InvalidArgumentError(
                f"Adafactor factors the mean square of two axes or more, got shape {tuple(shape)}; "
                "take rule.for_weights(name, shape)"
            )
        if slot == "r":
            return tuple(shape[:-1])
        if slot == "c":
            return (*shape[:-2], shape[-1])
        return tuple(shape)

    def start(self) -> Shared:
        return {"steps": float32(1.0)}

    def advance(self, shared: Shared) -> Shared:
        return {"steps": shared["steps"] + float32(1.0)}

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        # Not that of `SizedRule`: u * u, which Keras takes here, is not size / v in the last bits.
        slots = self._update_slots(slots, g * g)
        u = g / namespace(w).sqrt(self._limit_below(slots[-1]))
        return self._descend(w, u, u * u, lr), slots

    def step_sized(
        self, w: Array, slots: Slots, g: Array, size: Array, lr: Array
    ) -> tuple[Array, Slots]:
        slots = self._update_slots(slots, size)
        v = self._limit_below(slots[-1])
        return self._descend(w, g / namespace(w).sqrt(v), size / v, lr), slots

    def _limit_below(self, v: Array) -> Array:
        if self.epsilon_place == "square":
            return v
        limited: Array = namespace(v).maximum(v, self.epsilon1 * self.epsilon1)
        return limited

    def _update_slots(self, slots: Slots, size: Array) -> Slots:
        """Return the new slots, v the last; `size` is what the squares of the gradient add up to."""
        if self.epsilon_place == "square":
            size = size + self.epsilon1
        r = self._decay_mean(slots[0], _mean(size, -1))
        c = self._decay_mean(slots[1], _mean(size, -2))
        total = _mean(r, -1, keepdims=True)
        if self.epsilon_place == "floor":
            total = namespace(total).maximum(total, self.epsilon1)
        v = (r / total)[..., None] * c[..., None, :]
        return r, c, v

    def _decay_mean(self, mean: Array, new: Array) -> Array:
        one = mean.dtype.type(1)
        beta2 = one - namespace(mean).power(self.steps, self.beta2_decay)
        result: Array = beta2 * mean + (one - beta2) * new
        return result

    def _descend(self, w: Array, u: Array, square: Array, lr: Array) -> Array:
        """Return the weights after a step along u. `square` is the square of its entries."""
        xp = namespace(w)
        one = w.dtype.type(1)
        rate = xp.maximum(self.epsilon2, xp.sqrt(_mean(w * w)))
        rate = rate * (xp.minimum(lr, one / xp.sqrt(self.steps)) if self.limits_rate else lr)
        rms_u = xp.sqrt(_mean(square))
        moved: Array = w - rate * (u / xp.maximum(one, rms_u / self.clip_threshold))
        return moved


@dataclass(frozen=True)
class AdafactorOfVectors(Adafactor):
    """`Adafactor` of weights with one axis or none, whose mean square isn't factored."""

    slots: ClassVar[dict[str, float | str]] = {"v": 0.0}

    def _update_slots(self, slots: Slots, size: Array) -> Slots:
        if self.epsilon_place == "square":
            size = size + self.epsilon1
        return (self._decay_mean(slots[0], size),)


def _mean(x: Array, axis: int | None = None, keepdims: bool = False) -> Array:
    """Return the mean; numbers of 16 bits are added as float32."""
    wide: Any = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    mean: Array = wide.mean(axis=axis, keepdims=keepdims).astype(x.dtype)
    return mean

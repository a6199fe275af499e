"""Adagrad that serves a weight only once it has saved more than it costs to describe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from .._base.arrays import Array, namespace
from .._base.options import check_choice
from .rule import Rule, Slots, limit_or_infinity


@dataclass(frozen=True)
class MdlAdagradLight(Rule):
    """Adagrad on hidden weights; the model sees those that lower the loss by enough.

        u, b = weights, benefits
        e = -g * u                              event_benefit="linear"
            -g * u + (g * u)**2 / 2             "quadratic"
        e = min(max(e, -max_event_benefit), max_event_benefit) * (1 - mdl_benefit_rampup_coeff)
        b = min(b + e, max_total_benefit)
        accumulators = accumulators + g * g
        u = u - lr * (g + l2 * u) * accumulators ** lr_power
        where b < -mdl_hard_limit:              if mdl_hard_limit > 0
            u = 0;  b = b * benefit_revisit_scale,  or -mdl_hard_limit if hard_limit_min_benefit
        share = min(max((b - min_servable_mdl_benefit) / mdl_mix_in_margin, 0), 1)
        w = u * share where |u| >= mdl_min_weight, else 0
        weights, benefits = u, b

    Without `mdl_regularize` w = u, and the rule is Adagrad with a power and L2. Limits of 0 are
    off; a margin of 0 makes share 1 from `min_servable_mdl_benefit` on.

    The names of slots and fields are public, and so is the paper: keep a running estimate of the
    loss each feature saves, and use features whose estimate pays for their description. Everything
    else above is our reading of the names, not Google's code: the estimate (for a convex loss,
    "linear" is the least that u saves over 0; "quadratic" adds the curvature g * g), the place of
    every field, and all defaults.

    Shapes: w, g and the slots (...). Slots: accumulators, from `initial_accumulator_value`;
    weights, which start as w; benefits, from 0. Raises ValueError for an `event_benefit` that is
    neither.

    Source: Shamir, "Minimum Description Length (MDL) Regularization for Online Learning" (2015);
    `MdlAdagradLightParameters` in TensorFlow's `optimization_parameters.proto` (2026).

    >>> import numpy as np
    >>> rule = MdlAdagradLight(
    ...     mdl_regularize=True, mdl_mix_in_margin=4.0, initial_accumulator_value=3.0
    ... )
    >>> w = np.array([2.0, -2.0])
    >>> w, slots = rule(w, rule.init(w), np.array([-1.0, -1.0]), 2.0)
    >>> w.tolist(), [s.tolist() for s in slots]
    ([1.5, -0.0], [[4.0, 4.0], [3.0, -1.0], [2.0, -2.0]])
    """

    l2: float = 0.0
    lr_power: float = -0.5
    min_servable_mdl_benefit: float = 0.0
    mdl_mix_in_margin: float = 0.0
    mdl_benefit_rampup_coeff: float = 0.0
    mdl_min_weight: float = 0.0
    benefit_revisit_scale: float = 1.0
    max_event_benefit: float = 0.0
    max_total_benefit: float = 0.0
    mdl_hard_limit: float = 0.0
    hard_limit_min_benefit: bool = False
    mdl_regularize: bool = False
    event_benefit: Literal["linear", "quadratic"] = "linear"
    initial_accumulator_value: float = 0.1
    slots: ClassVar[dict[str, float | str]] = {
        "accumulators": "initial_accumulator_value",
        "weights": 0.0,
        "benefits": 0.0,
    }
    table_message: ClassVar[str] = "mdl_adagrad_light"

    def __post_init__(self) -> None:
        check_choice("event_benefit", self.event_benefit, ("linear", "quadratic"))

    def init(self, w: Array) -> Slots:
        accumulators, _, benefits = super().init(w)
        return accumulators, namespace(w).array(w), benefits

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        accumulators, u, benefits = slots
        xp = namespace(w)
        benefits = xp.minimum(
            benefits + self._event_benefit(u, g), limit_or_infinity(self.max_total_benefit)
        )
        accumulators = accumulators + g * g
        u = u - lr * (g + self.l2 * u) * xp.power(accumulators, self.lr_power)
        u, benefits = self._reset_hopeless(u, benefits)
        return self._serve(u, benefits), (accumulators, u, benefits)

    def _event_benefit(self, u: Array, g: Array) -> Array:
        """Return the code length that weight u saved, compared with weight 0, by this gradient."""
        gain = g * u
        benefit = -gain
        if self.event_benefit == "quadratic":
            benefit = gain * gain / g.dtype.type(2) - gain
        limit = limit_or_infinity(self.max_event_benefit)
        share = g.dtype.type(1) - self.mdl_benefit_rampup_coeff
        counted: Array = namespace(g).clip(benefit, -limit, limit) * share
        return counted

    def _reset_hopeless(self, u: Array, benefits: Array) -> tuple[Array, Array]:
        """Set weights that cost more than the hard limit back to 0."""
        xp = namespace(u)
        floor = -limit_or_infinity(self.mdl_hard_limit)
        again = floor if self.hard_limit_min_benefit else benefits * self.benefit_revisit_scale
        hopeless = benefits < floor
        return xp.where(hopeless, u.dtype.type(0), u), xp.where(hopeless, again, benefits)

    def _serve(self, u: Array, benefits: Array) -> Array:
        """Return the weights that the model sees."""
        if not self.mdl_regularize:
            return u
        xp = namespace(u)
        zero = u.dtype.type(0)
        one = u.dtype.type(1)
        margin = self.mdl_mix_in_margin
        paid = benefits - self.min_servable_mdl_benefit
        divisor = xp.where(margin > zero, margin, one)
        ramp = xp.clip(paid / divisor, zero, one)
        threshold = xp.where(paid >= zero, one, zero)
        share = xp.where(margin > zero, ramp, threshold)
        return xp.where(xp.abs(u) >= self.mdl_min_weight, u * share, zero)

"""Rates that fall along half a cosine, once or again and again."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from .._base.arrays import Array
from .._base.types import Namespace, Number
from ..errors import KerasWarning, warn
from ._schedule import Decay, check_rate, precise


@dataclass(frozen=True, eq=False)
class CosineDecay(Decay):
    """Decay the rate along half a cosine, after a linear warmup if asked for.

        rate = top * ((1 - alpha) * (1 + cos(pi * s / decay_steps)) / 2 + alpha)
        top = initial_learning_rate, s = min(step, decay_steps)           without warmup_target
        top = warmup_target, s = min(step - warmup_steps, decay_steps)    with it

    and with warmup_target, before step warmup_steps,

        rate = (warmup_target - initial_learning_rate) * step / warmup_steps + initial_learning_rate

    Args:
        initial_learning_rate: number or scalar array; its dtype is the result's, a Python number is
            float32.
        decay_steps: > 0 (ValueError); or 0 with a warmup, for steps of the warmup only: the rate
            after it is NaN, as in tf_keras, which a `gl.errors.KerasWarning` says. TensorFlow 2.21
            and Keras 3 refuse it.
        alpha: share of the top that is left at the end.
        name: kept in the config, nothing else.
        warmup_target, warmup_steps: not in TensorFlow 2.3, where `tf.keras.experimental` has this
            class.

    Dtypes, shapes and differences as of `ExponentialDecay`. Source: Loshchilov & Hutter, "SGDR:
    Stochastic Gradient Descent with Warm Restarts" (2016);
    `tf.keras.optimizers.schedules.CosineDecay`, TensorFlow 2.21 (2026).

    >>> schedule = CosineDecay(1.0, decay_steps=4, alpha=0.5)
    >>> print(schedule(0), schedule(2), schedule(4), schedule(5))
    1.0 0.75 0.5 0.5
    """

    initial_learning_rate: Number
    decay_steps: Any
    alpha: Any = 0.0
    name: str | None = None
    warmup_target: Any = None
    warmup_steps: Any = 0

    def __post_init__(self) -> None:
        is_warmup_only = (
            self.warmup_target is not None
            and isinstance(self.decay_steps, int | float)
            and self.decay_steps == 0
            and self.warmup_steps > 0
        )
        if not is_warmup_only:
            super().__post_init__()
            return
        # tf_keras allows it; all checks but that of decay_steps apply.
        check_rate(self.initial_learning_rate)
        warn(
            f"decay_steps is 0: from step {self.warmup_steps} on, "
            "after the warmup, the rate is NaN",
            KerasWarning,
        )

    def formula(
        self, xp: Namespace, rate: Array, step: Array, cast: Callable[[Any], Array]
    ) -> Array:
        steps = cast(self.decay_steps)
        if self.warmup_target is None:
            return self._decay(xp, rate, xp.minimum(step, steps) / steps)
        target = cast(self.warmup_target)
        warmup = cast(self.warmup_steps)
        step = xp.minimum(step, steps + warmup)
        warming: Array = (target - rate) * (step / warmup) + rate
        return xp.where(step < warmup, warming, self._decay(xp, target, (step - warmup) / steps))

    def _decay(self, xp: Namespace, top: Array, fraction: Array) -> Array:
        """Return the rate after this fraction of the decay from `top`."""
        dtype = top.dtype
        half = xp.asarray(0.5, dtype)
        cosine = half * (
            xp.asarray(1, dtype) + precise(xp.cos, xp.asarray(math.pi, dtype) * fraction)
        )
        # Not by `cast`, which rounds to float32 first: TensorFlow never makes a tensor of alpha.
        share = xp.asarray(1 - self.alpha, dtype) * cosine + xp.asarray(self.alpha, dtype)
        decayed: Array = top * share
        return decayed


@dataclass(frozen=True, eq=False)
class CosineDecayRestarts(Decay):
    """Decay the rate along half a cosine, then restart m_mul times as high and t_mul times as slow.

        rate = initial_learning_rate * ((1 - alpha) * m_mul ** i * (1 + cos(pi * f)) / 2 + alpha)
        i = number of restarts so far, f = fraction of this period that is over:
        with x = step / first_decay_steps
            t_mul = 1:  i = floor(x),  f = x - i
            else:       i = floor(log(1 - x * (1 - t_mul)) / log(t_mul)),
                        f = (x - (1 - t_mul**i) / (1 - t_mul)) / t_mul**i

    Args:
        initial_learning_rate: number or scalar array; its dtype is the result's, a Python number is
            float32.
        first_decay_steps: > 0 (ValueError).
        t_mul, m_mul, alpha: numbers.
        name: kept in the config, nothing else.

    The quotient of logarithms is rounded, so a restart may come a step late: at TensorFlow's step
    under NumPy, perhaps at another with XLA's logarithm. Dtypes, shapes and differences as
    of `ExponentialDecay`.

    Source: Loshchilov & Hutter (2016); `tf.keras.optimizers.schedules.CosineDecayRestarts`,
    TensorFlow 2.21 (2026).

    >>> schedule = CosineDecayRestarts(1.0, first_decay_steps=2, m_mul=0.5)
    >>> print(*(schedule(step) for step in range(6)))
    1.0 0.49999997 0.5 0.4267767 0.24999999 0.07322331
    """

    initial_learning_rate: Number
    first_decay_steps: Any
    t_mul: Any = 2.0
    m_mul: Any = 1.0
    alpha: Any = 0.0
    name: str | None = None
    _period: ClassVar[str] = "first_decay_steps"

    def formula(
        self, xp: Namespace, rate: Array, step: Array, cast: Callable[[Any], Array]
    ) -> Array:
        one = cast(1)
        t_mul = cast(self.t_mul)
        m_mul = cast(self.m_mul)
        alpha = cast(self.alpha)
        x = step / cast(self.first_decay_steps)
        # Periods grow geometrically: the first i of them last (1 - t_mul**i) / (1 - t_mul).
        log_restarts = xp.floor(precise(xp.log, one - x * (one - t_mul)) / precise(xp.log, t_mul))
        restarts = xp.where(t_mul == one, xp.floor(x), log_restarts)
        length = precise(operator.pow, t_mul, restarts)
        start = xp.where(t_mul == one, restarts, (one - length) / (one - t_mul))
        fraction = (x - start) / length
        height = cast(0.5) * precise(operator.pow, m_mul, restarts)
        cosine = height * (one + precise(xp.cos, xp.asarray(math.pi, rate.dtype) * fraction))
        return rate * ((one - alpha) * cosine + alpha)


@dataclass(frozen=True, eq=False)
class PeriodicCosineDecay(Decay):
    """Move the rate along several periods of a cosine; with zero_after it is 0 after that many.

        rate = initial_learning_rate * (1 + cos(2 * pi * p)) / 2        down and up again
               initial_learning_rate * (1 + cos(pi * (p mod 1))) / 2    restarts: down, then the top
        p = num_periods * min(step, decay_steps) / decay_steps

    The rate is 0 where p >= zero_after.

    Args:
        initial_learning_rate: number or scalar array; its dtype is the result's, a Python number is
            float32. 1 makes the `sign_decay` of AddSign and PowerSign.
        decay_steps: > 0 (ValueError).
        num_periods: a number; TensorFlow's default is 1 with restarts.
        restarts: whether a period goes down only.
        zero_after: the number of periods after which the rate is 0, or None.
        name: kept in the config.

    Dtypes, shapes and differences as of `ExponentialDecay`. Source: Bello, Zoph, Vasudevan & Le,
    "Neural Optimizer Search with Reinforcement Learning" (2017); `get_cosine_decay_fn` and
    `get_restart_decay_fn` of `tf.contrib.opt.python.training.sign_decay`, TensorFlow 1.15 (2019).

    >>> wave = PeriodicCosineDecay(1.0, decay_steps=8, num_periods=2, zero_after=1.5)
    >>> print(*(f"{wave(step):.2f}" for step in range(8)))
    1.00 0.50 0.00 0.50 1.00 0.50 0.00 0.00
    >>> saw = PeriodicCosineDecay(1.0, decay_steps=8, num_periods=2, restarts=True)
    >>> print(*(f"{saw(step):.2f}" for step in range(8)))
    1.00 0.85 0.50 0.15 1.00 0.85 0.50 0.15
    """

    initial_learning_rate: Number
    decay_steps: Any
    num_periods: Any = 0.5
    restarts: bool = False
    zero_after: Any = None
    name: str | None = None

    def formula(
        self, xp: Namespace, rate: Array, step: Array, cast: Callable[[Any], Array]
    ) -> Array:
        steps = cast(self.decay_steps)
        progress = cast(self.num_periods) * xp.minimum(step, steps)
        turn = xp.remainder(progress, steps) if self.restarts else cast(2) * progress
        cosine = cast(0.5) * (
            cast(1) + precise(xp.cos, xp.asarray(math.pi, rate.dtype) * (turn / steps))
        )
        if self.zero_after is not None:
            cosine = xp.where(progress / steps >= cast(self.zero_after), cast(0), cosine)
        return rate * cosine


@dataclass(frozen=True, eq=False)
class LinearCosineDecay(Decay):
    """Decay the rate along a line times a cosine, to `beta` times its initial value.

        rate = initial_learning_rate * ((alpha + 1 - x) * cosine + beta)
        cosine = (1 + cos(2 * pi * num_periods * x)) / 2
        x = min(step, decay_steps) / decay_steps

    Args:
        initial_learning_rate: number or scalar array; its dtype is the result's, a Python number is
            float32.
        decay_steps: > 0 (ValueError).
        num_periods, alpha, beta: numbers.
        name: kept in the config, nothing else.

    Dtypes, shapes and differences as of `ExponentialDecay`. Source: Bello, Zoph, Vasudevan & Le,
    "Neural Optimizer Search with Reinforcement Learning" (2017);
    `tf.compat.v1.train.linear_cosine_decay`, TensorFlow 1.15 (2019).

    >>> schedule = LinearCosineDecay(1.0, decay_steps=4, beta=0.25)
    >>> print(schedule(0), schedule(2), schedule(4), schedule(5))
    1.25 0.5 0.25 0.25
    """

    initial_learning_rate: Number
    decay_steps: Any
    num_periods: Any = 0.5
    alpha: Any = 0.0
    beta: Any = 0.001
    name: str | None = None

    def formula(
        self, xp: Namespace, rate: Array, step: Array, cast: Callable[[Any], Array]
    ) -> Array:
        steps = cast(self.decay_steps)
        step = xp.minimum(step, steps)
        line = (steps - step) / steps
        return rate * bend_line(
            xp, line, step / steps, self.num_periods, self.alpha, self.beta, cast
        )


def bend_line(
    xp: Namespace,
    line: Array,
    x: Array,
    num_periods: Any,
    alpha: Any,
    beta: Any,
    cast: Callable[[Any], Array],
) -> Array:
    """Return (alpha + line) * (1 + cos(2 * pi * num_periods * x)) / 2 + beta."""
    angle = xp.asarray(math.pi, x.dtype) * (cast(2) * cast(num_periods) * x)
    wave = cast(0.5) * (cast(1) + precise(xp.cos, angle))
    share: Array = (cast(alpha) + line) * wave + cast(beta)
    return share

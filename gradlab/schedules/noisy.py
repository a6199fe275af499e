"""A decay with noise, which is a function of the step like every schedule."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._base.arrays import Array
from .._base.types import Namespace, Number
from ._schedule import Decay, precise
from .cosine import bent


@dataclass(frozen=True, eq=False)
class NoisyLinearCosineDecay(Decay):
    """Lead the rate down a line with noise that a cosine bends: `LinearCosineDecay` that jumps less and less.

        rate = initial_learning_rate * ((alpha + 1 - x + noise) * (1 + cos(2 * pi * num_periods * x)) / 2 + beta)
        x = s / decay_steps,  s = min(step, decay_steps)
        noise is normal with mean 0 and variance initial_variance / (1 + s) ** variance_decay

    A rate may come out negative where the noise is larger than the line.

    Args:
        initial_learning_rate: number or scalar array; its dtype is the result's, a Python number is
            float32.
        decay_steps: > 0 (ValueError).
        initial_variance, variance_decay, num_periods, alpha, beta: numbers.
        seed: integer from 0 on; another one is other noise. None is 0.
        name: kept in the config, nothing else.

    Raises ValueError or TypeError for any other seed.

    Differs from TensorFlow, which draws again at every call: noise is a function of seed and step,
    the same for NumPy and JAX, eager and traced, and after a run has been loaded. Steps that the
    dtype of the rate cannot tell apart have the same. Dtypes, shapes and other differences as of
    `ExponentialDecay`. Source: Bello, Zoph, Vasudevan & Le, "Neural Optimizer Search with
    Reinforcement Learning" (2017); `tf.compat.v1.train.noisy_linear_cosine_decay`, TensorFlow 1.15
    (2019).

    >>> schedule = NoisyLinearCosineDecay(1.0, decay_steps=4, initial_variance=0.01)
    >>> [f"{schedule(step):.3f}" for step in (0, 2, 2, 4)]
    ['0.938', '0.265', '0.265', '0.001']
    """

    initial_learning_rate: Number
    decay_steps: Any
    initial_variance: Any = 1.0
    variance_decay: Any = 0.55
    num_periods: Any = 0.5
    alpha: Any = 0.0
    beta: Any = 0.001
    seed: int | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.seed is not None:
            np.random.SeedSequence(self.seed)  # refuses what is no seed

    def formula(
        self, xp: Namespace, rate: Array, step: Array, cast: Callable[[Any], Array]
    ) -> Array:
        steps, now = cast(self.decay_steps), step
        step = xp.minimum(step, steps)
        variance = cast(self.initial_variance) / precise(
            xp.power, cast(1) + step, cast(self.variance_decay)
        )
        noise = _normal(xp, now, self.seed or 0).astype(rate.dtype) * xp.sqrt(variance)
        line = (steps - step) / steps + noise
        return rate * bent(xp, line, step / steps, self.num_periods, self.alpha, self.beta, cast)


def _normal(xp: Namespace, step: Array, seed: int) -> Array:
    """A standard normal number for each step, float32: two numbers from a hash of seed and step, by
    Box and Muller.
    """
    words = np.random.SeedSequence(seed).generate_state(2)
    radius, angle = (_uniform(xp, _mixed(_mixed(step.astype(np.uint32)) ^ word)) for word in words)
    turn = precise(xp.cos, xp.asarray(2 * math.pi, np.float32) * angle)
    return xp.sqrt(xp.asarray(-2, np.float32) * precise(xp.log, radius)) * turn


def _uniform(xp: Namespace, word: Array) -> Array:
    """A float32 above 0 and up to 1 from the first 24 bits of a word."""
    half = xp.asarray(0.5, np.float32)
    return ((word >> np.uint32(8)).astype(np.float32) + half) * xp.asarray(2.0**-24, np.float32)


def _mixed(word: Array) -> Array:
    """Each bit of a word of 32 bits turned by each other: the last step of MurmurHash3."""
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        word = (word ^ (word >> np.uint32(shift))) * np.uint32(factor)
    return word ^ (word >> np.uint32(16))

"""A decay with noise; a function of the step, as every schedule is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._base.arrays import Array
from .._base.types import Namespace, Number
from ._schedule import Decay, precise
from .cosine import bend_line


@dataclass(frozen=True, eq=False)
class NoisyLinearCosineDecay(Decay):
    """`LinearCosineDecay` with noise on the line that shrinks from step to step.

        rate = initial_learning_rate * ((alpha + 1 - x + noise) * cosine + beta)
        cosine = (1 + cos(2 * pi * num_periods * x)) / 2
        x = s / decay_steps,  s = min(step, decay_steps)
        noise is normal with mean 0 and variance initial_variance / (1 + s) ** variance_decay

    A rate may come out negative where the noise is larger than the line.

    Args:
        initial_learning_rate: number or scalar array; its dtype is the result's, a Python number is
            float32.
        decay_steps: > 0 (ValueError).
        initial_variance, variance_decay, num_periods, alpha, beta: numbers.
        seed: nonnegative integer that determines the noise; None is 0.
        name: kept in the config, nothing else.

    Raises ValueError or TypeError for any other seed.

    Differs from TensorFlow, which draws again at every call: noise is a function of seed and step,
    the same for NumPy and JAX, eager and traced, and after a run has been loaded. Steps that
    round to the same number in the dtype of the rate have the same noise. Dtypes, shapes and other
    differences as of `ExponentialDecay`. Source: Bello, Zoph, Vasudevan & Le, "Neural Optimizer
    Search with Reinforcement Learning" (2017); `tf.compat.v1.train.noisy_linear_cosine_decay`,
    TensorFlow 1.15 (2019).

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
            np.random.SeedSequence(self.seed)  # raises for anything that isn't a seed

    def formula(
        self, xp: Namespace, rate: Array, step: Array, cast: Callable[[Any], Array]
    ) -> Array:
        steps = cast(self.decay_steps)
        # Of the step itself, not of `s`: the rate stays noisy after decay_steps.
        noise = _normal(xp, step, self.seed or 0).astype(rate.dtype)
        step = xp.minimum(step, steps)
        variance = cast(self.initial_variance) / precise(
            xp.power, cast(1) + step, cast(self.variance_decay)
        )
        line = (steps - step) / steps + noise * xp.sqrt(variance)
        return rate * bend_line(
            xp, line, step / steps, self.num_periods, self.alpha, self.beta, cast
        )


def _normal(xp: Namespace, step: Array, seed: int) -> Array:
    """Return a standard normal float32 for each step.

    The Box-Muller transform of two uniform numbers that are hashes of seed and step, so that the
    noise needs no state.
    """
    first_key, second_key = np.random.SeedSequence(seed).generate_state(2)
    hashed_step = _mix_bits(step.astype(np.uint32))
    first = _uniform(xp, _mix_bits(hashed_step ^ first_key))
    second = _uniform(xp, _mix_bits(hashed_step ^ second_key))
    radius = xp.sqrt(xp.asarray(-2, np.float32) * precise(xp.log, first))
    return radius * precise(xp.cos, xp.asarray(2 * math.pi, np.float32) * second)


def _uniform(xp: Namespace, word: Array) -> Array:
    """Return a float32 in (0, 1] from the first 24 bits of a word."""
    half = xp.asarray(0.5, np.float32)
    return ((word >> np.uint32(8)).astype(np.float32) + half) * xp.asarray(2.0**-24, np.float32)


def _mix_bits(word: Array) -> Array:
    """Hash a word of 32 bits, each bit of which changes every bit: the last step of MurmurHash3."""
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        word = (word ^ (word >> np.uint32(shift))) * np.uint32(factor)
    return word ^ (word >> np.uint32(16))

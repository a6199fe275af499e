"""TensorFlow 1's `contrib.opt` and `learning_rate_decay`, over gradlab's rules and schedules."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import gradlab as gl
from tests.originals.stand_ins import graph
from tests.originals.stand_ins.graph import Tensor, raw
from tests.originals.stand_ins.tf_train import Bridge


class _Signed(Bridge, gl.train.RuleOptimizer):
    """An optimizer that scales its step by how gradient and mean agree, less and less as the global
    step grows.
    """

    def __init__(self, rule: Any, learning_rate: Any, sign_decay_fn: Any, name: str) -> None:
        self._step: Any = None
        decay = {"sign_decay": lambda: raw(sign_decay_fn(raw(self._step)))} if sign_decay_fn else {}
        super().__init__(rule, learning_rate, False, name, **decay)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: Any = None
    ) -> Any:
        self._step = global_step
        return super().apply_gradients(grads_and_vars, global_step, name)


class AddSignOptimizer(_Signed):
    def __init__(
        self, learning_rate: Any = 0.1, alpha: Any = 1.0, beta: Any = 0.9, sign_decay_fn: Any = None
    ) -> None:
        super().__init__(
            gl.rules.AddSign(alpha=alpha, beta=beta), learning_rate, sign_decay_fn, "AddSign"
        )


class PowerSignOptimizer(_Signed):
    def __init__(
        self, learning_rate: Any = 0.1, base: Any = np.e, beta: Any = 0.9, sign_decay_fn: Any = None
    ) -> None:
        rule = gl.rules.PowerSign(logbase=float(np.log(base)), beta=beta)
        super().__init__(rule, learning_rate, sign_decay_fn, "PowerSign")


class AdaMaxOptimizer(Bridge, gl.train.RuleOptimizer):
    def __init__(
        self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8
    ) -> None:
        super().__init__(
            gl.rules.AdaMax(beta1=beta1, beta2=beta2, epsilon=epsilon),
            learning_rate,
            False,
            "AdaMax",
        )

    def _get_beta_accumulators(self) -> Any:
        return next(v for v in self.variables() if v.name.startswith("beta1_power"))


def linear_decay(decay_steps: int) -> Callable[[Any], Any]:
    return lambda step: graph.call(gl.schedules.PolynomialDecay(1.0, decay_steps, 0.0), step)


def cosine_decay(restarts: bool) -> Callable[..., Any]:
    """`get_cosine_decay_fn`, or `get_restart_decay_fn`."""

    def made(
        decay_steps: int, num_periods: float = 1 if restarts else 0.5, zero_after: Any = None
    ) -> Any:
        schedule = gl.schedules.PeriodicCosineDecay(
            1.0, decay_steps, num_periods, restarts, zero_after
        )
        return lambda step: graph.call(schedule, step)

    return made


def decay(schedule: Callable[..., Any]) -> Callable[..., Any]:
    """A decay of TensorFlow 1: the number at a step, in a Graph anew at each run, eagerly as a
    function.
    """

    def function(first: Any, step: Any, *arguments: Any, name: Any = None, **keywords: Any) -> Any:
        def compute() -> Any:
            made = schedule(
                raw(first), *map(raw, arguments), **{k: raw(x) for k, x in keywords.items()}
            )
            return made(raw(graph.as_tensor(step)))

        if graph.executing_eagerly():
            return _Asked(compute)
        return Tensor(compute, "decayed")

    return function


class _Asked:
    """What a decay is while eager: a function that asks the step anew, which the tests evaluate
    like a tensor.
    """

    def __init__(self, compute: Callable[[], Any]) -> None:
        self._compute = compute

    def __call__(self) -> Any:
        return Tensor.of(self._compute())

    def numpy(self) -> Any:
        return np.asarray(self._compute())

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self._compute(), dtype)


def piecewise_constant(x: Any, boundaries: Any, values: Any, name: Any = None) -> Any:
    """The step comes first here."""
    return decay(gl.schedules.PiecewiseConstantDecay)(boundaries, x, values)


def natural_exp_decay(
    first: Any, step: Any, decay_steps: Any, decay_rate: Any, *arguments: Any, **keywords: Any
) -> Any:
    """An exponential decay whose rate is a power of e."""
    rate = math.exp(-decay_rate)
    return CONTRIB["exponential_decay"](first, step, decay_steps, rate, *arguments, **keywords)


CONTRIB: dict[str, Any] = {
    "AdaMaxOptimizer": AdaMaxOptimizer,
    "AddSignOptimizer": AddSignOptimizer,
    "PowerSignOptimizer": PowerSignOptimizer,
    "cosine_decay": decay(gl.schedules.CosineDecay),
    "cosine_decay_restarts": decay(gl.schedules.CosineDecayRestarts),
    "exponential_decay": decay(gl.schedules.ExponentialDecay),
    "get_cosine_decay_fn": cosine_decay(restarts=False),
    "get_restart_decay_fn": cosine_decay(restarts=True),
    "get_linear_decay_fn": linear_decay,
    "inverse_time_decay": decay(gl.schedules.InverseTimeDecay),
    "linear_cosine_decay": decay(gl.schedules.LinearCosineDecay),
    "noisy_linear_cosine_decay": decay(gl.schedules.NoisyLinearCosineDecay),
    "natural_exp_decay": natural_exp_decay,
    "piecewise_constant": piecewise_constant,
    "polynomial_decay": decay(gl.schedules.PolynomialDecay),
}

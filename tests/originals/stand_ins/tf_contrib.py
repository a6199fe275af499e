"""TensorFlow 1's `contrib.opt` and `learning_rate_decay`, over gradlab's rules and `gl.train`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradlab as gl
from tests.originals.stand_ins import graph
from tests.originals.stand_ins.graph import Tensor, raw, running
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


def periodic_decay(restarts: bool) -> Callable[..., Any]:
    """`get_cosine_decay_fn`, or `get_restart_decay_fn`."""

    def made(
        decay_steps: int, num_periods: float = 1 if restarts else 0.5, zero_after: Any = None
    ) -> Any:
        schedule = gl.schedules.PeriodicCosineDecay(
            1.0, decay_steps, num_periods, restarts, zero_after
        )
        return lambda step: graph.call(schedule, step)

    return made


def decay(name: str) -> Callable[..., Any]:
    """A decay of `gl.train`: in a Graph a node, eagerly what its tests evaluate like a tensor."""

    def function(*arguments: Any, **keywords: Any) -> Any:
        def compute() -> Any:
            given = {k: raw(x) for k, x in keywords.items()}
            return getattr(gl.train, name)(*map(raw, arguments), **given)()

        if graph.executing_eagerly():
            return _Asked(compute)
        with running(building=True):
            compute()  # where TensorFlow refuses arguments
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


DECAYS = (
    "cosine_decay",
    "cosine_decay_restarts",
    "exponential_decay",
    "inverse_time_decay",
    "linear_cosine_decay",
    "natural_exp_decay",
    "noisy_linear_cosine_decay",
    "piecewise_constant",
    "polynomial_decay",
)
CONTRIB: dict[str, Any] = {
    "AdaMaxOptimizer": AdaMaxOptimizer,
    "AddSignOptimizer": AddSignOptimizer,
    "PowerSignOptimizer": PowerSignOptimizer,
    "get_cosine_decay_fn": periodic_decay(restarts=False),
    "get_restart_decay_fn": periodic_decay(restarts=True),
    "get_linear_decay_fn": linear_decay,
    **{name: decay(name) for name in DECAYS},
}

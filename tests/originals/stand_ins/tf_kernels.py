"""TensorFlow's training ops by name: gradlab's rules on variables that are weights and slots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import gradlab as gl
from tests.originals.stand_ins.graph import Tensor, raw


def stepped(rule: Any, variables: Sequence[Any], grad: Any, lr: Any, indices: Any = None) -> Any:
    """One step of a rule; the value is that of the weights."""

    def run() -> Any:
        w, *slots = map(raw, variables)
        if indices is None:
            new = gl.rules.dense(rule, w, tuple(slots), raw(grad), raw(lr))
        else:
            new = gl.rules.sparse(
                rule, w, tuple(slots), gl.IndexedSlices(raw(grad), raw(indices)), raw(lr)
            )
        for variable, value in zip(variables, (new[0], *new[1]), strict=True):
            gl.Variable.assign(variable, value)
        return np.array(new[0])

    return Tensor(run, shape=variables[0].shape)


def _ftrl(lr: Any, l1: Any, l2: Any, lr_power: Any, multiply_linear_by_lr: bool, order: Any) -> Any:
    numbers = {"l1": float(raw(l1)), "l2": float(raw(l2)), "lr_power": float(raw(lr_power))}
    return gl.rules.Ftrl(**numbers, multiply_linear_by_lr=multiply_linear_by_lr, order=order)


def apply_ftrl(
    var: Any,
    accum: Any,
    linear: Any,
    grad: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    lr_power: Any,
    multiply_linear_by_lr: bool = False,
) -> Any:
    rule = _ftrl(lr, l1, l2, lr_power, multiply_linear_by_lr, "dense")
    return stepped(rule, (var, accum, linear), grad, lr)


def sparse_apply_ftrl(
    var: Any,
    accum: Any,
    linear: Any,
    grad: Any,
    indices: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    lr_power: Any,
    multiply_linear_by_lr: bool = False,
) -> Any:
    rule = _ftrl(lr, l1, l2, lr_power, multiply_linear_by_lr, "sparse")
    return stepped(rule, (var, accum, linear), grad, lr, indices)


def apply_adam(
    var: Any,
    m: Any,
    v: Any,
    power1: Any,
    power2: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    grad: Any,
) -> Any:
    rule = gl.rules.Adam(
        beta1=float(raw(beta1)), beta2=float(raw(beta2)), epsilon=float(raw(epsilon))
    )
    return stepped(
        rule.at({"beta1_power": raw(power1), "beta2_power": raw(power2)}), (var, m, v), grad, lr
    )


_ADAGRAD = gl.rules.Adagrad(epsilon=0.0, epsilon_place="none")
KERNELS: dict[str, Callable[..., Any]] = {
    "apply_adagrad": lambda var, accum, lr, grad: stepped(_ADAGRAD, (var, accum), grad, lr),
    "apply_adam": apply_adam,
    "apply_ftrl": apply_ftrl,
    "apply_gradient_descent": lambda var, lr, grad: stepped(
        gl.rules.StochasticGradientDescent(), (var,), grad, lr
    ),
    "sparse_apply_adagrad": lambda var, accum, lr, grad, i: stepped(
        _ADAGRAD, (var, accum), grad, lr, i
    ),
    "sparse_apply_ftrl": sparse_apply_ftrl,
}

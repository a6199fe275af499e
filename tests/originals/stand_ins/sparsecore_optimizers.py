"""jax-tpu-embedding's specs of optimizers: each a rule of gradlab's and a learning rate."""

from __future__ import annotations

import dataclasses
import inspect
from collections import namedtuple
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp

import gradlab as gl
from tests.originals.stand_ins.sparsecore_steps import PRIMITIVES


class Kind(NamedTuple):
    """One of their optimizers: its primitive, our rule, their default rate, and by their names our
    fields and slots.
    """

    primitive: str
    rule: type[gl.rules.Rule]
    rate: float = 0.001
    fields: Mapping[str, str] = {}
    slots: Mapping[str, str] = {}
    defaults: Mapping[str, Any] = {}  # theirs, where they differ from the rule's


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


_PENALTIES = _same("l1_regularization_strength", "l2_regularization_strength")
KINDS = {
    "SGD": Kind("sgd", gl.rules.StochasticGradientDescent),
    "Adagrad": Kind(
        "adagrad",
        gl.rules.Adagrad,
        fields=_same("initial_accumulator_value"),
        slots={"accumulator": "accumulator"},
    ),
    "AdagradMomentum": Kind(
        "adagrad_momentum",
        gl.rules.AdagradMomentum,
        fields=_same(
            "momentum",
            "beta2",
            "epsilon",
            "exponent",
            "use_nesterov",
            "initial_accumulator_value",
            "initial_momentum_value",
        ),
        slots={"accumulator": "accumulators", "momentum": "momenta"},
        defaults={"momentum": 0.9, "initial_accumulator_value": 0.1},
    ),
    "Adam": Kind(
        "adam",
        gl.rules.Adam,
        fields={"beta_1": "beta1", "beta_2": "beta2", "epsilon": "epsilon"},
        slots={"momentum": "m", "velocity": "v"},
        defaults={"epsilon": 1e-8},
    ),
    "F2A": Kind(
        "f2a",
        gl.rules.FrequencyAwareAdagrad,
        rate=0.01,
        fields=_PENALTIES
        | _same("initial_accumulator_value", "max_lr_multiplier")
        | {"rho": "probability_exponent", "initial_local_step_value": "initial_counter_value"},
        slots={"accumulator": "accumulators", "local_step": "counters"},
        defaults={"max_lr_multiplier": 1e6},
    ),
    "FTRL": Kind(
        "ftrl",
        gl.rules.Ftrl,
        rate=0.01,
        fields=_same("beta", "initial_accumulator_value", "initial_linear_value")
        | {
            "learning_rate_power": "lr_power",
            "l1_regularization_strength": "l1",
            "l2_regularization_strength": "l2",
            "multiply_linear_by_learning_rate": "multiply_linear_by_lr",
        },
        slots={"accumulator": "accum", "linear": "linear"},
    ),
    "LaProp": Kind(
        "laprop",
        gl.rules.LaProp,
        fields={
            "b1": "beta1",
            "b2": "beta2",
            "eps": "epsilon",
            "initial_slot_value": "initial_slot_value",
        },
        slots={"mu": "mu", "nu": "nu"},
    ),
}


@dataclasses.dataclass(frozen=True)
class Spec:
    """Two are equal where their rules and rates are."""

    rule: Any
    learning_rate: Any

    def get_learning_rate(self, step: int = 0) -> Any:
        """The rate by which gradlab moves a weight at this step."""
        if callable(rate := self.learning_rate) and not inspect.signature(rate).parameters:
            (rate,) = gl.tpu.experimental.embedding.SGD(rate).functions
            return jnp.float32(rate())
        one = jnp.ones((), jnp.float32)
        moves = gl.optax.from_rule(gl.rules.StochasticGradientDescent(), rate)
        state = moves.init(0 * one)._replace(count=jnp.int32(step))
        return moves.update(-one, state, 0 * one)[0]


def _made(title: str, kind: Kind) -> dict[str, Any]:
    """The class of their specs, and that of its slots."""
    slots: Any = namedtuple(f"{title}SlotVariables", kind.slots)  # type: ignore[misc]
    places = [[*kind.rule.slots].index(name) for name in kind.slots.values()]

    class Made(Spec):
        def __init__(self, learning_rate: Any = kind.rate, **options: Any) -> None:
            options = {
                **kind.defaults,
                **{kind.fields[name]: value for name, value in options.items()},
            }
            super().__init__(kind.rule(**options), learning_rate)

        def __getattr__(self, name: str) -> Any:
            if name in kind.fields:
                return getattr(self.rule, kind.fields[name])
            raise AttributeError(name)

        def get_optimizer_primitive(self) -> Any:
            return PRIMITIVES[f"tpu_sparse_dense_matmul_grad_with_{kind.primitive}_primitive"]

        def slot_variables_initializers(self) -> Any:
            return slots(
                *(lambda _, shape, k=k: self.rule.init(jnp.zeros(shape))[k] for k in places)
            )

    return {f"{title}OptimizerSpec": Made, f"{title}SlotVariables": slots}


def to_config(spec: Spec) -> dict[str, Any]:
    """What gradlab writes of a rule, with the class of theirs and the rate."""
    return {"type": type(spec), "rate": spec.learning_rate, "config": spec.rule.get_config()}


def from_config(written: Mapping[str, Any]) -> Spec:
    """The inverse."""
    spec: Spec = written["type"](written["rate"])
    object.__setattr__(spec, "rule", gl.rules.from_config(written["config"]))
    return spec


OPTIMIZERS = {
    name: made for title, kind in KINDS.items() for name, made in _made(title, kind).items()
} | {
    "optimizer_spec_to_proto": to_config,
    "proto_to_optimizer_spec": from_config,
}

"""Training ops, SparseCore updates and TPU optimizers as rules of gradlab: a table, and how to read
it.

One line says which rule computes the same, what the op calls its slots (in the order of the
rule's), which of its arguments are which fields, and which fields it leaves no choice about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import gradlab as gl
from tests.conformance.scenarios import Unsupported

Numbers = Mapping[str, Any]


@dataclass(frozen=True)
class Op:
    """`fixed` holds for every use, `sparse` for slices in addition, `single` for slices of one
    element each.

    `rate` is the op's name for the learning rate.
    """

    rule: str
    slots: tuple[str, ...] = ()
    # Argument of the op -> field of the rule.
    fields: Mapping[str, str] = field(default_factory=dict)
    fixed: Numbers = field(default_factory=dict)
    sparse: Numbers = field(default_factory=dict)
    single: Numbers = field(default_factory=dict)
    rate: str = "lr"

    def make(self, given: Numbers, entries: int | None = None) -> tuple[Any, Any]:
        """The rule with these arguments, and the learning rate; `entries` is the size of a slice,
        None without any.
        """
        known = gl.rules.catalog()
        if self.rule not in known:
            raise Unsupported(f"rule {self.rule!r}")
        unknown = given.keys() - self.fields.keys() - {self.rate, *IGNORED}
        if unknown or self.rate not in given:
            raise Unsupported(f"arguments {sorted(given)} of {self.rule}")
        values = {self.fields[name]: x for name, x in given.items() if name in self.fields}
        for_slices = (
            {} if entries is None else {**self.sparse, **(self.single if entries == 1 else {})}
        )
        return known[self.rule](**{**self.fixed, **for_slices, **values}), given[self.rate]


IGNORED = ("use_locking",)
PROXIMAL = {"l1": "l1_regularization_strength", "l2": "l2_regularization_strength"}
BETAS = {name: name for name in ("beta1", "beta2", "epsilon", "beta1_power", "beta2_power")}
MEAN_SQUARES = {"rho": "rho", "momentum": "momentum", "epsilon": "epsilon"}
FTRL = {name: name for name in ("lr_power", "l1", "l2", "multiply_linear_by_lr")}
SHRUNK = {**FTRL, "l2_shrinkage": "l2_shrinkage"}
STILL = {"update_slots": "update_slots"}
TF1_ADAGRAD = {"epsilon": 0.0, "epsilon_place": "none", "order": "reciprocal"}
LATE = {"order": "sparse"}  # the rounding of TensorFlow's kernels for slices

# tf.raw_ops.Resource[Sparse]Apply...
TRAINING_OPS = {
    "GradientDescent": Op("StochasticGradientDescent", rate="alpha"),
    "ProximalGradientDescent": Op("ProximalGradientDescent", (), PROXIMAL, rate="alpha"),
    "Adagrad": Op("Adagrad", ("accum",), STILL, fixed=TF1_ADAGRAD),
    "AdagradV2": Op("Adagrad", ("accum",), {**STILL, "epsilon": "epsilon"}),
    "AdagradDA": Op(
        "AdagradDA",
        ("gradient_accumulator", "gradient_squared_accumulator"),
        {**PROXIMAL, "global_step": "global_step"},
        sparse=LATE,
    ),
    "ProximalAdagrad": Op("ProximalAdagrad", ("accum",), PROXIMAL),
    "Adadelta": Op("Adadelta", ("accum", "accum_update"), {"rho": "rho", "epsilon": "epsilon"}),
    "Momentum": Op(
        "Momentum",
        ("accum",),
        {"momentum": "momentum", "use_nesterov": "use_nesterov"},
        sparse=LATE,
    ),
    "KerasMomentum": Op(
        "KerasMomentum", ("accum",), {"momentum": "momentum", "use_nesterov": "nesterov"}
    ),
    "Adam": Op("Adam", ("m", "v"), {**BETAS, "use_nesterov": "use_nesterov"}),
    "AdamWithAmsgrad": Op("AMSGrad", ("m", "v", "vhat"), BETAS),
    "AdaMax": Op("AdaMax", ("m", "v"), {k: v for k, v in BETAS.items() if k != "beta2_power"}),
    "AddSign": Op("AddSign", ("m",), {name: name for name in ("alpha", "sign_decay", "beta")}),
    "PowerSign": Op(
        "PowerSign", ("m",), {name: name for name in ("logbase", "sign_decay", "beta")}
    ),
    "RMSProp": Op("RMSProp", ("ms", "mom"), MEAN_SQUARES, sparse=LATE),
    "CenteredRMSProp": Op("CenteredRMSProp", ("ms", "mom", "mg"), MEAN_SQUARES, sparse=LATE),
    "Ftrl": Op("Ftrl", ("accum", "linear"), FTRL, sparse=LATE, single={"order": "scalar"}),
    "FtrlV2": Op("Ftrl", ("accum", "linear"), SHRUNK, sparse=LATE, single={"order": "scalar"}),
}


def _by_place(rule: str, slots: tuple[str, ...], *names: str, **fixed: Any) -> Op:
    """An update whose arguments come as a row of numbers, the learning rate first: `names` are
    those that follow.
    """
    return Op(rule, slots, {str(k): name for k, name in enumerate(names, start=1)}, fixed, rate="0")


# jax_tpu_embedding's updates; all of them compute duplicates away first and clip weights last.
SPARSECORE = {
    "sgd": _by_place("StochasticGradientDescent", ()),
    "adagrad": _by_place("Adagrad", ("accumulator",), epsilon=0.0, epsilon_place="none"),
    "adagrad_momentum": _by_place(
        "AdagradMomentum",
        ("accumulator", "momentum"),
        *("momentum", "beta2", "epsilon", "exponent", "use_nesterov"),
    ),
    "adam": _by_place("Adam", ("momentum", "velocity"), "beta1", "beta2", "epsilon"),
    "ftrl": _by_place(
        "Ftrl",
        ("accumulator", "linear"),
        *("lr_power", "l1", "l2", "beta"),
    ),
    # Its decay comes in corrected for the step already.
    "laprop": _by_place("LaProp", ("mu", "nu"), "beta1", "beta2", "epsilon"),
    "f2a": _by_place(
        "FrequencyAwareAdagrad",
        ("accumulator", "local_step"),
        "probability_exponent",
        *(
            "l1_regularization_strength",
            "l2_regularization_strength",
            "max_lr_multiplier",
            "step_counter",
        ),
    ),
}
STATIC = {
    "multiply_linear_by_learning_rate": "multiply_linear_by_lr",
    "use_nesterov": "use_nesterov",
}

# tf.tpu.experimental.embedding: the names a checkpoint has for the slots.
TPU_OPTIMIZERS = {
    "SGD": Op("StochasticGradientDescent"),
    "Adagrad": Op("Adagrad", ("accumulators",)),
    "AdagradMomentum": Op("AdagradMomentum", ("accumulators", "momenta")),
    "FTRL": Op("Ftrl", ("accumulators", "linears")),
    "Adam": Op("Adam", ("momenta", "velocities")),
}


def training_op(name: str) -> Op:
    """The entry of `ResourceApplyX` or `ResourceSparseApplyX`."""
    plain = name.replace("ResourceSparseApply", "").replace("ResourceApply", "")
    return known(TRAINING_OPS, plain, "op")


def known(table: Mapping[str, Op], name: str, what: str) -> Op:
    if name not in table:
        raise Unsupported(f"{what} {name!r}")
    return table[name]

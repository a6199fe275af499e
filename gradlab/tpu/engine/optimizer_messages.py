"""Rules and the messages that configure them, field by field."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ... import rules
from ...errors import InvalidArgumentError
from ...rules import Rule
from .proto import GradientAccumulationStatus, OptimizationParameters


class Either(NamedTuple):
    """A field of a rule that the message has as a flag: its value with the flag off, and on."""

    field: str
    off: Any
    on: Any


@dataclass(frozen=True)
class Form:
    """One optimizer: its message, its rule, which field is which, and what the message implies.

    `free` are fields of the rule that the message cannot say, and need not: initial values come with the slots, orders
    of operations change last bits only, and some name a reading of what is not public.
    """

    message: str
    rule: type[Rule]
    slots: tuple[str, ...] = ()
    fields: Mapping[str, str | Either] = dataclasses.field(default_factory=dict)
    implied: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    free: tuple[str, ...] = ("initial_accumulator_value", "order")


def _same(*names: str) -> dict[str, str | Either]:
    return {n: n for n in names}


_L1_L2: dict[str, str | Either] = {"l1": "l1_regularization_strength", "l2": "l2_regularization_strength"}

FORMS = (
    Form("stochastic_gradient_descent", rules.StochasticGradientDescent),
    Form(
        "adagrad",
        rules.Adagrad,
        ("accumulators",),
        implied={"epsilon": 0.0, "epsilon_place": "none", "update_slots": True},
    ),
    Form(
        "adagrad_momentum",
        rules.AdagradMomentum,
        ("accumulators", "momenta"),
        _same("momentum", "use_nesterov", "exponent", "beta2", "epsilon"),
        free=("initial_accumulator_value", "initial_momentum_value"),
    ),
    Form(
        "bounded_adagrad",
        rules.BoundedAdagrad,
        ("accumulators",),
        _same("update_accumulator_first", "max_var_update", "max_accumulator"),
        free=("initial_accumulator_value", "bounded"),
    ),
    Form(
        "frequency_aware_adagrad",
        rules.FrequencyAwareAdagrad,
        ("accumulators", "counters"),
        _same(
            "l1_regularization_strength",
            "l2_regularization_strength",
            "max_lr_multiplier",
            "probability_exponent",
            "accumulator_decay",
            "initial_accumulator_value",
        ),
        free=("step_counter", "initial_counter_value"),
    ),
    Form(
        "ftrl",
        rules.Ftrl,
        ("accumulators", "linears"),
        _same("l1", "l2", "lr_power", "beta", "multiply_linear_by_lr"),
        {"l2_shrinkage": 0.0, "order": "sparse"},
        free=("initial_accumulator_value", "initial_linear_value", "order"),
    ),
    Form(
        "adam",
        rules.Adam,
        ("momenta", "velocities"),
        {
            **_same("beta1", "beta2", "epsilon"),
            "use_non_lazy_adam": Either("lazy", True, False),
            "use_sum_inside_sqrt": Either("epsilon_place", "outside", "inside"),
        },
        {"bias_correction": False, "use_nesterov": False, "order": "sparse"},
        free=("order", "beta1_power", "beta2_power"),
    ),
    Form("momentum", rules.Momentum, ("momenta",), _same("momentum", "use_nesterov")),
    Form(
        "lion",
        rules.Lion,
        ("momenta",),
        {**_same("beta1", "beta2"), "use_non_lazy_lion": Either("lazy", True, False)},
    ),
    Form(
        "rms_prop",
        rules.RMSProp,
        ("ms", "mom"),
        _same("rho", "momentum", "epsilon"),
        {"initial_rms": 0.0},
        free=("initial_rms", "order"),
    ),
    Form(
        "centered_rms_prop",
        rules.CenteredRMSProp,
        ("ms", "mom", "mg"),
        _same("rho", "momentum", "epsilon"),
        {"initial_rms": 0.0},
        free=("initial_rms", "order"),
    ),
    Form(
        "mdl_adagrad_light",
        rules.MdlAdagradLight,
        ("accumulators", "weights", "benefits"),
        _same(
            "l2",
            "lr_power",
            "min_servable_mdl_benefit",
            "mdl_mix_in_margin",
            "mdl_benefit_rampup_coeff",
            "mdl_min_weight",
            "benefit_revisit_scale",
            "max_event_benefit",
            "max_total_benefit",
            "mdl_hard_limit",
            "hard_limit_min_benefit",
            "mdl_regularize",
        ),
        free=("initial_accumulator_value", "event_benefit"),
    ),
    Form("adadelta", rules.Adadelta, ("accumulators", "updates"), _same("rho", "epsilon")),
    Form("proximal_adagrad", rules.ProximalAdagrad, ("accumulators",), _L1_L2),
    Form("online_yogi", rules.OnlineYogi, ("vs", "linears"), _same("l1", "l2", "beta2")),
    Form("proximal_yogi", rules.ProximalYogi, ("v", "m"), _same("l1", "l2", "beta1", "beta2", "epsilon")),
    Form(
        "frequency_estimator",
        rules.FrequencyEstimator,
        ("last_hit_step",),
        _same("tau", "max_delta", "outlier_threshold", "weight_exponent"),
    ),
    Form("user_defined_program", rules.UserDefined),
    Form("assign", rules.Assign),
)
BY_MESSAGE = {f.message: f for f in FORMS}
BY_RULE = {f.rule: f for f in FORMS}


HIDDEN_SLOT = "gradient_accumulators"


def form_of(parameters: OptimizationParameters) -> Form:
    """The optimizer that a message has set; ValueError where it has none."""
    name = parameters.WhichOneof("parameters")
    if name is None:
        raise ValueError(f"the parameters name no optimizer; set one of {', '.join(BY_MESSAGE)}")
    return BY_MESSAGE[name]


def accumulates(parameters: OptimizationParameters) -> bool:
    """Tell whether a row's gradients are summed before the optimizer runs once; UNSPECIFIED means that they are."""
    status = parameters.gradient_accumulation_status
    if status not in GradientAccumulationStatus.Status.values():
        raise ValueError(f"gradient_accumulation_status must be UNSPECIFIED, ENABLED or DISABLED, got {status}")
    return status != GradientAccumulationStatus.DISABLED


def slot_names(parameters: OptimizationParameters) -> tuple[str, ...]:
    """The slots of a table, in the order of loading and retrieving; the hidden sum of gradients is the last.

    >>> from gradlab.tpu.engine.proto import AdamParameters
    >>> slot_names(OptimizationParameters(adam=AdamParameters()))
    ('momenta', 'velocities', 'gradient_accumulators')
    """
    slots = own_slots(parameters)
    return (*slots, HIDDEN_SLOT) if accumulates(parameters) else slots


def own_slots(parameters: OptimizationParameters) -> tuple[str, ...]:
    """The slots of a table without the hidden one; those of a compiled program are all but the first of its results.

    Raises:
        InvalidArgumentError: a program that does not take its results and one or two numbers more.
    """
    form = form_of(parameters)
    if form.rule is not rules.UserDefined:
        return form.slots
    shape = parameters.user_defined_program.program.host_program_shape
    takes, gives = len(shape.parameters), len(shape.result.tuple_shapes)
    if takes < 2 or takes - gives not in (1, 2):
        raise InvalidArgumentError(
            "a user-defined program takes a gradient, a weight, slots and perhaps one number more, and gives weight "
            f"and slots; this one takes {takes} and gives {gives}"
        )
    return tuple(f"Slot_{k}" for k in range(gives - 1))


def rule_of(parameters: OptimizationParameters) -> Rule:
    """The rule that a message configures.

    The learning rate and what happens around the rule (limits, decay, accumulation) belong to the table: see `plan_of`.
    Initial values of slots are not in the message, which has them come with the slots; they are those of TensorFlow's
    Python layer.

    Raises:
        ValueError: no optimizer is set; a field that is NaN; or a user-defined program, which comes compiled and is not
            run here.

    Source: `optimization_parameters.proto`, TensorFlow 2.21 (2026).

    >>> from gradlab.tpu.engine.proto import AdamParameters
    >>> rule_of(OptimizationParameters(adam=AdamParameters(beta1=0.5, use_sum_inside_sqrt=True))).epsilon_place
    'inside'
    """
    form = form_of(parameters)
    if form.rule is rules.UserDefined:
        raise ValueError(
            "a user-defined program comes compiled, and compiled programs are not run here; give the table's rule as "
            "a Python function: plan_of(config, rules={table: gl.rules.UserDefined(function)})"
        )
    message = getattr(parameters, form.message)
    given = {name: getattr(message, name) for name in form.fields}
    if bad := [name for name, value in given.items() if value != value]:
        raise ValueError(f"{form.message}.{bad[0]} is not a number")
    fields = dict(_from_message(value, form.fields[name]) for name, value in given.items())
    return form.rule(**{**form.implied, **fields})


def _from_message(value: Any, field: str | Either) -> tuple[str, Any]:
    return (field.field, field.on if value else field.off) if isinstance(field, Either) else (field, value)


def parameters_of(rule: Rule) -> OptimizationParameters:
    """The message that configures a rule: the inverse of `rule_of`.

    Numbers become float32. Not in the message, and not missed: initial values of slots, `order`, and readings of what
    is not public (`bounded`, `event_benefit`).

    Raises:
        ValueError: a rule that TPU embeddings do not have, a field that they cannot vary, or a number beyond float32;
            it says which, and what to do instead.

    Source: `optimization_parameters.proto`, TensorFlow 2.21 (2026).

    >>> parameters_of(rules.Momentum(0.5)).momentum.momentum
    0.5
    >>> parameters_of(rules.Adagrad(epsilon=0.5))
    Traceback (most recent call last):
    ValueError: Adagrad(epsilon=0.5) cannot be written: TPU embeddings have 0.0; put it into the initial accumulator
    """
    form = BY_RULE.get(type(rule))
    if form is None or form.rule is rules.UserDefined:
        raise ValueError(
            f"TPU embeddings have no {type(rule).__name__}; they have "
            f"{', '.join(f.rule.__name__ for f in FORMS if f.rule is not rules.UserDefined)}"
        )
    _check_implied(rule, form)
    parameters = OptimizationParameters()
    message = getattr(parameters, form.message)
    message.SetInParent()
    for name, field in form.fields.items():
        setattr(message, name, _to_message(rule, field))
    return parameters


_INSTEAD = {
    "bias_correction": "put the correction into the rate",
    "epsilon": "put it into the initial accumulator",
    "l2_shrinkage": "use l2",
}


def _check_implied(rule: Rule, form: Form) -> None:
    for name, value in form.implied.items():
        given = getattr(rule, name)
        if name in form.free or given == value or (name == "epsilon_place" and not getattr(rule, "epsilon", 1)):
            continue
        instead = f"; {_INSTEAD[name]}" if name in _INSTEAD else ""
        raise ValueError(
            f"{type(rule).__name__}({name}={given!r}) cannot be written: TPU embeddings have {value!r}{instead}"
        )


def _to_message(rule: Rule, field: str | Either) -> float | bool:
    if isinstance(field, Either):
        return bool(getattr(rule, field.field) == field.on)
    value = getattr(rule, field)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    return single(value, f"{type(rule).__name__}({field}={value!r})")


def single(value: Any, what: str) -> float:
    """A number as a message holds it, rounded to float32; ValueError where it would become infinite."""
    with np.errstate(over="ignore"):
        rounded = float(np.float32(value))
    if math.isinf(rounded) and not math.isinf(value):
        raise ValueError(f"{what} is more than float32 can hold")
    return rounded

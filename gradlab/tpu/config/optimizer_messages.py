"""Rules and the messages that configure them, field by field."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import rules
from ..._base.errors import InvalidArgumentError
from ...rules import Rule
from ..proto import GradientAccumulationStatus, OptimizationParameters
from .forms import BY_MESSAGE, BY_RULE, FORMS, Either, Form

HIDDEN_SLOT = "gradient_accumulators"


def form_of(parameters: OptimizationParameters) -> Form:
    """The optimizer that a message has set; ValueError where it has none."""
    name = parameters.WhichOneof("parameters")
    if name is None:
        raise ValueError(f"the parameters name no optimizer; set one of {', '.join(BY_MESSAGE)}")
    return BY_MESSAGE[name]


def accumulates(parameters: OptimizationParameters) -> bool:
    """Whether the gradients of a row are summed before the optimizer runs once; UNSPECIFIED means that they are."""
    status = parameters.gradient_accumulation_status
    if status not in GradientAccumulationStatus.Status.values():
        raise ValueError(f"gradient_accumulation_status must be UNSPECIFIED, ENABLED or DISABLED, got {status}")
    return status != GradientAccumulationStatus.DISABLED


def slot_names(parameters: OptimizationParameters) -> tuple[str, ...]:
    """The slots of a table, in the order of loading and retrieving; the hidden sum of gradients is the last.

    >>> from gradlab.tpu.proto import AdamParameters
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

    >>> from gradlab.tpu.proto import AdamParameters
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

"""Messages that configure a table's optimizer, from rules and back.

Which fields of a rule are in its message, by which name, the rule itself declares: `table_message`, `table_slots`, and
`in_tables` on its fields.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import rules
from ...errors import InvalidArgumentError
from ...rules import Rule
from ...rules.table_field import TableField, table_fields
from .proto import GradientAccumulationStatus, OptimizationParameters


@dataclass(frozen=True)
class Form:
    """One optimizer as its message has it.

    Args:
        message: the name of the message.
        rule: its rule.
        slots: the names of the slots, in the order of loading and retrieving.
        fields: what the rule's fields are in the message, by their names in the rule.
        written: the names of those that the message has.
        implied: the values of those that it does not have, but that the engine or TensorFlow's Python layer fix.
    """

    message: str
    rule: type[Rule]
    slots: tuple[str, ...]
    fields: Mapping[str, TableField]
    written: tuple[str, ...]
    implied: Mapping[str, Any]


def _make_forms() -> Iterator[Form]:
    """Make a form for each rule that tables have."""
    for rule in rules.catalog().values():
        if not rule.table_message:
            continue
        in_message = getattr(OptimizationParameters(), rule.table_message).DESCRIPTOR.fields_by_name
        fields = table_fields(rule)
        written = []
        implied = {}
        for name, field in fields.items():
            value = field.fixed if field.fixed is not None else field.preset
            if value is not None:
                implied[name] = value
            elif field.message in in_message:
                written.append(name)
        # The slots of a user-defined rule depend on its function.
        slots = () if rule is rules.UserDefined else rule.table_slots or tuple(rule.slots)
        yield Form(rule.table_message, rule, slots, fields, tuple(written), implied)


FORMS = tuple(_make_forms())
BY_MESSAGE = {form.message: form for form in FORMS}
BY_RULE = {form.rule: form for form in FORMS}


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
    values = dict(form.implied)
    for name in form.written:
        field = form.fields[name]
        value = getattr(message, field.message)
        if value != value:
            raise ValueError(f"{form.message}.{field.message} is not a number")
        values[name] = value if field.flag is None else field.flag[value]
    return form.rule(**values)


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
    _check_fixed(rule, form)
    parameters = OptimizationParameters()
    message = getattr(parameters, form.message)
    message.SetInParent()
    for name in form.written:
        field = form.fields[name]
        value = getattr(rule, name)
        if field.flag is not None:
            value = value == field.flag[True]
        if isinstance(value, bool | np.bool_):
            setattr(message, field.message, bool(value))
        else:
            setattr(message, field.message, single(value, f"{type(rule).__name__}({name}={value!r})"))
    return parameters


def _check_fixed(rule: Rule, form: Form) -> None:
    """Refuse a rule with another value of a field than the engine has."""
    for name, field in form.fields.items():
        value = getattr(rule, name)
        if field.fixed is None or value == field.fixed:
            continue
        if name == "epsilon_place" and not getattr(rule, "epsilon", 1):
            # An epsilon of 0 may stand anywhere.
            continue
        instead = f"; {field.instead}" if field.instead else ""
        raise ValueError(
            f"{type(rule).__name__}({name}={value!r}) cannot be written: TPU embeddings have {field.fixed!r}{instead}"
        )


def single(value: Any, what: str) -> float:
    """A number as a message holds it, rounded to float32; ValueError where it would become infinite."""
    with np.errstate(over="ignore"):
        rounded = float(np.float32(value))
    if math.isinf(rounded) and not math.isinf(value):
        raise ValueError(f"{what} is more than float32 can hold")
    return rounded

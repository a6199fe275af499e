"""Tables and optimizers as messages: `table_of` and `rule_of` read them, `descriptor_of` and `parameters_of` write.

Which fields of a rule are in its message, by which name, the rule itself declares: `table_message`,
`table_slots`, and `in_tables` on its fields. `FORMS` has all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import rules
from ...errors import InvalidArgumentError
from ...rules import FrequencyEstimator, Rule
from ...rules.table_field import TableField, table_fields
from ..plan import Combiner, Levels, Limits, Table, Tag
from .proto import (
    ClippingLimits,
    GradientAccumulationStatus,
    OptimizationParameters,
    OptimizerDynamicInput,
    TPUEmbeddingConfiguration,
)


@dataclass(frozen=True)
class Form:
    """One optimizer as its message has it.

    Args:
        message: the name of the message.
        rule: its rule.
        slots: the names of the slots, in the order of loading and retrieving.
        fields: what the rule's fields are in the message, by their names in the rule.
        written: the names of those that the message has.
        implied: the values of those that it does not have, but that the engine or TensorFlow's
            Python layer fix.
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
    """Return the optimizer that a message has set; ValueError where it has none."""
    name = parameters.WhichOneof("parameters")
    if name is None:
        raise ValueError(f"the parameters name no optimizer; set one of {', '.join(BY_MESSAGE)}")
    return BY_MESSAGE[name]


def accumulates(parameters: OptimizationParameters) -> bool:
    """Tell whether a row's gradients are summed before the optimizer runs once; UNSPECIFIED means that they are."""
    status = parameters.gradient_accumulation_status
    if status not in GradientAccumulationStatus.Status.values():
        raise ValueError(
            f"gradient_accumulation_status must be UNSPECIFIED, ENABLED or DISABLED, got {status}"
        )
    return status != GradientAccumulationStatus.DISABLED


def slot_names(parameters: OptimizationParameters) -> tuple[str, ...]:
    """Return the slots of a table, in the order of loading and retrieving; the hidden sum of gradients is the last.

    >>> from gradlab.tpu.engine.proto import AdamParameters
    >>> slot_names(OptimizationParameters(adam=AdamParameters()))
    ('momenta', 'velocities', 'gradient_accumulators')
    """
    slots = own_slots(parameters)
    return (*slots, HIDDEN_SLOT) if accumulates(parameters) else slots


def own_slots(parameters: OptimizationParameters) -> tuple[str, ...]:
    """Return the slots of a table without the hidden one; of a compiled program, all but the first of its results.

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
            "a user-defined program takes a gradient, a weight, slots and perhaps one number more, "
            f"and gives weight and slots; this one takes {takes} and gives {gives}"
        )
    return tuple(f"Slot_{k}" for k in range(gives - 1))


def rule_of(parameters: OptimizationParameters) -> Rule:
    """Return the rule that a message configures.

    The learning rate and what happens around the rule (limits, decay, accumulation) belong to
    the table: see `plan_of`. Initial values of slots are not in the message, which has them come
    with the slots; they are those of TensorFlow's Python layer.

    Raises:
        ValueError: no optimizer is set; a field that is NaN; or a user-defined program, which comes
            compiled and is not run here.

    Source: `optimization_parameters.proto`, TensorFlow 2.21 (2026).

    >>> from gradlab.tpu.engine.proto import AdamParameters
    >>> rule_of(OptimizationParameters(adam=AdamParameters(beta1=0.5, use_sum_inside_sqrt=True))).epsilon_place
    'inside'
    """
    form = form_of(parameters)
    if form.rule is rules.UserDefined:
        raise ValueError(
            "a user-defined program comes compiled, and compiled programs are not run here; give "
            "the table's rule as a Python function: plan_of(config, rules={table: "
            "gl.rules.UserDefined(function)})"
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
    """Return the message that configures a rule: the inverse of `rule_of`.

    Numbers become float32. Not in the message, and not missed: initial values of slots, `order`,
    and readings of what is not public (`bounded`, `event_benefit`).

    Raises:
        ValueError: a rule that TPU embeddings do not have, a field that they cannot vary, or a
            number beyond float32; it says which, and what to do instead.

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
            setattr(
                message, field.message, single(value, f"{type(rule).__name__}({name}={value!r})")
            )
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
            f"{type(rule).__name__}({name}={value!r}) cannot be written: TPU embeddings have "
            f"{field.fixed!r}{instead}"
        )


def single(value: Any, what: str) -> float:
    """Return a number as a message holds it, rounded to float32; ValueError where it would become infinite."""
    with np.errstate(over="ignore"):
        rounded = float(np.float32(value))
    if math.isinf(rounded) and not math.isinf(value):
        raise ValueError(f"{what} is more than float32 can hold")
    return rounded


# Tables


def table_of(
    t: TPUEmbeddingConfiguration.TableDescriptor,
    name: str | None = None,
    combiner: Combiner = "sum",
    rule: Rule | None = None,
) -> Table:
    """Return the table that a message describes.

    Args:
        name: instead of the one in the message.
        combiner: which the message does not have.
        rule: instead of the one in the message.

    Raises:
        ValueError: what cannot be run, with the name of the table; see `plan_of`.

    Source: `tpu_embedding_configuration.proto`, TensorFlow 2.21 (2026).

    >>> t = TPUEmbeddingConfiguration.TableDescriptor(name="t", vocabulary_size=8, dimension=4)
    >>> t.optimization_parameters.assign.SetInParent()
    >>> table_of(t).rule
    Assign()
    """
    name = t.name if name is None else name
    parameters = t.optimization_parameters
    try:
        table = Table(
            name,
            t.vocabulary_size,
            t.dimension,
            rule or rule_of(parameters),
            _rate(parameters),
            combiner,
            gradient_limits=_limits(parameters.gradient_clipping_limits),
            weight_limits=_limits(parameters.clipping_limits),
            weight_decay=_finite(parameters.weight_decay_factor, "weight_decay_factor"),
            weight_decay_times_rate=parameters.multiply_weight_decay_factor_by_learning_rate,
            levels=_levels(parameters),
            accumulate=accumulates(parameters),
            step_counter=_step_counter(parameters),
        )
        if isinstance(table.rule, FrequencyEstimator) and table.width != 1:
            raise ValueError(f"a frequency estimator needs dimension 1, got {table.width}")
    except ValueError as error:
        message = str(error)
        if repr(name) not in message:
            message = f"table {name!r}: {message}"
        raise ValueError(message) from None
    return table


def descriptor_of(table: Table, num_features: int = 0) -> TPUEmbeddingConfiguration.TableDescriptor:
    """Return the message that describes a table: the inverse of `table_of`.

    A message has no combiner.

    Args:
        num_features: how many outputs each element of a batch has, where features are not described
            one by one.

    Raises:
        ValueError: a rule that cannot be written, see `parameters_of`; a number that float32 cannot
            hold.

    Source: `tpu_embedding_configuration.proto`, TensorFlow 2.21 (2026).

    >>> from gradlab.tpu import Table, Tag
    >>> descriptor_of(Table("t", 8, 4, learning_rate=Tag(1))).optimization_parameters.learning_rate.dynamic.tag
    1
    """
    p = parameters_of(table.rule)
    status = GradientAccumulationStatus
    p.gradient_accumulation_status = status.ENABLED if table.accumulate else status.DISABLED
    p.weight_decay_factor = single(table.weight_decay, f"weight_decay of table {table.name!r}")
    p.multiply_weight_decay_factor_by_learning_rate = table.weight_decay_times_rate
    if isinstance(table.learning_rate, Tag):
        p.learning_rate.dynamic.tag = table.learning_rate.number
    else:
        p.learning_rate.constant = single(
            table.learning_rate, f"learning_rate of table {table.name!r}"
        )
    if table.step_counter is not None:
        p.frequency_aware_adagrad.step_counter.tag = table.step_counter.number
    _write_limits(p.clipping_limits, table.weight_limits)
    _write_limits(p.gradient_clipping_limits, table.gradient_limits)
    if table.levels is not None:
        p.simulated_quantization.enabled = True
        p.simulated_quantization.num_buckets = table.levels.num_buckets
        _write_limits(p.simulated_quantization.clipping_limits, table.levels[:2])
    return TPUEmbeddingConfiguration.TableDescriptor(
        name=table.name,
        vocabulary_size=table.rows,
        dimension=table.width,
        num_features=num_features,
        optimization_parameters=p,
    )


def _write_limits(message: ClippingLimits, limits: Limits) -> None:
    for name, limit in zip(("lower", "upper"), limits, strict=True):
        if limit is not None:
            getattr(message, name).value = single(limit, f"the {name} limit {limit!r}")


def tags_in(parameters: OptimizationParameters) -> list[int]:
    """Return the numbers that a table reads at every step: of its learning rate, of its step counter."""
    rate = parameters.learning_rate
    tags = [rate.dynamic.tag] if rate.WhichOneof("learning_rate") == "dynamic" else []
    counter = _step_counter(parameters)
    return tags if counter is None or counter.number in tags else [*tags, counter.number]


def _rate(parameters: OptimizationParameters) -> float | Tag:
    rate = parameters.learning_rate
    match rate.WhichOneof("learning_rate"):
        case "dynamic":
            return _tag(rate.dynamic)
        case "constant":
            return _finite(rate.constant, "the learning rate")
    if parameters.WhichOneof("parameters") == "assign":  # which has no use for it
        return 0.0
    raise ValueError(
        "no learning rate is set; set learning_rate.constant, or learning_rate.dynamic with a tag"
    )


def _finite(x: float, what: str) -> float:
    if not math.isfinite(x):
        raise ValueError(f"{what} must be finite, got {x}")
    return x


def _step_counter(parameters: OptimizationParameters) -> Tag | None:
    if parameters.WhichOneof("parameters") != "frequency_aware_adagrad":
        return None
    adagrad = parameters.frequency_aware_adagrad
    return _tag(adagrad.step_counter) if adagrad.HasField("step_counter") else None


def _tag(given: OptimizerDynamicInput) -> Tag:
    return Tag(given.tag)


def _limits(given: ClippingLimits) -> Limits:
    return _side(given, "lower"), _side(given, "upper")


def _side(given: ClippingLimits, name: str) -> float | None:
    if not given.HasField(name):
        return None
    limit: float = getattr(given, name).value
    if math.isnan(limit):
        raise ValueError(f"a limit must be a number, got {name} nan")
    return limit


def _levels(parameters: OptimizationParameters) -> Levels | None:
    given = parameters.simulated_quantization
    if not given.enabled:
        return None
    lower, upper = _limits(given.clipping_limits)
    if lower is None or upper is None or not lower < upper or given.num_buckets < 2:
        raise ValueError(
            "simulated quantization needs a lower limit below an upper one and at least 2 buckets, "
            f"got lower {lower}, upper {upper}, num_buckets {given.num_buckets}"
        )
    return Levels(lower, upper, given.num_buckets)

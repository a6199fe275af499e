"""Tables and the messages that describe them, field by field."""

from __future__ import annotations

import math

from ...rules import FrequencyEstimator, Rule
from ..plan import Combiner, Levels, Limits, Table, Tag
from .optimizer_messages import accumulates, parameters_of, rule_of, single
from .proto import (
    ClippingLimits,
    GradientAccumulationStatus,
    OptimizationParameters,
    OptimizerDynamicInput,
    TPUEmbeddingConfiguration,
)


def table_of(
    t: TPUEmbeddingConfiguration.TableDescriptor,
    name: str | None = None,
    combiner: Combiner = "sum",
    rule: Rule | None = None,
) -> Table:
    """The table that a message describes.

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
        told = f"{error}" if repr(name) in str(error) else f"table {name!r}: {error}"
        raise ValueError(told) from None
    return table


def descriptor_of(table: Table, num_features: int = 0) -> TPUEmbeddingConfiguration.TableDescriptor:
    """The message that describes a table: the inverse of `table_of`, but for the combiner, which it does not have.

    Args:
        num_features: how many outputs each element of a batch has, where features are not described one by one.

    Raises:
        ValueError: a rule that cannot be written, see `parameters_of`; a number that float32 cannot hold.

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
        p.learning_rate.constant = single(table.learning_rate, f"learning_rate of table {table.name!r}")
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
    """The numbers that a table reads at every step: of its learning rate, of its step counter."""
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
    raise ValueError("no learning rate is set; set learning_rate.constant, or learning_rate.dynamic with a tag")


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
            "simulated quantization needs a lower limit below an upper one and at least 2 buckets, got "
            f"lower {lower}, upper {upper}, num_buckets {given.num_buckets}"
        )
    return Levels(lower, upper, given.num_buckets)

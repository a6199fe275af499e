"""The common part of all optimizers of tables."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, TypeVar

from ...._base.arrays import as_real_numbers
from ....rules import Rule
from ...engine.messages import BY_RULE, parameters_of
from ...engine.proto import (
    ClippingLimits,
    GradientAccumulationStatus,
    LowDimensionalPackingStatus,
    OptimizationParameters,
)
from ...plan import Limits
from .initializers import Constant, Initializer

Rate = float | Callable[[], float]
Tags = Mapping[Callable[[], float], int]
Check = Callable[[str, float], None]
SlotMaker = Callable[[Any, list[str], list[Any]], dict[str, Any]]

_STATUS = GradientAccumulationStatus


@dataclass(frozen=True)
class Optimizer:
    """The base class: what happens around the rule, which each class names.

    Args:
        learning_rate: a number, or a function of nothing that is asked at every step. Tables that
            share the function share one tag.
        use_gradient_accumulation: all gradients of a row are summed before the rule runs once.
        clip_weight_min, clip_weight_max: limits of the weights after an update; None leaves that
            side open.
        weight_decay_factor: how much of its weight a row loses at each step; None or 0 for nothing.
        multiply_weight_decay_factor_by_learning_rate: it is multiplied by the rate. Without a
            factor it has no effect.
        slot_variable_creation_fn: makes the slots: of the table, their names and their
            initializers, a dict by name.
        clipvalue: limits of the summed gradient of a row: v for (-v, v), or (lower, upper) with
            None for an open side.
        low_dimensional_packing_status: a layout in memory, without effect on any number.

    Raises:
        ValueError: `clipvalue` without accumulation, or with more than two limits; not a function
            where one must be.
        TypeError: `clipvalue` is neither a number nor a tuple.

    Source: classes of `tf.tpu.experimental.embedding`, TensorFlow 2.21 (2026).

    >>> from gradlab.tpu.experimental.embedding import SGD
    >>> SGD(0.5, clipvalue=(None, 1.0)).clip_gradient_max
    1.0
    """

    learning_rate: Rate
    _: KW_ONLY
    use_gradient_accumulation: bool = True
    clip_weight_min: float | None = None
    clip_weight_max: float | None = None
    weight_decay_factor: float | None = None
    multiply_weight_decay_factor_by_learning_rate: bool | None = None
    slot_variable_creation_fn: SlotMaker | None = None
    clipvalue: tuple[float | None, float | None] | float | None = None
    low_dimensional_packing_status: bool = False

    # `updated_by` sets both for a class.
    _rule: ClassVar[type[Rule] | None] = None
    _checks: ClassVar[Sequence[tuple[Check, str]]] = ()

    def __post_init__(self) -> None:
        make_slots = self.slot_variable_creation_fn
        if make_slots is not None and not callable(make_slots):
            raise ValueError(
                f"slot_variable_creation_fn must be a function or None, got {make_slots!r}"
            )
        if self.clipvalue is not None and not self.use_gradient_accumulation:
            raise ValueError(
                "clipvalue is a limit of summed gradients: it needs "
                f"use_gradient_accumulation=True, or None instead of {self.clipvalue!r}"
            )
        _limits(self.clipvalue)
        for check, name in self._checks:
            check(name, getattr(self, name))

    @property
    def rule(self) -> Rule:
        """The update of one row: its fields are the arguments of these names, and what tables fix."""
        if self._rule is None:
            raise NotImplementedError(f"{type(self).__name__} must say its rule")
        form = BY_RULE[self._rule]
        arguments = {field.name for field in dataclasses.fields(self)}
        values = dict(form.implied)
        for name, field in form.fields.items():
            if name not in values and field.argument in arguments:
                values[name] = getattr(self, field.argument)
        return self._rule(**values)

    @property
    def slot_names(self) -> tuple[str, ...]:
        """The rule's slots, as checkpoints and the ops that load them call them."""
        return BY_RULE[type(self.rule)].slots

    @property
    def clip_gradient_min(self) -> float | None:
        return _limits(self.clipvalue)[0]

    @property
    def clip_gradient_max(self) -> float | None:
        return _limits(self.clipvalue)[1]

    @property
    def slot_initializers(self) -> tuple[Initializer, ...]:
        """The initial value of each slot, in the order of `slot_names`."""
        rule = self.rule
        return tuple(
            Constant(getattr(rule, s) if isinstance(s, str) else s) for s in rule.slots.values()
        )

    @property
    def functions(self) -> list[Callable[[], float]]:
        """The hyperparameters that are read at every step."""
        return [self.learning_rate] if callable(self.learning_rate) else []

    def message(self) -> OptimizationParameters:
        """Return the rule alone, as a message."""
        return parameters_of(self.rule)

    def parameters(self, tags: Tags) -> OptimizationParameters:
        """Return the message that configures the optimizer; functions become their tags."""
        made = self.message()
        if callable(self.learning_rate):
            made.learning_rate.dynamic.tag = tags[self.learning_rate]
        else:
            as_real_numbers(self.learning_rate, f"learning_rate of {type(self).__name__}")
            made.learning_rate.constant = self.learning_rate
        made.gradient_accumulation_status = (
            _STATUS.ENABLED if self.use_gradient_accumulation else _STATUS.DISABLED
        )
        write_limits(made.clipping_limits, (self.clip_weight_min, self.clip_weight_max))
        write_limits(made.gradient_clipping_limits, _limits(self.clipvalue))
        if self.weight_decay_factor:
            made.weight_decay_factor = self.weight_decay_factor
            by_rate = bool(self.multiply_weight_decay_factor_by_learning_rate)
            made.multiply_weight_decay_factor_by_learning_rate = by_rate
        if self.low_dimensional_packing_status:
            made.low_dimensional_packing_status = LowDimensionalPackingStatus.ENABLED
        return made


def write_limits(message: ClippingLimits, limits: Limits) -> None:
    """Set the limits that there are."""
    for side, limit in zip((message.lower, message.upper), limits, strict=True):
        if limit is not None:
            side.value = limit
            side.SetInParent()  # a limit of 0 is a limit


def _limits(clipvalue: Any) -> Limits:
    if clipvalue is None:
        return (None, None)
    if not isinstance(clipvalue, tuple):
        if isinstance(clipvalue, Sequence):
            raise TypeError(
                f"clipvalue must be a number or a tuple (lower, upper), got {clipvalue!r}"
            )
        return (-1.0 * clipvalue, clipvalue)
    if len(clipvalue) != 2:
        raise ValueError(
            f"clipvalue must be a number or a tuple (lower, upper), got {len(clipvalue)} limits"
        )
    return clipvalue


Class = TypeVar("Class", bound=type[Optimizer])


def positional(*last: str, without: Sequence[str] = ()) -> Callable[[Class], Class]:
    """Return a class decorator that lets arguments be given by position, in TensorFlow's order.

    The class's own come first, then the common ones, then those that are named here; `without`
    leaves some out. A dataclass alone would put the common ones, which are inherited, first.
    """

    def decorate(cls: Class) -> Class:
        fields = {f.name: f for f in dataclasses.fields(cls)}
        own = [name for name, f in fields.items() if not f.kw_only and name not in last]
        common = [name for name, f in fields.items() if f.kw_only and name not in (*last, *without)]
        signature = _signature([fields[name] for name in (*own, *common, *last)])
        init_by_name: Any = cls.__init__

        def __init__(self: Optimizer, *args: Any, **kwargs: Any) -> None:
            init_by_name(self, **signature.bind(*args, **kwargs).arguments)

        cls.__init__ = __init__  # type: ignore[method-assign]
        cls.__signature__ = signature  # type: ignore[attr-defined]
        return cls

    return decorate


def _signature(fields: Sequence[dataclasses.Field[Any]]) -> inspect.Signature:
    place = inspect.Parameter.POSITIONAL_OR_KEYWORD
    empty = inspect.Parameter.empty
    return inspect.Signature(
        [
            inspect.Parameter(
                f.name, place, default=empty if f.default is dataclasses.MISSING else f.default
            )
            for f in fields
        ]
    )


def updated_by(
    rule: type[Rule],
    *,
    last: Sequence[str] = (),
    without: Sequence[str] = (),
    betas: Sequence[str] = (),
    positive: Sequence[str] = (),
    not_negative: Sequence[str] = (),
) -> Callable[[Class], Class]:
    """Return a class decorator that says which rule updates a row, and what is refused.

    Args:
        rule: the rule; its fields say by `in_tables` which arguments they are.
        last, without: as for `positional`, which this includes.
        betas: arguments that must be in [0, 1).
        positive: arguments that must be above 0.
        not_negative: arguments that must not be below 0.
    """

    def decorate(cls: Class) -> Class:
        cls._rule = rule
        cls._checks = [
            *((check_beta, name) for name in betas),
            *((check_positive, name) for name in positive),
            *((check_not_negative, name) for name in not_negative),
        ]
        return positional(*last, without=without)(cls)

    return decorate


def check_beta(name: str, value: float) -> None:
    """Refuse the share of an old mean that is outside [0, 1)."""
    if value < 0.0 or value >= 1.0:
        raise ValueError(f"{name} must be at least 0 and less than 1, got {value}")


def check_positive(name: str, value: float) -> None:
    """Refuse a number that must be above 0."""
    if value <= 0:
        raise ValueError(f"{name} must be positive, got {value}")


def check_not_negative(name: str, value: float) -> None:
    """Refuse shrinkage that would make weights grow."""
    if value < 0:
        raise ValueError(f"{name} must be at least 0, got {value}")

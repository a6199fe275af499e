"""Optimizers and combiners of your own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...._base.arrays import Array
from ....rules import Rule, UserDefined
from ....rules.rule import Slots
from ....rules.user_defined import StepFunction, descend
from ...engine.proto import GradientAccumulationStatus, OptimizationParameters
from .initializers import Initializer
from .optimizer import Optimizer, Rate, Tags, positional


@positional()
@dataclass(frozen=True)
class UserDefinedProgram(Optimizer):
    """A rule from a function of your own, `gl.rules.UserDefined`.

        w, slots = function(w, slots, g, lr)

    TensorFlow takes a compiled program instead, so the configuration only says that there is one.
    For the other arguments see `Optimizer`. Source: `UserDefinedProgramParameters` in
    `optimization_parameters.proto`, TensorFlow 2.21 (2026).

    >>> UserDefinedProgram(0.1, initial_values=(("mean", 0.0),)).slot_names
    ('mean',)
    """

    learning_rate: Rate = 0.01
    function: StepFunction = descend
    initial_values: tuple[tuple[str, float], ...] = ()

    @property
    def rule(self) -> Rule:
        return UserDefined(self.function, self.initial_values)

    @property
    def slot_names(self) -> tuple[str, ...]:
        return tuple(self.rule.slots)

    def message(self) -> OptimizationParameters:
        return _program()


@dataclass(frozen=True, init=False)
class CustomOptimizer(Optimizer):
    """A function of your own as the update of a row, for the SparseCore engine.

        w, *slots = custom_computation(gradient, w, slots, learning_rate, hyperparameters)

    A function that gives one array gives the weights. It works on any number of rows at once, in
    `jax.numpy`.

    Args:
        custom_computation: the function.
        learning_rate: a number, or a function of nothing that is asked at every step.
        slot_names, slot_initializers: as many of both; each initializer is a function of a shape
            and a dtype.
        hyperparameters: numbers.
        slot_dims: 1 or 2 for each slot. Slots are as wide as the table here, whatever is given.

    Raises:
        ValueError: other numbers of names, initializers and dims, or a dim that is neither 1 nor 2.
        NotImplementedError: hyperparameters that are functions; the learning rate may be one.

    Source: `tf.tpu.experimental.embedding.CustomOptimizer`, TensorFlow 2.21 (2026).

    >>> halve = CustomOptimizer(lambda g, w, slots, lr, hyper: w * hyper[0], hyperparameters=[0.5])
    >>> import numpy as np
    >>> halve.rule(np.ones(2), (), np.ones(2), 0.1)[0].tolist()
    [0.5, 0.5]
    """

    custom_computation: Callable[..., Any] = None  # type: ignore[assignment]
    _slot_names: tuple[str, ...] = ()
    _slot_initializers: tuple[Initializer, ...] = ()
    hyperparameters: tuple[float, ...] = ()
    slot_dims: tuple[int, ...] = ()

    def __init__(
        self,
        custom_computation: Callable[..., Any],
        learning_rate: Rate = 0.01,
        slot_names: Sequence[str] | None = None,
        slot_initializers: Sequence[Initializer] | None = None,
        hyperparameters: Sequence[float] | None = None,
        slot_dims: Sequence[int] | None = None,
    ) -> None:
        names, initializers = tuple(slot_names or ()), tuple(slot_initializers or ())
        numbers, dims = tuple(hyperparameters or ()), tuple(slot_dims or ())
        _check_slots(names, initializers, dims)
        if any(callable(x) for x in numbers):
            raise NotImplementedError(
                "hyperparameters must be numbers; the learning rate may be a function"
            )
        super().__init__(learning_rate, use_gradient_accumulation=False)
        fields = (
            "custom_computation",
            "_slot_names",
            "_slot_initializers",
            "hyperparameters",
            "slot_dims",
        )
        for name, x in zip(
            fields, (custom_computation, names, initializers, numbers, dims), strict=True
        ):
            object.__setattr__(self, name, x)

    @property
    def rule(self) -> Rule:
        function = _Computation(self.custom_computation, self.hyperparameters)
        return UserDefined(function, tuple((name, 0.0) for name in self._slot_names))

    @property
    def slot_names(self) -> tuple[str, ...]:
        return self._slot_names

    @property
    def slot_initializers(self) -> tuple[Initializer, ...]:
        return self._slot_initializers

    def message(self) -> OptimizationParameters:
        return _program()

    def parameters(self, tags: Tags) -> OptimizationParameters:
        made = super().parameters(tags)
        # SparseCores always merge duplicates.
        made.gradient_accumulation_status = GradientAccumulationStatus.ENABLED
        return made


@dataclass(frozen=True)
class _Computation:
    """A custom computation with its hyperparameters, as a rule calls it."""

    function: Callable[..., Any]
    hyperparameters: tuple[float, ...]

    def __call__(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        made = self.function(g, w, list(slots), lr, list(self.hyperparameters))
        new, *new_slots = made if isinstance(made, tuple | list) else (made,)
        return new, tuple(new_slots)


@dataclass(frozen=True)
class CustomCombiner:
    """A function of your own that joins the rows of a sample.

    TensorFlow has it on SparseCore; no engine here runs it.

    Args:
        combiner_computation: a function of the number of rows, the rows (max_valency, dim) and, if
            there are any, the weights (num_weights,).
        max_valency: the most rows that a sample has.
        num_weights: how many weights it learns; with any, `initializer` makes them.
        combiner_weights_learning_rate: their learning rate.

    Raises:
        ValueError: weights without an initializer.

    Source: `tf.tpu.experimental.embedding.CustomCombiner`, TensorFlow 2.21 (2026).

    >>> CustomCombiner(lambda n, rows: rows[0], 3).max_valency
    3
    """

    combiner_computation: Callable[..., Any]
    max_valency: int
    num_weights: int = 0
    initializer: Initializer | None = None
    combiner_weights_learning_rate: Rate = 0.01

    def __post_init__(self) -> None:
        if self.num_weights > 0 and self.initializer is None:
            raise ValueError(
                f"`initializer` must be set: num_weights={self.num_weights} needs an initializer "
                "of these weights"
            )


def _check_slots(
    names: Sequence[str], initializers: Sequence[Initializer], dims: Sequence[int]
) -> None:
    if len(names) != len(initializers):
        raise ValueError(
            f"slot_initializers must be as many as slot_names, {len(names)}; got "
            f"{len(initializers)}"
        )
    if dims and len(dims) != len(names):
        raise ValueError(f"slot_dims must be as many as slot_names, {len(names)}; got {len(dims)}")
    for name, dim in zip(names, dims, strict=False):
        if dim not in (1, 2):
            raise ValueError(f"the dim of slot {name!r} must be 1 or 2, got {dim!r}")


def _program() -> OptimizationParameters:
    made = OptimizationParameters()
    made.user_defined_program.SetInParent()
    return made

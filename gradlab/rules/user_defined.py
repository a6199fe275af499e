"""A rule that is a Python function."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

from .._base.arrays import Array
from .rule import Rule, Slots

StepFunction = Callable[[Array, Slots, Array, Array], tuple[Array, Slots]]


def descend(w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
    """Gradient descent, as an example of a function for `UserDefined`."""
    return w - g * lr, slots


@dataclass(frozen=True)
class UserDefined(Rule):
    """A rule from a function of your own.

        w, slots = function(w, slots, g, lr)

    Args:
        function: keeps the contract of `Rule.step`: pure, row-local, for NumPy and for JAX arrays;
            or its address, "module:qualname".
        initial_values: the name and initial value of each slot, in order; a mapping or pairs.

    Shapes: w, g and each slot (...), all of the dtype of w, as is lr. `get_config` holds the
    address of the function, so it needs one that can be imported: `from_config` imports that
    module. TPU embeddings take a compiled program of (gradient, weight, slots..., optional scalar)
    on single numbers instead; the scalar is the rate here.

    Raises:
        TypeError: the function is neither a function nor an address.
        ValueError: an address that leads nowhere; from `get_config`, a function without an address;
            from a step, results of other shapes or another number of slots.

    Source: `UserDefinedProgramParameters` in TensorFlow's `optimization_parameters.proto` (2026).

    >>> import numpy as np
    >>> def averaged(w, slots, g, lr):
    ...     mean = (slots[0] + g) / 2
    ...     return w - lr * mean, (mean,)
    >>> rule, w = UserDefined(averaged, {"mean": 0.0}), np.array([1.0])
    >>> w, slots = rule(w, rule.init(w), np.array([4.0]), 0.25)
    >>> w.tolist(), slots[0].tolist()
    ([0.5], [2.0])
    """

    function: StepFunction = descend
    initial_values: tuple[tuple[str, float], ...] = ()
    table_message: ClassVar[str] = "user_defined_program"

    def __post_init__(self) -> None:
        function: Any = self.function
        if isinstance(function, str):
            function = _import_function(function)
        if not callable(function):
            raise TypeError(f'function must be a function or "module:qualname", got {function!r}')
        initial_values = dict(self.initial_values)
        # A frozen dataclass takes no plain assignment, and pairs can be hashed where a dict cannot.
        object.__setattr__(self, "function", function)
        object.__setattr__(
            self, "initial_values", tuple((str(name), x) for name, x in initial_values.items())
        )

    @property
    def slots(self) -> Mapping[str, float | str]:  # type: ignore[override]
        """The initial values of the slots by their names."""
        return dict(self.initial_values)

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        new_w, new_slots = self.function(w, slots, g, lr)
        old_shapes = [x.shape for x in (w, *slots)]
        new_shapes = [x.shape for x in (new_w, *new_slots)]
        if new_shapes != old_shapes:
            raise ValueError(
                f"{self._name} must return weights and slots of the shapes "
                f"{old_shapes}, as it got; got {new_shapes}"
            )
        return new_w, tuple(new_slots)

    def get_config(self) -> dict[str, Any]:
        """Return the address of the function and the initial values; ValueError without address."""
        address = f"{getattr(self.function, '__module__', None)}:{self._name}"
        try:
            is_importable = _import_function(address) is self.function
        except ValueError:
            is_importable = False
        if not is_importable:
            raise ValueError(
                f"{self._name} cannot be imported as {address}, so a config cannot name it; "
                "define it at the top level of a module"
            )
        return {
            "rule": type(self).__name__,
            "function": address,
            "initial_values": dict(self.initial_values),
        }

    @property
    def _name(self) -> str:
        return getattr(self.function, "__qualname__", repr(self.function))


def _import_function(address: str) -> Any:
    module, _, name = address.partition(":")
    try:
        return reduce(getattr, name.split("."), importlib.import_module(module))
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(
            f'{address!r} is not the "module:qualname" of a function: {error}'
        ) from error

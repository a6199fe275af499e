"""The half of an optimizer that keeps weights: iterations, slots, and their order."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._base.arrays import Array, as_array, is_inexact, namespace
from ..train.copies import Carried, carried, check_carried, in_copy
from ..train.variable import Variable
from .semantics import Semantics

_INITIALIZERS = {"zeros": 0, "ones": 1}


@dataclass
class Kept:
    """Optimizer state that changes from step to step, in order of creation."""

    iterations: Variable | None = None
    slots: weakref.WeakKeyDictionary[Variable, dict[str, Variable]] = field(default_factory=weakref.WeakKeyDictionary)
    slot_names: list[str] = field(default_factory=list)
    weights: list[Variable] = field(default_factory=list)
    carried: Carried = field(default_factory=list)  # by a pickle, and not looked for yet

    def __deepcopy__(self, memo: dict[int, Any]) -> Kept:
        """Weights of its own, of the variables that `copies.in_copy` says."""
        new = memo[id(self)] = Kept(copy.deepcopy(self.iterations, memo))
        for v, slots in list(self.slots.items()):
            new.slots[in_copy(v, memo)] = copy.deepcopy(slots, memo)
        new.slot_names, new.weights = list(self.slot_names), copy.deepcopy(self.weights, memo)
        return new

    def of(self, v: Variable) -> dict[str, Variable]:
        """The slots of a variable, to be stepped now."""
        check_carried(self.carried)
        self.carried = []
        return self.slots.get(v, {})

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.iterations, list(self.slots.items()), self.slot_names, self.weights)


def _unpickled(iterations: Variable | None, slots: list[Any], slot_names: list[str], weights: list[Variable]) -> Kept:
    kept = Kept(iterations, weakref.WeakKeyDictionary(dict(slots)), slot_names, weights)
    kept.carried = carried(kept.slots)
    return kept


class Weights:
    """Iterations and slots under TensorFlow's names, and reading and writing them all at once."""

    _name: str
    _version: Semantics

    def __init__(self) -> None:
        self._kept = Kept()

    @property
    def iterations(self) -> Variable:
        """The number of steps made: an int64 variable, created on first access.

        It may be set to your own int64 variable as long as there is none (else RuntimeError).
        """
        return self._iterations("")

    @iterations.setter
    def iterations(self, variable: Variable) -> None:
        if self._kept.iterations is not None and (self._version.lazy or self._kept.slots):
            raise RuntimeError(
                f"Cannot set `iterations`: there are some already ({self._kept.iterations.name}); set them before they "
                "are read and before the first step, or assign: opt.iterations.assign(n)"
            )
        others = [w for w in self._kept.weights if w is not self._kept.iterations]
        self._kept.weights = [*others, variable] if self._version.lazy else [variable, *others]
        self._kept.iterations = variable

    def _iterations(self, prefix: str) -> Variable:
        if self._kept.iterations is None:
            name = self._version.iterations_name.format(optimizer=prefix)
            self._kept.iterations = Variable(np.int64(0), trainable=False, name=name)
            self._kept.weights.append(self._kept.iterations)
        return self._kept.iterations

    def get_slot_names(self) -> list[str]:
        """Names of the slots there are, in order of creation: none before the first step."""
        return list(self._kept.slot_names)

    def get_slot(self, var: Variable, slot_name: str) -> Variable:
        """The slot variable (KeyError if there is none; `tf.compat.v1.train` gives None).

        >>> import gradlab as gl
        >>> v, opt = gl.Variable([1.0], name="v"), gl.keras.SGD(0.5, momentum=0.9)
        >>> opt.apply_gradients([([4.0], v)]).numpy().item(), opt.get_slot(v, "momentum").numpy().tolist()
        (1, [-2.0])
        """
        try:
            return self._kept.slots[var][slot_name]
        except KeyError:
            name, slots = getattr(var, "name", var), self._kept.slots.get(var, {})
            raise KeyError(f"{name} has no slot {slot_name!r}; it has {', '.join(slots) or 'none'}") from None

    def add_slot(
        self,
        var: Variable,
        slot_name: str,
        initializer: str | Callable[..., Any] | Any = "zeros",
        shape: Sequence[int] | None = None,
    ) -> Variable:
        """A slot of your own, of the variable's shape and dtype; one that exists is returned as it is.

        Args:
            initializer: "zeros", "ones", a function of (shape, dtype), or a value.
            shape: another shape than the variable's (not in TensorFlow 2.3).

        >>> import gradlab as gl
        >>> slot = gl.keras.SGD().add_slot(gl.Variable([1.0, 2.0], name="v"), "mean", "ones")
        >>> slot.name, slot.numpy().tolist()
        ('v/mean:0', [1.0, 1.0])
        """
        return self._add_slot(var, slot_name, _start(initializer, var, shape), "")

    def _forget(self, weight: Any) -> None:
        self._kept.weights = [w for w in self._kept.weights if w is not weight]

    def _add_slot(self, var: Variable, slot: str, value: Array, prefix: str) -> Variable:
        if slot not in self._kept.slot_names:
            self._kept.slot_names.append(slot)
        slots = self._kept.slots.setdefault(var, {})
        if slot not in slots:
            variable = var.name.removesuffix(":0")
            name = self._version.slot_name.format(optimizer=prefix, variable=variable, slot=slot)
            slots[slot] = Variable(value, trainable=False, name=name)
            self._kept.weights.append(slots[slot])
        return slots[slot]

    def add_weight(
        self,
        name: str,
        shape: Sequence[int],
        dtype: Any = None,
        initializer: str | Callable[..., Any] | Any = "zeros",
        trainable: bool | None = None,
        synchronization: Any = None,
        aggregation: Any = None,
    ) -> Variable:
        """A variable of your own, float32 and trainable by default, which does not join `weights`.

        `synchronization` and `aggregation` are there for TensorFlow's signature and have no effect.

        >>> import gradlab as gl
        >>> gl.keras.SGD().add_weight("beta", [2], initializer="ones").numpy().tolist()
        [1.0, 1.0]
        """
        value = _initial(initializer, tuple(shape), np.dtype(dtype or np.float32))
        return Variable(value, trainable=trainable is None or trainable, name=name)

    @property
    def weights(self) -> list[Variable]:
        """Iterations and slots in order of creation; a slot added before the first step stands ahead of iterations."""
        return list(self._kept.weights)

    def variables(self) -> list[Variable]:
        """Return `weights`. A method, as up to Keras 2; Keras 3's `variables` is a property."""
        return self.weights

    def get_weights(self) -> list[np.ndarray]:
        """The values of `weights` as NumPy arrays."""
        return [w.numpy() for w in self._kept.weights]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Set all `weights`, cast to their dtypes.

        Raises ValueError where the number of weights or a shape differs; nothing is changed then. Before the first step
        there is nothing to set but []: make a step with zero gradients first.

        >>> import gradlab as gl
        >>> opt = gl.keras.SGD()
        >>> _ = opt.apply_gradients([([0.0], gl.Variable([1.0]))])
        >>> opt.set_weights([41])
        >>> opt.iterations.numpy().item()
        41
        """
        arrays, own = [as_array(w, "a weight") for w in weights], self._kept.weights
        if len(arrays) != len(own):
            raise ValueError(
                f"You called `set_weights(weights)` on {self._name} with {len(arrays)} weights, but the optimizer was "
                f"expecting {len(own)} weights: {', '.join(w.name for w in own) or 'none before the first step'}"
            )
        for w, a in zip(own, arrays, strict=True):
            if tuple(a.shape) != w.shape:
                raise ValueError(
                    f"{w.name}: shape {w.shape} is not compatible with provided weight shape {tuple(a.shape)}"
                )
        for w, a in zip(own, arrays, strict=True):
            w.assign(a.astype(w.dtype))


def _start(initializer: Any, var: Variable, shape: Sequence[int] | None) -> Array:
    value = _initial(initializer, var.shape if shape is None else tuple(shape), var.dtype)
    start: Array = namespace(var._value).asarray(value)
    return start


def _initial(initializer: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    if isinstance(initializer, str):
        if initializer not in _INITIALIZERS:
            raise ValueError(f'initializer must be "zeros", "ones", a function or a value; got {initializer!r}')
        return np.full(shape, _INITIALIZERS[initializer], dtype)
    value = as_array(initializer(shape, dtype) if callable(initializer) else initializer, "initializer")
    start: Array = namespace(value).broadcast_to(value.astype(dtype), shape)
    return start


def is_trainable(dtype: Any) -> bool:
    """True for the dtypes that Keras updates: floating point and complex numbers."""
    return is_inexact(dtype)

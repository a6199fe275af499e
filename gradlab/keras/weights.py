"""The weights of an optimizer: the count of iterations and the slots, by name and in order of creation."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .._base.arrays import Array, as_array, is_inexact, namespace
from ..train.copies import Carried, check_carried, get_copy, list_carried
from ..train.state_dict import Commit
from ..train.variable import Variable
from .versions import Version

_INITIALIZERS = {"zeros": 0, "ones": 1}


class Weights:
    """Iterations and slots under the version's names.

    An engine holds one; each of `Replicas` has its own.

    Attributes:
        iterations: the count, once there is one.
        slots: variable -> name of a slot -> its variable, by weak reference: an entry goes with its
            variable. The slot variables stay in `all`.
        slot_names: in order of creation.
        counted: a weight that depends on the count only, which few optimizers have.
        all: iterations, slots, and in Keras 3 the learning rate, in order of creation.
        unnamed_slots: slots whose variables have the name of the weight alone.
    """

    def __init__(self, version: Version, unnamed_slots: Sequence[str] = ()) -> None:
        self.version = version
        self.unnamed_slots = tuple(unnamed_slots)
        self.iterations: Variable | None = None
        self.counted: Variable | None = None
        self.slots: weakref.WeakKeyDictionary[Variable, dict[str, Variable]] = (
            weakref.WeakKeyDictionary()
        )
        self.slot_names: list[str] = []
        self.all: list[Variable] = []
        self._carried: Carried = []  # variables that a pickle brought along, until they are checked

    def __deepcopy__(self, memo: dict[int, Any]) -> Weights:
        """Copy the weights; slots are of the variables that `copies.get_copy` gives."""
        new = memo[id(self)] = Weights(self.version, self.unnamed_slots)
        new.iterations = copy.deepcopy(self.iterations, memo)
        new.counted = copy.deepcopy(self.counted, memo)
        for v, slots in list(self.slots.items()):
            new.slots[get_copy(v, memo)] = copy.deepcopy(slots, memo)
        new.slot_names = list(self.slot_names)
        new.all = copy.deepcopy(self.all, memo)
        return new

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "slots": list(self.slots.items()), "_carried": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.slots = weakref.WeakKeyDictionary(dict(state["slots"]))
        self._carried = list_carried(self.slots)

    def slots_of(self, v: Variable) -> dict[str, Variable]:
        """Return the slots of a variable that is stepped now."""
        check_carried(self._carried)
        self._carried = []
        return self.slots.get(v, {})

    def make_iterations(self, prefix: str) -> Variable:
        """Return the count, made now if there is none."""
        if self.iterations is None:
            name = self.version.iterations_name.format(optimizer=prefix)
            self.iterations = Variable(np.int64(0), trainable=False, name=name)
            self.all.append(self.iterations)
        return self.iterations

    def make_counted(self, name: str, dtype: Any, prefix: str) -> None:
        """Make the weight that depends on the count only, if there is none."""
        if self.counted is None:
            self.counted = Variable(np.ones((), dtype), trainable=False, name=prefix + name)
            self.all.append(self.counted)

    def set_iterations(self, variable: Variable) -> None:
        """Count in this variable. RuntimeError where steps are counted already."""
        is_legacy = self.version.engine == "legacy"
        if self.iterations is not None and (is_legacy or self.slots):
            raise RuntimeError(
                f"Cannot set `iterations`: there are some already ({self.iterations.name}); set "
                "them before they are read and before the first step, or assign: "
                "opt.iterations.assign(n)"
            )
        others = [w for w in self.all if w is not self.iterations]
        self.all = [*others, variable] if is_legacy else [variable, *others]
        self.iterations = variable

    def add_slot(self, v: Variable, slot: str, value: Array, prefix: str) -> Variable:
        """Return the slot, made now with this value if there is none."""
        if slot not in self.slot_names:
            self.slot_names.append(slot)
        slots = self.slots.setdefault(v, {})
        if slot not in slots:
            path = v.path
            variable = path.replace("/", "_") if self.version.name == "keras3" else path
            name = self.version.slot_name.format(optimizer=prefix, variable=variable, slot=slot)
            if slot in self.unnamed_slots:
                name = prefix + path.rpartition("/")[2]
            slots[slot] = Variable(value, trainable=False, name=name)
            self.all.append(slots[slot])
        return slots[slot]

    def get_slot(self, v: Variable, slot: str) -> Variable:
        """Return the slot (KeyError if there is none)."""
        slots = self.slots.get(v, {})
        if slot not in slots:
            name = getattr(v, "name", v)
            raise KeyError(f"{name} has no slot {slot!r}; it has {', '.join(slots) or 'none'}")
        return slots[slot]

    def keep_only(self, values: Mapping[Variable, Mapping[str, Array]], prefix: str) -> None:
        """Set the slots to these values, in the variables that are there, and drop all other slots."""
        for v in [v for v in self.slots if v not in values]:
            dropped = set(self.slots.pop(v).values())
            self.all = [w for w in self.all if w not in dropped]
        for v, slots in values.items():
            for name, x in slots.items():
                self.add_slot(v, name, x, prefix)._value = x
        remaining = {name for slots in self.slots.values() for name in slots}
        self.slot_names = [name for name in self.slot_names if name in remaining]

    def forget(self, weight: Any) -> None:
        """Take a weight off the list."""
        self.all = [w for w in self.all if w is not weight]

    def prepare_values(self, values: Sequence[Any], owner: str) -> Commit:
        """Check values of all weights, and return the function that sets them.

        ValueError where their number or a shape differs.
        """
        if len(values) != len(self.all):
            names = ", ".join(w.name for w in self.all) or "none before the first step"
            raise ValueError(
                f"You called `set_weights(weights)` on {owner} with {len(values)} weights, but the "
                f"optimizer was expecting {len(self.all)} weights: {names}"
            )
        return prepare_load(self.all, values)


def prepare_load(weights: Sequence[Variable], values: Sequence[Any]) -> Commit:
    """Check that each value has the shape of its weight, and return the function that sets them."""
    arrays = [as_array(x, "a weight") for x in values]
    for w, x in zip(weights, arrays, strict=True):
        if tuple(x.shape) != w.shape:
            raise ValueError(
                f"{w.name}: shape {w.shape} is not compatible with provided weight shape "
                f"{tuple(x.shape)}"
            )

    def commit() -> None:
        for w, x in zip(weights, arrays, strict=True):
            w.load(x.astype(w.dtype))  # at once, in a Graph too

    return commit


def slot_start(initializer: Any, v: Variable, shape: Sequence[int] | None) -> Array:
    """Return what a slot starts with, as an array of the variable's library."""
    value = initial_value(initializer, v.shape if shape is None else tuple(shape), v.dtype)
    start: Array = namespace(v._value).asarray(value)
    return start


def initial_value(
    initializer: str | Callable[..., Any] | Any, shape: tuple[int, ...], dtype: Any
) -> Array:
    """Return what an initializer gives: "zeros", "ones", a function of (shape, dtype), or a value."""
    if isinstance(initializer, str):
        if initializer not in _INITIALIZERS:
            raise ValueError(
                f'initializer must be "zeros", "ones", a function or a value; got {initializer!r}'
            )
        return np.full(shape, _INITIALIZERS[initializer], dtype)
    value = as_array(
        initializer(shape, dtype) if callable(initializer) else initializer, "initializer"
    )
    start: Array = namespace(value).broadcast_to(value.astype(dtype), shape)
    return start


def is_trainable(dtype: Any) -> bool:
    """Return whether Keras updates this dtype: floating point and complex numbers."""
    return is_inexact(dtype)

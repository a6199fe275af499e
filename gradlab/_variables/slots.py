"""What an optimizer keeps between steps: the slots of every variable, and what all variables share."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping

from .._base.arrays import precision
from .._base.forks import guard
from ..rules import Rule
from ..rules.rule import Shared, Slots
from .buffers import Cell, Fresh
from .variable import Variable, current_collection


class SlotStore:
    """Slot variables by variable and name; shared scalars, such as Adam's powers, by name.

    Slots are made when they are first stored, so that an update that fails leaves none behind.
    """

    def __init__(self) -> None:
        self._slots: weakref.WeakKeyDictionary[Variable, dict[str, Variable]] = weakref.WeakKeyDictionary()
        self._shared: dict[str, Variable] = {}
        self.lock = threading.RLock()
        guard(self, "lock", "this optimizer")

    def __contains__(self, v: Variable) -> bool:
        return v in self._slots

    def slot(self, v: Variable, name: str) -> Variable | None:
        return self._slots.get(v, {}).get(name)

    def names(self) -> list[str]:
        with self.lock:
            return sorted({name for slots in self._slots.values() for name in slots})

    def variables(self) -> list[Variable]:
        with self.lock:
            slots = [s for slots in self._slots.values() for s in slots.values()]
            return sorted([*slots, *self._shared.values()], key=lambda v: v.name)

    def values(self, v: Variable, rule: Rule) -> Slots:
        """The slots of v as arrays, in the order of the rule."""
        with self.lock, precision(v.dtype):
            slots = self._slots.get(v)
            return rule.init(v._value) if slots is None else tuple(slots[name]._value for name in rule.slots)

    def cells(self, v: Variable, rule: Rule) -> tuple[Cell, ...]:
        """The slot variables of v in the order of the rule, or what stands in for them until the first step worked."""
        with self.lock, precision(v.dtype):
            slots = self._slots.get(v)
            return tuple(map(Fresh, rule.init(v._value)) if slots is None else (slots[name] for name in rule.slots))

    def store(self, v: Variable, rule: Rule, values: Slots, labels: Mapping[str, str]) -> None:
        """Keep these values. `labels`: slot name -> last part of the variable's name, in the order of making them."""
        with self.lock:
            if v not in self._slots:
                self._slots[v] = _made(v, dict(zip(rule.slots, values, strict=True)), labels)
                return
            for name, value in zip(rule.slots, values, strict=True):
                self._slots[v][name].assign(value)

    def shared(self, rule: Rule) -> Shared:
        """The shared scalars now, or those of the first step."""
        return {name: v._value for name, v in self._shared.items()} or rule.start()

    def store_shared(self, values: Shared, scope: str = "") -> None:
        for name, value in values.items():
            if name not in self._shared:
                self._shared[name] = Variable(value, trainable=False, name=f"{scope}{name}")
            self._shared[name].assign(value)


def _made(v: Variable, values: Mapping[str, object], labels: Mapping[str, str]) -> dict[str, Variable]:
    """New slot variables, named "v/Adam", "v/Adam_1", ... in TensorFlow's way."""
    base, collection = v.name.removesuffix(":0"), current_collection()
    unique = str if collection.graph else collection.unique_name  # in a Graph every Variable is unique
    return {
        slot: Variable(values[slot], trainable=False, name=unique(f"{base}/{label}")) for slot, label in labels.items()
    }

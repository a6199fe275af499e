"""The state of an optimizer between steps: the slots of every variable, and what a graph's variables share."""

from __future__ import annotations

import copy
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from .._base.arrays import precision
from .._base.forks import renew_in_child
from ..errors import InvalidArgumentError
from ..rules import Rule
from ..rules.rule import Shared, Slots
from .buffers import Buffer, UnownedSlotBuffer
from .copies import Carried, check_carried, get_copy, list_carried
from .state_dict import Commit, VariablesByName, convert_saved, get_part, read_array
from .variable import GraphKey, Variable, current_collection


class Scopes(NamedTuple):
    """What stands in front of the names of variables that optimizers make."""

    shared: str
    slots: str


_NO_SCOPES = Scopes("", "")
_scopes: ContextVar[Scopes] = ContextVar("gradlab_scopes", default=_NO_SCOPES)


@contextmanager
def enter_scope(scope: str, slots: bool) -> Iterator[None]:
    """Name what variables share, and if `slots` their slots, under a scope while they are made.

    A name scope of TensorFlow 1 does the one, a variable scope both.
    """
    outer = _scopes.get()
    inner = Scopes(f"{outer.shared}{scope}/", f"{outer.slots}{scope}/" if slots else outer.slots)
    token = _scopes.set(inner)
    try:
        yield
    finally:
        _scopes.reset(token)


class SlotStore:
    """Slot variables by variable and name; shared scalars, such as Adam's powers, by graph and name.

    All variables outside of a Graph count as those of one. Slots are made when they are first
    stored, so that an update that fails leaves none behind.
    """

    def __init__(self) -> None:
        self._slots: weakref.WeakKeyDictionary[Variable, dict[str, Variable]] = (
            weakref.WeakKeyDictionary()
        )
        self._shared: weakref.WeakKeyDictionary[GraphKey, dict[str, Variable]] = (
            weakref.WeakKeyDictionary()
        )
        self._carried: Carried = []  # by a pickle, and not looked for yet
        self.lock: threading.RLock
        renew_in_child(self, "lock")

    def __deepcopy__(self, memo: dict[int, Any]) -> SlotStore:
        """Return slots of its own: of the copies of variables, or of variables that aren't copied."""
        new = memo[id(self)] = SlotStore()
        with self.lock:
            for v, slots in list(self._slots.items()):
                new._slots[get_copy(v, memo)] = copy.deepcopy(slots, memo)
            for key, shared in list(self._shared.items()):
                keys = {get_copy(v, memo)._graph_key for v in self._list_variables(key)}
                for new_key in keys or {key}:
                    new._adopt(new_key, shared, copy.deepcopy)
        return new

    def __reduce__(self) -> tuple[Any, ...]:
        with self.lock:
            return _restore_store, (list(self._slots.items()), self._groups())

    def follow(self, old: Variable, new: Variable) -> None:
        """Give the slots of one variable to another, its copy."""
        if old not in self._slots:
            return
        self._slots[new] = self._slots.pop(old)
        old_key = old._graph_key
        new_key = new._graph_key
        if old_key is not new_key and old_key in self._shared:
            self._adopt(new_key, self._shared[old_key], copy.deepcopy)
            if not self._list_variables(old_key):
                del self._shared[old_key]

    def _list_variables(self, key: GraphKey) -> list[Variable]:
        """Return the variables of one graph that have slots."""
        return [v for v in self._slots if v._graph_key is key]

    def _groups(self) -> list[tuple[list[Variable], dict[str, Variable]]]:
        """Return for each graph its variables and what they share.

        What belongs to no variable any more comes last.
        """
        groups = [(self._list_variables(key), shared) for key, shared in self._shared.items()]
        return sorted(groups, key=lambda group: not group[0])

    def _adopt(
        self, key: GraphKey, shared: Mapping[str, Variable], take: Callable[[Any], Any]
    ) -> None:
        """Take over shared values for a graph; InvalidArgumentError where it has others.

        `take` makes of each variable the one that is kept: a copy, or the variable itself.
        """
        known = self._shared.get(key)
        if known is None:
            self._shared[key] = {name: take(x) for name, x in shared.items()}
        elif any(known[name]._value != x._value for name, x in shared.items()):
            raise InvalidArgumentError(
                f"{', '.join(shared)} of several graphs cannot become those of one: copy the "
                "variables of one graph at a time, each inside a gl.Graph of its own"
            )

    def __contains__(self, v: Variable) -> bool:
        return v in self._slots

    def slot(self, v: Variable, name: str) -> Variable | None:
        """Return one slot of a variable, or None."""
        return self._slots.get(v, {}).get(name)

    def names(self) -> list[str]:
        """Return the sorted names of the slots that exist."""
        with self.lock:
            return sorted({name for slots in self._slots.values() for name in slots})

    def variables(self) -> list[Variable]:
        """Return the variables of the current graph that hold state, by name."""
        key = current_collection().graph_key
        with self.lock:
            found = list(self._shared.get(key, {}).values())
            for v, slots in self._slots.items():
                if v._graph_key is key:
                    found.extend(slots.values())
            return sorted(found, key=lambda v: v.name)

    def values(self, v: Variable, rule: Rule) -> Slots:
        """Return the slots of v as arrays, in the order of the rule: those of the first step where it has none."""
        with self.lock, precision(v.dtype):
            slots = self._slots.get(v)
            if slots is None:
                return rule.init(v._value)
            return tuple(slots[name]._value for name in rule.slots)

    def buffers(self, v: Variable, rule: Rule) -> tuple[Buffer, ...]:
        """Return the buffers of the slots of v in the order of the rule, new ones before the first step."""
        with self.lock, precision(v.dtype):
            check_carried(self._carried)
            self._carried = []
            slots = self._slots.get(v)
            if slots is None:
                return tuple(UnownedSlotBuffer(start) for start in rule.init(v._value))
            return tuple(slots[name]._buffer for name in rule.slots)

    def store(self, v: Variable, rule: Rule, values: Slots, labels: Mapping[str, str]) -> None:
        """Set the slots of v to these values, and make them if it has none.

        `labels` has for each slot the last part of its variable's name, in the order in which they
        are made.
        """
        with self.lock:
            if v not in self._slots:
                self._slots[v] = _make_slots(v, dict(zip(rule.slots, values, strict=True)), labels)
                return
            for name, value in zip(rule.slots, values, strict=True):
                self._slots[v][name].load(value)

    def shared(self, key: GraphKey, rule: Rule) -> Shared:
        """Return the shared scalars of a graph now, or those of the first step."""
        known = self._shared.get(key)
        if not known:
            return rule.start()
        return {name: v._value for name, v in known.items()}

    def store_shared(self, key: GraphKey, values: Shared, scope: str = "") -> None:
        """Set the shared scalars of a graph, and make those that aren't there."""
        for name, value in values.items():
            known = self._shared.setdefault(key, {})
            if name not in known:
                full = f"{_scopes.get().shared}{scope}{name}"
                known[name] = Variable(value, trainable=False, name=full)
            known[name].load(value)

    def stepped(self) -> list[Variable]:
        """Return the variables that have slots."""
        with self.lock:
            return list(self._slots)

    def state(self, names: VariablesByName) -> dict[str, Any]:
        """Return the state as plain values.

        Slots are by the names of their variables. What all share is in "shared"; where there are
        several graphs, it's in "graphs", beside the names of each one's variables.
        """
        with self.lock:
            keys = keys_of(names, self._slots)
            slots = {
                keys[v]: {name: read_array(s) for name, s in slots.items()}
                for v, slots in self._slots.items()
            }
            groups = [
                {
                    "variables": [keys[v] for v in of],
                    "shared": {name: read_array(v) for name, v in shared.items()},
                }
                for of, shared in self._groups()
            ]
        if len(groups) > 1:
            return {"slots": slots, "shared": {}, "graphs": groups}
        return {"slots": slots, "shared": groups[0]["shared"] if groups else {}}

    def loading(
        self,
        slots: Mapping[str, Any],
        shared: Mapping[GraphKey, Shared],
        names: VariablesByName,
        rule_of: Callable[[Variable], Rule],
        labels_of: Callable[[Rule], Mapping[str, str]],
    ) -> Commit:
        """Check the slots of a state, and return the function that takes them over and drops all others.

        `shared`, which `read_shared` gives, is for the caller to store. The function drops what
        isn't in it.
        """
        new = {
            variable_of(key, names): _read_slots(key, values, names, rule_of(names[key]))
            for key, values in slots.items()
        }

        def commit() -> None:
            with self.lock:
                for v in [v for v in self._slots if v not in new]:
                    del self._slots[v]
                for v, values in new.items():
                    rule = rule_of(v)
                    self.store(v, rule, values, labels_of(rule))
                for key in [key for key in self._shared if key not in shared]:
                    del self._shared[key]

        return commit


def keys_of(names: VariablesByName, slots: Mapping[Variable, Any]) -> dict[Variable, str]:
    """Return a name for each variable, the first where it has several.

    InvalidArgumentError: a variable with slots has none.
    """
    keys = {v: name for name, v in reversed(list(names.items()))}
    if missing := [v.name for v in slots if v not in keys]:
        raise InvalidArgumentError(
            f"there are slots of {', '.join(missing)}, which is not among the variables given: a "
            "state would lose them"
        )
    return keys


def variable_of(key: str, names: VariablesByName) -> Variable:
    """Return the variable that a state has under this name, or raise InvalidArgumentError."""
    if key not in names:
        raise InvalidArgumentError(
            f"the state has slots of {key!r}; the variables given are "
            f"{', '.join(names) or 'none'}. Give them all, by the names they were saved with; "
            "nothing was loaded"
        )
    return names[key]


def _read_slots(key: str, values: Any, names: VariablesByName, rule: Rule) -> Slots:
    """Return the saved slots of one variable in the order of the rule, each checked to fit it."""
    v = names[key]
    if not isinstance(values, Mapping) or set(values) != set(rule.slots):
        found = ", ".join(values) if isinstance(values, Mapping) else type(values).__name__
        raise InvalidArgumentError(
            f"the state has for {key} the slots {found or 'none'}, {type(rule).__name__} has "
            f"{', '.join(rule.slots) or 'none'}; nothing was loaded"
        )
    w: Any = v._value
    # A row slot has one number for each row; it's cut from the weights, so that it lies on the same
    # devices.
    rows = w[(slice(None), *(slice(1) for _ in w.shape[1:]))] if rule.row_slots else w
    likes = dict.fromkeys(rule.slots, w) | dict.fromkeys(rule.row_slots, rows)
    owner = v.name
    if not rule.is_row_local:
        likes = dict(zip(rule.slots, rule.init(w), strict=True))
        owner = "a new one"
    return tuple(
        convert_saved(values[name], likes[name], f"slot {name} of {key}", owner)
        for name in rule.slots
    )


def read_shared(
    state: Mapping[str, Any], names: VariablesByName, rule: Rule
) -> dict[GraphKey, Shared]:
    """Return from a state the shared values of each graph, checked to be the rule's.

    A state has a group of variables for each graph; those given now may be of other graphs.
    """
    groups = state.get("graphs")
    if not groups:
        groups = [{"variables": list(state["slots"]), "shared": get_part(state, "shared")}]
    found: dict[GraphKey, Shared] = {}
    for group in groups:
        keys = {variable_of(key, names)._graph_key for key in get_part(group, "variables", list)}
        shared = _read_shared_values(get_part(group, "shared"), rule)
        if not shared:
            continue
        for key in keys or {current_collection().graph_key}:
            # A group without variables is of a graph that is gone: others may win.
            if found.setdefault(key, shared) != shared and keys:
                raise InvalidArgumentError(
                    f"the state has {', '.join(shared)} of several graphs, the variables given are "
                    "of one; nothing was loaded"
                )
    return found


def _read_shared_values(shared: Mapping[str, Any], rule: Rule) -> Shared:
    start = rule.start()
    if shared and set(shared) != set(start):
        raise InvalidArgumentError(
            f"the state shares {', '.join(shared)} among all variables, {type(rule).__name__} "
            f"{', '.join(start) or 'nothing'}; nothing was loaded"
        )
    return {
        name: convert_saved(x, np.asarray(start[name]), name, name) for name, x in shared.items()
    }


def _restore_store(
    slots: list[tuple[Variable, dict[str, Variable]]],
    groups: list[tuple[list[Variable], dict[str, Variable]]],
) -> SlotStore:
    store = SlotStore()
    store._slots.update(slots)
    for of, shared in groups:
        for key in {v._graph_key for v in of}:
            store._adopt(key, shared, lambda x: x)
        if not of:
            store._shared.setdefault(current_collection().graph_key, shared)
    store._carried = list_carried(store._slots)
    return store


def _make_slots(
    v: Variable, values: Mapping[str, object], labels: Mapping[str, str]
) -> dict[str, Variable]:
    """Return new slot variables, named "v/Adam", "v/Adam_1", ... in TensorFlow's way."""
    base = _scopes.get().slots + v.name.removesuffix(":0")
    collection = current_collection()
    slots = {}
    for slot, label in labels.items():
        name = f"{base}/{label}"
        if not collection.graph:  # where a Variable itself makes its name unique
            name = collection.unique_name(name)
        slots[slot] = Variable(values[slot], trainable=False, name=name)
    return slots

"""The state of an optimizer as a dictionary, and back: what `get_weights` has, by name, and what it leaves out."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._base.arrays import Array
from .._base.forks import lock
from ..errors import InvalidArgumentError
from ..schedules import LearningRateSchedule
from ..train.copies import follow, in_copy
from ..train.slots import keys_of, variable_of
from ..train.states import (
    Commit,
    Named,
    Stateful,
    array_of,
    check_class,
    fitting,
    part,
    plain_numbers,
    warn_of_changes,
)
from ..train.variable import Variable
from .hyperparameters import Hyperparameter
from .steps import REFERRING, Steps, Variables

Slots = Mapping[str, Array]


class Saved(Steps, Stateful):
    """`state_dict` and `load_state_dict`: iterations, slots, and the hyperparameters that are variables.

    `set_weights` needs an optimizer that has made a step, and knows weights by their order only; a learning rate that
    was assigned is not among them, but in "keras3".
    """

    def __copy__(self) -> Any:
        """Return the same optimizer under another name, through which `Replicas` reads it."""
        new = object.__new__(type(self))
        vars(new).update(vars(self))
        return new

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """Weights and hyperparameters of its own; slots are of the variables copied with it, else of the same."""
        new = memo[id(self)] = object.__new__(type(self))
        vars(new).update(_replicas=self._replicas)
        lock(new, "_lock", f"the optimizer {self._name}")
        for name in REFERRING:
            vars(new)[name] = tuple(in_copy(v, memo) for v in vars(self)[name])
        for name, x in vars(self).items():
            if name not in vars(new):
                vars(new)[name] = copy.deepcopy(x, memo)
        follow(new, memo)
        return new

    def __getstate__(self) -> dict[str, Any]:
        self._refuse_replicas()
        return {name: x for name, x in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        lock(self, "_lock", f"the optimizer {self._name}")

    def _follow(self, old: Variable, new: Variable) -> None:
        if old in self._kept.slots:
            self._kept.slots[new] = self._kept.slots.pop(old)
        for name in REFERRING:
            vars(self)[name] = tuple(new if v is old else v for v in vars(self)[name])

    def _stepped(self) -> list[Variable]:
        return list(self._kept.slots) or list(self._known)

    def _to_save(self, names: Named) -> dict[str, Any]:
        self._refuse_replicas()
        keys = keys_of(names, dict.fromkeys([*self._kept.slots, *self._known]))
        slots = {keys[v]: {name: array_of(s) for name, s in own.items()} for v, own in self._kept.slots.items()}
        count = self._kept.iterations
        return {
            "optimizer": type(self).__name__,
            "settings": self._settings(),
            "hyperparameters": {name: np.asarray(x) for name, h in self._hyper.items() if (x := _own(h)) is not None},
            "iterations": np.asarray(np.int64(0)) if count is None else array_of(count),
            "slots": slots,
            "known": [keys[v] for v in self._known],
        }

    def _loading(self, state: Any, names: Named) -> Commit:
        check_class(state, self)
        self._refuse_replicas()
        settings = part(state, "settings")
        if settings.get("semantics") != self._version.name:
            raise InvalidArgumentError(
                f"the state is of semantics={settings.get('semantics')!r}, it does not fit {self!r}; nothing was loaded"
            )
        hyper = self._checked_hyperparameters(part(state, "hyperparameters"))
        count = fitting(part(state, "iterations", np.ndarray), np.asarray(np.int64(0)), "iterations", "the step count")
        known = tuple(variable_of(key, names) for key in part(state, "known", list))
        slots = {variable_of(key, names): self._checked_slots(key, x, names) for key, x in part(state, "slots").items()}
        self._check_complete(known, slots)
        warn_of_changes(settings, self._settings(), self._name)

        def commit() -> None:
            with self._lock:
                self._iterations(f"{self._name}/")._value = count
                self._create_hyperparameters(f"{self._name}/")
                for name, x in hyper.items():
                    self._hyper[name].value._value = x
                self._known = known
                self._keep_only(slots)

        return commit

    def _refuse_replicas(self) -> None:
        if self._replicas is not None:
            raise TypeError(
                "this optimizer belongs to gl.keras.Replicas, whose copies are simulated and cannot be saved; save an "
                "optimizer made outside their scope"
            )

    def _checked_hyperparameters(self, saved: Mapping[str, Any]) -> dict[str, Array]:
        """Return those that are variables here too; of the others the settings tell."""
        own = {name: x for name, h in self._hyper.items() if (x := _own(h)) is not None}
        return {name: fitting(x, own[name], name, f"its {name}") for name, x in saved.items() if name in own}

    def _checked_slots(self, key: str, saved: Any, names: Named) -> dict[str, Array]:
        """Return the slots that the rule has and this optimizer was given, with checked shapes."""
        v, own = names[key], (*self._own_slots(), *self._blank().slots)
        there = self._kept.slots.get(v, {})
        expected = {**dict.fromkeys(own, v), **there}
        if not isinstance(saved, Mapping) or not set(there) <= set(saved) <= set(expected):
            found = ", ".join(saved) if isinstance(saved, Mapping) else type(saved).__name__
            raise InvalidArgumentError(
                f"the state has for {key} the slots {found or 'none'}, this optimizer {', '.join(expected) or 'none'}; "
                "slots of your own come first, by add_slot; nothing was loaded"
            )
        likes = {name: x._value for name, x in expected.items()}
        return {
            name: fitting(x, likes[name], f"slot {name} of {key}", expected[name].name) for name, x in saved.items()
        }

    def _check_complete(self, known: Variables, slots: Mapping[Variable, Slots]) -> None:
        """A variable that was stepped has all of them."""
        for v in known:
            if missing := set(self._own_slots()) - set(slots.get(v, ())):
                raise InvalidArgumentError(
                    f"the state has for {v.name} no {' and no '.join(sorted(missing))}, which {self!r} keeps; "
                    "nothing was loaded"
                )

    def _keep_only(self, slots: Mapping[Variable, Slots]) -> None:
        """These slots and no others, in the variables that are there already where there are some."""
        kept = self._kept
        gone = {s for v in [v for v in kept.slots if v not in slots] for s in kept.slots.pop(v).values()}
        kept.weights = [w for w in kept.weights if w not in gone]
        for v, values in slots.items():
            for name, x in values.items():
                self._add_slot(v, name, x, f"{self._name}/")._value = x
        there = {name for own in kept.slots.values() for name in own}
        kept.slot_names = [name for name in kept.slot_names if name in there]

    def _settings(self) -> dict[str, Any]:
        """Return what the constructor was given, as far as it can be compared."""
        of_variables = {name: "a number" for name, h in self._hyper.items() if _own(h) is not None}
        others = {name: _described(h.value) for name, h in self._hyper.items() if name not in of_variables}
        own = {name: x for name, x in self._own_config().items() if name not in self._hyper}
        return plain_numbers(
            {"semantics": self._version.name, "decay at construction": self._initial_decay}
            | {**self._limits, **own, **self._around_config(), **others, **of_variables}
        )


def _own(h: Hyperparameter) -> Array | None:
    """The value of a hyperparameter that is a variable, or will be one at the first use."""
    if isinstance(h.value, Variable):
        return h.value._value
    if callable(h.value) or (hasattr(h.value, "shape") and not isinstance(h.value, np.generic)):
        return None
    try:
        return h._checked(h.value)
    except (TypeError, ValueError):  # which the first step will say
        return None


def _described(value: Any) -> Any:
    """Return what can be compared of a hyperparameter that isn't a variable; of a function nothing."""
    if not isinstance(value, LearningRateSchedule):
        return value
    try:
        return f"{type(value).__name__}({value.get_config()})"
    except NotImplementedError:
        return type(value).__name__

"""The state of an engine as a dictionary, and back: what `get_weights` has, by name, and what it leaves out.

`set_weights` needs an optimizer that has made a step, and knows weights by their order only; a
learning rate that was assigned is among them in "keras3" only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._base.arrays import Array
from ..errors import InvalidArgumentError
from ..schedules import LearningRateSchedule
from ..train.slots import keys_of, variable_of
from ..train.state_dict import (
    Commit,
    VariablesByName,
    convert_saved,
    get_part,
    plain_numbers,
    read_array,
    warn_of_changes,
)
from ..train.variable import Variable
from .engine import Engine
from .hyperparameters import Hyperparameter

Slots = Mapping[str, Array]


def save_engine(engine: Engine, names: VariablesByName) -> dict[str, Any]:
    """Return iterations, slots, and the hyperparameters that are variables."""
    engine.refuse_replicas()
    weights = engine.weights
    keys = keys_of(names, dict.fromkeys([*weights.slots, *engine.built_variables]))
    slots = {}
    for v, own in weights.slots.items():
        slots[keys[v]] = {name: read_array(slot) for name, slot in own.items()}
    count = weights.iterations
    return {
        "settings": _settings(engine),
        "hyperparameters": {name: np.asarray(x) for name, x in _variable_values(engine).items()},
        "iterations": np.asarray(np.int64(0)) if count is None else read_array(count),
        "slots": slots,
        "known": [keys[v] for v in engine.built_variables],
    }


def load_engine(engine: Engine, state: Any, names: VariablesByName, optimizer: Any) -> Commit:
    """Check a state; what is returned takes it over. `optimizer` is named in errors."""
    engine.refuse_replicas()
    settings = get_part(state, "settings")
    if settings.get("semantics") != engine.version.name:
        raise InvalidArgumentError(
            f"the state is of semantics={settings.get('semantics')!r}, it does not fit "
            f"{optimizer!r}; nothing was loaded"
        )
    hyper = _check_hyperparameters(engine, get_part(state, "hyperparameters"))
    zero = np.asarray(np.int64(0))
    count = convert_saved(
        get_part(state, "iterations", np.ndarray), zero, "iterations", "the step count"
    )
    known = tuple(variable_of(key, names) for key in get_part(state, "known", list))
    slots = {}
    for key, saved in get_part(state, "slots").items():
        slots[variable_of(key, names)] = _check_slots(engine, key, saved, names)
    for v in known:
        missing = set(engine.extra_slots()) - set(slots.get(v, ()))
        if missing:
            raise InvalidArgumentError(
                f"the state has for {v.name} no {' and no '.join(sorted(missing))}, which "
                f"{optimizer!r} keeps; nothing was loaded"
            )
    warn_of_changes(settings, _settings(engine), engine.name)

    def commit() -> None:
        with engine.lock:
            engine.weights.make_iterations(engine.prefix)._value = count
            engine.create_hyper(engine.prefix)
            for name, x in hyper.items():
                hyperparameter = engine.hyper[name]
                if isinstance(hyperparameter.value, Variable):
                    hyperparameter.value._value = x
                else:  # a number that took the place of a schedule or a function
                    hyperparameter.value = x[()]
            engine.built_variables = known
            engine.keep_only(slots)

    return commit


def _check_hyperparameters(engine: Engine, saved: Mapping[str, Any]) -> dict[str, Array]:
    """Return those that have a value here, too; of the others the settings tell."""
    own = _variable_values(engine)
    return {
        name: convert_saved(x, own[name], name, f"its {name}")
        for name, x in saved.items()
        if name in own
    }


def _check_slots(engine: Engine, key: str, saved: Any, names: VariablesByName) -> dict[str, Array]:
    """Return the slots that the rule has and this optimizer was given, with checked shapes."""
    v = names[key]
    kept = engine.weights.slots.get(v, {})
    expected: dict[str, Array] = dict.fromkeys(engine.extra_slots(), v._value)
    for slot, start in engine.slot_starts(v).items():
        expected[engine.slot_name(slot)] = start
    for slot, variable in kept.items():
        expected[slot] = variable._value
    if not isinstance(saved, Mapping) or not set(kept) <= set(saved) <= set(expected):
        found = ", ".join(saved) if isinstance(saved, Mapping) else type(saved).__name__
        raise InvalidArgumentError(
            f"the state has for {key} the slots {found or 'none'}, this optimizer "
            f"{', '.join(expected) or 'none'}; slots of your own come first, by "
            "add_slot; nothing was loaded"
        )
    checked = {}
    for name, x in saved.items():
        owner = kept[name].name if name in kept else v.name
        checked[name] = convert_saved(x, expected[name], f"slot {name} of {key}", owner)
    return checked


def _settings(engine: Engine) -> dict[str, Any]:
    """Return what the constructor was given, as far as it can be compared."""
    variables = dict.fromkeys(_variable_values(engine), "a number")
    others = {name: _describe(h.value) for name, h in engine.hyper.items() if name not in variables}
    own = {name: x for name, x in engine.own_config().items() if name not in engine.hyper}
    return plain_numbers(
        {
            "semantics": engine.version.name,
            **engine.saved_settings(),
            **engine.limits,
            **own,
            **engine.settings_around_rule(),
            **others,
            **variables,
        }
    )


def _variable_values(engine: Engine) -> dict[str, Array]:
    """Return the values of hyperparameters that are variables, or will be, or are plain numbers."""
    values = {}
    for name, h in engine.hyper.items():
        value = _variable_value(h)
        if value is not None:
            values[name] = value
    return values


def _variable_value(h: Hyperparameter) -> Array | None:
    if isinstance(h.value, Variable):
        return h.value._value
    if callable(h.value) or (hasattr(h.value, "shape") and not isinstance(h.value, np.generic)):
        return None
    try:
        return h.check_value()
    except (TypeError, ValueError):  # which the first step will say
        return None


def _describe(value: Any) -> Any:
    """Return what can be compared of a hyperparameter that isn't a variable; of a function nothing."""
    if not isinstance(value, LearningRateSchedule):
        return value
    try:
        return f"{type(value).__name__}({value.get_config()})"
    except NotImplementedError:
        return type(value).__name__

"""Optimizers as dictionaries that JSON can hold, and back.

Optimizers that hold others write and read these by the functions here, so the classes are in a table
that `serialization` fills, which knows all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, overload

import numpy as np

from .optimizer import Optimizer
from .versions import version_of

CLASSES: dict[str, Any] = {}  # by their names in small letters


@overload
def serialize(optimizer: None, use_legacy_format: bool = False) -> None: ...
@overload
def serialize(
    optimizer: Optimizer | Mapping[str, Optimizer] | Callable[..., Any],
    use_legacy_format: bool = False,
) -> dict[str, Any]: ...
def serialize(optimizer: Any, use_legacy_format: bool = False) -> dict[str, Any] | None:
    """The class and the config of an optimizer, in the format of its version; NumPy numbers become Python's.

    Args:
        optimizer: an optimizer, an `OptimizerMap`, a function by its name, or None, which stays.
        use_legacy_format: class_name and config only, as in "tf2.3".

    Raises:
        TypeError: something else.

    Weights are not in it: see `get_weights`. Source: `tf.keras.optimizers.serialize`, TensorFlow
    2.3 and 2.21 (2026).

    >>> from gradlab.keras import SGD
    >>> serialize(SGD(0.5))["class_name"]
    'SGD'
    """
    if optimizer is None:
        return None
    name = type(optimizer).__name__
    if isinstance(optimizer, Optimizer):
        config = {
            key: x.item() if isinstance(x, np.generic) else x
            for key, x in optimizer.get_config().items()
        }
        if optimizer._engine.version.name == "tf2.3" or use_legacy_format:
            return {"class_name": name, "config": config}
        module, name, registered_name = optimizer._names_in_config()
    elif type(optimizer) in CLASSES.values():
        module, config, registered_name = "keras.optimizers", optimizer.get_config(), None
    elif callable(optimizer):
        module, name, registered_name = "builtins", "function", "function"
        config = optimizer.__name__
    else:
        raise TypeError(f"serialize takes an optimizer of gl.keras, got {optimizer!r}")
    return {
        "module": module,
        "class_name": name,
        "config": config,
        "registered_name": registered_name,
    }


def deserialize(
    config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None, **changes: Any
) -> Any:
    """The optimizer that `serialize` wrote, here or in Keras.

    Args:
        config: dictionary with class_name and config, which stays as it is.
        custom_objects: your own schedules, and classes of optimizers, by name.
        changes: arguments in place of those of the config, `semantics` above all.

    Without `semantics`, here or in the config, it is "keras3" or "rewrite" where the config holds
    arguments that only these write, else the default of the class.

    Raises:
        ValueError: a class that `gl.keras` doesn't have; else as of `from_config`.
        KeyError: no class_name, or, but for "keras3", no config.

    Source: `tf.keras.optimizers.deserialize`, TensorFlow 2.3 (2020), 2.21 (2026).

    >>> from gradlab.keras import SGD
    >>> deserialize(serialize(SGD(0.5, semantics="tf2.3"))).get_config()["semantics"]
    'tf2.3'
    """
    name = config["class_name"]
    customs = dict(custom_objects or {})
    if name == "function":
        return customs[config["config"]]
    is_optional = changes.get("semantics") == "keras3"
    arguments = dict(config.get("config", {}) if is_optional else config["config"])
    cls = customs.get(name) or CLASSES.get(name.lower())
    if name.lower().startswith("experimental") and changes.get("semantics") != "keras3":
        # Names of the rewrite while it was new.
        cls = CLASSES.get(name.lower().removeprefix("experimental"))
        changes = {"semantics": "rewrite", **changes}
    if cls is None:
        names = ", ".join(dict.fromkeys(known.__name__ for known in CLASSES.values()))
        raise ValueError(f"Unknown optimizer: {name!r}. class_name must be one of {names}")
    version = _version_of_config(arguments)
    if version is not None and "semantics" not in changes:
        changes["semantics"] = version
    return cls.from_config(arguments, custom_objects, **changes)


def _version_of_config(arguments: Mapping[str, Any]) -> str | None:
    """Return the version whose arguments these are, None if they may be of several."""
    if "semantics" in arguments:
        return version_of(arguments["semantics"]).name
    if arguments.get("is_legacy_optimizer") is False:
        return "rewrite"
    return "keras3" if "gradient_accumulation_steps" in arguments else None

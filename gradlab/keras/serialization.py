"""Optimizers by name, and as dictionaries that JSON can hold, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, overload

import numpy as np

from .adadelta import Adadelta
from .adafactor import Adafactor
from .adagrad import Adagrad
from .adam import Adam
from .adamax import Adamax
from .adamw import AdamW
from .ftrl import Ftrl
from .lamb import Lamb
from .lion import Lion
from .loss_scale_optimizer import LossScaleOptimizer
from .multi_optimizer import MultiOptimizer, OptimizerMap
from .muon import Muon
from .nadam import Nadam
from .optimizer import Optimizer
from .rms_prop import RMSprop
from .schedule_free_adamw import ScheduleFreeAdamW
from .sgd import SGD
from .versions import Name, version_of

_CLASSES: tuple[type[Optimizer], ...] = (
    Adadelta,
    Adafactor,
    Adagrad,
    Adam,
    AdamW,
    Adamax,
    Ftrl,
    Lamb,
    Lion,
    LossScaleOptimizer,
    MultiOptimizer,
    Muon,
    Nadam,
    RMSprop,
    SGD,
    ScheduleFreeAdamW,
)
_BY_NAME: dict[str, Any] = {
    **{cls.__name__.lower(): cls for cls in _CLASSES},
    "optimizermap": OptimizerMap,
    # Older names in configs of tf_keras.
    "lossscaleoptimizerv1": LossScaleOptimizer,
    "lossscaleoptimizerv3": LossScaleOptimizer,
}
# What each version's own `get` doesn't find by name, though it has the class.
_NOT_BY_NAME: dict[str, tuple[str, ...]] = {"rewrite": ("adafactor", "lion"), "keras3": ("lamb",)}
_TF_KERAS_LOSS_SCALE = "tf_keras.src.mixed_precision.loss_scale_optimizer"


def get(identifier: Any, semantics: Name | None = None) -> Any:
    """The optimizer that is meant: by name, by config, or itself.

    Args:
        identifier: name of a class in letters of any case, dictionary as of `serialize`, or
            optimizer.
        semantics: the version whose `get` is meant. Without it an optimizer by name is of the
            version that its class has by default.

    Returns:
        the optimizer; None for None in "keras3".

    Raises:
        ValueError: what cannot be an optimizer; a name that the version's own `get` does not find
            (Adafactor and Lion in "rewrite", Lamb in "keras3"); an optimizer of the other library.
        KeyError: a dictionary without class_name or, but for "keras3", config; a class that needs
            another optimizer.

    Source: `tf.keras.optimizers.get`, tf_keras 2.21 and Keras 3.15 (2026).

    >>> get("rmsprop", semantics="rewrite").get_config()["name"]
    'RMSprop'
    """
    if identifier is None and semantics == "keras3":
        return None
    if isinstance(identifier, Optimizer):
        version = identifier._engine.version.name
        if semantics is not None and (version == "keras3") != (semantics == "keras3"):
            raise ValueError(
                f"Could not interpret optimizer identifier: {identifier!r} is of semantics "
                f"{version!r}, not {semantics!r}"
            )
        return identifier
    if isinstance(identifier, str):
        if identifier.lower() in _NOT_BY_NAME.get(semantics or "", ()):
            raise ValueError(
                f"Unknown optimizer: {identifier!r}. get() of {semantics} does not find this name; "
                "use the class, or a config"
            )
        identifier = {"class_name": identifier, "config": {}}
    if not isinstance(identifier, Mapping):
        raise ValueError(f"Could not interpret optimizer identifier: {identifier!r}")
    changes = {} if semantics is None else {"semantics": semantics}
    optimizer = deserialize(identifier, **changes)
    if not isinstance(optimizer, Optimizer):
        raise ValueError(f"Could not interpret optimizer identifier: {identifier!r}")
    return optimizer


@overload
def serialize(optimizer: None, use_legacy_format: bool = False) -> None: ...
@overload
def serialize(
    optimizer: Optimizer | OptimizerMap | Callable[..., Any], use_legacy_format: bool = False
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

    >>> serialize(SGD(0.5))["class_name"]
    'SGD'
    """
    if optimizer is None:
        return None
    if isinstance(optimizer, OptimizerMap):
        return _wrap("keras.optimizers", "OptimizerMap", optimizer.get_config())
    if not isinstance(optimizer, Optimizer):
        if not callable(optimizer):
            raise TypeError(f"serialize takes an optimizer of gl.keras, got {optimizer!r}")
        name = optimizer.__name__
        return {**_wrap("builtins", "function", name), "registered_name": "function"}
    config = {
        k: x.item() if isinstance(x, np.generic) else x for k, x in optimizer.get_config().items()
    }
    name = type(optimizer).__name__
    version = optimizer._engine.version
    if version.name == "tf2.3" or use_legacy_format:
        return {"class_name": name, "config": config}
    if isinstance(optimizer, LossScaleOptimizer) and version.name != "keras3":
        name = "LossScaleOptimizerV3" if version.name == "rewrite" else name
        return {**_wrap(_TF_KERAS_LOSS_SCALE, name, config), "registered_name": name}
    module = "keras.optimizers.legacy" if version.engine == "legacy" else "keras.optimizers"
    return _wrap(module, name, config)


def _wrap(module: str, name: str, config: Any) -> dict[str, Any]:
    return {"module": module, "class_name": name, "config": config, "registered_name": None}


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

    >>> deserialize(serialize(SGD(0.5, semantics="tf2.3"))).get_config()["semantics"]
    'tf2.3'
    """
    name = config["class_name"]
    own = dict(custom_objects or {})
    if name == "function":
        return own[config["config"]]
    if changes.get("semantics") == "keras3":
        arguments = dict(config.get("config", {}))
    else:
        arguments = dict(config["config"])
    cls = own.get(name) or _BY_NAME.get(name.lower())
    if name.lower().startswith("experimental"):
        # Names of the rewrite while it was new.
        cls = _BY_NAME.get(name.lower().removeprefix("experimental"))
        changes = {"semantics": "rewrite", **changes}
    if cls is None:
        names = ", ".join(cls.__name__ for cls in _CLASSES)
        raise ValueError(f"Unknown optimizer: {name!r}. class_name must be one of {names}")
    if cls is OptimizerMap:
        return OptimizerMap.from_config(arguments, custom_objects)
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

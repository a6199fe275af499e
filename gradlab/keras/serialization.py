"""Optimizers as dictionaries that JSON can hold, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .adadelta import Adadelta
from .adagrad import Adagrad
from .adam import Adam
from .adamax import Adamax
from .adamw import AdamW
from .ftrl import Ftrl
from .lamb import Lamb
from .lion import Lion
from .nadam import Nadam
from .optimizer import Optimizer
from .rms_prop import RMSprop
from .schedule_free_adamw import ScheduleFreeAdamW
from .sgd import SGD

_CLASSES: dict[str, type[Optimizer]] = {
    cls.__name__: cls
    for cls in (
        Adadelta,
        Adagrad,
        Adam,
        AdamW,
        Adamax,
        Ftrl,
        Lamb,
        Lion,
        Nadam,
        RMSprop,
        SGD,
        ScheduleFreeAdamW,
    )
}


def serialize(optimizer: Optimizer) -> dict[str, Any]:
    """The class and the config of an optimizer, in the format of its version; NumPy numbers become Python's.

    Weights are not in it: see `get_weights`. Source: `tf.keras.optimizers.serialize`, TensorFlow
    2.3 and 2.21 (2026).

    >>> serialize(SGD(0.5))["class_name"]
    'SGD'
    """
    config = {
        k: x.item() if isinstance(x, np.generic) else x for k, x in optimizer.get_config().items()
    }
    bare = {"class_name": type(optimizer).__name__, "config": config}
    version = optimizer._engine.version
    if version.name == "tf2.3":
        return bare
    module = "keras.optimizers.legacy" if version.engine == "legacy" else "keras.optimizers"
    return {"module": module, **bare, "registered_name": None}


def deserialize(
    config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None, **changes: Any
) -> Any:
    """The optimizer that `serialize` wrote, here or in TensorFlow.

    Args:
        config: dictionary with class_name and config, which stays as it is.
        custom_objects: your own schedules by name.
        changes: arguments in place of those of the config, `semantics` above all.

    Raises:
        ValueError: a class that `gl.keras` doesn't have, or not such a dictionary; else as of
            `from_config`.

    Source: `tf.keras.optimizers.deserialize`, TensorFlow 2.3 (2020), 2.21 (2026).

    >>> deserialize(serialize(SGD(0.5, semantics="tf2.3"))).get_config()["semantics"]
    'tf2.3'
    """
    name = config.get("class_name")
    if name not in _CLASSES or "config" not in config:
        raise ValueError(
            f"config must hold class_name, one of {', '.join(_CLASSES)}, and config; got "
            f"{dict(config)!r}"
        )
    return _CLASSES[name].from_config(dict(config["config"]), custom_objects, **changes)

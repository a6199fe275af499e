"""Optimizers by name: the table of all classes, and `get`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .adadelta import Adadelta
from .adafactor import Adafactor
from .adagrad import Adagrad
from .adam import Adam
from .adamax import Adamax
from .adamw import AdamW
from .configs import CLASSES
from .configs import deserialize as deserialize
from .configs import serialize as serialize
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
from .versions import Name

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
CLASSES.update({cls.__name__.lower(): cls for cls in _CLASSES})
CLASSES["optimizermap"] = OptimizerMap
# Older names in configs of tf_keras.
CLASSES["lossscaleoptimizerv1"] = LossScaleOptimizer
CLASSES["lossscaleoptimizerv3"] = LossScaleOptimizer

# What each version's own `get` doesn't find by name, though it has the class.
_NOT_BY_NAME: dict[str, tuple[str, ...]] = {
    "tf2.3": ("multioptimizer", "optimizermap"),
    "legacy": ("multioptimizer", "optimizermap"),
    "rewrite": ("adafactor", "lion", "multioptimizer", "optimizermap"),
    "keras3": ("lamb",),
}


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
    changes: dict[str, Any] = {} if semantics is None else {"semantics": semantics}
    optimizer = deserialize(identifier, None, **changes)
    if not isinstance(optimizer, Optimizer):
        raise ValueError(f"Could not interpret optimizer identifier: {identifier!r}")
    return optimizer

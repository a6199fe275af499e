"""Schedules as dictionaries that JSON can hold, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._base.options import Semantics, is_old
from ._schedule import LearningRateSchedule
from .cosine import CosineDecay, CosineDecayRestarts, LinearCosineDecay, PeriodicCosineDecay
from .decay import ExponentialDecay, InverseTimeDecay, PiecewiseConstantDecay, PolynomialDecay
from .noisy import NoisyLinearCosineDecay

_MODULE = "keras.optimizers.schedules"
_CLASSES: dict[str, type[LearningRateSchedule]] = {
    c.__name__: c
    for c in (
        ExponentialDecay,
        PiecewiseConstantDecay,
        PolynomialDecay,
        InverseTimeDecay,
        CosineDecay,
        CosineDecayRestarts,
        LinearCosineDecay,
        NoisyLinearCosineDecay,
        PeriodicCosineDecay,
    )
}


def serialize(
    learning_rate_schedule: LearningRateSchedule,
    use_legacy_format: bool = False,
    *,
    semantics: Semantics = "tf2.21",
) -> dict[str, Any]:
    """Return the schedule as a dictionary, as an optimizer's config holds it.

    Args:
        learning_rate_schedule: any schedule with `get_config`.
        use_legacy_format: only class_name and config, without module and registered_name.
        semantics: "tf2.3" is that format too, and its CosineDecay has no warmup (ValueError if this
            one does).

    Raises TypeError for anything that isn't a schedule. Source:
    `tf.keras.optimizers.schedules.serialize`, TensorFlow 2.21 (2026).

    >>> serialize(InverseTimeDecay(0.5, 2, 0.25), use_legacy_format=True)["class_name"]
    'InverseTimeDecay'
    """
    if not isinstance(learning_rate_schedule, LearningRateSchedule):
        raise TypeError(
            f"serialize needs a LearningRateSchedule, got {type(learning_rate_schedule).__name__}"
        )
    old = is_old(semantics)
    name = type(learning_rate_schedule).__name__
    config = learning_rate_schedule.get_config()
    if old and isinstance(learning_rate_schedule, CosineDecay):
        _remove_warmup(config)
    if old or use_legacy_format:
        return {"class_name": name, "config": config}
    if _CLASSES.get(name) is type(learning_rate_schedule):
        return {"module": _MODULE, "class_name": name, "config": config, "registered_name": None}
    module = type(learning_rate_schedule).__module__
    return {
        "module": None if module == "__main__" else module,
        "class_name": name,
        "config": config,
        "registered_name": name,
    }


def deserialize(
    config: Mapping[str, Any],
    custom_objects: Mapping[str, type[LearningRateSchedule]] | None = None,
    use_legacy_format: bool = False,
) -> LearningRateSchedule:
    """Return the schedule that `serialize` wrote, in either format.

    Args:
        config: dictionary with class_name and config.
        custom_objects: your own classes by name.
        use_legacy_format: accepted; both formats are always read.

    Raises:
        TypeError: not such a dictionary, or unknown arguments.
        ValueError: an unknown class.

    Source: `tf.keras.optimizers.schedules.deserialize`, TensorFlow 2.21 (2026).

    >>> schedule = deserialize(serialize(ExponentialDecay(0.5, 2, 0.25)))
    >>> type(schedule).__name__, schedule.initial_learning_rate, schedule.decay_rate
    ('ExponentialDecay', 0.5, 0.25)
    """
    if not isinstance(config, Mapping) or not {"class_name", "config"} <= config.keys():
        raise TypeError(f"config must be a dictionary with class_name and config, got {config!r}")
    known = {**_CLASSES, **(custom_objects or {})}
    if config["class_name"] not in known:
        raise ValueError(
            f"there is no schedule {config['class_name']!r}; there are {', '.join(known)}. "
            "Pass your own class in custom_objects"
        )
    return known[config["class_name"]].from_config(config["config"])


def _remove_warmup(config: dict[str, Any]) -> None:
    """Remove the arguments that CosineDecay didn't have in TensorFlow 2.3."""
    if config.pop("warmup_target") is not None:
        raise ValueError(
            "TensorFlow 2.3 has no warmup; serialize this schedule with semantics='tf2.21'"
        )
    del config["warmup_steps"]

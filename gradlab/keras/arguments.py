"""The checks of constructor arguments, in the order of each version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any

import numpy as np

from .._base.suggest import did_you_mean
from ..errors import KerasWarning, warn
from .hyperparameters import check_number
from .semantics import CLIPS, Semantics

# Keras's own words, which its tests look for.
_NOT_KNOWN = {"rewrite": "{name} is not a valid argument", "keras3": "Argument(s) not recognized"}
_DEPRECATED = "{name} is deprecated in the new TF-Keras optimizer, semantics='legacy' has it"
_EXCLUDING = {
    "legacy": "Cannot accept both `clipnorm` and `global_clipnorm`",
    "rewrite": "At most one of `clipnorm` and `global_clipnorm` can be set",
    "keras3": "Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set",
}
_LEGACY_ONLY = ("decay", "gradient_aggregator", "gradient_transformers")


def check_arguments(kwargs: Mapping[str, Any], version: Semantics, in_scope: bool, owner: type) -> None:
    """Refuse what the version refuses: unknown names, negative numbers, limits that exclude one another.

    `owner` is the class of the optimizer.

    >>> from .semantics import semantics
    >>> from .sgd import SGD
    >>> check_arguments({"clipnorm": 1.0, "clipvalue": 1.0}, semantics("legacy"), False, SGD)
    >>> check_arguments({"clipnorm": 1.0, "clipvalue": 1.0}, semantics("keras3"), False, SGD)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set: ...
    """
    said = f"gl.keras.{owner.__name__}(semantics={version.name!r})"
    (_check_lazy if version.lazy else _check_eager)(kwargs, version, said, owner)
    for first, second in version.excluding:
        a, b = kwargs.get(first), kwargs.get(second)
        if a is not None and b is not None:
            words = _EXCLUDING[version.name]
            raise ValueError(f"{words}: {said} takes {first} or {second}, not both; got {a} and {b}")
    limits = [name for name in CLIPS if kwargs.get(name) is not None]
    if limits and in_scope and version.name == "tf2.3":
        raise ValueError(
            f"TensorFlow 2.3 refuses {limits[0]} for replicas; clip the gradients yourself, or take semantics='legacy'"
        )
    if limits and kwargs.get("gradient_transformers"):
        raise ValueError(f"{limits[0]} cannot be set beside gradient_transformers; clip in one of these instead")


def _unknown(name: str, said: str, owner: type, others: Sequence[str]) -> str:
    allowed = [*(p for p in signature(owner).parameters if p != "kwargs"), *others]
    listed = f" It takes {', '.join(allowed)}" if (near := did_you_mean(name, allowed)).startswith("did") else ""
    return f"{said} has no argument {name!r}; {near}{listed}"


def _check_lazy(kwargs: Mapping[str, Any], version: Semantics, said: str, owner: type) -> None:
    allowed = version.clips + version.arguments
    for name, value in kwargs.items():
        if name not in allowed:
            raise TypeError(f"Unexpected keyword argument passed to optimizer: {_unknown(name, said, owner, allowed)}")
        if name.startswith("gradient_"):
            continue
        if value is not None:
            check_number(name, value)
        if value is not None and value < 0:
            raise ValueError(f"{name} must be >= 0, got {value!r}")
        if name == "lr" and version.name == "legacy":
            warn("lr is the old name; use learning_rate", KerasWarning)
    if "decay" in kwargs and kwargs["decay"] is None:
        raise TypeError("decay must be a number >= 0, got None; leave it out instead")


def _check_eager(kwargs: Mapping[str, Any], version: Semantics, said: str, owner: type) -> None:
    for name, value in kwargs.items():
        allowed = (*version.clips, *version.arguments, *version.defaults)
        if name not in allowed:
            gone = version.name == "rewrite" and name in _LEGACY_ONLY
            words = _DEPRECATED if gone else _NOT_KNOWN[version.name]
            error = ValueError if version.name == "keras3" or gone else TypeError
            raise error(f"{words.format(name=name)}: {_unknown(name, said, owner, allowed)}")
        if name == "lr" or (name == "decay" and value):
            warn(f"{name} has no effect in {version.name}", KerasWarning)
    _check_around(kwargs)


def _check_around(kwargs: Mapping[str, Any]) -> None:
    """Check what acts around the rule: weight decay, averages, the scale of the loss, accumulation."""
    for name in ("weight_decay", "loss_scale_factor", "gradient_accumulation_steps"):
        if kwargs.get(name) is not None:
            check_number(name, kwargs[name])
    if kwargs.get("loss_scale_factor") == 0:
        warn("loss_scale_factor=0 divides every gradient by 0, as in Keras; take None, or 1", KerasWarning)
    if (steps := kwargs.get("gradient_accumulation_steps")) and not (_is_integer(steps) and steps >= 2):
        raise ValueError(f"gradient_accumulation_steps must be an integer >= 2 or None, got {steps!r}")
    if not kwargs.get("use_ema"):
        return
    check_number("ema_momentum", momentum := kwargs.get("ema_momentum", 0.5))
    if not 0 <= momentum <= 1:
        raise ValueError(f"ema_momentum must be in the range [0, 1], got {momentum!r}")
    if (every := kwargs.get("ema_overwrite_frequency")) and not (_is_integer(every) and every >= 1):
        raise ValueError(f"ema_overwrite_frequency must be an integer >= 1 or None, got {every!r}")


def _is_integer(x: Any) -> bool:
    return isinstance(x, int | np.integer)

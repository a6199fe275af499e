"""The checks of constructor arguments, in the order of each version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from typing import Any

import numpy as np

from .._base.suggest import did_you_mean
from ..errors import KerasWarning, warn
from .hyperparameters import check_number
from .versions import CLIPS, Version

# Keras's own words, which its tests look for.
_NOT_KNOWN = {"rewrite": "{name} is not a valid argument", "keras3": "Argument(s) not recognized"}
_DEPRECATED = "{name} is deprecated in the new TF-Keras optimizer, semantics='legacy' has it"
_EXCLUDING = {
    "legacy": "Cannot accept both `clipnorm` and `global_clipnorm`",
    "rewrite": "At most one of `clipnorm` and `global_clipnorm` can be set",
    "keras3": "Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set",
}
_LEGACY_ONLY = ("decay", "gradient_aggregator", "gradient_transformers")


def check_arguments(
    kwargs: Mapping[str, Any], version: Version, in_scope: bool, owner: type
) -> None:
    """Refuse what the version refuses: unknown names, negative numbers, limits that exclude one another.

    `owner` is the class of the optimizer.

    >>> from .sgd import SGD
    >>> from .versions import version_of
    >>> check_arguments({"clipnorm": 1.0, "clipvalue": 1.0}, version_of("legacy"), False, SGD)
    >>> check_arguments({"clipnorm": 1.0, "clipvalue": 1.0}, version_of("keras3"), False, SGD)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set: ...
    """
    call = f"gl.keras.{owner.__name__}(semantics={version.name!r})"
    if version.engine == "legacy":
        _check_legacy(kwargs, version, call, owner)
    else:
        _check_newer(kwargs, version, call, owner)
    for first, second in version.excluding:
        a = kwargs.get(first)
        b = kwargs.get(second)
        if a is not None and b is not None:
            words = _EXCLUDING[version.name]
            raise ValueError(
                f"{words}: {call} takes {first} or {second}, not both; got {a} and {b}"
            )
    limits = [name for name in CLIPS if kwargs.get(name) is not None]
    if limits and in_scope and version.name == "tf2.3":
        raise ValueError(
            f"TensorFlow 2.3 refuses {limits[0]} for replicas; clip the gradients yourself, or "
            "take semantics='legacy'"
        )
    check_transformers(kwargs.get("gradient_transformers"), limits)


def check_transformers(transformers: Any, limits: Iterable[str]) -> None:
    """Refuse transformers beside limits, as TensorFlow does."""
    names = list(limits)
    if transformers and names:
        raise ValueError(
            f"{names[0]} cannot be set beside gradient_transformers; clip in one of these instead"
        )


def check_name(name: Any, version: Version) -> None:
    """ValueError for a malformed name; None and "" ask for one that is made up.

    TensorFlow's versions before Keras 3 find a name that isn't a string at the first step; here it
    is found at once.
    """
    if name is not None and not isinstance(name, str):
        raise ValueError(f"name must be a string or None, got {name!r}")
    if name and version.name == "keras3" and "/" in name:
        raise ValueError(f'name must not hold "/" with semantics="keras3", got {name!r}')


def _describe_unknown(name: str, call: str, owner: type, others: Sequence[str]) -> str:
    allowed = [*(p for p in signature(owner).parameters if p != "kwargs"), *others]
    near = did_you_mean(name, allowed)
    text = f"{call} has no argument {name!r}; {near}"
    if near.startswith("did"):
        text += f" It takes {', '.join(allowed)}"
    return text


def _check_legacy(kwargs: Mapping[str, Any], version: Version, call: str, owner: type) -> None:
    allowed = version.clips + version.arguments
    for name, value in kwargs.items():
        if name not in allowed:
            unknown = _describe_unknown(name, call, owner, allowed)
            raise TypeError(f"Unexpected keyword argument passed to optimizer: {unknown}")
        if name.startswith("gradient_"):
            continue
        if value is not None:
            check_number(name, value)
            if value < 0:
                raise ValueError(f"{name} must be >= 0, got {value!r}")
        if name == "lr" and version.name == "legacy":
            warn("lr is the old name; use learning_rate", KerasWarning)
    if "decay" in kwargs and kwargs["decay"] is None:
        raise TypeError("decay must be a number >= 0, got None; leave it out instead")


def _check_newer(kwargs: Mapping[str, Any], version: Version, call: str, owner: type) -> None:
    allowed = (*version.clips, *version.arguments, *version.defaults)
    for name, value in kwargs.items():
        if name not in allowed:
            is_deprecated = version.name == "rewrite" and name in _LEGACY_ONLY
            words = _DEPRECATED if is_deprecated else _NOT_KNOWN[version.name]
            error = ValueError if version.name == "keras3" or is_deprecated else TypeError
            raise error(
                f"{words.format(name=name)}: {_describe_unknown(name, call, owner, allowed)}"
            )
        if name == "lr" or (name == "decay" and value):
            warn(f"{name} has no effect in {version.name}", KerasWarning)
    _check_around(kwargs)


def _check_around(kwargs: Mapping[str, Any]) -> None:
    """Check what acts around the rule: weight decay, averages, the scale of the loss, accumulation."""
    for name in ("weight_decay", "loss_scale_factor", "gradient_accumulation_steps"):
        if kwargs.get(name) is not None:
            check_number(name, kwargs[name])
    if kwargs.get("loss_scale_factor") == 0:
        warn(
            "loss_scale_factor=0 divides every gradient by 0, as in Keras; take None, or 1",
            KerasWarning,
        )
    steps = kwargs.get("gradient_accumulation_steps")
    if steps and not (_is_integer(steps) and steps >= 2):
        raise ValueError(
            f"gradient_accumulation_steps must be an integer >= 2 or None, got {steps!r}"
        )
    if not kwargs.get("use_ema"):
        return
    momentum = kwargs.get("ema_momentum", 0.5)
    check_number("ema_momentum", momentum)
    if not 0 <= momentum <= 1:
        raise ValueError(f"ema_momentum must be in the range [0, 1], got {momentum!r}")
    every = kwargs.get("ema_overwrite_frequency")
    if every and not (_is_integer(every) and every >= 1):
        raise ValueError(f"ema_overwrite_frequency must be an integer >= 1 or None, got {every!r}")


def _is_integer(x: Any) -> bool:
    return isinstance(x, int | np.integer)

"""The checks of constructor arguments, in the order of each version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import KerasWarning, warn
from .semantics import CLIPS, Semantics

_LEGACY_ONLY = ("decay", "gradient_aggregator", "gradient_transformers")


def check_arguments(kwargs: Mapping[str, Any], version: Semantics, in_scope: bool) -> None:
    """Refuse what the version refuses: unknown names, negative numbers, limits that exclude one another.

    >>> from .semantics import semantics
    >>> check_arguments({"clipnorm": 1.0, "clipvalue": 1.0}, semantics("legacy"), in_scope=False)
    >>> check_arguments({"clipnorm": 1.0, "clipvalue": 1.0}, semantics("keras3"), in_scope=False)
    Traceback (most recent call last):
    ValueError: keras3 takes clipnorm or clipvalue, not both; got 1.0 and 1.0
    """
    (_check_lazy if version.lazy else _check_eager)(kwargs, version)
    for first, second in version.excluding:
        a, b = kwargs.get(first), kwargs.get(second)
        if a is not None and b is not None:
            raise ValueError(f"{version.name} takes {first} or {second}, not both; got {a} and {b}")
    limits = [name for name in CLIPS if kwargs.get(name) is not None]
    if limits and in_scope and version.name == "tf2.3":
        raise ValueError(
            f"TensorFlow 2.3 refuses {limits[0]} for replicas; clip the gradients yourself, or take semantics='legacy'"
        )
    if limits and kwargs.get("gradient_transformers"):
        raise ValueError(f"{limits[0]} cannot be set beside gradient_transformers; clip in one of these instead")


def _check_lazy(kwargs: Mapping[str, Any], version: Semantics) -> None:
    allowed = version.clips + version.arguments
    for name, value in kwargs.items():
        if name not in allowed:
            raise TypeError(f"{version.name} has no argument {name!r}; it has {', '.join(allowed)}")
        if name.startswith("gradient_"):
            continue
        if value is not None and value < 0:
            raise ValueError(f"{name} must be >= 0, got {value!r}")
        if name == "lr" and version.name == "legacy":
            warn("lr is the old name; use learning_rate", KerasWarning)
    if "decay" in kwargs and kwargs["decay"] is None:
        raise TypeError("decay must be a number >= 0, got None; leave it out instead")


def _check_eager(kwargs: Mapping[str, Any], version: Semantics) -> None:
    for name, value in kwargs.items():
        if name in version.fixed:
            if value != version.fixed[name]:
                raise NotImplementedError(f"gradlab's optimizers have no {name}; leave it at {version.fixed[name]!r}")
        elif name not in version.clips + version.arguments:
            error = ValueError if version.name == "keras3" or name in _LEGACY_ONLY else TypeError
            raise error(f"{version.name} has no argument {name!r}; it has {', '.join(version.clips)}")
        elif name == "lr" or (name == "decay" and value):
            warn(f"{name} has no effect in {version.name}", KerasWarning)

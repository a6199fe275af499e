"""The clip arguments of an optimizer: what they do to a step, and warnings where that may surprise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .._base.arrays import is_double, is_jax, precision
from .._base.gradient_types import Gradient
from .._base.slices import IndexedSlices
from ..clip import clip_by_global_norm, clip_by_norm, clip_by_value
from ..errors import KerasWarning, warn
from .hyperparameters import check_number
from .versions import Version

Limits = Mapping[str, Any]  # clip argument -> number; those that are not set are left out
Pair = tuple[Gradient, Any]  # gradient, variable


def clip_pairs(pairs: Sequence[Pair], limits: Limits, version: Version) -> list[Pair]:
    """Return the pairs with their gradients clipped, by one limit after another as the version does it.

    IndexedSlices are clipped as they stand, before slices of one row are summed.

    >>> from .versions import version_of
    >>> g = np.float32([3.0, 4.0])
    >>> for name in ("tf2.3", "legacy", "rewrite"):
    ...     ((g1, _),) = clip_pairs([(g, "w")], {"clipnorm": 1.0, "clipvalue": 2.0}, version_of(name))
    ...     print(name, g1)
    tf2.3 [0.6 0.8]
    legacy [0.70710677 0.70710677]
    rewrite [0.6 0.8]
    """
    active = [name for name in version.clips if name in limits]
    if version.zero_switches_off:
        active = [name for name in active if limits[name] > 0]
    if version.only_first:
        active = active[:1]
    grads = [g for g, _ in pairs]
    variables = [v for _, v in pairs]
    # A list, which has no dtype, becomes float32.
    is_wide = any(is_double(getattr(g, "dtype", np.float32)) for g in grads)
    for name in active:
        if name != "clipvalue":
            _warn_of_duplicates(pairs, name)
        with precision(np.float64 if is_wide else np.float32):
            grads = _CLIPS[name](grads, limits[name], version)
        if name == "global_clipnorm" and version.global_clip_makes_dense:
            grads = [make_dense(g, tuple(v.shape)) for g, v in zip(grads, variables, strict=True)]
    return list(zip(grads, variables, strict=True))


def make_dense(g: Gradient, shape: tuple[int, ...]) -> Gradient:
    """Return slices as the whole gradient that they stand for, rows of one index summed."""
    if isinstance(g, IndexedSlices):
        return IndexedSlices(g.values, g.indices, shape).to_dense()
    return g


def _by_value(grads: list[Gradient], limit: Any, version: Version) -> list[Gradient]:
    return [clip_by_value(g, -limit, limit, semantics=version.clip_functions) for g in grads]


def _by_norm(grads: list[Gradient], limit: Any, version: Version) -> list[Gradient]:
    return [clip_by_norm(g, limit, semantics=version.clip_functions) for g in grads]


def _by_global_norm(grads: list[Gradient], limit: Any, version: Version) -> list[Gradient]:
    return clip_by_global_norm(grads, limit, semantics=version.clip_functions)[0]


_CLIPS: dict[str, Callable[[list[Gradient], Any, Version], list[Gradient]]] = {
    "clipvalue": _by_value,
    "clipnorm": _by_norm,
    "global_clipnorm": _by_global_norm,
}


def check_limit(name: str, limit: Any, version: Version) -> None:
    """Refuse a limit that isn't a number, warn of one that the version reads in its own way."""
    if limit is None:
        return
    check_number(name, limit)
    if name not in version.clips:
        warn(f"{name} has no effect: {version.name} has no such argument", KerasWarning)
    elif version.zero_switches_off and not limit > 0:
        warn(
            f"{name}={limit} switches clipping off in {version.name}, without a word there",
            KerasWarning,
        )
    elif limit == 0:
        warn(
            f"{name}=0 makes every gradient 0 in {version.name}, and 0/0 = NaN where a norm is 0",
            KerasWarning,
        )


def warn_of_no_clipping(limits: Limits) -> None:
    """Warn where limits are set that `apply_gradients` ignores."""
    if limits:
        warn(
            f"{', '.join(limits)} does nothing here: in TensorFlow 2.2 and 2.3 apply_gradients "
            "never clips, only minimize, get_gradients and fit do. Clip the gradients yourself, "
            "or take semantics='legacy'",
            KerasWarning,
        )


def _warn_of_duplicates(pairs: Sequence[Pair], limit: str) -> None:
    for g, v in pairs:
        if has_duplicates(g):
            warn(
                f"{limit} takes the norm of the slices of {getattr(v, 'name', 'a weight')} as "
                "they stand, before slices of one row are summed: the row that is applied may be "
                "longer than the limit",
                KerasWarning,
            )


def has_duplicates(g: Gradient) -> bool:
    """Return whether a row is named twice.

    JAX's indices are left alone, as a look would wait for the device.
    """
    if not isinstance(g, IndexedSlices) or is_jax(g.indices):
        return False
    return bool(len(np.unique(g.indices)) < g.indices.shape[0])

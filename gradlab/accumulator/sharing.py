"""Which accumulators are one object: those of one collection that share a name, and TensorFlow's without a name."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Any

from ..collection import Collection
from ..errors import InvalidArgumentError
from .kernel import Kernel

_lock = threading.Lock()
_kept: weakref.WeakKeyDictionary[Collection, dict[Hashable, Kernel]] = weakref.WeakKeyDictionary()
_alive: weakref.WeakKeyDictionary[Collection, weakref.WeakValueDictionary[Hashable, Kernel]]
_alive = weakref.WeakKeyDictionary()


def shared(collection: Collection, key: Hashable, make: Callable[[], Kernel], keep: bool) -> Kernel:
    """The kernel of this key, made if there is none; with `keep` it outlives whoever refers to it, as in TensorFlow."""
    with _lock:
        kernels: Any = _kept.setdefault(collection, {}) if keep else _alive.setdefault(collection, _weak())
        kernel = kernels.get(key)
        if kernel is None:
            kernel = kernels[key] = make()
        return kernel


def _weak() -> weakref.WeakValueDictionary[Hashable, Kernel]:
    return weakref.WeakValueDictionary()


def check_same(kernel: Kernel, signature: tuple[Any, ...], shared_name: str) -> None:
    """One name, one kind of accumulator."""
    if kernel.signature != signature:
        raise InvalidArgumentError(
            f"shared_name {shared_name!r} belongs to an accumulator of {_words(kernel.signature)}; "
            f"this one has {_words(signature)}"
        )


def _words(signature: tuple[Any, ...]) -> str:
    kind, dtype, shape, reduction = signature[:4]
    return f"kind {kind}, dtype {dtype}, shape {shape}, reduction_type {reduction}"

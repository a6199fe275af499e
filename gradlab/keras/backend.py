"""Global state of Keras: its epsilon, and the replicas in whose scope a thread is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_epsilon = 1e-7
_scope: ContextVar[object | None] = ContextVar("gradlab_replicas", default=None)


def epsilon() -> float:
    """Return the default epsilon, used for None (and, in "tf2.3" and "legacy", 0).

    Source: `tf.keras.backend.epsilon`.

    >>> epsilon()
    1e-07
    """
    return _epsilon


def set_epsilon(value: float) -> None:
    """Set that number for optimizers made from now on. Source: `tf.keras.backend.set_epsilon`.

    >>> set_epsilon(1e-5)
    >>> epsilon()
    1e-05
    >>> set_epsilon(1e-7)
    """
    global _epsilon
    _epsilon = float(value)


def current_replicas() -> object | None:
    """The replicas in whose scope this thread is; which they are is all that an optimizer needs to know of them."""
    return _scope.get()


@contextmanager
def in_scope_of(replicas: object) -> Iterator[None]:
    """Optimizers made inside belong to these replicas."""
    token = _scope.set(replicas)
    try:
        yield
    finally:
        _scope.reset(token)

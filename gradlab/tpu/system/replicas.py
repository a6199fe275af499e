"""Which replica the running code stands for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_replica: ContextVar[int | None] = ContextVar("replica", default=None)
_patience: ContextVar[float | None] = ContextVar("patience", default=None)


@contextmanager
def replica(number: int, timeout: float | None = None) -> Iterator[int]:
    """Operations inside are those of this replica.

    Args:
        number: 0, 1, ...; with SPMD sharding a replica has several cores, else one.
        timeout: where every replica runs in a thread of its own, the seconds that an operation waits for what the
            others have to do first. None: they run in this thread too, so waiting would not end, and it is an error.

    Raises:
        ValueError: a number below 0, or a timeout that is not above 0.

    Source: `tf.distribute.ReplicaContext`, TensorFlow 2.21 (2026).

    >>> with replica(1):
    ...     current_replica()
    1
    """
    if number < 0:
        raise ValueError(f"replicas are 0, 1, ...; got {number}")
    if timeout is not None and not timeout > 0:
        raise ValueError(f"timeout must be above 0 or None, got {timeout}")
    tokens = _replica.set(number), _patience.set(timeout)
    try:
        yield number
    finally:
        _replica.reset(tokens[0])
        _patience.reset(tokens[1])


def current_replica() -> int | None:
    """The number of the replica around, None where none is named.

    >>> current_replica() is None
    True
    """
    return _replica.get()


def patience() -> float | None:
    """How long operations here wait for other replicas."""
    return _patience.get()

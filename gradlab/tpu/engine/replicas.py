"""Replicas: which one the code of a thread stands for, its share of arrays, and checks of what it gives back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..._base.arrays import Array, is_jax, is_traced
from ..._base.jax_or_numpy import jnp, tree_map
from ...errors import DTypeError, InvalidArgumentError
from ..ids import Ids
from ..lookup import Dedup
from ..plan import Plan
from ..update import check_gradients

_replica: ContextVar[int | None] = ContextVar("replica", default=None)
_timeout: ContextVar[float | None] = ContextVar("timeout", default=None)


@contextmanager
def replica(number: int, timeout: float | None = None) -> Iterator[int]:
    """Make the operations inside those of this replica.

    Args:
        number: 0, 1, ...; with SPMD sharding a replica has several cores, else one.
        timeout: where every replica runs in a thread of its own, the seconds that an operation
            waits for what the others have to do first. None: they run in this thread too, so
            waiting would not end, and it is an error.

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
    replica_token = _replica.set(number)
    timeout_token = _timeout.set(timeout)
    try:
        yield number
    finally:
        _replica.reset(replica_token)
        _timeout.reset(timeout_token)


def current_replica() -> int | None:
    """Return the number of the replica of the context, None where none is named.

    >>> current_replica() is None
    True
    """
    return _replica.get()


def wait_timeout() -> float | None:
    """Return the seconds that operations of this thread wait for other replicas, None if they don't."""
    return _timeout.get()


def take_share(tree: Any, replica: int, replicas: int) -> Any:
    """Return the share of a replica in arrays whose first axis has the shares of all, one after another."""
    if replicas == 1:
        return tree

    def take(x: Array) -> Array:
        size = len(x) // replicas
        return x[replica * size : (replica + 1) * size]

    return tree_map(take, tree)


def join_shares(parts: Sequence[Sequence[Array]]) -> tuple[Array, ...]:
    """Return the gradients of all replicas, the inverse of `take_share`."""
    return tuple(x[0] if len(x) == 1 else jnp.concatenate(x) for x in zip(*parts, strict=True))


def copy_ids(ids: Mapping[str, Ids]) -> dict[str, Ids]:
    """Return ids that nothing else can write to."""
    return {
        name: Ids(*(None if x is None else np.array(x) for x in feature))
        for name, feature in ids.items()
    }


def copy_gradients(plan: Plan, gradients: Sequence[Any]) -> list[Array]:
    """Return gradients as float32 arrays that nothing else can write to.

    Raises:
        InvalidArgumentError: another number or shape than the activations have; it names the
            feature.
        DTypeError: entries that aren't floats.
        TypeError: tracers.
    """
    arrays = [g if is_jax(g) else np.asarray(g) for g in gradients]
    for k, g in enumerate(arrays):
        if is_traced(g):
            raise TypeError(
                "a gradient is traced by JAX; outside of it send arrays, inside use gl.tpu.update"
            )
        if g.dtype.kind != "f" and g.dtype.name != "bfloat16":
            raise DTypeError(f"gradient {k} must be float32, got {g.dtype}")
    check_gradients(plan, arrays)
    return [g.astype(jnp.float32) if is_jax(g) else jnp.array(g, jnp.float32) for g in arrays]


def check_dedup(received: Dedup, given: Any) -> None:
    """Refuse deduplication data that are not those received in this step; None is accepted.

    Raises:
        InvalidArgumentError: another nesting, or another entry; it says where.
    """
    if given is None:
        return
    is_nested = (
        isinstance(given, tuple | list) and len(given) == 1 and isinstance(given[0], tuple | list)
    )
    if not is_nested or len(given[0]) != len(received[0]):
        raise InvalidArgumentError(
            f"deduplication data are a tuple with one tuple of {len(received[0])} vectors, as "
            "they were received"
        )
    for k, (a, b) in enumerate(zip(received[0], given[0], strict=True)):
        if a is not b and not (
            np.shape(a) == np.shape(b) and np.array_equal(np.asarray(a), np.asarray(b))
        ):
            raise InvalidArgumentError(
                f"vector {k} of the deduplication data is not the one received in this step"
            )


def check_equal_rates(rates: Mapping[int, Sequence[Array]]) -> None:
    """Refuse learning rates on which the replicas do not agree."""
    if len(rates) > 1 and len({tuple(map(float, r)) for r in rates.values()}) > 1:
        raise InvalidArgumentError("all replicas of a step must send the same learning rates")

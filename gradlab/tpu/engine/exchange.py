"""The exchange between a system and its replicas: their shares of arrays, and checks of the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..._base.arrays import Array, is_jax, is_traced
from ..._base.library import jnp, tree_map
from ...errors import DTypeError, InvalidArgumentError
from ..ids import Ids
from ..lookup import Dedup, pack_dedup
from ..plan import Plan
from ..update import check_gradients


def share(tree: Any, replica: int, replicas: int) -> Any:
    """The part of a replica in arrays whose first axis has those of all, one after another."""
    if replicas == 1:
        return tree
    return tree_map(lambda x: x[replica * (len(x) // replicas) : (replica + 1) * (len(x) // replicas)], tree)


def dedup_of(batch: Any) -> Dedup:
    """The deduplication data of a batch: one tuple, with the vectors of each table in turn."""
    return pack_dedup(batch.tables)


def joined(parts: Sequence[Sequence[Array]]) -> tuple[Array, ...]:
    """The inverse of `share`: the gradients of all replicas."""
    return tuple(x[0] if len(x) == 1 else jnp.concatenate(x) for x in zip(*parts, strict=True))


def copied(ids: Mapping[str, Ids]) -> dict[str, Ids]:
    """Ids that nothing else can write to."""
    return {name: Ids(*(None if x is None else np.array(x) for x in given)) for name, given in ids.items()}


def received_gradients(plan: Plan, gradients: Sequence[Any]) -> list[Array]:
    """Gradients as float32 arrays that nothing else can write to.

    Raises:
        InvalidArgumentError: another number or shape than the activations have; it names the feature.
        DTypeError: entries that aren't floats. TypeError: tracers.
    """
    arrays = [g if is_jax(g) else np.asarray(g) for g in gradients]
    for k, g in enumerate(arrays):
        if is_traced(g):
            raise TypeError("a gradient is traced by JAX; outside of it send arrays, inside use gl.tpu.update")
        if g.dtype.kind != "f" and g.dtype.name != "bfloat16":
            raise DTypeError(f"gradient {k} must be float32, got {g.dtype}")
    check_gradients(plan, arrays)
    return [g.astype(jnp.float32) if is_jax(g) else jnp.array(g, jnp.float32) for g in arrays]


def check_same(handed: Dedup, given: Any) -> None:
    """Refuse deduplication data that are not those of this step; None is.

    Raises:
        InvalidArgumentError: another nesting, or another entry; it says where.
    """
    if given is None:
        return
    is_nested = isinstance(given, tuple | list) and len(given) == 1 and isinstance(given[0], tuple | list)
    if not is_nested or len(given[0]) != len(handed[0]):
        raise InvalidArgumentError(
            f"deduplication data are a tuple with one tuple of {len(handed[0])} vectors, as they were received"
        )
    for k, (a, b) in enumerate(zip(handed[0], given[0], strict=True)):
        if a is not b and not (np.shape(a) == np.shape(b) and np.array_equal(np.asarray(a), np.asarray(b))):
            raise InvalidArgumentError(f"vector {k} of the deduplication data is not the one received in this step")


def check_one_rate(rates: Mapping[int, Sequence[Array]]) -> None:
    """Refuse learning rates on which the replicas do not agree."""
    if len(rates) > 1 and len({tuple(map(float, r)) for r in rates.values()}) > 1:
        raise InvalidArgumentError("all replicas of a step must send the same learning rates")

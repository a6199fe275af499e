"""The optimizer as pure functions of arrays, and sums over the devices of a mesh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base.slices import Gradient, IndexedSlices
from .._steps import pure
from .clips import Pair, clipped, warn_of_no_clipping

if TYPE_CHECKING:
    from .steps import Steps


def init(optimizer: Steps, values: Any) -> dict[str, Any]:
    """A step count of 0 and the slots of every leaf."""
    return pure.init(optimizer._blank(), values)


def update(optimizer: Steps, state: Any, values: Any, grads: Any, axis_name: Any) -> tuple[Any, Any]:
    """One step of a whole tree; see `Optimizer.update`."""
    return pure.update(
        optimizer._rule(),
        lambda dtype: optimizer._rate(state["step"], dtype),
        state,
        values,
        grads,
        optimizer._sparse(),
        lambda pairs: _processed(optimizer, pairs, axis_name),
    )


def _processed(optimizer: Steps, pairs: list[Pair], axis_name: Any) -> list[Pair]:
    """Clip, sum over the axis, transform: in the order of the version."""
    version, limits = optimizer._version, optimizer._limits
    if not version.clips_in_apply:
        if limits and axis_name is not None:
            raise ValueError(f"TensorFlow 2.3 refuses {', '.join(limits)} for replicas; take semantics='legacy'")
        warn_of_no_clipping(limits)
        limits = {}
    before = version.clips_each_replica
    pairs = clipped(pairs, limits, version) if before else pairs
    pairs = pairs if axis_name is None else [(_sum(g, axis_name), w) for g, w in pairs]
    pairs = pairs if before else clipped(pairs, limits, version)
    for transform in optimizer.gradient_transformers:
        pairs = transform(pairs)
    return pairs


def _sum(g: Gradient, axis_name: Any) -> Gradient:
    """The sum over the devices of an axis; slices are joined, to be summed where rows meet."""
    from .._steps.jax import jax

    if not isinstance(g, IndexedSlices):
        total: Gradient = jax.lax.psum(g, axis_name)  # type: ignore[no-untyped-call]  # JAX says no types of it
        return total
    values, indices = (jax.lax.all_gather(x, axis_name, tiled=True) for x in (g.values, g.indices))
    return IndexedSlices(values, indices, g.dense_shape)

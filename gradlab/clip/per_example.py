"""Clip the gradient of each example of a batch; not in TensorFlow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._base.arrays import Array, as_array, is_float, namespace, quiet
from .._base.tensors import deferrable
from ._limits import check_positive, read_floats


@deferrable
@quiet
def per_example_clip(
    grads: Sequence[Any], l2_norm_clip: float, per_layer: bool | str = False
) -> tuple[list[Array], Array]:
    """Clip each example's gradient to the same norm, then sum the examples (the core of DP-SGD).

        factor_i = min(l2_norm_clip / |g_i|, 1),  result = sum_i factor_i * g_i
        |g_i| = norm of example i over all tensors

    Args:
        grads: list of arrays whose first axis counts the examples of the batch; integers become
            floating point.
        l2_norm_clip: > 0.
        per_layer: False clips the whole example. True or "uniform" clips every tensor by itself to
            l2_norm_clip / sqrt(number of tensors), "size" to l2_norm_clip * sqrt(its share of the
            entries).

    Returns:
        (list of summed gradients, how many examples were clipped). With `per_layer` the second
        counts for each tensor.

    Raises:
        ValueError: no tensors, batch sizes differ, the limit is not positive, or per_layer is
            unknown.

    Not in TensorFlow; same numbers as optax. Source: Abadi et al., "Deep Learning with Differential
    Privacy" (2016).

    >>> sums, clipped = per_example_clip([np.array([[3.0, 4.0], [0.3, 0.4]])], 1.0)
    >>> sums[0].round(2).tolist(), int(clipped)
    ([0.9, 1.2], 1)
    """
    arrays = _to_float(grads)
    sizes = sorted({a.shape[:1] for a in arrays})
    if len(sizes) != 1 or not sizes[0]:
        raise ValueError(
            "per-example gradients need one common batch axis in front, got shapes "
            f"{[a.shape for a in arrays]}"
        )
    xp = namespace(*arrays)
    check_positive("l2_norm_clip", l2_norm_clip)
    limits = _layer_limits(arrays, l2_norm_clip, per_layer)
    # One row for each tensor, or a single row for all of them; one column for each example.
    norms = xp.sqrt(xp.stack([xp.sum(a * a, axis=tuple(range(1, a.ndim))) for a in arrays]))
    if not per_layer:
        norms = xp.sqrt(xp.sum(norms * norms, axis=0, keepdims=True))
    limit = xp.asarray(limits, dtype=norms.dtype)[:, None]
    # A gradient of 0 isn't clipped; 1 in its place keeps the quotient, and its derivative, finite.
    divisors = xp.where(norms == 0, 1, norms)
    factors = xp.minimum(xp.where(norms == 0, 1, limit / divisors), 1)
    factors = xp.broadcast_to(factors, norms.shape)
    sums = []
    for i, a in enumerate(arrays):
        row = factors[i if per_layer else 0]
        sums.append(xp.tensordot(row, a, axes=(0, 0)).astype(a.dtype))
    clipped = xp.sum(norms > limit, axis=1)
    return sums, clipped if per_layer else clipped[0]


def _to_float(grads: Sequence[Any]) -> list[Array]:
    """Return the arrays, integers cast to the widest float dtype among them, or to float32."""
    arrays = [as_array(g, "grads") for g in grads]
    dtypes = [a.dtype for a in arrays if is_float(a.dtype)]
    widest = max(dtypes, key=lambda d: d.itemsize, default=np.dtype(np.float32))
    cast = [a.astype(widest) if np.dtype(a.dtype).kind in "iu" else a for a in arrays]
    return read_floats(cast, "grads")


def _layer_limits(arrays: list[Array], limit: float, per_layer: bool | str) -> list[float]:
    """Return the limit of each tensor, or a single one for whole examples."""
    if per_layer is False:
        return [limit]
    if per_layer in (True, "uniform"):
        return [limit / len(arrays) ** 0.5] * len(arrays)
    if per_layer == "size":
        entries = [float(np.prod(a.shape[1:])) for a in arrays]
        return [limit * (n / sum(entries)) ** 0.5 for n in entries]
    raise ValueError(f'per_layer must be False, True, "uniform" or "size", got {per_layer!r}')

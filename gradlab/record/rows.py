"""Rows of a recording: steps are joined into rows, and rows with their neighbours, so that no extreme is lost.

Everything works on dicts of columns whose first axis is the row or the step, of NumPy or JAX arrays.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .._base.arrays import Array, namespace, quiet
from .measure import together
from .spectrum import bin_of

Columns = dict[str, Array]

BY_ROW = ("norm", "norm_low", "largest", "nonfinite", "square", "entry", "peak", "mean", "count")
_MOST = np.iinfo(np.int32).max


@quiet
def from_steps(step: Array, norm: Array, largest: Array, nonfinite: Array, entry: Array, scalars: Array) -> Columns:
    """A row for each of n steps.

    Args:
        step: (n,) their numbers. norm, largest, nonfinite: (n, tensors).
        entry: (n, entries). scalars: (n, 1 + scalars), seconds first, NaN where there is none.
    """
    xp = namespace(norm, entry)
    norm = xp.concatenate([norm, together(norm)[:, None], xp.max(norm, axis=1, keepdims=True)], axis=1)
    return {
        "norm": norm,
        "norm_low": norm,
        "largest": largest,
        "nonfinite": nonfinite,
        "square": entry * entry,
        "entry": entry,
        "peak": step,
        "mean": scalars,
        "count": (~xp.isnan(scalars)).astype(np.int32),
    }


@quiet
def join(a: Mapping[str, Array], b: Mapping[str, Array]) -> Columns:
    """For each row of `a` and the one of `b` that follows it, one row for both. NaN is the largest of all norms."""
    xp = namespace(a["norm"], b["norm"])
    first, second = a["norm"][:, -2], b["norm"][:, -2]
    higher = ~(second <= first) & ~xp.isnan(first)
    return {
        "norm": xp.maximum(a["norm"], b["norm"]),
        "norm_low": xp.fmin(a["norm_low"], b["norm_low"]),
        "largest": xp.maximum(a["largest"], b["largest"]),
        "nonfinite": added(a["nonfinite"], b["nonfinite"]),
        "square": a["square"] + b["square"],
        "entry": a["entry"],
        "peak": xp.where(higher, b["peak"], a["peak"]),
        "mean": _mean(a, b),
        "count": a["count"] + b["count"],
    }


def halved(columns: Mapping[str, Array]) -> Columns:
    """Every two neighbouring rows as one; of an odd number the last stays alone."""
    even = {name: x[: len(x) // 2 * 2] for name, x in columns.items()}
    joined = join({n: x[0::2] for n, x in even.items()}, {n: x[1::2] for n, x in even.items()})
    xp = namespace(columns["norm"])
    return {name: xp.concatenate([joined[name], x[len(x) // 2 * 2 :]]) for name, x in columns.items()}


def halved_counts(histogram: Array) -> Array:
    """The same for counts."""
    xp, even = namespace(histogram), len(histogram) // 2 * 2
    return xp.concatenate([added(histogram[0:even:2], histogram[1:even:2]), histogram[even:]])


def bins(row: Mapping[str, Array]) -> Array:
    """(n, 2 tensors + 3) bins of the norms, and of the largest entries with Inf where an entry is not finite."""
    xp = namespace(row["norm"])
    largest = xp.where(row["nonfinite"] > 0, np.float32(np.inf), row["largest"])
    return bin_of(xp.concatenate([row["norm"], largest, xp.max(largest, axis=1, keepdims=True)], axis=1))


def added(a: Array, b: Array) -> Array:
    """Sum of counts that stops at the largest int32."""
    return namespace(a, b).where(a > _MOST - b, _MOST, a + b)


def _mean(a: Mapping[str, Array], b: Mapping[str, Array]) -> Array:
    xp, n, m = namespace(a["mean"], b["mean"]), a["count"], b["count"]
    share = (m / xp.maximum(n + m, 1)).astype(np.float32)
    both = a["mean"] * (1 - share) + b["mean"] * share
    return xp.where(m == 0, a["mean"], xp.where(n == 0, b["mean"], both))

"""On how many of the steps taken a limit fires: counted where that is known, else an estimate and its bounds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._base.arrays import quiet
from .. import sketch, step_totals
from ..buckets import Buckets


class Share(NamedTuple):
    """Shares of the steps taken, 0 to 1: about, at least and at most; all three the same where they were counted."""

    share: np.ndarray
    low: np.ndarray
    high: np.ndarray


@quiet
def of_tensors(rec: Buckets, column: str, limit: float) -> Share:
    """(tensors,) of the steps in which a tensor's "norm", or "largest" entry, is above the limit.

    Buckets that are above or below as a whole are counted as they are. Of the others what is known
    is the sketch of all steps, and that one of their steps is above, and of norms that one is not.
    """
    limit = _unrounded(limit)
    tensors = slice(0, len(rec.names))
    least, most = _by_bucket(rec, column, limit, tensors)
    return _share(rec, _sketched(rec, column, limit)[:, tensors], least, most)


class Steps(NamedTuple):
    """Every step: its global norm, NaN where it was skipped or is not known any more, and whether the limit fires."""

    norm: np.ndarray
    fired: np.ndarray


@quiet
def by_step(rec: Buckets, name: str, limit: float) -> Steps:
    """Return the steps one by one, (seen,) each; the limit is on a number of every step, as in `of_all`."""
    counts = (rec.every_step("skipped") != 1) & rec.known
    fired = ~(rec.every_step(name) <= _unrounded(limit)) & counts
    return Steps(np.where(counts, rec.every_step("global_norm"), np.nan), fired)


@quiet
def of_all(rec: Buckets, name: str, limit: float) -> Share:
    """Return shares of one number of every step: "global_norm", "leading_norm", or "largest".

    Exact unless lost.
    """
    limit = _unrounded(limit)
    values, taken = rec.every_step(name), rec.every_step("skipped") != 1
    known = rec.known
    fired = by_step(rec, name, limit).fired
    count = np.array(fired.sum(), float)
    if known.all():
        return _share(rec, np.stack([count] * 3), count, count)
    column, row = {
        "global_norm": ("norm", step_totals.GLOBAL_NORM),
        "leading_norm": ("norm", step_totals.LEADING_NORM),
        "largest": ("largest", -1),
    }[name]
    least, most = _by_bucket(rec, column, limit, slice(row, row + 1 or None))
    doubt = _sketched(rec, column, limit)[:, row]
    low, high = _bin_around(rec, column, limit, row)
    inside = known & taken & (values >= low) & (values < high)
    doubt = np.clip(doubt, doubt[0] + (inside & fired).sum(), doubt[2] - (inside & ~fired).sum())
    at_most = count + (~known).sum()
    return _share(rec, doubt, max(least[0], count), min(most[0], at_most))


def _unrounded(limit: float) -> np.float64:
    """The limit as it is: NumPy would round a Python float to compare it with norms in float32."""
    return np.float64(limit)


def _share(rec: Buckets, found: np.ndarray, least: np.ndarray, most: np.ndarray) -> Share:
    """From counts (3, ...), at least, about and at most, and other bounds of them."""
    steps = max(rec.seen - rec.skipped_steps, 1)
    low, high = np.maximum(found[0], least), np.minimum(found[2], most)
    return Share(np.clip(found[1], low, high) / steps, low / steps, high / steps)


def _sketched(rec: Buckets, column: str, limit: float) -> np.ndarray:
    """(3, rows) counts by the sketch; rows are the tensors, of norms all of them, and the largest
    of any.
    """
    tensors = len(rec.names)
    rows = rec.flush().columns["sketch"]
    return sketch.above(rows[: tensors + 2] if column == "norm" else rows[tensors + 2 :], limit)


def _bin_around(rec: Buckets, column: str, limit: float, row: int) -> tuple[float, float]:
    """The edges of the bin that holds the limit in a row of the sketch."""
    tensors = len(rec.names)
    rows = rec.flush().columns["sketch"]
    return sketch.bin_around(rows[: tensors + 2][row] if column == "norm" else rows[row], limit)


def _by_bucket(
    rec: Buckets, column: str, limit: float, which: slice
) -> tuple[np.ndarray, np.ndarray]:
    """(columns,) how many steps are above the limit at least and at most, from the extremes of each
    bucket.
    """
    taken = rec.taken[:, None]
    low, sure, high = _norms(rec, which) if column == "norm" else _largest(rec, which)
    above = ~(high <= limit)
    least = np.where(~(low <= limit), taken, (taken > 0) & ~(sure <= limit))
    most = taken * above - (above & (low <= limit) & (taken > 1) & (column == "norm"))
    return least.sum(axis=0), most.sum(axis=0)


def _norms(rec: Buckets, which: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(buckets, columns) smallest of each bucket, one that some step had, and the largest."""
    low, high = (rec.flush().columns[name][: len(rec), which] for name in ("norm_low", "norm"))
    return low, high, high


def _largest(rec: Buckets, which: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return shares of the largest entries; in a merged bucket, NaN and Inf may be of a skipped
    step.
    """
    one = rec.bucket_steps[:, None] == 1
    largest, high = rec["largest"], np.where(rec["nonfinite"] > 0, np.inf, rec["largest"])
    if which.start:  # of any tensor
        largest, high = (x.max(axis=1, keepdims=True) for x in (largest, high))
    return np.where(one, high, 0), np.where(one, high, largest), high

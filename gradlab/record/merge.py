"""Steps are merged into buckets, and buckets with their neighbors, so that no extreme is lost.

A bucket is a stretch of consecutive steps. Everything works on dicts of columns whose first axis is
the bucket or the
step: of NumPy or JAX arrays what eager and traced recording share, of NumPy's what the host does
for many at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._base.arrays import namespace, quiet
from .._base.types import EachA as A
from ..errors import InvalidArgumentError
from . import sketch, step_totals
from .columns import Layout
from .measure import BINS, together

Columns = dict[str, np.ndarray]

BY_BUCKET = (
    "norm",
    "norm_low",
    "largest",
    "nonfinite",
    "square",
    "entry",
    "peak",
    "mean",
    "count",
    "taken",
)
_MOST = np.iinfo(np.int32).max


@quiet
def from_steps(
    step: A, norm: A, largest: A, nonfinite: A, entry: A, scalars: A, scale: A, skipped: A
) -> dict[str, A]:
    """A bucket for each of n steps, and "scale" beside its columns.

    Args:
        step: (n,) their numbers.
        norm, largest, nonfinite: (n, tensors).
        entry: (n, entries).
        scalars: (n, 1 + scalars), seconds first, NaN where there is none.
        scale: (n,) loss scales, NaN where there is none.
        skipped: (n,) bool, whether no weight was changed.
    """
    xp: Any = namespace(norm, entry)
    norm = xp.concatenate(
        [norm, together(norm)[:, None], xp.max(norm, axis=1, keepdims=True)], axis=1
    )
    return {
        "norm": norm,
        "norm_low": norm,
        "largest": largest,
        "nonfinite": nonfinite,
        # An optimizer never saw them.
        "square": xp.where(skipped[:, None], np.float32(0), entry * entry),
        "entry": entry,
        "peak": step,
        "mean": scalars,
        "count": (~xp.isnan(scalars)).astype(np.int32),
        "taken": (~skipped).astype(np.int32),
        "scale": scale,
    }


@quiet
def join(a: Mapping[str, A], b: Mapping[str, A]) -> dict[str, A]:
    """For each bucket of `a` and the one of `b` that follows it, one for both.

    NaN is the largest of all norms.

    A bucket whose steps were all skipped leaves norms, largest and single entries to the other one.
    """
    xp: Any = namespace(a["norm"], b["norm"])
    first = a["norm"][:, step_totals.GLOBAL_NORM]
    second = b["norm"][:, step_totals.GLOBAL_NORM]
    only_a, only_b = ((x["taken"] > 0) & (y["taken"] == 0) for x, y in ((a, b), (b, a)))
    higher = (~(second <= first) & ~xp.isnan(first) & ~only_a) | only_b

    def of_taken(name: str, both: A) -> A:
        found: A = xp.where(only_a[:, None], a[name], xp.where(only_b[:, None], b[name], both))
        return found

    return {
        "norm": of_taken("norm", xp.maximum(a["norm"], b["norm"])),
        "norm_low": of_taken("norm_low", xp.fmin(a["norm_low"], b["norm_low"])),
        "largest": of_taken("largest", xp.maximum(a["largest"], b["largest"])),
        "nonfinite": added(a["nonfinite"], b["nonfinite"]),
        "square": a["square"] + b["square"],
        "entry": of_taken("entry", a["entry"]),
        "peak": xp.where(higher, b["peak"], a["peak"]),
        "mean": _mean(a, b),
        "count": a["count"] + b["count"],
        "taken": a["taken"] + b["taken"],
    }


def halved(columns: Mapping[str, A]) -> dict[str, A]:
    """Every two neighboring buckets as one; of an odd number the last stays alone."""
    even = {name: x[: len(x) // 2 * 2] for name, x in columns.items()}
    joined = join({n: x[0::2] for n, x in even.items()}, {n: x[1::2] for n, x in even.items()})
    xp: Any = namespace(columns["norm"])
    return {
        name: xp.concatenate([joined[name], x[len(x) // 2 * 2 :]]) for name, x in columns.items()
    }


def halved_counts(histogram: A) -> A:
    """Return the same for counts."""
    xp: Any = namespace(histogram)
    even = len(histogram) // 2 * 2
    found: A = xp.concatenate([added(histogram[0:even:2], histogram[1:even:2]), histogram[even:]])
    return found


def sizes(steps: Mapping[str, A]) -> A:
    """(n, 2 tensors + 3) the norms of n steps, and the largest entries with Inf where an entry is not finite."""
    xp: Any = namespace(steps["norm"])
    largest = xp.where(steps["nonfinite"] > 0, np.float32(np.inf), steps["largest"])
    found: A = xp.concatenate(
        [steps["norm"], largest, xp.max(largest, axis=1, keepdims=True)], axis=1
    )
    return found


def added(a: A, b: A) -> A:
    """Sum of counts that stops at the largest int32."""
    xp: Any = namespace(a, b)
    found: A = xp.where(a > _MOST - b, _MOST, a + b)
    return found


def _mean(a: Mapping[str, A], b: Mapping[str, A]) -> A:
    xp: Any = namespace(a["mean"], b["mean"])
    n, m = a["count"], b["count"]
    share = (m / xp.maximum(n + m, 1)).astype(np.float32)
    both = a["mean"] * (1 - share) + b["mean"] * share
    found: A = xp.where(m == 0, a["mean"], xp.where(n == 0, b["mean"], both))
    return found


def put(data: Columns, steps: Columns, seen: int, stride: int) -> None:
    """Write n steps, the first of them number `seen`, into `data`, whose buckets have `stride` steps and have room."""
    at, n = seen // stride, len(steps["peak"])
    new = {name: steps[name] for name in BY_BUCKET}
    if n > 1 and stride > 1:
        new = _folded(
            steps, np.maximum(np.arange(at, (seen + n - 1) // stride + 1) * stride - seen, 0)
        )
    if seen % stride:
        first = join(
            {name: data[name][at : at + 1] for name in BY_BUCKET},
            {name: x[:1] for name, x in new.items()},
        )
        new = (
            {name: np.concatenate([first[name], x[1:]]) for name, x in new.items()}
            if n > 1
            else first
        )
    for name, x in new.items():
        data[name][at : at + len(x)] = x
    data["sketch"] = sketch.add(data["sketch"], sizes(steps), steps["taken"] == 0)
    data["each"] = step_totals.put(data["each"], step_totals.of_steps(steps), seen)


def put_counts(histogram: np.ndarray, counts: np.ndarray, seen: int, every: int) -> None:
    """Add (n, tensors, 64) counts of n steps from number `seen` on; `every` steps share a bucket."""
    for k, count in enumerate(counts, seen):
        if k % every == 0:
            histogram[k // every] = 0
        np.minimum(count, np.iinfo(np.int32).max - histogram[k // every], out=count)
        histogram[k // every] += count


def halve(data: Mapping[str, np.ndarray]) -> None:
    """Join every two neighboring buckets of `data` in place; the second half of the room is free then."""
    fewer = halved({name: data[name] for name in BY_BUCKET}) | {
        "histogram": halved_counts(data["histogram"])
    }
    for name, x in fewer.items():
        data[name][: len(x)] = x


def condensed(
    data: Mapping[str, np.ndarray], seen: int, stride: int, buckets: int, every: int
) -> tuple[Columns, int]:
    """The columns of buckets, and "histogram", with room for so many buckets; and the stride that takes.

    `every` buckets share a row of the histogram. Where there is more room than before the rest is
    0.
    """
    used = -(-seen // stride)
    few = {name: data[name][:used] for name in BY_BUCKET} | {
        "histogram": data["histogram"][: -(-used // every)]
    }
    while seen > buckets * stride:
        few = halved({name: few[name] for name in BY_BUCKET}) | {
            "histogram": halved_counts(few["histogram"])
        }
        stride *= 2
    rows = dict.fromkeys(BY_BUCKET, buckets) | {"histogram": -(-buckets // every)}
    return {name: _with_rows(x[: rows[name]], rows[name]) for name, x in few.items()}, stride


def _with_rows(x: np.ndarray, rows: int) -> np.ndarray:
    return np.concatenate([x, np.zeros((rows - len(x), *x.shape[1:]), x.dtype)])


@quiet
def _folded(steps: Columns, starts: np.ndarray) -> Columns:
    """One bucket for the steps from each start to the next."""
    taken = np.add.reduceat(steps["taken"], starts)
    norm, norm_low, largest, first = steps["norm"], steps["norm_low"], steps["largest"], starts
    left_out = (steps["taken"] == 0) & np.repeat(taken > 0, np.diff(np.append(starts, len(norm))))
    if left_out.any():  # skipped, in a bucket that has others
        norm, largest = (
            np.where(left_out[:, None], np.float32(-np.inf), x) for x in (norm, largest)
        )
        norm_low = np.where(left_out[:, None], np.float32(np.nan), norm_low)
        first = np.minimum.reduceat(np.where(left_out, len(norm), np.arange(len(norm))), starts)
    return {
        "norm": np.maximum.reduceat(norm, starts),
        "norm_low": np.fmin.reduceat(norm_low, starts),
        "largest": np.maximum.reduceat(largest, starts),
        "nonfinite": _saturated(np.add.reduceat(steps["nonfinite"], starts, dtype=np.int64)),
        "square": np.add.reduceat(steps["square"], starts),
        "entry": steps["entry"][first],
        "peak": steps["peak"][_first_peaks(norm[:, step_totals.GLOBAL_NORM], starts)],
        "taken": taken,
        **_means(steps, starts),
    }


def _first_peaks(norm: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return where the largest norm of each group is, the first of equal ones; NaN is the largest
    of all.
    """
    top = np.repeat(np.maximum.reduceat(norm, starts), np.diff(np.append(starts, len(norm))))
    found = np.where((norm == top) | np.isnan(norm), np.arange(len(norm)), len(norm))
    return np.minimum.reduceat(found, starts)


def _means(steps: Columns, starts: np.ndarray) -> Columns:
    mean, count = steps["mean"], steps["count"]
    total = np.add.reduceat(np.where(count > 0, mean, 0), starts, dtype=np.float64)
    counts = np.add.reduceat(count, starts)
    return {
        "mean": np.where(counts > 0, total / np.maximum(counts, 1), np.nan).astype(np.float32),
        "count": counts,
    }


def _saturated(counts: np.ndarray) -> np.ndarray:
    fitting: np.ndarray = np.minimum(counts, np.iinfo(np.int32).max).astype(np.int32)
    return fitting


def checked(columns: Mapping[str, Any], layout: Layout) -> dict[str, np.ndarray]:
    """The columns that `Recorder.extend` takes, complete and in their dtypes; "scalars" has seconds and all scalars."""
    tensors, entries = len(layout.names), len(layout.sampled[0])
    needed = {
        "norm": (tensors,),
        "largest": (tensors,),
        "nonfinite": (tensors,),
        "entry": (entries,),
    }
    numbers = ("seconds", *layout.scalars)
    if missing := [name for name in needed if name not in columns and needed[name] != (0,)]:
        raise InvalidArgumentError(
            f"extend needs the columns {', '.join(needed)}; {', '.join(missing)} is not there"
        )
    n = len(np.asarray(columns["norm"]))
    shapes = {
        **needed,
        "histogram": (tensors, BINS),
        **dict.fromkeys((*numbers, "scale", "skipped"), ()),
    }
    if unknown := [name for name in columns if name not in shapes]:
        raise InvalidArgumentError(
            f"extend knows the columns {', '.join(shapes)}, not {', '.join(unknown)}"
        )
    given = {name: _shaped(name, x, (n, *shapes[name])) for name, x in columns.items()}
    given.setdefault("entry", np.zeros((n, 0), np.float32))
    nothing = np.full(n, np.nan, np.float32)
    given.setdefault("scale", nothing)
    given.setdefault("skipped", np.zeros(n, bool))
    return {**given, "scalars": np.stack([given.get(name, nothing) for name in numbers], axis=1)}


def _shaped(name: str, x: Any, shape: tuple[int, ...]) -> np.ndarray:
    array = np.asarray(x)
    if array.shape != shape:
        raise InvalidArgumentError(
            f"{name} must have shape {shape}, one row for each step, got {array.shape}"
        )
    if name == "nonfinite":
        return _saturated(array)
    if name == "skipped":
        return array.astype(bool)
    return array.astype(np.int32 if name == "histogram" else np.float32)

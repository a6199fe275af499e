"""Many steps at once, on the host: folded into rows, and put where they belong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._base.arrays import quiet
from .._base.errors import InvalidArgumentError
from .layout import Layout
from .measure import BINS
from .rows import BY_ROW, Columns, bins, halved, halved_counts, join
from .spectrum import BINS as NORM_BINS


def put(data: Mapping[str, np.ndarray], steps: Columns, seen: int, stride: int) -> None:
    """Write n steps, the first of them number `seen`, into `data`, whose rows have `stride` steps and have room."""
    row, n = seen // stride, len(steps["peak"])
    rows = steps
    if n > 1 and stride > 1:
        rows = _folded(steps, np.maximum(np.arange(row, (seen + n - 1) // stride + 1) * stride - seen, 0))
    if seen % stride:
        first = join({name: data[name][row : row + 1] for name in BY_ROW}, {name: x[:1] for name, x in rows.items()})
        rows = {name: np.concatenate([first[name], x[1:]]) for name, x in rows.items()} if n > 1 else first
    for name, x in rows.items():
        data[name][row : row + len(x)] = x
    width = np.arange(len(data["spectrum"]))
    if n == 1:
        data["spectrum"][width, bins(steps)[0]] += 1
    else:
        counts = data["spectrum"].reshape(-1)
        np.add.at(counts, (bins(steps) + width * NORM_BINS).reshape(-1), np.int32(1))  # an int is 40 times slower


def put_counts(histogram: np.ndarray, counts: np.ndarray, seen: int, every: int) -> None:
    """Add (n, tensors, 64) counts of n steps from number `seen` on; `every` steps share a row."""
    for k, count in enumerate(counts, seen):
        if k % every == 0:
            histogram[k // every] = 0
        np.minimum(count, np.iinfo(np.int32).max - histogram[k // every], out=count)
        histogram[k // every] += count


def halve(data: Mapping[str, np.ndarray]) -> None:
    """Join every two neighbouring rows of `data` in place; the second half of the rows is free then."""
    rows = halved({name: data[name] for name in BY_ROW}) | {"histogram": halved_counts(data["histogram"])}
    for name, x in rows.items():
        data[name][: len(x)] = x


@quiet
def _folded(steps: Columns, starts: np.ndarray) -> Columns:
    """One row for the steps from each start to the next."""
    return {
        "norm": np.maximum.reduceat(steps["norm"], starts),
        "norm_low": np.fmin.reduceat(steps["norm_low"], starts),
        "largest": np.maximum.reduceat(steps["largest"], starts),
        "nonfinite": _clipped(np.add.reduceat(steps["nonfinite"], starts, dtype=np.int64)),
        "square": np.add.reduceat(steps["square"], starts),
        "entry": steps["entry"][starts],
        "peak": steps["peak"][_first_peaks(steps["norm"][:, -2], starts)],
        **_means(steps, starts),
    }


def _first_peaks(norm: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Where the largest norm of each group is, the first of equal ones; NaN is the largest of all."""
    top = np.repeat(np.maximum.reduceat(norm, starts), np.diff(np.append(starts, len(norm))))
    found = np.where((norm == top) | np.isnan(norm), np.arange(len(norm)), len(norm))
    return np.minimum.reduceat(found, starts)


def _means(steps: Columns, starts: np.ndarray) -> Columns:
    mean, count = steps["mean"], steps["count"]
    total = np.add.reduceat(np.where(count > 0, mean, 0), starts, dtype=np.float64)
    counts = np.add.reduceat(count, starts)
    return {"mean": np.where(counts > 0, total / np.maximum(counts, 1), np.nan).astype(np.float32), "count": counts}


def _clipped(counts: np.ndarray) -> np.ndarray:
    return np.minimum(counts, np.iinfo(np.int32).max).astype(np.int32)


def checked(columns: Mapping[str, Any], layout: Layout) -> dict[str, np.ndarray]:
    """The columns that `Recorder.extend` takes, complete and in their dtypes; "scalars" has seconds and all scalars."""
    tensors, entries = len(layout.names), len(layout.sampled[0])
    needed = {"norm": (tensors,), "largest": (tensors,), "nonfinite": (tensors,), "entry": (entries,)}
    numbers = ("seconds", *layout.scalars)
    if missing := [name for name in needed if name not in columns and needed[name] != (0,)]:
        raise InvalidArgumentError(f"extend needs the columns {', '.join(needed)}; {', '.join(missing)} is not there")
    n = len(np.asarray(columns["norm"]))
    shapes = {**needed, "histogram": (tensors, BINS), **dict.fromkeys(numbers, ())}
    if unknown := [name for name in columns if name not in shapes]:
        raise InvalidArgumentError(f"extend knows the columns {', '.join(shapes)}, not {', '.join(unknown)}")
    given = {name: _shaped(name, x, (n, *shapes[name])) for name, x in columns.items()}
    given.setdefault("entry", np.zeros((n, 0), np.float32))
    nothing = np.full(n, np.nan, np.float32)
    return {**given, "scalars": np.stack([given.get(name, nothing) for name in numbers], axis=1)}


def _shaped(name: str, x: Any, shape: tuple[int, ...]) -> np.ndarray:
    array = np.asarray(x)
    if array.shape != shape:
        raise InvalidArgumentError(f"{name} must have shape {shape}, one row for each step, got {array.shape}")
    if name == "nonfinite":
        return _clipped(array)
    return array.astype(np.int32 if name == "histogram" else np.float32)

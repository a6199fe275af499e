"""Sketch of a distribution: counts in bins of one relative width, which add up exactly.

A sketch is an int32 array (rows, 5 + bins): each row counts one number of every step, in a window
of bins that moves to where its numbers are. Bins are very narrow at first. Where a window is too
narrow for all numbers of its row, every two neighboring bins become one, as in UDDSketch, and the
relative error of what is read from the row doubles. So it is small where numbers differ little, and
with 512 bins 1% where the largest is up to 25,000 times the smallest. NumPy and JAX share all that
counts.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._base.arrays import is_jax, namespace, quiet
from .._base.types import EachA as A

PARTS = 560  # bins to each power of two: a number is known to 0.06 %
_INFINITE = 1 + 254 * PARTS  # the bin of Inf and NaN, after all others
WIDTH = 512  # bins of a row at first; traced code, which makes no room, has so many or fewer
# Bins of a row on the host, which makes room rather than have an error of more than 1 %: 17
# decades.
MOST = 2048

# Columns of a sketch: the number of a row's first bin; how often bins were joined; how many numbers
# of skipped steps were not finite; how many numbers are 0, or as good as 0; from the fifth on the
# bins; in the last column Inf and NaN.
LOWEST, SHIFT, SKIPPED, ZEROS, FIRST = range(5)

_MANTISSA = 23  # bits
# Bits of a mantissa below those that a table is looked up by: at most one cut is in a cell.
_CELL = 13
_SHIFTS = 19  # after so many joins one bin holds everything
_GOOD = 35  # bins to each power of two are an error of 1 %
_FAR = 1 << 30
_AT_ONCE = 32  # steps whose numbers stay in the cache
_MANY = 4096  # steps that come together, as those of a log: then as many numbers at once


@functools.cache
def _cuts() -> np.ndarray:
    """(PARTS + 1,) mantissas, as integers, at which the bins of a power of two begin, and the end
    of the last.
    """
    at = np.arange(PARTS + 1) / PARTS
    found: np.ndarray = np.ceil(2**_MANTISSA * (np.exp2(at) - 1))
    return found.astype(np.int32)


@functools.cache
def _table() -> np.ndarray:
    """(1024,) the bin in which each cell of mantissas begins."""
    cells = np.arange(2 ** (_MANTISSA - _CELL)) << _CELL
    found: np.ndarray = np.searchsorted(_cuts(), cells, side="right") - 1
    return found.astype(np.int32)


@functools.cache
def edges() -> np.ndarray:
    """(254 PARTS + 2,) float64 lower edges of the bins of finite numbers, and the upper edge of the last of them."""
    one = 1 + _cuts()[:-1] / 2.0**_MANTISSA
    at = (np.exp2(np.arange(-126.0, 128.0))[:, None] * one).ravel()
    found = np.concatenate([[0.0], at, [2.0**128]])
    found.flags.writeable = False
    return found


def bins(x: A) -> A:
    """The bin of each x >= 0, float32, from its bits, so that order is kept, and edges are exact everywhere.

    0 holds 0 and numbers below 2**-126; the last bin Inf and NaN.
    """
    xp: Any = namespace(x)
    bits = x.view(np.int32) & 0x7FFFFFFF  # NaN may have a sign
    exponent, mantissa = bits >> _MANTISSA, bits & (2**_MANTISSA - 1)
    part = xp.asarray(_table())[mantissa >> _CELL]
    part = part + (mantissa >= xp.asarray(_cuts())[part + 1])
    found = xp.where(exponent == 0, 0, 1 + (exponent - 1) * PARTS + part)
    k: A = xp.where(exponent == 255, _INFINITE, found).astype(np.int32)
    return k


def columns(bins: int = WIDTH) -> int:
    """Return how many columns a sketch has whose rows have so many bins."""
    return FIRST + bins + 1


def empty(rows: int) -> np.ndarray:
    """Return a sketch without counts, for that many numbers a step."""
    return np.zeros((rows, columns()), np.int32)


def add(sketch: np.ndarray, x: np.ndarray, skipped: np.ndarray) -> np.ndarray:
    """The sketch with (n, rows) numbers more, in place where there is room; of steps that were
    skipped only what is not finite is counted, and apart.
    """
    at_once = _AT_ONCE
    if len(x) >= _MANY:
        at_once = max(_AT_ONCE, _MANY // len(sketch))
    for some in range(0, len(x), at_once):
        part = slice(some, some + at_once)
        sketch = _add(sketch, x[part], skipped[part])
    return sketch


def _add(sketch: np.ndarray, x: np.ndarray, skipped: np.ndarray) -> np.ndarray:
    k = bins(x)
    inside = is_inside(k, skipped)
    if outside(sketch, k, inside):
        sketch = moved(sketch, *span(sketch, k, inside), most=MOST)
    slot, weight = slots(sketch, k, skipped)
    places = slot + np.arange(len(sketch)) * sketch.shape[1]
    if skipped.any():
        np.add.at(sketch.reshape(-1), places.reshape(-1), weight.reshape(-1))
    else:
        np.add.at(sketch.reshape(-1), places.reshape(-1), np.int32(1))  # an int is 40 times slower
    return sketch


def is_inside(k: A, skipped: A) -> A:
    """(n, rows) whether a number in bin k needs a place in the window of its row."""
    found: A = (k > 0) & (k < _INFINITE) & ~skipped[:, None]
    return found


def outside(sketch: A, k: A, inside: A) -> A:
    """Tell whether some number has no place in its window."""
    place = (k >> sketch[:, SHIFT]) - sketch[:, LOWEST]
    found: A = (inside & ((place < 0) | (place >= _width(sketch)))).any()
    return found


def slots(sketch: A, k: A, skipped: A) -> tuple[A, A]:
    """(n, rows) the column in which each number is counted, and by how much."""
    xp: Any = namespace(sketch, k)
    place = FIRST + (k >> sketch[:, SHIFT]) - sketch[:, LOWEST]
    infinite = k == _INFINITE
    slot = xp.where(infinite, sketch.shape[1] - 1, xp.where(k == 0, ZEROS, place))
    weight = (infinite | ~skipped[:, None]).astype(np.int32)
    return xp.where(skipped[:, None], SKIPPED, slot), weight


def span(sketch: A, k: A | None = None, inside: A | None = None) -> tuple[A, A]:
    """(rows,) first and last bin, before any were joined, that a row needs for what it has counted, and for k."""
    xp: Any = namespace(sketch)
    there, width = sketch[:, FIRST:-1] > 0, _width(sketch)
    lowest, shift, some = sketch[:, LOWEST], sketch[:, SHIFT], there.any(axis=1)
    first = (lowest + there.argmax(axis=1)) << shift
    last = ((lowest + width - there[:, ::-1].argmax(axis=1)) << shift) - 1
    low, high = xp.where(some, first, _FAR), xp.where(some, last, -1)
    if k is not None:
        low = xp.minimum(low, xp.where(inside, k, _FAR).min(axis=0))
        high = xp.maximum(high, xp.where(inside, k, -1).max(axis=0))
    nothing = low > high
    return xp.where(nothing, 0, low), xp.where(nothing, 0, high)


def moved(sketch: A, low: A, high: A, most: int = WIDTH) -> A:
    """Return the same counts, with a window of each row from its `low` to its `high`, and of `most` bins at most.

    A window that is wide enough stays. Under JAX the sketch keeps its width.
    """
    xp: Any = namespace(sketch)
    counts, lowest, shift = sketch[:, FIRST:-1], sketch[:, LOWEST], sketch[:, SHIFT]
    width, good = _width(sketch), max(PARTS // _GOOD, 1).bit_length() - 1
    if not is_jax(sketch):
        needed = int(((high >> good) - (low >> good)).max()) + 1
        width = min(max(width, 1 << (needed - 1).bit_length()), most)
    joins = np.arange(_SHIFTS)[:, None]
    room = np.where(joins < good, width * 3 // 4, width)  # or it would soon move again
    joined = xp.maximum(shift, ((high >> joins) - (low >> joins) >= room).sum(axis=0))
    before = (width - ((high >> joined) - (low >> joined) + 1)) // 2  # free bins on that side
    stays = (joined == shift) & (low >> shift >= lowest) & (high >> shift < lowest + width)
    start = xp.where(stays, lowest, (low >> joined) - before)
    again = xp.zeros((len(counts), width), np.int32)
    if is_jax(sketch):
        old = (lowest[:, None] + np.arange(counts.shape[1])) << shift[:, None]
        place = xp.clip((old >> joined[:, None]) - start[:, None], 0, width - 1)
        rows = np.broadcast_to(np.arange(len(counts))[:, None], counts.shape)
        again = again.at[rows, place].add(counts)
    else:
        rows, column = np.nonzero(counts)  # few of many bins, and none at the first step
        old = (lowest[rows] + column) << shift[rows]
        place = np.clip((old >> joined[rows]) - start[rows], 0, width - 1)
        np.add.at(again, (rows, place), counts[rows, column])
    head = xp.stack([start, joined, sketch[:, SKIPPED], sketch[:, ZEROS]], axis=1).astype(np.int32)
    found: A = xp.concatenate([head, again, sketch[:, -1:]], axis=1)
    return found


def fitted(sketch: np.ndarray, bins: int = WIDTH) -> np.ndarray:
    """Return the same counts in so many bins: in wider ones if they are fewer, else with room above."""
    if _width(sketch) > bins:
        return moved(sketch, *span(sketch), most=bins)
    free = np.zeros((len(sketch), bins - _width(sketch)), np.int32)
    return np.concatenate([sketch[:, :-1], free, sketch[:, -1:]], axis=1)


def is_width(columns: int) -> bool:
    """Tell whether a sketch may have so many columns."""
    bins = columns - FIRST - 1
    return WIDTH <= bins <= MOST and bins & (bins - 1) == 0


def check(sketch: np.ndarray, steps: int, norms: int) -> None:
    """Refuse windows that cannot be, and counts that are not those of so many steps; ValueError.

    `norms` rows are.
    """
    lowest, shift = sketch[:, LOWEST].astype(np.int64), sketch[:, SHIFT]
    if (np.abs(lowest) > _INFINITE).any() or (shift >= _SHIFTS).any():
        raise ValueError("its norms are counted in bins that are not there")
    if (sketch[:norms, ZEROS:].sum(axis=1, dtype=np.int64) != steps).any():
        raise ValueError(f"it does not count the norms of {steps} steps")


def _width(sketch: Any) -> int:
    return int(sketch.shape[1]) - FIRST - 1


def nonfinite(sketch: np.ndarray) -> np.ndarray:
    """(rows,) how many numbers are Inf or NaN, of steps that were not skipped."""
    return sketch[:, -1]


def above(sketch: np.ndarray, limit: float) -> np.ndarray:
    """(3, rows) how many numbers are not <= limit: at least, about, and at most.

    The numbers of the bin that holds the limit are the doubt; about: they are spread evenly over
    it.
    """
    at = edges()
    k = min(int(np.searchsorted(at, limit, side="right")) - 1, len(at) - 2)
    counts, shift = sketch[:, FIRST:-1], sketch[:, SHIFT]
    place = (k >> shift) - sketch[:, LOWEST]
    column = np.arange(counts.shape[1])
    least = np.where(column > place[:, None], counts, 0).sum(axis=1, dtype=np.int64) + nonfinite(
        sketch
    )
    there = (place >= 0) & (place < counts.shape[1])
    doubt = np.where(
        there, counts[np.arange(len(counts)), np.clip(place, 0, counts.shape[1] - 1)], 0
    )
    low, high = _ends(at, k >> shift, shift)
    part = np.clip((high - limit) / (high - low), 0, 1)
    if k == 0:
        doubt = doubt + sketch[:, ZEROS]
    return np.stack([least, least + part * doubt, least + doubt])


def bin_around(row: np.ndarray, limit: float) -> tuple[float, float]:
    """Lower and upper edge of the bin of one row in which the numbers about the limit are counted."""
    at = edges()
    k = min(int(np.searchsorted(at, limit, side="right")) - 1, len(at) - 2)
    low, high = _ends(at, k >> row[SHIFT : SHIFT + 1], row[SHIFT : SHIFT + 1])
    return (0.0 if k == 0 else float(low[0])), float(high[0])


def _ends(at: np.ndarray, k: np.ndarray, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper edges of bins that were joined so often; 0 is in none of them."""
    last = len(at) - 1
    return at[np.clip(k.astype(np.int64) << shift, 1, last - 1)], at[
        np.minimum((k + 1).astype(np.int64) << shift, last)
    ]


@quiet
def quantiles(sketch: np.ndarray, percents: Sequence[float], zeros: bool = False) -> np.ndarray:
    """(percents, rows) percentiles of the finite numbers above 0 as `np.percentile` has them; 0 of a row without any.

    With `zeros` numbers that are 0 count, too. Each is within `error` of the true one.
    """
    passed = np.cumsum(
        np.concatenate([sketch[:, ZEROS:FIRST] * zeros, sketch[:, FIRST:-1]], axis=1), axis=1
    )
    total, rows = passed[:, -1].astype(np.int64), np.arange(len(sketch))
    shift = sketch[:, SHIFT]

    def number(rank: np.ndarray) -> np.ndarray:
        """About the number of this rank, from 0, in each row."""
        place = np.minimum((passed <= rank[:, None]).sum(axis=1), passed.shape[1] - 1)
        low, high = _ends(edges(), sketch[rows, LOWEST] + place - 1, shift)
        return np.where(place == 0, 0, 2 * low * (high / (low + high)))

    found = []
    for percent in percents:
        rank = np.maximum(total - 1, 0) * percent / 100
        below = np.floor(rank).astype(np.int64)
        one, next_ = number(below), number(np.minimum(below + 1, np.maximum(total - 1, 0)))
        found.append(np.where(total > 0, one + (rank - below) * (next_ - one), 0.0))
    return np.array(found)


def error(sketch: np.ndarray) -> np.ndarray:
    """(rows,) relative error of `quantiles` at most."""
    return np.array([_error(int(shift)) for shift in sketch[:, SHIFT]])


@functools.cache
def _error(shift: int) -> float:
    at = edges()
    starts = np.arange(0, len(at) - 1, 1 << shift)
    low, high = at[np.maximum(starts, 1)], at[np.minimum(starts + (1 << shift), len(at) - 1)]
    with np.errstate(invalid="ignore"):
        return float(np.max((1 - low / high) / (1 + low / high)))

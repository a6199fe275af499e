"""Learning curves that take minutes to make and ship with the package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

_HELD_OUT = 297  # digits; a file stores how many of them are classified correctly
POINTS = 5  # of a curve, whose mean has to reach a goal, so that one lucky point doesn't count


@cache
def arrays(name: str) -> dict[str, np.ndarray]:
    """Return the arrays of a recording by name, read-only.

    >>> sorted(arrays("spare_workers"))
    ['of', 'right', 'round', 'sweep']
    """
    with np.load(str(_file(name))) as stored:
        by_name = dict(stored)
    for array in by_name.values():
        array.flags.writeable = False  # they are cached, and so shared by all callers
    return by_name


def write(name: str, **arrays: np.ndarray) -> None:
    """Write a recording where `arrays` finds it."""
    np.savez_compressed(str(_file(name)), **arrays)  # type: ignore[arg-type]


@cache
def load(name: str) -> np.ndarray:
    """Return accuracies on the held-out digits, float64 and read-only, in the shape that was saved.

    >>> load("spare_workers").shape
    (16, 15, 100)
    """
    stored = arrays(name)
    curves: np.ndarray = stored["right"].astype(np.float64) / stored["of"]
    curves.flags.writeable = False
    return curves


def save(name: str, curves: np.ndarray, **others: np.ndarray) -> None:
    """Write accuracies where `load` finds them, with other arrays beside them."""
    write(
        name, right=np.rint(curves * _HELD_OUT).astype(np.uint16), of=np.array(_HELD_OUT), **others
    )


def time_to(goal: float, curves: np.ndarray, every: int) -> np.ndarray:
    """Return when the mean of five points of a curve first reaches a goal; infinity if it doesn't.

    The time is that of the last of the five points.

    Args:
        curves: (..., points) accuracies.
        every: the time between two points, and of the first one.

    >>> time_to(0.5, np.array([[0.1, 0.9, 0.1, 0.6, 0.9, 0.9]]), every=200).tolist()
    [1000.0]
    """
    means = np.lib.stride_tricks.sliding_window_view(curves, POINTS, axis=-1).mean(axis=-1)
    is_there = means >= goal
    first = is_there.argmax(axis=-1)
    return np.where(is_there.any(axis=-1), (first + float(POINTS)) * every, np.inf)


def best_rate(times: np.ndarray) -> int:
    """Choose the rate at which the most seeds reach the goal, and of those the one with the lowest mean time.

    Args:
        times: (rates, seeds) times to the goal, infinite for a seed that never reaches it.

    >>> best_rate(np.array([[100.0, np.inf], [300.0, 300.0], [200.0, 300.0]]))
    2
    """
    is_finite = np.isfinite(times)
    lost = (~is_finite).sum(axis=1)
    total = np.where(is_finite, times, 0).sum(axis=1)
    mean = total / np.maximum(1, is_finite.sum(axis=1))
    return int(np.lexsort([mean, lost])[0])  # lexsort takes the most important key last


def pack_times(times: np.ndarray) -> np.ndarray:
    """Return times as 16-bit numbers to be stored, 0 for never; `unpack_times` gives them back."""
    return np.where(np.isfinite(times), times, 0).astype(np.uint16)


def unpack_times(stored: np.ndarray) -> np.ndarray:
    """Return stored times as float64, infinity for never.

    >>> unpack_times(pack_times(np.array([120.0, np.inf]))).tolist()
    [120.0, inf]
    """
    return np.where(stored == 0, np.inf, stored.astype(np.float64))


def _file(name: str) -> Any:
    return files("gradlab.models.recordings") / f"{name}.npz"

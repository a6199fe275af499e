"""Curves that jump, drawn so that their course is seen."""

from __future__ import annotations

import warnings

import numpy as np

SMOOTHED = 5  # points whose mean is drawn
_WINDOWS = 40  # of the median, along a run


def smoothed(curve: np.ndarray) -> np.ndarray:
    """Return the running mean of curves (..., n); at the ends of fewer points, so that both ends stay where they are.

    >>> import numpy as np
    >>> smoothed(np.array([0.0, 3.0, 6.0, 3.0, 0.0, 0.0])).tolist()
    [0.0, 3.0, 2.4, 2.4, 1.0, 0.0]
    """
    places = np.arange(curve.shape[-1])
    reach = np.minimum(SMOOTHED // 2, np.minimum(places, places[::-1]))
    total = np.insert(np.cumsum(curve, axis=-1), 0, 0.0, axis=-1)
    found: np.ndarray = (total[..., places + reach + 1] - total[..., places - reach]) / (
        2 * reach + 1
    )
    return found


def window(points: int) -> int:
    """Return how many neighbors a running median is of: an odd number, 1 where points are few.

    >>> window(30), window(300)
    (1, 7)
    """
    return points // _WINDOWS // 2 * 2 + 1


def running_median(values: np.ndarray) -> np.ndarray:
    """Return the median of each value and its neighbors, of those that are known; at the ends of fewer."""
    half = window(len(values)) // 2
    if not half:
        return values
    padded = np.pad(values, half, constant_values=np.nan)
    around = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # where none is known there is no median
        found: np.ndarray = np.nanmedian(around, axis=1)
    return found

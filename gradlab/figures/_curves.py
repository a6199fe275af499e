"""Curves that jump, drawn so that their course is seen."""

from __future__ import annotations

import numpy as np

SMOOTHED = 5  # points whose mean is drawn


def smoothed(curve: np.ndarray) -> np.ndarray:
    """Running mean of a curve (n,); at its ends of fewer points, so that it begins and ends where it does.

    >>> import numpy as np
    >>> smoothed(np.array([0.0, 3.0, 6.0, 3.0, 0.0, 0.0])).tolist()
    [0.0, 3.0, 2.4, 2.4, 1.0, 0.0]
    """
    places = np.arange(len(curve))
    reach = np.minimum(SMOOTHED // 2, np.minimum(places, places[::-1]))
    total = np.append(0, np.cumsum(curve))
    found: np.ndarray = (total[places + reach + 1] - total[places - reach]) / (2 * reach + 1)
    return found

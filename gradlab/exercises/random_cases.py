"""Arrays for the cases that a grader draws, so that nobody can have written their results down.

The cases that stand in an exercise are in every copy of gradlab; those that its `draw` makes differ
from one grading to the next.
"""

from __future__ import annotations

import numpy as np


def random_quarters(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Return multiples of 1/4, which are exact in every float type."""
    return np.round(rng.normal(0.0, 3.0, shape) * 4) / 4


def random_arrays(rng: np.random.Generator) -> list[np.ndarray]:
    """Return two to four vectors of one to four entries, not all of them zero."""
    sizes = rng.integers(1, 5, rng.integers(2, 5))
    return [
        random_quarters(rng, int(size)) + np.float64(k == 0) / 8 for k, size in enumerate(sizes)
    ]


def as_float32(arrays: list[np.ndarray]) -> list[np.ndarray]:
    return [array.astype(np.float32) for array in arrays]

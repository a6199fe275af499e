"""Numbers in cells, each with a thin bar below it that is as long as it is large."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.numbers import signed
from ._labels import label
from ._lanes import ACCEPTED, DROPPED, patch
from ._shapes import bars

_HALF = 0.42  # of a cell's width: the longest bar


class Numbers:
    """Up to `most` numbers anywhere in an Axes whose y runs down; bars go right from the middle, or left below 0."""

    def __init__(self, axes: Any, most: int, digits: int = 2) -> None:
        self._digits = digits
        self._more, self._less = patch(axes, ACCEPTED), patch(axes, DROPPED)
        self._texts = [label(axes) for _ in range(most)]

    def draw(self, x: np.ndarray, y: np.ndarray, values: np.ndarray, longest: float, below: float = 0.3) -> None:
        """Write values (n,) into the cells around x, y (n,); a value of `longest` has the longest bar."""
        for k, words in enumerate(self._texts):
            words.set_visible(k < len(values))
            if k < len(values):
                words.set(x=x[k], y=y[k] - 0.08, text=written(values[k], self._digits))
        length = _HALF * np.clip(values / longest, -1, 1)
        for shape, some in ((self._more, length > 0), (self._less, length < 0)):
            left, right = np.sort([x[some], x[some] + length[some]], axis=0)
            shape.set_path(bars(left, right, y[some] + below, y[some] + below + 0.1))


def written(value: float, digits: int = 2) -> str:
    """With so many digits after the point, and a true minus; a 0 without any is exactly 0.

    >>> written(-0.5), written(0.0), written(0.001), written(0.26, 1)
    ('−0.50', '0', '0.00', '0.3')
    """
    words = f"{value:.{digits}f}" if value else "0"
    return signed(words) if float(words) else words.lstrip("-")

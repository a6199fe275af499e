"""Lines of equal height as a path, without an Axes to draw them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from contourpy import LineType, contour_generator
from matplotlib.path import Path


def contours(x: np.ndarray, y: np.ndarray, height: np.ndarray, levels: Iterable[float]) -> Path:
    """Where `height` (n, m), finite and given at y (n,) and x (m,), has the levels: as `Axes.contour`, but one path.

    >>> import numpy as np
    >>> slope = np.arange(3.0)
    >>> contours(slope, slope, np.tile(slope, (3, 1)), [0.5]).vertices.tolist()
    [[0.5, 2.0], [0.5, 1.0], [0.5, 0.0]]
    """
    lines = contour_generator(x, y, height, name="mpl2014", line_type=LineType.SeparateCode)  # matplotlib's default
    found = (pair for level in levels for pair in zip(*lines.lines(float(level)), strict=True))
    return Path.make_compound_path(*(Path(points, codes) for points, codes in found))

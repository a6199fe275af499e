"""Shapes that several views share, each in one artist: bars, straight lines, hatching and contours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from contourpy import LineType, contour_generator
from matplotlib.path import Path

NOWHERE = Path(np.full((1, 2), np.nan))


def bars(left: Any, right: Any, low: Any, high: Any) -> Path:
    """Rectangles as one path; the sides are numbers or arrays (n,)."""
    sides = np.broadcast_arrays(
        *(np.atleast_1d(np.asarray(side, float)) for side in (left, right, low, high))
    )
    if not sides[0].size:
        return NOWHERE
    left, right, low, high = sides
    corners = [(left, low), (right, low), (right, high), (left, high), (left, low)]
    vertices = np.array(corners).transpose(2, 0, 1).reshape(-1, 2)
    return Path(
        vertices, [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(left)
    )


def band(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> Path:
    """Return the area between two curves over x, all (n,), as one path.

    >>> band(np.array([0.0, 1.0]), np.array([1.0, 2.0]), np.array([3.0, 4.0])).vertices.tolist()
    [[0.0, 1.0], [1.0, 2.0], [1.0, 4.0], [0.0, 3.0], [0.0, 1.0]]
    """
    there = np.column_stack([x, low])
    back = np.column_stack([x, high])[::-1]
    vertices = np.concatenate([there, back, there[:1]])
    codes = [Path.MOVETO] + [Path.LINETO] * (len(vertices) - 2) + [Path.CLOSEPOLY]
    return Path(vertices, codes)


def segments(x0: Any, y0: Any, x1: Any, y1: Any) -> np.ndarray:
    """Return straight lines from (x0, y0) to (x1, y1), numbers or arrays (n,), as one line with gaps (2, 3 n).

    >>> segments(0, [1, 2], 5, [1, 2]).tolist()
    [[0.0, 5.0, nan, 0.0, 5.0, nan], [1.0, 1.0, nan, 2.0, 2.0, nan]]
    """
    ends = np.broadcast_arrays(*(np.atleast_1d(np.asarray(end, float)) for end in (x0, x1, y0, y1)))
    gap = np.full(ends[0].shape, np.nan)
    return (
        np.stack([[ends[0], ends[1], gap], [ends[2], ends[3], gap]])
        .transpose(0, 2, 1)
        .reshape(2, -1)
    )


def hatching(left: Any, right: Any, low: Any, high: Any, lean: float, apart: float) -> np.ndarray:
    """Slanted lines within rectangles, (3 n, 2) with NaN between them.

    Args:
        left, right, low, high: sides (n,).
        lean: how far a line leans to the right from low to high.
        apart: distance of two lines, like `lean` in units of x.
    """
    lines = [np.empty((0, 2))]
    for x0, x1, y0, y1 in np.broadcast(left, right, low, high):
        foot = np.arange(x0 - lean + apart / 2, x1, apart)
        start = np.clip((x0 - foot) / lean, 0, 1)
        end = np.clip((x1 - foot) / lean, 0, 1)
        gap = np.full_like(foot, np.nan)
        points = [
            np.stack([foot + lean * t, y0 + (y1 - y0) * t], axis=1) for t in (start, end, gap)
        ]
        lines.append(np.stack(points, axis=1).reshape(-1, 2))
    return np.concatenate(lines)


def contours(x: np.ndarray, y: np.ndarray, height: np.ndarray, levels: Iterable[float]) -> Path:
    """The level lines of `height` (n, m), finite and given at y (n,) and x (m,): as `Axes.contour`, but one path.

    >>> import numpy as np
    >>> slope = np.arange(3.0)
    >>> contours(slope, slope, np.tile(slope, (3, 1)), [0.5]).vertices.tolist()
    [[0.5, 2.0], [0.5, 1.0], [0.5, 0.0]]
    """
    # matplotlib's default.
    lines = contour_generator(x, y, height, name="mpl2014", line_type=LineType.SeparateCode)
    found = (pair for level in levels for pair in zip(*lines.lines(float(level)), strict=True))
    return Path.make_compound_path(*(Path(points, codes) for points, codes in found))

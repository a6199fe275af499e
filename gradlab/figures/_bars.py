"""Many bars in one artist, and the hatching that a moving artist of matplotlib cannot have."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.path import Path

NOWHERE = Path(np.full((1, 2), np.nan))


def bars(left: Any, right: Any, low: Any, high: Any) -> Path:
    """Rectangles as one path; the sides are numbers or arrays (n,)."""
    sides = np.broadcast_arrays(*(np.atleast_1d(np.asarray(side, float)) for side in (left, right, low, high)))
    if not sides[0].size:
        return NOWHERE
    left, right, low, high = sides
    corners = [(left, low), (right, low), (right, high), (left, high), (left, low)]
    vertices = np.array(corners).transpose(2, 0, 1).reshape(-1, 2)
    return Path(vertices, [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(left))


def hatching(left: Any, right: Any, low: Any, high: Any, lean: float, apart: float) -> np.ndarray:
    """Slanted lines within rectangles, (3 n, 2) with NaN between them.

    Args:
        left, right, low, high: sides (n,). lean: how far a line leans to the right from low to high.
        apart: distance of two lines, like `lean` in units of x.
    """
    lines = [np.empty((0, 2))]
    for x0, x1, y0, y1 in np.broadcast(left, right, low, high):
        foot = np.arange(x0 - lean + apart / 2, x1, apart)
        for t in (np.clip((x0 - foot) / lean, 0, 1), np.clip((x1 - foot) / lean, 0, 1), np.full_like(foot, np.nan)):
            lines.append(np.stack([foot + lean * t, y0 + (y1 - y0) * t], axis=1))
        lines[-3:] = [np.stack(lines[-3:], axis=1).reshape(-1, 2)]
    return np.concatenate(lines)

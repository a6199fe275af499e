"""Ways that lead the eye through a picture: curves and bent lines, bands side by side, and the heads of arrows.

A way is its points (2, n), x and y.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.path import Path


def side_by_side(widths: np.ndarray) -> np.ndarray:
    """Return the middles (n,) of bands of these widths, around 0."""
    ends = np.cumsum(widths + 1.5)
    middles: np.ndarray = ends - widths / 2 - 0.75 - ends[-1:] / 2
    return middles


def curve(x0: float, y0: float, x1: float, y1: float) -> np.ndarray:
    """Return a smooth way (2, n) that begins and ends level."""
    t = np.linspace(0, 1, 21)
    return np.stack([x0 + (x1 - x0) * t, y0 + (y1 - y0) * t * t * (3 - 2 * t)])


def arc(*points: tuple[float, float]) -> np.ndarray:
    """Return a way (2, n) that four points bend: it begins at the first one and ends at the last one."""
    t = np.linspace(0, 1, 21)
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
    way: np.ndarray = np.asarray(points, float).T @ np.array(weights)
    return way


def bent(*points: tuple[float, float], radius: float = 9.0) -> np.ndarray:
    """Return a way (2, n) from point to point with round corners."""
    corners, t = np.array(points, float), np.linspace(0, 1, 6)[:, None]
    way = [corners[:1]]
    for before, corner, after in zip(corners, corners[1:], corners[2:], strict=False):
        starts = [
            corner + (end - corner) * min(1, radius / max(np.hypot(*(end - corner)), 1e-9))
            for end in (before, after)
        ]
        way.append(starts[0] * (1 - t) ** 2 + 2 * corner * t * (1 - t) + starts[1] * t * t)
    return np.concatenate([*way, corners[-1:]]).T


def joined(ways: Sequence[np.ndarray]) -> np.ndarray:
    """Return ways (2, n) as one line with gaps."""
    gap = np.full((2, 1), np.nan)
    return np.concatenate(
        [np.empty((2, 0)), *(part for way in ways for part in (way, gap))], axis=1
    )


def head(way: np.ndarray, size: float = 9.0) -> Path:
    """Return the head of an arrow along a way (2, n)."""
    tip = way[:, -1]
    along = tip - way[:, -2]
    forth = along / np.hypot(*along) * size
    across = np.array([-forth[1], forth[0]]) * 0.5
    return Path([tip, tip - forth + across, tip - forth - across, tip], closed=True)

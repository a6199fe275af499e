"""Shapes that several views share: bars, contours, and hatching, each in one artist, and keys in their own panels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from contourpy import LineType, contour_generator
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from ._style import BLACK, HATCH, SMALL

NOWHERE = Path(np.full((1, 2), np.nan))
_HALF = 0.22  # of the width of a sample in a key, in inches


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


def contours(x: np.ndarray, y: np.ndarray, height: np.ndarray, levels: Iterable[float]) -> Path:
    """The level lines of `height` (n, m), finite and given at y (n,) and x (m,): as `Axes.contour`, but one path.

    >>> import numpy as np
    >>> slope = np.arange(3.0)
    >>> contours(slope, slope, np.tile(slope, (3, 1)), [0.5]).vertices.tolist()
    [[0.5, 2.0], [0.5, 1.0], [0.5, 0.0]]
    """
    lines = contour_generator(x, y, height, name="mpl2014", line_type=LineType.SeparateCode)  # matplotlib's default
    found = (pair for level in levels for pair in zip(*lines.lines(float(level)), strict=True))
    return Path.make_compound_path(*(Path(points, codes) for points, codes in found))


class Key:
    """Entries of (looks, words): looks with `fc` are a box, with `s` a lettering, with `lw` a line, else a mark.

    Entries of a key that is `moving` come and go by `show`: what is not drawn has none.
    """

    def __init__(self, axes: Any, entries: Sequence[tuple[dict[str, Any], str]], moving: bool = False) -> None:
        self.axes = axes
        axes.set_axis_off()
        self._samples = [self._sample(looks) for looks, _ in entries]
        # What moves cannot be hatched, so strokes are lines of their own, here as in the picture.
        self._strokes = [axes.plot([], [], **HATCH)[0] if "hatch" in looks else None for looks, _ in entries]
        self._words = [axes.text(0, 0, words, fontsize=SMALL, va="center", color=BLACK) for _, words in entries]
        for artist in (*self._samples, *self._words, *filter(None, self._strokes)):
            artist.set_animated(moving)

    def show(self, *drawn: Any) -> None:
        """Show the entries of what is drawn."""
        for (*artists, strokes), there in zip(self._entries(), drawn, strict=True):
            for artist in [*artists, *filter(None, [strokes])]:
                artist.set_visible(bool(there))

    def _entries(self) -> Iterable[Any]:
        return zip(self._samples, self._words, self._strokes, strict=True)

    def _sample(self, looks: dict[str, Any]) -> Any:
        if "fc" in looks:
            plain = {name: look for name, look in looks.items() if name != "hatch"}
            return self.axes.add_patch(PathPatch(bars(0, 1, 0, 1), **plain))
        if "s" in looks:
            return self.axes.text(0, 0, fontsize=SMALL, ha="center", va="center", **looks)
        return self.axes.plot([], [], markevery=[1], clip_on=False, **looks)[0]

    def arrange(self, columns: int, width: float) -> None:
        """Lay the entries out in columns in a panel that is so many inches wide."""
        rows = -(-len(self._samples) // columns)
        self.axes.set(xlim=(0, width), ylim=(rows - 0.5, -0.5))
        for k, (sample, words, strokes) in enumerate(self._entries()):
            x, y = _HALF + width / columns * (k // rows), k % rows
            if isinstance(sample, PathPatch):
                sides = x - _HALF, x + _HALF, y - 0.32, y + 0.32
                sample.set_path(bars(*sides))
                if strokes is not None:
                    strokes.set_data(*hatching(*sides, lean=0.14, apart=0.07).T)
            elif hasattr(sample, "set_data"):
                sample.set_data([x - _HALF, x, x + _HALF], [y] * 3)
            else:
                sample.set_position((x, y))
            words.set_position((x + _HALF + 0.12, y))

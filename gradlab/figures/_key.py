"""A key in a panel of its own: samples of boxes, lines, marks and letterings, and what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.patches import PathPatch

from ._bars import bars
from ._style import BLACK

_HALF = 0.22  # of a sample's width, in inches


class Key:
    """Entries of (looks, words): looks with `fc` are a box, with `s` a lettering, with `lw` a line, else a mark."""

    def __init__(self, axes: Any, entries: Sequence[tuple[dict[str, Any], str]]) -> None:
        self.axes = axes
        axes.set_axis_off()
        self._samples = [self._sample(looks) for looks, _ in entries]
        self._words = [axes.text(0, 0, words, fontsize=9, va="center", color=BLACK) for _, words in entries]

    def _sample(self, looks: dict[str, Any]) -> Any:
        if "fc" in looks:
            return self.axes.add_patch(PathPatch(bars(0, 1, 0, 1), **looks))
        if "s" in looks:
            return self.axes.text(0, 0, fontsize=8.5, ha="center", va="center", **looks)
        return self.axes.plot([], [], markevery=[1], clip_on=False, **looks)[0]

    def arrange(self, columns: int, width: float) -> None:
        """Lay the entries out in columns in a panel that is so many inches wide."""
        rows = -(-len(self._samples) // columns)
        self.axes.set(xlim=(0, width), ylim=(rows - 0.5, -0.5))
        for k, (sample, words) in enumerate(zip(self._samples, self._words, strict=True)):
            x, y = _HALF + width / columns * (k // rows), k % rows
            if isinstance(sample, PathPatch):
                sample.set_path(bars(x - _HALF, x + _HALF, y - 0.32, y + 0.32))
            elif hasattr(sample, "set_data"):
                sample.set_data([x - _HALF, x, x + _HALF], [y] * 3)
            else:
                sample.set_position((x, y))
            words.set_position((x + _HALF + 0.12, y))

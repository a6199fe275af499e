"""Numbers in cells, each with a thin bar below it that is as long as it is large.

Their places are whole pixels: a text that was painted once is then painted from memory wherever it stands.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.text import Text

from .._base.numbers import signed
from ._lanes import ACCEPTED, DROPPED, patch
from ._shapes import bars
from ._style import BLACK

_HALF = 0.42  # of a cell's width: the longest bar
_LEFT = {"left": 0.0, "center": 0.5, "right": 1.0}  # how much of a text is left of its place


class Label(Text):
    """One line without formulas around a whole pixel, painted without the layout that Text makes again each time.

    Its middle is that of its digits, so that numbers of one row stand on one line; its alignment is horizontal only.
    """

    def draw(self, renderer: Any) -> None:
        """Paint it."""
        words = self.get_text()
        if not (words and self.get_visible()):
            return
        font, aligned = self.get_fontproperties(), self.get_horizontalalignment()
        width, _, _ = renderer.get_text_width_height_descent(words, font, False)
        _, digit, _ = renderer.get_text_width_height_descent("0", font, False)
        x, y = np.round(self.get_transform().transform(self.get_position()))
        y = renderer.get_canvas_width_height()[1] - y if renderer.flipy() else y
        y += round(digit / 2) * (1 if renderer.flipy() else -1)
        pen = renderer.new_gc()
        pen.set_foreground(self.get_color())
        renderer.draw_text(pen, x - round(_LEFT[aligned] * width), y, words, font, 0.0, False, self)
        pen.restore()
        self.stale = False


def label(axes: Any, **looks: Any) -> Any:
    """A moving text around a whole pixel; of many that change often."""
    place: dict[str, Any] = {"x": 0, "y": 0, "ha": "center", "va": "center", "fontsize": 8}
    one = Label(**place | looks, color=BLACK, animated=True, zorder=4, clip_on=False, transform=axes.transData)
    one.set_in_layout(False)
    axes.add_artist(one)
    return one


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

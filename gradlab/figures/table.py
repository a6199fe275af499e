"""An embedding table as colors, its slots beside it, and the devices that hold its rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.numbers import number, signed
from ._labels import label
from ._lanes import patch
from ._shapes import bars
from ._style import BLACK, BLUE, ORANGE, OTHER, moving_line

_WEIGHTS, _SLOTS = "PuOr", "cividis"  # every eye tells their ends apart
LARGEST, MOST_SLOTS = 1.5, 3  # the weight that has the darkest color; slots that fit


class TablePanel:
    """Rows from 0 down, weights first and then each slot; marks at rows that are touched, a frame for one."""

    def __init__(self, axes: Any, rows: int, width: int, devices: int) -> None:
        self.rows, self.width = rows, width
        lefts = np.arange(1 + MOST_SLOTS) * (width + 1)
        self._end, each = lefts[-1] + width + 4.4, rows // devices
        self._edges = np.arange(each, rows, each) - 0.5
        axes.grid(False)
        axes.set(xlim=(-1.1, self._end + 0.1), ylim=(rows + 2.8, -1.7), xticks=[], yticks=range(rows))
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        axes.tick_params(axis="y", length=0, labelsize=8, pad=0)
        for k in range(devices):
            looks: dict[str, Any] = {"ha": "right", "va": "center", "fontsize": 8, "color": BLACK}
            axes.text(self._end, each * (k + 0.5) - 0.5, f"device {k}", **looks)
        self._blocks = [_Block(axes, x, rows, width, _SLOTS if x else _WEIGHTS) for x in lefts.tolist()]
        self._touched = moving_line(axes, ">", ms=6, color=BLUE)
        self._casing = patch(axes, {"fc": "none", "ec": BLACK, "lw": 4})
        self._chosen = patch(axes, {"fc": "none", "ec": ORANGE, "lw": 2})
        self._bands = moving_line(axes, color=OTHER, lw=1, zorder=2.5)

    def draw(self, table: np.ndarray, slots: dict[str, np.ndarray], touched: np.ndarray, row: int) -> None:
        """Weights (rows, width), slots by name, the rows touched, and the chosen one."""
        shown = [("table", table, -LARGEST, LARGEST)]
        shown += [(name, x, float(np.nanmin(x)), float(np.nanmax(x))) for name, x in slots.items()]
        for block, what in zip(self._blocks, [*shown, *[None] * (len(self._blocks) - len(shown))], strict=True):
            block.draw(what)
        self._touched.set_data(np.full(len(touched), -0.55), touched)
        left = np.arange(len(shown)) * (self.width + 1)
        frame = bars(left, left + self.width, row - 0.5, row + 0.5)
        self._casing.set_path(frame)
        self._chosen.set_path(frame)
        x = np.array([0, self._end, np.nan])
        self._bands.set_data(np.tile(x, len(self._edges)), np.repeat(self._edges, 3))


class _Block:
    """Numbers of all rows as colors, their name above and the scale below."""

    def __init__(self, axes: Any, x: float, rows: int, width: int, colors: str) -> None:
        looks: dict[str, Any] = {"aspect": "auto", "cmap": colors, "vmin": 0, "vmax": 1, "interpolation": "none"}
        places = (x, x + width, rows - 0.5, -0.5), (x, x + width, rows + 0.6, rows)
        starts = np.zeros((rows, width)), np.linspace(0, 1, 32)[None]
        self._image, ramp = (
            axes.imshow(start, extent=place, animated=True, zorder=1, **looks)
            for start, place in zip(starts, places, strict=True)
        )
        self._head = label(axes, x=x + width / 2, y=-1.1)
        self._low, self._high = (
            label(axes, x=x, y=rows + 1.2, ha="left"),
            label(axes, x=x + width, y=rows + 2.2, ha="right"),
        )
        self._all = (self._image, ramp, self._head, self._low, self._high)

    def draw(self, what: tuple[str, np.ndarray, float, float] | None) -> None:
        """Name, numbers (rows, width), and the ends of the scale; None for nothing."""
        for artist in self._all:
            artist.set_visible(what is not None)
        if what is not None:
            name, numbers, low, high = what
            self._image.set_data(np.clip((numbers - low) / max(high - low, 1e-30), 0, 1))
            for words, value in ((self._head, name), (self._low, number(low, 2)), (self._high, number(high, 2))):
                words.set_text(signed(value))

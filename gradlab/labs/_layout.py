"""Places of the panels of a picture, as data: a layout for wide pages, and one for narrow pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.gridspec import GridSpec


class PanelLayout(NamedTuple):
    """Size of a figure, and a mosaic of its panels.

    Attributes:
        size: width and height in inches.
        mosaic: a letter for each cell, and "/" between rows, as in matplotlib's `subplot_mosaic`.
            Cells with the same letter are one panel; "." is empty.
        width_ratios: of the columns; equal by default.
        height_ratios: of the rows; equal by default.
    """

    size: tuple[float, float]
    mosaic: str
    width_ratios: Sequence[float] | None = None
    height_ratios: Sequence[float] | None = None


def place_panels(figure: Any, layout: PanelLayout, **axes_by_letter: Any) -> None:
    """Resize a figure and move its axes to the cells with their letters.

    >>> from matplotlib.figure import Figure
    >>> figure = Figure()
    >>> curve, table = figure.add_subplot(), figure.add_subplot()
    >>> place_panels(figure, PanelLayout((4, 3), "C/C/T"), C=curve, T=table)
    >>> curve.get_subplotspec().rowspan, table.get_subplotspec().rowspan
    (range(0, 2), range(2, 3))
    """
    figure.set_size_inches(*layout.size)
    cells = np.array([list(row) for row in layout.mosaic.split("/")])
    rows, columns = cells.shape
    grid = GridSpec(
        rows,
        columns,
        figure,
        width_ratios=layout.width_ratios,
        height_ratios=layout.height_ratios,
    )
    for letter, axes in axes_by_letter.items():
        y, x = np.nonzero(cells == letter)
        axes.set_subplotspec(grid[y.min() : y.max() + 1, x.min() : x.max() + 1])

"""Traces in, matplotlib figures out: the views of the labs, one file per lab, and what they are all drawn with.

A view holds `figure`, whose moving artists are made with `animated=True`, and `draw(trace)`, which sets their data and
paints nothing. No pyplot, no files, no math of its own. For a view of your own take `new_figure`, let `tidy` label
each of its Axes, make moving lines by `moving_line`, and take its colors from `BLUE`, `ORANGE`, `GREEN`, `BLACK` and
`OTHER`, which every reader tells apart; `DARK` says what they become on a dark page. `gradlab.labs.Lab` shows the view.
"""

from typing import TYPE_CHECKING

from .._base.suggest import only_public as _only_public
from ._style import BLACK, BLUE, DARK, GREEN, ORANGE, OTHER, moving_line, new_figure, tidy
from .placement import PlacementPicture

__all__ = [
    "BLACK", "BLUE", "DARK", "GREEN", "ORANGE", "OTHER", "PlacementPicture", "moving_line", "new_figure", "tidy",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)

"""Matplotlib figures that move under a reader's hands: still parts by Agg, moving artists painted by the browser.

A `LiveFigure` is made of a matplotlib `Figure`, some controls (`Slider`, `Range`, `Menu`, `Toggle`,
`Button`) and a function that takes their values, sets data on the moving artists and returns a
`Description` of what is seen now. `Drag` makes a line or a point of the picture a handle, `Items`
are what can be pointed at in it, and a `Preset` is a named setting. In a notebook the figure shows
itself; `gradlab.labs.Lab` is one with a model behind it, made from these.

A picture of your own: take `new_figure`, let `tidy` label each of its Axes, make moving lines by
`moving_line`, and take its colors from `BLUE`, `ORANGE`, `GREEN`, `BLACK` and `OTHER`, which every
reader tells apart; `DARK` says what they become on a dark page. Moving artists are made with
`animated=True`; drawing sets their data and paints nothing.

The way from a slider to pixels:

    web/figure.js `moved`      shows what web/frame_cache.js has, and asks through web/requests.js
    messages.py                checks the values, and state.py calls the function of the figure
    scene.py                   records the moving artists: renderer.py writes a display_list.py
    web/figure.js `takeFrame`  gives the list to web/screen.js, and web/paint.js paints it
"""

from typing import TYPE_CHECKING

from .._base.suggest import only_public as _only_public
from .controls import Button, Drag, Menu, Preset, Toggle
from .description import Description, Items
from .drawing.style import BLACK, BLUE, DARK, GREEN, ORANGE, OTHER, moving_line, new_figure, tidy
from .figure import LiveFigure
from .sliders import Range, Slider

__all__ = [
    "BLACK",
    "BLUE",
    "DARK",
    "GREEN",
    "ORANGE",
    "OTHER",
    "Button",
    "Description",
    "Drag",
    "Items",
    "LiveFigure",
    "Menu",
    "Preset",
    "Range",
    "Slider",
    "Toggle",
    "moving_line",
    "new_figure",
    "tidy",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)

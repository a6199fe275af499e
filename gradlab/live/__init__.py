"""Matplotlib figures that move under a reader's hands: still parts by Agg, moving artists painted by the browser."""

from .controls import Button, Menu, Preset, Toggle
from .drags import Drag
from .figure import LiveFigure
from .sliders import Range, Slider
from .words import Description, Items

__all__ = ["Button", "Description", "Drag", "Items", "LiveFigure", "Menu", "Preset", "Range", "Slider", "Toggle"]

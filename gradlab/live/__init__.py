"""Matplotlib figures that move under a reader's hands: still parts by Agg, moving artists painted by the browser."""

from .controls import Button, Description, Drag, Menu, Slider
from .figure import LiveFigure

__all__ = ["Button", "Description", "Drag", "LiveFigure", "Menu", "Slider"]

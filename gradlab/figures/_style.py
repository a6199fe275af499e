"""One look for every figure: Okabe and Ito's colours, which colour-blind readers tell apart."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, BLACK = "#0072B2", "#D55E00", "#00795A", "#1A1A1A"
OTHER, GRID = "#8C8C8C", "#D9D9D9"
# What these colours become on a dark page; all others have their lightness turned round.
DARK: dict[str, str] = {}


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, `width` x `height` inches at 100 dots per inch, laid out once it is full."""
    return Figure(figsize=(width, height), dpi=100, layout="constrained")


def tidy(axes: Any, title: str, x: str, y: str) -> Any:
    """Title, labels with units, a light grid and no box."""
    axes.set_title(title, loc="left", fontsize=10, color=BLACK)
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    axes.tick_params(labelsize=8.5, colors=BLACK)
    axes.grid(True, color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return axes


def moving_line(axes: Any, style: str = "-", **looks: Any) -> Any:
    """An empty line that `draw` fills for every state."""
    (line,) = axes.plot([], [], style, animated=True, **looks)
    return line

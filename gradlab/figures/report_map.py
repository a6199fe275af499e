"""The norm of every tensor over a recorded run as a map: one line for each tensor, bright where it is loud."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.colors import LogNorm, to_rgba
from matplotlib.ticker import MaxNLocator

from ._style import BLACK, NARROW, ORANGE, WIDE, log_ticks, new_figure, tidy
from .run_rows import short

MOST_ROWS, MOST_COLUMNS = 160, 300
NAMED = 24  # lines that have room for a name each
_DECADES = 6  # that the colours tell apart


def map_figure(norm: np.ndarray, step: np.ndarray, until: int, names: Sequence[str], narrow: bool = False) -> Any:
    """Norms (buckets, tensors) that began at step (buckets,), of `until` steps; NaN and Inf stand out."""
    shown = _largest(_largest(norm.T, MOST_COLUMNS, 1), MOST_ROWS, 0)  # (lines, columns)
    lines = len(shown)
    figure = new_figure(NARROW if narrow else WIDE, min(max(1.5 + 0.17 * lines, 2.0), 4.6))
    axes = tidy(figure.add_subplot(), "Norm of each tensor", "training step", "")
    axes.grid(False)
    ends = (step[0] if step.size else 0, max(until, 1), lines - 0.5, -0.5)
    picture = axes.imshow(shown, norm=_scale(shown), cmap=_colours(), aspect="auto", interpolation="none", extent=ends)
    if lines == len(names) and lines <= NAMED:
        axes.set_yticks(range(lines), [short(name) for name in names])
    else:
        axes.set_yticks([])
        axes.set_ylabel(f"{len(names)} tensors, first to last", fontsize=9)
    axes.xaxis.set_major_locator(MaxNLocator(4 if narrow else 8, integer=True))
    bar = figure.colorbar(picture, ax=axes, pad=0.02, aspect=12)
    bar.ax.tick_params(labelsize=8.5, colors=BLACK)
    bar.outline.set_visible(False)
    log_ticks(bar.ax.yaxis)
    return figure


def _largest(values: np.ndarray, most: int, axis: int) -> np.ndarray:
    """The largest of so many neighbours along an axis that at most `most` are left; NaN and Inf win."""
    many = -(-values.shape[axis] // most)
    starts = np.arange(0, values.shape[axis], max(many, 1))
    return np.maximum.reduceat(np.where(np.isfinite(values), values, np.inf), starts, axis=axis)


def _scale(shown: np.ndarray) -> LogNorm:
    finite = shown[np.isfinite(shown) & (shown > 0)]
    high = float(finite.max(initial=1.0)) if finite.size else 1.0
    low = max(float(finite.min(initial=high)), high / 10**_DECADES)
    return LogNorm(low if low < high else high / 10, high, clip=False)


def _colours() -> Any:
    """Cividis; what is 0 or far below all others is black, what is not finite orange."""
    from matplotlib import colormaps

    return colormaps["cividis"].with_extremes(under=to_rgba(BLACK), bad=to_rgba(BLACK), over=to_rgba(ORANGE))

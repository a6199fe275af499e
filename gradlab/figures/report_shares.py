"""How often limits fire on a recorded run: over all of them as a curve, and by tensor for one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.ticker import MaxNLocator

from .._base.numbers import percent
from ._style import BLACK, BLUE, GREEN, NARROW, ORANGE, WIDE, log_ticks, new_figure, percent_ticks, tidy
from .run_rows import short

MOST_ROWS = 12


class Shares(NamedTuple):
    """What is drawn.

    Attributes:
        limits, fired: (n,) limits on the global norm, and the share of steps on which each fires, 0 to 1.
        limit, share: the one that is marked.
        names, by_tensor: of the tensors it would fire on most, as a limit on the norm of each alone, and how often.
    """

    limits: np.ndarray
    fired: np.ndarray
    limit: float
    share: float
    names: Sequence[str]
    by_tensor: np.ndarray


def shares_figure(shares: Shares, narrow: bool = False) -> Any:
    """The curve, and beside it or below it the bars."""
    rows = min(len(shares.names), MOST_ROWS)
    if narrow:
        figure = new_figure(NARROW, 3.0 + 0.9 + 0.24 * rows)
        curve, bars = figure.subplots(2, 1, height_ratios=(2.4, 0.6 + 0.24 * rows))
    else:
        figure = new_figure(WIDE, max(3.2, 0.9 + 0.24 * rows))
        curve, bars = figure.subplots(1, 2, width_ratios=(1.5, 1))
    _curve(curve, shares)
    _bars(bars, shares.names[:rows], shares.by_tensor[:rows])
    return figure


def _curve(axes: Any, shares: Shares) -> None:
    tidy(axes, "Steps on which a limit fires", "limit on the global norm", "")
    axes.fill_between(shares.limits, 0, shares.fired, color=BLUE, alpha=0.15, lw=0)
    axes.plot(shares.limits, shares.fired, "-", lw=1.8, color=BLUE)
    axes.axvline(shares.limit, color=GREEN, ls="--", lw=1.6)
    axes.plot([shares.limit], [shares.share], "o", ms=7, mew=0, color=GREEN)
    above = 8 if shares.share < 0.9 else -14  # points
    axes.annotate(
        f"{shares.limit:.3g}: {percent(shares.share, 1)}", (shares.limit, shares.share), (8, above),
        textcoords="offset points", fontsize=9.5, color=BLACK, fontweight="bold",
    )  # fmt: skip
    axes.set(xscale="log", ylim=(0, 1.04), xlim=(shares.limits[0], shares.limits[-1]))
    percent_ticks(axes.yaxis)
    log_ticks(axes.xaxis)


def _bars(axes: Any, names: Sequence[str], share: np.ndarray) -> None:
    tidy(axes, "On the norm of each tensor alone", "steps", "")
    place = np.arange(len(names))
    axes.barh(place, share, 0.62, color=ORANGE)
    for at, value in zip(place, share, strict=True):
        axes.annotate(percent(value, 1), (value, at), (4, 0), textcoords="offset points", va="center", fontsize=8.5)
    longest = float(share.max(initial=0))
    axes.set(ylim=(max(len(names), 4) - 0.4, -0.6), xlim=(0, max(1.3 * longest, 0.01)))
    axes.set_yticks(place, [short(name) for name in names])
    percent_ticks(axes.xaxis, 0 if longest > 0.05 else 1)
    axes.xaxis.set_major_locator(MaxNLocator(3))
    axes.grid(False, axis="y")

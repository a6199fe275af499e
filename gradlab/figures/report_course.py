"""Loss and gradient norm of a recorded run from its first step to its last, with a limit over the norms."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.ticker import MaxNLocator

from ._style import BLACK, BLUE, GREEN, NARROW, ORANGE, WIDE, log_ticks, new_figure, tidy

MOST = 600  # places along a line: more than a page has room for


class Course(NamedTuple):
    """What is drawn.

    Attributes:
        step: (buckets,) first step of each. until: steps in all.
        norm, low: (buckets,) largest and smallest global norm of its steps; NaN or Inf where a step held such.
        loss: (buckets,) NaN where none is known. limit: on the global norm; NaN for none.
    """

    step: np.ndarray
    until: int
    norm: np.ndarray
    low: np.ndarray
    loss: np.ndarray
    limit: float


def course_figure(course: Course, narrow: bool = False) -> Any:
    """The norms with the limit, and above them the loss if it is known."""
    known = bool(np.isfinite(course.loss).any())
    figure = new_figure(NARROW if narrow else WIDE, (4.4 if narrow else 4.2) if known else 2.9)
    panels = figure.subplots(1 + known, 1, sharex=True, squeeze=False, height_ratios=(1, 1.7)[1 - known :])[:, 0]
    if known:
        _loss(tidy(panels[0], "Loss", "", "loss"), course)
    _norms(tidy(panels[-1], "Gradient norm over all tensors", "training step", "global norm"), course)
    panels[-1].xaxis.set_major_locator(MaxNLocator(5 if narrow else 8, integer=True))
    panels[-1].set_xlim(-0.01 * course.until - 0.5, 1.01 * course.until + 0.5)
    figure.legend(loc="outside lower center", ncols=1 if narrow else 4, fontsize=8.5, frameon=False)
    return figure


def _loss(axes: Any, course: Course) -> None:
    step, loss = _thinned(course.step, course.loss, np.fmax)
    _, least = _thinned(course.step, course.loss, np.fmin)
    axes.fill_between(step, least, loss, color=BLACK, alpha=0.25, lw=0)
    axes.plot(step, (least + loss) / 2, "-", lw=1.2, color=BLACK)
    if (least[np.isfinite(least)] > 0).all():
        axes.set_yscale("log")
        log_ticks(axes.yaxis)


def _norms(axes: Any, course: Course) -> None:
    shown = np.where(np.isfinite(course.norm) & (course.norm > 0), course.norm, np.nan)
    step, most = _thinned(course.step, shown, np.fmax)
    _, least = _thinned(course.step, np.where(course.low > 0, course.low, np.nan), np.fmin)
    axes.fill_between(step, least, most, color=BLUE, alpha=0.3, lw=0)
    axes.plot(step, most, "-", lw=0.9, color=BLUE, label="gradient norm")
    axes.set_yscale("log" if np.isfinite(shown).any() else "linear")
    if not np.isnan(course.limit):
        fired = most > course.limit
        axes.plot(step[fired], most[fired], "^", ms=4.5, mew=0, color=ORANGE, label="the limit fires")
        axes.axhline(course.limit, color=GREEN, ls="--", lw=1.6, label="limit")
    if np.isfinite(shown).any():
        log_ticks(axes.yaxis)
    bad = course.step[~np.isfinite(course.norm)]
    if bad.size:
        place = {"transform": axes.get_xaxis_transform(), "clip_on": False}
        axes.plot(bad, np.ones(bad.size), "x", ms=6, mew=1.6, color=BLACK, label="NaN or Inf", **place)


def _thinned(step: np.ndarray, values: np.ndarray, chosen: Any) -> tuple[np.ndarray, np.ndarray]:
    """At most `MOST` places: the first step of so many neighbours, and the chosen of their values."""
    many = -(-len(step) // MOST)
    starts = np.arange(0, len(step), max(many, 1))
    return step[starts], chosen.reduceat(np.asarray(values, float), starts)

"""The still pictures of a report: loss and norms over the run, a map of its tensors, how often limits fire, NaN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.colors import LogNorm, to_rgba
from matplotlib.ticker import MaxNLocator

from .._base.numbers import number, percent
from ..labs.tensor_rows import MOST_ROWS, name_rows, name_some_rows
from ..live.drawing.style import (
    BLACK,
    BLUE,
    GREEN,
    NARROW,
    ORANGE,
    WIDE,
    log_ticks,
    new_figure,
    percent_ticks,
    tidy,
)

MOST_PLACES = 600  # along a line: more than a page has room for
MAP_LINES, MAP_COLUMNS = 160, 300
NAMED = 24  # lines of a map that have room for a name
_DECADES = 6  # that the colors of a map tell apart


class Course(NamedTuple):
    """The data of the figure.

    Attributes:
        step: (buckets,) first step of each.
        until: steps in all.
        norm, low: (buckets,) largest and smallest global norm of its steps; NaN or Inf where a step
            held such.
        loss: (buckets,) NaN where none is known.
        limit: on the global norm; NaN for none.
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
    panels = figure.subplots(
        1 + known, 1, sharex=True, squeeze=False, height_ratios=(1, 1.7)[1 - known :]
    )[:, 0]
    if known:
        _loss(tidy(panels[0], "Loss", "", "loss"), course)
    _norms(
        tidy(panels[-1], "Gradient norm over all tensors", "training step", "global norm"), course
    )
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
        axes.plot(
            step[fired], most[fired], "^", ms=4.5, mew=0, color=ORANGE, label="the limit fires"
        )
        axes.axhline(course.limit, color=GREEN, ls="--", lw=1.6, label="limit")
    if np.isfinite(shown).any():
        log_ticks(axes.yaxis)
    bad = course.step[~np.isfinite(course.norm)]
    if bad.size:
        place = {"transform": axes.get_xaxis_transform(), "clip_on": False}
        axes.plot(
            bad, np.ones(bad.size), "x", ms=6, mew=1.6, color=BLACK, label="NaN or Inf", **place
        )


def _thinned(step: np.ndarray, values: np.ndarray, chosen: Any) -> tuple[np.ndarray, np.ndarray]:
    """At most `MOST_PLACES` places: the first step of so many neighbors, and the chosen of their
    values.
    """
    many = -(-len(step) // MOST_PLACES)
    starts = np.arange(0, len(step), max(many, 1))
    return step[starts], chosen.reduceat(np.asarray(values, float), starts)


def map_figure(
    norm: np.ndarray, step: np.ndarray, until: int, names: Sequence[str], narrow: bool = False
) -> Any:
    """Norms (buckets, tensors) that began at step (buckets,), of `until` steps; NaN and Inf stand out."""
    shown = _largest(_largest(norm.T, MAP_COLUMNS, 1), MAP_LINES, 0)  # (lines, columns)
    lines = len(shown)
    figure = new_figure(NARROW if narrow else WIDE, min(max(1.5 + 0.17 * lines, 2.0), 4.6))
    axes = tidy(figure.add_subplot(), "Norm of each tensor", "training step", "")
    axes.grid(False)
    ends = (step[0] if step.size else 0, max(until, 1), lines - 0.5, -0.5)
    # The logarithm of 0 would be drawn as not finite.
    seen = np.where(shown == 0, np.finfo(float).tiny, shown)
    picture = axes.imshow(
        seen, norm=_scale(shown), cmap=_colors(), aspect="auto", interpolation="none", extent=ends
    )
    together = -(-len(names) // lines)  # tensors of a line
    every = name_some_rows(axes, names[::together], NAMED) * together
    if every > 1:
        axes.set_ylabel(f"{len(names)} tensors, one in {every} named", fontsize=9)
    axes.xaxis.set_major_locator(MaxNLocator(4 if narrow else 8, integer=True))
    bar = figure.colorbar(picture, ax=axes, pad=0.02, aspect=12)
    bar.ax.tick_params(labelsize=8.5, colors=BLACK)
    bar.outline.set_visible(False)
    log_ticks(bar.ax.yaxis)
    return figure


def _largest(values: np.ndarray, most: int, axis: int) -> np.ndarray:
    """The largest of so many neighbors along an axis that at most `most` are left; NaN and Inf win."""
    many = -(-values.shape[axis] // most)
    starts = np.arange(0, values.shape[axis], max(many, 1))
    return np.maximum.reduceat(np.where(np.isfinite(values), values, np.inf), starts, axis=axis)


def _scale(shown: np.ndarray) -> LogNorm:
    finite = shown[np.isfinite(shown) & (shown > 0)]
    high = float(finite.max(initial=1.0)) if finite.size else 1.0
    low = max(float(finite.min(initial=high)), high / 10**_DECADES)
    return LogNorm(low if low < high else high / 10, high, clip=False)


def _colors() -> Any:
    """Cividis; what is 0 or far below all others is black, what is not finite orange."""
    from matplotlib import colormaps

    return colormaps["cividis"].with_extremes(
        under=to_rgba(BLACK), bad=to_rgba(ORANGE), over=to_rgba(ORANGE)
    )


class Shares(NamedTuple):
    """The data of the figure.

    Attributes:
        limits, fired: (n,) limits on the global norm, and the share of steps on which each fires, 0
            to 1.
        limit, share: the one that is marked.
        names, by_tensor: of the tensors it would fire on most, as a limit on the norm of each
            alone, and how often.
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
    if not rows:  # of a log, which has no tensors
        figure = new_figure(NARROW if narrow else WIDE, 3.0)
        _curve(figure.subplots(), shares)
        return figure
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
        f"{number(shares.limit)}: {percent(shares.share, 1)}",
        (shares.limit, shares.share),
        (8, above),
        textcoords="offset points",
        fontsize=9.5,
        color=BLACK,
        fontweight="bold",
    )
    axes.set(xscale="log", ylim=(0, 1.04), xlim=(shares.limits[0], shares.limits[-1]))
    percent_ticks(axes.yaxis)
    log_ticks(axes.xaxis)


def _bars(axes: Any, names: Sequence[str], share: np.ndarray) -> None:
    tidy(axes, "On the norm of each tensor alone", "steps", "")
    place = np.arange(len(names))
    axes.barh(place, share, 0.62, color=ORANGE)
    for at, value in zip(place, share, strict=True):
        axes.annotate(
            percent(value, 1),
            (value, at),
            (4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
        )
    longest = float(share.max(initial=0))
    axes.set(ylim=(max(len(names), 4) - 0.4, -0.6), xlim=(0, max(1.3 * longest, 0.01)))
    name_rows(axes, place, names)
    percent_ticks(axes.xaxis, 0 if longest > 0.05 else 1)
    axes.xaxis.set_major_locator(MaxNLocator(3))
    axes.grid(False, axis="y")


def nonfinite_figure(
    count: np.ndarray, step: np.ndarray, until: int, names: Sequence[str], narrow: bool = False
) -> Any:
    """Counts (buckets, tensors) of entries that are NaN or Inf, beginning at step (buckets,), of `until` steps."""
    hit = np.flatnonzero(count.any(axis=0))[:MOST_ROWS]
    figure = new_figure(NARROW if narrow else WIDE, 1.2 + 0.24 * max(len(hit), 2))
    axes = tidy(figure.add_subplot(), "NaN or Inf", "training step", "")
    for line, tensor in enumerate(hit):
        when = step[count[:, tensor] > 0]
        axes.plot(when, np.full(len(when), line), "x", ms=6, mew=1.6, color=ORANGE)
    axes.set(xlim=(-0.01 * until - 0.5, 1.01 * until + 0.5), ylim=(max(len(hit), 2) - 0.4, -0.6))
    name_rows(axes, range(len(hit)), [names[k] for k in map(int, hit)])
    axes.xaxis.set_major_locator(MaxNLocator(4 if narrow else 8, integer=True))
    return figure

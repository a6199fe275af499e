"""The still pictures of a report on several runs: norms over losses, shares over all limits, tensors that differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._base.numbers import number
from ..labs.compare_picture import LOOKS, Runs, factor_panel, loss_panel, span, still_norms
from ..labs.tensor_rows import short
from ..live.drawing.style import (
    GREEN,
    NARROW,
    SMALL,
    WIDE,
    log_ticks,
    new_figure,
    percent_ticks,
    plain,
    tidy,
)


def course_figure(runs: Runs, norms: Sequence[np.ndarray], narrow: bool = False) -> Any:
    """Global norms (buckets,) of each run, and below them the losses if any is known."""
    known = any(np.isfinite(loss).any() for loss in runs.losses)
    figure = new_figure(NARROW if narrow else WIDE, 4.8 if known else 3.0)
    upper, *lower = figure.subplots(
        1 + known, 1, squeeze=False, height_ratios=(1.3, 1)[: 1 + known]
    )[:, 0]
    for axes in (upper, *lower):
        span(axes, runs.until, narrow)
    still_norms(upper, runs, norms)
    for axes in lower:
        loss_panel(axes, runs)
    if not lower:
        upper.set_xlabel("training step", fontsize=SMALL)
        upper.tick_params(labelbottom=True)
    return figure


def curves_figure(
    names: Sequence[str], limits: np.ndarray, fired: np.ndarray, limit: float, narrow: bool = False
) -> Any:
    """Share of steps (runs, limits) on which each limit fires, with one limit across and a key in the same order."""
    figure = new_figure(NARROW if narrow else WIDE, 3.4 + 0.2 * len(names) * narrow)
    axes = tidy(
        figure.add_subplot(), "Steps on which a limit fires", "limit on the global norm", ""
    )
    axes.set(xscale="log", ylim=(0, 1.04), xlim=(limits[0], limits[-1]))
    for look, name, share in zip(LOOKS, names, fired, strict=False):
        axes.plot(
            limits,
            share,
            color=look.color,
            ls=look.dash,
            lw=1.9,
            label=f" {plain(short(name, 30))}",
        )
    axes.axvline(limit, color=GREEN, ls="--", lw=1.6, label=f"limit {number(limit)}")
    percent_ticks(axes.yaxis)
    log_ticks(axes.xaxis)
    # Which leaves out labels that begin with an underscore, so they begin with a space.
    figure.legend(
        loc="outside lower center" if narrow else "outside right upper",
        fontsize=SMALL,
        frameon=False,
        handlelength=3.2,
    )
    return figure


def factors_figure(runs: Runs, narrow: bool = False) -> Any:
    """A row for each tensor with the norms of all runs but the first, as multiples of the first run's."""
    figure = new_figure(NARROW if narrow else WIDE, 1.3 + 0.3 * max(len(runs.tensors), 4))
    axes = figure.add_subplot()
    factor_panel(axes, runs)
    if len(runs.names) > 2:
        for look, name in zip(LOOKS[1:], runs.names[1:], strict=False):
            axes.plot(
                [],
                [],
                look.marker,
                ms=7,
                mew=0,
                color=look.color,
                label=f" {plain(short(name, 30))}",
            )
        figure.legend(
            loc="outside lower center" if narrow else "outside right upper",
            fontsize=SMALL,
            frameon=False,
        )
    return figure

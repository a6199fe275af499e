"""The effect of a limit on every step of a recorded run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.gridspec import GridSpec
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator

from .._base.numbers import number
from ..record.what_if import WhatIf
from ._labels import EndLabels, apart, chip, colored_title
from ._lanes import text
from ._shapes import NOWHERE
from ._style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    DASHED,
    FAINT,
    GREEN,
    GRID,
    LABEL,
    NARROW,
    ORANGE,
    ORANGE_TEXT,
    OTHER,
    OTHERS,
    QUIET,
    SELECTED,
    SMALL,
    WIDE,
    log_ticks,
    moving_line,
    new_figure,
    tidy,
)  # fmt: skip

_PER_DECADE = 10  # bars of the distribution
_TURNED = 0.05  # degrees from which on a step counts as turned
_OUTLIER = 5.0  # times what 99 of 100 steps stay below: a step that is named


class Trained(NamedTuple):
    """A run of the panel of losses: what it is called, (2, buckets) step and loss, and the mean loss at its end."""

    name: str
    loss: np.ndarray
    end: float = np.nan
    free: bool = False  # without a limit


class ClippingView:
    """Norm of every step before and after the limit, how many are clipped, and the losses of runs by their limits.

    Steps that the limit clips are orange triangles, with thin lines down to the blue dots that they become; the others
    are blue dots alone. One run is heavy, and the one that ends lowest is called best. How far steps turn is drawn
    between the two, if any does.
    """

    def __init__(
        self, steps: int, norms: tuple[float, float], runs: Sequence[Trained], unit: str, stride: int = 1
    ) -> None:
        self.figure = new_figure(WIDE, 5.1)
        self.norm = self.figure.add_subplot()
        self.spread = self.figure.add_subplot(sharey=self.norm)
        self.turn = self.figure.add_subplot(sharex=self.norm)
        self.loss = self.figure.add_subplot(sharex=self.norm)
        self.still(steps, norms, runs, unit, stride)
        colored_title(self.norm, ("before", ORANGE_TEXT), ("and", BLACK), ("after", BLUE_TEXT))
        self._moving()
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: the counts beside the norms, or everything in one column."""
        self._narrow = narrow
        if narrow:
            self.figure.set_size_inches(NARROW, 8.2)
            grid = GridSpec(4, 2, self.figure, width_ratios=(1, 0.2), height_ratios=(2.6, 0.6, 2, 1.1))
            places = [grid[0, :], grid[3, :], grid[1, :], grid[2, 0]]
        else:
            self.figure.set_size_inches(WIDE, 5.1)
            grid = GridSpec(3, 2, self.figure, width_ratios=(3, 1), height_ratios=(2.7, 0.45, 2))
            places = [grid[0, 0], grid[0, 1], grid[1, 0], grid[2, 0]]
        for axes, place in zip((self.norm, self.spread, self.turn, self.loss), places, strict=True):
            axes.set_subplotspec(place)
        self.spread.tick_params(labelleft=narrow)
        self.spread.yaxis.label.set_visible(narrow)
        self._over.set_visible(len(self._runs) > 1 and not narrow)

    def still(
        self, steps: int, norms: tuple[float, float], runs: Sequence[Trained], unit: str, stride: int = 1
    ) -> None:
        """Axes and all loss curves of a recording.

        Args:
            steps: how many. norms: the smallest and the largest. runs: whose losses are shown.
            unit: of the losses. stride: steps of a bucket.
        """
        for line in [line for line in self.loss.lines if not line.get_animated()]:
            line.remove()
        self._runs, several = list(runs), len(runs) > 1
        what = "step" if stride == 1 else f"{stride:,} steps"
        tidy(self.norm, f"Norm of every {what}:", "", "global norm")
        tidy(self.spread, "How many", "steps" if stride == 1 else "buckets", "global norm")
        tidy(self.loss, "Loss of runs by their limits" if several else "Loss", "training step", unit)
        low, high = int(np.floor(np.log10(norms[0]))), int(np.ceil(np.log10(norms[1])))
        high = max(high, low + 1)
        self.norm.set_ylim(10.0**low, 1.4 * 10.0**high)
        self._bins = np.logspace(low, high, (high - low) * _PER_DECADE + 1)
        self.norm.set(yscale="log", xlim=(-3 - steps // 500, steps + 2 + steps // 500))
        log_ticks(self.norm.yaxis)
        self.spread.set_xlim(0, max(2, steps / stride))
        self.spread.xaxis.set_major_locator(MaxNLocator(3, integer=True, prune="upper"))
        self.norm.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
        self.norm.tick_params(labelbottom=False)
        self.turn.set_axis_off()
        self.turn.set_ylim(-4, 160)
        for run in self._runs:
            self.loss.plot(*run.loss, lw=OTHERS, color=ORANGE if run.free and several else OTHER)
        _log_scale(self.loss, np.concatenate([run.loss[1] for run in self._runs]))

    def _moving(self) -> None:
        dots = {"linestyle": "none", "mew": 0}
        self._cut = moving_line(self.norm, "-", lw=0.7, color=FAINT)
        self._calm = moving_line(self.norm, "o", ms=3.2, color=BLUE, **dots)
        self._fired = moving_line(self.norm, "^", ms=4.6, color=ORANGE, **dots)
        self._after = moving_line(self.norm, "o", ms=2.4, color=BLUE, **dots)
        # From edge to edge, however far one looks.
        self._limits = [
            moving_line(axes, transform=axes.get_yaxis_transform(), color=GREEN, ls=DASHED, lw=1.6)
            for axes in (self.norm, self.spread)
        ]
        self._bars = [PathPatch(NOWHERE, fc=c, ec="none", animated=True) for c in (BLUE, ORANGE)]
        for bars in self._bars:
            self.spread.add_patch(bars)
        right: dict[str, Any] = {"x": 1.0, "ha": "right", "va": "center", "transform": self.spread.transAxes}
        self._counts = [text(self.spread, color=c, weight="bold", **right) for c in (BLUE_TEXT, ORANGE_TEXT)]
        self._chip = chip(self.spread, GREEN, ha="right", transform=self.spread.transAxes)
        self._named = text(self.norm, color=ORANGE_TEXT, weight="bold", va="center")
        self._moving_turn()
        self._nearest = moving_line(self.loss, color=BLACK, lw=SELECTED, zorder=3)
        self._names = EndLabels(self.loss, 8)
        self._over = self.loss.text(
            1.1, 1.02, "last 30 steps", transform=self.loss.transAxes, fontsize=SMALL, color=QUIET
        )
        self._over.set_in_layout(False)

    def _moving_turn(self) -> None:
        """A panel of which everything moves, so that it can be away."""
        beside = self.turn.get_yaxis_transform()
        self._angle = moving_line(self.turn, "-", lw=1.1, color=BLACK)
        self._ends = moving_line(self.turn, ":", lw=0.8, color=GRID, transform=beside)
        self._ends.set_data([0, 1, np.nan, 0, 1], [0, 0, np.nan, 90, 90])
        self._turns = text(self.turn, x=0, y=1.0, va="top", fontsize=LABEL)
        self._turns.set_transform(self.turn.transAxes)
        looks: dict[str, Any] = {"x": -0.01, "ha": "right", "va": "center", "color": QUIET, "transform": beside}
        self._degrees = [text(self.turn, y=at, s=f"{at}°", **looks) for at in (0, 90)]

    def draw(self, answer: WhatIf, chosen: Trained | None) -> None:
        """Set the moving artists for one limit, and the run that is heavy, if one is near."""
        before, after, fired = answer.norm_before, answer.norm_after, answer.fired
        steps = np.arange(fired.size) * answer.stride
        self._calm.set_data(steps[~fired], before[~fired])
        self._fired.set_data(steps[fired], before[fired])
        self._after.set_data(steps[fired], after[fired])
        gap = np.full(int(fired.sum()), np.nan)
        self._cut.set_data(
            np.stack([steps[fired], steps[fired], gap], axis=1).ravel(),
            np.stack([before[fired], after[fired], gap], axis=1).ravel(),
        )
        counts = [np.histogram(norms[np.isfinite(norms)], self._bins)[0] for norms in (before[~fired], before[fired])]
        self._bars[0].set_path(_bars(counts[1], counts[0], self._bins))
        self._bars[1].set_path(_bars(np.zeros_like(counts[1]), counts[1], self._bins, thickness=0.5))
        self._draw_limit(answer)
        self._draw_turn(steps, answer)
        self._name(steps, before, after, fired)
        self._draw_loss(chosen)

    def _draw_limit(self, answer: WhatIf) -> None:
        """The line, its chip, and above and below it how many are clipped and how many are not."""
        # A limit on single entries or tensors has no place among norms of whole steps.
        whole = answer.kind == "clip_global_norm"
        for line in self._limits:
            line.set_data([0, 1], [answer.limit if whole else np.nan] * 2)
        low, high = np.log(self.norm.get_ylim())
        at = (np.log(answer.limit) - low) / (high - low) if whole else 0.5
        away = 0.17 if self._narrow else 0.13  # where the panel is low, a chip takes more of it
        places = apart(np.clip(at, 0, 1) + np.array([-away, 0, away]), away - 0.02, 0.06, 0.97)
        sign = "" if 0 <= at <= 1 else "↓ " if at < 0 else "↑ "
        self._chip.set(x=1, y=places[1], text=f"{sign}limit {number(answer.limit)}", visible=whole)
        many = int(answer.fired.sum())
        said = (f"{answer.fired.size - many:,} untouched", f"{many:,} clipped")
        for words, y, count in zip(self._counts, places[::2], said, strict=True):
            words.set(y=y, text=count)

    def _draw_turn(self, steps: np.ndarray, answer: WhatIf) -> None:
        turned = bool((np.nan_to_num(answer.angle) >= _TURNED).any())
        self._angle.set_data(steps, answer.angle)
        for artist in (self._angle, self._ends, *self._degrees):
            artist.set_visible(turned)
        said = f"Turn of every step: median {np.nanmedian(answer.angle):.1f}°" if turned else "No step turns"
        self._turns.set(text=said, weight="bold" if turned else "normal", color=BLACK if turned else QUIET)

    def _name(self, steps: np.ndarray, before: np.ndarray, after: np.ndarray, fired: np.ndarray) -> None:
        """Say of the largest step what becomes of it, if it stands out."""
        known = np.isfinite(before) & fired
        peak = int(np.argmax(np.where(known, before, -np.inf)))
        self._named.set_visible(bool(known.any()) and before[peak] > _OUTLIER * np.quantile(before[known], 0.99))
        if self._named.get_visible():
            left = steps[peak] > np.mean(self.norm.get_xlim())
            words = f"step {steps[peak]:,}: {number(before[peak])} becomes {number(after[peak])}"
            low, high = np.log10(self.norm.get_ylim())
            away = 0.02 * np.ptp(self.norm.get_xlim()) * (-1 if left else 1)
            self._named.set(
                x=steps[peak] + away,
                y=min(before[peak], 10 ** (0.93 * high + 0.07 * low)),
                text=words,
                ha="right" if left else "left",
            )

    def _draw_loss(self, chosen: Trained | None) -> None:
        self._nearest.set_data(*([[], []] if chosen is None else chosen.loss))
        runs = self._runs if len(self._runs) > 1 else []
        ends = [run.end for run in runs]
        best = int(np.nanargmin(ends)) if np.isfinite(ends).any() else -1
        heavy = [chosen is not None and run.name == chosen.name for run in runs]
        words = [run.name.removeprefix("limit ") if self._narrow else f"{run.name}  {run.end:.2f}" for run in runs]
        words = [f"{said}  best" if k == best else said for k, said in enumerate(words)]
        colors = [
            BLACK if black else ORANGE_TEXT if run.free else QUIET for run, black in zip(runs, heavy, strict=True)
        ]
        weights = ["bold" if black else "normal" for black in heavy]
        last = max((run.loss[0][-1] for run in runs), default=0.0)
        self._names.draw(last, ends, words, color=colors, weight=weights)


def _log_scale(axes: Any, values: np.ndarray) -> None:
    """A log axis around the values; a note where there are none."""
    values = values[np.isfinite(values) & (values > 0)]
    if values.size == 0:
        axes.set_yticks([])
        axes.set_title("No loss was recorded", loc="left")
        return
    axes.set(yscale="log", ylim=(0.9 * values.min(), 1.2 * values.max()))
    log_ticks(axes.yaxis)


def _bars(start: np.ndarray, length: np.ndarray, bins: np.ndarray, thickness: float = 1.0) -> Path:
    """Bars of a horizontal histogram over log bins as one path: where each starts, how long it is, and how thick."""
    full = np.flatnonzero(length)
    if full.size == 0:
        return Path(np.full((1, 2), np.nan))
    inwards = (bins[full + 1] / bins[full]) ** ((1 - thickness) / 2)
    low, high = bins[full] * inwards, bins[full + 1] / inwards
    left, right = start[full], (start + length)[full]
    corners = np.stack([[left, low], [right, low], [right, high], [left, high], [left, low]])  # (5, 2, bars)
    codes = np.tile([Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY], full.size)
    return Path(corners.transpose(2, 0, 1).reshape(-1, 2), codes)

"""The effect of a limit on every step of a recorded run."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.gridspec import GridSpec
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator

from ..record.what_if import WhatIf
from ._style import BLACK, BLUE, FAINT, GREEN, NARROW, ORANGE, OTHER, WIDE, log_ticks, moving_line, new_figure, tidy

_PER_DECADE = 10  # bars of the distribution
_NEAREST: dict[str, Any] = {"color": GREEN, "ls": "-", "lw": 1.9}
_FREE: dict[str, Any] = {"color": ORANGE, "ls": ":", "lw": 1.5}
_RUN: dict[str, Any] = {"color": OTHER, "ls": "-.", "lw": 1.0}
_LIMIT: dict[str, Any] = {"color": GREEN, "ls": "--", "lw": 1.6}


class ClippingView:
    """Norm of every step with the limit, their distribution, the turn of every step, and loss curves.

    `draw` takes the answer to a limit and the loss of the recorded run nearest to it. Steps the limit fires on are
    orange triangles and thin bars, the others blue dots and thick bars; black dots are what fired steps become.
    """

    def __init__(
        self, steps: int, norms: tuple[float, float], losses: dict[str, np.ndarray], unit: str, stride: int = 1
    ) -> None:
        self.figure = new_figure(WIDE, 5.6)
        self.norm = self.figure.add_subplot()
        self.spread = self.figure.add_subplot(sharey=self.norm)
        self.turn = self.figure.add_subplot(sharex=self.norm)
        self.loss = self.figure.add_subplot(sharex=self.norm)
        self._key = self.figure.add_subplot()
        self.still(steps, norms, losses, unit, stride)
        self._moving()
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: the distribution beside the norms, or everything in one column."""
        if narrow:
            self.figure.set_size_inches(NARROW, 9.4)
            grid = GridSpec(5, 1, self.figure, height_ratios=(2.4, 0.8, 1.6, 1.6, 1.45))
            places = [grid[0], grid[3], grid[1], grid[2], grid[4]]
        else:
            self.figure.set_size_inches(WIDE, 5.6)
            grid = GridSpec(3, 2, self.figure, width_ratios=(3.2, 1), height_ratios=(2.6, 0.8, 1.5))
            places = [grid[0, 0], grid[0, 1], grid[1, 0], grid[2, 0], grid[1:, 1]]
        for axes, place in zip((self.norm, self.spread, self.turn, self.loss, self._key), places, strict=True):
            axes.set_subplotspec(place)
        self.spread.tick_params(labelleft=narrow)
        self.spread.set_ylabel("global norm" if narrow else "", fontsize=9)

    def still(
        self, steps: int, norms: tuple[float, float], losses: dict[str, np.ndarray], unit: str, stride: int = 1
    ) -> None:
        """Axes and all loss curves of a recording.

        Args:
            steps: how many. norms: the smallest and the largest. losses: of each run, (2, buckets) step and loss.
            unit: of the losses. stride: steps of a bucket.
        """
        for line in [line for line in self.loss.lines if not line.get_animated()]:
            line.remove()
        several, what = len(losses) > 1, "step" if stride == 1 else f"bucket of {stride:,} steps"
        tidy(self.norm, f"Gradient norm of every {what}", "", "global norm")
        tidy(self.spread, "How often (steps)" if stride == 1 else "How often (buckets)", "", "")
        tidy(self.turn, "Turn of the step", "", "degrees")
        tidy(self.loss, "Loss, one run for each limit" if several else "Loss", "training step", unit)
        low, high = int(np.floor(np.log10(norms[0]))), int(np.ceil(np.log10(norms[1])))
        high = max(high, low + 1)
        self.norm.set_ylim(10.0**low, 1.4 * 10.0**high)
        self._bins = np.logspace(low, high, (high - low) * _PER_DECADE + 1)
        self.norm.set(yscale="log", xlim=(-3 - steps // 500, steps + 2 + steps // 500))
        log_ticks(self.norm.yaxis)
        self.spread.set_xlim(0, max(2, steps / stride / 2))
        self.norm.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
        self.turn.set_ylim(-4, 94)
        self.turn.yaxis.set_major_locator(MaxNLocator(3, steps=[1, 1.5, 3, 4.5, 10]))
        for axes in (self.norm, self.turn):
            axes.tick_params(labelbottom=False)
        for name, loss in losses.items():
            self.loss.plot(*loss, **(_FREE if name == "none" else _RUN))
        _log_scale(self.loss, np.concatenate([loss[1] for loss in losses.values()]))
        self._legend(several)

    def _moving(self) -> None:
        dots = {"linestyle": "none", "mew": 0}
        self._cut = moving_line(self.norm, "-", lw=0.7, color=FAINT)
        self._calm = moving_line(self.norm, "o", ms=3.2, color=BLUE, **dots)
        self._fired = moving_line(self.norm, "^", ms=4.6, color=ORANGE, **dots)
        self._after = moving_line(self.norm, ".", ms=3.0, color=BLACK, **dots)
        # From edge to edge, however far one looks.
        self._limits = [
            moving_line(axes, transform=axes.get_yaxis_transform(), **_LIMIT) for axes in (self.norm, self.spread)
        ]
        self._angle = moving_line(self.turn, "-", lw=1.1, color=BLACK)
        self._nearest = moving_line(self.loss, **_NEAREST)
        self._bars = [PathPatch(Path(np.zeros((1, 2))), fc=c, ec="none", animated=True) for c in (BLUE, ORANGE)]
        for bars in self._bars:
            self.spread.add_patch(bars)

    def _legend(self, several: bool) -> None:
        key = self._key
        key.clear()
        key.set_axis_off()
        samples: list[tuple[str, dict[str, Any]]] = [
            ("step the limit leaves alone", {"marker": "o", "color": BLUE, "ls": "none", "ms": 4}),
            ("step the limit fires on", {"marker": "^", "color": ORANGE, "ls": "none", "ms": 5.5}),
            ("what that step becomes", {"marker": ".", "color": BLACK, "ls": "none", "ms": 4}),
            ("limit on the global norm", _LIMIT),
        ]
        runs = [
            ("run nearest to the limit", _NEAREST),
            ("run without a limit", _FREE),
            ("runs with other limits", _RUN),
        ]
        for label, looks in samples + runs * several:
            key.plot([], [], label=label, **looks)
        key.legend(loc="center left", frameon=False, fontsize=8.5, handlelength=2.2, borderaxespad=0)

    def draw(self, answer: WhatIf, loss: np.ndarray) -> None:
        """Set the moving artists for one limit; the loss of the nearest run is (2, buckets), step and loss."""
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
        for line in self._limits:
            # A limit on single entries or tensors has no place among norms of whole steps.
            line.set_data([0, 1], [answer.limit if answer.kind == "clip_global_norm" else np.nan] * 2)
        counts = [np.histogram(norms[np.isfinite(norms)], self._bins)[0] for norms in (before[~fired], before[fired])]
        self._bars[0].set_path(_bars(counts[1], counts[0], self._bins))
        self._bars[1].set_path(_bars(np.zeros_like(counts[1]), counts[1], self._bins, thickness=0.5))
        self._angle.set_data(steps, answer.angle)
        self._nearest.set_data(*loss)


def _log_scale(axes: Any, values: np.ndarray) -> None:
    """A log axis around the values; a note where there are none."""
    values = values[np.isfinite(values) & (values > 0)]
    if values.size == 0:
        axes.set_yticks([])
        axes.set_title("No loss was recorded", loc="left", fontsize=10)
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

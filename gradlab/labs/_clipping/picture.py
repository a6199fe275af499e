"""The picture of the clipping lab.

    norms    the norm of every step before and after the limit; below them, how far each step turns
    counts   a histogram of these norms, on the same y axis: how many steps are clipped
    losses   the loss of each run, or the median of several, named at its end

`ClippingPicture.show_runs` draws what is the same for every limit: axes and loss curves. `draw`
sets what changes while a reader drags the limit. The artists that it changes are animated, which
means that the browser paints them over a still picture. So `draw` sets data and texts and never
adds an artist, and is fast enough to follow the pointer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Affine2D, blended_transform_factory

from ..._base.numbers import are, counted, number
from ...live.drawing import labels, style
from ...live.drawing.curves import running_median, window
from ...live.drawing.lanes import patch, text
from ...live.drawing.moving import MovingPath
from ...live.drawing.shapes import NOWHERE, bars, segments
from ...record.analysis.shares import Steps
from ...record.analysis.what_if import WhatIf
from .._layout import PanelLayout, place_panels

BARS_PER_DECADE = 10
SAME_EDGE = 1e-6  # of the logarithm: an edge of a bin this near to the limit is the limit
TURN_SHOWN_FROM = 0.05  # degrees: smaller turns are rounding
OUTLIER = 5.0  # times what 99% of the clipped steps stay below: such a step is named
STRIP_HEIGHT = 0.18  # of the norm panel, for the turns
LARGEST_TURN = 130.0  # degrees that fit into the strip
BAND_OPACITY = 0.22
NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")
RUN_ABOVE = "the run above"  # the name of the recorded run whose norms are shown


class RunLoss(NamedTuple):
    """A line of the loss panel: one run, or several that differ by their seed alone."""

    name: str  # "limit 1, rate 0.28", "no limit"
    loss: np.ndarray  # (2, buckets): the first step of each, and the loss; of several the median
    end: float = np.nan  # the final loss; of several runs the median
    is_unlimited: bool = False
    band: np.ndarray | None = None  # (2, buckets): the quartiles over several runs
    runs: int = 1
    recorded: np.ndarray | None = None  # (buckets,): the loss of the one whose norms can be shown


class RunData(NamedTuple):
    """What the picture shows of a recording, whatever the limit."""

    steps: int
    stride: int  # steps of a bucket
    norm_range: tuple[float, float]
    runs: Sequence[RunLoss]
    loss_unit: str


def choose_layout(narrow: bool, has_losses: bool, run_count: int) -> PanelLayout:
    """Return the places of N(orms), C(ounts) and L(osses)."""
    loss_height = 2.0 if has_losses else 0.01  # then the row is all but closed
    if not narrow:
        return PanelLayout((style.WIDE, 5.3), "NC/L.", (3, 1), (2.6, loss_height))
    # The names of several runs need a margin.
    mosaic = "NN/L./CC" if run_count > 1 else "NN/LL/CC"
    height = 7.8 if has_losses else 5.2
    return PanelLayout((style.NARROW, height), mosaic, (1, 0.64), (2.6, loss_height, 1.1))


class ClippingPicture:
    """The three panels."""

    def __init__(self, data: RunData) -> None:
        self.figure = style.new_figure(style.WIDE, 5.3)
        norms = self.figure.add_subplot()
        self.norms = NormPanel(norms)
        self.counts = CountPanel(self.figure.add_subplot(sharey=norms))
        self.losses = LossPanel(self.figure.add_subplot(sharex=norms), len(data.runs))
        self._narrow = False
        self.show_runs(data)
        labels.colored_title(
            norms, ("before", style.ORANGE_TEXT), ("and", style.BLACK), ("after", style.BLUE_TEXT)
        )

    def show_runs(self, data: RunData) -> None:
        """Draw the axes and loss curves of a recording."""
        self.counts.set_axes(data)
        self.norms.set_axes(data)  # later, because the ticks of the y axis they share are its own
        self.losses.set_axes(data)
        self.arrange(self._narrow)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: the counts beside the norms, or everything in one column."""
        self._narrow = narrow
        has_losses = self.losses.has_losses
        layout = choose_layout(narrow, has_losses, len(self.losses.runs))
        place_panels(self.figure, layout, N=self.norms.axes, C=self.counts.axes, L=self.losses.axes)
        self.norms.arrange(narrow, is_lowest=not has_losses)
        self.counts.arrange(narrow)
        self.losses.arrange(narrow)

    def draw(
        self,
        clip: WhatIf,
        steps: Steps | None,
        heavy: RunLoss | None,
        recorded: RunLoss | None = None,
    ) -> None:
        """Show one limit.

        Args:
            clip: what the limit does to every bucket.
            steps: every single step, or None if they are no longer all known.
            heavy: the line of losses that is drawn heavy.
            recorded: the run whose norms are shown; by default `heavy`.
        """
        self.norms.draw(clip, steps)
        self.counts.draw(clip, steps)
        self.losses.draw(heavy, recorded or heavy)


class NormPanel:
    """The norm of every bucket before and after the limit.

    Clipped ones are orange triangles with thin lines down to the blue dots that they become.
    """

    def __init__(self, axes: Any) -> None:
        self.axes = axes
        dots: dict[str, Any] = {"linestyle": "none", "mew": 0}
        self.drops = style.moving_line(axes, "-", lw=0.5, color=style.FAINT)
        self.unclipped = style.moving_line(axes, "o", ms=3.2, color=style.BLUE, **dots)
        self.clipped = style.moving_line(axes, "^", ms=4.6, color=style.ORANGE, **dots)
        self.after = style.moving_line(axes, "o", ms=2.8, color=style.BLUE, **dots)
        self.limit = _limit_line(axes)
        self.peak_label = labels.label(axes, color=style.ORANGE_TEXT, weight="bold")
        self.below_label = labels.label(
            axes, x=0.99, ha="right", color=style.BLUE_TEXT, transform=axes.transAxes
        )
        labels.on_paper(self.below_label, True)
        self.turns = TurnStrip(axes)
        self._narrow = False

    def set_axes(self, data: RunData) -> None:
        what = "step" if data.stride == 1 else f"{data.stride:,} steps"
        style.tidy(self.axes, f"Norm of every {what}:", "", "global norm")
        low, high = data.norm_range
        style.room_below(self.axes, 0.8 * low, 1.6 * high, STRIP_HEIGHT)
        margin = data.steps // 500  # dots at both ends are drawn whole
        self.axes.set_xlim(-3 - margin, data.steps + 2 + margin)
        self.turns.whole_range = self.axes.get_ylim()

    def arrange(self, narrow: bool, is_lowest: bool) -> None:
        self._narrow = narrow
        self.axes.tick_params(labelbottom=is_lowest)
        x_label = "training step" if is_lowest else ""
        self.axes.set_xlabel(x_label, fontsize=style.SMALL, color=style.QUIET)
        self.axes.xaxis.set_major_locator(
            MaxNLocator(4 if narrow else 7, integer=True, steps=[1, 2, 5, 10])
        )

    def draw(self, clip: WhatIf, steps: Steps | None) -> None:
        step = np.arange(clip.fired.size) * clip.stride
        fired = clip.fired
        self.unclipped.set_data(step[~fired], clip.norm_before[~fired])
        self.clipped.set_data(step[fired], clip.norm_before[fired])
        self.drops.set_data(
            *segments(step[fired], clip.norm_before[fired], step[fired], clip.norm_after[fired])
        )
        self._draw_after(clip, step)
        # A limit on entries or tensors has no place among the norms of whole steps.
        limit = clip.limit if clip.kind == "clip_global_norm" else np.nan
        self.limit.set_data([0, 1], [limit, limit])
        self.turns.draw(step, clip.angle)
        self._draw_below_label(clip, step)
        self._draw_peak_label(clip, steps)

    def _draw_after(self, clip: WhatIf, step: np.ndarray) -> None:
        every = 1
        if clip.kind == "clip_global_norm":
            # All of these dots lie on the line of the limit. Fewer let the line be seen.
            most = 30 if self._narrow else 60
            every = max(1, -(-int(clip.fired.sum()) // most))
        self.after.set_data(step[clip.fired][::every], clip.norm_after[clip.fired][::every])

    def _draw_below_label(self, clip: WhatIf, step: np.ndarray) -> None:
        """Say how many of the norms in sight the clip takes below the panel."""
        strip = STRIP_HEIGHT if self.turns.is_visible else 0.0
        low, high = np.log(self.axes.get_ylim())
        floor = np.exp(low + strip * (high - low))
        first, last = self.axes.get_xlim()
        in_sight = clip.fired & (first <= step) & (step <= last) & (floor <= clip.norm_before)
        count = int((in_sight & (clip.norm_after < floor)).sum())
        self.below_label.set(
            y=strip + 0.06,
            text=f"↓ {counted(count, 'dot')} {are(count)} lower after the clip",
            visible=count > 0,
        )

    def _draw_peak_label(self, clip: WhatIf, steps: Steps | None) -> None:
        """Say what becomes of the largest step, if it stands out and is in sight."""
        peak = self._find_outlier(clip)
        self.peak_label.set_visible(peak is not None)
        if peak is None:
            return
        norm = clip.norm_before[peak]
        start = peak * clip.stride
        if steps is None:
            name = f"from {start:,} on"
        else:
            inside = np.nan_to_num(steps.norm[start : start + clip.stride])
            name = f"step {start + int(np.argmax(inside)):,}"
        first, last = self.axes.get_xlim()
        low, high = np.log10(self.axes.get_ylim())
        is_right = start > (first + last) / 2
        gap = 0.02 * (last - first)
        self.peak_label.set(
            x=start - gap if is_right else start + gap,
            y=min(norm, 10 ** (0.93 * high + 0.07 * low)),  # below the title
            ha="right" if is_right else "left",
            text=f"{name}: {number(norm)} becomes {number(clip.norm_after[peak])}",
        )

    def _find_outlier(self, clip: WhatIf) -> int | None:
        """Return the bucket of the largest clipped step, if it stands out and is in sight."""
        norm = clip.norm_before
        clipped = np.isfinite(norm) & clip.fired
        if not clipped.any():
            return None
        peak = int(np.argmax(np.where(clipped, norm, -np.inf)))
        first, last = self.axes.get_xlim()
        low, high = self.axes.get_ylim()
        is_in_sight = first <= peak * clip.stride <= last and low <= norm[peak] <= high
        stands_out = norm[peak] > OUTLIER * _quantile_99(norm[clipped])
        return peak if is_in_sight and stands_out else None


class TurnStrip:
    """How far each step turns, along the lower edge of the norms. Hidden if no step turns."""

    def __init__(self, axes: Any) -> None:
        self._axes = axes
        self.whole_range = axes.get_ylim()  # of the norms, when nobody has zoomed
        degrees = (
            Affine2D().scale(1, 0.9 * STRIP_HEIGHT / LARGEST_TURN).translate(0, 0.02)
            + axes.transAxes
        )
        by_step = blended_transform_factory(axes.transData, degrees)
        across = blended_transform_factory(axes.transAxes, degrees)

        self.box = patch(
            axes, {"fc": "white", "ec": style.OTHER, "lw": 0.6, "transform": axes.transAxes}
        )
        self.box.set(path=bars(0, 1, 0, STRIP_HEIGHT), zorder=3)
        self.guides = style.moving_line(
            axes, ":", lw=0.8, color=style.GRID, transform=across, zorder=3
        )
        self.guides.set_data([0, 1, np.nan, 0, 1], [0, 0, np.nan, 90, 90])
        self.angle = style.moving_line(
            axes, "-", lw=1.1, color=style.BLACK, transform=by_step, zorder=3
        )
        self.title = text(
            axes, x=0.01, y=STRIP_HEIGHT - 0.01, va="top", weight="bold", transform=axes.transAxes
        )
        beside: dict[str, Any] = {"x": -0.01, "ha": "right", "va": "center", "color": style.QUIET}
        self.ticks = [
            text(axes, y=tick, s=f"{tick}°", transform=across, **beside) for tick in (0, 90)
        ]

    @property
    def is_visible(self) -> bool:
        return bool(self.box.get_visible())

    def draw(self, step: np.ndarray, angle: np.ndarray) -> None:
        turns = bool((np.nan_to_num(angle) >= TURN_SHOWN_FROM).any())
        # In a zoomed panel the strip would lie over norms.
        is_zoomed = not np.allclose(np.log(self._axes.get_ylim()), np.log(self.whole_range))
        is_visible = turns and not is_zoomed
        for artist in (self.box, self.guides, self.angle, self.title, *self.ticks):
            artist.set_visible(is_visible)
        if is_visible:
            self.angle.set_data(step, np.minimum(angle, LARGEST_TURN))
            self.title.set_text(f"Turn of every step, median {np.nanmedian(angle):.1f}°")


class CountPanel:
    """A histogram of the norms, and how many steps are clipped and how many are not."""

    def __init__(self, axes: Any) -> None:
        self.axes = axes
        self.limit = _limit_line(axes)
        colors = (style.BLUE, style.ORANGE)  # of untouched steps, of clipped ones
        self.bars = [MovingPath(NOWHERE, fc=c, ec="none", animated=True) for c in colors]
        for bars_of_one_color in self.bars:
            axes.add_patch(bars_of_one_color)
        at_right: dict[str, Any] = {"x": 1.0, "ha": "right", "transform": axes.transAxes}
        self.untouched_label = labels.label(axes, color=style.BLUE_TEXT, weight="bold", **at_right)
        self.clipped_label = labels.label(axes, color=style.ORANGE_TEXT, weight="bold", **at_right)
        labels.on_paper(self.untouched_label, True)  # long bars may lie below
        labels.on_paper(self.clipped_label, True)
        self.limit_chip = labels.chip(axes, style.GREEN, ha="right", transform=axes.transAxes)
        self.bins = np.array([0.1, 1.0])
        self._narrow = False

    def set_axes(self, data: RunData) -> None:
        style.tidy(self.axes, "How many", "", "global norm")
        low = float(np.floor(np.log10(data.norm_range[0])))
        high = float(np.ceil(np.log10(data.norm_range[1])))
        self.bins = np.logspace(
            low, max(high, low + 1), round(max(high - low, 1)) * BARS_PER_DECADE + 1
        )
        self.axes.set(xlim=(0, 2.4), xticks=[])  # the longest bar is 1 long; labels have the rest
        self.axes.grid(False)
        self.axes.spines["bottom"].set_visible(False)

    def arrange(self, narrow: bool) -> None:
        self._narrow = narrow
        self.axes.tick_params(labelleft=narrow)
        self.axes.yaxis.label.set_visible(narrow)

    def draw(self, clip: WhatIf, steps: Steps | None) -> None:
        if steps is None:  # then a bucket counts as one step
            steps = Steps(clip.norm_before, clip.fired)
        self._draw_bars(clip, steps)
        self._draw_labels(clip)

    def _draw_bars(self, clip: WhatIf, steps: Steps) -> None:
        """Draw clipped steps first, and untouched ones from where those end."""
        bins = self.bins
        if clip.kind == "clip_global_norm":
            bins = cut_bins_at(bins, clip.limit)
        untouched = _histogram(steps.norm[~steps.fired], bins)
        clipped = _histogram(steps.norm[steps.fired], bins)
        longest = max(1, (untouched + clipped).max())
        self.bars[0].set_path(bar_path(clipped / longest, untouched / longest, bins))
        self.bars[1].set_path(
            bar_path(np.zeros(len(clipped)), clipped / longest, bins, thickness=0.5)
        )

    def _draw_labels(self, clip: WhatIf) -> None:
        """The limit, and above and below it how many steps are clipped and how many are not."""
        is_global = clip.kind == "clip_global_norm"
        self.limit.set_data([0, 1], [clip.limit if is_global else np.nan] * 2)
        low, high = np.log(self.axes.get_ylim())
        height = (np.log(clip.limit) - low) / (high - low)
        clipped = round(clip.fraction_fired * clip.steps)
        untouched = clip.steps - clipped

        if is_global:
            distance = 0.17 if self._narrow else 0.13  # of a lower panel a chip takes more
            # A label that isn't there may be outside.
            lowest = 0.06 if untouched else 0.06 - distance
            highest = 0.97 if clipped else 0.97 + distance
            wanted = np.clip(height, 0.02, 0.98) + np.array([-distance, 0, distance])
            below, middle, above = labels.apart(wanted, distance - 0.02, lowest, highest)
        else:
            below, middle, above = 0.84, 0.9, 0.96

        arrow = ""
        if height < 0:
            arrow = "↓ "
        elif height > 1:
            arrow = "↑ "
        self.limit_chip.set(
            x=1, y=middle, text=f"{arrow}limit {number(clip.limit)}", visible=is_global
        )
        about = "≈ " if clip.bounds[0] < clip.bounds[1] else ""
        self.untouched_label.set(
            y=below, text=f"{about}{untouched:,} untouched", visible=untouched > 0
        )
        self.clipped_label.set(y=above, text=f"{about}{clipped:,} clipped", visible=clipped > 0)


class LossPanel:
    """The loss of each run, named at its end.

    A line is one run, or the median of several with a band from quartile to quartile. The line of
    the chosen limit is heavy, and the loss of the run whose norms are shown is thin.

    Args:
        axes: of the panel.
        most_runs: the most runs that it ever shows.
    """

    def __init__(self, axes: Any, most_runs: int) -> None:
        self.axes = axes
        self.raw = style.moving_line(axes, color=style.OTHER, lw=0.7, alpha=0.8, zorder=2.5)
        self.heavy = style.moving_line(axes, color=style.BLACK, lw=style.SELECTED, zorder=3)
        self.names = RunLabels(axes, most_runs + 1)  # one more for `RUN_ABOVE`
        self.column_title = axes.annotate(
            "last 30 steps",
            (1, 1),
            (0, 0),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="right",
            fontsize=style.SMALL,
            color=style.QUIET,
        )
        self.column_title.set_in_layout(False)
        self.runs: list[RunLoss] = []
        self.has_losses = False
        self._narrow = False
        self._whole_range = (0.0, 1.0)
        self._drawn_runs: tuple[RunLoss | None, RunLoss | None] = (None, None)
        self._drawn_at: tuple[Any, ...] = ()

    def set_axes(self, data: RunData) -> None:
        self.runs = list(data.runs)
        self._drawn_at = ()
        for artist in [*self.axes.lines, *self.axes.collections]:
            if not artist.get_animated():
                artist.remove()

        width = window(max(run.loss.shape[1] for run in self.runs))
        smoothed = f" (lines: medians of up to {width} steps)" if width > 1 else ""
        style.tidy(self.axes, "", f"training step{smoothed}", data.loss_unit)
        visible = [np.empty(0)]
        for run in self.runs:
            visible += self._plot_run(run)
        self.has_losses = _set_log_scale(self.axes, np.concatenate(visible))
        self._whole_range = self.axes.get_ylim()

    def _plot_run(self, run: RunLoss) -> list[np.ndarray]:
        """Draw a line and its band. Return the losses for which there must be room."""
        is_reference = run.is_unlimited and len(self.runs) > 1
        color = style.ORANGE if is_reference else style.OTHER
        median = running_median(run.loss[1])
        self.axes.plot(run.loss[0], median, lw=style.OTHERS, color=color)
        visible = [median]
        if run.band is None:
            visible.append(run.loss[1])
        else:
            low, high = (running_median(edge) for edge in run.band)
            self.axes.fill_between(run.loss[0], low, high, color=color, alpha=BAND_OPACITY, lw=0)
            visible += [low, high]
        if run.recorded is not None:
            visible.append(run.recorded)
        return visible

    def arrange(self, narrow: bool) -> None:
        self._narrow = narrow
        self.axes.set_visible(self.has_losses)
        # Inches from the start of a name to the end of its number.
        column = 0.88 if narrow else 1.55
        self.names.column = column
        self.column_title.xyann = (72 * (column + 0.18), 5)  # points
        self.column_title.set_visible(len(self.runs) > 1)
        style.entitle(self.axes, self._title())

    def _title(self) -> str:
        count = len(self.runs)
        if count < 2:
            return "Loss"
        seeds = min(run.runs for run in self.runs)
        if seeds > 1:
            if self._narrow:
                return f"Loss, median of {seeds}"
            return f"Loss: medians and quartiles of {seeds} runs"
        spelled = NUMBER_WORDS[count] if count < len(NUMBER_WORDS) else count
        how = ", one by limit" if self._narrow else ", one with each limit"
        return f"Loss of {spelled} runs{how}"

    def draw(self, heavy: RunLoss | None, recorded: RunLoss | None) -> None:
        if not self.has_losses:
            return
        shown_at = (self._narrow, self.axes.get_xlim(), self.axes.get_ylim())
        drawn_heavy, drawn_recorded = self._drawn_runs
        if heavy is drawn_heavy and recorded is drawn_recorded and shown_at == self._drawn_at:
            return  # as for most limits beside each other
        self._drawn_runs = (heavy, recorded)
        self._drawn_at = shown_at

        nothing = np.empty((2, 0))
        is_reference = recorded is not None and recorded.is_unlimited and len(self.runs) > 1
        self.raw.set_data(*(nothing if recorded is None else recorded.loss))
        self.raw.set_color(style.ORANGE if is_reference else style.OTHER)
        step, loss = nothing if heavy is None else heavy.loss
        self.heavy.set_data(step, running_median(loss))
        self._draw_names(heavy, recorded)

    def _draw_names(self, heavy: RunLoss | None, recorded: RunLoss | None) -> None:
        runs = self.runs if len(self.runs) > 1 else []
        if recorded is not None and any(run.recorded is not None for run in runs):
            # It lies apart from the median of its ten runs, so it needs a name of its own.
            runs = [*runs, recorded._replace(name=RUN_ABOVE)]
        names = []
        colors = []
        weights = []
        for run in runs:
            names.append(shorten(run.name) if self._narrow else run.name)
            if heavy is not None and run.name == heavy.name:
                colors.append(style.BLACK)
                weights.append("bold")
            else:
                colors.append(style.ORANGE_TEXT if run.is_unlimited else style.QUIET)
                weights.append("normal")

        last, heights = self._last_in_sight(runs)
        self.names.draw(last, heights, names, color=colors, weight=weights)
        self.names.draw_numbers([f"{run.end:.2f}" for run in runs], color=colors, weight=weights)

    def _last_in_sight(self, runs: Sequence[RunLoss]) -> tuple[float, list[float]]:
        """Return the step and the losses at which curves end, or leave a zoomed panel.

        Losses out of sight are NaN.
        """
        last = max((run.loss[0][-1] for run in runs), default=0.0)
        heights = [run.end for run in runs]
        right = self.axes.get_xlim()[1]
        if right < last:
            last = right
            heights = [
                float(np.interp(right, run.loss[0], running_median(run.loss[1]))) for run in runs
            ]

        low, high = self.axes.get_ylim()
        if np.allclose((low, high), self._whole_range):
            return last, heights  # a mean above all medians is named at the edge
        return last, [height if low <= height <= high else np.nan for height in heights]


class RunLabels(labels.EndLabels):
    """Names at the ends of curves, and beside them their numbers in a column."""

    column = 1.55  # inches from the start of a name to the end of its number

    def __init__(self, axes: Any, most: int) -> None:
        super().__init__(axes, most)
        self.numbers = [
            labels.label(axes, ha="right", transform=axes.transAxes) for _ in range(most)
        ]

    def draw_numbers(self, numbers: Sequence[str], **looks: Sequence[Any]) -> None:
        """Write a number beside each name."""
        for k, (number_label, name_label) in enumerate(zip(self.numbers, self._names, strict=True)):
            is_visible = k < len(numbers) and name_label.get_visible()
            number_label.set_visible(is_visible)
            if is_visible:
                number_label.set(
                    text=numbers[k], **{look: values[k] for look, values in looks.items()}
                )

    def _place(self) -> None:
        super()._place()
        inch = 1 / (self._axes.get_position().width * self._axes.figure.get_figwidth())
        for number_label, name_label in zip(self.numbers, self._names, strict=True):
            x, y = name_label.get_position()
            number_label.set_position((x + self.column * inch, y))


def shorten(name: str) -> str:
    """Return the name of a run for a narrow page.

    >>> shorten("no limit, rate 0.4"), shorten("limit 1, rate 0.28"), shorten("limit 1")
    ('no, 0.4', '1, 0.28', '1')
    >>> shorten("the run above")
    'this run'
    """
    if name == RUN_ABOVE:
        return "this run"
    return name.removeprefix("limit ").replace("no limit", "no").replace(" rate ", " ")


def cut_bins_at(bins: np.ndarray, limit: float) -> np.ndarray:
    """Return the edges of bins with one just above the limit.

    No bin has steps on both sides of the limit then. An edge almost at the limit gives way to it.

    >>> cut_bins_at(np.array([1.0, 10.0, 100.0]), 20.0).round(3).tolist()
    [1.0, 10.0, 20.0, 100.0]
    >>> cut_bins_at(np.array([1.0, 10.0, 100.0]), 10.0).round(3).tolist()
    [1.0, 10.0, 100.0]
    """
    if not bins[0] < limit < bins[-1]:
        return bins
    edge = np.nextafter(limit, np.inf)  # a norm at the limit is below it
    is_kept = np.abs(np.log(bins / limit)) > SAME_EDGE
    is_kept[[0, -1]] = True
    return np.sort(np.append(bins[is_kept], edge))


def bar_path(
    start: np.ndarray, length: np.ndarray, bins: np.ndarray, thickness: float = 1.0
) -> Path:
    """Return a horizontal histogram over log bins as one path.

    Args:
        start: where each bar begins.
        length: of each bar.
        bins: their edges.
        thickness: of a bar, as a share of its bin.
    """
    full = np.flatnonzero(length)
    if full.size == 0:
        return Path(np.full((1, 2), np.nan))
    margin = (bins[full + 1] / bins[full]) ** ((1 - thickness) / 2)
    low = bins[full] * margin
    high = bins[full + 1] / margin
    left = start[full]
    right = (start + length)[full]
    # (5, 2, bars)
    corners = np.stack([[left, low], [right, low], [right, high], [left, high], [left, low]])
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    return Path(corners.transpose(2, 0, 1).reshape(-1, 2), np.tile(codes, full.size))


def _histogram(norms: np.ndarray, bins: np.ndarray) -> np.ndarray:
    return np.histogram(norms[np.isfinite(norms)].astype(np.float64), bins)[0]


def _limit_line(axes: Any) -> Any:
    """A line from edge to edge, however the panel is zoomed."""
    return style.moving_line(
        axes, transform=axes.get_yaxis_transform(), color=style.GREEN, ls=style.DASHED, lw=1.6
    )


def _quantile_99(norms: np.ndarray) -> float:
    """Return the norm that 99% stay below."""
    place = int(0.99 * (norms.size - 1))
    return float(np.partition(norms, place)[place])


def _set_log_scale(axes: Any, values: np.ndarray) -> bool:
    """Set a log axis around the values. Return False if there are none."""
    values = values[np.isfinite(values) & (values > 0)]
    if values.size == 0:
        return False
    axes.set(yscale="log", ylim=(0.9 * values.min(), 1.2 * values.max()))
    style.log_ticks(axes.yaxis)
    return True

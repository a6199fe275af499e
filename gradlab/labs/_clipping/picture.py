"""The effect of a limit on every step of a recorded run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.gridspec import GridSpec
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Affine2D, blended_transform_factory

from ..._base.numbers import are, counted, number
from ...live.drawing.curves import running_median, window
from ...live.drawing.labels import EndLabels, apart, chip, colored_title, label, on_paper
from ...live.drawing.lanes import patch, text
from ...live.drawing.moving import MovingPath
from ...live.drawing.shapes import NOWHERE, bars, segments
from ...live.drawing.style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    DASHED,
    FAINT,
    GREEN,
    GRID,
    NARROW,
    ORANGE,
    ORANGE_TEXT,
    OTHER,
    OTHERS,
    QUIET,
    SELECTED,
    SMALL,
    WIDE,
    entitle,
    log_ticks,
    moving_line,
    new_figure,
    room_below,
    tidy,
)  # fmt: skip
from ...record.analysis.shares import Steps
from ...record.analysis.what_if import WhatIf

_PER_DECADE = 10  # bars of the distribution
_TURNED = 0.05  # degrees from which on a step counts as turned
_OUTLIER = 5.0  # times what 99 of 100 steps stay below: a step that is named
_STRIP = 0.18  # of the height of the panel of norms: where turns are drawn, if there are any
_MOST_TURN = 130.0  # degrees that have room in it
_ON_LIMIT = {False: 60, True: 30}  # dots on the line of the limit, by whether the page is narrow: so that it is seen
_BAND = 0.22  # opacity of a band
_SAME_EDGE = 1e-6  # of the logarithm, within which an edge of a bin and a limit are the same
_COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")
_RUN_ABOVE = "the run above"  # the name of the recorded run whose norms are shown
_COLUMN = {False: 1.55, True: 0.88}  # inches from the start of a name to the end of its number


class Trained(NamedTuple):
    """A line of the panel of losses: one run, or several that differ by their seed alone.

    Attributes:
        name: what it is called.
        loss: (2, buckets) step and loss; of several runs the median.
        end: the final loss; of several runs the median.
        free: without a limit.
        band: (2, buckets) the quartiles of the loss over several runs; None for one run.
        runs: how many.
        recorded: (buckets,) the losses of the one among several whose norms can be shown.
    """

    name: str
    loss: np.ndarray
    end: float = np.nan
    free: bool = False
    band: np.ndarray | None = None
    runs: int = 1
    recorded: np.ndarray | None = None


class _Runs(EndLabels):
    """Names at the ends of curves, and beside them their numbers in a column."""

    column = _COLUMN[False]

    def __init__(self, axes: Any, most: int) -> None:
        super().__init__(axes, most)
        self._numbers = [label(axes, ha="right", transform=axes.transAxes) for _ in range(most)]

    def number(self, numbers: Sequence[str], **looks: Sequence[Any]) -> None:
        """Write a number beside each name."""
        for k, (words, one) in enumerate(zip(self._numbers, self._names, strict=True)):
            words.set_visible(k < len(numbers) and one.get_visible())
            if words.get_visible():
                words.set(text=numbers[k], **{look: each[k] for look, each in looks.items()})

    def _place(self) -> None:
        super()._place()
        inch = 1 / (self._axes.get_position().width * self._axes.figure.get_figwidth())
        for words, name in zip(self._numbers, self._names, strict=True):
            x, y = name.get_position()
            words.set_position((x + self.column * inch, y))


class ClippingView:
    """Norm of every step before and after the limit, how many are clipped, and the losses of runs by their limits.

    Steps that the limit clips are orange triangles, with thin lines down to the blue dots that they become; the others
    are blue dots alone. A line of losses is one run, or the median of several with a band from quartile to quartile;
    the line of the chosen limit is heavy, and the losses of the run whose norms are shown are thin. How far steps turn
    is drawn along the lower edge of the norms, if any does.
    """

    def __init__(
        self, steps: int, norms: tuple[float, float], runs: Sequence[Trained], unit: str, stride: int = 1
    ) -> None:
        self.figure = new_figure(WIDE, 5.3)
        self.norm = self.figure.add_subplot()
        self.spread = self.figure.add_subplot(sharey=self.norm)
        self.loss = self.figure.add_subplot(sharex=self.norm)
        self._narrow = False
        self._moving()
        self.still(steps, norms, runs, unit, stride)
        colored_title(self.norm, ("before", ORANGE_TEXT), ("and", BLACK), ("after", BLUE_TEXT))

    def arrange(self, narrow: bool) -> None:
        """Fit the page: the counts beside the norms, or everything in one column; losses only if there are any."""
        self._narrow = narrow
        low = 2.0 if self._shows_loss else 0.01  # of the row of losses
        if narrow:
            self.figure.set_size_inches(NARROW, 7.8 if self._shows_loss else 5.2)
            grid = GridSpec(3, 2, self.figure, width_ratios=(1, 0.64), height_ratios=(2.6, low, 1.1))
            places = [grid[0, :], grid[2, :], grid[1, 0] if len(self._runs) > 1 else grid[1, :]]
        else:
            self.figure.set_size_inches(WIDE, 5.3)
            grid = GridSpec(2, 2, self.figure, width_ratios=(3, 1), height_ratios=(2.6, low))
            places = [grid[0, 0], grid[0, 1], grid[1, 0]]
        for axes, place in zip((self.norm, self.spread, self.loss), places, strict=True):
            axes.set_subplotspec(place)
        self.loss.set_visible(self._shows_loss)
        self.norm.tick_params(labelbottom=not self._shows_loss)
        self.norm.set_xlabel("" if self._shows_loss else "training step", fontsize=SMALL, color=QUIET)
        self.spread.tick_params(labelleft=narrow)
        self.spread.yaxis.label.set_visible(narrow)
        self.norm.xaxis.set_major_locator(MaxNLocator(4 if narrow else 7, integer=True, steps=[1, 2, 5, 10]))
        self._names.column = _COLUMN[narrow]
        self._over.xyann = (72 * (_COLUMN[narrow] + 0.18), 5)  # points
        self._over.set_visible(len(self._runs) > 1)
        entitle(self.loss, self._of_losses())

    def _of_losses(self) -> str:
        """Of how many runs they are."""
        many = len(self._runs)
        if many < 2:
            return "Loss"
        fewest = min(run.runs for run in self._runs)
        if fewest > 1:
            if self._narrow:
                return f"Loss, median of {fewest}"
            return f"Loss: medians and quartiles of {fewest} runs"
        own = ", one by limit" if self._narrow else ", one with each limit"
        return f"Loss of {_COUNTS[many] if many < len(_COUNTS) else many} runs{own}"

    def still(
        self, steps: int, norms: tuple[float, float], runs: Sequence[Trained], unit: str, stride: int = 1
    ) -> None:
        """Axes and all loss curves of a recording.

        Args:
            steps: how many. norms: the smallest and the largest. runs: whose losses are shown.
            unit: of the losses. stride: steps of a bucket.
        """
        self._runs = list(runs)
        self._heavy: tuple[Any, ...] | None = None
        what = "step" if stride == 1 else f"{stride:,} steps"
        tidy(self.norm, f"Norm of every {what}:", "", "global norm")
        tidy(self.spread, "How many", "", "global norm")
        low, high = float(np.floor(np.log10(norms[0]))), float(np.ceil(np.log10(norms[1])))
        self._bins = np.logspace(low, max(high, low + 1), round(max(high - low, 1)) * _PER_DECADE + 1)
        room_below(self.norm, 0.8 * norms[0], 1.6 * norms[1], _STRIP)
        self._whole = np.log(self.norm.get_ylim())
        self.norm.set_xlim(-3 - steps // 500, steps + 2 + steps // 500)
        self.spread.set(xlim=(0, 2.4), xticks=[])  # the fullest bar is 1 long; words have the rest
        self.spread.grid(False)
        self.spread.spines["bottom"].set_visible(False)
        self._loss_axis(unit)
        self.arrange(self._narrow)

    def _loss_axis(self, unit: str) -> None:
        for artist in [*self.loss.lines, *self.loss.collections]:
            if not artist.get_animated():
                artist.remove()
        several, wide = len(self._runs) > 1, window(max(run.loss.shape[1] for run in self._runs))
        smooth = f" (lines: medians of up to {wide} steps)" if wide > 1 else ""
        tidy(self.loss, "", f"training step{smooth}", unit)
        shown = [np.empty(0)]
        for run in self._runs:
            middle = running_median(run.loss[1])
            color = ORANGE if run.free and several else OTHER
            self.loss.plot(run.loss[0], middle, lw=OTHERS, color=color)
            shown.append(middle)
            if run.band is None:
                shown.append(run.loss[1])
            else:
                low, high = (running_median(edge) for edge in run.band)
                self.loss.fill_between(run.loss[0], low, high, color=color, alpha=_BAND, lw=0)
                shown += [low, high]
            if run.recorded is not None:
                shown.append(run.recorded)
        self._shows_loss = _log_scale(self.loss, np.concatenate(shown))
        self._whole_loss = self.loss.get_ylim()

    def _moving(self) -> None:
        dots = {"linestyle": "none", "mew": 0}
        self._cut = moving_line(self.norm, "-", lw=0.5, color=FAINT)
        self._calm = moving_line(self.norm, "o", ms=3.2, color=BLUE, **dots)
        self._fired = moving_line(self.norm, "^", ms=4.6, color=ORANGE, **dots)
        self._after = moving_line(self.norm, "o", ms=2.8, color=BLUE, **dots)
        # From edge to edge, however far one looks.
        self._limits = [
            moving_line(axes, transform=axes.get_yaxis_transform(), color=GREEN, ls=DASHED, lw=1.6)
            for axes in (self.norm, self.spread)
        ]
        self._bars = [MovingPath(NOWHERE, fc=c, ec="none", animated=True) for c in (BLUE, ORANGE)]
        for one in self._bars:
            self.spread.add_patch(one)
        right: dict[str, Any] = {"x": 1.0, "ha": "right", "transform": self.spread.transAxes}
        self._counts = [label(self.spread, color=c, weight="bold", **right) for c in (BLUE_TEXT, ORANGE_TEXT)]
        for words in self._counts:
            on_paper(words, True)  # where bars are long
        self._chip = chip(self.spread, GREEN, ha="right", transform=self.spread.transAxes)
        self._named = label(self.norm, color=ORANGE_TEXT, weight="bold")
        self._lower = label(self.norm, x=0.99, ha="right", color=BLUE_TEXT, transform=self.norm.transAxes)
        on_paper(self._lower, True)
        self._moving_turn()
        self._raw = moving_line(self.loss, color=OTHER, lw=0.7, alpha=0.8, zorder=2.5)
        self._nearest = moving_line(self.loss, color=BLACK, lw=SELECTED, zorder=3)
        self._names = _Runs(self.loss, 8)
        self._over = self.loss.annotate(
            "last 30 steps", (1, 1), (0, 0), xycoords="axes fraction", textcoords="offset points",
            ha="right", fontsize=SMALL, color=QUIET,
        )  # fmt: skip
        self._over.set_in_layout(False)

    def _moving_turn(self) -> None:
        """A strip along the lower edge of the norms, of which everything moves, so that it can be away."""
        height = Affine2D().scale(1, 0.9 * _STRIP / _MOST_TURN).translate(0, 0.02) + self.norm.transAxes
        along, beside = (blended_transform_factory(x, height) for x in (self.norm.transData, self.norm.transAxes))
        self._strip = patch(self.norm, {"fc": "white", "ec": OTHER, "lw": 0.6, "transform": self.norm.transAxes})
        self._strip.set(path=bars(0, 1, 0, _STRIP), zorder=3)
        self._ends = moving_line(self.norm, ":", lw=0.8, color=GRID, transform=beside, zorder=3)
        self._ends.set_data([0, 1, np.nan, 0, 1], [0, 0, np.nan, 90, 90])
        self._angle = moving_line(self.norm, "-", lw=1.1, color=BLACK, transform=along, zorder=3)
        self._turns = text(self.norm, x=0.01, y=_STRIP - 0.01, va="top", weight="bold", transform=self.norm.transAxes)
        looks: dict[str, Any] = {"x": -0.01, "ha": "right", "va": "center", "color": QUIET, "transform": beside}
        self._degrees = [text(self.norm, y=at, s=f"{at}°", **looks) for at in (0, 90)]

    def draw(self, answer: WhatIf, each: Steps | None, chosen: Trained | None, recorded: Trained | None = None) -> None:
        """Set the moving artists.

        Args:
            answer: one limit over the recorded run. each: its single steps, if they are known.
            chosen: the line of losses that is heavy. recorded: the losses of the recorded run; by default of `chosen`.
        """
        before, after, fired = answer.norm_before, answer.norm_after, answer.fired
        steps = np.arange(fired.size) * answer.stride
        self._calm.set_data(steps[~fired], before[~fired])
        self._fired.set_data(steps[fired], before[fired])
        # All of them lie on one line, that of the limit, if it is on whole steps.
        thin = -(-int(fired.sum()) // _ON_LIMIT[self._narrow]) if answer.kind == "clip_global_norm" else 1
        self._after.set_data(steps[fired][:: max(thin, 1)], after[fired][:: max(thin, 1)])
        self._cut.set_data(*segments(steps[fired], before[fired], steps[fired], after[fired]))
        norm, hit = each or Steps(before, fired)
        norms = [some[np.isfinite(some)].astype(np.float64) for some in (norm[~hit], norm[hit])]
        bins = self._bins
        if answer.kind == "clip_global_norm":
            bins = _cut_at(bins, answer.limit)
        counts = [np.histogram(some, bins)[0] for some in norms]
        calm, cut = np.array(counts) / max(1, np.sum(counts, axis=0).max())
        self._bars[0].set_path(_bars(cut, calm, bins))
        self._bars[1].set_path(_bars(np.zeros_like(cut), cut, bins, thickness=0.5))
        self._draw_limit(answer)
        self._draw_turn(steps, answer)
        self._draw_lower(steps[fired], before[fired], after[fired])
        self._name(answer, each)
        if self._shows_loss:
            self._draw_loss(chosen, recorded or chosen)

    def _draw_limit(self, answer: WhatIf) -> None:
        """The line, its chip, and above and below it how many steps are clipped and how many are not."""
        # A limit on single entries or tensors has no place among norms of whole steps.
        whole = answer.kind == "clip_global_norm"
        for line in self._limits:
            line.set_data([0, 1], [answer.limit if whole else np.nan] * 2)
        low, high = np.log(self.norm.get_ylim())
        at = (np.log(answer.limit) - low) / (high - low) if whole else 0.5
        many = round(answer.fraction_fired * answer.steps)
        counts, about = (answer.steps - many, many), "≈ " * (answer.bounds[0] < answer.bounds[1])
        away = 0.17 if self._narrow else 0.13  # where the panel is low, a chip takes more of it
        ends = 0.06 - away * (counts[0] == 0), 0.97 + away * (counts[1] == 0)
        places = apart(np.clip(at, 0.02, 0.98) + np.array([-away, 0, away]), away - 0.02, *ends)
        if not whole:
            places = np.array([0.84, 0.9, 0.96])
        sign = "" if 0 <= at <= 1 else "↓ " if at < 0 else "↑ "
        self._chip.set(x=1, y=places[1], text=f"{sign}limit {number(answer.limit)}", visible=whole)
        for words, y, count, said in zip(self._counts, places[::2], counts, ("untouched", "clipped"), strict=True):
            words.set(y=y, text=f"{about}{count:,} {said}", visible=count > 0)

    def _draw_turn(self, steps: np.ndarray, answer: WhatIf) -> None:
        """The strip, which would lie over norms if somebody looks closer."""
        turned = bool((np.nan_to_num(answer.angle) >= _TURNED).any())
        turned = turned and np.allclose(np.log(self.norm.get_ylim()), self._whole)
        for artist in (self._strip, self._ends, self._angle, self._turns, *self._degrees):
            artist.set_visible(turned)
        if turned:
            self._angle.set_data(steps, np.minimum(answer.angle, _MOST_TURN))
            self._turns.set_text(f"Turn of every step, median {np.nanmedian(answer.angle):.1f}°")

    def _draw_lower(self, steps: np.ndarray, before: np.ndarray, after: np.ndarray) -> None:
        """Say how many of the norms in sight the clip takes out of it."""
        foot = _STRIP if self._strip.get_visible() else 0.0
        low, high = np.log(self.norm.get_ylim())
        (first, last), floor = self.norm.get_xlim(), np.exp(low + foot * (high - low))
        count = int(((first <= steps) & (steps <= last) & (floor <= before) & (after < floor)).sum())
        words = f"↓ {counted(count, 'dot')} {are(count)} lower after the clip"
        self._lower.set(y=foot + 0.06, text=words, visible=count > 0)

    def _name(self, answer: WhatIf, each: Steps | None) -> None:
        """Say of the largest step what becomes of it, if it stands out and is in sight."""
        before, after = answer.norm_before, answer.norm_after
        known = np.isfinite(before) & answer.fired
        peak = int(np.argmax(np.where(known, before, -np.inf)))
        place = peak * answer.stride
        (first, last), (foot, top) = self.norm.get_xlim(), self.norm.get_ylim()
        seen = bool(known.any()) and first <= place <= last and foot <= before[peak] <= top
        self._named.set_visible(seen and before[peak] > _OUTLIER * _most(before[known]))
        if self._named.get_visible():
            left = place > np.mean(self.norm.get_xlim())
            among = slice(place, place + answer.stride)
            step = f"step {place + int(np.argmax(np.nan_to_num(each.norm[among]))):,}" if each else f"from {place:,} on"
            words = f"{step}: {number(before[peak])} becomes {number(after[peak])}"
            low, high = np.log10(self.norm.get_ylim())
            away = 0.02 * np.ptp(self.norm.get_xlim()) * (-1 if left else 1)
            self._named.set(
                x=place + away,
                y=min(before[peak], 10 ** (0.93 * high + 0.07 * low)),
                text=words,
                ha="right" if left else "left",
            )

    def _draw_loss(self, chosen: Trained | None, recorded: Trained | None) -> None:
        looks_alike = id(chosen), id(recorded), self._narrow, self.loss.get_xlim(), self.loss.get_ylim()
        if self._heavy == looks_alike:  # as for most limits beside each other
            return
        self._shown, self._heavy = (chosen, recorded), looks_alike  # nothing else can get their ids meanwhile
        nothing = np.empty((2, 0))
        runs = self._runs if len(self._runs) > 1 else []
        self._raw.set_data(*(nothing if recorded is None else recorded.loss))
        self._raw.set_color(ORANGE if recorded is not None and recorded.free and runs else OTHER)
        step, loss = nothing if chosen is None else chosen.loss
        self._nearest.set_data(step, running_median(loss))
        if recorded is not None and any(run.recorded is not None for run in runs):
            # It lies apart from the median of its ten runs, so it needs a name of its own.
            runs = [*runs, recorded._replace(name=_RUN_ABOVE)]
        ends = [run.end for run in runs]
        heavy = [chosen is not None and run.name == chosen.name for run in runs]
        looks = {
            "color": [
                BLACK if black else ORANGE_TEXT if run.free else QUIET for run, black in zip(runs, heavy, strict=True)
            ],
            "weight": ["bold" if black else "normal" for black in heavy],
        }
        names = [_short(run.name) if self._narrow else run.name for run in runs]
        last, heights = self._last_seen(runs)
        self._names.draw(last, heights, names, **looks)
        self._names.number([f"{end:.2f}" for end in ends], **looks)

    def _last_seen(self, runs: Sequence[Trained]) -> tuple[float, list[float]]:
        """Return where the losses end, or leave a panel at which somebody looks closer; NaN for those out of sight."""
        last, right = max((run.loss[0][-1] for run in runs), default=0.0), self.loss.get_xlim()[1]
        ends = [run.end for run in runs]
        if right < last:
            last, ends = right, [float(np.interp(right, run.loss[0], running_median(run.loss[1]))) for run in runs]
        low, high = self.loss.get_ylim()
        closer = not np.allclose((low, high), self._whole_loss)  # else a mean above all medians is named at the edge
        return last, [np.nan if closer and not low <= end <= high else end for end in ends]


def _short(name: str) -> str:
    """Return the name of a run for a narrow page.

    >>> _short("no limit, rate 0.4"), _short("limit 1, rate 0.28"), _short("limit 1"), _short("the run above")
    ('no, 0.4', '1, 0.28', '1', 'this run')
    """
    if name == _RUN_ABOVE:
        return "this run"
    return name.removeprefix("limit ").replace("no limit", "no").replace(" rate ", " ")


def _cut_at(bins: np.ndarray, limit: float) -> np.ndarray:
    """Return the edges of bins with one just above the limit, so that no bin has steps on both sides of it.

    An edge that lies as good as on the limit gives way to it.

    >>> _cut_at(np.array([1.0, 10.0, 100.0]), 20.0).round(3).tolist()
    [1.0, 10.0, 20.0, 100.0]
    >>> _cut_at(np.array([1.0, 10.0, 100.0]), 10.0).round(3).tolist()
    [1.0, 10.0, 100.0]
    """
    if not bins[0] < limit < bins[-1]:
        return bins
    edge = np.nextafter(limit, np.inf)  # a norm at the limit is below it
    apart = np.abs(np.log(bins / limit)) > _SAME_EDGE
    apart[[0, -1]] = True
    return np.sort(np.append(bins[apart], edge))


def _most(norms: np.ndarray) -> float:
    """Return the norm that 99 of 100 stay below."""
    place = int(0.99 * (norms.size - 1))
    return float(np.partition(norms, place)[place])


def _log_scale(axes: Any, values: np.ndarray) -> bool:
    """A log axis around the values; False where there are none."""
    values = values[np.isfinite(values) & (values > 0)]
    if values.size == 0:
        return False
    axes.set(yscale="log", ylim=(0.9 * values.min(), 1.2 * values.max()))
    log_ticks(axes.yaxis)
    return True


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

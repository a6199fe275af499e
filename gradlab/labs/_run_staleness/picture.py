"""The staleness that a recorded run's gradients would have with several workers, and how much of
them would hold.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ..._base.numbers import counted, number, percent, whole_percent
from ...live.drawing.labels import label, moving_title, on_paper
from ...live.drawing.lanes import ACCEPTED, DROPPED, patch
from ...live.drawing.shapes import bars, hatching
from ...live.drawing.style import (
    BLACK,
    BLUE,
    FAINT,
    GREEN,
    NARROW,
    ORANGE_TEXT,
    OTHER,
    QUIET,
    SMALL,
    WIDE,
    moving_line,
    new_figure,
    percent_ticks,
    tidy,
)
from .._layout import PanelLayout, place_panels

_HEIGHT = 5.1  # inches
OLDEST = 24  # staleness from here on is one bar
# Of the height: the highest bar, its share, the word at the mean.
_HIGHEST, _PEAK, _MEAN_WORD = 0.62, 0.69, 0.8
_NO_PROBES = "not known: no probes were recorded.\nCall rec.probe(grads) every few steps."
_FEW_PROBES = "can't tell: too few probes so far"
_WORD = 5  # how wide the words at the mean are, in updates
# Where these words stand: lag and agreement, where the lines of other runs leave room.
_OTHER_SEEDS = (16.6, 0.08)
_TURN = 15  # a limit beyond which has its words on its left
_LIMIT: dict[str, Any] = {"color": GREEN, "ls": "--", "lw": 1.6}
_VALUE: dict[str, Any] = {"color": BLUE, "marker": "o", "ms": 4, "lw": 1.6}
_INTERVAL: dict[str, Any] = {"color": BLUE, "lw": 1.4}
_OTHER_RUN: dict[str, Any] = {"color": OTHER, "lw": 1.0, "zorder": 1.5}
_MEAN: dict[str, Any] = {"color": BLACK, "lw": 1.2}
_SHARE: dict[str, Any] = {"color": BLUE, "marker": "s", "ms": 3.4, "lw": 1.4}
_HERE: dict[str, Any] = {
    "marker": "o",
    "ms": 9,
    "color": BLUE,
    "ls": "none",
    "mec": "white",
    "zorder": 4,
}


class AgreementCurve(NamedTuple):
    """Agreement of gradients some updates apart, from probes.

    Attributes:
        lags, value, low, high: (lags,) estimate and the ends of its interval, NaN where it isn't
            known; empty where no probes were recorded.
        others: (runs, lags) the estimates of runs of other seeds.
    """

    lags: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    others: np.ndarray

    @classmethod
    def unknown(cls) -> AgreementCurve:
        """The curve of a run without probes."""
        nothing = np.empty(0)
        return cls(nothing, nothing, nothing, nothing, np.empty((0, 0)))


class Stale(NamedTuple):
    """The data of the figure.

    Attributes:
        shares: (`OLDEST` + 1,) share of the gradients of each staleness, the last one of all that
            are older.
        accepted: (`OLDEST` + 1,) how much of that is accepted.
        mean: mean staleness.
        limit: the most accepted.
        limits, by_limit: (n,) share accepted under each of some limits.
        lag, agreement: how far apart gradients are at the mean, and how they agree; NaN where that
            is not known.
        agreement_words: the same with its interval, or why it is not known.
    """

    shares: np.ndarray
    accepted: np.ndarray
    mean: float
    limit: int
    limits: np.ndarray
    by_limit: np.ndarray
    lag: int
    agreement: float
    agreement_words: str


_WIDE_LAYOUT = PanelLayout((WIDE, _HEIGHT), "AL/GS", width_ratios=(1.5, 1))
_NARROW_LAYOUT = PanelLayout((NARROW, 10.6), "A/G/L/S")


class StalenessView:
    """Staleness above, agreement below on the same axis; share accepted by limit, and how long steps took."""

    def __init__(self, agreement: AgreementCurve, seconds: np.ndarray) -> None:
        """Draw what does not move.

        Args:
            agreement: of the recorded run.
            seconds: (n,) of the recorded steps, empty where unknown.
        """
        self.figure = new_figure(WIDE, _HEIGHT)
        self.ages, self.agreement, self.by_limit, self.seconds = (
            self.figure.add_subplot() for _ in range(4)
        )
        tidy(self.ages, "Staleness of the gradients", "staleness (updates since the read)", "")
        tidy(self.agreement, "", "updates apart", "agreement, 95% interval")
        tidy(self.by_limit, "", "staleness limit", "share accepted")
        for axes in (self.ages, self.agreement, self.by_limit):
            axes.set(xlim=(-0.8, OLDEST + 0.8), xticks=range(0, OLDEST + 1, 4))
        self.ages.set(
            ylim=(0, 1 / _HIGHEST), yticks=[]
        )  # bars are as high as they can be, and the highest has its share
        self.by_limit.set(ylim=(0, 1.05), yticks=(0, 0.5, 1))
        percent_ticks(self.by_limit.yaxis)
        self.ages.xaxis.set_major_formatter(
            FuncFormatter(lambda x, _: f"≥ {x:g}" if x == OLDEST else f"{x:g}")
        )
        self._fixed: list[Any] = []
        self.still(agreement, seconds)
        self._moving()
        self.arrange(narrow=False)

    def still(self, agreement: AgreementCurve, seconds: np.ndarray) -> None:
        """Replace the known facts of the run; arguments as above."""
        for artist in self._fixed:
            artist.remove()
        self._fixed = [*self._draw_agreement(agreement), *self._durations(seconds)]

    def arrange(self, narrow: bool) -> None:
        """Fit the page: two columns or one."""
        self._is_narrow = narrow
        place_panels(
            self.figure,
            _NARROW_LAYOUT if narrow else _WIDE_LAYOUT,
            A=self.ages,
            G=self.agreement,
            L=self.by_limit,
            S=self.seconds,
        )

    def _draw_agreement(self, agreement: AgreementCurve) -> list[Any]:
        axes = self.agreement
        known = np.isfinite(agreement.low)
        self._has_agreement = bool(known.any())
        if not self._has_agreement:
            axes.set(ylim=(0, 1), yticks=[])
            looks: dict[str, Any] = {
                "ha": "center",
                "va": "center",
                "fontsize": SMALL,
                "color": BLACK,
            }
            words = _NO_PROBES if not len(agreement.lags) else _FEW_PROBES
            return [axes.text(0.5, 0.5, words, transform=axes.transAxes, **looks)]
        axes.set(ylim=(-0.55, 1.25), yticks=(-0.5, 0, 0.5, 1))  # an interval may pass 1
        lags = agreement.lags[known]
        other_words = "other seeds" if len(agreement.others) else ""
        return [
            axes.text(
                *_OTHER_SEEDS, other_words, ha="left", va="bottom", fontsize=SMALL, color=QUIET
            ),
            axes.axhline(0, color=BLACK, lw=0.8),
            *[
                line
                for other in agreement.others
                for line in axes.plot(agreement.lags, other, **_OTHER_RUN)
            ],
            axes.vlines(lags, agreement.low[known], agreement.high[known], **_INTERVAL),
            *axes.plot(lags, agreement.value[known], **_VALUE),
        ]

    def _durations(self, seconds: np.ndarray) -> list[Any]:
        took = (
            f"Median step: {number(float(np.median(seconds)) * 1000)} ms"
            if seconds.size
            else "How long steps took"
        )
        axes = tidy(self.seconds, took, "milliseconds", "steps")
        if not seconds.size:
            axes.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[])
            looks: dict[str, Any] = {
                "ha": "center",
                "va": "center",
                "fontsize": SMALL,
                "color": BLACK,
            }
            return [
                axes.text(
                    0.5,
                    0.5,
                    "not recorded:\nall steps take the same time",
                    transform=axes.transAxes,
                    **looks,
                )
            ]
        longest = np.percentile(seconds, 99) * 1000
        counts, _, bars = axes.hist(np.minimum(seconds * 1000, longest), bins=24, color=BLUE)
        axes.set(
            xlim=(0.95 * float(seconds.min()) * 1000, 1.05 * longest),
            ylim=(0, 1.05 * float(np.max(counts))),
        )
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        return [bars]

    def _moving(self) -> None:
        self._taken, self._lost = patch(self.ages, ACCEPTED), patch(self.ages, DROPPED)
        self._hatching = moving_line(self.ages, color=FAINT, lw=0.9, zorder=2.5)
        self._limits = [
            moving_line(axes, transform=axes.get_xaxis_transform(), **_LIMIT)
            for axes in (self.ages, self.agreement, self.by_limit)
        ]
        self._peak = label(self.ages, transform=self.ages.get_xaxis_transform(), y=_PEAK)
        on_paper(self._peak, True)  # where the mean is
        self._apart, self._agrees = (
            moving_line(self.agreement, **_HERE),
            moving_title(self.agreement),
        )
        self._accepts = moving_title(self.by_limit)
        self._mean = moving_line(self.ages, transform=self.ages.get_xaxis_transform(), **_MEAN)
        self._curve, self._here = (
            moving_line(self.by_limit, **_SHARE),
            moving_line(self.by_limit, **_HERE),
        )
        self._said = label(
            self.ages, ha="left", color=GREEN, transform=self.ages.get_xaxis_transform(), y=0.96
        )
        self._dropped = label(
            self.ages,
            ha="left",
            color=ORANGE_TEXT,
            transform=self.ages.get_xaxis_transform(),
            y=0.88,
        )
        self._mean_word = label(self.ages, transform=self.ages.get_xaxis_transform(), y=_MEAN_WORD)

    def draw(self, shown: Stale) -> None:
        """Set the moving artists."""
        highest = int(shown.shares.argmax())
        taken, shares = shown.accepted / shown.shares[highest], shown.shares / shown.shares[highest]
        at = np.flatnonzero(taken)
        self._taken.set_path(bars(at - 0.4, at + 0.4, 0, taken[at]))
        at = np.flatnonzero(shares > taken)
        rest = at - 0.4, at + 0.4, taken[at], shares[at]
        self._lost.set_path(bars(*rest))
        self._hatching.set_data(*hatching(*rest, lean=0.8, apart=0.4).T)
        for line in self._limits:
            line.set_data([shown.limit + 0.5] * 2, [0, 1])
        if not self._has_agreement:
            self._limits[1].set_data((), ())  # words stand there
        mean = min(shown.mean, OLDEST)
        self._mean.set_data([mean, mean], [0, _MEAN_WORD + 0.04])
        at_edge = highest == 0
        self._peak.set(x=highest - 0.4 * at_edge, ha="left" if at_edge else "center")
        self._peak.set_text(percent(float(shown.shares[highest])))
        before = _WORD <= mean <= shown.limit  # of the two lines, with room for words
        self._mean_word.set(
            x=mean - 0.3 if before else mean + 0.3, ha="right" if before else "left"
        )
        self._mean_word.set_text(f"mean {number(shown.mean, 2)}")
        right = shown.limit <= _TURN  # of the line, where there is room
        for words in (self._said, self._dropped):
            words.set(x=shown.limit + (0.9 if right else 0.1), ha="left" if right else "right")
        self._said.set_text(f"limit {shown.limit}")
        lost = float((shown.shares - shown.accepted).sum())
        self._curve.set_data(shown.limits, shown.by_limit)
        self._here.set_data([shown.limit], [shown.accepted.sum()])
        self._dropped.set_text(f"{whole_percent(lost)} dropped")
        self._accepts.set_text(f"Limit {shown.limit} accepts {whole_percent(1 - lost)}")
        known = bool(np.isfinite(shown.agreement))
        self._apart.set_data(([shown.lag], [shown.agreement]) if known else ((), ()))
        apart = str(shown.lag) if self._is_narrow else f"Agreement {counted(shown.lag, 'update')}"
        self._agrees.set_text(f"{apart} apart: {shown.agreement_words}")

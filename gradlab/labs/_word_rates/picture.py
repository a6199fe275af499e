"""Every word of a sparse model: the memory and the rate of one beside the most frequent, and the
rates of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.transforms import ScaledTranslation

from ..._base.numbers import number
from ...live.drawing.labels import chip, label, on_paper
from ...live.drawing.shapes import segments
from ...live.drawing.style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    DASHED,
    LABEL,
    NARROW,
    OTHER,
    OTHERS,
    QUIET,
    SELECTED,
    SMALL,
    VIOLET,
    VIOLET_TEXT,
    WIDE,
    log_ticks,
    moving_line,
    new_figure,
    room_below,
    tidy,
)
from .._layout import PanelLayout, place_panels

_DOTTED = (0, (1, 1.1))  # of the chosen word; the frequent one is solid
# How many times its rate above its dot the chosen word is written, or below if that is near the
# key.
_CLEAR = 6.0
_BESIDE = 2.6  # how many times its rate the most frequent word is written below its dot, or above
_LONG = 8  # letters
_RARE, _OFTEN = 20, 700  # times in the text, near the left edge and near the right one
_ALIKE = 1.5  # rates that differ by a smaller factor have no room for it between them
# What any setting reaches, and room for names beyond it.
_MEMORY, _RATE = (0.01, 600.0), (1e-3, 100.0)
_STRIP = 0.18  # of the height: below the curves is where the words are seen
_LANES = (0.02, 0.1)  # in the strip, of the chosen word and of the most frequent one
_TICK = 0.06
_WIDE_LAYOUT = PanelLayout((WIDE, 5.3), "AR/CC", height_ratios=(1.4, 1))
_NARROW_LAYOUT = PanelLayout((NARROW, 8.8), "A/R/C", height_ratios=(1.1, 1.1, 1))


class WordsView:
    """Memory (violet) and rate (blue) of the chosen word, dotted, and the most frequent one, solid; all words as dots.

    Below both is a tick for each step in which a word is seen; what is still to come is pale. The
    dashed line in the last panel is the rate of words of which every occurrence brings the same
    squared gradient.
    """

    def __init__(self, words: Sequence[str], counts: np.ndarray, steps: int) -> None:
        self.figure = new_figure(WIDE, 5.3)
        self.words, self.counts, self.steps = list(words), counts, steps
        self.accumulator, self.rate, self.cloud = (self.figure.add_subplot() for _ in range(3))
        tidy(
            self.accumulator, "Memory: sum of gradient²", "step; a tick where the word is seen", ""
        )
        tidy(self.rate, "Rate: learning rate ÷ √memory", "step; a tick where the word is seen", "")
        tidy(
            self.cloud,
            "All words",
            f"times in the text, for each of {len(self.words)} words",
            "rate",
        )
        self._still()
        self._moving()
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: memory and rate side by side above all words, or all in one column."""
        layout = _NARROW_LAYOUT if narrow else _WIDE_LAYOUT
        place_panels(self.figure, layout, A=self.accumulator, R=self.rate, C=self.cloud)

    def _still(self) -> None:
        for axes, ends in ((self.accumulator, _MEMORY), (self.rate, _RATE)):
            room_below(axes, *ends, _STRIP)
            axes.axhline(ends[0], color=OTHER, lw=0.6)
            axes.set(
                xlim=(-0.01 * self.steps, 1.5 * self.steps), xticks=range(0, self.steps + 1, 64)
            )
        self.cloud.set(xscale="log", xlim=(3.6, 1.5 * self.counts.max()), yscale="log", ylim=_RATE)
        log_ticks(self.cloud.xaxis)
        log_ticks(self.cloud.yaxis)
        key = "dashed: if every time counted alike"
        self.cloud.text(
            0.99,
            0.985,
            key,
            transform=self.cloud.transAxes,
            fontsize=SMALL,
            color=QUIET,
            ha="right",
            va="top",
            in_layout=False,
        )

    def _moving(self) -> None:
        panels = ((self.accumulator, VIOLET), (self.rate, BLUE))
        self._ahead = [
            moving_line(axes, lw=OTHERS, color=color, alpha=0.45) for axes, color in panels
        ]
        self._story = [
            moving_line(axes, lw=SELECTED, ls=_DOTTED, color=color) for axes, color in panels
        ]
        self._frequent = [moving_line(axes, lw=SELECTED, color=color) for axes, color in panels]
        self._now = [
            moving_line(axes, "o", ms=8, color=color, mec="white", ls="none")
            for axes, color in panels
        ]
        self._told = [
            self._beside(axes, color)
            for axes, color in zip(self._axes, (VIOLET_TEXT, BLUE_TEXT), strict=True)
        ]
        self._seen, self._coming, self._lanes = [], [], []
        for axes in self._axes:
            across = axes.get_xaxis_transform()
            self._seen.append(moving_line(axes, color=BLACK, lw=1.2, transform=across))
            self._coming.append(moving_line(axes, color=OTHER, lw=0.6, transform=across))
            looks: dict[str, Any] = {
                "x": 1.03 * self.steps,
                "ha": "left",
                "color": QUIET,
                "transform": across,
            }
            self._lanes.append([label(axes, y=low + _TICK / 2, **looks) for low in _LANES])
        self._gap = moving_line(self.rate, color=BLACK, lw=1.6)
        self._times = chip(self.rate, BLACK, ha="center")
        self._none = [label(axes, x=0.5, y=0.88, transform=axes.transAxes) for axes in self._axes]
        self._title = self.cloud.set_title(
            "All words", loc="left", fontsize=LABEL, fontweight="bold", animated=True
        )
        self._dots = moving_line(self.cloud, "o", ms=3.2, color=BLUE, mew=0)
        self._even = moving_line(self.cloud, color=OTHER, ls=DASHED, lw=1.2)
        self._here = moving_line(self.cloud, "o", ms=9, color=BLUE, mec=BLACK, mew=1.8, ls="none")
        self._leaders = moving_line(self.cloud, "-", lw=0.8, color=BLACK)
        self._names = [label(self.cloud, weight="bold") for _ in range(2)]
        on_paper(self._names[0], True)  # dots may be below it

    @property
    def _axes(self) -> tuple[Any, Any]:
        return self.accumulator, self.rate

    def _beside(self, axes: Any, color: str) -> list[Any]:
        """Names for the marks of both words: to their right, above and below, where the curves
        ahead are not.
        """
        scale = self.figure.dpi_scale_trans
        places = [axes.transData + ScaledTranslation(0.08, up, scale) for up in (0.14, -0.14)]
        return [
            label(axes, ha="left", color=color, weight=weight, transform=place)
            for place, weight in zip(places, ("bold", "normal"), strict=True)
        ]

    def draw(
        self,
        step: int,
        word: int,
        rate: np.ndarray,
        accumulator: np.ndarray,
        even: np.ndarray,
        seen: np.ndarray,
        said: str = "All words",
    ) -> None:
        """Set the moving artists.

        Args:
            step: how many steps are done.
            word: the chosen one.
            rate, accumulator: (steps + 1, words); NaN accumulators where the rule has none.
            even: (k, 2) times in the text, and the rate if every occurrence counted alike.
            seen: (2, steps), whether a step sees the chosen word, and the most frequent one.
            said: what is seen of all words, the title of their panel.
        """
        for k, of_all in enumerate((accumulator, rate)):
            self._draw_story(k, step, word, of_all)
        forgets = bool(np.isnan(accumulator).all())
        for note, words in zip(
            self._none, ("this rule keeps none", "this rule: the learning rate alone"), strict=True
        ):
            note.set_text(words if forgets else "")
        self._draw_lanes(step, word, seen)
        now = rate[step]
        self._draw_gap(step, now[word], now[0])
        self._title.set_text(said)
        self._dots.set_data(self.counts, now)
        self._even.set_data(*even.T)
        self._name(word, now)

    def _draw_story(self, k: int, step: int, word: int, values: np.ndarray) -> None:
        steps = np.arange(len(values))
        self._story[k].set_data(steps[: step + 1], values[: step + 1, word])
        self._frequent[k].set_data(steps[: step + 1], values[: step + 1, 0])
        both = values[step:, [word, 0]]
        gap = np.full((1, 2), np.nan)
        ahead = np.concatenate([steps[step:], [np.nan], steps[step:]])
        self._ahead[k].set_data(
            ahead, np.concatenate([both[:, :1], gap[:, :1], both[:, 1:]]).ravel()
        )
        here = values[step, [word, 0]] if word else values[step, [0]]
        self._now[k].set_data([step] * len(here), here)
        # The word with the higher value is named above its mark, the other one below.
        above, below = self._told[k]
        order = (word, 0) if values[step, word] > values[step, 0] else (0, word)
        for one, w, there in ((above, order[0], True), (below, order[1], word != 0)):
            y = float(values[step, w])
            one.set(
                x=step, y=y, text=_told(self.words[w], y), weight="bold" if w == word else "normal"
            )
            one.set_visible(there and np.isfinite(y))

    def _draw_lanes(self, step: int, word: int, seen: np.ndarray) -> None:
        lane, at = np.nonzero(seen)
        low, at = np.array(_LANES)[lane], at + 1
        for done, line in ((True, self._seen), (False, self._coming)):
            some = at <= step if done else at > step
            for one in line:
                one.set_data(*segments(at[some], low[some], at[some], low[some] + _TICK))
        for lanes in self._lanes:
            for one, w in zip(lanes, (word, 0), strict=True):
                one.set_text(_shortened(self.words[w]))

    def _draw_gap(self, step: int, rare: float, frequent: float) -> None:
        times = float(rare / frequent)
        self._gap.set_data([step, step], [rare, frequent])
        self._times.set(x=max(step, 0.11 * self.steps), y=float(np.sqrt(rare * frequent)))
        self._times.set(text=f"{number(times, 2)} ×", visible=times > _ALIKE)

    def _name(self, word: int, rate: np.ndarray) -> None:
        """Write the chosen word above its dot, clear of the cloud, and the frequent one beside its
        own.
        """
        times, (x, y) = self.counts[word], (self.counts[word], rate[word])
        said = [f"{self.words[index]}, {self.counts[index]:,} times" for index in (word, 0)]
        ha = "left" if times < _RARE else "right" if times > _OFTEN else "center"
        away = _CLEAR if y * _CLEAR < 0.3 * _RATE[1] else 1 / _CLEAR
        self._names[0].set(x=x, y=y * away, text=said[0], ha=ha)
        below = rate[0] > 4 * _RATE[0]
        self._names[1].set(
            x=self.counts[0] * 1.2, y=rate[0] * (1 / _BESIDE if below else _BESIDE), ha="right"
        )
        self._names[1].set_text(said[1] if word else "")
        self._here.set_data(self.counts[[word, 0]], rate[[word, 0]])
        self._leaders.set_data([x, x], [y, y * away**0.75])


def _told(word: str, value: float) -> str:
    """A word and a number as far as there is room; a long word alone, shortened."""
    return f"{word} {number(value, 2)}" if len(word) <= _LONG else _shortened(word)


def _shortened(word: str) -> str:
    return word if len(word) <= 11 else f"{word[:8]}…"

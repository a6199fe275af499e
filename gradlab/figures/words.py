"""Every word of a sparse model: the memory and the rate of one beside the most frequent, and the rates of all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.gridspec import GridSpec

from .._base.numbers import number
from ._labels import EndLabels, label
from ._style import (
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
    VIOLET,
    VIOLET_TEXT,
    WIDE,
    log_ticks,
    moving_line,
    new_figure,
    tidy,
)

_DOTTED = (0, (1, 1.1))  # of the chosen word; the frequent one is solid
_CLEAR = 4.0  # how many times its rate above its dot the chosen word is written, and the frequent one below
_LONG = 8  # letters
_EARLY = 0.2  # of all steps, in which there is no room left of the step
_RARE, _OFTEN = 20, 300  # times in the text, near the left edge and near the right one
_ALIKE = 1.5  # rates that differ by a smaller factor have no room for it between them
_MEMORY, _RATE = (1.5e-3, 1e3), (2.8e-3, 25.0)


class WordsView:
    """Memory (violet) and rate (blue) of the chosen word, dotted, and the most frequent one, solid; all words as dots.

    Below the memory is a tick for each step in which the word is seen. The dashed line in the last panel is the rate of
    words of which every occurrence brings the same squared gradient.
    """

    def __init__(self, words: Sequence[str], counts: np.ndarray, steps: int) -> None:
        self.figure = new_figure(WIDE, 5.3)
        self.words, self.counts, self.steps = list(words), counts, steps
        self.accumulator, self.rate, self.cloud = (self.figure.add_subplot() for _ in range(3))
        tidy(self.accumulator, "Memory: sum of gradient²", "step; a tick where the word is seen", "")
        tidy(self.rate, "Rate: learning rate ÷ √memory", "step", "")
        tidy(
            self.cloud,
            "The more often seen, the slower",
            f"times in the text, for each of {len(self.words)} words",
            "rate",
        )
        self._still()
        self._moving()
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: memory and rate side by side above all words, or all in one column."""
        if narrow:
            self.figure.set_size_inches(NARROW, 8.8)
            grid = GridSpec(3, 1, self.figure, height_ratios=(1.15, 1, 1.1))
            places = [grid[k] for k in range(3)]
        else:
            self.figure.set_size_inches(WIDE, 5.3)
            grid = GridSpec(2, 2, self.figure, height_ratios=(1.25, 1))
            places = [grid[0, 0], grid[0, 1], grid[1, :]]
        for axes, place in zip((self.accumulator, self.rate, self.cloud), places, strict=True):
            axes.set_subplotspec(place)

    def _still(self) -> None:
        self.accumulator.set(yscale="log", ylim=_MEMORY)
        self.rate.set(yscale="log", ylim=_RATE)
        self.cloud.set(xscale="log", xlim=(3.2, 1.9 * self.counts.max()), yscale="log", ylim=(6e-3, 25))
        for axes in (self.accumulator, self.rate):
            axes.set(xlim=(-0.01 * self.steps, 1.5 * self.steps), xticks=range(0, self.steps + 1, 64))
        for axis in (self.accumulator.yaxis, self.rate.yaxis, self.cloud.xaxis, self.cloud.yaxis):
            log_ticks(axis)
        self.accumulator.set_yticks([0.01, 0.1, 1, 10, 100, 1000])

    def _moving(self) -> None:
        panels = ((self.accumulator, VIOLET), (self.rate, BLUE))
        self._ahead = [moving_line(axes, lw=OTHERS, color=color) for axes, color in panels]
        self._story = [moving_line(axes, lw=SELECTED, ls=_DOTTED, color=color) for axes, color in panels]
        self._frequent = [moving_line(axes, lw=SELECTED, color=color) for axes, color in panels]
        self._now = [moving_line(axes, "o", ms=8, color=color, mec="white", ls="none") for axes, color in panels]
        self._ends = [EndLabels(axes, 2) for axes, _ in panels]
        across = self.accumulator.get_xaxis_transform()
        self._seen = [moving_line(self.accumulator, color=BLACK, lw=1.2, transform=across) for _ in range(2)]
        looks: dict[str, Any] = {"x": 1.5 * self.steps, "ha": "right", "color": QUIET, "transform": across}
        self._lanes = [label(self.accumulator, y=y, **looks) for y in (0.045, 0.125)]
        self._gap = moving_line(self.rate, color=BLACK, lw=1.6)
        self._times = label(self.rate, ha="right", weight="bold", fontsize=LABEL)
        self._none = label(self.accumulator, x=0.5, y=0.6, transform=self.accumulator.transAxes)
        self._dots = moving_line(self.cloud, "o", ms=3.2, color=BLUE, mew=0)
        self._even = moving_line(self.cloud, color=OTHER, ls=DASHED, lw=1.2)
        self._alike = label(self.cloud, x=3.6, ha="left", color=QUIET, text="dashed: if every time counted alike")
        self._here = moving_line(self.cloud, "o", ms=9, color=BLUE, mec=BLACK, mew=1.8, ls="none")
        self._leaders = moving_line(self.cloud, "-", lw=0.8, color=BLACK)
        self._names = [label(self.cloud, weight="bold") for _ in range(2)]

    def draw(
        self, step: int, word: int, rate: np.ndarray, accumulator: np.ndarray, even: np.ndarray, seen: np.ndarray
    ) -> None:
        """Set the moving artists.

        Args:
            step: how many steps are done. word: the chosen one.
            rate, accumulator: (steps + 1, words); NaN accumulators where the rule has none.
            even: (k, 2) times in the text, and the rate if every occurrence counted alike.
            seen: (2, steps), whether a step sees the chosen word, and the most frequent one.
        """
        for k, of_all in enumerate((accumulator, rate)):
            self._draw_story(k, step, word, of_all)
        self._none.set_text("this rule keeps none" if np.isnan(accumulator).all() else "")
        for lane, ticks, words, low in zip(seen, self._seen, self._lanes, (0.015, 0.095), strict=True):
            at = np.flatnonzero(lane[:step]) + 1
            ticks.set_data(np.repeat(at, 3), np.tile([low, low + 0.06, np.nan], len(at)))
            words.set_text(f"{self.words[word if low < 0.05 else 0]} seen")
        now = rate[step]
        self._draw_gap(step, now[word], now[0])
        self._dots.set_data(self.counts, now)
        self._even.set_data(*even.T)
        self._alike.set_y(even[0, 1] / 6)
        self._name(word, now)

    def _draw_story(self, k: int, step: int, word: int, values: np.ndarray) -> None:
        steps = np.arange(len(values))
        self._story[k].set_data(steps[: step + 1], values[: step + 1, word])
        self._frequent[k].set_data(steps[: step + 1], values[: step + 1, 0])
        both = values[step:, [word, 0]]
        gap = np.full((1, 2), np.nan)
        ahead = np.concatenate([steps[step:], [np.nan], steps[step:]])
        self._ahead[k].set_data(ahead, np.concatenate([both[:, :1], gap[:, :1], both[:, 1:]]).ravel())
        here = values[step, [word, 0]] if word else values[step, [0]]
        self._now[k].set_data([step] * len(here), here)
        color = (VIOLET_TEXT, BLUE_TEXT)[k]
        words = [_told(self.words[w], float(x)) for w, x in zip((word, 0), here, strict=False)]
        ends = values[-1, [word, 0][: len(here)]].tolist()
        self._ends[k].draw(len(values) - 1, ends, words, color=[color] * 2, weight=["bold", "normal"])

    def _draw_gap(self, step: int, rare: float, frequent: float) -> None:
        times = float(rare / frequent)
        self._gap.set_data([step, step], [rare, frequent])
        shown = step > _EARLY * self.steps and times > _ALIKE
        self._times.set(
            x=step - 0.03 * self.steps, y=float(np.sqrt(rare * frequent)), text=f"{number(times, 2)} ×" if shown else ""
        )

    def _name(self, word: int, rate: np.ndarray) -> None:
        """Write the chosen word above its dot, clear of the cloud, and the frequent one beside its own."""
        times, (x, y) = self.counts[word], (self.counts[word], rate[word])
        said = [f"{self.words[index]}, {self.counts[index]:,} times" for index in (word, 0)]
        ha = "left" if times < _RARE else "right" if times > _OFTEN else "center"
        self._names[0].set(x=x, y=y * _CLEAR, text=said[0], ha=ha)
        self._names[1].set(x=self.counts[0] / 1.2, y=rate[0], text=said[1] if word else "", ha="right")
        self._here.set_data(self.counts[[word, 0]], rate[[word, 0]])
        self._leaders.set_data([x, x], [y, y * _CLEAR**0.8])


def _told(word: str, value: float) -> str:
    """A word and a number as far as there is room; a long word alone, shortened."""
    return f"{word} {number(value, 2)}" if len(word) <= _LONG else word if len(word) <= 11 else f"{word[:8]}…"

"""Every word of a sparse model: how often it is seen against the rate its weights move at, and one word's story."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.gridspec import GridSpec

from ._style import BLACK, BLUE, GREEN, NARROW, ORANGE, OTHER, WIDE, log_ticks, moving_line, new_figure, tidy

_WORD: dict[str, Any] = {"color": ORANGE, "ls": "-", "lw": 2.2}
_FREQUENT: dict[str, Any] = {"color": OTHER, "ls": "-.", "lw": 1.6}
_EVEN: dict[str, Any] = {"color": GREEN, "ls": "--", "lw": 1.8}
_HERE: dict[str, Any] = {"marker": "D", "ms": 8, "color": ORANGE, "ls": "none", "mec": "white"}
_CLEAR = 3.0  # how many times its rate above or below its dot a word is written
_RARE = 20  # times in the text; the dots of such words are near the left edge


class WordsView:
    """One dot for every word, log-log; the chosen word is a diamond, and beside it are its rate and accumulator.

    The dashed line is the rate of words of which every occurrence brings the same squared gradient.
    """

    def __init__(self, words: Sequence[str], counts: np.ndarray, steps: int, named: Sequence[str]) -> None:
        self.figure = new_figure(WIDE, 5.2)
        self.words, self.counts, self._landmarks = list(words), counts, [words.index(word) for word in named]
        self.cloud, self.rate, self.accumulator = (self.figure.add_subplot() for _ in range(3))
        self._still(steps)
        self._moving()
        for label, looks in (
            ("one word", {"marker": "o", "ms": 4, "color": BLUE, "ls": "none"}),
            ("the chosen word", {**_WORD, **_HERE, "ls": "-"}),
            (f"“{self.words[0]}”", _FREQUENT),
            ("if every occurrence counted alike", _EVEN),
        ):
            self.cloud.plot([], [], label=label, **looks)
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: the story of one word beside all words, or below them."""
        if narrow:
            self.figure.set_size_inches(NARROW, 8.6)
            grid = GridSpec(3, 1, self.figure, height_ratios=(2, 1, 1))
            places = [grid[0], grid[1], grid[2]]
        else:
            self.figure.set_size_inches(WIDE, 5.2)
            grid = GridSpec(2, 2, self.figure, width_ratios=(1.55, 1))
            places = [grid[:, 0], grid[0, 1], grid[1, 1]]
        for axes, place in zip((self.cloud, self.rate, self.accumulator), places, strict=True):
            axes.set_subplotspec(place)
        for legend in self.figure.legends:
            legend.remove()
        self.figure.legend(loc="outside lower center", ncols=1 if narrow else 4, fontsize=9, frameon=False, numpoints=1)

    def _still(self, steps: int) -> None:
        tidy(self.cloud, "Every word", "times in the text", "effective rate = learning rate / √accumulator")
        tidy(self.rate, "Rate of the chosen word", "", "effective rate")
        tidy(self.accumulator, "Accumulator of the chosen word", "steps", "accumulator")
        self.cloud.set(xscale="log", xlim=(3.2, 1.6 * self.counts.max()))
        self.accumulator.set(yscale="log", ylim=(7e-3, 1000))
        for axes in (self.cloud, self.rate):
            axes.set(yscale="log", ylim=(2.8e-3, 25))
        for axes in (self.rate, self.accumulator):
            axes.set_xlim(-0.01 * steps, 1.02 * steps)
            axes.set_xticks(range(0, steps + 1, 64))
        self.rate.tick_params(labelbottom=False)
        for axis in (self.cloud.xaxis, self.cloud.yaxis, self.rate.yaxis, self.accumulator.yaxis):
            log_ticks(axis)

    def _moving(self) -> None:
        self._dots = moving_line(self.cloud, "o", ms=3.2, color=BLUE, mew=0)
        self._even = moving_line(self.cloud, **_EVEN)
        self._here = moving_line(self.cloud, **_HERE)
        self._frequent = [moving_line(axes, **_FREQUENT) for axes in (self.rate, self.accumulator)]
        self._story = [moving_line(axes, **_WORD) for axes in (self.rate, self.accumulator)]
        self._now = [moving_line(axes, **_HERE) for axes in (self.rate, self.accumulator)]
        self._leaders = moving_line(self.cloud, "-", lw=0.8, color=BLACK)
        looks: dict[str, Any] = {"fontsize": 9.5, "color": BLACK, "animated": True, "ha": "center", "va": "top"}
        self._names = [self.cloud.text(1, 1, "", **looks) for _ in (*self._landmarks, None)]
        self._names[-1].set(va="bottom", fontweight="bold")
        self._none = self.accumulator.text(
            0.5, 0.5, "", transform=self.accumulator.transAxes, ha="center", va="center", animated=True, fontsize=9.5,
            color=BLACK,
        )  # fmt: skip

    def draw(self, step: int, word: int, rate: np.ndarray, accumulator: np.ndarray, even: np.ndarray) -> None:
        """Set the moving artists.

        Args:
            step: how many steps are done. word: the chosen one.
            rate, accumulator: (steps + 1, words); NaN accumulators where the rule has none.
            even: (k, 2) times in the text, and the rate if every occurrence counted alike.
        """
        now, steps = rate[step], np.arange(len(rate))
        self._dots.set_data(self.counts, now)
        self._even.set_data(*even.T)
        self._here.set_data([self.counts[word]], [now[word]])
        for k, of_all in enumerate((rate, accumulator)):
            self._frequent[k].set_data(steps, of_all[:, 0])
            self._story[k].set_data(steps, of_all[:, word])
            self._now[k].set_data([step], [of_all[step, word]])
        self._none.set_text("this rule keeps none" if np.isnan(accumulator).all() else "")
        self._name(word, now)

    def _name(self, word: int, rate: np.ndarray) -> None:
        """Write the landmarks below their dots and the chosen word above its own, clear of the cloud."""
        leaders = []
        for text, index in zip(self._names, (*self._landmarks, word), strict=True):
            last = text is self._names[-1]
            text.set_visible(last or index != word)
            if text.get_visible():
                x, y, away = self.counts[index], rate[index], _CLEAR if last else 1 / _CLEAR
                text.set(text=self.words[index], x=x, y=y * away)
                leaders += [(x, y), (x, y * away), (np.nan, np.nan)]
        self._names[-1].set(ha="left" if self.counts[word] < _RARE else "center")  # and stay inside the panel
        self._leaders.set_data(*np.array(leaders).T)

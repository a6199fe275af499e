"""Rows that devices ask of each other in a training of embedding tables: who serves how much, why,
and the losses.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._base.numbers import number
from ...live.drawing.labels import EndLabels, label, moving_title
from ...live.drawing.lanes import patch
from ...live.drawing.shapes import NOWHERE, bars
from ...live.drawing.style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    DASHED,
    LABEL,
    NARROW,
    OTHER,
    OTHERS,
    PALE_BLUE,
    QUIET,
    SELECTED,
    SMALL,
    WIDE,
    log_ticks,
    moving_line,
    new_figure,
    tidy,
)
from .._layout import PanelLayout, place_panels

# Of few rows and of many. Numbers are black on the first of them and white on the rest: a contrast
# of 4.5 on each.
SHADES = ("#F1F7FC", "#DCEBF8", "#C5DFF4", "#9CC6EC", "#6FAEE6", "#1F6BB8", "#125699", "#0E4A8A")
_LIGHT, _CHOSEN = 5, SHADES[-2]  # how many of them are light; the bars of the busiest device
_CELL, _BAR = 0.46, 0.4  # half of the width of a cell, and of a bar
# The highest of all states: times its share that a device serves, share of one word.
_MOST, _MOST_ASKED = 3.55, 0.48
UNFAIR = 1.5  # times its share from which on the popular words of a device are told as the reason
_NAMED = 2  # words that are named
_LOSS = (1e-5, 1e3)
# Of bars; the busiest's.
_LOOKS = {"fc": PALE_BLUE, "ec": BLUE, "lw": 0.8}, {"fc": _CHOSEN, "ec": _CHOSEN, "lw": 0.8}


class DrawnTraining(NamedTuple):
    """The data of a training that the figure shows, after `step` steps.

    Fields: traffic: (devices, devices), rows that the first asked of the second so far. asked:
    (words,), how often each word's row was asked for so far; owner: (words,), the device of
    each; popular: words, the most popular first, none where all are equally popular. loss:
    (steps, tables). elsewhere: how a table dealt out in the other way is called, and how many
    times its share its busiest device serves.
    """

    step: int
    traffic: np.ndarray
    asked: np.ndarray
    owner: np.ndarray
    popular: np.ndarray
    loss: np.ndarray
    elsewhere: tuple[str, float]


_WIDE_LAYOUT = PanelLayout((WIDE, 5.4), "TW/TW/TW/SL/SL", width_ratios=(1.35, 1))
_NARROW_LAYOUT = PanelLayout((NARROW, 11.4), "T/S/W/L", height_ratios=(3.1, 1.7, 1.7, 1.7))


class RunView:
    """The traffic between devices above the rows that each serves; beside them popular words by device, and losses."""

    def __init__(self, names: tuple[str, ...], words: int, steps: int, devices: int) -> None:
        self.figure = new_figure(WIDE, 5.4)
        self.names, self.words_count, self.steps, self.devices = names, words, steps, devices
        self.traffic, self.served, self.words, self.loss = (
            self.figure.add_subplot() for _ in range(4)
        )
        tidy(self.traffic, "Rows asked for", "device that holds the row", "device that asks")
        tidy(self.served, "Rows served", "device that holds the rows", "")
        tidy(self.words, "", "device that holds the word", "")
        tidy(self.loss, "Loss of each step", "step", "")
        self._still()
        self._moving()
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: the reasons beside the traffic, or below it."""
        layout = _NARROW_LAYOUT if narrow else _WIDE_LAYOUT
        place_panels(self.figure, layout, T=self.traffic, S=self.served, W=self.words, L=self.loss)

    def _still(self) -> None:
        ticks = range(self.devices)
        for axes in (self.traffic, self.served, self.words):
            axes.grid(False)
            axes.set(xlim=(-0.6, self.devices - 0.4), xticks=ticks)
            axes.tick_params(length=0)
        self.traffic.set(ylim=(self.devices - 0.4, -0.6), yticks=ticks)
        self.traffic.set_title("dotted: its own rows", loc="right", fontsize=SMALL, color=QUIET)
        for axes in (self.traffic, self.served, self.words):
            for name, spine in axes.spines.items():
                spine.set_visible(name == "bottom" and axes is not self.traffic)
        self.served.set(ylim=(0, _MOST), yticks=[])
        self.words.set(ylim=(0, _MOST_ASKED), yticks=[])
        self.loss.set(
            xlim=(0, self.steps * 1.4),
            yscale="log",
            ylim=_LOSS,
            xticks=range(0, self.steps + 1, 10),
        )
        log_ticks(self.loss.yaxis)

    def _moving(self) -> None:
        self._shades = [
            patch(self.traffic, {"fc": shade, "ec": OTHER, "lw": 0.5}) for shade in SHADES
        ]
        own, half = np.arange(self.devices), _CELL - 0.07
        self._own = patch(self.traffic, {"fc": "none", "ec": QUIET, "lw": 1.0, "ls": ":"})
        self._own.set_path(bars(own - half, own + half, own - half, own + half))
        self._frame = patch(self.traffic, {"fc": "none", "ec": BLACK, "lw": SELECTED})
        self._counts = [label(self.traffic, x=x, y=y) for y in own for x in own]
        self._rest, self._busiest = (patch(self.served, looks) for looks in _LOOKS)
        self._share = moving_line(self.served, color=QUIET, ls=DASHED, lw=1.2, zorder=3)
        self._fair = label(self.served, x=self.devices - 0.45, y=1.28, ha="right", color=QUIET)
        self._sums = [label(self.served, x=x, y=0.22) for x in own]
        looks = {"fontsize": LABEL, "weight": "bold"}
        self._times, self._elsewhere = label(self.served, **looks), label(self.served, color=QUIET)
        self._others, self._popular = (patch(self.words, looks) for looks in _LOOKS)
        self._named = [label(self.words, ha="left") for _ in range(_NAMED)]
        self._why = moving_title(self.words)
        self._losses = [
            (
                moving_line(self.loss, lw=OTHERS, color=color),
                moving_line(self.loss, lw=width, color=color),
                moving_line(self.loss, "o", ms=6, mec="white", ls="none", color=color),
            )
            for color, width in ((BLUE, SELECTED), (OTHER, 1.6))
        ]
        self._ends = EndLabels(self.loss, len(self.names))

    def draw(self, training: DrawnTraining) -> None:
        """Set the moving artists."""
        served = training.traffic.sum(axis=0)
        busiest = int(served.argmax()) if served.any() else None
        self._draw_traffic(training.traffic, busiest)
        self._draw_served(served, busiest, training.elsewhere)
        self._draw_words(training, busiest, load(served))
        self._draw_loss(training.loss, training.step)

    def _draw_traffic(self, traffic: np.ndarray, busiest: int | None) -> None:
        shares = traffic / max(traffic.mean(), 1e-30) / _MOST
        of = np.ceil(shares.clip(0, 1) * len(SHADES)).astype(int)
        for k, shape in enumerate(self._shades, 1):
            y, x = np.nonzero(of == k)
            shape.set_path(bars(x - _CELL, x + _CELL, y - _CELL, y + _CELL))
        for words, count, shade in zip(self._counts, traffic.ravel(), of.ravel(), strict=True):
            words.set(text=f"{count}" if count else "")
            _on(words, SHADES[shade - 1] if count else None, shade > _LIGHT)
        around = (
            NOWHERE
            if busiest is None
            else bars(busiest - 0.5, busiest + 0.5, -0.5, self.devices - 0.5)
        )
        self._frame.set_path(around)

    def _draw_served(
        self, served: np.ndarray, busiest: int | None, elsewhere: tuple[str, float]
    ) -> None:
        at, shares = np.arange(self.devices), served / max(served.mean(), 1)
        for shape, some in ((self._rest, at != busiest), (self._busiest, at == busiest)):
            shape.set_path(bars(at[some] - _BAR, at[some] + _BAR, 0, shares[some]))
        for k, (words, count) in enumerate(zip(self._sums, served, strict=True)):
            words.set_text(f"{count}" if count else "")
            _on(words, _CHOSEN if k == busiest else None, k == busiest)
        self._share.set_data(
            [-0.6, self.devices - 0.4] if served.any() else [], [1, 1] if served.any() else []
        )
        self._fair.set_text(f"fair share {number(float(served.mean()))}" if served.any() else "")
        how, times = elsewhere
        high = max(float(shares.max()) - 0.25, 2.2)
        told = (
            ("", "")
            if busiest is None
            else (f"{shares[busiest]:.1f} times its share", f"{how}: {times:.1f} times")
        )
        left = busiest is None or busiest < self.devices / 2
        place = {"x": (busiest or 0) + (0.6 if left else -0.6), "ha": "left" if left else "right"}
        for words, text, y in zip(
            (self._times, self._elsewhere), told, (high, high - 0.6), strict=True
        ):
            words.set(text=text, y=y, **place)

    def _draw_words(self, training: DrawnTraining, busiest: int | None, times: float) -> None:
        asked, owner = training.asked, training.owner
        shares = asked / max(asked.sum(), 1)
        each = np.bincount(owner, minlength=self.devices).max()  # words of a device, side by side
        nth = np.array([(owner[:k] == owner[k]).sum() for k in range(len(owner))])
        wide = 2 * _BAR / each
        left = owner - _BAR + nth * wide
        for shape, some in ((self._others, owner != busiest), (self._popular, owner == busiest)):
            shape.set_path(bars(left[some] + 0.02, left[some] + wide - 0.02, 0, shares[some]))
        top = training.popular[:_NAMED]
        for words in self._named[len(top) :]:
            words.set_text("")
        for k, words, noun in zip(top, self._named, (" requests", ""), strict=False):
            # Beside it, above the bars to its right.
            free = shares[left > left[k]].max(initial=0) < shares[k] - 0.045
            words.set(x=left[k] + wide + 0.12, y=float(shares[k]) - 0.015)
            words.set_text(f"word {k}: {asked[k]}{noun}" * bool(free))
        self._why.set_text(_reason(top, owner[top], busiest, times))

    def _draw_loss(self, loss: np.ndarray, step: int) -> None:
        steps = np.arange(1, len(loss) + 1)
        for (all_of_it, done, dot), values in zip(self._losses, loss.T, strict=True):
            all_of_it.set_data(steps, values)
            done.set_data(steps[:step], values[:step])
            dot.set_data(
                steps[step - 1 : step] if step else [], values[step - 1 : step] if step else []
            )
        ends = [float(np.clip(x, *_LOSS)) for x in loss[-1]]
        self._ends.draw(
            steps[-1], ends, self.names, color=(BLUE_TEXT, QUIET), weight=("bold", "normal")
        )


def load(served: np.ndarray) -> float:
    """The load of the busiest device in multiples of the mean; 0 before anything was asked for."""
    return float(served.max() / served.mean()) if served.any() else 0.0


def _reason(words: np.ndarray, owners: np.ndarray, busiest: int | None, times: float) -> str:
    """Return where the most popular words are, as the title of their panel."""
    if busiest is None:
        return "No word is asked for yet"
    if not words.size:
        return "All words are equally popular"
    if len(set(owners.tolist())) > 1:
        return "The most popular words lie apart"
    if owners[0] == busiest and times >= UNFAIR and np.ptp(words) == 1:
        return "Why: popular words are neighbors"
    return f"Popular words lie on device {owners[0]}"


def _on(words: Any, shade: str | None, dark: bool) -> None:
    """Readable on a shade."""
    words.set_color("white" if dark else BLACK)
    words.on = shade

"""Synchronous training: lanes of workers that push and wait for tokens, and the queue the tokens
come from.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._base.numbers import counted
from ...live.drawing.labels import label, on_paper
from ...live.drawing.lanes import (
    ACCEPTED,
    DROPPED,
    IN_HAND,
    LaneNames,
    Waits,
    Workers,
    patch,
    sides,
)
from ...live.drawing.shapes import bars, hatching, segments
from ...live.drawing.style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    HATCH,
    LABEL,
    NARROW,
    ORANGE_TEXT,
    OTHER,
    QUIET,
    WIDE,
    moving_line,
    new_figure,
    tidy,
)  # fmt: skip
from .._layout import PanelLayout, place_panels

_WINDOW, _TICK = 900, 100  # ticks shown at a time; between two numbers of the axis
_WORD = 75  # ticks of a wait that has room for a word
_UPDATE: dict[str, Any] = {"color": BLUE, "lw": 1.8, "ls": "-"}
_MOST, _TURNS = 6, 60  # boxes in a row; bars that can carry a number
_BOX, _PITCH, _ROW = 26.0, 31.0, 96.0  # of the queue, in about pixels
_COLUMNS = (0.0, 240.0, 480.0)  # where its three groups begin


class DrawnRounds(NamedTuple):
    """Gradients of workers up to a time, and where they meet. Arrays are (n,).

    Fields: workers; now, in ticks; event, the last one in words; worker, began, ended
    (`now` while it is computed), local_step, pushed, accepted of each gradient; waits (w,
    3): worker, from, to; updates (u, 2): time and number of gradients; count: gradients
    that are there, aggregate: those an update needs; tokens in the queue; waiting: workers
    in line for one; handed_in, accepted_of (workers,); straggler: how many times slower
    worker 1 is.
    """

    workers: int
    now: int
    event: str
    worker: np.ndarray
    began: np.ndarray
    ended: np.ndarray
    local_step: np.ndarray
    pushed: np.ndarray
    accepted: np.ndarray
    waits: np.ndarray
    updates: np.ndarray
    count: int  # type: ignore[assignment]  # not tuple.count
    aggregate: int
    tokens: tuple[int, ...]
    waiting: tuple[int, ...]
    handed_in: np.ndarray
    accepted_of: np.ndarray
    straggler: float


_WIDE_LAYOUT = PanelLayout((WIDE, 4.9), "LW/QQ", width_ratios=(2.6, 1), height_ratios=(3.1, 1))
_NARROW_LAYOUT = PanelLayout((NARROW, 9.4), "L/W/Q", height_ratios=(2.6, 1.7, 2.6))


class TokensView:
    """Lanes, and what came of each worker's gradients; below them the gradients and tokens there, and who waits."""

    def __init__(self) -> None:
        self.figure = new_figure(WIDE, 4.9)
        panels = [self.figure.add_subplot() for _ in range(3)]
        self.lanes, self.workers, self.queue = (
            _Lanes(panels[0]),
            Workers(panels[1]),
            _Queue(panels[2]),
        )
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: what was accepted beside the lanes, or everything in one column."""
        self._narrow = narrow
        self.lanes.arrange(narrow)
        self.queue.arrange(narrow)
        lanes, workers, queue = self.figure.axes
        layout = _NARROW_LAYOUT if narrow else _WIDE_LAYOUT
        place_panels(self.figure, layout, L=lanes, W=workers, Q=queue)

    def draw(self, rounds: DrawnRounds) -> None:
        """Set the moving artists."""
        self.lanes.draw(rounds)
        none = np.zeros(rounds.workers, bool)
        self.workers.draw(rounds.handed_in, rounds.accepted_of, none, named=self._narrow)
        self.queue.draw(rounds)


class _Lanes:
    """A lane for each worker with its gradients and its waits, under the updates."""

    def __init__(self, axes: Any) -> None:
        self.axes = tidy(axes, " ", "time (ticks)", "")
        axes.set_xticks([])
        axes.xaxis.labelpad = 19
        self.updates = moving_line(axes, zorder=1.5, **_UPDATE)
        self.bars = [patch(axes, looks) for looks in (ACCEPTED, DROPPED, IN_HAND)]
        self._hatching = moving_line(axes, zorder=2.5, **HATCH)
        self.waits = Waits(axes, _WORD)
        self.steps = [label(axes, weight="bold", clip_on=True) for _ in range(_TURNS)]
        self.means = [
            label(axes, y=0.045, ha="right", color=BLUE_TEXT, clip_on=True) for _ in range(_TURNS)
        ]
        base = axes.get_yaxis_transform()
        self._mean_of = label(
            axes, x=-0.02, y=0.045, ha="right", text="mean of", color=BLUE_TEXT, transform=base
        )
        self._names = LaneNames(axes)
        foot: dict[str, Any] = {"y": -0.035, "transform": axes.get_xaxis_transform()}
        self.times = [label(axes, **foot) for _ in range(_WINDOW // _TICK + 1)]
        self.title = label(
            axes, x=0, y=1.04, ha="left", fontsize=LABEL, weight="bold", transform=axes.transAxes
        )

    def arrange(self, narrow: bool) -> None:
        """Show half of the ticks at a time on a narrow page."""
        self._narrow, self._window = narrow, _WINDOW // 2 if narrow else _WINDOW
        self.axes.set_xlim(0, 1.02 * self._window)
        self.axes.set_xlabel(
            "time (ticks); in a bar: "
            f"{'local step' if narrow else 'the local step of the gradient'}"
        )

    def draw(self, rounds: DrawnRounds) -> None:
        start = max(0, -(-(rounds.now - self._window) // _TICK) * _TICK)
        self._draw_bars(rounds, start)
        self.waits.draw(rounds.waits, start, rounds.workers)
        self._draw_updates(rounds, start)
        self._names.draw(rounds.workers, 0, rounds.straggler)
        dated = f"At {counted(rounds.now, 'tick')}: {rounds.event}"
        self.title.set_text(rounds.event.capitalize() if self._narrow else dated)
        for k, words in enumerate(self.times):
            at = k * _TICK
            words.set(x=at, text=f"{start + at:,}", visible=at <= self._window)

    def _draw_bars(self, rounds: DrawnRounds, start: int) -> None:
        began, ended, (low, high) = (
            rounds.began - start,
            rounds.ended - start,
            sides(rounds.worker, rounds.workers),
        )
        lost = rounds.pushed & ~rounds.accepted
        for artist, some in zip(
            self.bars, (rounds.pushed & rounds.accepted, lost, ~rounds.pushed), strict=True
        ):
            artist.set_path(bars(began[some], ended[some], low[some], high[some]))
        numbered = np.flatnonzero(ended - np.maximum(began, 0) > 18)[:_TURNS]  # as wide as a number
        for k, words in enumerate(self.steps):
            words.set_visible(k < len(numbered))
            if k < len(numbered):
                n = numbered[k]
                at = max(began[n], 0) + min(ended[n], self._window)
                words.set(x=at / 2, y=(low[n] + high[n]) / 2, text=f"{rounds.local_step[n]}")
                words.set(color=ORANGE_TEXT if lost[n] else BLACK)
                on_paper(words, bool(lost[n]))
        lost = lost & (ended > 0)
        self._hatching.set_data(
            *hatching(began[lost], ended[lost], low[lost], high[lost], 40, 14).T
        )

    def _draw_updates(self, rounds: DrawnRounds, start: int) -> None:
        times, counts = rounds.updates.T
        seen = times >= start
        x = times[seen] - start
        self.updates.set_data(*segments(x, 0, x, 1))
        self._mean_of.set_visible(len(x) > 0)
        for k, words in enumerate(self.means):
            words.set_visible(k < len(x))
            if k < len(x):
                words.set(x=x[k] - 4, text=f"{counts[seen][k]}")


class _Queue:
    """Gradients that are there for the next update, tokens, and the workers that wait for one."""

    def __init__(self, axes: Any) -> None:
        self.axes = axes
        axes.set_axis_off()
        self.there, self.missing = (
            patch(axes, looks) for looks in (ACCEPTED, {"fc": "none", "ec": OTHER, "ls": "--"})
        )
        self.tokens = moving_line(axes, marker="o", ms=17, mfc="none", mec=BLUE, mew=1.8, ls="none")
        self.waiting = patch(axes, {"fc": "none", "ec": BLACK, "lw": 1.2, "ls": ":"})
        self._arrows = [label(axes, text="→", fontsize=LABEL, color=QUIET) for _ in _COLUMNS[1:]]
        self.heads = [label(axes, ha="left", fontsize=LABEL, weight="bold") for _ in _COLUMNS]
        self.words = [label(axes, ha="left", color=QUIET) for _ in _COLUMNS]
        self.numbers = [[label(axes, weight="bold") for _ in range(_MOST)] for _ in _COLUMNS[1:]]

    def arrange(self, narrow: bool) -> None:
        """Put the three groups side by side, or one below the other."""
        self._at = [(0.0, _ROW * k) if narrow else (x, 0.0) for k, x in enumerate(_COLUMNS)]
        self.axes.set(xlim=(-2, 330 if narrow else 700), ylim=(3 * _ROW if narrow else _ROW, 0))
        for arrow, x in zip(self._arrows, _COLUMNS[1:], strict=True):
            arrow.set(x=x - 30, y=44, visible=not narrow)
        for (x, y), *texts in zip(self._at, self.heads, self.words, strict=True):
            for words, down in zip(texts, (12, 78), strict=True):
                words.set(x=x, y=y + down)

    def draw(self, rounds: DrawnRounds) -> None:
        more = len(rounds.tokens) - _MOST
        there, needed = rounds.count, max(rounds.count, rounds.aggregate)
        self.there.set_path(self._boxes(0, np.arange(there)))
        self.missing.set_path(self._boxes(0, np.arange(there, needed)))
        self.waiting.set_path(self._boxes(2, np.arange(len(rounds.waiting))))
        x, y = self._middle(1, np.arange(min(len(rounds.tokens), _MOST)))
        self.tokens.set_data(x, y)
        heads = f"For update {len(rounds.updates) + 1}", "Tokens", "Waiting for a token"
        for words, head in zip(self.heads, heads, strict=True):
            words.set_text(head)
        said = (
            f"{there} of {counted(rounds.aggregate, 'gradient')}",
            f"and {more} more"
            if more > 0
            else "each is a local step to begin with"
            if rounds.tokens
            else "none",
            "worker" + "s" * (len(rounds.waiting) > 1) if rounds.waiting else "nobody",
        )
        for words, words_said in zip(self.words, said, strict=True):
            words.set_text(words_said)
        for group, numbers in enumerate((rounds.tokens, [who + 1 for who in rounds.waiting]), 1):
            for k, words in enumerate(self.numbers[group - 1]):
                words.set_visible(k < len(numbers))
                if k < len(numbers):
                    at = self._middle(group, np.array([k]))
                    words.set(x=at[0][0], y=at[1][0], text=f"{numbers[k]}")

    def _middle(self, group: int, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x, y = self._at[group]
        return x + _BOX / 2 + _PITCH * k, np.full(len(k), y + 44.0)

    def _boxes(self, group: int, k: np.ndarray) -> Any:
        x, y = self._middle(group, k)
        return bars(x - _BOX / 2, x + _BOX / 2, y - _BOX / 2, y + _BOX / 2)

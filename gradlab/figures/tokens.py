"""Synchronous training: lanes of workers that push and wait for tokens, and the queue the tokens come from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.gridspec import GridSpec
from matplotlib.ticker import NullLocator

from ._lanes import ACCEPTED, DROPPED, IN_HAND, WAITS, LaneNames, Workers, along, patch, sides, text
from ._shapes import Key, bars, hatching
from ._style import BLACK, GREEN, HATCH, NARROW, SMALL, WIDE, moving_line, new_figure, tidy

_WINDOW, _TICK = 900, 100  # ticks shown at a time; between two numbers of the axis
_UPDATE: dict[str, Any] = {"color": GREEN, "lw": 1.8, "ls": "-"}
_TOKEN: dict[str, Any] = {"fc": "none", "ec": BLACK, "lw": 1.4}
_MOST, _TURNS = 8, 60  # boxes in a row; bars that can carry a number


class Rounds(NamedTuple):
    """Gradients of workers up to a time, and where they meet. Arrays are (n,).

    Fields: workers; now, in ticks; worker, began, ended (`now` while it is computed), local_step, pushed, accepted of
    each gradient; waits (w, 3): worker, from, to; updates (u, 2): time and number of gradients; count: gradients that
    are there, aggregate: those an update needs; tokens in the queue; handed_in, accepted_of (workers,).
    """

    workers: int
    now: int
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
    handed_in: np.ndarray
    accepted_of: np.ndarray


class TokensView:
    """Lanes above; below them the gradients and tokens that are there, and what came of each worker's gradients."""

    def __init__(self) -> None:
        self.figure = new_figure(WIDE, 5.2)
        self.lanes, self.queue, workers, key = (self.figure.add_subplot() for _ in range(4))
        tidy(self.lanes, "What each worker does", "time (ticks; a gradient takes about 100)", "worker")
        tidy(self.queue, "What is there", "", "")
        self._workers = Workers(workers)
        self._key = Key(key, (
            (ACCEPTED, "accepted, and its local step"), (DROPPED | {"hatch": "//"}, "dropped"),
            (IN_HAND, "computing"), (WAITS, "waits for a token"), (_UPDATE, "update, mean of how many"),
            (_TOKEN, "needed, or a token"),
        ), moving=True)  # fmt: skip
        self._still()
        self._moving()
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: the queue beside the workers' gradients, or everything in one column."""
        self._window = _WINDOW // 2 if narrow else _WINDOW
        self.lanes.set_xlim(0, 1.02 * self._window)
        self.queue.set_xlim(-5.8 if narrow else -4.6, _MOST + 0.9)  # in boxes, right of the words
        if narrow:
            self.figure.set_size_inches(NARROW, 10.2)
            grid = GridSpec(4, 1, self.figure, height_ratios=(2.4, 1.1, 1.9, 1.5))
            places = [grid[k] for k in range(4)]
        else:
            self.figure.set_size_inches(WIDE, 5.2)
            grid = GridSpec(3, 2, self.figure, height_ratios=(1.7, 1, 0.35), width_ratios=(1.2, 1))
            places = [grid[0, :], grid[1, 0], grid[1, 1], grid[2, :]]
        for axes, place in zip((self.lanes, self.queue, self._workers.axes, self._key.axes), places, strict=True):
            axes.set_subplotspec(place)
        self._key.arrange(1 if narrow else 3, 3.3 if narrow else 7.1)

    def _still(self) -> None:
        self.lanes.set_xticks([])
        self.lanes.xaxis.labelpad = 19
        self.queue.set(ylim=(2, 0), xticks=[])
        self.queue.yaxis.set_major_locator(NullLocator())
        self.queue.grid(False)

    def _moving(self) -> None:
        axes = self.lanes
        self._updates = moving_line(axes, zorder=1.5, **_UPDATE)
        self._bars = [patch(axes, looks) for looks in (ACCEPTED, DROPPED, IN_HAND)]
        self._hatching = moving_line(axes, zorder=2.5, **HATCH)
        self._waits = moving_line(axes, zorder=2.5, **WAITS)
        middle: dict[str, Any] = {"ha": "center", "va": "center", "clip_on": True}
        self._steps = [text(axes, **middle, weight="bold") for _ in range(_TURNS)]
        self._means = [text(axes, y=0.045, ha="right", va="center", color=GREEN, clip_on=True) for _ in range(_TURNS)]
        self._names = LaneNames(axes)
        axes.yaxis.labelpad = 24  # the panel is wide, so its names stand far out
        foot: dict[str, Any] = {"y": -0.02, "va": "top", "ha": "center", "transform": axes.get_xaxis_transform()}
        self._times = [text(axes, **foot) for _ in range(_WINDOW // _TICK + 1)]
        self._there, self._asked = patch(self.queue, ACCEPTED), patch(self.queue, _TOKEN)
        left: dict[str, Any] = {"x": 0.01, "transform": self.queue.get_yaxis_transform()}
        self._words = [text(self.queue, y=k + 0.5, va="center", fontsize=SMALL, **left) for k in range(2)]
        self._tokens = [text(self.queue, y=1.5, ha="center", va="center", fontsize=SMALL) for _ in range(_MOST)]
        self._rest = text(self.queue, x=_MOST + 0.15, y=1.5, va="center", fontsize=SMALL)

    def draw(self, rounds: Rounds) -> None:
        """Set the moving artists."""
        start = max(0, -(-(rounds.now - self._window) // _TICK) * _TICK)
        self._draw_bars(rounds, start)
        self._draw_updates(rounds, start)
        self._draw_queue(rounds)
        self._workers.draw(rounds.handed_in, rounds.accepted_of, np.zeros(rounds.workers, bool))
        self._names.draw(rounds.workers)
        pushed, taken = rounds.pushed, rounds.accepted[rounds.pushed]
        self._key.show(taken.any(), (~taken).any(), (~pushed).any(), len(rounds.waits), len(rounds.updates), True)
        for k, words in enumerate(self._times):
            at = k * _TICK
            words.set(x=at, text=f"{start + at}", visible=at <= self._window)

    def _draw_bars(self, rounds: Rounds, start: int) -> None:
        began, ended, (low, high) = rounds.began - start, rounds.ended - start, sides(rounds.worker, rounds.workers)
        lost = rounds.pushed & ~rounds.accepted
        for artist, some in zip(self._bars, (rounds.pushed & rounds.accepted, lost, ~rounds.pushed), strict=True):
            artist.set_path(bars(began[some], ended[some], low[some], high[some]))
        lost &= ended > 0
        self._hatching.set_data(*hatching(began[lost], ended[lost], low[lost], high[lost], 40, 14).T)
        numbered = np.flatnonzero(ended - np.maximum(began, 0) > 18)[:_TURNS]  # as wide as a number
        for k, words in enumerate(self._steps):
            words.set_visible(k < len(numbered))
            if k < len(numbered):
                n = numbered[k]
                at = max(began[n], 0) + min(ended[n], self._window)
                words.set(x=at / 2, y=(low[n] + high[n]) / 2, text=f"{rounds.local_step[n]}")
        who, since, until = rounds.waits.T
        self._waits.set_data(*along(who, since - start, until - start, rounds.workers))

    def _draw_updates(self, rounds: Rounds, start: int) -> None:
        times, counts = rounds.updates.T
        seen = times >= start
        x = times[seen] - start
        self._updates.set_data(np.stack([x, x, np.full(len(x), np.nan)], axis=1).ravel(), [0, 1, np.nan] * len(x))
        for k, words in enumerate(self._means):
            words.set_visible(k < len(x))
            if k < len(x):
                words.set(x=x[k] - 4, text=f"{counts[seen][k]}")

    def _draw_queue(self, rounds: Rounds) -> None:
        there, tokens = np.arange(min(rounds.count, _MOST)), rounds.tokens[:_MOST]
        self._there.set_path(bars(there + 0.06, there + 0.94, 0.18, 0.82))
        boxes = [(k, 0) for k in range(rounds.aggregate)] + [(k, 1) for k in range(len(tokens))]
        x, y = np.array(boxes).reshape(-1, 2).T
        self._asked.set_path(bars(x + 0.06, x + 0.94, y + 0.18, y + 0.82))
        self._words[0].set_text(f"{rounds.count} of {rounds.aggregate} gradients")
        self._words[1].set_text("tokens" if tokens else "no token")
        self._rest.set_text("…" if len(rounds.tokens) > _MOST else "")
        for k, words in enumerate(self._tokens):
            words.set_visible(k < len(tokens))
            if k < len(tokens):
                words.set(x=k + 0.5, text=f"{tokens[k]}")

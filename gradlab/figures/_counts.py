"""What came of gradients, counted: of each worker's, and of those of each age."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.ticker import FuncFormatter

from ._bars import bars, hatching
from ._lanes import ACCEPTED, DROPPED, LIMIT, MOST_WORKERS, RECORDED, LaneNames, patch, sides, text
from ._style import FAINT, moving_line, percent_ticks, tidy

OLDEST = 15  # staleness from here on is one bar


class Workers:
    """A bar for each worker: as long as what it handed in, filled as far as it was accepted."""

    def __init__(self, axes: Any) -> None:
        self.axes = tidy(axes, "Handed in, accepted", "gradients", "worker")
        axes.set(xlim=(0, 26), xticks=range(0, 26, 5))
        self._given, self._taken = patch(axes, DROPPED), patch(axes, ACCEPTED)
        self._hatching = moving_line(axes, color=FAINT, lw=0.9, zorder=2.5)
        self._names = LaneNames(axes)
        self._counts = [text(axes, va="center", fontsize=9) for _ in range(MOST_WORKERS)]

    def draw(self, given: np.ndarray, taken: np.ndarray, starving: np.ndarray) -> None:
        """Arrays (workers,): gradients handed in, those accepted, and who starves."""
        workers = len(given)
        low, high = sides(np.arange(workers), workers)
        self._taken.set_path(bars(0, taken[taken > 0], low[taken > 0], high[taken > 0]))
        lost = given > taken
        rest = taken[lost], given[lost], low[lost], high[lost]
        self._given.set_path(bars(*rest))
        self._hatching.set_data(*hatching(*rest, lean=3.5, apart=1.3).T)
        for k, words in enumerate(self._counts):
            words.set_visible(k < workers)
            if k < workers:
                starves = bool(starving[k])
                words.set(x=given[k] + 0.6, y=(low[k] + high[k]) / 2, weight="bold" if starves else "normal")
                words.set_text(f"{taken[k]} of {given[k]}" + "\n✗ starves" * starves)
        self._names.draw(workers)


class Ages:
    """The share of every staleness, the true one as bars and the recorded one as marks."""

    def __init__(self, axes: Any) -> None:
        self.axes = tidy(axes, "Staleness of what was handed in", "staleness (updates since the read)", "share")
        axes.set(xlim=(-0.7, OLDEST + 0.7), ylim=(0, 1.05), xticks=range(0, OLDEST + 1, 3), yticks=(0, 0.5, 1))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"$\\geq$ {x:g}" if x == OLDEST else f"{x:g}"))
        percent_ticks(axes.yaxis)
        self._taken, self._lost = patch(axes, ACCEPTED), patch(axes, DROPPED)
        self._hatching = moving_line(axes, color=FAINT, lw=0.9, zorder=2.5)
        self._recorded = moving_line(axes, zorder=3, **RECORDED)
        self._limit = moving_line(axes, **LIMIT)

    def draw(self, true: np.ndarray, recorded: np.ndarray, accepted: np.ndarray, limit: int | None) -> None:
        """Staleness (n,) of what was handed in, true and recorded, what was accepted, and up to which staleness."""
        taken, lost, noted = (_shares(ages, len(true)) for ages in (true[accepted], true[~accepted], recorded))
        at = np.flatnonzero(taken)
        self._taken.set_path(bars(at - 0.4, at + 0.4, 0, taken[at]))
        at = np.flatnonzero(lost)
        rest = at - 0.4, at + 0.4, taken[at], (taken + lost)[at]
        self._lost.set_path(bars(*rest))
        self._hatching.set_data(*hatching(*rest, lean=0.8, apart=0.4).T)
        self._recorded.set_data(np.flatnonzero(noted), noted[noted > 0])
        self._limit.set_data(*([[], []] if limit is None else [[limit + 0.5] * 2, [0, 1]]))


def _shares(ages: np.ndarray, of: int) -> np.ndarray:
    """How large a part has each age."""
    return np.bincount(ages.clip(0, OLDEST), minlength=OLDEST + 1) / max(1, of)

"""Where NaN and Inf came up in a recorded run: when, and in which tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from ._style import NARROW, ORANGE, WIDE, new_figure, tidy
from .run_rows import short

MOST_ROWS = 12


def nonfinite_figure(
    count: np.ndarray, step: np.ndarray, until: int, names: Sequence[str], narrow: bool = False
) -> Any:
    """Counts (buckets, tensors) of entries that are NaN or Inf, beginning at step (buckets,), of `until` steps."""
    hit = np.flatnonzero(count.any(axis=0))[:MOST_ROWS]
    figure = new_figure(NARROW if narrow else WIDE, 1.2 + 0.24 * max(len(hit), 2))
    axes = tidy(figure.add_subplot(), "NaN or Inf", "training step", "")
    for line, tensor in enumerate(hit):
        when = step[count[:, tensor] > 0]
        axes.plot(when, np.full(len(when), line), "x", ms=6, mew=1.6, color=ORANGE)
    axes.set(xlim=(-0.01 * until - 0.5, 1.01 * until + 0.5), ylim=(max(len(hit), 2) - 0.4, -0.6))
    axes.set_yticks(range(len(hit)), [short(names[k]) for k in hit])
    axes.xaxis.set_major_locator(MaxNLocator(4 if narrow else 8, integer=True))
    return figure

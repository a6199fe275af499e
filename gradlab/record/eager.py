"""One step on the host, as fast as NumPy goes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .._arrays import quiet
from .layout import Layout
from .measure import flat, measure, together
from .rows import Columns


@quiet
def one_step(layout: Layout, number: int, tensors: Sequence[np.ndarray], scalars: Sequence[float]) -> Columns:
    """The row of step `number`; `scalars` are seconds and the layout's own, NaN where there is none.

    What `rows.from_steps` says in arrays is said in Python's floats here: calls of NumPy are what a step costs.
    """
    norms, largest, nonfinite = zip(*map(measure, tensors), strict=True)
    overall = math.hypot(*norms)
    if math.isfinite(overall):
        lead = max(norms)
    else:
        overall, lead = float(together(np.array(norms, np.float32))), float(np.max(norms))
    norm = np.array([[*norms, overall, lead]], np.float32)
    entry = np.concatenate([flat(g)[p] for g, p in zip(tensors, layout.places, strict=True)])[None]
    mean = np.array([scalars], np.float32)
    return {
        "norm": norm,
        "norm_low": norm,
        "largest": np.array([largest], np.float32),
        "nonfinite": np.array([nonfinite], np.int32),
        "square": entry * entry,
        "entry": entry,
        "peak": np.array([number], np.int32),
        "mean": mean,
        "count": (mean == mean).astype(np.int32),
    }

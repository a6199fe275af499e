"""A recording tensor by tensor: how large norms are over the run, who makes up the global norm, who is of one layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._base.arrays import quiet
from . import spectrum

if TYPE_CHECKING:
    from .recording import Recording


def percentiles(rec: Recording, percents: Sequence[float]) -> np.ndarray:
    """(percents, tensors) norms that so many per cent of a tensor's steps do not exceed; 0 for one without any norm.

    Of finite norms above 0. Exact where each row is a step; of merged rows to an eighth of an octave.
    """
    if rec.stride > 1:
        return np.array([[spectrum.percentile(counts, p) for counts in rec.norm_counts[:-2]] for p in percents])
    norms = rec["norm"].astype(np.float64)
    norms = np.where(np.isfinite(norms) & (norms > 0), norms, np.nan)
    found = np.zeros((len(percents), norms.shape[1]))
    there = np.isfinite(norms).any(axis=0)
    found[:, there] = np.nanpercentile(norms[:, there], percents, axis=0)
    return found


@quiet
def parts(rec: Recording, rows: np.ndarray) -> np.ndarray:
    """(tensors,) each tensor's part of the squared global norm, in the mean over some rows; 0 if there are none."""
    squares = rec["norm"][rows].astype(np.float64) ** 2
    share = squares / squares.sum(axis=1, keepdims=True)
    share = share[np.isfinite(share).all(axis=1)]
    return share.mean(axis=0) if len(share) else np.zeros(len(rec.names))


def layer_of(name: str) -> str:
    """The layer a tensor is of: its name without the last part.

    >>> layer_of("encoder/3/w"), layer_of("layers.0.weight"), layer_of("embed")
    ('encoder/3', 'layers.0', 'embed')
    """
    cut = max(name.rfind("/"), name.rfind("."))
    return name[:cut] if cut > 0 else name

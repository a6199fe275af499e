"""How long the steps of a recorded run took."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .recording import Recording


def durations(rec: Recording) -> np.ndarray:
    """See `Recorder.durations`."""
    seconds = rec["seconds"][1:].astype(np.float64)
    return seconds[np.isfinite(seconds) & (seconds > 0)]

"""Predictions of the notebook on your own run."""

from __future__ import annotations

import numpy as np

from ..figures.prediction import Quantity
from ..models import char_rnn
from .prediction import Prediction

_STEPS, _PERCENTILE = np.array([5, 10, 20, 30, 50, 75, 100, 150, 200]), 95.0


class Share(Prediction):
    """How often does a limit fire that was chosen from the beginning of a run?"""

    name, label = "your_run.share", "Predict how long to record"
    question = "Of n norms you take the 95th percentile as limit. On what share of the later steps does it fire?"
    x = Quantity("steps recorded", "", 5.0, 200.0, "log", ticks=(5, 10, 20, 50, 100, 200))
    y, step = Quantity("later steps clipped", "%", 0.0, 100.0, ticks=(0, 25, 50, 75, 100)), 1.0
    at = (5.0, 10.0, 20.0, 50.0, 100.0, 200.0)

    def truth(self, x: np.ndarray) -> np.ndarray:
        norms = char_rnn.shipped()[3.0].global_norm.astype(float)
        shares = [100 * np.mean(~(norms[n:] <= np.percentile(norms[:n], _PERCENTILE))) for n in _STEPS]
        return np.interp(x, _STEPS, shares)

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if np.ptp(guess) < 5:
            return "It would be 5 % throughout if the norms of a run stayed as they begin. They drift."
        if guess[-1] > guess[0]:
            return (
                "The other way: in this run norms are small at first, and a limit made of them is too low for the rest."
            )
        if guess[0] < 25:
            return "The first steps say little: a limit made of five of them fires on nearly every second step later."
        if guess[-1] > 5:
            return "This run calms down: in the end a limit that holds for the first half never fires."
        return "From the start of a run a limit comes out wrong by far; record some hundred steps before you choose."

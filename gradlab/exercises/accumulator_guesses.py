"""Predictions of the notebook on accumulators."""

from __future__ import annotations

import numpy as np

from ..figures.prediction import Quantity
from ..workers.spare_workers import WORKERS, time_to_collect
from .prediction import Prediction


class Collect(Prediction):
    """How long does a round take that needs only the k fastest of sixteen workers?"""

    name, label = "accumulators.collect", "Predict the time of a round"
    question = "Sixteen workers, now and then one stalls. How long until k gradients are there?"
    x = Quantity("gradients needed", "of 16", 1.0, 16.0)
    y, step = Quantity("time of a round, 16 of 16 = 100", "%", 0.0, 100.0, ticks=(0, 25, 50, 75, 100)), 1.0
    at = (1.0, 4.0, 8.0, 12.0, 14.0, 15.0, 16.0)

    def truth(self, x: np.ndarray) -> np.ndarray:
        collected = time_to_collect()
        return np.interp(x, np.arange(1, WORKERS + 1), 100 * collected / collected[-1])

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if np.ptp(guess) < 15:
            return (
                "The last one is late far more often than any one is: a stall of one in fifty hits one round in four."
            )
        if guess[0] < 25:
            return "Even the fastest needs its time, a third of the round. It is the last worker that costs."
        if guess[4] > 70:
            return "It is the very last that costs: with one or two workers to spare most stalls are left behind."
        return "Flat, then steep: to wait for the very last of sixteen doubles the round."

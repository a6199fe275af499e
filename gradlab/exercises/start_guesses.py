"""Predictions of the first notebook."""

from __future__ import annotations

import numpy as np

from ..figures.prediction import Quantity
from ..workers.problems import Reader as Model
from .prediction import Prediction


class Reader(Prediction):
    """What share of new lines does a model get right after so many steps?"""

    name, label = "start.reader", "Predict how fast the reader learns"
    question = "Of lines it has not seen, what share does the reader get right?"
    x = Quantity("step", "", 1.0, 256.0, "log", ticks=(1, 4, 16, 64, 256))
    y, step = Quantity("lines with the right topic", "%", 0.0, 100.0, ticks=(0, 25, 50, 75, 100)), 1.0
    at = (1.0, 4.0, 16.0, 64.0, 256.0)

    def truth(self, x: np.ndarray) -> np.ndarray:
        model, rng = Model(), np.random.default_rng(0)  # as in the notebook's loop
        weights, right = model.start(), []
        for _ in range(int(max(self.at))):
            gradient = model.gradient(weights, rng)
            weights = {name: w - gradient[name] for name, w in weights.items()}
            right.append(100 * model.accuracy(weights))
        return np.interp(x, np.arange(1, len(right) + 1), right)

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if guess[-1] < guess[0]:
            return "It learns, so the curve rises."
        if guess[0] < 13:
            return "Whoever guesses gets one line in eight, and whoever names the longest topic for all, one in four."
        if guess[-1] > 85:
            return "Some lines hold no word that tells: four in ten are still wrong after 256 steps."
        if guess[2] > 60:
            return "Not that soon. Frequent words come first and tell little; the words that tell are rare."
        return "Quick, then slow: the words that tell a topic are rare, and each has to come by."

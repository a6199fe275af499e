"""Predictions of the first notebook."""

from __future__ import annotations

import numpy as np

from .. import word_topics
from ..figures.prediction import Quantity
from ..rules import StochasticGradientDescent
from .prediction import Prediction


class Reader(Prediction):
    """What share of new lines does a model get right after so many steps?"""

    name, label = "start.reader", "Predict how fast the reader learns"
    question = "Of lines it has not seen, what share does the reader get right?"
    x = Quantity("step", "", 1.0, 256.0, "log", ticks=(1, 4, 16, 64, 256))
    y, step = Quantity("lines with the right topic", "%", 0.0, 100.0, ticks=(0, 25, 50, 75, 100)), 1.0
    at = (1.0, 4.0, 16.0, 64.0, 256.0)

    def truth(self, x: np.ndarray) -> np.ndarray:
        right = word_topics.train(StochasticGradientDescent(), 0.1).right
        return np.interp(x, np.arange(len(right)), 100 * right)

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if guess[-1] < guess[0]:
            return "It learns, so the curve rises."
        if guess[0] < 13:
            return (
                "Whoever guesses gets one line in eight; the longest topic has more than that, and one step finds it."
            )
        if guess[-1] > 85:
            return "Some lines hold no word that tells: a third of them stays wrong after one pass over the text."
        if guess[2] > 60:
            return "Not that soon. Frequent words come first and tell little; the words that tell are rare."
        return "Quick, then slow: the words that tell a topic are rare, and each has to come by."

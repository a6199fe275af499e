"""Predictions of the notebook on TPU embeddings."""

from __future__ import annotations

import re
from functools import cache

import numpy as np

from ..figures.prediction import Quantity
from ..models.datasets import python_docs
from .prediction import Prediction


class Distinct(Prediction):
    """How many of the ids of a batch are different ones?"""

    name, label = "tpu_embeddings.distinct", "Predict the distinct ids"
    question = "Of the first n words of a text, how many are different?"
    x = Quantity("words in the batch", "", 10.0, 50_000.0, "log")
    y, step = Quantity("different words", "%", 0.0, 100.0, ticks=(0, 25, 50, 75, 100)), 1.0
    at = (10.0, 100.0, 1000.0, 5000.0, 50_000.0)

    def truth(self, x: np.ndarray) -> np.ndarray:
        return np.interp(x, np.arange(1, len(_seen()) + 1), 100 * _seen() / np.arange(1, len(_seen()) + 1))

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if guess[-1] > guess[0]:
            return "The more words, the more of them were there before: the share falls."
        if guess[-1] > 30:
            return "It falls much further: a few words are everywhere, and the next word is mostly one of them."
        if guess[2] < 15:
            return "Not that soon: most words are rare, and new ones keep coming."
        return "Each row is fetched once for all of its lookups: the larger the batch, the more that saves."


@cache
def _seen() -> np.ndarray:
    """How many different words the first n words of Python's documentation have, for n = 1, 2, ..."""
    codes, alphabet = python_docs()
    words = re.findall(r"[a-z_]+", "".join(alphabet[c] for c in codes).lower())
    _, first = np.unique(np.array(words), return_index=True)
    new = np.zeros(len(words), int)
    new[first] = 1
    return np.cumsum(new)

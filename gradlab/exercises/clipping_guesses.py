"""Predictions of the clipping notebook."""

from __future__ import annotations

import numpy as np

from ..clip import clip_by_value, clip_report
from ..figures.prediction import Quantity
from ..models import char_rnn
from .prediction import Prediction


class Share(Prediction):
    """On what share of the steps of a real run does a limit fire?"""

    name, label = "clipping.share", "Predict the share of clipped steps"
    question = "On what share of 300 steps does a limit fire?"
    x = Quantity("limit", "", 0.01, 1000.0, "log")
    y, step = Quantity("steps clipped", "%", 0.0, 100.0, ticks=(0, 50, 100)), 1.0
    at = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)

    def truth(self, x: np.ndarray) -> np.ndarray:
        run = char_rnn.shipped()[None]
        return np.array([100 * run.what_if(clip_global_norm=float(limit)).fraction_fired for limit in x])

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if guess[-1] > guess[0]:
            return "A higher limit fires less often: the curve is the share of norms above the limit, so it falls."
        if guess[0] < 50:
            return "A limit below every norm fires on every step: on the left the curve begins at 100 %."
        if np.diff(guess).min() > -40:
            return "The fall is steep: 8 norms in 10 lie between 3 and 10; below, a limit fires on nearly every step."
        if np.diff(guess).argmin() != np.diff(truth).argmin():
            return "The fall is where the norms are, between 3 and 10: record them before you choose a limit."
        return "You have the place of the fall. What is left beyond it are the few explosions that clipping is for."


class Turn(Prediction):
    """How far does clipping by value turn a gradient, whatever its direction?"""

    name, label = "clipping.turn", "Predict the turn"
    question = "How far does clipping each entry to 2 turn a gradient of norm 5?"
    x = Quantity("direction", "degrees", 0.0, 90.0, ticks=(0, 30, 60, 90))
    y, step = Quantity("turn", "degrees", 0.0, 45.0, ticks=(0, 15, 30, 45)), 0.5
    at = tuple(range(0, 91, 9))

    def truth(self, x: np.ndarray) -> np.ndarray:
        before = 5 * np.stack([np.cos(np.radians(x)), np.sin(np.radians(x))], axis=1).astype(np.float32)
        return np.array([clip_report([g], [clip_by_value(g, -2.0, 2.0)]).angle for g in before])

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if guess.max() < 5:
            return "It does turn: the longer entry is cut and the shorter one is not."
        if guess[5] > 5:
            return "At 45 degrees both entries are cut alike, so there the gradient keeps its direction."
        if max(guess[0], guess[-1]) > 5:
            return "Along an axis only one entry is there to be cut: the gradient gets shorter and does not turn."
        return "No turn along an axis or on the diagonal; in between the clip pulls the gradient to the diagonal."


class Spikes(Prediction):
    """On how many steps of a real run is the norm far above the median?"""

    name, label = "clipping.spikes", "Predict the number of spikes"
    question = "On how many of 300 steps is the norm over ten times the median?"
    y, step = Quantity("steps over ten times the median", "steps", 1.0, 300.0, "log"), 1.0

    def truth(self, x: np.ndarray) -> int:
        norms = char_rnn.shipped()[None].global_norm
        return int((norms > 10 * np.median(norms)).sum())

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if guess[0] > 3 * truth[0]:
            return "Spikes are rare. That makes them hard to see in a curve of averages, and clipping worth having."
        return "A handful: easily missed in a curve of averages, and one is enough to throw away what was learned."

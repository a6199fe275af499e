"""Predictions of the three-steps notebook."""

from __future__ import annotations

import numpy as np

from .._variables.variable import Variable, variable_collection
from ..figures.prediction import Quantity
from ..train import MomentumOptimizer
from .prediction import Prediction

_STEPS = 30


class Coast(Prediction):
    """How far does momentum carry a variable whose gradient is zero from the second step on?"""

    name, label = "three_steps.coast", "Predict where momentum goes"
    question = (
        "Momentum 0.9. The gradient is 1 in step 1 and 0 ever after. How far has the variable moved by each step?"
    )
    x = Quantity("step", "", 1.0, _STEPS)
    y, step = Quantity("distance", "first steps", 0.0, 15.0), 0.1
    at = (1, 5, 10, 15, 20, 25, 30)

    def truth(self, x: np.ndarray) -> np.ndarray:
        with variable_collection():
            v, opt, moved = Variable([0.0], name="v"), MomentumOptimizer(1.0, 0.9), []
            for step in range(_STEPS):
                opt.apply_gradients([([0.0 if step else 1.0], v)])
                moved.append(-float(v.numpy()[0]))
        return np.interp(x, np.arange(1, _STEPS + 1), moved)

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if np.ptp(guess) < 1:
            return (
                "Zero is a gradient, and not None: the slot shrinks to 0.9 of itself and moves the variable each time."
            )
        if guess[-1] < guess.max() - 1:
            return "Nothing pulls it back: a gradient of zero asks for nothing, and the slot keeps its sign."
        if guess[-1] > 12:
            return "It comes to rest: every step is 0.9 of the one before, and 1 + 0.9 + 0.81 + ... is 10."
        return "It coasts ten times as far as its first step, 1 / (1 - 0.9). With None it would have stayed at 1."

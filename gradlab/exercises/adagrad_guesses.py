"""Predictions of the Adagrad notebook."""

from __future__ import annotations

import numpy as np

from ..figures.prediction import Quantity
from ..rules import Adagrad
from .prediction import Prediction


class Rate(Prediction):
    """What is left of the learning rate after many steps of one gradient?"""

    name, label = "adagrad.rate", "Predict the effective rate"
    question = "The gradient is 1 on every step. How large is Adagrad's step?"
    x = Quantity("step", "", 1.0, 1000.0, "log")
    y, step = Quantity("step length over learning rate", "%", 0.0, 100.0, ticks=(0, 25, 50, 75, 100)), 1.0
    at = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)

    def truth(self, x: np.ndarray) -> np.ndarray:
        rule, w = Adagrad(), np.zeros(1)
        slots, lengths = rule.init(w), []
        for _ in range(int(x.max())):
            before = w
            w, slots = rule(w, slots, np.ones(1), 1.0)
            lengths.append(100 * float((before - w)[0]))
        return np.interp(x, np.arange(1, len(lengths) + 1), lengths)

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if guess[-1] > guess[0]:
            return "The accumulator only grows, so the step only shrinks: the curve falls."
        if np.ptp(guess) < 20:
            return "It does not stay: after k steps the accumulator is about k, and the step is divided by its root."
        if guess[2] < 10:
            return "Not that fast. After k steps the accumulator is about k, but the step is divided by the root of it."
        if guess[-1] > 15:
            return "It falls further: one over the root of 1000 is 3 %. Adagrad slows down, but its steps still add up."
        return "One over the root of the number of steps: never zero, and the sum of all steps has no bound."


class Ratio(Prediction):
    """How much larger is the step of a weight whose gradient comes once in a hundred steps?"""

    name, label = "adagrad.rare", "Predict the rate of a rare feature"
    question = "A feature is 100 times rarer. How many times larger is its rate?"
    y, step = Quantity("how many times larger", "times", 1.0, 1000.0, "log"), None

    def truth(self, x: np.ndarray) -> float:
        rule, often_and_once = Adagrad(), np.array([[1.0, float(k % 100 == 0)] for k in range(10_000)])
        w = np.zeros(2)
        slots = rule.init(w)
        for g in often_and_once:
            w, slots = rule(w, slots, g, 1.0)
        often, once = rule.root(slots[0])
        return float(often / once)

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if guess[0] < 2:
            return "Each weight has its own accumulator, and that of a rare feature has grown less."
        if guess[0] > 50:
            return "Its accumulator is 100 times smaller, but what divides the step is the root of it."
        return "The root of 100. In total the rare feature still moves less: 100 times fewer steps, 10 times longer."

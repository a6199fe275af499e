"""Predictions of the notebook on stale gradients."""

from __future__ import annotations

import numpy as np

from ..figures.prediction import Quantity
from ..workers import Bowl, Experiment, Speeds
from ..workers.simulated import decide
from .prediction import Prediction


def _accepted(experiment: Experiment, worker: int | None = None) -> float:
    """The percentage of gradients that are accepted, of all workers or of one."""
    trace = decide(experiment)
    chosen = trace.accepted if worker is None else trace.accepted[trace.rounds["worker"] == worker]
    return 100 * float(chosen.mean())


class Accepted(Prediction):
    """What share of the gradients of eight workers is accepted, by the limit on staleness?"""

    name, label = "staleness.accepted", "Predict the share of accepted gradients"
    question = "Eight workers of like speed. What share of their gradients is accepted?"
    x = Quantity("limit on staleness", "updates", 0.0, 12.0)
    y, step = Quantity("accepted gradients", "%", 0.0, 100.0, ticks=(0, 25, 50, 75, 100)), 1.0
    at = (0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0)

    def truth(self, x: np.ndarray) -> np.ndarray:
        one = Experiment(Bowl(), workers=8, gradients=2000, policy="drop")
        limits = np.arange(13)
        return np.interp(x, limits, [_accepted(one.with_(staleness=int(s))) for s in limits])

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if guess[0] > 60:
            return "With limit 0 a gradient is lost whenever anybody else was faster since the read: most are."
        if guess[-1] < 90:
            return "While one worker computes, the seven others hand in about one gradient each: hardly any is staler."
        if guess[3] < 60:
            return "About seven updates come while one worker computes, so a limit near seven keeps five of six."
        return "Drops make the others less stale, so more get through than one might fear."


class Straggler(Prediction):
    """What share of the gradients of a worker four times slower than its seven peers is accepted?"""

    name, label = "staleness.straggler", "Predict the straggler's share"
    question = "One worker of eight is four times slower; the limit is 8. Its share accepted?"
    y, step = Quantity("its gradients that are accepted", "%", 0.0, 100.0, ticks=(0, 25, 50, 75, 100)), 1.0

    def truth(self, x: np.ndarray) -> float:
        slow = Speeds(slow={0: 4.0})
        return _accepted(Experiment(Bowl(), workers=8, gradients=2000, staleness=8, speeds=slow), worker=0)

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if guess[0] > 15:
            return (
                "While it computes once, the seven others hand in 28 gradients. Its own is always too old: it starves."
            )
        return "It starves: all it computes is thrown away, and if its data differs from the others', nobody learns it."

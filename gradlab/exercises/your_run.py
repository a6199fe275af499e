"""Questions and predictions of the notebook on your own run."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._base.numbers import number
from ..models import char_rnn
from .pictures import levels
from .prediction import Prediction
from .prediction_picture import Quantity
from .questions import Choice, Coded

before = Choice(
    "A recorder is attached after the clip: what does it show?",
    a=(False, "It is handed the gradients that the clip gives. Which norms can these have?"),
    b=(
        True,
        "It sees what is left: every norm at most the limit, and many steps exactly at the limit. "
        "The original norms are lost, so record before you clip.",
    ),
    c=(False, "It records whatever it is handed, clipped or not."),
)

counterfactual = Choice(
    "what_if says that limit 1 would have fired on 30% of the steps. Had you "
    "trained with it, on how many?",
    a=(
        False,
        (
            "From the first clipped step on, the weights differ. Are the gradients at other "
            "weights the same?"
        ),
    ),
    b=(
        True,
        "The first clip changes the weights, and every gradient after it. what_if is exact for "
        "the recorded gradients and a guess about another run: train once more with the limit, "
        "and record again.",
    ),
    c=(
        False,
        "It did in 02_clipping: a run trained with limit 1 exploded less. Is that guaranteed?",
    ),
)

NAN, INF = float("nan"), float("inf")


def _draw_norms(rng: np.random.Generator) -> np.ndarray:
    norms = np.round(rng.lognormal(0.0, 1.0, 9), 3)
    norms[rng.choice(9, 3, replace=False)] = [np.inf, np.nan, 0.0]
    return norms


def _draw_fired(rng: np.random.Generator) -> dict[str, Any]:
    return {"norms": _draw_norms(rng), "limit": float(rng.uniform(0.3, 3.0))}


fired = Coded(
    question="Write the share of the steps on which a limit fires, from the norms of all steps.",
    cases=[
        {"norms": np.array([0.5, 2.0, 3.0, 0.1]), "limit": 1.0},
        {"norms": np.array([1.0, 4.0, 2.0, 2.0, 9.0]), "limit": 2.0},
        {"norms": np.array([0.5, INF, NAN, 3.0]), "limit": 5.0},
    ],
    right=lambda norms, limit: np.mean(~(norms <= limit)),
    mistakes=(
        (
            lambda norms, limit: np.mean(norms < limit),
            "The other way round: that is the share it leaves alone.",
        ),
        (
            lambda norms, limit: np.mean(norms <= limit),
            "The other way round: that is the share it leaves alone.",
        ),
        (
            lambda norms, limit: np.sum(~(norms <= limit)),
            "That is the number of steps. A share is between 0 and 1.",
        ),
        (
            lambda norms, limit: 100 * np.mean(~(norms <= limit)),
            "That is in percent. A share is between 0 and 1.",
        ),
        (
            lambda norms, limit: np.mean(~(norms < limit)),
            "A norm equal to the limit is not over it: such a step stays as it is.",
        ),
        (
            lambda norms, limit: np.mean(norms > limit),
            (
                "NaN > limit is False, so a step whose norm is NaN looks as if it had been left "
                "alone. It was not."
            ),
        ),
        (
            lambda norms, limit: np.mean(norms[np.isfinite(norms)] > limit),
            "The steps that hold Inf or NaN are left out. The limit fires on them, so they count. "
            "A clip can't mend such a step, though: skip it.",
        ),
        (
            lambda norms, limit: float(np.mean(norms) > limit),
            (
                "That compares the mean of the norms with the limit. Compare "
                "each norm, then take the mean."
            ),
        ),
    ),
    otherwise=lambda got, norms, limit: (
        f"Count the steps that limit {number(limit)} does not leave alone; divide by all "
        f"{len(norms)}."
    ),
    done="It agrees with what_if on 3 recordings, one with Inf and NaN in it.",
    show=levels("norms", lambda wanted, given, norms, limit: [("limit", limit)], "norm", "share"),
    starter="""
def share_fired(norms, limit):
    return 0.0
""",
    solution="""
def share_fired(norms, limit):
    return np.mean(~(norms <= limit))
""",
    draw=_draw_fired,
)


def _percentile(norms: np.ndarray, percentile: float) -> Any:
    return np.percentile(norms[np.isfinite(norms) & (norms > 0)], percentile)


# Where a percentile stands in the sorted norms, as people write it.
PLACES: tuple[Callable[[int, float], int], ...] = (
    lambda count, p: int(count * p / 100),
    lambda count, p: int((count - 1) * p / 100),
    lambda count, p: round((count - 1) * p / 100),
    lambda count, p: math.ceil((count - 1) * p / 100),
)


def _picked(
    place: Callable[[int, float], int], every: bool = False
) -> Callable[[np.ndarray, float], Any]:
    """One of the norms, by its place; of `every` norm, or of those that are finite and above 0."""

    def picked(norms: np.ndarray, percentile: float) -> Any:
        norms = np.sort(norms if every else norms[np.isfinite(norms) & (norms > 0)])
        return norms[min(place(len(norms), percentile), len(norms) - 1)]

    return picked


def _draw_suggest(rng: np.random.Generator) -> dict[str, Any]:
    return {"norms": _draw_norms(rng), "percentile": float(rng.integers(10, 95))}


suggest = Coded(
    question="Write a suggestion for a limit: a percentile of the norms that are finite and not 0.",
    cases=[
        {"norms": np.array([4.0, 1.0, 2.0, 3.0, 7.0]), "percentile": 75.0},
        {"norms": np.array([2.0, INF, 1.0, 8.0, NAN, 7.0]), "percentile": 60.0},
        {"norms": np.array([0.0, 0.0, 3.0, 7.0, 0.0, 4.0]), "percentile": 90.0},
    ],
    right=_percentile,
    mistakes=(
        (
            lambda norms, percentile: np.percentile(norms[np.isfinite(norms)], percentile),
            (
                "Norms of 0 are among these: a step without a gradient says "
                "nothing about typical norms."
            ),
        ),
        (
            lambda norms, percentile: np.percentile(norms, percentile),
            "NaN and Inf are among these norms, and no percentile of them is a limit.",
        ),
        (
            lambda norms, percentile: np.nanpercentile(norms, percentile),
            "NaN is left out, Inf isn't. Keep only norms that are finite and above 0.",
        ),
        (
            lambda norms, percentile: np.max(norms),
            "That is the largest norm: a limit there never fires.",
        ),
        (
            lambda norms, percentile: np.mean(norms),
            "That is the mean, which a single explosion dominates.",
        ),
        (
            lambda norms, percentile: np.mean(norms) + 2 * np.std(norms),
            (
                "That suits a bell curve. Norms have a long tail, and one explosion moves the "
                "mean and the deviation."
            ),
        ),
        (
            lambda norms, percentile: np.median(norms),
            "That is the median: a limit there fires on half of the steps.",
        ),
        (
            lambda norms, percentile: _percentile(norms, 100 - percentile),
            "The other end: that is so small that most steps are clipped.",
        ),
        (
            lambda norms, percentile: _percentile(norms, percentile / 100),
            "np.percentile takes 0 to 100, np.quantile 0 to 1.",
        ),
        *(
            (_picked(place), "That is one of the norms. np.percentile interpolates between two.")
            for place in PLACES
        ),
        *(
            (_picked(place, every=True), "That sorts all norms, NaN, Inf, and 0 included.")
            for place in PLACES
        ),
    ),
    otherwise=lambda got, norms, percentile: (
        "Keep the norms that are finite and above 0, and give their "
        f"{number(percentile)}th percentile."
    ),
    done="It agrees with Recorder.summary on 3 recordings, with zeros, "
    "Inf and NaN among their norms.",
    show=levels(
        "norms",
        lambda wanted, given, norms, percentile: [("wanted", wanted), ("given", given)],
        "norm",
        "limit",
    ),
    starter="""
def suggest(norms, percentile):
    return norms.max()
""",
    solution="""
def suggest(norms, percentile):
    return np.percentile(norms[np.isfinite(norms) & (norms > 0)], percentile)
""",
    draw=_draw_suggest,
)


_STEPS, _PERCENTILE = np.array([5, 10, 20, 30, 50, 75, 100, 150, 200]), 95.0


class Share(Prediction):
    """Prediction: the share of later steps on which a limit chosen from the first steps fires."""

    name, label = "your_run.share", "Predict how long to record"
    question = (
        "Of n norms you take the 95th percentile as limit. On what share of "
        "the later steps does it fire?"
    )
    discuss = (
        "How would you notice that a limit chosen early is wrong by now? "
        "When would you record again?"
    )
    x = Quantity("steps recorded", "", 5.0, 200.0, "log", ticks=(5, 10, 20, 50, 100, 200))
    y, step = Quantity("later steps clipped", "%", 0.0, 100.0, ticks=(0, 25, 50, 75, 100)), 1.0
    at = (5.0, 10.0, 20.0, 50.0, 100.0, 200.0)

    def truth(self, x: np.ndarray) -> np.ndarray:
        norms = char_rnn.shipped()[3.0].global_norm.astype(float)
        shares = [
            100 * np.mean(~(norms[n:] <= np.percentile(norms[:n], _PERCENTILE))) for n in _STEPS
        ]
        return np.asarray(np.interp(x, _STEPS, shares))

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if np.ptp(guess) < 5:
            return (
                "Without drift it would be about 19% after 5 steps, because few norms make a poor "
                "percentile, and near 5% after 100. The rest is drift."
            )
        if guess[-1] > guess[0]:
            return (
                "The other way: in this run norms are small at first, and a limit made of them is "
                "too low for the rest."
            )
        if guess[0] < 25:
            return (
                "The first steps say little: a limit made of five of them fires on nearly every "
                "second step later."
            )
        if guess[-1] > 5:
            return "This run calms down: a limit made of its first 200 steps never fires later."
        return (
            "From the start of a run a limit comes out wrong by far. In this run it takes about "
            "100 steps until the share is near 5%."
        )

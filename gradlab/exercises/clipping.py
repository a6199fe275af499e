"""Questions of the clipping notebook."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import char_rnn
from ..clip import clip_by_norm, clip_by_value
from ._feedback import Feedback, choice


def turn(answer: Any) -> Feedback:
    """How far does clipping by global norm turn a step?"""
    return choice(
        answer,
        {
            "a": (
                False,
                "A limit per tensor shrinks some and not others, which turns the step. This limit is common to all.",
            ),
            "b": (True, "One factor for all tensors: the step gets shorter and keeps its direction."),
            "c": (False, "The turn does not grow with the norm. How many different factors does the clip use?"),
        },
    )


def infinite(answer: Any) -> Feedback:
    """What do the other tensors become when one entry is infinite?"""
    return choice(
        answer,
        {
            "a": (
                False,
                "They would if every tensor had its own norm. Which norm does clip_by_global_norm divide by?",
            ),
            "b": (False, "PyTorch and optax do that: c / inf is 0. TensorFlow adds norm - norm, and inf - inf is ..."),
            "c": (True, "The common norm is infinite, and TensorFlow makes the factor NaN so that nobody misses it."),
        },
    )


def below(answer: Any) -> Feedback:
    """Does a limit that is not reached leave every bit alone?"""
    return choice(
        answer,
        {
            "a": (
                False,
                "The documentation says so. Try np.float32(41) * (1 / np.float32(41)).",
            ),
            "b": (True, "The factor is c * (1/c), which float32 rounds to just under 1 for c = 41."),
        },
    )


_CASES: list[tuple[list[Any], float]] = [
    ([3.0, 4.0], 1.0),
    ([3.0, 4.0], 10.0),
    ([-6.0, 8.0, 0.0], 5.0),
    ([0.0, 0.0], 2.0),
    ([0.3, -0.4], 0.5),
    ([[2.0, -4.0], [4.0, 8.0]], 3.0),
]


def by_norm(function: Callable[[np.ndarray, float], Any]) -> Feedback:
    """Write clip_by_norm: a function of an array and a limit."""
    if not callable(function):
        return Feedback(False, f"Pass the function itself, without calling it; got {type(function).__name__}.")
    for values, limit in _CASES:
        t = np.array(values, np.float32)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                answer = function(t.copy(), limit)
                if answer is None:
                    return Feedback(False, "It returned None; is there a return?")
                got = np.asarray(answer, dtype=np.float64)
            except Exception as error:
                return Feedback(False, f"For t = {values}, limit = {limit:g} it raises {type(error).__name__}: {error}")
            wanted = np.asarray(clip_by_norm(t, limit), np.float64)
        if got.shape != wanted.shape or not np.allclose(got, wanted, rtol=1e-5, atol=1e-6):
            shown = np.round(got, 4).tolist()
            return Feedback(
                False, f"For t = {values}, limit = {limit:g} it gives {shown}. {_misconception(t, limit, got)}"
            )
    return Feedback(True, f"It agrees with clip_by_norm on {len(_CASES)} cases, the zero gradient among them.")


def _misconception(t: np.ndarray, limit: float, got: np.ndarray) -> str:
    """A hint for the mistake that gives exactly this result."""
    norm = float(np.sqrt((t.astype(np.float64) ** 2).sum()))
    if got.shape != t.shape:
        return f"The result must have the shape of t, {t.shape}."
    if np.isnan(got).any():
        return "0 / 0 is NaN: what should happen when the norm is 0?"
    if np.allclose(got, clip_by_value(t, -limit, limit)):
        return "That clips every entry by itself and turns the gradient. Which one number belongs to the whole of t?"
    if np.allclose(got, t) and norm > limit:
        return f"Its norm is {norm:g}, which is over the limit: shrink it."
    if norm <= limit:
        return f"Its norm, {norm:g}, is within the limit already: nothing should change."
    if np.allclose(got, t / norm):
        return "That has norm 1. It should have the norm of the limit."
    return f"Its norm is {float(np.sqrt((got**2).sum())):.4g}; it should be {limit:g}, in the direction of t."


def keep_95(limit: Any) -> Feedback:
    """Find a global-norm limit that clips about 5 % of the steps of the run trained with limit 1."""
    if limit is None:
        return Feedback(False, "Write a number first; the lab above shows on how many steps a limit fires.")
    if (
        isinstance(limit, bool)
        or not isinstance(limit, int | float | np.floating | np.integer)
        or not 0 < limit < np.inf
    ):
        return Feedback(False, f"A limit is a positive number, got {limit!r}.")
    fired = char_rnn.shipped()[1.0].what_if(clip_global_norm=float(limit)).fraction_fired
    said = f"Limit {float(limit):g} fires on {fired:.1%} of the steps"
    if fired > 0.9:
        return Feedback(
            False, f"{said}: that keeps {1 - fired:.0%} of them, not 95 %. Look at the other end of the distribution."
        )
    if fired > 0.05:
        return Feedback(False, f"{said}; at most one step in twenty should be clipped. Raise it.")
    if fired < 0.04:
        return Feedback(False, f"{said}; it hardly ever fires. Lower it until it catches the largest 5 %.")
    return Feedback(True, f"{said} and leaves the rest alone.")

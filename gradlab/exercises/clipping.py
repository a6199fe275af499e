"""Questions and predictions of the clipping notebook."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.numbers import number, percent
from ..clip import clip_by_global_norm, clip_by_norm, clip_by_value, clip_report
from ..models import char_rnn
from .pictures import arrows, of_numbers
from .prediction import Prediction
from .prediction_picture import Quantity
from .questions import Choice, Coded, Feedback, Judged, norm_of
from .random_cases import as_float32, random_arrays

direction = Choice(
    "How far does clipping by global norm turn a gradient?",
    a=(
        False,
        (
            "A limit per tensor shrinks some and not others, which turns the gradient. This limit "
            "is common to all."
        ),
    ),
    b=(
        True,
        (
            "One factor for all tensors: the gradient keeps its direction. With momentum, the "
            "step can still turn."
        ),
    ),
    c=(
        False,
        "The turn does not grow with the norm. How many different factors does the clip use?",
    ),
)

infinite = Choice(
    "What do the other tensors become when one entry is infinite?",
    a=(
        False,
        (
            "They would if every tensor had its own norm. Which norm does "
            "clip_by_global_norm divide by?"
        ),
    ),
    b=(
        False,
        (
            "PyTorch and optax do that: c / inf is 0. TensorFlow adds norm "
            "- norm, and inf - inf is ..."
        ),
    ),
    c=(
        True,
        (
            "The common norm is infinite, and TensorFlow makes the factor "
            "NaN, so that the error shows."
        ),
    ),
)

below = Choice(
    "Does a limit that is not reached leave every bit alone?",
    a=(
        False,
        "The documentation says so. Try np.float32(41) * (1 / np.float32(41)).",
    ),
    b=(True, "The factor is c * (1/c), which float32 rounds to just under 1 for c = 41."),
)


def _too_long(norm: float, limit: float, now: float) -> str:
    """The hint for a mistake without a name: what the norm was, is and should be."""
    if norm <= limit:
        return f"Its norm, {number(norm)}, is within the limit already: nothing should change."
    return (
        f"Its norm was {number(norm)} and is {number(now, 4)} now; it should be {number(limit)}, "
        "in the same direction."
    )


def _case(*rows: Any, limit: float) -> dict[str, Any]:
    return {"tensors": [np.array(row, np.float32) for row in rows], "limit": limit}


_ZERO = "0 / 0 is NaN: what should happen when the norm is 0?"
_ALWAYS = (
    "That makes the norm equal to the limit even where it was smaller. A limit only ever shortens."
)
_LONG = "Its norm is over the limit: shrink it."
_UNIT = "That has norm 1. It should have the norm of the limit."
_DROPPED = "That throws the gradient away. A clip shortens it and keeps its direction."


def _draw_by_norm(rng: np.random.Generator) -> dict[str, Any]:
    return {"t": as_float32(random_arrays(rng))[0], "limit": float(rng.uniform(0.5, 6.0))}


by_norm = Coded(
    question="Write clip_by_norm: the gradient at most as long as the limit, in its own direction.",
    cases=[
        {"t": np.array(values, np.float32), "limit": limit}
        for values, limit in (
            ([3.0, 4.0], 1.0),
            ([3.0, 4.0], 10.0),
            ([-6.0, 8.0, 0.0], 5.0),
            ([0.0, 0.0], 2.0),
            ([0.3, -0.4], 0.5),
            ([[2.0, -4.0], [4.0, 8.0]], 3.0),
        )
    ],
    right=clip_by_norm,
    mistakes=(
        (lambda t, limit: t, _LONG),
        (lambda t, limit: t / norm_of([t]) * min(norm_of([t]), limit), _ZERO),
        (
            lambda t, limit: clip_by_value(t, -limit, limit),
            (
                "That clips every entry by itself and turns the gradient. Which one number "
                "belongs to the whole of t?"
            ),
        ),
        (
            lambda t, limit: t / np.abs(t).sum() * limit,
            "That divides by the sum of the entries. The norm adds squares.",
        ),
        (
            lambda t, limit: t / (t * t).sum() * limit,
            "That divides by the sum of the squares. The norm is the root of it.",
        ),
        (
            lambda t, limit: t / np.abs(t).max() * limit,
            "That divides by the largest entry. The others make the gradient longer, too.",
        ),
        (
            lambda t, limit: t / np.sqrt((t * t).mean()) * limit,
            (
                "That divides by the root of the mean square. A norm adds "
                "the squares and takes no mean."
            ),
        ),
        (lambda t, limit: t * (norm_of([t]) <= limit), _DROPPED),
        (lambda t, limit: t / norm_of([t]) * limit, _ALWAYS),
        (lambda t, limit: t * limit / (norm_of([t]) + 1e-6), _ALWAYS),
        (lambda t, limit: t / norm_of([t]), _UNIT),
    ),
    otherwise=lambda got, t, limit: _too_long(norm_of([t]), limit, norm_of([got])),
    done="It agrees with clip_by_norm on 6 cases, the zero gradient among them.",
    show=arrows,
    starter="""
def my_clip_by_norm(t, limit):
    return t
""",
    solution="""
def my_clip_by_norm(t, limit):
    norm = np.sqrt((t * t).sum())
    return t * limit / max(norm, limit)
""",
    draw=_draw_by_norm,
)


def _draw_by_global_norm(rng: np.random.Generator) -> dict[str, Any]:
    return {"tensors": as_float32(random_arrays(rng)), "limit": float(rng.uniform(0.5, 9.0))}


by_global_norm = Coded(
    question="Write clip_by_global_norm for a list of arrays: one limit on the "
    "norm of all of them together.",
    cases=[
        _case([3.0, 4.0], [12.0], limit=1.0),
        _case([3.0, 4.0], [12.0], limit=20.0),
        _case([0.6, 0.8], [[-2.0, 1.0], [2.0, 4.0]], limit=2.5),
        _case([0.0], [0.0, 0.0], limit=1.0),
    ],
    right=lambda tensors, limit: clip_by_global_norm(tensors, limit)[0],
    mistakes=(
        (lambda tensors, limit: tensors, _LONG),
        (
            lambda tensors, limit: [
                t / norm_of(tensors) * min(norm_of(tensors), limit) for t in tensors
            ],
            _ZERO,
        ),
        (
            lambda tensors, limit: [clip_by_value(t, -limit, limit) for t in tensors],
            (
                "That clips every entry by itself, and the gradient turns. "
                "Which one norm belongs to all?"
            ),
        ),
        (
            lambda tensors, limit: [clip_by_norm(t, limit) for t in tensors],
            (
                "That gives every tensor a limit of its own, and the gradient turns. Which one "
                "norm belongs to all?"
            ),
        ),
        (
            lambda tensors, limit: [
                t * limit / sum(norm_of([u]) for u in tensors) for t in tensors
            ],
            (
                "That adds the norms. They add like the sides of a right "
                "angle: square, add, take the root."
            ),
        ),
        (
            lambda tensors, limit: [t * limit / norm_of(tensors) ** 2 for t in tensors],
            "That divides by the sum of the squares. The norm is the root of it.",
        ),
        (
            lambda tensors, limit: [
                t * limit / max(norm_of([u]) for u in tensors) for t in tensors
            ],
            "That looks at the largest tensor only. The others make the step longer, too.",
        ),
        (
            lambda tensors, limit: [
                clip_by_norm(t, limit / np.sqrt(len(tensors))) for t in tensors
            ],
            (
                "That gives every tensor an equal share of the limit, and the gradient turns. One "
                "factor fits all of them."
            ),
        ),
        (
            lambda tensors, limit: clip_by_norm(
                np.concatenate([np.ravel(t) for t in tensors]), limit
            ),
            "That is the right vector, in one piece. Return the tensors, each in its own shape.",
        ),
        (lambda tensors, limit: [t * (norm_of(tensors) <= limit) for t in tensors], _DROPPED),
        (lambda tensors, limit: [t * limit / norm_of(tensors) for t in tensors], _ALWAYS),
        (lambda tensors, limit: [t / norm_of(tensors) for t in tensors], _UNIT),
    ),
    otherwise=lambda got, tensors, limit: _too_long(norm_of(tensors), limit, norm_of(got)),
    done="It agrees with clip_by_global_norm on 4 cases, the zero gradient among them.",
    starter="""
def my_clip_by_global_norm(tensors, limit):
    return tensors
""",
    solution="""
def my_clip_by_global_norm(tensors, limit):
    norm = np.sqrt(sum((t * t).sum() for t in tensors))
    return [t * limit / max(norm, limit) for t in tensors]
""",
    draw=_draw_by_global_norm,
)


# Shares of the steps, as in the target of the lab.
_LEAST_FIRED = 0.02
_MOST_FIRED = 0.05


def _kept(limit: Any) -> Feedback:
    if limit is None:
        return Feedback(
            False, "Write a number first; `runs[1.0].what_if` says on how many steps a limit fires."
        )
    if isinstance(limit, str):
        return Feedback(False, f"A limit is a number: write it without quotes, not {limit!r}.")
    if (
        isinstance(limit, bool)
        or not isinstance(limit, int | float | np.floating | np.integer)
        or not 0 < limit < np.inf
    ):
        return Feedback(False, f"A limit is a positive number, got {limit!r}.")
    fired = char_rnn.shipped()[1.0].what_if(clip_global_norm=float(limit)).fraction_fired
    said = f"Limit {number(float(limit))} fires on {percent(fired, 1)} of the steps"
    hint = _too_often(fired)
    if fired < _LEAST_FIRED:
        hint = f"; that is less than {percent(_LEAST_FIRED)}. Lower it."
    if hint:
        return Feedback(
            False, said + hint, of_numbers(["steps clipped, in %"], [5.0], [100 * fired])
        )
    return Feedback(True, f"{said} and leaves the rest alone.")


def _too_often(fired: float) -> str:
    if fired > 0.9:
        return (
            f": that keeps {percent(1 - fired)} of them, not 95%. Look at the other end of the "
            "distribution."
        )
    return f"; that is more than {percent(_MOST_FIRED)}. Raise it." if fired > _MOST_FIRED else ""


keep_95 = Judged(
    "Find a global-norm limit that clips at least 2% and at most 5% of the steps of the run "
    "trained with limit 1 at rate 0.4.",
    judge=_kept,
    mistakes=(
        (-1.0, "A limit is a positive number"),
        ("1.25", "write it without quotes"),
        (0.95, "Raise it"),
        (1.0, "Raise it"),  # what most trainers begin with
        (0.1, "Look at the other end"),
        (5.0, "Lower it"),
    ),
    starter="""
my_limit = None
""",
    solution="""
my_limit = 1.25
""",
)


class Share(Prediction):
    """On what share of the steps of a real run does a limit fire?"""

    name, label = "clipping.share", "Predict the share of clipped steps"
    question = "On what share of 300 steps does a limit fire?"
    discuss = "Where would you put the limit on this curve, and what would you lose on either side?"
    x = Quantity("limit", "", 0.01, 1000.0, "log")
    y, step = Quantity("steps clipped", "%", 0.0, 100.0, ticks=(0, 50, 100)), 1.0
    at = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)

    def truth(self, x: np.ndarray) -> np.ndarray:
        run = char_rnn.shipped()[None]
        return np.array(
            [100 * run.what_if(clip_global_norm=float(limit)).fraction_fired for limit in x]
        )

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if guess[-1] > guess[0]:
            return (
                "A higher limit fires less often: the curve is the share of norms above the "
                "limit, so it falls."
            )
        if guess[0] < 50:
            return (
                "A limit below every norm fires on every step: on the "
                "left the curve begins at 100%."
            )
        if np.diff(guess).min() > -40:
            return (
                "The fall is steep: 8 norms in 10 lie between 3 and 10; below, a limit fires on "
                "nearly every step."
            )
        if np.diff(guess).argmin() != np.diff(truth).argmin():
            return (
                "The fall is where the norms are, between 3 and 10. Unless you record them, you "
                "can't say how often a limit fires."
            )
        return (
            "You have the place of the fall. Beyond it a limit fires on the few explosions alone; "
            "below it, on nearly every step, it sets how long steps are."
        )


class Turn(Prediction):
    """Prediction: the angle by which clipping by value turns a gradient of any direction."""

    name, label = "clipping.turn", "Predict the turn"
    question = "How far does clipping each entry to 2 turn a gradient of norm 5?"
    discuss = (
        "What does a turned step do to a loss whose valley is narrow? Which clip never turns one?"
    )
    x = Quantity("direction", "degrees", 0.0, 90.0, ticks=(0, 30, 60, 90))
    y, step = Quantity("turn", "degrees", 0.0, 45.0, ticks=(0, 15, 30, 45)), 0.5
    at = tuple(range(0, 91, 9))

    def truth(self, x: np.ndarray) -> np.ndarray:
        before = 5 * np.stack([np.cos(np.radians(x)), np.sin(np.radians(x))], axis=1).astype(
            np.float32
        )
        return np.array([clip_report([g], [clip_by_value(g, -2.0, 2.0)]).angle for g in before])

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if guess.max() < 5:
            return "It does turn: the longer entry is cut and the shorter one is not."
        if guess[5] > 5:
            return (
                "At 45 degrees both entries are cut alike, so there the "
                "gradient keeps its direction."
            )
        if max(guess[0], guess[-1]) > 5:
            return (
                "Along an axis only one entry is there to be cut: the gradient gets shorter and "
                "does not turn."
            )
        return (
            "No turn along an axis or on the diagonal; in between the clip pulls the gradient to "
            "the diagonal."
        )


class Spikes(Prediction):
    """On how many steps of a real run is the norm far above the median?"""

    name, label = "clipping.spikes", "Predict the number of spikes"
    question = "On how many of 300 steps is the norm over ten times the median?"
    discuss = (
        "Would you have seen these steps in a curve of the loss that is averaged over ten of them?"
    )
    y, step = Quantity("steps over ten times the median", "steps", 1.0, 300.0, "log"), 1.0

    def truth(self, x: np.ndarray) -> int:
        norms = char_rnn.shipped()[None].global_norm
        return int((norms > 10 * np.median(norms)).sum())

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if guess[0] > 3 * truth[0]:
            return "Spikes are rare, which makes them hard to see in a curve of averages."
        return (
            "A handful, easily missed in a curve of averages. The loss left its course long "
            "before the largest of them."
        )

"""Exercises that check themselves, with a hint for a wrong answer and never the solution; and predictions.

A question is an entry of `_EXERCISES`, a guess to draw before one looks is one of `_PREDICTIONS`.
"""

from collections.abc import Callable
from typing import Any

from . import (
    accumulator_guesses,
    accumulators,
    adagrad,
    adagrad_guesses,
    clipping,
    clipping_guesses,
    staleness,
    staleness_guesses,
    three_steps,
    three_steps_guesses,
    tpu_embedding_guesses,
    tpu_embeddings,
)
from ._feedback import Feedback as Feedback
from .prediction import Prediction as Prediction

_EXERCISES: dict[str, Callable[[Any], Feedback]] = {
    "clipping.direction": clipping.direction,
    "clipping.infinite": clipping.infinite,
    "clipping.below": clipping.below,
    "clipping.by_norm": clipping.by_norm,
    "clipping.by_global_norm": clipping.by_global_norm,
    "clipping.keep_95": clipping.keep_95,
    "three_steps.none": three_steps.none,
    "three_steps.zero": three_steps.zero,
    "three_steps.shared": three_steps.shared,
    "three_steps.process": three_steps.process,
    "three_steps.minimize": three_steps.minimize,
    "three_steps.sessions": three_steps.sessions,
    "three_steps.race": three_steps.race,
    "adagrad.first_step": adagrad.first_step,
    "adagrad.zero_epsilon": adagrad.zero_epsilon,
    "adagrad.frozen": adagrad.frozen,
    "adagrad.step": adagrad.step,
    "adagrad.sparse": adagrad.sparse,
    "staleness.third": staleness.third,
    "staleness.both_pass": staleness.both_pass,
    "staleness.noted_late": staleness.noted_late,
    "staleness.accept": staleness.accept,
    "staleness.compensate": staleness.compensate,
    "accumulators.divisor": accumulators.divisor,
    "accumulators.forgotten": accumulators.forgotten,
    "accumulators.sparse_rows": accumulators.sparse_rows,
    "accumulators.mean": accumulators.mean,
    "accumulators.row_mean": accumulators.row_mean,
    "tpu_embeddings.twice": tpu_embeddings.twice,
    "tpu_embeddings.zero": tpu_embeddings.zero,
    "tpu_embeddings.forgets": tpu_embeddings.forgets,
    "tpu_embeddings.pooled": tpu_embeddings.pooled,
    "tpu_embeddings.row_gradient": tpu_embeddings.row_gradient,
    "tpu_embeddings.rate": tpu_embeddings.rate,
}

_PREDICTIONS: dict[str, type[Prediction]] = {
    guess.name: guess
    for guess in (
        clipping_guesses.Share,
        clipping_guesses.Turn,
        clipping_guesses.Spikes,
        three_steps_guesses.Coast,
        adagrad_guesses.Rate,
        adagrad_guesses.Ratio,
        staleness_guesses.Accepted,
        staleness_guesses.Straggler,
        accumulator_guesses.Collect,
        tpu_embedding_guesses.Distinct,
    )
}


def names() -> list[str]:
    """The names of all exercises."""
    return list(_EXERCISES)


def check(name: str, answer: Any) -> Feedback:
    """Check an answer: a letter, a number or a function, as the exercise asks.

    Raises: ValueError: no exercise of that name.

    >>> check("clipping.direction", "b")
    Right. One factor for all tensors: the step gets shorter and keeps its direction.
    >>> check("clipping.by_norm", lambda t, limit: t.clip(-limit, limit)).right
    False
    """
    if name not in _EXERCISES:
        if name in _PREDICTIONS:
            raise ValueError(f"{name!r} is a prediction: use predict({name!r})")
        raise ValueError(f"no exercise {name!r}; there are {', '.join(_EXERCISES)}")
    return _EXERCISES[name](answer)


def predictions() -> list[str]:
    """The names of all predictions."""
    return list(_PREDICTIONS)


def predict(name: str, **guess: Any) -> Prediction:
    """A plot on which to draw a guess, and a button that reveals the result beside it.

    Args:
        name: one of `predictions()`. **guess: where the handles start, `guess_1` and so on.

    Raises: ValueError: no prediction of that name, or a guess it has no handle for.

    >>> predict("clipping.spikes")
    Predict the number of spikes: Drag the line to your guess, then press Reveal.
    """
    if name not in _PREDICTIONS:
        if name in _EXERCISES:
            raise ValueError(f"{name!r} is an exercise: use check({name!r}, answer)")
        raise ValueError(f"no prediction {name!r}; there are {', '.join(_PREDICTIONS)}")
    return _PREDICTIONS[name](**guess)

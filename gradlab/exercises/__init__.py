"""Exercises that check themselves, with a hint for a wrong answer and never the solution; and predictions.

A question is an entry of `catalog.EXERCISES`, a guess to draw before one looks is one of
`catalog.PREDICTIONS`.
"""

from typing import TYPE_CHECKING, Any

from .._base.suggest import only_public as _only_public
from ._progress import Progress, noted, progress
from .buttons import Buttons
from .catalog import EXERCISES, PREDICTIONS
from .prediction import Prediction
from .questions import Choice, Feedback
from .starters import is_starter

__all__ = [
    "Feedback",
    "Prediction",
    "Progress",
    "check",
    "choose",
    "names",
    "predict",
    "predictions",
    "progress",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)


def names() -> list[str]:
    """The names of all exercises."""
    return list(EXERCISES)


def check(name: str, answer: Any) -> Feedback:
    """Check an answer: a letter, a number or a function, as the exercise asks.

    In a notebook a right answer is saved beside it, in `gradlab_progress.json`; `progress()` shows
    what is there. The code that the notebook comes with isn't an answer: the question is asked
    again, without a verdict.

    Raises:
        ValueError: no exercise of that name.

    >>> check("clipping.direction", "b")
    Right. One factor for all tensors: the gradient keeps its direction. With momentum, the step can still turn.
    >>> check("clipping.by_norm", lambda t, limit: t.clip(-limit, limit)).right
    False
    """
    if name not in EXERCISES:
        if name in PREDICTIONS:
            raise ValueError(f"{name!r} is a prediction: use predict({name!r})")
        raise ValueError(f"unknown exercise {name!r}; choose one of: {', '.join(EXERCISES)}")
    exercise = EXERCISES[name]
    if not is_starter(exercise, answer):
        return noted(name, exercise(answer))
    if isinstance(exercise, Choice):
        return exercise(answer)
    return Feedback(False, exercise.question, is_answer=False)


def choose(name: str, answer: str | None = None) -> Buttons:
    """A button for each answer of a multiple-choice exercise; a script calls `check(name, "b")` instead.

    Args:
        answer: a letter that stands in the notebook, as if its button had been pressed;
            `gradlab grade` reads it.

    Raises:
        ValueError: no multiple-choice exercise of that name, or no such letter.

    >>> choose("clipping.direction")
    How far does clipping by global norm turn a gradient? Press (a), (b) or (c).
    """
    question = EXERCISES.get(name)
    if not isinstance(question, Choice):
        choices = [other for other, exercise in EXERCISES.items() if isinstance(exercise, Choice)]
        raise ValueError(
            f"{name!r} is not a multiple-choice exercise; choose one of: {', '.join(choices)}"
        )
    asked = Buttons(question, lambda letter: check(name, letter))
    if answer is not None:
        if answer not in question.letters:
            raise ValueError(
                f"the answers of {name!r} are {', '.join(question.letters)}; got {answer!r}"
            )
        asked.press(answer)
    return asked


def predictions() -> list[str]:
    """The names of all predictions."""
    return list(PREDICTIONS)


def predict(name: str, **guess: Any) -> Prediction:
    """A plot on which to draw a guess, and a button that reveals the result beside it.

    Args:
        name: one of `predictions()`.
        **guess: where the handles start, `guess_1` and so on.

    Raises:
        ValueError: no prediction of that name, or a guess it has no handle for.

    >>> predict("clipping.spikes")
    Predict the number of spikes: Drag the line to your guess, then press Reveal.
    """
    if name not in PREDICTIONS:
        if name in EXERCISES:
            raise ValueError(f"{name!r} is an exercise: use check({name!r}, answer)")
        raise ValueError(f"unknown prediction {name!r}; choose one of: {', '.join(PREDICTIONS)}")
    return PREDICTIONS[name](**guess)

"""Exercises that check themselves: a hint for a wrong answer, never the solution."""

from collections.abc import Callable
from typing import Any

from . import clipping
from ._feedback import Feedback as Feedback

_EXERCISES: dict[str, Callable[[Any], Feedback]] = {
    "clipping.direction": clipping.direction,
    "clipping.infinite": clipping.infinite,
    "clipping.below": clipping.below,
    "clipping.by_norm": clipping.by_norm,
    "clipping.by_global_norm": clipping.by_global_norm,
    "clipping.keep_95": clipping.keep_95,
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
        raise ValueError(f"no exercise {name!r}; there are {', '.join(_EXERCISES)}")
    return _EXERCISES[name](answer)

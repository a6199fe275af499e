"""Is an answer the code that the notebook's cell came with? Then running the cell is not a try."""

from __future__ import annotations

from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from .questions import Choice, Coded, Judged


def is_starter(exercise: Choice | Coded | Judged, answer: object) -> bool:
    """Tell whether an answer is what the notebook's cell holds to begin with.

    >>> from gradlab.exercises.start import norm
    >>> def mine(grads):
    ...     return 0.0
    >>> is_starter(norm, mine), is_starter(norm, sum)
    (True, False)
    """
    if isinstance(exercise, Choice):
        return answer is None
    starter = run_code(exercise.starter)
    if not isinstance(starter, FunctionType):
        return answer is starter
    return isinstance(answer, FunctionType) and _behavior(answer) == _behavior(starter)


@cache
def run_code(code: str) -> Any:
    """Return what a starter or a solution defines: the last name that it binds.

    In it, NumPy is `np`.

    >>> run_code("my_limit = 1.25")
    1.25
    """
    space: dict[str, Any] = {"np": np}
    exec(code, space)
    return space.popitem()[1]


def _behavior(function: FunctionType) -> tuple[object, ...]:
    """Return what a function does, apart from the names of it and its arguments."""
    code = function.__code__
    return code.co_code, code.co_consts, code.co_names, code.co_argcount, function.__closure__

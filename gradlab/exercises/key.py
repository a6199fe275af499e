"""The teacher's key of every exercise and prediction, and cells with the answers filled in."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

import numpy as np

from .answers import CODE, DISCUSS
from .catalogue import EXERCISES, PREDICTIONS
from .choice import Choice


class Key(NamedTuple):
    """What a teacher wants to know of one exercise or prediction.

    Attributes:
        name: "clipping.below". question: in one sentence. answer: a letter, code, or the result of a prediction.
        why: what is said to whoever has it right. recognised: what is said to others; empty for a prediction.
        discuss: what to talk about afterwards; empty for an exercise.
    """

    name: str
    question: str
    answer: str
    why: str
    recognised: tuple[str, ...] = ()
    discuss: str = ""


def key(name: str) -> Key:
    """The key of an exercise or a prediction.

    Raises: ValueError: no exercise and no prediction of that name.

    >>> key("clipping.direction").answer
    'b'
    """
    if name in PREDICTIONS:
        return _of_prediction(name)
    if name not in EXERCISES:
        raise ValueError(f"no exercise {name!r}; there are {', '.join([*EXERCISES, *PREDICTIONS])}")
    exercise = EXERCISES[name]
    said = tuple(f"({wrong}) {hint}" if isinstance(exercise, Choice) else hint for wrong, hint in exercise.mistakes)
    answer = exercise.letter if isinstance(exercise, Choice) else CODE[name].strip()
    return Key(name, exercise.question, answer, exercise(value(name)).text, said)


def _of_prediction(name: str) -> Key:
    one = PREDICTIONS[name]()
    result, said = one.solved()
    return Key(name, one.question, ", ".join(result), said, discuss=DISCUSS[name])


def value(name: str) -> Any:
    """The answer itself: a letter, or what the key's code makes when it is executed."""
    exercise = EXERCISES[name]
    if isinstance(exercise, Choice):
        return exercise.letter
    made: dict[str, Any] = {}
    exec(CODE[name], space := {"np": np}, made)
    space.update(made)
    return made.popitem()[1]


def filled(source: str) -> str:
    """A cell in which every answer that is checked is the key's; any other cell as it is.

    >>> print(filled('guess = None\\ngl.exercises.check("clipping.direction", guess)'))
    guess = "b"
    gl.exercises.check("clipping.direction", guess)
    """
    lines = source.splitlines()
    for name, variable in reversed(checked(source)):
        start, end = _definition(source, variable)
        exercise = EXERCISES[name]
        code = f'{variable} = "{exercise.letter}"' if isinstance(exercise, Choice) else CODE[name].strip()
        lines[start:end] = code.splitlines()
    return "\n".join(lines)


def checked(source: str) -> list[tuple[str, str]]:
    """The exercises that a cell checks, each with the name of the variable or function that it hands over."""
    if "exercises.check(" not in source:
        return []
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and len(node.args) == 2]
    return [
        (str(call.args[0].value), call.args[1].id)
        for call in calls
        if ast.unparse(call.func).endswith("exercises.check")
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[1], ast.Name)
    ]


def _definition(source: str, variable: str) -> tuple[int, int]:
    """The lines at which a cell defines a name, the last one not among them."""
    for node in ast.parse(source).body:
        names = [node.name] if isinstance(node, ast.FunctionDef) else []
        if isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        if variable in names:
            return node.lineno - 1, node.end_lineno or node.lineno
    raise ValueError(f"the cell checks {variable} and does not define it")

"""The teacher's key of every exercise and prediction, and cells with the answers filled in.

The answers themselves are in the exercises: a choice has its letter, the others have a `solution`,
as it would stand in the notebook's cell.
"""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple

from .catalog import EXERCISES, PREDICTIONS
from .questions import Choice
from .starters import run_code


class Key(NamedTuple):
    """A teacher's view of one exercise or prediction.

    Attributes:
        name: "clipping.below".
        question: in one sentence.
        answer: a letter, code, or the result of a prediction.
        why: what is said of a right answer.
        recognized: what is said of wrong ones; empty for a prediction.
        discuss: what to talk about afterwards; empty for an exercise.
    """

    name: str
    question: str
    answer: str
    why: str
    recognized: tuple[str, ...] = ()
    discuss: str = ""


def key(name: str) -> Key:
    """The key of an exercise or a prediction.

    Raises:
        ValueError: no exercise and no prediction of that name.

    >>> key("clipping.direction").answer
    'b'
    """
    if name in PREDICTIONS:
        return _of_prediction(name)
    if name not in EXERCISES:
        raise ValueError(
            f"unknown exercise {name!r}; choose one of: {', '.join([*EXERCISES, *PREDICTIONS])}"
        )
    exercise = EXERCISES[name]
    said = tuple(
        f"({wrong}) {hint}" if isinstance(exercise, Choice) else hint
        for wrong, hint in exercise.mistakes
    )
    answer = exercise.letter if isinstance(exercise, Choice) else exercise.solution.strip()
    return Key(name, exercise.question, answer, exercise(value(name)).text, said)


def _of_prediction(name: str) -> Key:
    one = PREDICTIONS[name]()
    result, said = one.solved()
    return Key(name, one.question, ", ".join(result), said, discuss=one.discuss)


def value(name: str) -> Any:
    """Return the answer itself: a letter, or what the solution defines."""
    exercise = EXERCISES[name]
    return exercise.letter if isinstance(exercise, Choice) else run_code(exercise.solution)


def filled(source: str) -> str:
    """A cell in which every answer that is checked, or chosen, is the key's; any other cell as it is.

    >>> print(filled('gl.exercises.choose("clipping.direction")'))
    gl.exercises.check("clipping.direction", "b")
    """
    lines = source.splitlines()
    for name, variable in reversed(checked(source)):
        exercise = EXERCISES[name]
        # A choice is answered with a letter, not with a variable.
        assert not isinstance(exercise, Choice)
        start, end = definition(source, variable)
        lines[start:end] = exercise.solution.strip().splitlines()
    text = "\n".join(lines)
    for name in chosen(text):
        text = text.replace(f'choose("{name}")', f'check("{name}", "{value(name)}")')
    return text


def chosen(source: str) -> list[str]:
    """The multiple-choice exercises that a cell asks."""
    return re.findall(r'exercises\.choose\("([\w.]+)"\)', source)


def checked(source: str) -> list[tuple[str, str]]:
    """The exercises that a cell checks, each with the name of the variable or function that it hands over."""
    if "exercises.check(" not in source:
        return []
    calls = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and len(node.args) == 2
    ]
    return [
        (str(call.args[0].value), call.args[1].id)
        for call in calls
        if ast.unparse(call.func).endswith("exercises.check")
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[1], ast.Name)
    ]


def definition(source: str, variable: str) -> tuple[int, int]:
    """The lines at which a cell defines a name, the last one not among them."""
    for node in ast.parse(source).body:
        names = [node.name] if isinstance(node, ast.FunctionDef) else []
        if isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        if variable in names:
            return node.lineno - 1, node.end_lineno or node.lineno
    raise ValueError(f"the cell checks {variable} and does not define it")

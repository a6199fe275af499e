"""Questions as they are asked of a class, and students' answers as exercises take them.

An exercise calls the function that it judges. Here the key's own function is judged first, which
tells the arguments of all its calls. A student's process is handed these at once, and what its
function did is then played back to the exercise, call by call. So the comparison, and what is
right, stay in this process.
"""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from ...exercises.catalog import EXERCISES, Exercise, with_random_cases
from ...exercises.key import value
from ...exercises.questions import Feedback
from .values import Variables, pack, unpack


@dataclass(frozen=True)
class Question:
    """An exercise with inputs that were drawn for this run.

    Args:
        exercise: judges an answer.
        calls: the arguments of each call that it makes, as `inside.call_function` takes them.
    """

    exercise: Exercise
    calls: Sequence[dict[str, Any]]


class CallRecorder:
    """A function that notes the arguments of its calls.

    Args:
        function: what is called.
    """

    def __init__(self, function: Any) -> None:
        self._function = function
        self.calls: list[dict[str, Any]] = []

    def __call__(self, *arguments: Any) -> Any:
        self.calls.append({"arguments": [pack(argument, {}) for argument in arguments]})
        return self._function(*arguments)

    def play(self, scene: ModuleType, *arguments: Any) -> Any:
        """Return what `scene.play(function, *arguments)` gives."""
        packed = [pack(argument, {}) for argument in arguments]
        self.calls.append({"arguments": packed, "scene": inspect.getsource(scene)})
        return scene.play(self._function, *arguments)


class RecordedFunction:
    """A student's function, as far as it was called: call k does what call k did in the student's
    process.

    Args:
        results: from `inside.call_function`; but a hostile process may have written anything.
    """

    def __init__(self, results: Sequence[Any]) -> None:
        self._results: Iterator[Any] = iter(results)

    def __call__(self, *arguments: Any) -> Any:
        result = next(self._results, None)
        if not isinstance(result, dict):
            raise LookupError("there is no result of this call")
        if "raised" in result:
            raise make_error(str(result["raised"]), str(result.get("text", "")))
        variables: Variables = {}
        for argument in arguments:
            pack(argument, variables)  # for the variables in it
        for before, after in zip(arguments, result["arguments"], strict=False):
            copy_back(before, unpack(after, variables))
        return unpack(result["given"], variables)

    def play(self, scene: ModuleType, *arguments: Any) -> Any:
        """Return what the scene gave there."""
        return self(*arguments)


def draw_question(name: str, seed: int) -> Question:
    """Return an exercise with its own cases and some that this seed draws."""
    exercise = with_random_cases(name, np.random.default_rng([seed, list(EXERCISES).index(name)]))
    answer = value(name)
    if not callable(answer):
        return Question(exercise, ())
    recorder = CallRecorder(answer)
    exercise(recorder)
    return Question(exercise, recorder.calls)


def judge(question: Question, line: Mapping[str, Any]) -> Feedback:
    """Return what the exercise says of a student's answer, a line from the student's process."""
    try:
        if "results" in line:
            return question.exercise(RecordedFunction(line["results"]))
        return question.exercise(unpack(line["value"], {}))
    except Exception as error:  # the line may be anything
        return Feedback(False, f"{type(error).__name__}: {error}")


def copy_back(before: Any, after: Any) -> None:
    """Change an argument here as the student's function changed it there."""
    if isinstance(before, list) and isinstance(after, list):
        for old, new in zip(before, after, strict=False):
            copy_back(old, new)
        if len(before) != len(after):
            before[:] = after
    elif (
        isinstance(before, np.ndarray)
        and np.shape(after) == before.shape
        and before.flags.writeable
    ):
        before[...] = after


def make_error(name: str, text: str) -> Exception:
    """Return an exception of one of Python's own types, or of one that has this name alone."""
    kind = getattr(builtins, name, None)
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        kind = type(name if name.isidentifier() else "Error", (Exception,), {})
    try:
        error: Exception = kind(text)
    except Exception:  # UnicodeDecodeError wants more than a text
        return RuntimeError(f"{name}: {text}")
    return error

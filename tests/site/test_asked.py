"""Questions as data: what the script is given says of any guess what Python says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradlab.exercises.catalog import EXERCISES, PREDICTIONS
from notebooks.site import asked

CALLS: dict[str, Any] = {
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "!=": lambda a, b: a != b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "at": lambda values, k: values[k],
    "list": lambda *values: values,
    "max": np.max,
    "min": np.min,
    "ptp": np.ptp,
    "diff": np.diff,
    "argmin": np.argmin,
}


def value(tree: Any, given: dict[str, np.ndarray]) -> Any:
    if not isinstance(tree, list):
        return tree
    name, *rest = tree
    return given[name] if name in given else CALLS[name](*(value(one, given) for one in rest))


@pytest.mark.parametrize("name", PREDICTIONS)
def test_what_is_said_of_a_guess_is_what_python_says(name: str) -> None:
    kind, rng = PREDICTIONS[name], np.random.default_rng(0)
    question, places = kind(), max(len(kind.at), 1)
    rules, truth = asked.said(kind), rng.uniform(kind.y.low, kind.y.high, places)
    for _ in range(20):
        guess = rng.uniform(kind.y.low, kind.y.high, places)
        given = {"guess": guess, "truth": truth}
        said = next(
            text for condition, text in rules if condition is None or value(condition, given)
        )
        assert said == question.said(guess, truth)


def test_a_choice_tells_every_letter_what_python_tells_it() -> None:
    question = EXERCISES["clipping.direction"]
    told = asked.choice(question)["options"]
    assert told == {letter: [question(letter).right, repr(question(letter))] for letter in "abc"}


def test_what_the_script_could_not_work_out_is_an_error() -> None:
    class Odd(PREDICTIONS["adagrad.rare"]):  # type: ignore[misc]
        def said(self, guess: Any, truth: Any) -> str:
            return "a" if guess.sum() > 3 else "b"

    with pytest.raises(ValueError, match="cannot say"):
        asked.said(Odd)

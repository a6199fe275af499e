"""The key solves every exercise, and holds nothing that nobody asks for."""

import pytest

from gradlab.exercises import check
from gradlab.exercises.answers import CODE, DISCUSS
from gradlab.exercises.catalogue import EXERCISES, PREDICTIONS
from gradlab.exercises.choice import Choice
from gradlab.exercises.key import value


def test_no_key_is_missing_and_none_is_spare() -> None:
    assert set(CODE) == {name for name, exercise in EXERCISES.items() if not isinstance(exercise, Choice)}
    assert set(DISCUSS) == set(PREDICTIONS)


@pytest.mark.parametrize("name", EXERCISES)
def test_every_exercise_is_solved_by_its_key(name: str) -> None:
    assert check(name, value(name)).right, check(name, value(name))


@pytest.mark.parametrize("name", CODE)
def test_no_hint_holds_the_code_that_solves_it(name: str) -> None:
    exercise = EXERCISES[name]
    said = [repr(check(name, answer)) for answer in (None, *(wrong for wrong, _ in exercise.mistakes))]
    for line in CODE[name].strip().splitlines():
        formula = line.strip().removeprefix("return ").partition(" = ")[2] or line.strip().removeprefix("return ")
        if len(formula) > 8:
            assert not [hint for hint in said if formula in hint], formula

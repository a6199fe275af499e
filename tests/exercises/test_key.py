"""What a teacher is told of an exercise and of a prediction; cells with the answers filled in."""

import pytest

from gradlab.exercises import check
from gradlab.exercises.catalog import EXERCISES, PREDICTIONS
from gradlab.exercises.key import checked, chosen, filled, key, value
from gradlab.exercises.questions import Choice

WRITTEN = [name for name, exercise in EXERCISES.items() if not isinstance(exercise, Choice)]
CELL = """import numpy as np
gl.exercises.choose("start.sign")


def norm(grads):
    return 0.0


gl.exercises.check("start.norm", norm)"""


def test_the_key_of_a_choice_has_its_letter_and_names_the_others() -> None:
    found = key("clipping.below")
    assert (found.answer, found.question[-1]) == ("b", "?")
    assert found.why.startswith("The factor is c * (1/c)")
    assert found.recognized[0].startswith("(a) The documentation says so")
    assert found.discuss == ""


def test_the_key_of_code_has_the_code_and_every_hint() -> None:
    found = key("start.norm")
    assert found.answer.startswith("def norm(grads):\n    return ")
    assert found.why.startswith("It agrees on 3 cases")
    assert len(found.recognized) == 13
    assert value("start.norm")([]) == 0
    assert value("three_steps.race")[0] == "gradient b"


def test_the_key_of_a_prediction_has_the_result_and_what_to_discuss() -> None:
    found = key("clipping.spikes")
    assert (found.answer, found.recognized) == ("3 steps", ())
    assert found.why.startswith("A handful")
    assert found.discuss.endswith("?")
    assert key("three_steps.coast").answer.startswith(
        "1 first steps at step 1, 4.1 first steps at step 5"
    )


def test_who_is_unknown_has_no_key() -> None:
    with pytest.raises(
        ValueError, match=r"unknown exercise 'x'; choose one of: start.sign.*start.reader"
    ):
        key("x")


def test_a_cell_is_filled_where_it_defines_what_it_checks() -> None:
    assert (chosen(CELL), checked(CELL)) == (["start.sign"], [("start.norm", "norm")])
    lines = filled(CELL).splitlines()
    assert lines[:2] == ["import numpy as np", 'gl.exercises.check("start.sign", "b")']
    assert "    return np.sqrt" in lines[5]
    assert lines[-1] == 'gl.exercises.check("start.norm", norm)'


def test_other_cells_stay_as_they_are() -> None:
    for source in ("%pip install it", "guess = 1", 'gl.exercises.predict("start.reader")\n'):
        assert filled(source) == source.rstrip("\n")
    with pytest.raises(ValueError, match="checks norm and does not define it"):
        filled('gl.exercises.check("start.norm", norm)')


def test_no_key_is_missing() -> None:
    assert all(
        EXERCISES[name].starter.strip() and EXERCISES[name].solution.strip() for name in WRITTEN
    )
    assert all(prediction.discuss for prediction in PREDICTIONS.values())


@pytest.mark.parametrize("name", EXERCISES)
def test_every_exercise_is_solved_by_its_key(name: str) -> None:
    assert check(name, value(name)).right, check(name, value(name))


@pytest.mark.parametrize("name", WRITTEN)
def test_no_hint_holds_the_code_that_solves_it(name: str) -> None:
    exercise = EXERCISES[name]
    said = [
        repr(check(name, answer)) for answer in (None, *(wrong for wrong, _ in exercise.mistakes))
    ]
    for line in exercise.solution.strip().splitlines():
        formula = line.strip().removeprefix("return ").partition(" = ")[
            2
        ] or line.strip().removeprefix("return ")
        if len(formula) > 8:
            assert not [hint for hint in said if formula in hint], formula

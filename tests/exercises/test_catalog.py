"""What is true of every exercise: its mistakes are recognized, none of them passes, and names say
the notebook.
"""

from typing import Any

import pytest

import gradlab as gl
from gradlab.exercises.catalog import EXERCISES, NOTEBOOKS, PREDICTIONS, notebook
from gradlab.exercises.questions import Choice, Coded

MISTAKES = [
    pytest.param(name, answer, hint, id=f"{name}-{k}")
    for name, exercise in EXERCISES.items()
    for k, (answer, hint) in enumerate(exercise.mistakes)
]


@pytest.mark.parametrize(("name", "answer", "hint"), MISTAKES)
def test_every_mistake_fails_and_is_called_by_its_name(name: str, answer: Any, hint: str) -> None:
    feedback = EXERCISES[name](answer)
    assert not feedback.right
    assert hint in feedback.text


@pytest.mark.parametrize("name", EXERCISES)
def test_every_exercise_asks_something_and_knows_what_goes_wrong(name: str) -> None:
    exercise = EXERCISES[name]
    hints = [hint for _, hint in exercise.mistakes]
    assert exercise.question.endswith("?" if isinstance(exercise, Choice) else ".")
    assert len(set(hints)) >= (len(exercise.letters) - 1 if isinstance(exercise, Choice) else 5)
    assert all(hints)


@pytest.mark.parametrize(
    "name", [name for name, exercise in EXERCISES.items() if isinstance(exercise, Coded)]
)
def test_what_is_right_passes(name: str) -> None:
    exercise = EXERCISES[name]
    assert isinstance(exercise, Coded)
    assert exercise(exercise.right).right


def test_every_name_says_its_notebook() -> None:
    for name in (*EXERCISES, *PREDICTIONS):
        assert notebook(name)[3:].split("_")[0] in {name.split("_")[0].split(".")[0], "stale"}
    assert len(set(NOTEBOOKS.values())) == len(NOTEBOOKS)


def test_a_reader_who_looks_finds_what_is_to_be_called() -> None:
    assert dir(gl.exercises) == sorted(gl.exercises.__all__)

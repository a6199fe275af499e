"""Multiple choice in a notebook: a press answers as a check does, and says what is thought of it."""

import pytest

import gradlab as gl
from gradlab.exercises.catalog import EXERCISES
from gradlab.exercises.questions import Choice


def test_a_press_answers_and_what_is_said_is_shown() -> None:
    asked = gl.exercises.choose("start.sign")
    row, said = asked.box.children
    assert [button.description for button in row.children] == ["(a)", "(b)", "(c)"]
    row.children[0].click()
    assert (
        "Not yet. The gradient points" in said.value and row.children[0].button_style == "warning"
    )
    row.children[1].click()
    assert "Right." in said.value and 'role="status"' in said.value
    assert [button.button_style for button in row.children] == ["", "success", ""]


def test_what_was_right_stays_right() -> None:
    asked = gl.exercises.choose("start.sign")
    row, said = asked.box.children
    row.children[1].click()
    row.children[2].click()
    assert "The right answer was (b). " in said.value and "Not yet" not in said.value
    assert [button.button_style for button in row.children] == ["", "success", ""]


def test_what_is_saved_of_it_tells_no_answer() -> None:
    for name, exercise in EXERCISES.items():
        if isinstance(exercise, Choice):
            shown = gl.exercises.choose(name)._repr_mimebundle_()
            assert "application/vnd.jupyter.widget-view+json" in shown
            assert shown["text/plain"].startswith(f"{exercise.question} Press (a)")
            assert "Right" not in shown["text/html"]


def test_what_is_not_multiple_choice_has_no_buttons() -> None:
    with pytest.raises(
        ValueError,
        match=r"'start.norm' is not a multiple-choice exercise; choose one of: start.sign",
    ):
        gl.exercises.choose("start.norm")

"""What is said to letters, functions and anything else that is given as an answer."""

import sys
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.exercises import Feedback
from gradlab.exercises.catalog import EXERCISES
from gradlab.exercises.questions import Choice, Coded, Judged
from gradlab.exercises.starters import run_code


def test_feedback_reads_as_a_sentence() -> None:
    assert repr(Feedback(True, "Because.")) == "Right. Because."
    assert repr(Feedback(False, "Look.")) == "Not yet. Look."
    assert (
        Feedback(True, "Because.", progress="1 of 2")._repr_html_()
        == "<p>Right. Because. (1 of 2)</p>"
    )
    assert Feedback(False, "0 < 1")._repr_html_() == "<p>Not yet. 0 &lt; 1</p>"
    assert Feedback(True, "")
    assert not Feedback(False, "")


LEFT_OR_RIGHT = Choice(
    "Left or right?", a=(False, "That is the other side."), b=(True, "The right one.")
)


@pytest.mark.parametrize("answer", ["b", " B ", "(b)"])
def test_the_right_letter_is_right(answer: str) -> None:
    assert repr(LEFT_OR_RIGHT(answer)) == "Right. The right one."


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("a", "Not yet. That is the other side."),
        (None, "Your turn. Write your guess first: one of 'a', 'b'."),
        ("ab", "Not yet. The answers are 'a', 'b'; got 'ab'."),
        (2, "Not yet. The answers are 'a', 'b'; got 2."),
    ],
)
def test_anything_else_is_not(answer: Any, said: str) -> None:
    assert repr(LEFT_OR_RIGHT(answer)) == said


def test_a_choice_knows_its_letters() -> None:
    assert LEFT_OR_RIGHT.letter == "b"
    assert LEFT_OR_RIGHT.mistakes == [("a", "That is the other side.")]


def test_a_judge_has_a_way_of_its_own() -> None:
    even = Judged(
        "An even number.", lambda answer: Feedback(answer % 2 == 0, "Halve it."), [(3, "Halve")]
    )
    assert even(4)
    assert not even(3)


DOUBLE = Coded(
    question="Double it.",
    cases=[{"t": np.array([0.0])}, {"t": np.array([1.0, -2.0])}],
    right=lambda t: 2 * t,
    mistakes=[(lambda t: t**2, "That squares."), (lambda t: abs(2 * t), "That loses the sign.")],
    otherwise=lambda got, t: f"{len(t)} numbers, and the first becomes {got[0]:g}.",
    done="It doubles.",
)
SPLIT = Coded(
    question="Split it.",
    cases=[{"t": np.arange(3.0), "at": 1.0}],
    right=lambda t, at: [t[:1], t[1:]],
    mistakes=[(lambda t, at: [t], "That is one piece.")],
    otherwise=lambda got, t, at: "No.",
    done="It splits.",
)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda t: t + t, "Right. It doubles."),
        (lambda t: [2 * x for x in t], "Right. It doubles."),
        (3, "Not yet. Pass the function itself, without calling it; got int."),
        (lambda: 1, "Not yet. For t = [0.0] it raises TypeError: "),
        (lambda t: None, "Not yet. For t = [0.0] it returns None; did you forget `return`?"),
        (
            lambda t: "two",
            "Not yet. For t = [0.0] it returns 'two'. The result must be an array of shape (1,).",
        ),
        (
            lambda t: 2.0 * t.sum(),
            "Not yet. For t = [0.0] it returns np.float64(0.0). The result must be an array of",
        ),
        (lambda t: t * t, "Not yet. For t = [1.0, -2.0] it returns [1.0, 4.0]. That squares."),
        (
            lambda t: abs(t + t),
            "Not yet. For t = [1.0, -2.0] it returns [2.0, 4.0]. That loses the sign.",
        ),
        (
            lambda t: 3 * t,
            (
                "Not yet. For t = [1.0, -2.0] it returns [3.0, -6.0]. 2 "
                "numbers, and the first becomes 3."
            ),
        ),
    ],
)
def test_a_function_gets_the_hint_for_the_first_case_it_fails(answer: Any, said: str) -> None:
    assert repr(DOUBLE(answer)).startswith(said)


def leaves(t: np.ndarray) -> np.ndarray:
    sys.exit(3)


def test_an_answer_that_ends_python_is_an_answer_that_raises() -> None:
    said = repr(DOUBLE(leaves))
    assert said.startswith("Not yet. For t = [0.0] it raises SystemExit: 3. ")
    for name in (
        "three_steps.process",
        "three_steps.minimize",
        "tpu_embeddings.rate",
        "staleness.accept",
    ):
        feedback = gl.exercises.check(name, lambda *arguments: sys.exit("bye"))
        assert not feedback and "raises SystemExit: bye" in feedback.text, name


def test_who_stops_an_answer_that_takes_too_long_stops_the_check() -> None:
    def stopped(t: np.ndarray) -> np.ndarray:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        DOUBLE(stopped)


@pytest.mark.parametrize(
    "name", [name for name, e in EXERCISES.items() if not isinstance(e, Choice)]
)
def test_what_a_notebook_comes_with_is_no_try(name: str) -> None:
    feedback = gl.exercises.check(name, run_code(EXERCISES[name].starter))
    assert repr(feedback) == f"Your turn. {EXERCISES[name].question}"
    assert not feedback.right and not feedback.is_answer
    assert feedback.mistake == "" and feedback.difference is None


def test_a_list_of_arrays_is_compared_part_by_part() -> None:
    assert SPLIT(lambda t, at: (t[:1], t[1:]))
    assert SPLIT(lambda t, at: [2 * t]).text.endswith(
        "The result must be a list of arrays of shapes (1,), (2,)."
    )
    assert SPLIT(lambda t, at: (t,)).text.endswith(
        "it returns [[0.0, 1.0, 2.0]]. That is one piece."
    )
    assert SPLIT(lambda t, at: t).text.endswith(
        "The result must be a list of arrays of shapes (1,), (2,)."
    )
    assert SPLIT(lambda t, at: [t[:1], t[:2]]).text.startswith(
        "For t = [0.0, 1.0, 2.0], at = 1 it returns [[0.0], [0."
    )


def test_an_answer_that_writes_into_its_arguments_harms_nobody() -> None:
    def careless(t: np.ndarray) -> np.ndarray:
        t *= 2
        return t

    assert DOUBLE(careless)
    assert DOUBLE(careless)


def test_whoever_stumbles_over_none_as_many_do_is_told_what_it_means() -> None:
    said = repr(
        gl.exercises.check(
            "start.descent",
            lambda weights, grads, lr: [w - lr * g for w, g in zip(weights, grads, strict=True)],
        )
    )
    assert "it raises TypeError: " in said and said.endswith("that weight stays as it is.")


def test_code_in_feedback_is_shown_as_code() -> None:
    answer = Choice(
        "Which?", a=(True, "Only the rows in `indices` do, where a < b."), b=(False, "No.")
    )
    assert (
        answer("a")._repr_html_()
        == "<p>Right. Only the rows in <code>indices</code> do, where a &lt; b.</p>"
    )


def test_a_number_is_not_called_an_array() -> None:
    norm = Coded(
        question="The norm.",
        cases=[{"g": np.array([3.0, 4.0])}],
        right=lambda g: np.linalg.norm(g),
        mistakes=[],
        otherwise=lambda got, g: "No.",
        done="It is 5.",
    )
    assert norm(lambda g: np.array([5.0])).text.endswith("The result must be one number.")

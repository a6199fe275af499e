"""A letter is read however it is written; what is no letter is answered by the letters there are."""

from typing import Any

import pytest

from gradlab.exercises import Feedback
from gradlab.exercises.choice import Choice, Judged

LEFT_OR_RIGHT = Choice("Left or right?", a=(False, "That is the other side."), b=(True, "The right one."))


@pytest.mark.parametrize("answer", ["b", " B ", "(b)"])
def test_the_right_letter_is_right(answer: str) -> None:
    assert repr(LEFT_OR_RIGHT(answer)) == "Right. The right one."


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("a", "Not yet. That is the other side."),
        (None, "Not yet. Write your guess first: one of 'a', 'b'."),
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
    even = Judged("An even number.", lambda answer: Feedback(answer % 2 == 0, "Halve it."), [(3, "Halve")])
    assert even(4)
    assert not even(3)

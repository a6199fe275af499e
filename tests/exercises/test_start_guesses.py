"""What the reader learns, and what is said about guesses of it."""

import numpy as np
import pytest

from gradlab.exercises.start_guesses import Reader
from gradlab.models import word_topics

TRUTH = Reader().truth(np.array(Reader.at))


def test_the_reader_learns_as_in_the_loop_of_the_notebook() -> None:
    assert (np.diff(TRUTH) > 0).all()
    assert 57 < TRUTH[-1] < 61  # the loop goes on to 61 %, so four in ten stay wrong
    topics = word_topics.shipped().held_out.topics
    assert 100 * np.bincount(topics).max() / len(topics) > 25  # whoever says the commonest topic: one in four


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        ([60, 50, 40, 30, 20], "so the curve rises"),
        ([5, 20, 40, 60, 65], "one line in eight"),
        ([20, 50, 70, 90, 98], "four in ten are still wrong"),
        ([20, 50, 70, 75, 80], "Not that soon"),
        ([25, 35, 45, 55, 65], "Quick, then slow"),
    ],
)
def test_what_is_said_depends_on_the_guess(guess: list[float], said: str) -> None:
    assert said in Reader().said(np.array(guess, float), TRUTH)

"""The result comes from the text, and the sentences beside it are true."""

import numpy as np
import pytest

from gradlab.exercises.tpu_embedding_guesses import Distinct

AT = np.array(Distinct.at)
TRUTH = Distinct().truth(AT)


def test_the_share_of_different_words_falls() -> None:
    assert (np.diff(TRUTH) < 0).all()
    assert TRUTH[0] >= 80
    assert 25 < TRUTH[2] < 40
    assert TRUTH[-1] < 10


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        ([10, 20, 30, 40, 50], "the share falls"),
        ([100, 95, 90, 80, 60], "falls much further"),
        ([100, 50, 5, 2, 1], "new ones keep coming"),
        ([90, 60, 30, 18, 6], "the more that saves"),
    ],
)
def test_what_is_said_depends_on_the_guess(guess: list[float], said: str) -> None:
    assert said in Distinct().said(np.array(guess, float), TRUTH)

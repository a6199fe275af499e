"""The result comes from the workers' speeds, and the sentences beside it are true."""

import numpy as np
import pytest

from gradlab.exercises.accumulator_guesses import Collect

TRUTH = Collect().truth(np.arange(1.0, 17.0))


def test_a_round_is_flat_until_the_last_worker() -> None:
    assert (np.diff(TRUTH) > 0).all()
    assert TRUTH[13] < 50
    assert 50 < TRUTH[14] < 55
    assert TRUTH[15] == 100


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        ([95, 96, 97, 98, 99, 99, 100], "stall of one in fifty"),
        ([5, 10, 20, 40, 60, 80, 100], "a third of the round"),
        ([40, 45, 50, 60, 80, 90, 100], "one or two workers to spare"),
        ([33, 36, 39, 42, 50, 60, 100], "doubles the round"),
    ],
)
def test_what_is_said_depends_on_the_guess(guess: list[float], said: str) -> None:
    assert said in Collect().said(np.array(guess, float), TRUTH)

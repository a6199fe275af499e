"""How often a limit from the beginning of a run fires, and what is said about guesses of it."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.exercises.your_run_guesses import Share

TRUTH = Share().truth(np.array(Share.at))


def test_a_limit_from_the_first_steps_is_too_low_for_the_rest() -> None:
    norms = gl.char_rnn.shipped()[3.0].global_norm
    assert TRUTH[2] == pytest.approx(100 * (norms[20:] > np.percentile(norms[:20], 95)).mean())
    assert 40 < TRUTH[0] < 50
    assert TRUTH[3] > 5
    assert TRUTH[-1] == 0


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        ([5, 5, 5, 5, 5, 6], "if the norms of a run stayed"),
        ([0, 5, 10, 15, 20, 25], "norms are small at first"),
        ([15, 12, 10, 8, 6, 5], "every second step"),
        ([60, 50, 40, 30, 20, 10], "calms down"),
        ([50, 40, 30, 10, 5, 2], "wrong by far"),
    ],
)
def test_what_is_said_depends_on_the_guess(guess: list[float], said: str) -> None:
    assert said in Share().said(np.array(guess, float), TRUTH)

"""What limits and clips really do, and what is said about guesses."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.exercises.clipping_guesses import Share, Spikes, Turn
from gradlab.exercises.prediction import Prediction


@pytest.mark.parametrize(
    ("prediction", "guess", "sentence"),
    [
        (Share(), [0] * 5 + [50] * 6, "so it falls"),
        (Share(), [10, 20, 30, 40, 50, 60, 50, 30, 20, 10, 0], "begins at 100 %"),
        (Share(), [100, 90, 80, 70, 60, 50, 40, 30, 20, 10, 0], "The fall is steep"),
        (Share(), [100, 100, 0] + [0] * 8, "record them before you choose"),
        (Share(), [100] * 6 + [5] * 5, "You have the place of the fall"),
        (Turn(), [0.0] * 11, "It does turn"),
        (Turn(), [0, 9, 18, 27, 36, 45, 36, 27, 18, 9, 0], "both entries are cut alike"),
        (Turn(), [45, 30, 20, 15, 5, 0, 5, 15, 20, 30, 45], "Along an axis"),
        (Turn(), [0, 10, 20, 20, 10, 0, 10, 20, 20, 10, 0], "in between the clip pulls"),
        (Spikes(), [30], "Spikes are rare"),
        (Spikes(), [4], "A handful"),
    ],
)
def test_the_sentence_fits_the_guess(prediction: Prediction, guess: list[float], sentence: str) -> None:
    truth = np.atleast_1d(prediction.truth(np.array(prediction.at, float)))
    assert sentence in prediction.said(np.array(guess, float), truth)


def test_the_results_are_the_librarys() -> None:
    run = gl.char_rnn.shipped()[None]
    share = Share().truth(np.array([0.01, 3.0, 10.0, 1000.0]))
    np.testing.assert_allclose(share, [100 * (run.global_norm > c).mean() for c in (0.01, 3.0, 10.0, 1000.0)])
    assert share[1] - share[2] > 79  # 8 norms in 10
    turn = Turn().truth(np.array([0.0, 30.0, 45.0, 60.0, 90.0]))
    np.testing.assert_allclose(turn, [0, 15, 0, 15, 0], atol=1e-3)
    assert Spikes().truth(np.empty(0)) == 3

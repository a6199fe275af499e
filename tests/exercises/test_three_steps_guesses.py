"""What momentum does with a gradient of zero, and what is said about guesses."""

from collections.abc import Callable

import numpy as np
import pytest

import gradlab as gl
from gradlab.exercises.three_steps_guesses import Coast


def test_the_truth_is_the_sum_of_a_shrinking_slot() -> None:
    x = np.array(Coast.at, float)
    np.testing.assert_allclose(Coast().truth(x), (1 - 0.9**x) / 0.1, rtol=1e-5)


def test_it_leaves_no_variables_behind() -> None:
    with gl.variable_collection():
        Coast().truth(np.array([1.0]))
        assert gl.trainable_variables() == []


@pytest.mark.parametrize(
    ("guess", "hint"),
    [
        (lambda x: 0 * x + 1, "not None"),
        (lambda x: 10 - np.abs(x - 15) / 2, "Nothing pulls it back"),
        (lambda x: x / 2, "comes to rest"),
        (lambda x: 10 - 9 * 0.8**x, "ten times as far"),
    ],
)
def test_a_guess_gets_the_sentence_it_needs(guess: Callable[[np.ndarray], np.ndarray], hint: str) -> None:
    x = np.array(Coast.at, float)
    assert hint in Coast().said(guess(x), Coast().truth(x))

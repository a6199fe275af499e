"""The results that predictions reveal, and what is said about guesses."""

import numpy as np
import pytest

from gradlab.exercises import adagrad_guesses

RATE, RATIO = adagrad_guesses.Rate(), adagrad_guesses.Ratio()


def test_the_rate_falls_with_the_root_of_the_steps() -> None:
    x = np.array([1.0, 10.0, 1000.0])
    np.testing.assert_allclose(RATE.truth(x), 100 / np.sqrt(0.1 + x), rtol=1e-6)


def test_the_rate_of_a_rare_feature_grows_with_the_root_of_its_rarity() -> None:
    assert RATIO.truth(np.empty(0)) == pytest.approx(np.sqrt(10000.1 / 100.1), rel=1e-6)


@pytest.mark.parametrize(
    ("guess", "hint"),
    [
        ([10, 20, 30, 40, 50, 60, 70], "the curve falls"),
        ([90] * 7, "It does not stay"),
        ([100, 30, 5, 2, 1, 1, 0], "Not that fast"),
        ([95, 80, 60, 50, 40, 30, 20], "It falls further"),
        ([95, 57, 31, 18, 10, 6, 3], "has no bound"),
    ],
)
def test_a_guess_of_the_rate_is_answered(guess: list[float], hint: str) -> None:
    assert hint in RATE.said(np.array(guess, float), RATE.truth(np.array(RATE.at)))


@pytest.mark.parametrize(("guess", "hint"), [(1.0, "has grown less"), (100.0, "the root of it"), (10.0, "less: 100")])
def test_a_guess_of_the_ratio_is_answered(guess: float, hint: str) -> None:
    assert hint in RATIO.said(np.array([guess]), np.array([10.0]))

"""Results come from the simulated engine, and the sentences beside them are true."""

import numpy as np
import pytest

from gradlab.exercises.staleness_guesses import Accepted, Straggler

FINE = np.arange(13.0)


@pytest.fixture(scope="module")
def share() -> np.ndarray:
    return Accepted().truth(FINE)


def test_more_is_accepted_the_higher_the_limit(share: np.ndarray) -> None:
    assert (np.diff(share) > 0).all()


def test_hardly_any_is_staler_than_ten_and_little_is_lost_at_seven(share: np.ndarray) -> None:
    assert share[0] < 20
    assert share[7] > 80
    assert share[10] > 95


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        ([90.0] * 7, "With limit 0"),
        ([10, 20, 30, 40, 50, 60, 70], "hardly any is staler"),
        ([10, 20, 30, 40, 80, 90, 99], "near seven"),
        ([10, 40, 60, 80, 90, 95, 99], "less stale"),
    ],
)
def test_what_is_said_depends_on_the_guess(guess: list[float], said: str, share: np.ndarray) -> None:
    assert said in Accepted().said(np.array(guess), share)


def test_a_straggler_starves() -> None:
    truth = Straggler().truth(np.array([]))
    assert truth == 0
    assert "28 gradients" in Straggler().said(np.array([40.0]), np.array([truth]))
    assert "thrown away" in Straggler().said(np.array([5.0]), np.array([truth]))

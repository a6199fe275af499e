"""Right answers are right, wrong ones get the hint that names the mistake; what the hints claim is
so.
"""

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.exercises import adagrad, check


def step(w: np.ndarray, accumulator: np.ndarray, g: np.ndarray, lr: float) -> list[np.ndarray]:
    accumulator = accumulator + g * g
    return [w - lr * g / np.sqrt(accumulator), accumulator]


def sparse(
    w: Any, accumulator: Any, indices: Any, values: Any, lr: float
) -> tuple[np.ndarray, np.ndarray]:
    for i in set(indices.tolist()):
        g = values[indices == i].sum()
        accumulator[i] += g * g
        w[i] -= lr * g / np.sqrt(accumulator[i])
    return w, accumulator


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("adagrad.first_step", "b"),
        ("adagrad.zero_epsilon", "(B)"),
        ("adagrad.stopped", "c"),
        ("adagrad.step", step),
        # As in Keras.
        ("adagrad.step", lambda w, a, g, lr: [w - lr * g / (np.sqrt(a + g * g) + 1e-7), a + g * g]),
        ("adagrad.step", lambda w, a, g, lr: [w - lr * g / np.sqrt(a + g * g + 1e-8), a + g * g]),
        ("adagrad.sparse", sparse),
    ],
)
def test_right_answers(name: str, answer: Any) -> None:
    assert check(name, answer).right, check(name, answer)


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("adagrad.first_step", "a", "Gradient descent does that"),
        ("adagrad.zero_epsilon", None, "Write your guess first"),
        ("adagrad.stopped", "b", "A NaN gradient does that"),
        (
            "adagrad.step",
            lambda w, a, g, lr: step(w, a, g, lr) if g.any() else [w * np.nan, a],
            "divide lr * g",
        ),
        ("adagrad.sparse", lambda w, a, i, v, lr: [w * 2, a], "Sum the values of each row first"),
        ("adagrad.sparse", None, "Pass the function itself"),
    ],
)
def test_wrong_answers_get_their_hint(name: str, answer: Any, hint: str) -> None:
    feedback = check(name, answer)
    assert not feedback
    assert hint in feedback.text, feedback


def test_the_answer_says_where_the_first_step_is_much_shorter_than_the_rate() -> None:
    said = check("adagrad.first_step", "b").text
    assert "a gradient of 0.01 moves its weight by 3.2% of the rate" in said
    rule = gl.rules.Adagrad()
    w = np.zeros(1)
    after, _ = rule(w, rule.init(w), np.array([0.01]), 1.0)
    assert round(-100 * after.item(), 1) == 3.2
    assert round(rule.initial_accumulator_value**0.5, 1) == 0.3


def test_the_first_step_is_as_long_as_the_answer_says() -> None:
    rule, w = gl.rules.Adagrad(), np.zeros(2)
    w, _ = rule(w, rule.init(w), np.array([1.0, 100.0]), 1.0)
    assert [f"{-x:.3f}" for x in w] == ["0.953", "1.000"]
    assert f"{-w[1]:.6f}" == "0.999995"


def test_one_huge_gradient_freezes_a_weight() -> None:
    rule, w = gl.rules.Adagrad(), np.float32([1.0])
    w, slots = rule(w, rule.init(w), np.float32([1e20]), 0.1)
    after, slots = rule(w, slots, np.float32([1.0]), 0.1)
    assert (w.tolist(), after.tolist(), slots[0].tolist()) == ([1.0], [1.0], [np.inf])


RATE, RATIO = adagrad.Rate(), adagrad.Ratio()


def test_the_rate_falls_with_the_root_of_the_steps() -> None:
    x = np.array([1.0, 10.0, 1000.0])
    np.testing.assert_allclose(RATE.truth(x), 100 / np.sqrt(0.1 + x), rtol=1e-6)


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
def test_a_rare_feature_moves_a_tenth_as_far_in_a_hundredth_of_the_steps() -> None:
    moved = []
    for count in (10_000, 100):
        rule, w = gl.rules.Adagrad(), np.zeros(1)
        slots = rule.init(w)
        for _ in range(count):
            w, slots = rule(w, slots, np.ones(1), 1.0)
        moved.append(abs(w[0]))
    assert moved[1] / moved[0] == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize(
    ("guess", "hint"),
    [(1.0, "has grown less"), (100.0, "the root of it"), (10.0, "about a tenth as far")],
)
def test_a_guess_of_the_ratio_is_answered(guess: float, hint: str) -> None:
    assert hint in RATIO.said(np.array([guess]), np.array([10.0]))

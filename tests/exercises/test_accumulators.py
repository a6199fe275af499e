"""Right answers are right, wrong ones get the hint that names the mistake; what the answers claim
is so.
"""

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.exercises import check
from gradlab.exercises.accumulators import Collect
from gradlab.models.asynchrony import measured_rounds


def mean(grads: list[np.ndarray], local_steps: list[int], step: int) -> np.ndarray:
    accumulator = gl.ConditionalAccumulator(np.float32, grads[0].shape)
    accumulator.set_global_step(step)
    for g, local_step in zip(grads, local_steps, strict=True):
        accumulator.apply_grad(g, local_step)
    return accumulator.take_grad(1)


def row_mean(indices: list[np.ndarray], values: list[np.ndarray], rows: int) -> np.ndarray:
    accumulator = gl.SparseConditionalAccumulator(np.float32, [rows])
    for i, v in zip(indices, values, strict=True):
        accumulator.apply_grad(i, v)
    taken, found = accumulator.take_grad(1), np.zeros(rows)
    found[taken.indices] = taken.values
    return found


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("accumulators.divisor", "c"),
        ("accumulators.forgotten", "C"),
        ("accumulators.sparse_rows", "b"),
        ("accumulators.mean", mean),
        ("accumulators.row_mean", row_mean),
    ],
)
def test_right_answers_and_what_the_accumulators_themselves_say(name: str, answer: Any) -> None:
    assert check(name, answer).right, check(name, answer)


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("accumulators.divisor", "a", "one sum and a count"),
        ("accumulators.forgotten", "b", "dropped silently"),
        ("accumulators.sparse_rows", None, "Write your guess first"),
        ("accumulators.mean", lambda grads, steps, step: grads[0] * 0, "divide their sum"),
        ("accumulators.row_mean", lambda i, v, rows: np.ones(rows), "For every row"),
        ("accumulators.mean", None, "Pass the function itself"),
    ],
)
def test_wrong_answers_get_their_hint(name: str, answer: Any, hint: str) -> None:
    feedback = check(name, answer)
    assert not feedback
    assert hint in feedback.text, feedback


def test_five_are_there_and_two_are_asked_for() -> None:
    accumulator = gl.ConditionalAccumulator(np.float32, [])
    for g in range(5):
        accumulator.apply_grad(np.float32(g))
    assert accumulator.take_grad(2) == 2.0


def test_whoever_forgets_the_step_is_dropped_after_the_first_take() -> None:
    accumulator = gl.ConditionalAccumulator(np.float32, [])
    assert accumulator.apply_grad(np.float32(1)).accepted
    accumulator.take_grad(1)
    receipt = accumulator.apply_grad(np.float32(1))
    assert (receipt.accepted, receipt.comparison) == (False, "0 < 1")
    assert accumulator.try_take(1) is None


def test_each_row_is_divided_by_its_own_count() -> None:
    found = row_mean(
        [np.array([0, 1]), np.array([1, 3])], [np.float32([2, 4]), np.float32([8, 6])], 4
    )
    assert found.tolist() == [2, 6, 0, 6]


TRUTH = Collect().truth(np.arange(1.0, 17.0))


def test_a_round_is_flat_until_the_last_worker() -> None:
    assert (np.diff(TRUTH) > 0).all()
    assert 50 < TRUTH[13] < 55
    assert 63 < TRUTH[14] < 68
    assert TRUTH[15] == 100


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        ([95, 96, 97, 98, 99, 99, 100], "a stall in one gradient of fifty"),
        ([5, 10, 20, 40, 60, 80, 100], "a third of the round"),
        ([40, 45, 50, 60, 80, 90, 100], "one or two workers to spare"),
        (
            [38, 40, 42, 45, 53, 66, 100],
            "1.5 times as long as for fifteen, and 1.9 times as long as for fourteen",
        ),
    ],
)
def test_what_is_said_depends_on_the_guess(guess: list[float], said: str) -> None:
    assert said in Collect().said(np.array(guess, float), TRUTH)


def test_the_times_of_rounds_in_the_answer_are_those_that_were_measured() -> None:
    """The page of the site says the answer without Python, so its numbers stand in it."""
    rounds = measured_rounds()
    guess = np.array([38.0, 40.0, 42.0, 45.0, 53.0, 66.0, 100.0])
    said = Collect().said(guess, guess)
    assert f"{rounds[15] / rounds[14]:.1f} times as long as for fifteen" in said
    assert f"{rounds[15] / rounds[13]:.1f} times as long as for fourteen" in said

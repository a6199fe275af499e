"""Right answers are right, wrong ones get the hint that names the mistake; what the answers claim
is so.
"""

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.exercises import check
from gradlab.exercises.staleness import Accepted, Straggler
from gradlab.workers import Bowl, Experiment, Server


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("staleness.third", "b"),
        ("staleness.both_pass", "(B)"),
        ("staleness.noted_late", "a"),
        ("staleness.accept", lambda now, noted, limit: now - noted <= limit),
        (
            "staleness.compensate",
            lambda g, now, read, strength: g * (1 + strength * g * (now - read)),
        ),
    ],
)
def test_right_answers(name: str, answer: Any) -> None:
    assert check(name, answer).right, check(name, answer)


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("staleness.third", "a", "Meanwhile the first worker's"),
        ("staleness.both_pass", "c", "What if the first has finished"),
        ("staleness.noted_late", None, "Write your guess first"),
        ("staleness.accept", lambda now, noted, limit: noted == 6, "must not exceed 2"),
        ("staleness.compensate", lambda g, now, read, strength: g * 3, "The weights went by"),
        ("staleness.compensate", 3, "Pass the function itself"),
    ],
)
def test_wrong_answers_get_their_hint(name: str, answer: Any, hint: str) -> None:
    feedback = check(name, answer)
    assert not feedback
    assert hint in feedback.text, feedback


def server(**fields: Any) -> Server:
    return Server(Experiment(Bowl(), **{"workers": 3, "staleness": 0, **fields}))


G = {"w": np.ones(2, np.float32)}


def test_the_third_of_three_workers_is_one_step_stale() -> None:
    asked = server()
    for worker in range(3):
        asked.fetch(worker)
    assert [asked.push(worker, G) for worker in range(3)] == [True, False, False]
    last = asked.ledger.rounds[-1]
    assert last.checked - last.recorded == 1


def test_two_workers_pass_or_one_does() -> None:
    for first, applied in (((0, 1), 2), ((0, 0), 1)):
        asked = server()
        asked.fetch(0), asked.fetch(1)
        asked.check(first[0], G)
        if first == (0, 0):
            asked.update(0)
            asked.check(1, G)
        else:
            asked.check(1, G)
            asked.update(0)
        asked.update(1)
        assert asked.step == applied


def test_a_step_noted_late_hides_an_update() -> None:
    asked = server()
    asked.read(1)
    asked.fetch(0)
    asked.push(0, G)
    asked.record(1)
    assert asked.push(1, G)
    last = asked.ledger.rounds[-1]
    assert (last.checked - last.recorded, last.checked - last.read) == (0, 1)


def test_the_names_are_listed() -> None:
    assert {"staleness.accept", "accumulators.mean"} <= set(gl.exercises.names())


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
    assert 99.9 < share[12] < 100


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        ([90.0] * 7, "With limit 0"),
        ([10, 20, 30, 40, 50, 60, 70], "limit 12 accepts nearly all"),
        ([10, 20, 30, 40, 80, 90, 99], "near seven"),
        ([10, 40, 60, 80, 90, 95, 99], "less stale"),
    ],
)
def test_what_is_said_depends_on_the_guess(
    guess: list[float], said: str, share: np.ndarray
) -> None:
    assert said in Accepted().said(np.array(guess), share)


def test_a_straggler_starves() -> None:
    truth = Straggler().truth(np.array([]))
    assert truth == 0
    assert "28 gradients" in Straggler().said(np.array([40.0]), np.array([truth]))
    assert "thrown away" in Straggler().said(np.array([5.0]), np.array([truth]))

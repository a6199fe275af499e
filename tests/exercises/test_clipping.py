"""Right answers are right, wrong ones get the hint that names the mistake."""

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.exercises import check, predict
from gradlab.exercises.clipping import Share, Spikes, Turn
from gradlab.exercises.prediction import Prediction


def by_norm(t: np.ndarray, limit: float) -> np.ndarray:
    norm = float(np.sqrt((t * t).sum()))
    return t * limit / max(norm, limit)


def by_global_norm(tensors: list[np.ndarray], limit: float) -> list[np.ndarray]:
    norm = float(np.sqrt(sum((t * t).sum() for t in tensors)))
    return [t * limit / max(norm, limit) for t in tensors]


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("clipping.direction", "b"),
        ("clipping.infinite", " C "),
        ("clipping.below", "b"),
        ("clipping.by_norm", by_norm),
        ("clipping.by_norm", gl.clip_by_norm),
        ("clipping.by_norm", lambda t, c: by_norm(t, c).tolist()),
        ("clipping.by_global_norm", by_global_norm),
        (
            "clipping.by_global_norm",
            lambda tensors, c: tuple(gl.clip_by_global_norm(tensors, c)[0]),
        ),
        ("clipping.keep_95", 1.25),
    ],
)
def test_right_answers(name: str, answer: Any) -> None:
    assert check(name, answer).right, check(name, answer)


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("clipping.direction", None, "Write your guess first"),
        ("clipping.direction", "d", "The answers are 'a', 'b', 'c'; got 'd'"),
        ("clipping.direction", "a", "A limit per tensor"),
        ("clipping.direction", "c", "How many different factors"),
        ("clipping.infinite", "a", "Which norm"),
        ("clipping.infinite", "b", "PyTorch and optax"),
        ("clipping.below", "a", "The documentation says so"),
        ("clipping.by_norm", lambda t, c: t.clip(-c, c), "clips every entry by itself"),
        (
            "clipping.by_norm",
            lambda t, c: t / np.sqrt((t * t).sum()) * c,
            "even where it was smaller",
        ),
        (
            "clipping.by_norm",
            lambda t, c: t / np.sqrt((t * t).sum()),
            "should have the norm of the limit",
        ),
        ("clipping.by_norm", lambda t, c: t / np.abs(t).sum() * c, "sum of the entries"),
        (
            "clipping.by_norm",
            lambda t, c: by_norm(t, c) if c < 5 else t / 2,
            "within the limit already",
        ),
        ("clipping.by_norm", lambda t, c: by_norm(t, c) if t.any() else t / 0, "0 / 0 is NaN"),
        ("clipping.by_norm", lambda t, c: t * 0.5, "Its norm was 5 and is 2.5 now; it should be 1"),
        (
            "clipping.by_global_norm",
            lambda tensors, c: [by_norm(t, c) for t in tensors],
            "a limit of its own",
        ),
        (
            "clipping.by_global_norm",
            lambda tensors, c: [t * 3 for t in tensors],
            "Its norm was 13 and is 39 now",
        ),
        ("clipping.keep_95", "1", "write it without quotes"),
        ("clipping.keep_95", 0.01, "keeps 0% of them, not 95%"),
        ("clipping.keep_95", 0.8, "Raise it"),
        ("clipping.keep_95", 100.0, "Lower it"),
    ],
)
def test_wrong_answers_get_their_hint(name: str, answer: Any, hint: str) -> None:
    feedback = check(name, answer)
    assert not feedback
    assert hint in feedback.text, feedback


def test_a_hint_is_not_the_solution() -> None:
    assert "1.25" not in check("clipping.keep_95", 0.8).text


def test_an_unknown_exercise_lists_the_others() -> None:
    with pytest.raises(
        ValueError, match=r"'adagrad.rate' is a prediction: use predict\('adagrad.rate'\)"
    ):
        check("adagrad.rate", lambda: None)
    with pytest.raises(
        ValueError, match=r"'clipping.below' is an exercise: use check\('clipping.below', answer\)"
    ):
        predict("clipping.below")
    with pytest.raises(ValueError, match=r"unknown exercise 'x'; choose one of: start.sign"):
        check("x", 1)


@pytest.mark.parametrize(
    ("prediction", "guess", "sentence"),
    [
        (Share(), [0] * 5 + [50] * 6, "so it falls"),
        (Share(), [10, 20, 30, 40, 50, 60, 50, 30, 20, 10, 0], "begins at 100%"),
        (Share(), [100, 90, 80, 70, 60, 50, 40, 30, 20, 10, 0], "The fall is steep"),
        (Share(), [100, 100, 0] + [0] * 8, "Unless you record them, you can't say"),
        (Share(), [100] * 6 + [5] * 5, "You have the place of the fall"),
        (Turn(), [0.0] * 11, "It does turn"),
        (Turn(), [0, 9, 18, 27, 36, 45, 36, 27, 18, 9, 0], "both entries are cut alike"),
        (Turn(), [45, 30, 20, 15, 5, 0, 5, 15, 20, 30, 45], "Along an axis"),
        (Turn(), [0, 10, 20, 20, 10, 0, 10, 20, 20, 10, 0], "in between the clip pulls"),
        (Spikes(), [30], "Spikes are rare"),
        (Spikes(), [4], "A handful"),
    ],
)
def test_the_sentence_fits_the_guess(
    prediction: Prediction, guess: list[float], sentence: str
) -> None:
    truth = np.atleast_1d(prediction.truth(np.array(prediction.at, float)))
    assert sentence in prediction.said(np.array(guess, float), truth)


def test_the_results_are_the_librarys() -> None:
    run = gl.models.char_rnn.shipped()[None]
    share = Share().truth(np.array([0.01, 3.0, 10.0, 1000.0]))
    np.testing.assert_allclose(
        share, [100 * (run.global_norm > c).mean() for c in (0.01, 3.0, 10.0, 1000.0)]
    )
    assert share[1] - share[2] > 79  # 8 norms in 10
    turn = Turn().truth(np.array([0.0, 30.0, 45.0, 60.0, 90.0]))
    np.testing.assert_allclose(turn, [0, 15, 0, 15, 0], atol=1e-3)
    assert Spikes().truth(np.empty(0)) == 3


def test_a_clip_by_global_norm_can_turn_a_step_with_momentum() -> None:
    assert "With momentum, the step can still turn." in check("clipping.direction", "b").text
    rule = gl.rules.Momentum()
    steps = []
    for limit in (1.0, 100.0):
        weights = np.zeros(2)
        slots = rule.init(weights)
        for gradient in (np.array([1.0, 0.0]), np.array([0.0, 10.0])):
            before = weights
            (clipped,), _ = gl.clip_by_global_norm([gradient], limit)
            weights, slots = rule(weights, slots, clipped, 0.1)
        step = weights - before
        steps.append(step / np.linalg.norm(step))
    assert steps[0] @ steps[1] < 0.9

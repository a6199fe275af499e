"""Right answers are right, wrong ones get the hint that names the mistake."""

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.exercises import check


def good(t: np.ndarray, limit: float) -> np.ndarray:
    norm = float(np.sqrt((t * t).sum()))
    return t * limit / max(norm, limit)


def divides_always(t: np.ndarray, limit: float) -> np.ndarray:
    return t / np.sqrt((t * t).sum()) * limit


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("clipping.turn", "b"),
        ("clipping.infinite", " C "),
        ("clipping.below", "b"),
        ("clipping.by_norm", good),
        ("clipping.by_norm", gl.clip_by_norm),
        ("clipping.keep_95", 1.25),
    ],
)
def test_right_answers(name: str, answer: Any) -> None:
    assert check(name, answer).right, check(name, answer)


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("clipping.turn", None, "Write your guess first"),
        ("clipping.turn", "d", "The answers are 'a', 'b', 'c'; got 'd'"),
        ("clipping.turn", "a", "A limit per tensor"),
        ("clipping.turn", "c", "How many different factors"),
        ("clipping.infinite", "a", "Which norm"),
        ("clipping.infinite", "b", "PyTorch and optax"),
        ("clipping.below", "a", "The documentation says so"),
        ("clipping.by_norm", 3, "Pass the function itself"),
        ("clipping.by_norm", lambda t, c: t, "over the limit: shrink it"),
        ("clipping.by_norm", lambda t, c: t.clip(-c, c), "clips every entry by itself"),
        ("clipping.by_norm", lambda t, c: t / 5.0, "within the limit already"),
        ("clipping.by_norm", divides_always, "within the limit already"),
        ("clipping.by_norm", lambda t, c: t / max(np.sqrt((t * t).sum()), 1) if c < 5 else t * 0.5, "should"),
        ("clipping.by_norm", lambda t, c: good(t, c) if t.any() else t / 0, "0 / 0 is NaN"),
        ("clipping.by_norm", lambda t, c: t.sum(), "must have the shape of t"),
        ("clipping.by_norm", lambda t: t, "raises TypeError"),
        ("clipping.by_norm", lambda t, c: None, "is there a return?"),
        ("clipping.keep_95", None, "Write a number first"),
        ("clipping.keep_95", "1", "A limit is a positive number"),
        ("clipping.keep_95", 0.01, "keeps 0% of them, not 95 %"),
        ("clipping.keep_95", 0.8, "Raise it"),
        ("clipping.keep_95", 100.0, "Lower it"),
    ],
)
def test_wrong_answers_get_their_hint(name: str, answer: Any, hint: str) -> None:
    feedback = check(name, answer)
    assert not feedback and hint in feedback.text, feedback


def test_a_hint_is_not_the_solution() -> None:
    assert "1.25" not in check("clipping.keep_95", 0.8).text


def test_an_unknown_exercise_lists_the_others() -> None:
    with pytest.raises(ValueError, match=r"no exercise 'x'; there are clipping.turn"):
        check("x", 1)

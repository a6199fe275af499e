"""A right middle step is right, a wrong one gets its hint; pairs in disorder are shown as pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.exercises import check

Pairs = list[tuple[Any, Any]]


def by_zip(pairs: Pairs) -> Any:
    grads, variables = zip(*pairs, strict=True)
    return zip(gl.clip_by_global_norm(grads, 1.0)[0], variables, strict=True)


def by_hand(pairs: Pairs) -> Pairs:
    norm = max(float(np.sqrt(sum((g * g).sum() for g, _ in pairs if g is not None))), 1.0)
    return [(g if g is None else g / norm, v) for g, v in pairs]


def on_present(clip: Any) -> Any:
    """The middle step that gives each gradient that is there to a clip of its own."""
    return lambda pairs: [(g if g is None else clip(g), v) for g, v in pairs]


@pytest.mark.parametrize("answer", [by_zip, by_hand, lambda pairs: tuple(by_zip(pairs))], ids=["zip", "hand", "tuple"])
def test_right_answers(answer: Any) -> None:
    assert check("three_steps.process", answer).right


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (1.0, "Pass the function itself"),
        (lambda pairs: None, "is there a return?"),
        (lambda pairs: pairs, "Its norm is over the limit: shrink it"),
        (lambda pairs: [(gl.clip_by_norm(g, 1.0), v) for g, v in pairs], "Is it the None?"),
        (lambda pairs: gl.clip_by_global_norm([g for g, _ in pairs], 1.0), "the tensors and the norm"),
        (lambda pairs: gl.clip_by_global_norm([g for g, _ in pairs], 1.0)[0], "a list of pairs"),
        (lambda pairs: 3.0, "a list of pairs"),
        (lambda pairs: [(v, g) for g, v in pairs], "the gradient comes first"),
        (lambda pairs: [(g, g) for g, _ in pairs], "must be the variable"),
        (lambda pairs: [p for p in by_hand(pairs) if p[0] is not None], "the pair without a gradient is gone"),
        (lambda pairs: by_hand(pairs)[:1], "3 pairs go in and 1 come out"),
        (lambda pairs: [*by_hand(pairs), pairs[0]], "3 pairs go in and 4 come out"),
        (lambda pairs: by_hand(pairs)[::-1], "another order"),
        (lambda pairs: [(np.zeros(1) if g is None else g, v) for g, v in by_hand(pairs)], "Zero is not None"),
        (lambda pairs: [(None, v) for _, v in pairs], "had a gradient and has none now"),
        (on_present(lambda g: g.sum()), "has shape () now, not (2,)"),
        (on_present(lambda g: gl.clip_by_norm(g, 1.0)), "gives every tensor a limit of its own"),
        (on_present(lambda g: g.clip(-1, 1)), "clips every entry by itself, and the step turns"),
        (
            lambda pairs: [(g if g is None else g / gl.global_norm([g for g, _ in pairs]), v) for g, v in pairs],
            "A limit only ever shortens",
        ),
        (on_present(lambda g: g / 2), "Its norm was 13 and is 6.5 now; it should be 1"),
    ],
)
def test_a_wrong_middle_step_gets_its_hint(answer: Any, hint: str) -> None:
    feedback = check("three_steps.process", answer)
    assert not feedback and hint in feedback.text, feedback


def test_pairs_in_disorder_are_shown_as_pairs() -> None:
    difference = check("three_steps.process", lambda pairs: pairs[::-1]).difference
    assert difference is not None
    assert difference.wanted == ["(2 numbers, u)", "(None, v)", "(1 number, w)"]
    assert difference.given == difference.wanted[::-1]

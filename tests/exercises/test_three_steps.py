"""Right answers are right, wrong ones get the hint that names the mistake."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.exercises import check
from gradlab.exercises.three_steps import Coast
from gradlab.train import GATE_NONE, GATE_OP
from gradlab.train.gate import product_race


def both_steps(opt: Any, loss: Any, var_list: Any, global_step: Any) -> None:
    opt.apply_gradients(opt.compute_gradients(loss, var_list), global_step=global_step)


def twice(opt: Any, loss: Any, var_list: Any, global_step: Any) -> None:
    for _ in range(2):
        both_steps(opt, loss, var_list, global_step)


def counted_twice(opt: Any, loss: Any, var_list: Any, global_step: Any) -> None:
    both_steps(opt, loss, var_list, global_step)
    global_step.assign_add(1)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("three_steps.none", "b"),
        ("three_steps.zero", "B"),
        ("three_steps.shared", " c"),
        ("three_steps.sessions", "c"),
        ("three_steps.minimize", both_steps),
        ("three_steps.race", ["gradient b", "update b", "gradient a", "update a"]),
        ("three_steps.race", ("gradient a", "update a", "gradient b", "update b")),
    ],
)
def test_right_answers(name: str, answer: Any) -> None:
    assert check(name, answer).right, check(name, answer)


@pytest.mark.parametrize(
    ("name", "letter", "hint"),
    [
        ("none", None, "Write your guess first"),
        ("none", "a", "every gradient is None"),
        ("none", "c", "What would momentum do"),
        ("zero", "a", "Is that zero?"),
        ("zero", "c", "still in the slot"),
        ("shared", "a", "One pair for each variable"),
        ("shared", "b", "By the chain rule"),
        ("sessions", "a", "Stack Overflow"),
        ("sessions", "b", "always a coin toss"),
    ],
)
def test_wrong_guesses_get_their_hint(name: str, letter: str | None, hint: str) -> None:
    feedback = check(f"three_steps.{name}", letter)
    assert not feedback and hint in feedback.text, feedback


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (None, "Pass the function itself"),
        (lambda opt, loss, var_list, global_step: loss, "No variable has moved"),
        (
            lambda opt, loss, var_list, global_step: opt.compute_gradients(loss, var_list),
            "No variable has moved",
        ),
        (
            lambda opt, loss, var_list, global_step: opt.minimize(loss),
            "minimize is what you are writing",
        ),
        (
            lambda opt, loss, var_list, global_step: both_steps(opt, loss(), var_list, global_step),
            "must be a function",
        ),
        (
            lambda opt, loss, var_list, global_step: both_steps(opt, loss, None, global_step),
            "not in var_list",
        ),
        (
            lambda opt, loss, var_list, global_step: both_steps(
                opt, loss, var_list[:1], global_step
            ),
            "Only one of",
        ),
        (
            lambda opt, loss, var_list, global_step: both_steps(opt, loss, var_list, None),
            "global_step is 0",
        ),
        (counted_twice, "global_step is 2"),
        (twice, "How many were there?"),
        (lambda opt, loss: None, "raises TypeError"),
    ],
)
def test_a_wrong_minimize_gets_its_hint(answer: Any, hint: str) -> None:
    feedback = check("three_steps.minimize", answer)
    assert not feedback and hint in feedback.text, feedback


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        ("gradient a", "Write a list of all four tasks"),
        (["gradient a", "update a"], "'gradient a', 'update a', 'gradient b', 'update b'"),
        (["gradient a", "gradient a", "update a", "update b"], "runs every task once"),
        (
            ["update b", "gradient b", "gradient a", "update a"],
            "'update b' cannot run before 'gradient b'",
        ),
        (["gradient a", "gradient b", "update a", "update b"], "Both gradients come first"),
        (["gradient b", "gradient a", "update b", "update a"], "Both gradients come first"),
    ],
)
def test_an_order_that_does_not_race_gets_its_hint(answer: Any, hint: str) -> None:
    feedback = check("three_steps.race", answer)
    assert not feedback and hint in feedback.text, feedback


def test_what_is_said_of_an_order_that_races_is_so() -> None:
    raced = []
    for order in product_race(GATE_NONE).outcomes():
        feedback, gated = check("three_steps.race", order), product_race(GATE_OP)
        gated.run(order[0])
        if feedback:
            raced.append(order)
            assert order[1] not in gated.ready and f"held {order[1]!r} back" in feedback.text
    assert len(raced) == 2


def test_checking_leaves_no_variables_and_no_counts_behind() -> None:
    with gl.variable_collection():
        for name, answer in (("process", list), ("minimize", both_steps), ("race", ["gradient a"])):
            check(f"three_steps.{name}", answer)
        assert (gl.trainable_variables(), gl.get_global_step()) == ([], None)


def test_the_guess_about_momentum_is_what_happens() -> None:
    with gl.variable_collection():
        moved, stopped = (gl.Variable([1.0], name=name) for name in ("moved", "stopped"))
        opt = gl.train.MomentumOptimizer(0.1, 0.9)
        opt.apply_gradients([(np.float32([1]), moved), (np.float32([1]), stopped)])
        before = moved.numpy(), stopped.numpy()
        opt.apply_gradients([(np.float32([0]), moved), (None, stopped)])
    assert moved.numpy()[0] == pytest.approx(before[0][0] - 0.09)
    assert stopped.numpy() == before[1]


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


@pytest.mark.parametrize(
    "answer", [by_zip, by_hand, lambda pairs: tuple(by_zip(pairs))], ids=["zip", "hand", "tuple"]
)
def test_right_middle_steps(answer: Any) -> None:
    assert check("three_steps.process", answer).right


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (1.0, "Pass the function itself"),
        (lambda pairs: None, "did you forget `return`?"),
        (lambda pairs: list(pairs), "Its norm is over the limit: shrink it"),
        (lambda pairs: [(gl.clip_by_norm(g, 1.0), v) for g, v in pairs], "Is it the None?"),
        (
            lambda pairs: gl.clip_by_global_norm([g for g, _ in pairs], 1.0),
            "the tensors and the norm",
        ),
        (lambda pairs: gl.clip_by_global_norm([g for g, _ in pairs], 1.0)[0], "a list of pairs"),
        (lambda pairs: 3.0, "a list of pairs"),
        (lambda pairs: [(v, g) for g, v in pairs], "the gradient comes first"),
        (lambda pairs: [(g, g) for g, _ in pairs], "must be the variable"),
        (
            lambda pairs: [p for p in by_hand(pairs) if p[0] is not None],
            "the pair without a gradient is gone",
        ),
        (lambda pairs: by_hand(pairs)[:1], "3 pairs go in and 1 come out"),
        (lambda pairs: [*by_hand(pairs), pairs[0]], "3 pairs go in and 4 come out"),
        (lambda pairs: by_hand(pairs)[::-1], "another order"),
        (
            lambda pairs: [(np.zeros(1) if g is None else g, v) for g, v in by_hand(pairs)],
            "Zero is not None",
        ),
        (lambda pairs: [(None, v) for _, v in pairs], "had a gradient and has none now"),
        (on_present(lambda g: g.sum()), "has shape () now, not (2,)"),
        (on_present(lambda g: gl.clip_by_norm(g, 1.0)), "gives every tensor a limit of its own"),
        (
            on_present(lambda g: g.clip(-1, 1)),
            "clips every entry by itself, and the gradient turns",
        ),
        (
            lambda pairs: [
                (g if g is None else g / gl.global_norm([g for g, _ in pairs]), v) for g, v in pairs
            ],
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
def test_a_guess_gets_the_sentence_it_needs(
    guess: Callable[[np.ndarray], np.ndarray], hint: str
) -> None:
    x = np.array(Coast.at, float)
    assert hint in Coast().said(guess(x), Coast().truth(x))

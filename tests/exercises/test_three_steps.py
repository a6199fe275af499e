"""Right answers are right, wrong ones get the hint that names the mistake."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab._variables.gate import product_race
from gradlab.exercises import check
from gradlab.train import GATE_NONE, GATE_OP


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
        ("sessions", "b", "need not be a lottery"),
    ],
)
def test_wrong_guesses_get_their_hint(name: str, letter: str | None, hint: str) -> None:
    feedback = check(f"three_steps.{name}", letter)
    assert not feedback and hint in feedback.text, feedback


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (None, "Pass the function itself"),
        (lambda opt, loss, var_list, global_step: None, "No variable has moved"),
        (lambda opt, loss, var_list, global_step: opt.compute_gradients(loss, var_list), "No variable has moved"),
        (lambda opt, loss, var_list, global_step: opt.minimize(loss), "minimize is what you are writing"),
        (lambda opt, loss, var_list, global_step: both_steps(opt, loss(), var_list, global_step), "must be a function"),
        (lambda opt, loss, var_list, global_step: both_steps(opt, loss, None, global_step), "not in var_list"),
        (lambda opt, loss, var_list, global_step: both_steps(opt, loss, var_list[:1], global_step), "Only one of"),
        (lambda opt, loss, var_list, global_step: both_steps(opt, loss, var_list, None), "global_step is 0"),
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
        (None, "Write a list of all four tasks"),
        ("gradient a", "Write a list of all four tasks"),
        (["gradient a", "update a"], "'gradient a', 'update a', 'gradient b', 'update b'"),
        (["gradient a", "gradient a", "update a", "update b"], "each once"),
        (["update b", "gradient b", "gradient a", "update a"], "'update b' cannot run before 'gradient b'"),
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

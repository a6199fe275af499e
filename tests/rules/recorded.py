"""Three steps of a rule against what TensorFlow 2.21 wrote down, or what follows on paper."""

from typing import Any

import numpy as np

import gradlab as gl

F = np.float32
W = F([1.0, -2.0, 0.25])
GRADIENTS = F([[0.3, -0.7, 1.1], [-0.4, 0.1, 0.6], [0.0, 0.9, -1.3]])


def steps(rule: gl.rules.Rule, lr: Any, w: Any = W, gradients: Any = GRADIENTS) -> list[list[Any]]:
    """[weights, slot, ...] after each step, with the fields that change from step to step."""
    shared, state, after = rule.start(), (w, rule.init(w)), []
    for g in gradients:
        state = rule.at(shared)(*state, g, lr)
        shared = rule.advance(shared)
        after.append([state[0], *state[1]])
    return after


def check_bits(rule: gl.rules.Rule, lr: float, recorded: Any) -> None:
    for got, expected in zip(steps(rule, F(lr)), recorded, strict=True):
        np.testing.assert_array_equal(np.array(got), F(expected))


def check_close(rule: gl.rules.Rule, lr: float, recorded: Any, **more: Any) -> None:
    """Within the tolerance of numbers that another compiler made."""
    for got, expected in zip(steps(rule, F(lr), **more), recorded, strict=True):
        np.testing.assert_allclose(np.array(got), F(expected), rtol=1e-6, atol=1e-7)

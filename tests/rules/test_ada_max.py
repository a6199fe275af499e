"""AdaMax step by step in float32, and what its shared field does."""

import numpy as np
import pytest

from gradlab.rules import AdaMax


def test_three_steps_bit_for_bit() -> None:
    f = np.float32
    rule, b1, b2, eps, lr = AdaMax(), f(0.9), f(0.999), f(1e-7), f(0.1)
    w, m, v, shared = f(1.0), f(0.0), f(0.0), rule.start()
    state = np.float32([1.0]), rule.init(np.float32([1.0]))
    for g in (f(0.3), f(-2.0), f(0.7)):
        m = m + f(g - m) * f(f(1) - b1)
        v = max(f(b2 * v), abs(g))
        w = w - f(lr / f(f(1) - shared["beta1_power"])) * f(m / f(v + eps))
        state = rule.at(shared)(*state, np.array([g]), lr)
        assert (state[0].item(), state[1][0].item(), state[1][1].item()) == (w, m, v)
        shared = rule.advance(shared)
    assert shared["beta1_power"] == pytest.approx(0.9**4)


def test_the_first_step_is_as_long_as_the_rate() -> None:
    rule, w = AdaMax(), np.zeros(2)
    w, _ = rule.at(rule.start())(w, rule.init(w), np.array([1e-3, -50.0]), 0.1)
    np.testing.assert_allclose(w, [-0.1, 0.1], rtol=2e-4)

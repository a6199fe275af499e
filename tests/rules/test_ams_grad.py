"""AMSGrad step by step in float32, and the slot that never shrinks."""

import numpy as np
import pytest

from gradlab.rules import AMSGrad


def test_three_steps_bit_for_bit() -> None:
    f = np.float32
    rule, b1, b2, eps, lr = AMSGrad(), f(0.9), f(0.999), f(1e-7), f(0.1)
    w, m, v, top, shared = f(1.0), f(0.0), f(0.0), f(0.0), rule.start()
    state = np.float32([1.0]), rule.init(np.float32([1.0]))
    for g in (f(0.3), f(-2.0), f(0.7)):
        m = m + f(g - m) * f(f(1) - b1)
        v = v + f(f(g * g) - v) * f(f(1) - b2)
        top = max(top, v)
        rate = f(lr * np.sqrt(f(f(1) - shared["beta2_power"]))) / f(f(1) - shared["beta1_power"])
        w = w - f(m * rate) / f(np.sqrt(top) + eps)
        state = rule.at(shared)(*state, np.array([g]), lr)
        assert (state[0].item(), *(s.item() for s in state[1])) == (w, m, v, top)
        shared = rule.advance(shared)
    assert [float(x) for x in shared.values()] == pytest.approx([0.9**4, 0.999**4])


def test_the_largest_mean_square_is_kept() -> None:
    rule, w = AMSGrad(beta2=0.5), np.ones(1)
    state = w, rule.init(w)
    for g in (4.0, 0.0, 0.0):
        state = rule(*state, np.array([g]), 0.1)
    assert (state[1][1].item(), state[1][2].item()) == (2.0, 8.0)

"""ProximalYogi step by step in float32, and where Yogi's mean square is not Adam's."""

import numpy as np

from gradlab.rules import ProximalYogi
from gradlab.rules.proximal_yogi import yogi

F = np.float32


def test_three_steps_bit_for_bit() -> None:
    rule, w, lr, one = ProximalYogi(l1=0.01, l2=0.1), np.array([1.0], F), F(0.1), F(1)
    slots = rule.init(w)
    x, v, m = F(1), F(1e-6), F(0)
    for g in (F(0.3), F(-2.0), F(0.7)):
        v = v + np.sign(g * g - v) * (one - F(0.999)) * (g * g)
        m = m * F(0.9) + g * (one - F(0.9))
        rate = lr / (np.sqrt(v) + F(1e-3))
        p = x - rate * m
        x = np.sign(p) * max(abs(p) - rate * F(0.01), F(0)) / (one + rate * F(0.1))
        w, slots = rule(w, slots, np.array([g]), lr)
        assert (w.item(), *(s.item() for s in slots)) == (x, v, m)


def test_the_mean_square_falls_slowly_where_adams_falls_fast() -> None:
    v = yogi(np.array([100.0]), np.array([0.1]), np.float64(0.9))
    np.testing.assert_allclose(v, 100 - 0.1 * 0.01)


def test_a_square_that_equals_the_mean_changes_nothing() -> None:
    assert yogi(np.array([4.0]), np.array([2.0]), np.float64(0.9)).tolist() == [4.0]


def test_l1_brings_weights_to_zero() -> None:
    rule, w = ProximalYogi(l1=100.0), np.array([0.1, -0.1])
    assert abs(rule(w, rule.init(w), np.array([0.1, 0.1]), 0.1)[0]).tolist() == [0.0, 0.0]

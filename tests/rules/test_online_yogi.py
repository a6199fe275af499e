"""OnlineYogi: FTRL's step with Yogi's mean square."""

import numpy as np

from gradlab.rules import Ftrl, OnlineYogi
from gradlab.rules.proximal_yogi import yogi


def test_two_steps() -> None:
    rule, w, lr = OnlineYogi(beta2=0.9, l1=0.01, l2=0.1), np.array([1.0]), 0.1
    slots = rule.init(w)
    x, v, linear = 1.0, 0.1, 0.0
    for g in (0.3, -2.0):
        new = yogi(np.float64(v), np.float64(g), np.float64(0.9))
        linear += g - (np.sqrt(new) - np.sqrt(v)) / lr * x
        x, v = (np.clip(linear, -0.01, 0.01) - linear) / (np.sqrt(new) / lr + 0.2), new
        w, slots = rule(w, slots, np.array([g]), lr)
        np.testing.assert_allclose([w.item(), *(s.item() for s in slots)], [x, v, linear])


def test_where_the_mean_square_grows_by_the_whole_square_it_is_ftrl() -> None:
    yogis, ftrl, w = (
        OnlineYogi(beta2=0.0, l1=0.05, l2=0.1),
        Ftrl(l1=0.05, l2=0.1),
        np.array([1.0, -2.0]),
    )
    a = b = (w, ftrl.init(w))
    for g in ([0.5, 1.0], [-2.0, 3.0]):  # each square is above the sum so far
        a, b = yogis(*a, np.array(g), 0.1), ftrl(*b, np.array(g), 0.1)
        np.testing.assert_allclose(a[0], b[0])


def test_l1_keeps_weights_at_zero() -> None:
    rule, w = OnlineYogi(l1=10.0), np.array([1.0])
    assert rule(w, rule.init(w), np.array([0.1]), 0.1)[0].tolist() == [0.0]

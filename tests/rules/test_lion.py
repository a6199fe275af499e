"""Lion beside a run of optax 0.2.8 (learning rate 0.1, its defaults) in float32."""

import numpy as np

from gradlab.rules import Lion

F = np.float32
GRADIENTS = ([0.1, -0.2, 0.0], [-0.3, 0.4, 0.25], [0.05, 0.05, -0.5])
WEIGHTS = ([0.9, -1.9, 0.5], [1.0, -2.0, 0.4], [0.9, -2.1, 0.5])
MEANS = ([0.001, -0.002, 0.0], [-0.00201, 0.00202, 0.0025], [-0.00148990, 0.00249980, -0.002525])


def test_three_steps_of_optax() -> None:
    rule, w = Lion(), F([1.0, -2.0, 0.5])
    slots = rule.init(w)
    for g, weights, means in zip(GRADIENTS, WEIGHTS, MEANS, strict=True):
        w, slots = rule(w, slots, F(g), F(0.1))
        np.testing.assert_allclose(w, weights, rtol=1e-6)
        np.testing.assert_allclose(slots[0], means, rtol=1e-5, atol=1e-9)


def test_the_step_has_one_size_and_none_at_all_for_nothing() -> None:
    rule, w = Lion(), np.zeros(3)
    assert rule(w, rule.init(w), np.array([1e-9, -1e9, 0.0]), 0.5)[0].tolist() == [-0.5, 0.5, 0.0]

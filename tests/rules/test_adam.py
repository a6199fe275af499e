"""Adam's bias correction, powers and places of epsilon; golden files hold TensorFlow's numbers."""

import numpy as np
import pytest

from gradlab.rules import Adam

F = np.float32
B1, B2, EPS, LR, ONE = F(0.9), F(0.999), F(1e-7), F(0.1), F(1)


def test_the_first_step_is_the_rate_whatever_the_gradient() -> None:
    rule, w = Adam(epsilon=0.0), np.zeros(3)
    moved = rule.at(rule.start())(w, rule.init(w), np.array([1e-3, -1.0, 1e3]), 0.1)[0]
    # Powers are float32, betas float64 here.
    np.testing.assert_allclose(moved, [-0.1, 0.1, -0.1], rtol=1e-4)


def test_without_bias_correction_nothing_changes_from_step_to_step() -> None:
    rule = Adam(bias_correction=False)
    assert rule.start() == rule.advance({}) == {}
    w, g = np.array([1.0]), np.array([2.0])
    moved = rule(w, rule.init(w), g, 0.1)[0]
    np.testing.assert_allclose(moved, 1 - 0.1 * 0.2 / (np.sqrt(0.004) + 1e-7))


def test_powers_are_kept_in_float32() -> None:
    rule = Adam(beta1=0.5)
    shared = rule.advance(rule.advance(rule.start()))
    assert shared == {"beta1_power": 0.125, "beta2_power": B2 * B2 * B2}
    assert {x.dtype for x in shared.values()} == {np.dtype(F)}


def test_epsilon_inside_the_root_is_squared() -> None:
    w, g = np.array([1.0]), np.array([2.0])
    outside, inside = (
        Adam(epsilon=0.5, epsilon_place=place)(w, (np.zeros(1), np.zeros(1)), g, 0.1)[0].item()
        for place in ("outside", "inside")
    )
    np.testing.assert_allclose(outside, 1 - 0.1 * 0.2 / (np.sqrt(0.004) + 0.5))
    np.testing.assert_allclose(inside, 1 - 0.1 * 0.2 / np.sqrt(0.004 + 0.25))


@pytest.mark.parametrize("field", ["epsilon_place", "order"])
def test_an_unknown_word_is_refused(field: str) -> None:
    with pytest.raises(ValueError, match=f"{field} must be one of .*; got 'sideways'"):
        Adam(**{field: "sideways"})

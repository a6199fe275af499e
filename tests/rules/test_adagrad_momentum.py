"""Adagrad's scale, momentum's sum, and how they meet."""

import numpy as np
import pytest

from gradlab.rules import Adagrad, AdagradMomentum, Momentum
from tests.rules.recorded import GRADIENTS, F, W, check_close, steps


@pytest.mark.parametrize("beta2", [1.0, 0.9])
@pytest.mark.parametrize("exponent", [2.0, 3.0])
@pytest.mark.parametrize("use_nesterov", [False, True])
def test_three_steps(beta2: float, exponent: float, use_nesterov: bool) -> None:
    rule = AdagradMomentum(0.5, use_nesterov, exponent, beta2, 0.25, 0.1, 0.9)
    w, a, m, expected = W.astype(float), 0.1, 0.9, []
    for g in GRADIENTS.astype(float):
        a = a + g * g if beta2 == 1 else beta2 * a + (1 - beta2) * g * g
        s = g / (a + 0.25) ** (1 / exponent)
        m = 0.5 * m + s
        w = w - 0.1 * (0.5 * m + s if use_nesterov else m)
        expected.append((w, a, m))
    check_close(rule, 0.1, expected)


def test_the_first_step_of_tensorflows_own_test_for_tpus() -> None:
    rule, w = AdagradMomentum(0.9, True, 3.0, 0.9, 0.1), F([0.0, 1.0])
    w, (accumulators, momenta) = rule(w, rule.init(w), F([8.0, 13.0]), 0.1)
    np.testing.assert_allclose(accumulators, [6.4, 16.9], rtol=1e-6)
    np.testing.assert_allclose(momenta, [4.286658318696995, 5.055844543526664], rtol=1e-6)
    np.testing.assert_allclose(w, [-0.8144650805524292, 0.03938953672993373], rtol=1e-6, atol=1e-6)


def test_without_momentum_it_is_adagrad() -> None:
    rule, adagrad = (
        AdagradMomentum(epsilon=0.0, initial_accumulator_value=0.1),
        Adagrad(epsilon=0.0),
    )
    for got, expected in zip(steps(rule, F(0.1)), steps(adagrad, F(0.1)), strict=True):
        np.testing.assert_allclose(got[:2], expected, rtol=1e-6)


def test_with_nothing_accumulated_it_is_momentum() -> None:
    # The scale is 1e30 ** -1e-9, nearly 1.
    rule = AdagradMomentum(0.9, beta2=0.0, epsilon=1e30, exponent=1e9)
    for got, expected in zip(steps(rule, F(0.1)), steps(Momentum(0.9), F(0.1)), strict=True):
        np.testing.assert_allclose(got[0], expected[0], rtol=1e-6, atol=1e-6)

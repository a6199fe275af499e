"""Centered RMSProp's two roundings, step by step in float32."""

import numpy as np
import pytest

from gradlab.rules import CenteredRMSProp

F = np.float32
RHO, MU, EPS, LR, ONE = F(0.9), F(0.2), F(1e-3), F(0.1), F(1)
GRADIENTS = (F(0.3), F(-2.0), F(0.7))


@pytest.mark.parametrize("order", ["dense", "sparse"])
def test_three_steps_bit_for_bit(order: str) -> None:
    rule, w = CenteredRMSProp(0.9, 0.2, 1e-3, order=order), np.array([1.0], F)
    slots = rule.init(w)
    x, rms, mom, mg = F(1), F(1), F(0), F(0)
    for g in GRADIENTS:
        if order == "dense":
            rms, mg = rms + (g * g - rms) * (ONE - RHO), mg + (g - mg) * (ONE - RHO)
            mom = mom * MU + (g * LR) / np.sqrt(F(rms - mg * mg) + EPS)
        else:
            rms, mg = rms * RHO + g * g * (ONE - RHO), mg * RHO + g * (ONE - RHO)
            mom = mom * MU + (ONE / np.sqrt(F(rms + EPS) - mg * mg)) * LR * g
        x = x - mom
        w, slots = rule(w, slots, np.array([g]), LR)
        assert (w.item(), *(s.item() for s in slots)) == (x, rms, mom, mg)


def test_a_gradient_that_never_changes_has_no_variance_but_epsilon() -> None:
    rule, w = CenteredRMSProp(rho=0.0, epsilon=4.0), np.zeros(1)
    assert rule(w, rule.init(w), np.array([3.0]), 0.5)[0].tolist() == [-0.75]


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(ValueError, match=r"order must be one of 'dense', 'sparse'; got 'up'"):
        CenteredRMSProp(order="up")

"""RMSProp's two roundings, step by step in float32."""

import numpy as np
import pytest

from gradlab.rules import RMSProp

F = np.float32
RHO, MU, EPS, LR, ONE = F(0.9), F(0.2), F(1e-3), F(0.1), F(1)
GRADIENTS = (F(0.3), F(-2.0), F(0.7))


@pytest.mark.parametrize("order", ["dense", "sparse"])
def test_three_steps_bit_for_bit(order: str) -> None:
    rule, w = RMSProp(0.9, 0.2, 1e-3, order=order), np.array([1.0], F)
    slots = rule.init(w)
    x, rms, mom = F(1), F(1), F(0)
    for g in GRADIENTS:
        if order == "dense":
            rms = rms + (g * g - rms) * (ONE - RHO)
            mom = mom * MU + (g * LR) / np.sqrt(rms + EPS)
        else:
            rms = rms * RHO + g * g * (ONE - RHO)
            mom = mom * MU + (ONE / np.sqrt(rms + EPS)) * LR * g
        x = x - mom
        w, slots = rule(w, slots, np.array([g]), LR)
        assert (w.item(), *(s.item() for s in slots)) == (x, rms, mom)


def test_the_mean_starts_where_it_is_told() -> None:
    assert [s.item() for s in RMSProp().init(np.zeros(1))] == [1.0, 0.0]
    assert [s.item() for s in RMSProp(initial_rms=0.0).init(np.zeros(1))] == [0.0, 0.0]


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(ValueError, match=r"order must be one of 'dense', 'sparse'; got 'up'"):
        RMSProp(order="up")

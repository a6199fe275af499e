"""LaProp beside a run of the JAX SparseCore library 0.1.0 (rate 0.1, its defaults) in float32."""

import numpy as np
import pytest

from gradlab.rules import LaProp

# Rules with their usual constants, some of which 16 bits cannot hold; what is said of that is in
# test_rule.py.
pytestmark = pytest.mark.filterwarnings("ignore::gradlab.errors.PrecisionWarning")

F = np.float32
GRADIENTS = ([0.1, 0.0, 2.0], [-0.3, 0.25, 1.0], [0.05, -0.5, 0.0])
WEIGHTS = (
    [0.9564110040664673, 0.5, -0.2935889959335327],
    [0.9750709533691406, 0.4391312897205353, -0.3606017231941223],
    [0.9800476431846619, 0.45052796602249146, -0.4209131896495819],
)
MU = [-0.04976662993431091, -0.11396680772304535, 0.6031146049499512]
NU = [0.0340140238404274, 0.10845749080181122, 1.5985976457595825]


def test_three_steps_of_the_sparsecore_library() -> None:
    rule, w = LaProp(), F([1.0, 0.5, -0.25])
    slots, shared = rule.init(w), rule.start()
    for g, weights in zip(GRADIENTS, WEIGHTS, strict=True):
        w, slots = rule.at(shared)(w, slots, F(g), F(0.1))
        shared = rule.advance(shared)
        np.testing.assert_allclose(w, weights, rtol=1e-6)
    np.testing.assert_allclose(slots[0], MU, rtol=2e-6)
    np.testing.assert_allclose(slots[1], NU, rtol=1e-6)


def test_without_a_power_the_mean_decays_by_beta2_at_once() -> None:
    rule, w = LaProp(beta2=0.75), np.ones(1)
    assert rule(w, rule.init(w), np.array([4.0]), 0.1)[1][1].item() == 4.0


def test_zero_gradients_in_float16_leave_numbers() -> None:
    rule, w = LaProp(), np.ones(2, np.float16)
    w, slots = rule(w, rule.init(w), np.zeros(2, np.float16), 0.1)
    assert w.tolist() == [1, 1]
    assert all(np.isfinite(s).all() for s in slots)


def test_a_mean_that_is_not_a_number_shows() -> None:
    rule, w = LaProp(), np.ones(1)
    assert np.isnan(rule(w, rule.init(w), np.array([np.nan]), 0.1)[0]).all()

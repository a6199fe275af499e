"""Row-wise Adam beside FBGEMM's formula, which has no CPU version to run: written out again in
double precision.
"""

import numpy as np
import pytest

from gradlab.rules import Adam, PartialRowWiseAdam
from tests.rules.test_row_wise_adagrad import GRADIENTS, F, W


def fbgemm(beta1: float, beta2: float, epsilon: float, rate: float) -> list[np.ndarray]:
    """Weights after each step, as `partial_rowwise_adam` of FBGEMM's optimizers.py (1.8, 2026)
    computes them.
    """
    weights, momentum1, momentum2, found = (
        W.astype(np.float64),
        np.zeros(W.shape),
        np.zeros(len(W)),
        [],
    )
    for t, grad in enumerate(GRADIENTS.astype(np.float64), 1):
        for row in range(len(W)):
            average = sum(x * x for x in grad[row]) / W.shape[1]
            momentum2[row] = average * (1 - beta2) + momentum2[row] * beta2
            root = (momentum2[row] / (1 - beta2**t)) ** 0.5 + epsilon
            momentum1[row] = momentum1[row] * beta1 + grad[row] * (1 - beta1)
            weights[row] -= rate * momentum1[row] / (1 - beta1**t) / root
        found.append(weights.copy())
    return found


@pytest.mark.parametrize(("betas", "tolerance"), [((0.5, 0.75), 3e-7), ((0.9, 0.999), 3e-6)])
def test_three_steps_of_fbgemms_formula(betas: tuple[float, float], tolerance: float) -> None:
    rule, w = PartialRowWiseAdam(*betas), W
    slots, shared = rule.init(w), rule.start()
    assert [s.shape for s in slots] == [(2, 4), (2, 1)]
    for g, expected in zip(GRADIENTS, fbgemm(*betas, 1e-8, 0.1), strict=True):
        w, slots = rule.at(shared)(w, slots, g, F(0.1))
        shared = rule.advance(shared)
        np.testing.assert_allclose(w, expected, rtol=0, atol=4 * tolerance)


def test_a_vector_is_adams() -> None:
    """But for the place of epsilon, which is 0 here."""
    own, other, w, g = PartialRowWiseAdam(epsilon=0.0), Adam(epsilon=0.0), W[0], GRADIENTS[0, 0]
    got, expected = (rule.at(rule.start())(w, rule.init(w), g, F(0.1))[0] for rule in (own, other))
    np.testing.assert_allclose(got, expected, rtol=1e-6)

"""The documented sequence of operations, on paper."""

import numpy as np

from gradlab import IndexedSlices
from gradlab.rules import FrequencyEstimator, dense_and_sparse

VISITS = [(1, [0, 1, 1]), (2, [0]), (5, [0, 1]), (40, [1]), (500, [0])]
ESTIMATES = [
    ([90.1, 90.1, 100.0], [1.0, 1.0, 0.0]),
    ([81.19, 90.1, 100.0], [2.0, 1.0, 0.0]),
    ([73.371, 81.49, 100.0], [5.0, 5.0, 0.0]),
    ([73.371, 76.841, 100.0], [5.0, 40.0, 0.0]),
    ([100.0, 76.841, 100.0], [500.0, 40.0, 0.0]),  # 495 steps are an outlier, and are capped
]


def test_visits_of_three_rows() -> None:
    rule = FrequencyEstimator(tau=0.1, max_delta=100.0, outlier_threshold=3.0)
    w = np.full((3, 1), 100.0)
    slots = rule.init(w)
    for (step, ids), expected in zip(VISITS, ESTIMATES, strict=True):
        g = IndexedSlices(np.zeros((len(ids), 1)), np.array(ids), (3, 1))
        w, slots = dense_and_sparse.rows(rule, w, slots, g, step)
        np.testing.assert_allclose([w[:, 0], slots[0][:, 0]], expected, rtol=1e-12)


def test_a_gradient_has_no_effect() -> None:
    rule, w = FrequencyEstimator(), np.full((2, 1), 100.0)
    still, pushed = (rule(w, rule.init(w), np.full((2, 1), g), 7) for g in (0.0, 1e9))
    np.testing.assert_array_equal(still[0], pushed[0])


def test_a_row_visited_every_fourth_step_is_found_out() -> None:
    rule, w = FrequencyEstimator(), np.full((1, 1), 100.0)
    slots = rule.init(w)
    for step in range(4, 600, 4):
        w, slots = rule(w, slots, np.zeros((1, 1)), step)
    np.testing.assert_allclose(w, 4.0, rtol=1e-4)


def test_the_weight_of_an_estimate_keeps_its_dtype() -> None:
    weight = FrequencyEstimator(max_delta=4.0, weight_exponent=0.5).transformed(
        np.float16([1.0, 4.0])
    )
    assert (weight.tolist(), weight.dtype) == ([0.5, 1.0], np.float16)

"""Against jax-tpu-embedding's F2A, and that rare rows step further."""

import numpy as np

from gradlab import IndexedSlices
from gradlab.rules import Adagrad, FrequencyAwareAdagrad, dense_and_sparse
from tests.rules.recorded import F, check_close, steps

RULE = FrequencyAwareAdagrad(0.01, 0.02, 1.5, 0.5)
# jax-tpu-embedding 0.1.0, its update function on XLA:CPU, steps 0, 1, 2.
F2A = [
    ([0.96684885, 0.498, -0.34727296], [0.11, 0.1, 4.1], [1, 1, 1]),
    ([1.0113493, 0.4521511, -0.37688965], [0.2, 0.1625, 5.1], [2, 2, 2]),
    ([0.99925447, 0.5138110, -0.37513587], [0.2025, 0.4125, 5.1], [3, 3, 3]),
]


def test_three_steps() -> None:
    check_close(
        RULE,
        0.1,
        F2A,
        w=F([1.0, 0.5, -0.25]),
        gradients=F([[0.1, 0, 2], [-0.3, 0.25, 1], [0.05, -0.5, 0]]),
    )


def test_with_exponent_0_it_is_adagrad() -> None:
    rule = FrequencyAwareAdagrad(probability_exponent=0.0)
    for got, expected in zip(steps(rule, F(0.1)), steps(Adagrad(epsilon=0.0), F(0.1)), strict=True):
        np.testing.assert_allclose(got[:2], expected, rtol=1e-6)


def test_rare_rows_step_further_up_to_the_limit() -> None:
    w = np.zeros((2, 1))
    for step, moved in ((0.0, 1.0), (4.0, 2.0), (16.0, 3.0)):  # 1, 4 ** 0.5, and the limit
        rule = FrequencyAwareAdagrad(max_lr_multiplier=3.0, initial_accumulator_value=0.0).at(
            {"step_counter": step}
        )
        g = IndexedSlices(np.ones((1, 1)), np.array([1]), (2, 1))
        new, (_, counters) = dense_and_sparse.rows(rule, w, rule.init(w), g, 1.0)
        assert (new.ravel().tolist(), counters.ravel().tolist()) == ([0.0, -moved], [0.0, 1.0])


def test_a_decay_below_one_forgets() -> None:
    rule = FrequencyAwareAdagrad(accumulator_decay=0.5, initial_accumulator_value=8.0)
    assert [a.item() for _, a, _ in steps(rule, 0.1, np.zeros(1), np.zeros((3, 1)))] == [
        4.0,
        2.0,
        1.0,
    ]


def test_penalties_pull_weights_without_gradient() -> None:
    rule = FrequencyAwareAdagrad(l1_regularization_strength=1.0, l2_regularization_strength=0.5)
    assert steps(rule, 0.5, np.array([2.0, -2.0]), np.zeros((1, 2)))[0][0].tolist() == [1.0, -1.0]

"""The optimizers of TensorFlow 1's TPU embeddings."""

from __future__ import annotations

from typing import Any

import pytest

from gradlab.tpu.experimental import (
    AdagradParameters,
    AdamParameters,
    FtrlParameters,
    StochasticGradientDescentParameters,
)
from gradlab.tpu.experimental.embedding import FTRL, SGD, Adagrad, Adam

COMMON = {
    "clip_weight_min": -1.0,
    "clip_weight_max": 2.0,
    "weight_decay_factor": 0.5,
    "multiply_weight_decay_factor_by_learning_rate": True,
}
CASES = [
    (AdagradParameters(0.1), Adagrad(0.1)),
    (AdagradParameters(0.1, 0.5, False), Adagrad(0.1, 0.5, use_gradient_accumulation=False)),
    (AdamParameters(0.1), Adam(0.1, epsilon=1e-8, sum_inside_sqrt=True)),
    (
        AdamParameters(0.1, 0.8, 0.9, 0.5, False, False),
        Adam(0.1, 0.8, 0.9, 0.5, lazy_adam=False, sum_inside_sqrt=False),
    ),
    (FtrlParameters(0.1), FTRL(0.1)),
    (
        FtrlParameters(0.1, -0.25, 0.5, 0.01, 0.02, multiply_linear_by_learning_rate=True, beta=1),
        FTRL(0.1, -0.25, 0.01, 0.02, 1, 0.5, multiply_linear_by_learning_rate=True),
    ),
    (StochasticGradientDescentParameters(0.1), SGD(0.1)),
    (StochasticGradientDescentParameters(0.1, **COMMON), SGD(0.1, **COMMON)),
    (AdagradParameters(0.1, **COMMON), Adagrad(0.1, **COMMON)),
    (AdamParameters(0.1, clip_gradient_min=-3.0), Adam(0.1, epsilon=1e-8, clipvalue=(-3.0, None))),
]


def test_they_configure_what_the_optimizer_does() -> None:
    # A loop, as a default run has only some of many parameters.
    for parameters, expected in CASES:
        found = parameters.optimizer

        assert found.parameters({}) == expected.parameters({}), parameters
        assert found.slot_initializers == expected.slot_initializers, parameters


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: AdagradParameters(0.1, 0.0), "Adagrad initial_accumulator must be positive"),
        (lambda: AdamParameters(0.1, beta1=1.0), "beta1 must be at least 0 and less than 1"),
        (lambda: AdamParameters(0.1, epsilon=0.0), "epsilon must be positive"),
        (
            lambda: AdamParameters(0.1, lazy_adam=False, use_gradient_accumulation=False),
            "When disabling Lazy Adam",
        ),
        (lambda: FtrlParameters(0.1, 0.5), "learning_rate_power must be less than or equal to 0"),
        (lambda: FtrlParameters(0.1, initial_accumulator_value=-1.0), "must be at least 0"),
        (lambda: FtrlParameters(0.1, l1_regularization_strength=-1.0), "l1_regularization"),
        (
            lambda: StochasticGradientDescentParameters(0.1, False, clip_gradient_max=1.0),
            "gradient accumulation must be enabled",
        ),
    ],
)
def test_numbers_out_of_range_are_refused(make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_an_accumulator_may_begin_at_zero() -> None:
    parameters = FtrlParameters(0.1, initial_accumulator_value=0.0, allow_zero_accumulator=True)

    found = parameters.optimizer.parameters({})

    assert found.ftrl.allow_zero_accumulator
    assert parameters.optimizer.slot_initializers[0].value == 0

"""Decays by name: how optimizers read them. Their rates are in conformance/test_train_v1.py."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from tests.differences import differs


def test_an_optimizer_reads_the_rate_at_every_step() -> None:
    v = gl.Variable([8.0], name="v")
    step = gl.Variable(0, trainable=False)
    rate = gl.train.exponential_decay(1.0, step, decay_steps=1, decay_rate=0.5)
    opt = gl.train.GradientDescentOptimizer(rate)

    values = []
    for _ in range(3):
        opt.apply_gradients([([1.0], v)], global_step=step)
        values.append(v.numpy().item())

    assert values == [7.0, 6.5, 6.25]


@pytest.mark.parametrize("name", ["exponential_decay", "inverse_time_decay", "natural_exp_decay"])
def test_without_a_step_the_rate_cannot_be_read(name: str) -> None:
    rate = getattr(gl.train, name)(0.1, None, 5, 0.5)

    with pytest.raises(ValueError, match="global_step is None; give a Variable"):
        rate()


def test_a_cosine_takes_rates_of_float32_alone() -> None:
    with pytest.raises(
        gl.errors.DTypeError, match="learning_rate must be float32 in a cosine decay, got float64"
    ):
        gl.train.cosine_decay(np.float64(0.1), 1, 10)


@pytest.mark.parametrize(
    ("x", "boundaries", "values", "message"),
    [
        (1, [2.5], [1.0, 0.5], "boundaries \\(float32\\) must have the same dtype as x"),
        (1, [2], [1, 0.5], "values must have one dtype, got int32 and float32"),
        (1, [2, 5], [1.0, 0.5], "one more than boundaries"),
    ],
)
def test_pieces_of_other_dtypes_and_lengths_are_refused(
    x: int, boundaries: list, values: list, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        gl.train.piecewise_constant(x, boundaries, values)()


@differs(
    "noisy_linear_cosine_decay, called twice at one step",
    tensorflow="other noise",
    gradlab="the same rate",
)
def test_the_noise_of_a_step_is_the_same_at_every_call() -> None:
    rate = gl.train.noisy_linear_cosine_decay(1.0, 3, decay_steps=10)

    assert rate() == rate()

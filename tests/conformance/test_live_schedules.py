"""gradlab's schedules beside Keras's legacy ones, on any hyperparameters and steps, in float32 and
float64.

Equal bits where only the four operations are used. Where a power, a cosine or a logarithm comes in,
gradlab's is rounded from float64 and TensorFlow's is the C library's, hardly ever another number: 2
units in the last place of the largest rate pass.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradlab as gl
from tests.golden.tensorflow_values import tensorflow

pytestmark = pytest.mark.tensorflow

repeatable = settings(max_examples=60, deadline=None, derandomize=True)
rates = st.one_of(st.sampled_from([0.1, 0.01, 1.0, 0.003]), st.floats(2**-10, 4.0, width=32))
initial = st.one_of(rates, rates.map(np.float64))
lengths = st.one_of(st.integers(1, 50), st.floats(0.5, 50.0, width=32))
shares = st.floats(0.0, 1.0, width=32, allow_subnormal=False).map(lambda x: round(x, 3))
steps = st.lists(st.integers(0, 300), min_size=1, max_size=8)


@pytest.fixture(scope="module")
def keras() -> Any:
    tensorflow()
    import tf_keras

    return tf_keras.optimizers.schedules


def agree(keras: Any, name: str, at: list[int], exact: bool, *args: Any, **kwargs: Any) -> None:
    """Both give the same rates, of the same dtype, and the same configs, in every format."""
    mine, theirs = (
        getattr(gl.schedules, name)(*args, **kwargs),
        getattr(keras, name)(*args, **kwargs),
    )
    got, want = (
        np.array([mine(step) for step in at]),
        np.array([theirs(step).numpy() for step in at]),
    )
    assert got.dtype == want.dtype
    allowed = 0.0 if exact else 2 * np.spacing(np.max([*want, args[0]]).astype(want.dtype))
    assert np.abs(got - want).max() <= allowed, f"{got} is not {want}"
    assert mine.get_config() == theirs.get_config()
    for legacy in (False, True):
        written = gl.schedules.serialize(mine, use_legacy_format=legacy)
        assert written == keras.serialize(theirs, use_legacy_format=legacy)
        assert (
            keras.deserialize(written, use_legacy_format=legacy).get_config() == mine.get_config()
        )


@repeatable
@given(st.data())
def test_exponential(keras: Any, data: st.DataObject) -> None:
    args = data.draw(st.tuples(initial, lengths, shares, st.booleans()))
    agree(keras, "ExponentialDecay", data.draw(steps), False, *args)


@repeatable
@given(st.data())
def test_inverse_time(keras: Any, data: st.DataObject) -> None:
    args = data.draw(st.tuples(initial, lengths, shares, st.booleans()))
    agree(keras, "InverseTimeDecay", data.draw(steps), True, *args)


@repeatable
@given(st.data())
def test_polynomial(keras: Any, data: st.DataObject) -> None:
    power = data.draw(st.sampled_from([1.0, 2.0, 0.5, 3.3]))
    args = data.draw(st.tuples(initial, st.integers(1, 50), shares))
    agree(keras, "PolynomialDecay", data.draw(steps), power == 1.0, *args, power=power)


@repeatable
@given(st.data())
def test_polynomial_cycle(keras: Any, data: st.DataObject) -> None:
    # TensorFlow's cycle knows float32 only.
    args = data.draw(st.tuples(rates, st.integers(1, 50), shares))
    agree(keras, "PolynomialDecay", data.draw(steps), False, *args, power=0.5, cycle=True)


@repeatable
@given(st.data())
def test_cosine(keras: Any, data: st.DataObject) -> None:
    args = data.draw(st.tuples(initial, lengths, shares))
    warmup = data.draw(st.one_of(st.none(), shares))
    agree(
        keras, "CosineDecay", data.draw(steps), False, *args, warmup_target=warmup, warmup_steps=5
    )


@repeatable
@given(st.tuples(initial, lengths, st.sampled_from([0.5, 1.0, 3.5]), shares, shares), steps)
def test_linear_cosine(keras: Any, args: Any, at: list[int]) -> None:
    """Keras's class is not among its public names."""
    from tf_keras.src.optimizers.schedules.learning_rate_schedule import LinearCosineDecay

    mine, theirs = gl.schedules.LinearCosineDecay(*args), LinearCosineDecay(*args)
    got, want = (
        np.array([mine(step) for step in at]),
        np.array([theirs(step).numpy() for step in at]),
    )
    assert got.dtype == want.dtype and mine.get_config() == theirs.get_config()
    assert np.abs(got - want).max() <= 2 * np.spacing(np.max([*want, args[0]]).astype(want.dtype))


@repeatable
@given(st.data())
def test_restarts(keras: Any, data: st.DataObject) -> None:
    t_mul = data.draw(st.sampled_from([1.0, 1.5, 2.0, 3.0]))
    args = data.draw(
        st.tuples(
            initial, st.integers(1, 50), st.just(t_mul), st.sampled_from([1.0, 0.5, 0.9]), shares
        )
    )
    agree(keras, "CosineDecayRestarts", data.draw(steps), False, *args)


@repeatable
@given(st.data())
def test_pieces(keras: Any, data: st.DataObject) -> None:
    boundaries = sorted(set(data.draw(st.lists(st.integers(0, 300), min_size=1, max_size=5))))
    values = data.draw(st.lists(rates, min_size=len(boundaries) + 1, max_size=len(boundaries) + 1))
    agree(
        keras, "PiecewiseConstantDecay", [*data.draw(steps), *boundaries], True, boundaries, values
    )


def test_every_restart_comes_at_tensorflow_s_step(keras: Any) -> None:
    for t_mul in (1.0, 1.5, 2.0, 3.0):
        mine, theirs = (s.CosineDecayRestarts(1.0, 3, t_mul) for s in (gl.schedules, keras))
        periods = range(1, 8)
        ends = [
            3 * n if t_mul == 1 else math.floor(3 * (t_mul**n - 1) / (t_mul - 1)) for n in periods
        ]
        at = [end + k for end in ends for k in (-1, 0, 1)]
        assert [float(mine(step)) for step in at] == pytest.approx(
            [float(theirs(step)) for step in at], abs=1e-6
        )


@pytest.mark.filterwarnings("ignore::gradlab.errors.KerasWarning")
@pytest.mark.parametrize("rate", [0.0, np.float64(0.1)])
def test_a_warmup_alone(keras: Any, rate: Any) -> None:
    kwargs = {"warmup_target": 10.0, "warmup_steps": 1500}
    agree(keras, "CosineDecay", [*range(0, 1500, 250), 1499], True, rate, 0, **kwargs)
    after = (
        gl.schedules.CosineDecay(rate, 0, **kwargs)(1500),
        keras.CosineDecay(rate, 0, **kwargs)(1500),
    )
    assert np.isnan(after).all()

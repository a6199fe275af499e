"""Quantization: levels, dtypes, the straight-through derivative, refusals."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradlab.errors import InvalidArgumentError
from gradlab.tpu import pack_rows, quantize, unpack_rows
from tests import ways

X = np.float32([-2.0, -1.0, -0.95, -0.5, 0.0, 0.1, 0.49, 0.5, 0.999, 1.0, 7.0])


def test_three_levels() -> None:
    assert quantize(X, -1.0, 1.0, 3).tolist() == [-1, -1, -1, 0, 0, 0, 0, 1, 1, 1, 1]


@given(st.lists(st.floats(-10, 10, width=32), min_size=1), st.integers(2, 300))
def test_the_result_is_the_nearest_level(entries: list[float], n: int) -> None:
    x, levels = np.array(entries), np.linspace(-2.0, 3.0, n)
    got = quantize(x, -2.0, 3.0, n)
    away = np.abs(got[:, None] - levels).min(axis=1)
    assert (away < 1e-12).all()
    assert (np.abs(got - np.clip(x, -2.0, 3.0)) <= np.diff(levels).max() / 2 + 1e-12).all()
    np.testing.assert_allclose(quantize(got, -2.0, 3.0, n), got, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
@pytest.mark.parametrize("way", [ways.numpy, ways.eager, ways.jit], ids=["numpy", "eager", "jit"])
def test_the_dtype_stays(dtype: Any, way: ways.Way) -> None:
    result = way(lambda x: quantize(x, -1.0, 1.0, 5), X.astype(dtype))
    assert result.dtype == dtype
    assert set(result.astype(float).tolist()) <= {-1.0, -0.5, 0.0, 0.5, 1.0}


def test_the_derivative_is_that_of_doing_nothing() -> None:
    slope = jax.grad(lambda x: (quantize(x, -1.0, 1.0, 3) * jnp.arange(11.0)).sum())(jnp.asarray(X))
    assert slope.tolist() == list(range(11))


def test_nan_stays() -> None:
    assert np.isnan(quantize(np.array([np.nan]), 0.0, 1.0, 4)).all()


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        ((X, 0.0, 1.0, 1), ValueError, "num_buckets must be at least 2, got 1"),
        ((X, 1.0, 1.0, 4), ValueError, "lower must be less than upper, got 1.0 and 1.0"),
        ((np.array([1, 2]), 0.0, 1.0, 4), TypeError, "x must be floating-point, got int64"),
    ],
)
def test_refused(args: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        quantize(*args)


@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("rows", [1, 7, 16])
def test_a_table_comes_back(rows: int, width: int) -> None:
    x = np.random.default_rng(0).normal(size=(rows, width)).astype(np.float32)
    packed = pack_rows(x)
    assert packed.shape == (-(-rows * width // 8), 8)
    np.testing.assert_array_equal(unpack_rows(packed, rows, width), x)
    np.testing.assert_array_equal(packed.reshape(-1)[: x.size], x.reshape(-1))
    assert not packed.reshape(-1)[x.size :].any()


def test_jax_under_jit() -> None:
    x = np.arange(10.0, dtype=np.float32).reshape(5, 2)
    there_and_back = jax.jit(lambda x: unpack_rows(pack_rows(x), 5, 2))
    np.testing.assert_array_equal(there_and_back(x), x)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pack_rows(np.zeros((3, 3))), "rows of width 3 do not fill a row of 8 numbers"),
        (lambda: pack_rows(np.zeros((3, 16))), "rows of width 16 do not fill a row of 8"),
        (lambda: pack_rows(np.zeros(3)), r"shape \(rows, width\), got \(3,\)"),
        (
            lambda: unpack_rows(np.zeros((3, 8)), 5, 2),
            r"5 rows of width 2 are packed to shape \(2, 8\), got \(3, 8\)",
        ),
        (lambda: unpack_rows(np.zeros(8), 4, 2), r"packed must be a matrix, got shape \(8,\)"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        call()

"""What may be given as a hyperparameter, and what becomes of it."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.hyperparameters import is_plain, scalar

F = np.float32


@pytest.mark.parametrize(
    ("given", "value", "dtype"),
    [
        (0.1, float(F(0.1)), float),
        (2, 2.0, float),
        (True, 1.0, float),
        (np.float64(0.1), 0.1, np.float64),
        (np.array(0.1), 0.1, np.float64),
        (F(0.1), F(0.1), F),
        (np.int64(3), 3, np.int64),
        (lambda: 0.1, float(F(0.1)), float),
        (lambda: np.float64(0.1), 0.1, np.float64),
    ],
)
def test_python_numbers_are_rounded_and_arrays_are_not(given: Any, value: float, dtype: type) -> None:
    got = scalar(given, "x")
    assert (got, type(got)) == (value, dtype)


def test_variables_and_jax_arrays_are_read() -> None:
    assert scalar(gl.Variable(0.5), "x") == 0.5
    assert scalar(jnp.float32(0.5), "x").dtype == F
    assert not any(map(is_plain, (gl.Variable(0.5), F(1), np.float64(1), lambda: 1, None, "1")))


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (None, ValueError, "beta is None"),
        ("0.1", TypeError, "beta must be numbers, got '0.1'"),
        ([0.1, 0.2], ValueError, r"beta must be a scalar, got shape \(2,\)"),
        (lambda: np.ones(3), ValueError, r"beta must be a scalar, got shape \(3,\)"),
    ],
)
def test_what_is_no_scalar_is_refused_by_name(given: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        scalar(given, "beta")

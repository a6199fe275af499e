"""clip_by_norm and clip_by_average_norm."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradlab as gl
from tests import ways
from tests.clip.cases import arrays, limits, norm

EPS = np.finfo(np.float32).eps


@given(arrays(), limits)
def test_the_norm_is_at_most_the_limit(t: np.ndarray, limit: float) -> None:
    assert norm(gl.clip_by_norm(t, limit)) <= limit * (1 + 4 * EPS)


@given(arrays(), limits)
def test_the_direction_stays(t: np.ndarray, limit: float) -> None:
    result = gl.clip_by_norm(t, limit)
    np.testing.assert_allclose(result * norm(t), t * norm(result), rtol=8 * EPS)


@given(arrays(), limits)
def test_below_the_limit_entries_move_by_one_ulp_at_most(t: np.ndarray, limit: float) -> None:
    if norm(t) <= limit:
        assert ways.ulps(gl.clip_by_norm(t, limit), t) <= 1


@given(arrays(), limits)
def test_clipping_twice_is_clipping_once(t: np.ndarray, limit: float) -> None:
    once = gl.clip_by_norm(t, limit)
    assert ways.ulps(gl.clip_by_norm(once, limit), once) <= 4


@given(arrays(), limits, st.sampled_from([0.25, 2.0, 16.0]))
def test_scaling_t_and_the_limit_scales_the_result(t: np.ndarray, limit: float, k: float) -> None:
    k = np.float32(k)
    np.testing.assert_array_equal(gl.clip_by_norm(t * k, limit * k), gl.clip_by_norm(t, limit) * k)


@given(arrays(min_dims=2), limits)
def test_axes_choose_what_is_one_vector(t: np.ndarray, limit: float) -> None:
    rows = np.stack([gl.clip_by_norm(row, limit) for row in t])
    by_row = gl.clip_by_norm(t, limit, axes=range(1, t.ndim))
    assert ways.ulps(by_row, rows) <= 4
    np.testing.assert_array_equal(
        by_row, gl.clip_by_norm(t, limit, axes=[a - t.ndim for a in range(1, t.ndim)])
    )
    alone = np.sign(t) * np.minimum(np.abs(t), np.float32(limit))
    assert ways.ulps(gl.clip_by_norm(t, limit, axes=[]), alone) <= 2
    np.testing.assert_array_equal(
        gl.clip_by_norm(t, limit, axes=[*range(t.ndim)]), gl.clip_by_norm(t, limit)
    )


def test_one_limit_per_row() -> None:
    t = np.array([[3.0, 4.0], [3.0, 4.0]])
    result = gl.clip_by_norm(t, np.array([[1.0], [10.0]]), axes=1)
    np.testing.assert_allclose(result, [[0.6, 0.8], [3.0, 4.0]])


@pytest.mark.exhaustive
def test_the_derivative_at_zero_is_one() -> None:
    for clip in (gl.clip_by_norm, jax.jit(gl.clip_by_norm)):
        np.testing.assert_array_equal(
            jax.jacobian(lambda t, clip=clip: clip(t, 1.0))(jnp.zeros(2)), np.eye(2)
        )


def test_the_derivative_above_the_limit_turns_only() -> None:
    jacobian = jax.jacobian(lambda t: gl.clip_by_norm(t, 1.0))(jnp.array([0.0, 2.0]))
    np.testing.assert_allclose(jacobian, [[0.5, 0.0], [0.0, 0.0]], atol=1e-7)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("limit", [1, 2.5, 10.0])
def test_the_limit_may_be_traced_and_takes_the_dtype_of_t(limit: float, dtype: str) -> None:
    t = jnp.array([3.0, 4.0], dtype)
    result = jax.jit(gl.clip_by_norm)(t, limit)
    assert ways.ulps(np.asarray(result), np.asarray(gl.clip_by_norm(t, limit))) <= 4
    (clipped,), _ = jax.jit(gl.clip_by_global_norm)([t], limit)
    assert clipped.dtype == t.dtype


@given(arrays(), st.floats(2**-6, 16.0, width=32))
def test_the_average_norm_is_at_most_the_limit(t: np.ndarray, limit: float) -> None:
    result = gl.clip_by_average_norm(t, limit)
    assert norm(result) / t.size <= limit * (1 + 8 * EPS)
    np.testing.assert_allclose(result * norm(t), t * norm(result), rtol=16 * EPS)


@pytest.mark.parametrize("clip", [gl.clip_by_norm, lambda t, c: gl.clip_by_average_norm(t, c / 2)])
def test_exactly_at_the_limit_the_derivative_is_that_of_a_clip(clip: object) -> None:
    """TensorFlow gives a tie of its maximum to the norm; half of it would be JAX's answer."""
    at, above = jnp.float32([3.0, 4.0]), jnp.float32([3.0, 4.0]) * (1 + 1e-5)
    derivative = jax.grad(lambda t: clip(t, 5.0)[0])
    np.testing.assert_allclose(derivative(at), derivative(above), rtol=1e-4)

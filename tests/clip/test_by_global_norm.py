"""global_norm and clip_by_global_norm."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradlab as gl
from tests import ways
from tests.clip.cases import arrays, limits, norm

EPS = float(np.finfo(np.float32).eps)
lists = st.lists(arrays(), min_size=1, max_size=4)


def _norm(ts: list[np.ndarray]) -> float:
    return float(np.sqrt(sum(norm(t) ** 2 for t in ts)))


@given(lists)
def test_the_norm_of_a_list_is_that_of_one_vector(ts: list[np.ndarray]) -> None:
    joined = np.concatenate([t.ravel() for t in ts])
    assert float(gl.global_norm(ts)) == pytest.approx(norm(joined), rel=8 * EPS)
    assert gl.global_norm(ts).dtype == np.float32


@given(lists, limits)
def test_the_norm_is_at_most_the_limit_and_the_direction_stays(
    ts: list[np.ndarray], limit: float
) -> None:
    clipped, before = gl.clip_by_global_norm(ts, limit)
    assert _norm(clipped) <= limit * (1 + 8 * EPS)
    assert before == gl.global_norm(ts)
    for t, c in zip(ts, clipped, strict=True):
        np.testing.assert_allclose(c * _norm(ts), t * _norm(clipped), rtol=16 * EPS)


@given(lists, limits)
def test_below_the_limit_entries_move_by_one_ulp_at_most(
    ts: list[np.ndarray], limit: float
) -> None:
    if _norm(ts) <= limit:
        assert ways.ulps(gl.clip_by_global_norm(ts, limit)[0], ts) <= 1


@given(lists, limits)
def test_clipping_twice_is_clipping_once(ts: list[np.ndarray], limit: float) -> None:
    once, _ = gl.clip_by_global_norm(ts, limit)
    assert ways.ulps(gl.clip_by_global_norm(once, limit)[0], once) <= 4


@given(lists, limits, st.sampled_from([0.25, 2.0, 16.0]))
def test_scaling_all_and_the_limit_scales_the_result(
    ts: list[np.ndarray], limit: float, k: float
) -> None:
    scaled, norm_of_scaled = gl.clip_by_global_norm([t * np.float32(k) for t in ts], limit * k)
    clipped, before = gl.clip_by_global_norm(ts, limit)
    assert ways.ulps(scaled, [c * np.float32(k) for c in clipped]) == 0
    assert norm_of_scaled == before * np.float32(k)


def test_a_negative_use_norm_flips_signs() -> None:
    (clipped,), _ = gl.clip_by_global_norm([np.float32([3.0, 4.0])], 1.0, use_norm=np.float32(-5.0))
    np.testing.assert_allclose(clipped, [-0.6, -0.8], rtol=1e-6)


def test_just_below_the_limit_a_factor_of_41_loses_one_ulp() -> None:
    (clipped,), _ = gl.clip_by_global_norm([np.float32([1.0])], 41.0)
    assert clipped[0] == np.nextafter(np.float32(1), np.float32(0))


@pytest.mark.parametrize("size", [5, 8192, 8193, 100_000])
def test_large_arrays_keep_their_norm(size: int) -> None:
    t = np.random.default_rng(size).normal(size=size).astype(np.float32)
    assert float(gl.global_norm([t, t])) == pytest.approx(np.sqrt(2) * norm(t), rel=4 * EPS)
    (clipped, _), _ = gl.clip_by_global_norm([t, t], 1.0)
    np.testing.assert_allclose(clipped, t / (np.sqrt(2) * norm(t)), rtol=8 * EPS)


def test_results_of_one_call_do_not_overlap() -> None:
    ts = [np.float32([1.0, 2.0]), np.float64([3.0]), np.float32([[4.0]])]
    clipped, _ = gl.clip_by_global_norm(ts, 100.0, use_norm=np.float32(1.0))
    for c in clipped:
        c += 1
    np.testing.assert_allclose(
        np.concatenate([c.ravel() for c in clipped]), [2, 3, 4, 5], rtol=1e-6
    )


def test_the_derivative_is_nan_at_zero_as_in_tensorflow() -> None:
    g = jax.grad(lambda t: gl.clip_by_global_norm([t], 1.0)[0][0].sum())(jnp.zeros(2))
    assert np.isnan(g).all()


def test_exactly_at_the_limit_the_derivative_is_that_of_a_clip() -> None:
    at, above = jnp.float32([3.0, 4.0]), jnp.float32([3.0, 4.0]) * (1 + 1e-5)
    derivative = jax.grad(lambda t: gl.clip_by_global_norm([t], 5.0)[0][0][0])
    np.testing.assert_allclose(derivative(at), derivative(above), rtol=1e-4)


def test_a_limit_that_does_not_fit_a_tensor_is_refused() -> None:
    t, limits = np.float32([3.0, 4.0, 0.0]), np.float32([1.0, 2.0])
    with pytest.raises(
        gl.errors.InvalidArgumentError, match=r"shape \(2,\), which does not fit .* \(3,\)"
    ):
        gl.clip_by_global_norm([t], limits)
    assert gl.clip_by_global_norm([t[:2]], limits)[0][0].shape == (2,)

"""Per-example clipping, against optax and against a loop."""

from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import optax
import pytest

import gradlab as gl
from tests import ways

RNG = np.random.default_rng(6)
GRADS = [
    RNG.normal(0, s, (16, *shape)).astype(np.float32)
    for s, shape in ((1, (3,)), (2, (2, 4)), (0.1, ()))
]
CLOSE = {"rtol": 2e-6, "atol": 2e-6}


@pytest.mark.exhaustive
@pytest.mark.parametrize("limit", [0.1, 5.0, 1000.0])
def test_the_global_clip_is_that_of_optax(limit: float) -> None:
    expected, clipped = optax.per_example_global_norm_clip(GRADS, limit)
    sums, count = gl.per_example_clip(GRADS, limit)
    assert int(count) == int(clipped)
    for a, b in zip(sums, expected, strict=True):
        np.testing.assert_allclose(a, b, **CLOSE)


@pytest.mark.parametrize(
    ("per_layer", "uniform"), [(True, True), ("uniform", True), ("size", False)]
)
@pytest.mark.parametrize("limit", [0.1, 3.0])
def test_the_clip_per_layer_is_that_of_optax(per_layer: Any, uniform: bool, limit: float) -> None:
    expected, clipped = optax.per_example_layer_norm_clip(GRADS, limit, uniform=uniform)
    sums, counts = gl.per_example_clip(GRADS, limit, per_layer)
    assert np.asarray(counts).tolist() == [int(c) for c in clipped]
    for a, b in zip(sums, expected, strict=True):
        np.testing.assert_allclose(a, b, **CLOSE)


def test_it_is_the_sum_of_clipped_examples() -> None:
    total = [np.zeros(g.shape[1:], np.float64) for g in GRADS]
    for k in range(16):
        clipped, _ = gl.clip_by_global_norm([g[k] for g in GRADS], 2.0)
        total = [t + c for t, c in zip(total, clipped, strict=True)]
    for a, b in zip(gl.per_example_clip(GRADS, 2.0)[0], total, strict=True):
        np.testing.assert_allclose(a, b, **CLOSE)


@pytest.mark.parametrize("per_layer", [False, True, "size"])
def test_all_ways_agree(per_layer: Any) -> None:
    def clip(*grads: Any) -> Any:
        return gl.per_example_clip(grads, 2.0, per_layer)

    expected, counted = ways.numpy(clip, *GRADS)
    for way in (ways.eager, ways.jit, ways.sharded):
        sums, counts = way(clip, *GRADS)
        assert np.array_equal(counts, counted)
        for a, b in zip(sums, expected, strict=True):
            np.testing.assert_allclose(a, b, **CLOSE)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
@pytest.mark.parametrize("module", [np, jnp])
def test_the_dtype_stays(dtype: Any, module: Any) -> None:
    with jax.enable_x64(True):
        sums, _ = gl.per_example_clip([module.asarray(GRADS[0].astype(dtype))], 1.0)
    assert sums[0].dtype == dtype


def test_examples_without_gradient_add_nothing() -> None:
    sums, clipped = gl.per_example_clip([np.zeros((2, 3), np.float32)], 1.0)
    assert (sums[0].tolist(), int(clipped)) == ([0, 0, 0], 0)


def test_an_example_at_the_limit_is_not_clipped() -> None:
    sums, clipped = gl.per_example_clip([np.float32([[3.0, 4.0], [6.0, 8.0]])], 5.0)
    assert (sums[0].tolist(), int(clipped)) == ([6, 8], 1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("limit", [1.25, 1000.0])
def test_integers_become_floating_point_as_in_optax(limit: float) -> None:
    whole = np.int32([[0, 0, 0], [0, 3, 4], [4, 0, 3], [3, 4, 0]])
    for grads in ([whole], [whole, GRADS[0][:4]], [GRADS[1][:4], whole]):
        want, clipped = optax.per_example_global_norm_clip(grads, limit)
        sums, count = gl.per_example_clip(grads, limit)
        assert int(count) == int(clipped) and {a.dtype for a in sums} == {np.dtype(np.float32)}
        for a, b in zip(sums, want, strict=True):
            np.testing.assert_allclose(a, b, **CLOSE)
    assert gl.per_example_clip([whole, np.ones((4, 1))], limit)[0][0].dtype == np.float64

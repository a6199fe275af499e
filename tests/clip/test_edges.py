"""The edge cases of the originals in NumPy and JAX: zeros, limits that are none, entries and
squares without value.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl

pytestmark = pytest.mark.filterwarnings("ignore::gradlab.errors.GradlabWarning")

NAN, INF, BIG, SMALL = np.nan, np.inf, 1e30, 1e-30
SAME = object()  # the result is t

# what: t, limit, by_norm, by_norm of tf2.3, by_global_norm, by_average_norm
EDGES: dict[str, tuple[list[float], float, Any, Any, Any, Any]] = {
    "zero, limit > 0": ([0, 0], 1, SAME, SAME, SAME, SAME),
    "zero, limit 0": ([0, 0], 0, NAN, NAN, NAN, NAN),
    "limit 0": ([3, 4], 0, 0, 0, 0, 0),
    "limit negative": ([3, 4], -1, 0, [-0.6, -0.8], SAME, SAME),
    "limit infinite": ([3, 4], INF, NAN, NAN, NAN, NAN),
    "limit NaN": ([3, 4], NAN, NAN, NAN, NAN, NAN),
    "an infinite entry": ([INF, 1], 1, [NAN, 0], [NAN, 0], NAN, [NAN, 0]),
    "a negative infinite entry": ([1, -INF], 1, [0, NAN], [0, NAN], NAN, [0, NAN]),
    "a NaN entry": ([NAN, 1], 1, NAN, NAN, NAN, NAN),
    "the square overflows": ([BIG, 1], 1, 0, 0, NAN, 0),
}


CLIPS = {
    "norm": lambda t, c: gl.clip_by_norm(t, c),
    "norm, tf2.3": lambda t, c: gl.clip_by_norm(t, c, semantics="tf2.3"),
    "global norm": lambda t, c: gl.clip_by_global_norm([t], c)[0][0],
    "average norm": lambda t, c: gl.clip_by_average_norm(t, c),
}


def _check(result: Any, t: list[float], expected: Any) -> None:
    want = np.float32(t) if expected is SAME else np.broadcast_to(np.float32(expected), len(t))
    np.testing.assert_allclose(np.asarray(result), want, rtol=1e-6, atol=0)


@pytest.mark.parametrize("clip", CLIPS)
@pytest.mark.parametrize("edge", EDGES)
def test_numpy_and_jax_give_what_tensorflow_gives(edge: str, clip: str) -> None:
    t, limit, *expected = EDGES[edge]
    for run in (CLIPS[clip], jax.jit(CLIPS[clip], static_argnums=1), jax.jit(CLIPS[clip])):
        module = np if run is CLIPS[clip] else jnp
        _check(run(module.asarray(t, np.float32), limit), t, expected[list(CLIPS).index(clip)])


def test_one_bad_tensor_spoils_the_whole_step() -> None:
    for bad in (INF, NAN, BIG):
        clipped, norm = gl.clip_by_global_norm([np.float32([1.0]), np.float32([bad])], 1.0)
        assert np.isnan(clipped).all()
        assert not np.isfinite(norm)

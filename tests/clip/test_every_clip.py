"""What holds for every clip: all ways agree, the dtype stays, inputs are neither written to nor
handed out.
"""

import functools
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given, settings

import gradlab as gl
from tests import ways
from tests.clip.cases import CLIPS, DTYPES, FLOAT32_ONLY, arrays

T = np.random.default_rng(0).normal(0, 2, (8, 3)).astype(np.float32)
BY_DTYPE = [
    (name, dtype)
    for name in CLIPS
    for dtype in DTYPES
    if dtype == np.float32 or name not in FLOAT32_ONLY
]


@functools.cache
def clipped(way: str) -> dict[str, Any]:
    """Return what every clip makes of T in every dtype, in one program."""
    keys = {f"{name} {np.dtype(dtype).name}": (name, dtype) for name, dtype in BY_DTYPE}
    return ways.together(
        ways.ALL[way],
        {key: CLIPS[name] for key, (name, _) in keys.items()},
        {key: (T.astype(dtype),) for key, (_, dtype) in keys.items()},
    )


@pytest.mark.parametrize(
    "way",
    ["jit", *(pytest.param(way, marks=pytest.mark.exhaustive) for way in ("eager", "sharded"))],
)
@pytest.mark.parametrize(("name", "dtype"), BY_DTYPE)
def test_all_ways_agree(name: str, dtype: Any, way: str) -> None:
    key = f"{name} {np.dtype(dtype).name}"
    assert ways.ulps(ways.numpy(CLIPS[name], T.astype(dtype)), clipped(way)[key]) <= 4


@pytest.mark.parametrize("way", ["eager", "jit"])
@pytest.mark.parametrize("name", CLIPS)
@settings(max_examples=20)
@given(arrays(shape=(3, 2)))
def test_numpy_and_jax_agree_on_any_array(name: str, way: str, t: np.ndarray) -> None:
    assert ways.ulps(ways.numpy(CLIPS[name], t), ways.ALL[way](CLIPS[name], t)) <= 4


@pytest.mark.parametrize("name", CLIPS)
def test_vmap_clips_each_row_by_itself(name: str) -> None:
    rows = [ways.numpy(CLIPS[name], row) for row in T]
    together = jax.tree.map(lambda *xs: np.stack(xs), *rows)
    assert ways.ulps(together, ways.vmap(CLIPS[name], T)) <= 4


@pytest.mark.parametrize(("name", "dtype"), BY_DTYPE)
def test_the_dtype_stays(name: str, dtype: Any) -> None:
    """On NumPy; what all ways agree in is the dtype, too."""
    assert {x.dtype for x in jax.tree.leaves(ways.numpy(CLIPS[name], T.astype(dtype)))} == {
        np.dtype(dtype)
    }


@pytest.mark.parametrize("scale", [1e-3, 1e3], ids=["below the limit", "above it"])
@pytest.mark.parametrize("name", CLIPS)
def test_results_share_no_memory_with_inputs(name: str, scale: float) -> None:
    t = T * np.float32(scale)
    before = t.copy()
    for x in jax.tree.leaves(CLIPS[name](t)):
        assert not np.may_share_memory(x, t)
    np.testing.assert_array_equal(t, before)


ON_SLICES = {name: CLIPS[name] for name in ("value", "norm", "norm, tf2.3", "norm of rows")} | {
    "global norm": lambda t: gl.clip_by_global_norm([t, None], 3.0)[0][0],
}


@pytest.mark.parametrize("name", ON_SLICES)
def test_slices_are_clipped_by_their_values(name: str) -> None:
    indices = np.array([1, 1, 0, 5, 9, 2, 3, 3])
    clip, slices = ON_SLICES[name], gl.IndexedSlices(T, indices, (10, 3))
    for result in (clip(slices), jax.jit(clip)(slices)):
        assert isinstance(result, gl.IndexedSlices)
        assert (result.indices.tolist(), result.dense_shape) == (indices.tolist(), (10, 3))
        assert ways.ulps(np.asarray(result.values), clip(T)) <= 4


def test_slices_of_an_average_norm_are_made_dense() -> None:
    slices = gl.IndexedSlices(np.float32([[3.0], [1.0], [3.0]]), [1, 0, 1], (2, 1))
    np.testing.assert_array_equal(
        gl.clip_by_average_norm(slices, 0.5),
        gl.clip_by_average_norm(np.float32([[1.0], [6.0]]), 0.5),
    )


@pytest.mark.parametrize("name", [n for n in CLIPS if n != "norm of rows"])
def test_numpy_scalars_are_arrays_of_rank_0(name: str) -> None:
    assert ways.ulps(CLIPS[name](np.float32(4.0)), CLIPS[name](np.array(4.0, np.float32))) == 0


def test_python_numbers_become_float32() -> None:
    assert gl.clip_by_norm([3.0, 4.0], 1.0).dtype == np.float32
    assert gl.clip_by_value(7, 0, 5).dtype == np.int32


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
@pytest.mark.parametrize(
    "name", ["value", "norm", "average norm", "global norm", "block rms", "agc"]
)
def test_nothing_stays_nothing(name: str, shape: tuple[int, ...]) -> None:
    for x in jax.tree.leaves(CLIPS[name](np.zeros(shape, np.float32))):
        assert x.shape in (shape, ())

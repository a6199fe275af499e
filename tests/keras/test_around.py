"""The formulas around a rule: their dtypes, on NumPy and on JAX."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.keras.around import averaged, decayed, mean, shares, shares_from, summed, unscaled


@pytest.mark.parametrize("xp", [np, jnp])
def test_every_number_is_rounded_to_the_dtype_of_the_weight(xp: Any) -> None:
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        with jax.enable_x64(True):
            w, rate = xp.asarray([1.0, -3.0], dtype), np.dtype(jnp.dtype(dtype)).type(0.1)
            keep, take = shares_from(np.int64(3), 0.99, w.dtype)
            results = [decayed(w, 0.1, rate), averaged(w, w, keep, take), summed(w, w), mean(w, w, 3), unscaled(w, 3.0)]
            assert {x.dtype for x in results} == {w.dtype} and {type(x) for x in results} == {type(w)}
            assert (keep, take) == (w.dtype.type(0.99), w.dtype.type(1) - w.dtype.type(0.99))
    decay, rate = np.float64(np.float32(0.1)), np.float64(0.5)
    assert decayed(np.ones(1), 0.1, rate).tolist() == [1 - decay * 0.5]  # float32 on the way, as in TensorFlow
    assert shares(0.99, np.float32)[1] != shares_from(np.int64(3), 0.99, np.float32)[1]  # as the two Kerases do it


def test_slices() -> None:
    g = gl.IndexedSlices(np.float32([1.0, 2.0]), np.array([1, 1]), (3,))
    assert summed(np.float32([1, 1, 1]), g).tolist() == [1, 4, 1]
    with pytest.raises(TypeError, match="loss_scale_factor cannot divide IndexedSlices"):
        unscaled(g, 2.0)
    assert unscaled(None, 2.0) is None and unscaled(g, None) is g

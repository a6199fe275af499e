"""clip_by_value."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradlab as gl
from tests.clip.cases import arrays

# test_warnings.py has them.
pytestmark = pytest.mark.filterwarnings("ignore::gradlab.errors.ClipWarning")

bounds = st.floats(-50.0, 50.0, width=32, allow_subnormal=False)  # which TensorFlow takes for 0


@given(arrays(), bounds, bounds)
def test_it_is_max_of_min(t: np.ndarray, low: float, high: float) -> None:
    expected = np.maximum(np.minimum(t, np.float32(high)), np.float32(low))
    result = gl.clip_by_value(t, low, high)
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(gl.clip_by_value(result, low, high), result)


@pytest.mark.parametrize(("low", "high"), [(np.nan, 1.0), (-1.0, np.nan)])
@pytest.mark.parametrize("module", [np, jnp])
def test_a_nan_bound_depends_on_the_version(module: object, low: float, high: float) -> None:
    t = module.array([-3.0, 0.5, 3.0], np.float32)
    assert np.isnan(gl.clip_by_value(t, low, high)).all()
    old = gl.clip_by_value(t, low, high, semantics="tf2.3")
    np.testing.assert_array_equal(old, np.fmax(np.fmin(t, high), low))


def test_the_derivative_is_one_inside_and_on_the_bounds() -> None:
    t = jnp.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    assert jax.grad(lambda t: gl.clip_by_value(t, -1.0, 1.0).sum())(t).tolist() == [0, 1, 1, 1, 0]


def test_denormal_entries_become_0_as_in_tensorflow() -> None:
    tiny = np.float32([1e-40, -1e-42, 1.0])
    assert gl.clip_by_value(tiny, -2.0, 2.0).tolist() == [0.0, 0.0, 1.0]
    assert tiny[0] > 0  # what was given stays

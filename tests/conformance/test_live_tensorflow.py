"""gradlab's clips beside TensorFlow's on the same generated float32 input.

Equal bits up to 7 entries: there TensorFlow works on one entry after the other. From 8 on its
kernels use the vector registers of the machine, which sum in another order and lose the sign
of zeros: 2 units in the last place pass. The signs of zeros are the business of the golden
files, here any zero equals any other.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import gradlab as gl
from tests.conformance.compare import matcher

pytestmark = pytest.mark.tensorflow

F32 = np.float32
TINY = np.finfo(F32).tiny
# Both give 0 for a denormal result; TensorFlow alone also where rounding would lift it to the
# smallest normal number.
numbers = st.floats(width=32, allow_subnormal=False)
limits = st.one_of(st.sampled_from([0.0, 1.0, -1.0, np.inf, np.nan, 41.0]), numbers).map(F32)
shapes = st.sampled_from([(), (1,), (2,), (3,), (7,), (2, 2), (2, 3), (1, 2, 3)])
repeatable = settings(max_examples=300, deadline=None, derandomize=True)


@st.composite
def small(draw: st.DrawFn, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Up to 7 entries, any float32 that is not a denormal."""
    shape = draw(shapes) if shape is None else shape
    size = int(np.prod(shape))
    return np.array(draw(st.lists(numbers, min_size=size, max_size=size)), F32).reshape(shape)


@st.composite
def large(draw: st.DrawFn) -> np.ndarray:
    """Up to a few thousand normally distributed entries of some scale."""
    size, seed = draw(st.integers(9, 4000)), draw(st.integers(0, 2**32 - 1))
    scale = 10.0 ** draw(st.floats(-6, 6))
    return (np.random.default_rng(seed).standard_normal(size) * scale).astype(F32)


def agree(mine: Callable[..., Any], theirs: Callable[..., Any], mode: str, *args: Any) -> None:
    """Both give the same arrays in this mode."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gl.errors.GradlabWarning)
        got = _arrays(mine(*args))
    want = _arrays(theirs(*args))
    assert [a.dtype for a in got] == [a.dtype for a in want]
    for a, b in zip(want, got, strict=True):
        assert a.shape == b.shape
        flushed = (a == 0) & (np.abs(b) <= TINY)
        assert (matcher(mode)(a, b) | flushed).all(), f"{args}: TensorFlow {a}, gradlab {b}"


def _arrays(x: Any) -> list[np.ndarray]:
    return (
        [a for item in x for a in _arrays(item)] if isinstance(x, list | tuple) else [np.asarray(x)]
    )


@repeatable
@given(small(), limits, limits)
def test_clip_by_value(tf: Any, t: np.ndarray, low: np.float32, high: np.float32) -> None:
    agree(gl.clip_by_value, tf.clip_by_value, "bitwise", t, low, high)


@repeatable
@given(small(), limits)
def test_clip_by_norm(tf: Any, t: np.ndarray, limit: np.float32) -> None:
    agree(gl.clip_by_norm, tf.clip_by_norm, "bitwise", t, limit)


@repeatable
@given(small((1, 2, 3)), limits, st.lists(st.integers(-3, 2), max_size=3))
def test_clip_by_norm_over_axes(tf: Any, t: np.ndarray, limit: np.float32, axes: list[int]) -> None:
    assume(len({a % 3 for a in axes}) == len(axes))
    agree(gl.clip_by_norm, tf.clip_by_norm, "bitwise", t, limit, axes)


@repeatable
@given(small(), limits)
def test_clip_by_average_norm(tf: Any, t: np.ndarray, limit: np.float32) -> None:
    agree(gl.clip_by_average_norm, tf.compat.v1.clip_by_average_norm, "bitwise", t, limit)


@repeatable
@given(small((3,)), small((2, 2)), limits)
def test_global_norm_and_clip(tf: Any, a: np.ndarray, b: np.ndarray, limit: np.float32) -> None:
    agree(gl.global_norm, tf.linalg.global_norm, "bitwise", [a, b])
    agree(gl.clip_by_global_norm, tf.clip_by_global_norm, "bitwise", [a, b], limit)


@repeatable
@given(small((3,)), limits, limits)
def test_clip_by_global_norm_with_a_given_norm(
    tf: Any, t: np.ndarray, limit: np.float32, norm: np.float32
) -> None:
    agree(
        lambda n: gl.clip_by_global_norm([t], limit, n),
        lambda n: tf.clip_by_global_norm([t], limit, tf.constant(n)),
        "bitwise",
        norm,
    )


@repeatable
@given(large(), large(), st.floats(1e-4, 1e4).map(F32))
def test_large_tensors(tf: Any, a: np.ndarray, b: np.ndarray, limit: np.float32) -> None:
    agree(gl.clip_by_value, tf.clip_by_value, "bitwise", a, -limit, limit)
    agree(gl.clip_by_norm, tf.clip_by_norm, "ulp 2", a, limit)
    agree(gl.clip_by_average_norm, tf.compat.v1.clip_by_average_norm, "ulp 2", a, limit)
    agree(gl.global_norm, tf.linalg.global_norm, "ulp 2", [a, b])
    agree(gl.clip_by_global_norm, tf.clip_by_global_norm, "ulp 2", [a, b], limit)

"""Where TensorFlow is silent gradlab warns, at the caller's line; what cannot be clipped is refused
in words.
"""

import inspect
import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import (
    ClipWarning,
    DTypeError,
    GradlabWarning,
    InvalidArgumentError,
    MissingDTypeError,
)
from tests.differences import differs

T = np.float32([3.0, 4.0])
WHOLE = np.int32([3, 4])
GROWS = np.ones((2, 2), np.float32)

WARNS: dict[str, tuple[Any, str]] = {
    "norm, 0": (
        lambda: gl.clip_by_norm(T, 0.0),
        "clip_norm is 0: every gradient becomes 0, and NaN where it was 0",
    ),
    "norm, infinite": (
        lambda: gl.clip_by_norm(T, np.inf),
        "clip_norm is infinite: .* leave the clip out",
    ),
    "norm, NaN": (lambda: gl.clip_by_norm(T, np.nan), "clip_norm is NaN: the result is NaN"),
    "norm, negative": (lambda: gl.clip_by_norm(T, -1), "clip_norm is -1: .* gives 0"),
    "norm, negative, old": (lambda: gl.clip_by_norm(T, -1, semantics="tf2.3"), "flips the sign"),
    "norm, overflow": (
        lambda: gl.clip_by_norm(np.float32([1e30]), 1),
        "overflows float32 although every entry is f",
    ),
    "norm, inf": (
        lambda: gl.clip_by_norm(np.float32([np.inf, 1]), 1),
        "1 entry is not finite: .* gives 0 for",
    ),
    "norm of slices": (lambda: gl.clip_by_norm(gl.IndexedSlices(T, [0, 1]), 0.0), "clip_norm is 0"),
    "global norm, 0": (lambda: gl.clip_by_global_norm([T], 0), "clip_norm is 0"),
    "global norm, negative": (
        lambda: gl.clip_by_global_norm([T], -2.5),
        "-2.5: .* switches clipping off",
    ),
    "global norm, NaN entry": (
        lambda: gl.clip_by_global_norm([T, np.float32([np.nan])], 1),
        "every tensor NaN",
    ),
    "average norm, infinite": (lambda: gl.clip_by_average_norm(T, np.inf), "clip_norm is infinite"),
    "average norm, overflow": (
        lambda: gl.clip_by_average_norm(np.float32([1e30]), 1.0),
        "overflows float32",
    ),
    "under jit": (lambda: jax.jit(lambda t: gl.clip_by_norm(t, 0.0))(T), "clip_norm is 0"),
}


@pytest.mark.every_case
@differs(
    "suspicious clip arguments, such as a negative limit",
    tensorflow="silent",
    gradlab="a `ClipWarning`",
)
@pytest.mark.parametrize("case", WARNS)
def test_a_suspicious_clip_warns(case: str) -> None:
    call, message = WARNS[case]
    with pytest.warns(ClipWarning, match=message):
        call()


@pytest.mark.parametrize("case", WARNS)
def test_the_warning_can_be_silenced(case: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", GradlabWarning)
        WARNS[case][0]()


@pytest.mark.parametrize("case", [c for c in WARNS if c != "under jit"])
def test_the_warning_points_at_the_line_of_the_caller(case: str) -> None:
    call = WARNS[case][0]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    (warning,) = caught
    assert (warning.filename, warning.lineno) == (__file__, inspect.getsourcelines(call)[1])


def test_ordinary_clips_are_silent() -> None:  # warnings are errors here
    for t in (T, np.zeros(2, np.float32), jnp.asarray(T), np.float32([1e-30])):
        gl.clip_by_norm(t, 1.0), gl.clip_by_global_norm([t], 1.0), gl.clip_by_value(t, -1, 1)


def test_values_of_traced_arrays_are_not_looked_at() -> None:
    assert np.isnan(jax.jit(lambda t, c: gl.clip_by_norm(t, c))(jnp.zeros(2), 0.0)).all()


REFUSES: dict[str, tuple[Any, type[Exception], str]] = {
    "None": (lambda: gl.clip_by_norm(None, 1.0), ValueError, "t is None; give an array"),
    "None by value": (lambda: gl.clip_by_value(None, 0.0, 1.0), ValueError, "t is None"),
    "None by average": (lambda: gl.clip_by_average_norm(None, 1.0), ValueError, "t is None"),
    "integers": (
        lambda: gl.clip_by_norm(WHOLE, 1),
        DTypeError,
        "clip_by_norm needs a floating-point dtype, got int32",
    ),
    "complex": (lambda: gl.clip_by_norm(T + 1j, 1), InvalidArgumentError, "got complex64"),
    "a string": (lambda: gl.clip_by_norm("t", 1.0), TypeError, "t must be numbers, got 't'"),
    "a ragged list": (
        lambda: gl.clip_by_norm([[1.0], [1.0, 2.0]], 1.0),
        ValueError,
        "rows of different lengths",
    ),
    "a limit that grows t": (
        lambda: gl.clip_by_norm(T, GROWS),
        ValueError,
        r"grow t from \(2,\) to \(2, 2\)",
    ),
    "a limit that does not fit": (
        lambda: gl.clip_by_norm(T, np.ones(3, "f4")),
        InvalidArgumentError,
        r"\(3,\) .*\(2,\)",
    ),
    "a limit of another dtype": (
        lambda: gl.clip_by_norm(T, np.ones(1), semantics="tf2.3"),
        DTypeError,
        "clip_norm is float64 but t is float32",
    ),
    "a bad axis": (
        lambda: gl.clip_by_norm(T, 1.0, axes=1),
        InvalidArgumentError,
        r"axes must be in \[-1, 1\).*got 1",
    ),
    "an axis twice": (
        lambda: gl.clip_by_norm(T, 1.0, axes=[0, -1]),
        InvalidArgumentError,
        "each axis once",
    ),
    "unknown semantics": (
        lambda: gl.clip_by_norm(T, 1.0, semantics="tf1"),
        ValueError,
        '"tf2.21" or "tf2.3", got',
    ),
    "a bound that grows t": (
        lambda: gl.clip_by_value(T, GROWS, 9.0),
        ValueError,
        "clip_value_min of shape .* grow",
    ),
    "a bound of another dtype": (
        lambda: gl.clip_by_value(T, np.float64([0, 0]), 1.0),
        DTypeError,
        "clip_value_min is float64 but t is float32",
    ),
    "float bounds, integers": (
        lambda: gl.clip_by_value(WHOLE, 0.5, 1),
        TypeError,
        "clip_value_min is 0.5 but t is int32",
    ),
    "not a list": (
        lambda: gl.global_norm(T),
        TypeError,
        r"t_list must be a list .* ndarray; wrap a single one in \[ \]",
    ),
    "a dict": (lambda: gl.clip_by_global_norm({"a": T}, 1.0), TypeError, "got dict"),
    "a generator": (
        lambda: gl.clip_by_global_norm((t for t in [T]), 1.0),
        TypeError,
        "got generator",
    ),
    "a string as list": (lambda: gl.global_norm("ab"), TypeError, "got str"),
    "integers in a list": (
        lambda: gl.global_norm([WHOLE]),
        DTypeError,
        "global_norm needs a floating-point dtype",
    ),
    "mixed dtypes": (
        lambda: gl.global_norm([T, np.float64([1])]),
        InvalidArgumentError,
        r"\['float32', 'float64'\]",
    ),
    "limit of another dtype": (
        lambda: gl.clip_by_global_norm([T], np.ones(())),
        TypeError,
        "clip_norm is float64",
    ),
    "a bare use_norm": (
        lambda: gl.clip_by_global_norm([T], 1.0, use_norm=5.0),
        MissingDTypeError,
        r"np.float32\(5.0\)",
    ),
    "an old use_norm": (
        lambda: gl.clip_by_global_norm(
            [T], 1.0, use_norm=np.float64(5) * np.ones(()), semantics="tf2.3"
        ),
        DTypeError,
        "use_norm is float64 but a tensor is float32",
    ),
    "average of float64": (
        lambda: gl.clip_by_average_norm(T.astype("f8"), 1.0),
        DTypeError,
        "needs float32, got float64",
    ),
    "slices of unknown shape": (
        lambda: gl.clip_by_average_norm(gl.IndexedSlices(T, [0, 1]), 1.0),
        ValueError,
        "no dense_shape",
    ),
    "agc lengths": (
        lambda: gl.adaptive_grad_clip([T], [], 0.1),
        ValueError,
        "equally long, got 1 and 0",
    ),
    "agc shapes": (
        lambda: gl.adaptive_grad_clip([T], [GROWS], 0.1),
        ValueError,
        r"\(2,\), its parameter \(2, 2\)",
    ),
    "agc clipping": (
        lambda: gl.adaptive_grad_clip([T], [T], 0.0),
        ValueError,
        "clipping must be > 0, got 0.0",
    ),
    "agc eps": (
        lambda: gl.adaptive_grad_clip([T], [T], 1.0, eps=-1.0),
        ValueError,
        "eps must be > 0",
    ),
    "agc rank": (
        lambda: gl.adaptive_grad_clip([np.ones((2,) * 6)], [np.ones((2,) * 6)], 1.0),
        ValueError,
        "rank 6",
    ),
    "agc integers": (
        lambda: gl.adaptive_grad_clip([WHOLE], [T], 1.0),
        DTypeError,
        "floating point, got int32",
    ),
    "block rms threshold": (
        lambda: gl.clip_by_block_rms([T], float("nan")),
        ValueError,
        "threshold must be > 0",
    ),
    "no examples": (
        lambda: gl.per_example_clip([], 1.0),
        ValueError,
        r"common batch axis in front, got shapes \[\]",
    ),
    "batch sizes": (
        lambda: gl.per_example_clip([T, np.ones(3)], 1.0),
        ValueError,
        r"\[\(2,\), \(3,\)\]",
    ),
    "per layer": (
        lambda: gl.per_example_clip([T], 1.0, "rows"),
        ValueError,
        '"uniform" or "size", got \'rows\'',
    ),
    "report lengths": (
        lambda: gl.clip_report([T], [T, T]),
        ValueError,
        "before holds 1 tensors, after holds 2",
    ),
    "report shapes": (
        lambda: gl.clip_report([T], [GROWS]),
        ValueError,
        r"shape \(2,\) before and \(2, 2\) after",
    ),
}


@pytest.mark.every_case
@pytest.mark.parametrize("case", REFUSES)
def test_what_cannot_be_clipped_is_refused(case: str) -> None:
    call, error, message = REFUSES[case]
    with pytest.raises(error, match=message) as caught:
        call()
    assert isinstance(caught.value, ValueError | TypeError)

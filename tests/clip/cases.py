"""The clips as functions of one array, and arrays to clip."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import gradlab as gl

DTYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]

# Each with a limit that some of the arrays below exceed and some do not.
CLIPS: dict[str, Callable[[Any], Any]] = {
    "value": lambda t: gl.clip_by_value(t, -0.5, 2.0),
    "norm": lambda t: gl.clip_by_norm(t, 3.0),
    "norm, tf2.3": lambda t: gl.clip_by_norm(t, 3.0, semantics="tf2.3"),
    "norm of rows": lambda t: gl.clip_by_norm(t, 3.0, axes=-1),
    "norm of entries": lambda t: gl.clip_by_norm(t, 3.0, axes=[]),
    "average norm": lambda t: gl.clip_by_average_norm(t, 0.25),
    "global norm": lambda t: gl.clip_by_global_norm([t, None, t + t], 3.0),
    "use_norm": lambda t: gl.clip_by_global_norm([t], 3.0, use_norm=gl.global_norm([t])),
    "agc": lambda t: gl.adaptive_grad_clip([t, None], [t * t, None], 0.1),
    "block rms": lambda t: gl.clip_by_block_rms([t, None], 1.0),
}
FLOAT32_ONLY = {"average norm"}

entries = st.floats(2**-6, 64.0, width=16) | st.floats(-64.0, -(2**-6), width=16) | st.just(0.0)


@st.composite
def arrays(draw: st.DrawFn, min_dims: int = 1, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Up to 4 * 4 * 4 entries of which no square overflows or vanishes."""
    shape = shape or draw(hnp.array_shapes(min_dims=min_dims, max_dims=3, max_side=4))
    return draw(hnp.arrays(np.float32, shape, elements=entries))


limits = st.floats(2**-4, 256.0, width=32)


def norm(t: Any) -> float:
    return float(np.sqrt(np.sum(np.square(np.asarray(t, np.float64)))))

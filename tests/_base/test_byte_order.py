"""Arrays of the other byte order, as files and networks bring them: the results of this machine's,
bit for bit.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradlab as gl

# Adam's usual epsilon is 0 in 16 bits, which rules/test_rule.py holds.
pytestmark = pytest.mark.filterwarnings("ignore::gradlab.errors.PrecisionWarning")

DTYPES = ["f2", "f4", "f8", "c8", "c16"]
CLIPS: dict[str, Callable[[np.ndarray], Any]] = {
    "by_value": lambda t: gl.clip_by_value(t, -1.0, 1.0),
    "by_norm": lambda t: gl.clip_by_norm(t, 1.0),
    "by_norm, old": lambda t: gl.clip_by_norm(t, 1.0, semantics="tf2.3"),
    "by_norm, slices": lambda t: (
        gl.clip_by_norm(gl.IndexedSlices(t[:, None], [0, 1], (2, 1)), 1.0).values
    ),
    "by_average_norm": lambda t: gl.clip_by_average_norm(t, 1.0),
    "by_global_norm": lambda t: gl.clip_by_global_norm([t, t], 1.0)[0][1],
    "global_norm": lambda t: gl.global_norm([t]),
    "adaptive": lambda t: gl.adaptive_grad_clip([t], [t], 0.1)[0],
    "per_example": lambda t: gl.per_example_clip([t[None]], 1.0)[0],
    "block_rms": lambda t: gl.clip_by_block_rms(t, 0.1),
}
OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: gl.train.GradientDescentOptimizer(0.1),
    "adagrad, rate": lambda: gl.train.AdagradOptimizer(np.array(0.1, ">f4")),
    "adam": lambda: gl.train.AdamOptimizer(0.1),
    "keras adagrad": lambda: gl.keras.Adagrad(0.1),
    "keras sgd": lambda: gl.keras.SGD(0.1, momentum=0.9),
}


def _told(f: Callable[[np.ndarray], Any], t: np.ndarray) -> Any:
    """The bytes, or which error it is: complex numbers have no minimum."""
    try:
        x = np.asarray(f(t))
    except (TypeError, ValueError) as error:
        return type(error)
    return x.dtype.str, x.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CLIPS)
def test_clips_return_this_machines(name: str, dtype: str) -> None:
    t = np.array([3.0, 4.0], f">{dtype}")
    told = _told(CLIPS[name], t)
    assert told == _told(CLIPS[name], t.astype(dtype))
    assert isinstance(told, type) or told[0][0] != ">"


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_step_this_machines(name: str, dtype: str, sparse: bool) -> None:
    def trained(order: str) -> Any:
        v, opt = gl.Variable(np.ones((3, 2), order + dtype)), OPTIMIZERS[name]()
        g = np.full((3, 2), 0.5, order + dtype)
        slices = gl.IndexedSlices(g[:2], np.array([2, 0], f"{order}i4"), (3, 2))
        try:
            for _ in range(2):
                opt.apply_gradients([(slices if sparse else g, v)])
        except TypeError as error:  # complex numbers, where TensorFlow has none
            return type(error)
        return [(x.dtype.str, x.numpy().tobytes()) for x in (v, *opt.variables())]

    told = trained(">")
    assert told == trained("<")
    assert isinstance(told, type) or all(kind[0] != ">" for kind, _ in told)


def test_variables_hold_this_machines() -> None:
    v = gl.Variable([1.0, 2.0], dtype=">f4")
    assert v.assign(np.array([3.0, 4.0], ">f4")).value.dtype.isnative
    assert v.assign_add(np.array([3.0, 4.0], ">f4")).numpy().tolist() == [6, 8]
    assert gl.Variable(np.array([1 + 2j], ">c8")).numpy().tolist() == [1 + 2j]
    assert gl.IndexedSlices(np.ones((1, 1), ">f4"), np.zeros(1, ">i8")).dtype.isnative


def test_accumulators_return_this_machines() -> None:
    acc = gl.ConditionalAccumulator(np.dtype(">f4"))
    for dtype in (">f4", "<f4"):
        acc.apply_grad(np.array([1.0, 3.0], dtype))
    mean = acc.take_grad(2)
    assert (mean.dtype.isnative, mean.tolist()) == (True, [1, 3])

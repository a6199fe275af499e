"""gradlab's rules beside TensorFlow's training ops, on any input.

Equal bits for fewer than 8 float32 entries, where TensorFlow's kernels work on one entry after the
other; 2 units in the last place of the largest entry beyond. Slices of one element are left out
where TensorFlow computes in double.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gradlab as gl
from tests.conformance.adapters import ops
from tests.conformance.compare import Raised, matcher
from tests.conformance.scenarios import OWN_GOLDEN, load_file
from tests.golden import op_oracle

pytestmark = pytest.mark.tensorflow

F32 = np.float32
# The golden scenarios of the ops, by name: their calls tell what slots and hyperparameters each op
# has.
DENSE = {
    s.id.split(".")[1]: s.calls
    for s in load_file(OWN_GOLDEN / "ops.json")
    if s.id.endswith(".dense")
}
SPARSE = [
    s.id.split(".")[1] for s in load_file(OWN_GOLDEN / "ops.json") if s.id.endswith(".sparse")
]
SMALL = {"PowerSign": "largest 2"}  # the exponential function, which has no one right rounding
# TensorFlow's vectors take 1 / sqrt(x) from an approximation, which this op squares into its second
# slot.
LARGE = {"Adadelta": "largest 8"}
LIMIT = 1e-35  # what TensorFlow rounds to 0 on its way may be left over here
repeatable = settings(
    max_examples=15, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
numbers = st.one_of(
    st.just(0.0), st.floats(2**-10, 1024, width=32), st.floats(-1024, -(2**-10), width=32)
).map(F32)
shares = st.floats(0.0, 1.0, width=32, allow_subnormal=False).map(lambda x: round(x, 3))
rates = st.floats(2**-10, 4.0, width=32).map(float)
# What each hyperparameter may be.
HYPER: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("lr", "epsilon", "alpha", "logbase"), rates),
    **dict.fromkeys(
        ("rho", "momentum", "beta", "beta1", "beta2", "sign_decay", "l1", "l2", "l2_shrinkage"),
        shares,
    ),
    **dict.fromkeys(("beta1_power", "beta2_power"), shares.map(lambda x: x * 0.9)),
    **dict.fromkeys(("use_nesterov", "multiply_linear_by_lr", "update_slots"), st.booleans()),
    "lr_power": st.just(-0.5),
    "global_step": st.integers(1, 1000),
}


@st.composite
def arrays(draw: st.DrawFn, shape: tuple[int, ...]) -> np.ndarray:
    size = int(np.prod(shape))
    return np.array(draw(st.lists(numbers, min_size=size, max_size=size)), F32).reshape(shape)


@st.composite
def hypers(draw: st.DrawFn, name: str) -> dict[str, Any]:
    names = dict.fromkeys(key for call in DENSE[name] for key in call["hyper"])
    return {key: draw(HYPER[key]) for key in names}


def both(
    tf: Any, name: str, w: np.ndarray, grads: list[Any], hyper: dict[str, Any], mode: str
) -> None:
    """The op and the rule take the same steps from the same start; slots are above 0 where they
    start so.
    """
    slots = {slot: np.full_like(w, x) for slot, x in DENSE[name][0]["slots"].items()}
    theirs = {key: tf.Variable(x) for key, x in {"var": w, **slots}.items()}
    mine = ops.steps(ops.training_op(name), {"var": w, **slots}, grads, hyper, ops.plainly)
    for state, g in zip(mine, grads, strict=True):
        assert not isinstance(state, Raised), state
        op_oracle.apply(tf, name, theirs, _tensor(tf, g), hyper)
        for key, v in theirs.items():
            want, got = v.numpy(), state[key]
            tiny = (np.abs(want) < LIMIT) & (np.abs(got) < LIMIT)
            assert (matcher(mode)(want, got) | tiny).all(), (
                f"{name} {key} {hyper}: TensorFlow {want}, gradlab {got}"
            )


def _tensor(tf: Any, g: Any) -> Any:
    if isinstance(g, gl.IndexedSlices):
        return tf.IndexedSlices(
            tf.constant(g.values), tf.constant(g.indices), tf.constant(g.dense_shape, tf.int64)
        )
    return tf.constant(g)


@pytest.mark.parametrize("name", DENSE)
@repeatable
@given(data=st.data())
def test_small_tensors_to_the_bit(tf: Any, name: str, data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from([(), (1,), (3,), (7,), (2, 3)]))
    w, *grads = (data.draw(arrays(shape)) for _ in range(3))
    both(tf, name, w, grads, data.draw(hypers(name)), SMALL.get(name, "bitwise"))


@pytest.mark.parametrize("name", DENSE)
@settings(repeatable, max_examples=4)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1), size=st.integers(9, 3000))
def test_large_tensors(tf: Any, name: str, data: st.DataObject, seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    w, *grads = (rng.standard_normal(size).astype(F32) for _ in range(3))
    both(tf, name, w, grads, data.draw(hypers(name)), LARGE.get(name, "largest 2"))


@pytest.mark.parametrize("name", SPARSE)
@repeatable
@given(data=st.data(), indices=st.lists(st.integers(0, 2), min_size=1, max_size=5))
def test_slices_to_the_bit(tf: Any, name: str, data: st.DataObject, indices: list[int]) -> None:
    w = data.draw(arrays((3, 2)))
    grads = [
        gl.IndexedSlices(data.draw(arrays((len(indices), 2))), np.array(indices, np.int32), (3, 2))
    ]
    both(tf, name, w, grads, data.draw(hypers(name)), "bitwise")

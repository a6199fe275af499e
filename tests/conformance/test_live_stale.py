"""DropStaleGradientOptimizer beside TensorFlow's own optimizers, which are given the kept gradients
only.

The schedule is TensorFlow's too: it is its global step that says what is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradlab as gl
from gradlab.train.variable import current_collection
from tests.conformance.compare import bitwise
from tests.train.stale_models import Event, schedules

pytestmark = pytest.mark.tensorflow

repeatable = settings(max_examples=5, deadline=None, derandomize=True)
INNERS: dict[str, dict[str, Any]] = {
    "GradientDescentOptimizer": {},
    "MomentumOptimizer": {"momentum": 0.9},
    "AdagradOptimizer": {},
    "AdamOptimizer": {},
    "RMSPropOptimizer": {"momentum": 0.5},
    "FtrlOptimizer": {"l1_regularization_strength": 0.01},
    "AdadeltaOptimizer": {},
}
START, TARGET, ROWS = (
    np.float32([[0.5, -1.0], [2.0, 3.0], [4.0, 0.25]]),
    np.float32(1.5),
    [[0, 2], [1, 1], [2, 0], [1, 2]],
)


class Both:
    """One table of weights in each library; every worker computes on its own rows, or on the whole."""

    def __init__(self, tf: Any, name: str, limit: int, sparse: bool, dtype: Any) -> None:
        self.tf, self.limit, self.sparse = tf, limit, sparse
        args = {"learning_rate": 0.1, **INNERS[name]}
        self.theirs, self.mine = (
            getattr(tf.compat.v1.train, name)(**args),
            getattr(gl.train, name)(**args),
        )
        self.w, self.step = tf.Variable(START), tf.Variable(dtype(0))
        self.v, self.global_step = (
            gl.Variable(START, name="v"),
            gl.Variable(dtype(0), trainable=False),
        )
        current_collection().global_step = self.global_step
        self.opt = gl.train.DropStaleGradientOptimizer(self.mine, limit)
        self.computed: dict[int, Any] = {}
        self.dropped = 0

    def compute(self, worker: int) -> None:
        rows = ROWS[worker]
        read = lambda: gl.gather(self.v, rows) if self.sparse else self.v.value  # noqa: E731
        pairs = self.opt.compute_gradients(
            lambda: (read() - TARGET).sum() ** 2, [self.v], worker=worker
        )
        self.computed[worker] = self.step.numpy(), self.tensor(pairs[0][0]), pairs

    def tensor(self, g: Any) -> Any:
        tf = self.tf
        return (
            tf.IndexedSlices(tf.constant(g.values), tf.constant(g.indices))
            if self.sparse
            else tf.constant(g)
        )

    def apply(self, worker: int) -> None:
        read, g, pairs = self.computed[worker]
        if self.step.numpy() - read <= self.limit:
            self.theirs.apply_gradients([(g, self.w)], global_step=self.step)
        else:
            self.dropped += 1
        assert self.opt.apply_gradients(pairs, self.global_step, worker=worker) == self.dropped

    def set(self, step: int) -> None:
        self.step.assign(step)
        self.global_step.assign(step)

    def agree(self) -> None:
        assert int(self.global_step) == int(self.step.numpy())
        pairs = [(self.w, self.v)]
        pairs += [
            (self.theirs.get_slot(self.w, n), self.opt.get_slot(self.v, n))
            for n in self.mine.get_slot_names()
        ]
        for want, got in pairs:
            assert bitwise(want.numpy(), got.numpy()).all(), (
                f"{got.name}: {want.numpy()} in TensorFlow, {got.numpy()}"
            )


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", INNERS)
@repeatable
@given(events=schedules(), limit=st.integers(-1, 3), dtype=st.sampled_from([np.int32, np.int64]))
def test_any_schedule(
    tf: Any, name: str, sparse: bool, events: list[Event], limit: int, dtype: Any
) -> None:
    with gl.variable_collection():
        both = Both(tf, name, limit, sparse, dtype)
        for what, which in events:
            getattr(both, what)(which)
            both.agree()

"""What a type checker knows of the public names.

`mypy --strict` reads it (test_types.py); nobody runs it.

A line for each kind of thing a user holds in hand; `Array` is a NumPy or a JAX array.
"""

from __future__ import annotations

from typing import Any, assert_type

import jax
import jax.numpy as jnp
import numpy as np

import gradlab as gl
from gradlab._base.gradient_types import Gradient
from gradlab._base.types import Array, Number

Floats = np.ndarray[tuple[int], np.dtype[np.float32]]


def variables(v: gl.Variable, x: Floats) -> None:
    for result in (v * 2, 2 - v, v / x, v @ x, -v, abs(v), v**2, v < 1.0, v[0], v.value):
        assert_type(result, Array)
    assert_type(v.numpy(), np.ndarray)
    assert_type(v.assign_add(x), Any)  # a Variable, in a Graph a Tensor
    assert_type(v.shape, tuple[int, ...])
    assert_type(gl.get_global_step(), gl.Variable | None)
    assert_type(gl.trainable_variables(), list[gl.Variable])
    assert_type(gl.load("run.npz", v=v, max_bytes=None), dict[str, Any])
    assert_type(gl.train.AdamOptimizer().state_dict([v]), dict[str, Any])


def clips(x: Floats, y: jax.Array, s: gl.IndexedSlices, v: gl.Variable, either: Gradient) -> None:
    assert_type(gl.clip_by_norm(x, 1.0), Floats)
    assert_type(gl.clip_by_norm(y, 1.0, axes=[0]), jax.Array)
    assert_type(gl.clip_by_norm(s, np.float32(1.0)), gl.IndexedSlices)
    assert_type(gl.clip_by_norm([3.0, 4.0], 1.0), Array)
    assert_type(gl.clip_by_norm(v, 1.0), Array)
    assert_type(gl.clip_by_norm(either, 1.0), Gradient)
    assert_type(gl.clip_by_value(y, -1.0, jnp.ones(1)), jax.Array)
    assert_type(gl.clip_by_value(s, -1.0, 1.0), gl.IndexedSlices)
    assert_type(gl.clip_by_average_norm(s, 1.0), Array)
    assert_type(gl.clip_by_global_norm([x, x], 1.0), tuple[list[Floats], Array])
    assert_type(gl.clip_by_global_norm([y, None], 1.0), tuple[list[jax.Array | None], Array])
    assert_type(gl.clip_by_global_norm([either, None], 1.0), tuple[list[Gradient | None], Array])
    assert_type(gl.global_norm([x, s, None]), Array)
    assert_type(gl.adaptive_grad_clip([x], [v], 0.1), list[Floats])
    assert_type(gl.clip_by_block_rms([y], 1.0), list[jax.Array])
    assert_type(gl.per_example_clip([x], 1.0), tuple[list[Array], Array])
    assert_type(gl.clip_report(x, y), gl.ClipReport)
    gl.clip_by_norm(x, object())  # type: ignore[call-overload]
    gl.clip_by_norm(x, 1.0, axis=0)  # type: ignore[call-overload]


def slices(x: Floats, s: gl.IndexedSlices) -> None:
    assert_type(s.values, Array)
    assert_type(s.dense_shape, tuple[int, ...] | None)
    assert_type(s.to_dense(), Array)
    assert_type(s.with_values(x), gl.IndexedSlices)


def rules(x: Floats, y: jax.Array, s: gl.IndexedSlices) -> None:
    rule = gl.rules.Adam(beta1=0.5)
    assert_type(rule.init(x), gl.rules.Slots)
    assert_type(rule(x, rule.init(x), y, 0.1), tuple[Array, gl.rules.Slots])
    assert_type(rule.start(), gl.rules.Shared)
    assert_type(rule.at(rule.start()), gl.rules.Adam)
    assert_type(gl.rules.catalog(), dict[str, type[gl.rules.Rule]])
    assert_type(gl.rules.from_config(rule.get_config()), gl.rules.Rule)
    assert_type(gl.rules.rows(rule, x, rule.init(x), s, 0.1), tuple[Array, gl.rules.Slots])
    assert_type(
        gl.rules.dense(rule, x, rule.init(x), x, 0.1, donate=True), tuple[Array, gl.rules.Slots]
    )
    assert_type(gl.schedules.ExponentialDecay(0.1, 10, 0.5)(3), Array)


def optimizers(v: gl.Variable, x: Floats, s: gl.IndexedSlices) -> None:
    """A rate is a number, an array, a variable, or a function without arguments that returns one of
    these.
    """
    for rate in (0.1, np.float32(0.1), jnp.float32(0.1), v, lambda: 0.1, lambda: v):
        gl.train.AdamOptimizer(rate)
    gl.train.MomentumOptimizer(0.1, v)
    gl.train.AdamOptimizer("0.1")  # type: ignore[arg-type]
    gl.train.AdamOptimizer(lambda step: 0.1)  # type: ignore[arg-type]
    opt = gl.train.AdagradOptimizer(0.1)
    pairs = opt.compute_gradients(lambda: v * v, [v])
    assert_type(pairs, list[tuple[Gradient | None, gl.Variable]])
    opt.apply_gradients(pairs, gl.get_global_step())
    opt.minimize(lambda: v * v, gl.get_or_create_global_step(), [v])
    assert_type(opt.get_slot(v, "accumulator"), gl.Variable | None)
    assert_type(opt.variables(), list[gl.Variable])
    assert_type(gl.gradients(lambda: v * v, [v]), list[Gradient | None])
    assert_type(gl.gather(v, [0, 1]), Array)


def keras(v: gl.Variable, x: Floats) -> None:
    """`variables` is a list that may be called."""
    assert_type(gl.keras.SGD(0.1, semantics="keras3", use_ema=True), gl.keras.SGD)
    assert_type(gl.keras.Adagrad(0.1, semantics="legacy").variables(), list[gl.Variable])
    opt = gl.keras.Adagrad(0.1, semantics="keras3")
    assert_type(opt.variables[0], gl.Variable)
    assert_type(opt.build([v]), None)
    gl.keras.SGD(0.1, semantics="keras")  # type: ignore[arg-type]


def asynchrony(v: gl.Variable, x: Floats, s: gl.IndexedSlices) -> None:
    dense, rows = gl.ConditionalAccumulator("float32"), gl.SparseConditionalAccumulator("float32")
    receipt = dense.apply_grad(x, local_step=0)
    assert_type(receipt.accepted, bool)
    assert_type(receipt.comparison, str)
    assert_type(dense.take_grad(1), Array)
    assert_type(dense.num_accumulated(), int)
    assert_type(rows.apply_indexed_slices_grad(s).accepted, bool)
    assert_type(rows.take_indexed_slices_grad(1, timeout=1.0), gl.IndexedSlices)
    stale = gl.train.DropStaleGradientOptimizer(gl.train.AdamOptimizer(), 2)
    assert_type(stale.compute_gradients(lambda: v * v), list[tuple[Gradient | None, gl.Variable]])
    assert_type(stale.stale_counter, gl.Variable)
    sync = gl.train.SyncReplicasOptimizer(gl.train.AdamOptimizer(), 2)
    assert_type(sync.push([(x, v)]).accepted, bool)


def numbers(either: Number) -> None:
    assert_type(either, float | np.number[Any] | Array)

"""gl.optax.drop_stale: the optimizer's numbers, in pure functions."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradlab as gl
from gradlab import rules
from gradlab.optax import StaleState, drop_stale, from_rule
from tests.optax.trees import TREES, gradients
from tests.train.stale_models import START, Event, Run, model, schedules

OPTIMIZERS = {
    "sgd": (lambda: gl.train.GradientDescentOptimizer(0.5), rules.StochasticGradientDescent(), 0.5),
    "momentum": (lambda: gl.train.MomentumOptimizer(0.25, 0.9), rules.Momentum(0.9), 0.25),
    "adagrad": (
        lambda: gl.train.AdagradOptimizer(0.5),
        rules.Adagrad(epsilon=0.0, epsilon_place="none", order="reciprocal"),
        0.5,
    ),
    "adam": (lambda: gl.train.AdamOptimizer(0.1), rules.Adam(lazy=False), 0.1),
}


def loss(w: Any) -> Any:
    return (w**2).sum() / 2


def run(tx: Any, events: list[Event], jit: bool = False) -> tuple[Any, StaleState]:
    """A schedule, told the steps that each worker read."""

    def apply(w: Any, state: Any, g: Any, local_step: Any) -> Any:
        updates, state = tx.update(g, state, w, local_step=local_step)
        return optax.apply_updates(w, updates), state

    w = jnp.asarray(START)
    apply, state, computed = jax.jit(apply) if jit else apply, tx.init(w), {}
    for what, worker in events:
        if what == "compute":
            computed[worker] = jax.grad(loss)(w), state.global_step
        else:
            w, state = apply(w, state, *computed[worker])
    return w, state


@pytest.mark.exhaustive
@settings(max_examples=20)
@given(events=schedules(moves=False), limit=st.integers(-1, 3), jit=st.booleans())
def test_any_schedule_is_as_the_model_says(events: list[Event], limit: int, jit: bool) -> None:
    w, state = run(drop_stale(optax.sgd(0.5), limit), events, jit)
    assert (w.tolist(), int(state.global_step), float(state.stale_counter)) == model(events, limit)


BUSY = [("compute", k) for k in (0, 1, 2)] + [
    (what, k) for k in (0, 1, 2, 0, 1) for what in ("apply", "compute")
]


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("jit", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("limit", [0, 1])
def test_the_bits_are_the_optimizers(name: str, jit: bool, limit: int) -> None:
    inner, rule, rate = OPTIMIZERS[name]
    w, state = run(drop_stale(from_rule(rule, rate, replace=jit), limit), BUSY, jit)
    theirs = Run(limit, inner())
    for event in BUSY:
        theirs.do(event)
    assert (int(state.global_step), float(state.stale_counter)) == theirs.state()[1:]
    worst = 4 if name == "adam" else 0  # JAX's roots and powers are not NumPy's to the last bit
    np.testing.assert_array_max_ulp(np.asarray(w), theirs.w.numpy(), worst)


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("replace", [False, True])
def test_a_drop_changes_no_bit_of_weights_and_inner_state(tree: str, replace: bool) -> None:
    w = jax.tree.map(lambda x: x * jnp.float32(-0.0), TREES[tree]())
    tx = drop_stale(from_rule(rules.Adam(), 0.1, replace=replace), 0)
    state = tx.init(w)
    updates, after = tx.update(gradients(w), state, w, local_step=-1)
    moved = optax.apply_updates(w, updates)
    for old, new in zip(
        jax.tree.leaves((w, state.inner)), jax.tree.leaves((moved, after.inner)), strict=True
    ):
        assert (old.dtype, np.asarray(old).tobytes()) == (new.dtype, np.asarray(new).tobytes())
    assert (int(after.global_step), float(after.stale_counter)) == (0, 1.0)


def test_the_state_keeps_its_types() -> None:
    w = {"a": jnp.ones(2), "b": jnp.ones((2, 2), jnp.bfloat16)}
    tx = drop_stale(optax.chain(optax.add_noise(0.1, 0.5, 0), optax.adam(0.1)), jnp.int32(1))
    state = tx.init(w)
    for local_step in (0, -5):
        _, after = jax.jit(tx.update)(gradients(w), state, w, local_step=local_step)
        assert jax.tree.map(jax.typeof, after) == jax.tree.map(jax.typeof, state)


def test_one_compilation_serves_kept_and_dropped() -> None:
    traced = []

    def count(updates: Any, state: Any, params: Any = None) -> Any:
        traced.append(1)
        return updates, state

    tx = drop_stale(optax.GradientTransformation(lambda _: optax.EmptyState(), count), 0)
    w, update = jnp.ones(2), jax.jit(tx.update)
    state = tx.init(w)
    for local_step in (0, 0, 1):
        _, state = update(w, state, w, local_step=local_step)
    assert traced == [1]
    assert (int(state.global_step), float(state.stale_counter)) == (2, 1.0)


@pytest.mark.exhaustive
def test_several_thresholds_at_once() -> None:
    def counts(limit: Any) -> Any:
        return run(drop_stale(optax.sgd(0.5), limit), BUSY)[1][:2]

    limits = jnp.arange(-1, 3)
    steps, counters = jax.vmap(counts)(limits)
    expected = [model(BUSY, int(k))[1:] for k in limits]
    assert list(zip(steps.tolist(), counters.tolist(), strict=True)) == expected


def test_other_extra_arguments_reach_the_inner_one() -> None:
    seen = []

    def update(updates: Any, state: Any, params: Any = None, *, value: float, **_: Any) -> Any:
        seen.append(value)
        return updates, state

    tx = drop_stale(optax.GradientTransformationExtraArgs(lambda _: None, update), 0)
    tx.update(jnp.ones(1), tx.init(jnp.ones(1)), jnp.ones(1), local_step=0, value=3.0)
    assert seen == [3.0]


@pytest.mark.exhaustive
def test_slices_and_none_go_through() -> None:
    table = jnp.ones((3, 2))
    slices = gl.IndexedSlices(jnp.ones((2, 2)), jnp.int32([1, 1]), (3, 2))
    tx, w = (
        drop_stale(from_rule(rules.StochasticGradientDescent(), 1.0), 0),
        {"t": table, "u": jnp.ones(1)},
    )
    for local_step, row in ((0, -1.0), (-1, 1.0)):
        updates, _ = tx.update({"t": slices, "u": None}, tx.init(w), w, local_step=local_step)
        moved = optax.apply_updates(w, updates)
        assert (moved["t"].tolist(), moved["u"].tolist()) == ([[1, 1], [row, row], [1, 1]], [1.0])


@pytest.mark.parametrize(
    ("staleness", "local_step", "error", "message"),
    [
        (0.5, 0, TypeError, "staleness must be an integer, got float32"),
        (None, 0, ValueError, "staleness is missing"),
        (0, None, ValueError, "local_step is missing: give an integer"),
        (0, 1.0, TypeError, "local_step must be an integer, got float32"),
        (0, jnp.zeros(2, int), ValueError, r"local_step must be a scalar, got shape \(2,\)"),
    ],
)
def test_what_is_refused(staleness: Any, local_step: Any, error: type, message: str) -> None:
    def use() -> None:
        tx = drop_stale(optax.sgd(0.1), staleness)
        tx.update(jnp.ones(1), tx.init(jnp.ones(1)), local_step=local_step)

    with pytest.raises(error, match=message):
        use()


def test_what_is_no_transformation() -> None:
    with pytest.raises(
        TypeError, match="needs an optax transformation, got AdamOptimizer; see from_rule"
    ):
        drop_stale(gl.train.AdamOptimizer(0.1), 0)

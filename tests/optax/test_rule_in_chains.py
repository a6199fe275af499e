"""Rules and optimizers among optax's own: schedules, sweeps, chains, wrappers, slices, and what is
refused.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import gradlab as gl
from gradlab import rules
from gradlab.rules import pure
from tests import ways
from tests.optax.steps import equal, run, stepped
from tests.optax.trees import equinox_like, flax_like, gradients


@pytest.mark.parametrize(
    "schedule", [optax.cosine_decay_schedule(0.5, 4), gl.schedules.CosineDecay(0.5, 4)]
)
def test_a_schedule_sees_the_steps_from_0(schedule: Any) -> None:
    tx, w = gl.optax.from_rule(rules.StochasticGradientDescent(), schedule), jnp.float32([0.0])
    state = tx.init(w)
    for step in range(6):
        new, state = stepped(tx, w, state, jnp.float32([1.0]))
        assert new[0] == -jnp.float32(schedule(step))
        assert int(state.count) == step + 1


def test_inject_hyperparams_makes_the_rate_part_of_the_state() -> None:
    tx = optax.inject_hyperparams(gl.optax.from_rule, static_args="rule")(
        rules.Momentum(), learning_rate=0.5
    )
    w = jnp.float32([1.0])
    state = tx.init(w)
    state.hyperparams["learning_rate"] = jnp.float32(0.25)
    assert stepped(tx, w, state, jnp.float32([1.0]))[0].tolist() == [0.75]


def test_hyperparameters_can_be_swept_by_vmap() -> None:
    w, g = jnp.float32([1.0, 2.0]), jnp.float32([1.0, 1.0])

    def one(rate: Any, epsilon: Any) -> Any:
        tx = gl.optax.from_rule(dataclasses.replace(rules.Adagrad(), epsilon=epsilon), rate)
        return stepped(tx, w, tx.init(w), g)[0]

    swept = jax.vmap(one)(jnp.float32([0.1, 0.2]), jnp.float32([1e-7, 1.0]))
    assert ways.ulps(swept, jnp.stack([one(0.1, 1e-7), one(0.2, 1.0)])) <= 1


def test_it_chains_with_optax_s_own() -> None:
    params, grads = flax_like(), gradients(flax_like())
    tx = optax.chain(optax.clip_by_global_norm(0.5), gl.optax.from_rule(rules.Adagrad(), 0.1))
    clipped, _ = optax.clip_by_global_norm(0.5).update(grads, optax.EmptyState())
    assert equal(
        stepped(tx, params, tx.init(params), grads)[0],
        _first(rules.Adagrad(), 0.1, params, clipped),
    )
    halved = optax.chain(
        gl.optax.from_rule(rules.StochasticGradientDescent(), 1.0), optax.scale(0.5)
    )
    assert stepped(halved, jnp.ones(1), halved.init(jnp.ones(1)), jnp.ones(1))[0].tolist() == [0.5]


def _first(rule: rules.Rule, rate: float, params: Any, grads: Any) -> Any:
    return pure.update(rule, rate, pure.init(rule, params), params, grads)[0]


def test_optax_finds_the_slots_shaped_as_the_weights() -> None:
    params = flax_like()
    tx = gl.optax.from_rule(rules.Adam(), 0.1)
    zeroed = optax.tree_utils.tree_map_params(tx, lambda x: x + 7, tx.init(params))
    assert all((x == 7).all() for x in jax.tree.leaves(zeroed.slots))
    assert int(zeroed.count) == 0


@pytest.mark.exhaustive
def test_wrappers_of_optax_take_it() -> None:
    params = flax_like()
    inner = gl.optax.from_rule(rules.Momentum(), 0.1)
    labels = jax.tree.map(lambda w: "still" if w.ndim == 0 else "moves", params)
    parts = optax.partition({"moves": inner, "still": optax.set_to_zero()}, labels)
    got = run(parts, params)
    assert got["params"]["scale"] == params["params"]["scale"]
    many = optax.MultiSteps(inner, every_k_schedule=3)
    assert not equal(run(many.gradient_transformation(), params), params)
    safe = optax.apply_if_finite(inner, 2)
    bad = jax.tree.map(lambda w: w * jnp.nan, params)
    assert equal(stepped(safe, params, safe.init(params), bad)[0], params)


def test_gradients_may_be_slices_or_missing() -> None:
    params = {"table": jnp.ones((3, 1)), "b": jnp.ones(2)}
    grads = {"table": gl.IndexedSlices(jnp.ones((2, 1)), jnp.int32([1, 1]), (3, 1)), "b": None}
    tx = gl.optax.from_rule(rules.StochasticGradientDescent(), 0.25)
    for step in (stepped, jax.jit(stepped, static_argnums=0)):
        new, _ = step(tx, params, tx.init(params), grads)
        assert new["table"].ravel().tolist() == [1.0, 0.5, 1.0]
        assert new["b"].tolist() == [1.0, 1.0]


def test_numpy_weights_become_jax_ones() -> None:
    params = {"w": np.ones(2, np.float32)}
    tx = gl.optax.from_rule(rules.Adagrad(), 0.1)
    new, _ = stepped(tx, params, tx.init(params), {"w": np.ones(2, np.float32)})
    assert isinstance(new["w"], jax.Array)


OPTIMIZERS = {
    "train momentum": lambda: gl.train.MomentumOptimizer(0.1, 0.9),
    "train Adam": lambda: gl.train.AdamOptimizer(0.1),
    "Keras Adagrad": lambda: gl.keras.Adagrad(
        gl.schedules.ExponentialDecay(0.1, 2, 0.5), clipnorm=0.5, decay=0.1, semantics="legacy"
    ),
}


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
@pytest.mark.parametrize("jit", [False, True])
def test_optimizers_bring_their_rate_and_their_state(make: Any, jit: bool) -> None:
    opt, params = make(), flax_like()
    want, state = params, opt.init(params)
    step = jax.jit(opt.step) if jit else opt.step
    for k in range(3):
        want, state = step(want, state, gradients(params, k))
    assert equal(run(gl.optax.from_rule(opt, replace=True), params, jit=jit), want)
    assert equal(
        run(gl.optax.from_rule(opt), params), run(gl.optax.from_rule(opt, replace=True), params)
    )


def test_optimizers_bring_their_way_with_slices() -> None:
    params = jnp.zeros((2, 1))
    grads = gl.IndexedSlices(jnp.ones((2, 1)), jnp.int32([1, 1]), (2, 1))
    for opt in (gl.train.GradientDescentOptimizer(1.0), gl.train.AdagradOptimizer(1.0)):
        tx = gl.optax.from_rule(opt)
        want, _ = opt.step(params, opt.init(params), grads)
        assert equal(stepped(tx, params, tx.init(params), grads)[0], want)


def test_the_weights_must_be_given() -> None:
    tx = gl.optax.from_rule(rules.Adagrad(), 0.1)
    with pytest.raises(
        ValueError, match=r"needs the weights: call update\(gradients, state, params\)"
    ):
        tx.update(jnp.ones(2), tx.init(jnp.ones(2)))


@pytest.mark.parametrize(
    ("rule", "rate", "error", "message"),
    [
        (rules.Adagrad(), None, TypeError, "Adagrad needs a learning rate"),
        (rules.Adagrad(), "fast", TypeError, "learning_rate must be numbers"),
        (
            rules.Adagrad(),
            np.ones(2),
            ValueError,
            r"learning_rate must be a scalar, got shape \(2,\)",
        ),
        (
            rules.Adagrad,
            0.1,
            TypeError,
            r"got the class Adagrad; give one of it: Adagrad\(\.\.\.\)",
        ),
        (gl.train.AdagradOptimizer, None, TypeError, "got the class AdagradOptimizer"),
        (optax.sgd(0.1), None, TypeError, "a transformation of optax; chain it as it is"),
        (0.1, None, TypeError, "got float"),
        (gl.train.GradientDescentOptimizer(0.1), 0.2, ValueError, "has its own learning rate"),
    ],
)
def test_what_is_no_rule_or_rate_is_refused(
    rule: Any, rate: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        gl.optax.from_rule(rule, rate)


def test_a_gradient_of_another_shape_is_refused() -> None:
    tx = gl.optax.from_rule(rules.Adagrad(), 0.1)
    with pytest.raises(ValueError, match="shape"):
        tx.update(jnp.ones(3), tx.init(jnp.ones(2)), jnp.ones(2))


def test_an_equinox_update_adds_leaf_by_leaf() -> None:
    """equinox.apply_updates maps over the updates first, and adds."""
    params = equinox_like()
    for replace in (False, True):
        tx = gl.optax.from_rule(rules.Adagrad(), 0.1, replace=replace)
        updates, _ = tx.update(gradients(params), tx.init(params), params)
        added = jax.tree.map(
            lambda u, w: w if u is None else w + u, updates, params, is_leaf=lambda x: x is None
        )
        assert equal(added, optax.apply_updates(params, updates))

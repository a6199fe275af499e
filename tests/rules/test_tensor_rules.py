"""Rules that read whole tensors: their numbers, and what refuses them."""

import json
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.rules import SOAP, Adafactor, ClippyAdagrad, Lamb, Muon
from gradlab.rules.muon import DION, orthogonalize

RULES = [rule() for rule in gl.rules.tensor_rules().values()]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_a_table_a_step_of_rows_and_out_refuse_it(rule: Any) -> None:
    w = np.ones((3, 2), np.float32)
    slices = gl.IndexedSlices(np.ones((1, 2), np.float32), np.array([1]), (3, 2))
    slots = rule.init(w)
    with pytest.raises(ValueError, match="reads whole tensors, which table 't' cannot serve"):
        gl.tpu.Table("t", 3, 2, rule=rule)
    for way in (gl.rules.rows, gl.rules.each):
        with pytest.raises(ValueError, match="which a step of single rows cannot serve"):
            way(rule, w, slots, slices, 0.1)
    with pytest.raises(ValueError, match=r"which a step in blocks \(out=\)"):
        gl.rules.dense(rule, w, slots, w, 0.1, out=(w, slots))
    gl.rules.every_row(rule, w, slots, slices, 0.1)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_a_shard_of_weights_is_refused_and_a_sharded_array_is_not(rule: Any) -> None:
    mesh = jax.make_mesh((2,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    rng = np.random.default_rng(4)
    w, g = (jnp.asarray(rng.normal(size=(4, 4)), jnp.float32) for _ in range(2))

    def two_steps(w: Any, g: Any) -> Any:
        state = gl.rules.pure.init(rule, w)
        # SOAP would divide rounding by rounding if the second gradient were the first.
        second = g - 0.5 * w
        w, state = gl.rules.pure.update(rule, 0.1, state, w, g)
        return gl.rules.pure.update(rule, 0.1, state, w, second)[0]

    def one_step(w: Any, g: Any) -> Any:
        return rule(w, rule.init(w), g, 0.1)[0]

    by_rows = jax.sharding.PartitionSpec("x")
    for step in (two_steps, one_step):
        with pytest.raises(ValueError, match="the weights are divided over the mesh axis x here"):
            jax.jit(jax.shard_map(step, mesh=mesh, in_specs=by_rows, out_specs=by_rows))(w, g)

    sharding = jax.sharding.NamedSharding(mesh, by_rows)
    sharded = jax.jit(two_steps)(jax.device_put(w, sharding), jax.device_put(g, sharding))
    np.testing.assert_allclose(sharded, jax.jit(two_steps)(w, g), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (3, 2), (2, 3, 2)])
def test_numpy_and_jax_agree_in_a_pure_step(rule: Any, shape: Any) -> None:
    rng = np.random.default_rng(0)
    values = {"w": rng.normal(size=shape).astype(np.float32)}
    grads = {"w": rng.normal(size=shape).astype(np.float32)}
    state = gl.rules.pure.init(rule, values)
    mine, _ = gl.rules.pure.update(rule, 0.1, state, values, grads)

    on_jax = jax.tree.map(jnp.asarray, values)
    step = jax.jit(lambda s, w, g: gl.rules.pure.update(rule, 0.1, s, w, g))
    theirs, after = step(gl.rules.pure.init(rule, on_jax), on_jax, grads)

    np.testing.assert_allclose(mine["w"], theirs["w"], rtol=1e-4, atol=1e-6)
    assert [s.shape for s in after["slots"][0]] == [
        s.shape for s in rule.for_weights("w", shape).init(values["w"])
    ]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_optax_runs_it_on_a_tree(rule: Any) -> None:
    rng = np.random.default_rng(3)
    params = {
        "b": jnp.asarray(rng.normal(size=3), jnp.float32),
        "k": jnp.asarray(rng.normal(size=(2, 3)), jnp.float32),
    }
    grads = jax.tree.map(lambda w: w * 0.5 + 1, params)
    tx = gl.optax.from_rule(rule, 0.1)
    updates, _ = jax.jit(tx.update)(grads, tx.init(params), params)

    state = gl.rules.pure.init(rule, params)
    new, _ = gl.rules.pure.update(rule, 0.1, state, params, grads)
    for name, w in params.items():
        np.testing.assert_allclose(w + updates[name], new[name], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_a_config_makes_the_same_rule(rule: Any) -> None:
    config = json.loads(json.dumps(rule.get_config()))

    assert gl.rules.from_config(config) == rule


def test_slots_of_another_shape_are_refused() -> None:
    w = np.ones((2, 3))
    with pytest.raises(ValueError, match=r"the slot r of weights of shape \(2, 3\) has shape"):
        Adafactor()(w, (np.ones(3), np.ones(3), w), w, 0.1)


@pytest.mark.parametrize("shape", [(4, 4), (3, 7), (7, 3), (1, 5)])
def test_singular_values_end_near_1(shape: Any) -> None:
    x = np.random.default_rng(0).normal(size=shape)

    values = np.linalg.svd(orthogonalize(x, steps=10), compute_uv=False)

    assert values.min() > 0.6 and values.max() < 1.3


def test_the_cubic_iteration_ends_at_the_polar_factor() -> None:
    x = np.random.default_rng(1).normal(size=(3, 5))
    u, _, vt = np.linalg.svd(x, full_matrices=False)

    np.testing.assert_allclose(orthogonalize(x, 60, (1.5, -0.5, 0.0)), u @ vt, atol=1e-6)


def test_muon_agrees_with_optax() -> None:
    import optax

    rng = np.random.default_rng(2)
    w = {"w": jnp.asarray(rng.normal(size=(5, 5)), jnp.float32)}
    tx = optax.contrib.muon(0.1, beta=0.0, nesterov=False, weight_decay=0.0)
    rule = Muon(momentum=0.0, use_nesterov=False, rms_rate=None)
    g = {"w": jnp.asarray(rng.normal(size=(5, 5)), jnp.float32)}
    updates, _ = tx.update(g, tx.init(w), w)
    new, _ = rule(w["w"], rule.init(w["w"]), g["w"], 0.1)

    np.testing.assert_allclose(new - w["w"], updates["w"], rtol=2e-3, atol=2e-4)


def test_lamb_moves_by_the_norm_of_the_weights() -> None:
    w = np.array([3.0, 4.0])
    rule = Lamb()
    new, _ = rule.at(rule.start())(w, rule.init(w), np.array([1.0, -2.0]), 0.5)

    np.testing.assert_allclose(np.linalg.norm(new - w), 2.5, rtol=1e-6)


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda word: Muon(form=word), "form"),
        (lambda word: Muon(adjust_lr=word), "adjust_lr"),
        (lambda word: Adafactor(epsilon_place=word), "epsilon_place"),
        (lambda word: ClippyAdagrad(accumulates=word), "accumulates"),
    ],
)
def test_another_word_is_refused(make: Any, field: str) -> None:
    with pytest.raises(ValueError, match=f"{field} must be one of '.*'; got 'keras2'"):
        make("keras2")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_an_optimizer_refuses_slices_and_changes_nothing(rule: Any) -> None:
    opt = gl.train.RuleOptimizer(rule, 0.1, False, "Whole")
    v = gl.Variable(np.ones((3, 2), np.float32))
    slices = gl.IndexedSlices(np.ones((1, 2), np.float32), np.array([1]), (3, 2))
    with pytest.raises(ValueError, match="reads whole tensors"):
        opt.apply_gradients([(slices, v)])
    np.testing.assert_array_equal(v.numpy(), np.ones((3, 2)))


@pytest.mark.parametrize(
    "rule",
    [
        Muon(form="optax", coefficients=DION, others=Lamb(beta1=0.5), excluded=("embedding",)),
        SOAP(shampoo_beta=0.5, interval=3.0, max_size=4),
        ClippyAdagrad(accumulates="clipped"),
    ],
)
def test_a_config_holds_every_option(rule: Any) -> None:
    assert gl.rules.from_config(json.loads(json.dumps(rule.get_config()))) == rule


@pytest.mark.parametrize("compiled", [False, True])
def test_a_gradient_of_nan_makes_soap_nan_and_raises_nothing(compiled: bool) -> None:
    w = jnp.ones((2, 2)) if compiled else np.ones((2, 2), np.float32)

    def three_steps(w: Any) -> Any:
        state = gl.rules.pure.init(SOAP(interval=1.0), w)
        for _ in range(3):
            w, state = gl.rules.pure.update(SOAP(interval=1.0), 0.1, state, w, w * np.nan)
        return w

    step = jax.jit(three_steps) if compiled else three_steps
    assert np.isnan(step(w)).all()


def test_clippy_moves_no_weight_by_more_than_its_share() -> None:
    w = np.array([1.0, -2.0, 4.0])
    new, _ = ClippyAdagrad(variable_threshold=0.25, absolute_threshold=0.0)(
        w, (np.full(3, 0.1),), np.array([3.0, 5.0, -1.0]), 1.0
    )

    assert (abs(new - w) <= 0.25 * abs(w) + 1e-12).all()
    np.testing.assert_allclose((abs(new - w) / abs(w)).max(), 0.25)


def test_adafactor_of_a_vector_needs_its_own_rule() -> None:
    w = np.ones(3, np.float32)
    with pytest.raises(ValueError, match=r"take rule\.for_weights"):
        Adafactor().init(w)

    rule = Adafactor().for_weights("bias", w.shape)
    assert [slot.shape for slot in rule.init(w)] == [(3,)]

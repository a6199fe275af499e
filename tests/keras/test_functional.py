"""The pure form: the same bits as the stateful one, inside jit and scan, and sums over the axis of a mesh."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, PartitionSpec

import gradlab as gl
from gradlab.errors import KerasWarning
from gradlab.keras import SGD, Adagrad, replicas
from gradlab.rules import pure

F = np.float32
DEVICES = 8
RNG = np.random.default_rng(3)
W = {"a": RNG.normal(size=(4, 2)).astype(F), "b": RNG.normal(size=3).astype(F)}
STEPS = [
    {"a": RNG.normal(size=(4, 2)).astype(F), "b": RNG.normal(size=3).astype(F)},
    {"a": gl.IndexedSlices(F([[1, 2], [3, 4]]), np.int32([2, 0]), (4, 2)), "b": None},
    {"a": None, "b": RNG.normal(size=3).astype(F)},
]
MAKE: dict[str, Any] = {
    "adagrad": lambda version: Adagrad(0.1, semantics=version),
    "momentum": lambda version: SGD(0.1, momentum=0.9, nesterov=True, semantics=version, global_clipnorm=2.0),
    "schedule": lambda version: SGD(gl.schedules.InverseTimeDecay(0.5, 2, 0.5), semantics=version, clipvalue=0.5),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("version", ["legacy", "rewrite"])
def test_the_pure_form_has_the_same_bits_and_jit_rounds_only(name: str, version: str) -> None:
    stateful, variables = MAKE[name](version), {k: gl.Variable(w, name=k) for k, w in W.items()}
    twin, jitted = MAKE[name](version), MAKE[name](version)
    compiled = jax.jit(jitted.update)
    values, state = W, twin.init(W)
    traced, traced_state = jax.tree.map(jnp.asarray, W), jitted.init(jax.tree.map(jnp.asarray, W))
    for grads in STEPS:
        stateful.apply_gradients([(grads[k], v) for k, v in variables.items()])
        values, state = twin.update(state, values, grads)
        traced, traced_state = compiled(traced_state, traced, jax.tree.map(jnp.asarray, grads))
    for k, v in variables.items():
        assert values[k].tolist() == v.numpy().tolist()
        np.testing.assert_allclose(traced[k], v.numpy(), rtol=3e-6, atol=1e-7)
    assert (int(state["step"]), int(traced_state["step"])) == (3, 3)


def test_keras_3_squares_one_by_one_under_jit_too() -> None:
    g = gl.IndexedSlices(jnp.ones((2, 1)), jnp.array([1, 1]), (3, 1))
    opt, w = Adagrad(1.0, 1.0, semantics="keras3"), jnp.zeros((3, 1))
    _, state = jax.jit(opt.update)(opt.init(w), w, g)
    assert state["slots"][0][0].ravel().tolist() == [1, 3, 1]


def test_in_a_scan() -> None:
    opt, w = SGD(gl.schedules.PiecewiseConstantDecay([0], [1.0, 0.5])), jnp.zeros(2)

    def body(carry: Any, g: Any) -> Any:
        values, state = opt.update(carry[1], carry[0], g)
        return (values, state), None

    (values, _), _ = jax.lax.scan(body, (w, opt.init(w)), jnp.ones((3, 2)))
    assert values.tolist() == [-2.0, -2.0]


def _on_mesh(opt: SGD, w: Any, grads: Any) -> Any:
    """One step where every device brings its own row of `grads`."""
    mesh = jax.make_mesh((DEVICES,), ("data",), axis_types=(AxisType.Auto,), devices=jax.devices("cpu")[:DEVICES])
    all_of, own = PartitionSpec(), PartitionSpec("data")

    @partial(jax.shard_map, mesh=mesh, in_specs=(all_of, own), out_specs=all_of)
    def step(w: Any, g: Any) -> Any:
        return opt.update(opt.init(w), w, jax.tree.map(lambda x: x[0], g), axis_name="data")[0]

    return jax.jit(step)(w, grads)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("version", ["legacy", "rewrite", "keras3"])
@pytest.mark.parametrize("limits", [{}, {"clipnorm": 1.0}, {"global_clipnorm": 1.0}, {"clipvalue": 0.25}])
def test_a_mesh_steps_like_replicas(version: Any, limits: dict[str, float]) -> None:
    grads = {k: RNG.normal(size=(DEVICES, *w.shape)).astype(F) for k, w in W.items()}
    got = _on_mesh(SGD(0.5, semantics=version, **limits), jax.tree.map(jnp.asarray, W), grads)
    eight = replicas(DEVICES)
    with eight.scope():
        opt, variables = SGD(0.5, semantics=version, **limits), {k: gl.Variable(w) for k, w in W.items()}
    eight.apply_gradients(opt, [[(grads[k][d], v) for k, v in variables.items()] for d in range(DEVICES)])
    for k, v in variables.items():
        np.testing.assert_allclose(got[k], v.numpy(), rtol=2e-6, atol=2e-6)


def test_slices_of_all_devices_are_joined_and_summed_by_row() -> None:
    opt, w = Adagrad(1.0, 1.0), jnp.zeros((3, 1))

    def step(values: Any) -> Any:
        g = gl.IndexedSlices(values, jnp.array([1]), (3, 1))
        return opt.update(opt.init(w), w, g, axis_name="data")[1]["slots"][0][0]

    got = jax.vmap(step, axis_name="data")(jnp.ones((4, 1, 1)))
    assert got[:, :, 0].tolist() == [[1, 17, 1]] * 4


def test_tf_2_3_refuses_limits_on_a_mesh_and_ignores_them_elsewhere() -> None:
    opt, w = SGD(1.0, clipnorm=1.0, semantics="tf2.3"), jnp.zeros(2)
    with pytest.raises(ValueError, match="refuses clipnorm for replicas"):
        jax.vmap(lambda g: opt.update(opt.init(w), w, g, axis_name="data")[0], axis_name="data")(jnp.ones((2, 2)))
    with pytest.warns(KerasWarning, match="does nothing here"):
        assert opt.update(opt.init(w), w, jnp.array([3.0, 4.0]))[0].tolist() == [-3.0, -4.0]


def test_what_all_weights_share_advances() -> None:
    rule = gl.rules.Adam()

    class Adam(Adagrad):
        def _rule(self) -> Any:
            return rule

    opt = Adam(0.1)
    (values, state), (expected, other) = (W, opt.init(W)), (W, pure.init(rule, W))
    for grads in (STEPS[0], STEPS[2]):
        values, state = opt.update(state, values, grads)
        expected, other = pure.update(rule, F(0.1), other, expected, grads)
    assert {k: w.tolist() for k, w in values.items()} == {k: w.tolist() for k, w in expected.items()}
    assert state["shared"] == other["shared"] != opt.init(W)["shared"]


def test_shapes_are_checked() -> None:
    opt = SGD()
    with pytest.raises(gl.errors.InvalidArgumentError):
        opt.update(opt.init(W), W, {"a": F([1.0]), "b": None})


def test_transformers_come_last() -> None:
    opt = SGD(1.0, gradient_transformers=[lambda pairs: [(2 * g, w) for g, w in pairs]])
    assert opt.update(opt.init(jnp.zeros(1)), jnp.zeros(1), jnp.ones(1))[0].tolist() == [-2.0]

"""The clips as transformations: the numbers of the functions of the same name, in every kind of
tree.
"""

import inspect
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.sharding import AxisType, PartitionSpec

import gradlab as gl
from tests import ways
from tests.optax.trees import TREES, flax_like, gradients

# transformation, and the function of a list of gradients and a list of weights it must agree with
CLIPS: dict[str, tuple[Any, Any]] = {
    "value": (
        gl.optax.clip_by_value(-0.3, 0.2),
        lambda g, w: [gl.clip_by_value(x, -0.3, 0.2) for x in g],
    ),
    "norm": (gl.optax.clip_by_norm(0.4), lambda g, w: [gl.clip_by_norm(x, 0.4) for x in g]),
    "norm of each entry": (
        gl.optax.clip_by_norm(0.4, []),
        lambda g, w: [gl.clip_by_norm(x, 0.4, []) for x in g],
    ),
    "average norm": (
        gl.optax.clip_by_average_norm(0.1),
        lambda g, w: [gl.clip_by_average_norm(x, 0.1) for x in g],
    ),
    "global norm": (
        gl.optax.clip_by_global_norm(0.5),
        lambda g, w: gl.clip_by_global_norm(g, 0.5)[0],
    ),
    "one entry": (gl.optax.clip(0.2), lambda g, w: [gl.clip_by_value(x, -0.2, 0.2) for x in g]),
    "block": (gl.optax.clip_by_block_rms(0.1), lambda g, w: gl.clip_by_block_rms(g, 0.1)),
    "adaptive": (gl.optax.adaptive_grad_clip(0.1), lambda g, w: gl.adaptive_grad_clip(g, w, 0.1)),
}
FOR_SLICES = [name for name in CLIPS if name not in ("adaptive", "average norm", "block")]


def clipped(tx: optax.GradientTransformation, grads: Any, params: Any = None) -> Any:
    return tx.update(grads, tx.init(params), params)[0]


@pytest.mark.exhaustive
@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("name", CLIPS)
def test_it_is_the_function_on_every_leaf(name: str, tree: str, jit: bool) -> None:
    (tx, function), params = CLIPS[name], TREES[tree]()
    grads = gradients(params)
    update = jax.jit(lambda g, p: clipped(tx, g, p)) if jit else lambda g, p: clipped(tx, g, p)
    got = update(grads, params)
    assert jax.tree.structure(got) == jax.tree.structure(grads)
    want = function(jax.tree.leaves(grads), jax.tree.leaves(params))
    assert ways.ulps(jax.tree.leaves(got), want) <= (2 if jit else 0)


@pytest.mark.parametrize("name", FOR_SLICES)
def test_slices_are_clipped_by_their_values_and_none_stays_none(name: str) -> None:
    tx, function = CLIPS[name]
    slices = gl.IndexedSlices(jnp.float32([[3.0], [4.0]]), jnp.int32([1, 1]), (3, 1))
    grads = {"b": None, "table": slices, "w": jnp.float32([12.0])}
    for update in (clipped, jax.jit(clipped, static_argnums=0)):
        got = update(tx, grads)
        assert got["b"] is None
        assert (got["table"].indices.tolist(), got["table"].dense_shape) == ([1, 1], (3, 1))
        want = function([slices, grads["w"]], None)
        assert ways.ulps([got["table"].values, got["w"]], [want[0].values, want[1]]) <= 2


@pytest.mark.parametrize("name", CLIPS)
def test_vmap_clips_each_by_itself(name: str) -> None:
    tx, params = CLIPS[name][0], flax_like()
    many = jax.tree.map(lambda g: jnp.stack([g, 3 * g]), gradients(params))
    got = jax.vmap(lambda g: clipped(tx, g, params))(many)
    for k in range(2):
        one = clipped(tx, jax.tree.map(lambda g, k=k: g[k], many), params)
        assert ways.ulps(jax.tree.map(lambda g, k=k: g[k], got), one) <= 2


def test_inside_shard_map_norms_are_those_of_the_shard() -> None:
    mesh = jax.make_mesh(
        (8,), ("rows",), axis_types=(AxisType.Auto,), devices=jax.devices("cpu")[:8]
    )
    tx, g, rows = (
        gl.optax.clip_by_global_norm(1.0),
        gradients(jnp.ones((16, 4))),
        PartitionSpec("rows"),
    )
    got = jax.jit(
        jax.shard_map(lambda g: clipped(tx, g), mesh=mesh, in_specs=rows, out_specs=rows)
    )(g)
    want = jnp.concatenate([gl.clip_by_global_norm([part], 1.0)[0][0] for part in jnp.split(g, 8)])
    assert ways.ulps(got, want) <= 2


def test_the_arithmetic_is_tensorflow_s_not_optax_s() -> None:
    grads = {"a": jnp.float32([1.0, jnp.inf]), "b": jnp.float32([2.0])}
    assert np.isnan(jax.tree.leaves(clipped(gl.optax.clip_by_global_norm(1.0), grads))[1]).all()
    assert clipped(optax.clip_by_global_norm(1.0), grads)["b"].tolist() == [0.0]
    exact = jnp.float32([41.0 / 3])
    assert (
        clipped(gl.optax.clip_by_global_norm(41.0), exact)
        == gl.clip_by_global_norm([exact], 41.0)[0][0]
        != exact
    )


def test_semantics_and_mode_are_handed_on() -> None:
    bound = np.float32(np.nan)
    g = jnp.float32([1.0])
    with pytest.warns(gl.errors.ClipWarning):
        assert np.isnan(clipped(gl.optax.clip_by_value(bound, 2.0), g))
    with pytest.warns(gl.errors.ClipWarning):
        assert clipped(gl.optax.clip_by_value(bound, 2.0, semantics="tf2.3"), g) == 1.0
    with pytest.raises(ValueError, match="semantics"):
        clipped(gl.optax.clip_by_norm(1.0, semantics="tf1"), g)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="semantics"):
        clipped(gl.optax.clip_by_global_norm(1.0, semantics="tf1"), g)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="mode"):
        clipped(gl.optax.clip_by_average_norm(1.0, mode="lazy"), g)  # type: ignore[arg-type]


def test_limits_can_be_injected_and_scheduled() -> None:
    tx = optax.inject_hyperparams(gl.optax.clip_by_norm)(
        clip_norm=gl.schedules.ExponentialDecay(2.0, 1, 0.5)
    )
    g, state = jnp.float32([8.0]), tx.init(jnp.ones(1))
    seen = []
    for _ in range(3):
        update, state = tx.update(g, state)
        seen.append(update.item())
    assert seen == [2.0, 1.0, 0.5]


def test_an_adaptive_clip_needs_the_weights_and_says_so() -> None:
    with pytest.raises(
        ValueError, match=r"needs the weights: call update\(gradients, state, params\)"
    ):
        clipped(gl.optax.adaptive_grad_clip(0.1), jnp.ones(2))
    with pytest.raises(ValueError, match="clipping"):
        clipped(gl.optax.adaptive_grad_clip(-0.1), jnp.ones(2), jnp.ones(2))


def test_a_weight_without_a_gradient_is_left_out_by_the_adaptive_clip() -> None:
    params = {"a": jnp.ones(2), "b": jnp.ones(3)}
    got = clipped(gl.optax.adaptive_grad_clip(0.1), {"a": jnp.ones(2), "b": None}, params)
    assert got["b"] is None
    assert ways.ulps(got["a"], gl.adaptive_grad_clip([jnp.ones(2)], [jnp.ones(2)], 0.1)[0]) == 0


def test_clip_then_rule_is_one_chain() -> None:
    params = flax_like()
    tx = optax.chain(gl.optax.clip_by_global_norm(0.5), gl.optax.from_rule(gl.rules.Adagrad(), 0.1))
    updates, _ = jax.jit(tx.update)(gradients(params), tx.init(params), params)
    leaves, _ = gl.clip_by_global_norm(jax.tree.leaves(gradients(params)), 0.5)
    alone = gl.optax.from_rule(gl.rules.Adagrad(), 0.1)
    again, _ = alone.update(
        jax.tree.unflatten(jax.tree.structure(params), leaves), alone.init(params), params
    )
    assert jax.tree.all(
        jax.tree.map(lambda a, b: jnp.allclose(a, b, rtol=1e-5, atol=1e-7), updates, again)
    )


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("limit", [0.3, 3.0])
@pytest.mark.parametrize("name", ["clip", "clip_by_block_rms"])
def test_optax_s_names_give_optax_s_numbers(name: str, limit: float, dtype: str) -> None:
    grads = jax.tree.map(lambda g: g.astype(dtype), gradients(flax_like()))
    want = clipped(getattr(optax, name)(limit), grads)
    got = clipped(getattr(gl.optax, name)(limit), grads)
    assert jax.tree.map(lambda x: x.dtype, got) == jax.tree.map(lambda x: x.dtype, want)
    assert ways.ulps(got, want) <= 1


@pytest.mark.parametrize("limit", [0.5, 2.0, float("inf")])
def test_examples_are_clipped_as_in_optax(limit: float) -> None:
    gradient = gradients(flax_like())
    grads = jax.tree.map(lambda g: jnp.stack([g, 0 * g, 3 * g, -g]), gradient)
    want, want_count = optax.per_example_global_norm_clip(grads, limit)
    got, count = gl.optax.per_example_global_norm_clip(grads, limit)
    assert int(count) == int(want_count)
    assert ways.ulps(got, want) <= 2


def test_the_norm_of_a_tree_is_optax_s() -> None:
    grads = gradients(flax_like())
    assert ways.ulps(gl.optax.global_norm(grads), optax.tree.norm(grads)) <= 1
    slices = gl.IndexedSlices(jnp.float32([[3.0], [4.0]]), jnp.int32([1, 1]), (3, 1))
    assert float(gl.optax.global_norm({"b": None, "table": slices})) == 5.0


@pytest.mark.parametrize("name", ["clip", "clip_by_block_rms", "per_example_global_norm_clip"])
def test_arguments_have_optax_s_names_and_order(name: str) -> None:
    mine = inspect.signature(getattr(gl.optax, name)).parameters
    theirs = inspect.signature(getattr(optax, name)).parameters
    assert list(mine) == list(theirs)

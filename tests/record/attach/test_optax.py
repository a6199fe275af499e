"""The recorder as a transformation: what it records, that it changes nothing, and how the records
come back.
"""

import functools
import pickle
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import gradlab as gl
from tests.optax.trees import TREES, flax_like, gradients


def train(tx: optax.GradientTransformation, params: Any, steps: int = 3, **extra: Any) -> Any:
    state, update = tx.init(params), jax.jit(tx.update)
    for k in range(steps):
        _, state = update(gradients(params, k), state, params, **extra)
    return state


@functools.cache
def recorded_trees() -> dict[str, tuple[gl.Recorder, Any]]:
    """Return an empty recorder for each tree and the state after three steps, all trees in one
    program.
    """
    params = {tree: make() for tree, make in TREES.items()}
    recorders = {tree: gl.Recorder(5) for tree in TREES}
    made = {tree: gl.record.optax(rec) for tree, rec in recorders.items()}

    @jax.jit
    def update(grads: Any, states: Any) -> Any:
        return {
            tree: tx.update(grads[tree], states[tree], params[tree])[1] for tree, tx in made.items()
        }

    states = {tree: tx.init(params[tree]) for tree, tx in made.items()}
    for k in range(3):
        states = update({tree: gradients(p, k) for tree, p in params.items()}, states)
    return {tree: (rec, states[tree]) for tree, rec in recorders.items()}


@pytest.mark.exhaustive
@pytest.mark.parametrize("tree", TREES)
def test_it_records_what_the_recorder_itself_records(tree: str) -> None:
    params, (rec, state), eager = TREES[tree](), recorded_trees()[tree], gl.Recorder(5)
    got = gl.record.absorb(rec, state)
    for k in range(3):
        eager.record(gradients(params, k))
    assert got.names == eager.names
    assert len(rec) == 0
    for column in ("norm", "largest", "nonfinite", "histogram"):
        assert got[column] == pytest.approx(eager[column], rel=1e-6)


def test_gradients_pass_through_as_they_are() -> None:
    grads = {
        "a": jnp.ones(2),
        "b": None,
        "t": gl.IndexedSlices(jnp.ones((1, 2)), jnp.int32([0]), (3, 2)),
    }
    tx = gl.record.optax(gl.Recorder(2), like=grads)
    found: list[Any] = []

    @jax.jit
    def traced() -> None:
        found.append(tx.update(grads, tx.init(None))[0])

    traced.lower()  # what is handed on is decided when it is traced
    assert found[0] is grads


@pytest.mark.exhaustive
def test_before_and_after_a_clip_in_one_chain() -> None:
    rec, params = gl.Recorder(3), flax_like()
    tx = optax.chain(
        gl.record.optax(rec, name="before"),
        gl.optax.clip_by_global_norm(0.5),
        gl.record.optax(rec, name="after"),
        gl.optax.from_rule(gl.rules.Adagrad(), 0.1),
    )
    state = train(tx, params)
    before, after = (gl.record.absorb(rec, state, name) for name in ("before", "after"))
    assert after.global_norm == pytest.approx(np.minimum(before.global_norm, 0.5), rel=1e-5)
    assert before.what_if(clip_global_norm=0.5).norm_after == pytest.approx(
        after.global_norm, rel=1e-5
    )
    with pytest.raises(
        ValueError, match=r"one record of the name asked for, None; it holds 'before', 'after'"
    ):
        gl.record.absorb(rec, state)
    with pytest.raises(ValueError, match=r"'between'; it holds 'before', 'after'"):
        gl.record.absorb(rec, state, "between")
    with pytest.raises(ValueError, match="it holds none"):
        gl.record.absorb(rec, optax.sgd(0.1).init(params))


@pytest.mark.exhaustive
def test_scalars_come_as_extra_arguments_of_update() -> None:
    rec, params = gl.Recorder(3), flax_like()
    tx = optax.chain(gl.record.optax(rec, scalars=["loss"]), optax.sgd(0.1))

    @jax.jit
    def update(grads: Any, state: Any, loss: Any) -> Any:
        """Return the states after an update with the loss, and after one without it."""
        return tx.update(grads, state, params, loss=loss, other=loss + 1)[1], tx.update(
            grads, state, params
        )[1]

    loss = jnp.float32(0.25)
    first, silent = update(gradients(params), tx.init(params), loss)
    got = gl.record.absorb(rec, update(gradients(params, 1), first, loss)[0])
    assert got["loss"].tolist() == [0.25, 0.25]
    assert np.isnan(gl.record.absorb(rec, silent)["loss"]).all()


@pytest.mark.exhaustive
def test_slices_need_an_example_of_the_gradients() -> None:
    params = {"table": jnp.ones((5, 2))}
    grads = {"table": gl.IndexedSlices(jnp.ones((3, 2)), jnp.int32([0, 0, 4]), (5, 2))}
    rec = gl.Recorder(2)
    tx = gl.record.optax(rec, like=grads)
    _, state = jax.jit(tx.update)(grads, tx.init(params), params)
    assert gl.record.absorb(rec, state).sizes == (6,)
    tx = gl.record.optax(gl.Recorder(2))
    with pytest.raises(ValueError, match="this recorder holds tensors"):
        tx.update(grads, tx.init(params), params)


@pytest.mark.exhaustive
def test_later_steps_than_there_is_room_for_are_counted() -> None:
    rec = gl.Recorder(2)
    got = gl.record.absorb(rec, train(gl.record.optax(rec), jnp.ones(3), steps=5))
    assert (len(got), got.seen) == (2, 5)


@pytest.mark.exhaustive
def test_vmap_records_each_run() -> None:
    rec, params = gl.Recorder(2), jnp.ones((4, 3))
    tx = gl.record.optax(rec)
    states = jax.vmap(tx.init)(params)
    _, states = jax.jit(jax.vmap(tx.update))(jnp.arange(4.0)[:, None] * params, states)
    norms = [
        gl.record.absorb(rec, jax.tree.map(lambda x, k=k: x[k], states)).global_norm.item()
        for k in range(4)
    ]
    assert norms == pytest.approx([k * 3**0.5 for k in range(4)])


@pytest.mark.exhaustive
def test_a_scan_carries_it_and_compiles_once() -> None:
    rec, params = gl.Recorder(8), flax_like()
    tx = gl.record.optax(rec)
    grads = jax.tree.map(lambda *g: jnp.stack(g), *(gradients(params, k) for k in range(8)))
    state, _ = jax.lax.scan(lambda s, g: (tx.update(g, s, params)[1], None), tx.init(params), grads)
    assert len(gl.record.absorb(rec, state)) == 8


@pytest.mark.exhaustive
def test_the_state_survives_pickle_and_its_name_is_static() -> None:
    rec = gl.Recorder(3)
    state = train(gl.record.optax(rec, name="raw"), jnp.ones(3))
    again = pickle.loads(pickle.dumps(state))
    assert gl.record.absorb(rec, (again, None), "raw").global_norm.tolist() == (
        gl.record.absorb(rec, state).global_norm.tolist()
    )
    assert all(isinstance(x, jax.Array) for x in jax.tree.leaves(state))
    assert jax.tree.structure(state) != jax.tree.structure(
        gl.record.optax(gl.Recorder(3)).init(jnp.ones(3))
    )

"""GradientTape: gradients of what was computed."""

from typing import NamedTuple

import numpy as np
import pytest

import gradlab as gl
from tests.differences import differs


class Weights(NamedTuple):
    v: object
    w: object


def test_a_loss_keeps_its_value_and_gradient() -> None:
    v = gl.Variable([1.0, 2.0])
    with gl.GradientTape() as tape:
        loss = np.sum(v * v)
    v.assign([10.0, 20.0])

    assert float(loss) == 5
    assert f"{loss:.1f}" == "5.0"
    assert (loss * 2).item() == 10
    assert tape.gradient(loss, v).tolist() == [2, 4]


def test_gradients_have_the_structure_of_the_sources() -> None:
    v, w = gl.Variable([1.0]), gl.Variable([2.0])
    with gl.GradientTape(persistent=True) as tape:
        loss = v * 3
    assert tape.gradient(loss, {"v": v, "w": w}) == {"v": np.float32([3]), "w": None}
    assert tape.gradient(loss, (v,)) == (np.float32([3]),)
    assert tape.gradient(loss, Weights(v, w)) == Weights(np.float32([3]), None)
    zero = tape.gradient(loss, [w], unconnected_gradients="zero")
    assert zero[0].tolist() == [0]
    assert tape.gradient([loss, loss], v, [[2.0], [5.0]]).tolist() == [21]


def test_rows_that_are_gathered_have_slices() -> None:
    table = gl.Variable(np.ones((3, 2), np.float32))
    with gl.GradientTape() as tape:
        loss = gl.gather(table, [2, 2]) * 3
    gradient = tape.gradient(loss, table)
    assert isinstance(gradient, gl.IndexedSlices)
    assert (gradient.indices.tolist(), gradient.values.tolist()) == ([2, 2], [[3, 3], [3, 3]])


def test_only_trainable_variables_are_watched() -> None:
    v, fixed = gl.Variable(1.0), gl.Variable(2.0, trainable=False)
    with gl.GradientTape(persistent=True) as tape:
        loss = v * fixed
    assert tape.gradient(loss, [v, fixed]) == [2, None]
    with gl.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(fixed)
        loss = v * fixed
    assert tape.gradient(loss, [v, fixed]) == [None, 1]


def test_a_tape_in_a_graph_gives_tensors() -> None:
    with gl.Graph().as_default():
        v = gl.Variable(3.0)
        with gl.GradientTape() as tape:
            loss = v * v
        gradient = tape.gradient(loss, v)
        gl.Session().run(v.assign(5.0))
        assert gl.Session().run([loss, gradient]) == [25, 10]


# Refusals


def test_a_tape_is_used_once_unless_it_is_persistent() -> None:
    v = gl.Variable(1.0)
    with gl.GradientTape() as tape:
        loss = v * v
    tape.gradient(loss, v)
    with pytest.raises(RuntimeError, match=r"non-persistent GradientTape"):
        tape.gradient(loss, v)


@differs(
    "a loss that no `GradientTape` recorded",
    tensorflow="its gradient is None",
    gradlab="refused (TypeError); jax.numpy refuses what a tape records",
)
def test_what_was_not_recorded_is_refused() -> None:
    v = gl.Variable([1.0, 2.0])
    with gl.GradientTape() as tape:
        value = v.numpy().sum()
    with pytest.raises(TypeError, match=r"recorded, got float32.*gl\.gradients"):
        tape.gradient(value, v)
    jnp = pytest.importorskip("jax.numpy")
    with gl.GradientTape(), pytest.raises(TypeError, match=r"NumPy's functions"):
        jnp.sum(v * v)


@differs(
    "a variable that changes while a `GradientTape` records",
    tensorflow="each read has its own value",
    gradlab="a second read is refused (RuntimeError)",
)
def test_a_variable_that_changes_is_refused() -> None:
    v = gl.Variable(1.0)
    with gl.GradientTape():
        v * 2
        v.assign(3.0)
        with pytest.raises(RuntimeError, match=r"update variables after the block"):
            v * 2


def test_bad_arguments_are_refused() -> None:
    v = gl.Variable(1.0)
    with gl.GradientTape() as tape:
        loss = v * v
    with pytest.raises(TypeError, match=r"sources must be gradlab Variables"):
        tape.gradient(loss, [loss])
    with pytest.raises(ValueError, match=r'must be "none" or "zero"'):
        tape.gradient(loss, v, unconnected_gradients="maybe")
    assert tape.gradient(loss, v) == 2

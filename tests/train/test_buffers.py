"""A value that was handed out never changes, whatever steps come; memory that wasn't is written
into.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.train.buffers import Buffer

SHAPE = (40_000, 2)  # so large that a step is in place where it may be
IN_NUMPY_AND_JAX = pytest.mark.parametrize("module", [np, jnp], ids=["numpy", "jax"])
DENSE_AND_ROWS = pytest.mark.parametrize("by_rows", [False, True], ids=["dense", "rows"])
WAYS_TO_SEE: dict[str, Callable[[gl.Variable], Any]] = {
    "value": lambda v: v.value,
    "a view": lambda v: v.value[1:],
    "an item": lambda v: v[1:],
    "an array over it": np.asarray,
    "a memoryview": lambda v: memoryview(np.asarray(v)),
    "a JAX array over it": lambda v: jax.device_put(v.value, jax.devices()[0]),
    "rows of an iteration": lambda v: next(iter(v)),
}


def step(v: gl.Variable, by_rows: bool) -> None:
    g: Any = jnp.ones(v.shape) if isinstance(v._value, jax.Array) else np.ones(v.shape, np.float32)
    if by_rows:
        g = gl.IndexedSlices(g[:5], np.arange(5), v.shape)
    gl.train.MomentumOptimizer(0.5, 0.9).apply_gradients([(g, v)])


def address(v: gl.Variable) -> int:
    array: Any = v._value
    return array.ctypes.data if isinstance(array, np.ndarray) else array.unsafe_buffer_pointer()


@pytest.mark.every_case
@IN_NUMPY_AND_JAX
@DENSE_AND_ROWS
@pytest.mark.parametrize("way", WAYS_TO_SEE)
def test_what_was_handed_out_never_changes(module: ModuleType, by_rows: bool, way: str) -> None:
    v = gl.Variable(module.ones(SHAPE, np.float32))
    step(v, by_rows)
    step(v, by_rows)
    seen = WAYS_TO_SEE[way](v)
    before = np.array(seen)

    for _ in range(3):
        step(v, by_rows)

    np.testing.assert_array_equal(seen, before)
    assert v.numpy()[2, 0] != before.flat[0]


@DENSE_AND_ROWS
def test_the_array_that_a_jax_variable_was_made_of_stays(by_rows: bool) -> None:
    initial = jnp.ones(SHAPE)
    v = gl.Variable(initial)
    assigned = jnp.zeros(SHAPE)

    step(v, by_rows)
    v.assign(assigned)
    step(v, by_rows)

    assert initial[0, 0] == 1
    assert assigned[0, 0] == 0


def test_two_copies_of_a_variable_are_stepped_apart() -> None:
    v = gl.Variable(jnp.ones(SHAPE))
    step(v, by_rows=False)
    other = copy.copy(v)
    before = v.numpy()

    step(other, by_rows=False)
    step(other, by_rows=False)

    np.testing.assert_array_equal(v, before)


@IN_NUMPY_AND_JAX
def test_rows_are_written_into_memory_that_was_not_handed_out(module: ModuleType) -> None:
    v = gl.Variable(module.ones(SHAPE, np.float32))
    step(v, by_rows=True)
    place = address(v)

    for _ in range(3):
        step(v, by_rows=True)
        v.numpy()
        assert v[np.array([0, 1])].shape == (2, 2)
        assert address(v) == place

    assert v.value.shape == SHAPE
    step(v, by_rows=True)
    assert address(v) != place


@IN_NUMPY_AND_JAX
def test_a_variable_that_a_session_fetches_is_stepped_in_place(module: ModuleType) -> None:
    with gl.Graph().as_default(), gl.Session() as sess:
        v = gl.Variable(module.ones(SHAPE, np.float32))
        g = gl.IndexedSlices(np.ones((1, 2), np.float32), [0], SHAPE)
        op = gl.train.GradientDescentOptimizer(0.5).apply_gradients([(g, v)])
        sess.run(op)
        place = address(v)

        for _ in range(3):
            _, fetched = sess.run([op, v])
            assert v.eval().shape == fetched.shape == SHAPE
            assert address(v) == place


def test_a_dense_numpy_step_writes_into_memory_that_was_not_handed_out() -> None:
    v = gl.Variable(np.ones(SHAPE, np.float32))
    opt = gl.train.MomentumOptimizer(0.5, 0.9)
    g = np.ones(SHAPE, np.float32)
    opt.apply_gradients([(g, v)])
    slot = opt.get_slot(v, "momentum")
    assert slot is not None
    opt.apply_gradients([(g, v)])
    places = address(v), address(slot)

    opt.apply_gradients([(g, v)])
    assert (address(v), address(slot)) == places

    assert v.value.shape == SHAPE
    opt.apply_gradients([(g, v)])
    assert address(v) != places[0]
    assert address(slot) == places[1]


@IN_NUMPY_AND_JAX
def test_a_value_is_read_only_after_every_kind_of_step(module: ModuleType) -> None:
    v = gl.Variable(module.ones(SHAPE, np.float32))
    for by_rows in (False, True, False):
        step(v, by_rows)
        assert not np.asarray(v.value).flags.writeable


def test_an_item_that_is_a_copy_does_not_share_the_array() -> None:
    buffer = Buffer(np.arange(6.0), is_shared=False)
    assert buffer.take(np.array([5, 0])).tolist() == [5, 0]
    assert buffer.take(2) == 2
    assert not buffer.is_shared
    assert buffer.take(slice(1, 3)).tolist() == [1, 2]
    assert buffer.is_shared


@pytest.mark.parametrize("by_rows", [True, False])
def test_a_jax_table_that_is_only_gathered_from_stays_in_place(by_rows: bool) -> None:
    v = gl.Variable(jnp.ones(SHAPE))
    opt = gl.train.MomentumOptimizer(0.5, 0.9)
    places = []

    for _ in range(4):
        opt.minimize(lambda: (gl.gather(v, [0, 1]) if by_rows else v.value).sum(), var_list=[v])
        places.append(address(v))

    assert (len(set(places[2:])) == 1) == by_rows


def test_a_loan_keeps_an_array_as_it_is_until_it_ends() -> None:
    buffer = Buffer(np.zeros(3), is_shared=False)
    with buffer.lend() as lent:
        buffer.write_rows(np.array([0]), np.array([1.0]))
        with buffer.overwrite() as target:
            target[:] = 2.0
        assert lent.tolist() == [0, 0, 0]
    assert buffer.is_free
    assert buffer.array.tolist() == [2, 2, 2]


@pytest.mark.parametrize("is_shared", [False, True])
def test_an_error_while_a_step_writes_leaves_the_value_read_only(is_shared: bool) -> None:
    v = gl.Variable(np.ones(SHAPE, np.float32))
    v._buffer.is_shared = is_shared

    with pytest.raises(MemoryError), v._buffer.overwrite():
        raise MemoryError
    with pytest.raises(ValueError, match="broadcast"):
        v._buffer.write_rows(np.array([0]), np.ones(SHAPE[1] + 1))

    assert not v.value.flags.writeable
    assert (v.value == 1).all()


def test_a_missing_name_is_an_attribute_error() -> None:
    v = gl.Variable([1.0], name="v")
    with pytest.raises(AttributeError, match="'Variable' object has no attribute 'gradient'"):
        v.gradient()  # type: ignore[attr-defined]

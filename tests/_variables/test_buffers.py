"""Whose buffers they are."""

import threading
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab._variables import buffers as cells

HOLDERS: dict[str, Any] = {
    "the value": lambda x: x,
    "a view": lambda x: x[1:],
    "a view of a view": lambda x: x[1:].reshape(1, -1).T,
    "a memoryview": memoryview,
    "a JAX array over it": jax.device_put,
}
JAX_HOLDERS: dict[str, Any] = {
    "the value": lambda x: x,
    "its NumPy view": np.asarray,
    "a view of that": lambda x: np.asarray(x)[1:],
    "the same array put there again": jax.device_put,
}
if jax.__version_info__ > (0, 10, 1):  # before, a shard did not hold its array
    JAX_HOLDERS["its shard"] = lambda x: x.addressable_shards[0].data


def _is_ours(v: gl.Variable) -> bool:
    with cells.taken([v]) as values:
        return cells.is_ours(values[0])


@pytest.mark.parametrize("module", [np, jnp])
def test_a_value_that_nobody_holds_is_ours(module: Any) -> None:
    v = gl.Variable(module.ones(1000))
    assert _is_ours(v)
    v.numpy()
    assert module is jnp or _is_ours(v)  # JAX remembers that it showed its memory
    v.assign(v.value + 1)
    assert _is_ours(v)


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_value_that_somebody_can_see_is_not_ours(holder: str) -> None:
    v = gl.Variable(np.ones(1000, np.float32))
    held = HOLDERS[holder](v.value)
    assert not _is_ours(v)
    del held
    assert _is_ours(v) or "JAX" in holder  # which lets go when it likes


@pytest.mark.parametrize("holder", JAX_HOLDERS)
def test_a_jax_value_that_somebody_can_see_is_not_ours(holder: str) -> None:
    v = gl.Variable(jnp.ones(1000))
    held = JAX_HOLDERS[holder](v.value)
    assert not _is_ours(v)
    assert held is not None


def test_memory_of_somebody_else_is_not_ours() -> None:
    assert not cells.is_ours([np.ones(4)[1:]])
    assert not cells.is_ours([np.frombuffer(bytearray(8), np.float32)])


def test_readers_wait_while_a_value_is_out() -> None:
    v, seen, started = gl.Variable([1.0]), [], threading.Event()

    def read() -> None:
        started.set()
        seen.append(float(v.value[0]))

    with cells.taken([v]) as values:
        reader = threading.Thread(target=read)
        reader.start()
        started.wait()
        reader.join(0.1)
        assert reader.is_alive()
        assert seen == []
        values[0][0] = values[0][0] + 1
    reader.join()
    assert seen == [2]


def test_a_value_is_put_back_when_something_raises() -> None:
    v = gl.Variable([1.0])
    with pytest.raises(ZeroDivisionError), cells.taken([v]):
        raise ZeroDivisionError
    assert v.numpy().tolist() == [1]


def test_a_missing_name_is_an_attribute_error() -> None:
    v = gl.Variable([1.0], name="v")
    with pytest.raises(AttributeError, match="'Variable' object has no attribute 'gradient'"):
        v.gradient()
    with cells.taken([v]), pytest.raises(AttributeError, match="_value"):
        getattr(v, "_value")  # noqa: B009


def test_two_buffers_take_turns() -> None:
    v = gl.Variable(np.ones(1000, np.float32))
    places = []
    for _ in range(4):
        new = cells.spare(v)
        new[:] = v.value + 1
        places.append(new.ctypes.data)
        cells.swap(v, new)
        del new
    assert places[:2] == places[2:]
    assert v.numpy()[0] == 5
    assert not v.value.flags.writeable


def test_a_buffer_that_somebody_looks_at_is_left_alone() -> None:
    v = gl.Variable(np.ones(1000, np.float32))
    held = v.value
    cells.swap(v, np.full(1000, 2, np.float32))
    assert cells.spare(v).ctypes.data != held.ctypes.data
    assert held[0] == 1
    assert not held.flags.writeable


@pytest.mark.parametrize("other", [np.ones(999, np.float32), np.ones(1000), np.ones((1000, 1), np.float32)])
def test_a_buffer_that_does_not_fit_is_replaced(other: np.ndarray) -> None:
    v = gl.Variable(np.ones(1000, np.float32))
    v._spare = other
    assert cells.spare(v).shape == (1000,)
    assert cells.spare(v).dtype == np.float32

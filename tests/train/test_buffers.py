"""Whose buffers they are."""

import subprocess
import sys
import threading
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.train import buffers as cells

LARGE = 40_000  # entries; JAX values of fewer are never ours
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
    v = gl.Variable(module.ones(LARGE))
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
    v = gl.Variable(jnp.ones(LARGE))
    held = JAX_HOLDERS[holder](v.value)
    assert not _is_ours(v)
    assert held is not None


# Aliases that do not hold the value they are of: what gl.in_place names.
ALIASES: dict[str, Any] = {
    "put on its own device": lambda x: jax.device_put(x, jax.devices()[0]),
    "put on its own sharding": lambda x: jax.device_put(x, jax.sharding.SingleDeviceSharding(jax.devices()[0])),
    "made of single-device arrays": lambda x: jax.make_array_from_single_device_arrays(x.shape, x.sharding, [x]),
    "its data": lambda x: x.addressable_data(0),
}


def _step(v: gl.Variable, sparse: bool) -> None:
    g = jnp.ones(v.shape)
    g = gl.IndexedSlices(g[:5], np.arange(5), v.shape) if sparse else g
    gl.train.MomentumOptimizer(0.5, 0.9).apply_gradients([(g, v)])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("alias", ALIASES)
def test_no_alias_of_a_small_jax_value_dies(alias: str, sparse: bool) -> None:
    v = gl.Variable(jnp.ones((10, 3)))
    seen = ALIASES[alias](v.value)
    for _ in range(2):
        _step(v, sparse)
    assert seen.tolist() == [[1.0] * 3] * 10
    assert v.numpy()[0, 0] != 1


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_of_a_large_jax_value_dies_as_is_said_and_can_be_kept(alias: str, sparse: bool) -> None:
    def seen_after_a_step(hold: bool) -> float:
        v = gl.Variable(jnp.ones((LARGE, 1)))
        held = v.value if hold else None
        seen = ALIASES[alias](v.value)
        _step(v, sparse)
        assert (held is not None) == hold
        return float(np.asarray(seen)[0, 0])

    with pytest.raises(RuntimeError, match="deleted"):
        seen_after_a_step(hold=False)
    assert seen_after_a_step(hold=True) == 1
    before = gl.in_place.allow(False)
    try:
        assert seen_after_a_step(hold=False) == 1
    finally:
        gl.in_place.allow(before)


def test_the_switch_takes_true_or_false() -> None:
    with pytest.raises(TypeError, match="for_variables must be True or False, got None"):
        gl.in_place.allow(None)  # type: ignore[arg-type]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("module", ["np", "jnp"])
def test_without_a_global_lock_nothing_is_ours(module: str) -> None:
    code = f"""
import sys
sys._is_gil_enabled = lambda: False
import jax.numpy as jnp, numpy as np
import gradlab as gl
from gradlab.train import buffers
v = gl.Variable({module}.ones(({LARGE}, 2), np.float32))
opt = gl.train.MomentumOptimizer(0.5, 0.5)
for k in range(4):
    with buffers.taken([v]) as values:
        assert not buffers.is_ours(values[0])
    g = {module}.ones(v.shape, np.float32)
    opt.apply_gradients([(gl.IndexedSlices(g[:3], np.arange(3), v.shape) if k % 2 else g, v)])
assert v.numpy()[[0, -1], 0].tolist() == [1 - 0.5 * (1 + 1.5 + 1.75 + 1.875), 1 - 0.5 * (1 + 1.5)], v.numpy()
"""
    subprocess.run([sys.executable, "-c", code], check=True)


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

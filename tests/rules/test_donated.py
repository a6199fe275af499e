"""Programs that write into the buffers they are given; above all: no table is copied."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.rules import dense_and_sparse, donated

ROWS, WIDTH = 4096, 8


RULE = gl.rules.Adagrad()
LR = np.float32(0.1)


def _state() -> tuple[Any, tuple[Any, ...]]:
    return jnp.ones((ROWS, WIDTH)), (jnp.full((ROWS, WIDTH), 0.1),)


def _slices(distinct: int = 20) -> gl.IndexedSlices:
    ids = np.arange(2 * distinct, dtype=np.int32) % distinct * 7
    return gl.IndexedSlices(jnp.ones((2 * distinct, WIDTH)), jnp.asarray(ids), (ROWS, WIDTH))


def test_tables_stay_where_they_are() -> None:
    w, slots = _state()
    places = [x.unsafe_buffer_pointer() for x in (w, *slots)]
    for distinct in (20, 30, 20):
        rows = donated.new_rows(RULE, w, slots, _slices(distinct), LR, dense_and_sparse.rows)
        w, slots = donated.scatter_all(rows, w, slots, donate=True)
        assert [x.unsafe_buffer_pointer() for x in (w, *slots)] == places


def test_a_dense_step_stays_where_it_is() -> None:
    w, slots = _state()
    places = [x.unsafe_buffer_pointer() for x in (w, *slots)]
    w, slots = donated.dense(
        RULE, w, slots, jnp.ones(w.shape), LR, donate_w=True, donate_slots=True
    )
    assert [x.unsafe_buffer_pointer() for x in (w, *slots)] == places


@pytest.mark.parametrize("donate_slots", [True, False])
@pytest.mark.parametrize("donate_w", [True, False])
def test_what_is_not_donated_is_still_there_and_the_bits_are_the_same(
    donate_w: bool, donate_slots: bool
) -> None:
    w, slots = _state()
    g = jnp.linspace(-1, 1, ROWS * WIDTH).reshape(ROWS, WIDTH)
    expected = donated.dense(RULE, *_state(), g, LR, True, True)

    got = donated.dense(RULE, w, slots, g, LR, donate_w, donate_slots)

    assert (w.is_deleted(), slots[0].is_deleted()) == (donate_w, donate_slots)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_rule_that_cannot_be_looked_up_is_not_usable() -> None:
    class Listed(gl.rules.StochasticGradientDescent):
        def __hash__(self) -> int:
            raise TypeError("unhashable type")

    assert donated.is_usable(RULE, jnp.ones(1))
    assert not donated.is_usable(Listed(), jnp.ones(1))


def test_arrays_on_several_devices_are_not_usable() -> None:
    mesh = jax.make_mesh((8,), ("rows",), axis_types=(jax.sharding.AxisType.Auto,))
    spread = jax.device_put(
        jnp.ones(8), jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("rows"))
    )
    assert not donated.is_usable(RULE, spread)

"""Programs that write into the buffers they are given; above all: no table is copied."""

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.rules import apply, donated

ROWS, WIDTH = 4096, 8
TABLE = f"f32[{ROWS},{WIDTH}]"
RULE = gl.rules.Adagrad()
LR = np.float32(0.1)


def _state() -> tuple[Any, tuple[Any, ...]]:
    return jnp.ones((ROWS, WIDTH)), (jnp.full((ROWS, WIDTH), 0.1),)


def _slices(distinct: int = 20) -> gl.IndexedSlices:
    ids = np.arange(2 * distinct, dtype=np.int32) % distinct * 7
    return gl.IndexedSlices(jnp.ones((2 * distinct, WIDTH)), jnp.asarray(ids), (ROWS, WIDTH))


def _programs() -> dict[str, str]:
    """What the compiler made of a sparse step."""
    w, slots = _state()
    p, (still, moving) = donated._programs(), donated._split(RULE)
    g, named, place = _slices(), np.arange(24, dtype=np.int32), np.zeros(40, np.int32)
    lowered = {
        "reads": p.new_rows.lower(still, apply.rows, moving, w, slots, named, place, g.values, LR),
        "writes": p.scatter_donated.lower(w, named, jnp.ones((24, WIDTH))),
    }
    return {name: program.compile().as_text() for name, program in lowered.items()}


def _copies(program: str) -> list[str]:
    return re.findall(rf"= {re.escape(TABLE)}\S* copy\(", program)


def test_the_compiled_programs_copy_no_table() -> None:
    programs = _programs()
    assert [_copies(p) for p in programs.values()] == [[], []]
    assert f"= {TABLE}" not in re.sub(rf"= {re.escape(TABLE)}\S* parameter", "", programs["reads"])
    assert "input_output_alias={ {}: (0, {}" in programs["writes"]


def test_this_test_can_fail() -> None:
    (w, _), named = _state(), np.arange(24, dtype=np.int32)
    kept = donated._programs().scatter.lower(w, named, jnp.ones((24, WIDTH))).compile().as_text()
    assert len(_copies(kept)) == 1
    both = jax.jit(lambda w: (w.at[named].set(1), w[::7]), donate_argnums=0)  # written before it is read
    assert _copies(both.lower(w).compile().as_text())


def test_tables_stay_where_they_are() -> None:
    w, slots = _state()
    places = [x.unsafe_buffer_pointer() for x in (w, *slots)]
    for distinct in (20, 30, 20):
        rows = donated.new_rows(RULE, w, slots, _slices(distinct), LR, apply.rows)
        w, slots = donated.scatter_all(rows, w, slots, donate=True)
        assert [x.unsafe_buffer_pointer() for x in (w, *slots)] == places


def test_a_dense_step_stays_where_it_is() -> None:
    w, slots = _state()
    places = [x.unsafe_buffer_pointer() for x in (w, *slots)]
    w, slots = donated.dense(RULE, w, slots, jnp.ones(w.shape), LR, donate_w=True, donate_slots=True)
    assert [x.unsafe_buffer_pointer() for x in (w, *slots)] == places


@pytest.mark.parametrize("donate_slots", [True, False])
@pytest.mark.parametrize("donate_w", [True, False])
def test_what_is_not_donated_is_still_there_and_the_bits_are_the_same(donate_w: bool, donate_slots: bool) -> None:
    w, slots = _state()
    g = jnp.linspace(-1, 1, ROWS * WIDTH).reshape(ROWS, WIDTH)
    expected = donated.dense(RULE, *_state(), g, LR, True, True)

    got = donated.dense(RULE, w, slots, g, LR, donate_w, donate_slots)

    assert (w.is_deleted(), slots[0].is_deleted()) == (donate_w, donate_slots)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        np.testing.assert_array_equal(a, b)


def test_numbers_of_distinct_rows_share_programs() -> None:
    lengths = {donated._padded(np.arange(n), 10**6).size for n in range(2049, 4097)}
    assert len(lengths) == 8
    assert all(donated._padded(np.arange(n), 10**6).size < 1.13 * n + 8 for n in range(1, 5000))
    assert (donated._padded(np.arange(3), 100)[3:] >= 100).all()


def test_another_step_of_adam_needs_no_new_program() -> None:
    rule = gl.rules.Adam()
    shared, (w, (m, v)) = rule.start(), (jnp.ones(3), (jnp.zeros(3), jnp.zeros(3)))
    sizes = []
    for _ in range(3):
        w, (m, v) = donated.dense(rule.at(shared), w, (m, v), jnp.ones(3), LR, True, True)
        shared = rule.advance(shared)
        sizes.append(donated._dense_program(True, True)._cache_size())
    assert sizes[0] == sizes[2]
    np.testing.assert_allclose(w, 0.7, rtol=1e-5)


def test_a_rule_that_cannot_be_looked_up_is_not_usable() -> None:
    class Listed(gl.rules.StochasticGradientDescent):
        def __hash__(self) -> int:
            raise TypeError("unhashable type")

    assert donated.is_usable(RULE, jnp.ones(1))
    assert not donated.is_usable(Listed(), jnp.ones(1))


def test_arrays_on_several_devices_are_not_usable() -> None:
    mesh = jax.make_mesh((8,), ("rows",), axis_types=(jax.sharding.AxisType.Auto,))
    spread = jax.device_put(jnp.ones(8), jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("rows")))
    assert not donated.is_usable(RULE, spread)

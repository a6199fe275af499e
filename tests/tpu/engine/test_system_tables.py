"""Rows go in and out of a state by the shards of hosts, whatever devices hold them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradlab import rules
from gradlab.tpu import Feature, Plan, Shards, State, Table, create, place
from gradlab.tpu.engine.system_tables import empty_accumulator, read_rows, write_rows

TABLES = (Table("t", 13, 2, rules.Adagrad()), Table("u", 5, 1))


def state(on_mesh: bool) -> State:
    made = create(
        Plan(TABLES, (Feature("f", 0, (4,)),), cores=2),
        [jnp.zeros((t.rows, t.width)) for t in TABLES],
    )
    return place(made, jax.sharding.Mesh(jax.devices()[:2], "x"), "mod") if on_mesh else made


@pytest.mark.parametrize("on_mesh", [False, True], ids=["device", "mesh"])
@pytest.mark.parametrize("strategy", ["div", "mod"])
@pytest.mark.parametrize("hosts", [1, 5])
def test_what_each_host_writes_is_what_it_reads(hosts: int, strategy: str, on_mesh: bool) -> None:
    whole, s = np.arange(26, dtype=np.float32).reshape(13, 2), state(on_mesh)
    shards = Shards(13, hosts, strategy)
    for k in range(hosts):
        rows = shards.held(k)
        s = write_rows(s, 0, shards, k, [whole[rows], whole[rows] + 100])
    for k in range(hosts):
        w, slot = read_rows(s, 0, shards, k)
        assert w.tolist() == whole[shards.held(k)].tolist()
        assert (slot == w + 100).all()
    (w, _) = read_rows(s, 0, Shards(13, 1, strategy), 0)
    assert (w == whole).all()
    assert not read_rows(s, 1, Shards(5, 1, strategy), 0)[0].any()


def test_nothing_that_is_written_shares_memory() -> None:
    given = np.ones((5, 1), np.float32)
    s = write_rows(state(False), 1, Shards(5, 1), 0, [given])
    given[:] = 3
    (found,) = read_rows(s, 1, Shards(5, 1), 0)
    found[:] = 4
    assert (np.asarray(s.tables[1]) == 1).all()


def test_the_hidden_sum_is_neither_zero_nor_anything() -> None:
    x = empty_accumulator((2, 1))
    assert (x > 0).all()
    assert (np.float32(1) + x == 1).all()

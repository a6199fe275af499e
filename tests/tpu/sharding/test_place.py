"""States on a mesh: what they hold, how they are made, and that they move as on one device, bit for
bit.
"""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh

from gradlab.rules import Adagrad
from gradlab.tpu import (
    Feature,
    Ids,
    OnMesh,
    Plan,
    Table,
    create,
    create_placed,
    gather,
    make_batch,
    place,
    place_batch,
)
from tests.tpu.sharding.plans import (
    SIZES,
    bits,
    compiled,
    ids_of_cores,
    mesh,
    start,
    stepped,
    two_tables,
)

STRATEGIES: Any = ["div", "mod"]


@cache
def on_one_device(pipelined: bool) -> Any:
    """Activations and bits of three steps."""
    seen, after = stepped(start(two_tables(8, pipelined)), range(3))
    return [x.tobytes() for step in seen for x in step], bits(after)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("shape", "strategy", "pipelined"),
    [((8,), "div", False), ((2, 4), "mod", False), ((4,), "mod", True), ((1,), "mod", True)],
)
def test_steps_on_a_mesh_are_those_on_one_device(
    shape: Any, strategy: Any, pipelined: bool
) -> None:
    placed = place(start(two_tables(8, pipelined)), mesh(*shape), strategy)
    seen, after = stepped(placed, range(3))
    assert ([x.tobytes() for step in seen for x in step], bits(after)) == on_one_device(pipelined)
    assert bits(after) != bits(placed)
    assert after.tables[0].sharding.device_set == set(mesh(*shape).devices.flat)


@pytest.mark.exhaustive
def test_occurrences_in_turn_keep_their_order() -> None:
    one = start(two_tables(4, accumulate=False))
    assert bits(stepped(place(one, mesh(2), "mod"), range(2))[1]) == bits(stepped(one, range(2))[1])


@pytest.mark.exhaustive
def test_a_mesh_with_explicit_axes_does_too() -> None:
    explicit = jax.make_mesh((2,), ("x",), devices=jax.devices("cpu")[:2])
    assert (
        bits(stepped(place(start(two_tables(8)), explicit), range(3))[1]) == on_one_device(False)[1]
    )


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_rows_come_back_as_they_were_put(strategy: Any) -> None:
    one = start(two_tables(8))
    placed = place(one, mesh(8), strategy)
    assert [s.data.shape for s in placed.tables[0].addressable_shards] == [(5, 5)] * 8
    again = place(placed, mesh(2, 2), "mod")
    for state in (placed, again, gather(placed)):
        assert bits(state) == bits(one)


@pytest.mark.exhaustive
def test_a_pending_update_moves_along() -> None:
    """To a mesh, to another and to the host: it is the next step that makes it."""
    one = stepped(start(two_tables(8, pipelined=True)), [0])[1]
    there = place(place(one, mesh(8)), mesh(4), "mod")
    assert there.pending is not None
    assert bits(gather(there)) == bits(one)
    assert bits(stepped(there, [5])[1]) == bits(stepped(one, [5])[1])


@pytest.mark.exhaustive
def test_ids_and_rows_are_exchanged_and_nothing_is_gathered() -> None:
    state = place(start(two_tables(8)), mesh(8))
    batch = place_batch(
        state.plan, state.placement, make_batch(state.plan, ids_of_cores(state.plan, 0)), SIZES
    )
    text = compiled.lower(state, batch, [np.float32(0.1)]).compile().as_text()
    assert "all-to-all" in text
    assert "all-gather" not in text
    assert "all-reduce" not in text


@pytest.mark.exhaustive
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_device_sees_more_than_its_shard_when_tables_are_made(strategy: Any) -> None:
    plan = Plan((Table("big", 8001, 4, Adagrad(0.5)),), (Feature("f", 0, (1,)),), cores=8)
    asked: list[Any] = []

    def initializer(ids: np.ndarray) -> Any:
        made = jnp.float32(ids)[:, None] * jnp.ones((1, 4))
        asked.append((len(ids), made.devices()))
        return made

    before = {id(x) for x in jax.live_arrays()}
    state = create_placed(plan, mesh(8), [initializer], strategy)
    new = [x for x in jax.live_arrays() if id(x) not in before]
    assert sorted(n for n, _ in asked) == [1000] * 7 + [1001]
    assert [d for _, d in asked] == [{d} for d in mesh(8).devices.flat], (
        "each is made where it stays"
    )
    assert max(s.data.shape[0] for x in new for s in x.addressable_shards if x.ndim == 2) == 1001
    whole = gather(state)
    assert whole.tables[0].tolist() == np.repeat(np.arange(8001.0)[:, None], 4, 1).tolist()
    assert (whole.slots[0][0] == 0.5).all()


@pytest.mark.exhaustive
def test_a_table_with_fewer_rows_than_devices_has_empty_shards() -> None:
    plan = Plan((Table("small", 3, 2),), (Feature("f", 0, (2,)),), cores=8)
    one = create(plan, [np.arange(6.0).reshape(3, 2)])
    for strategy in STRATEGIES:
        made = create_placed(
            plan, mesh(8), [lambda ids: np.arange(6.0).reshape(3, 2)[ids]], strategy
        )
        assert bits(made) == bits(one)
    batch = make_batch(plan, [{"f": Ids([0, 1], [k % 3, 2])} for k in range(8)])
    expected = compiled(one, batch, [])[1]
    assert bits(compiled(made, place_batch(plan, made.placement, batch), [])[1]) == bits(expected)


def test_what_does_not_fit_is_refused() -> None:
    plan = two_tables(8)
    with pytest.raises(
        ValueError, match="8 devices cannot share 2 cores; give the plan as many cores as the mesh"
    ):
        place(start(two_tables(2)), mesh(8))
    with pytest.raises(ValueError, match="strategy must be one of 'div', 'mod'; got 'rows'"):
        place(start(plan), mesh(8), "rows")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the plan has 2 tables, got 1 initializers"):
        create_placed(plan, mesh(8), [np.zeros])
    with pytest.raises(
        ValueError, match=r"rows of table 'words' must have shape \(5, 5\), got \(37, 5\)"
    ):
        create_placed(plan, mesh(8), [lambda ids: np.zeros((37, 5)), lambda ids: np.zeros((11, 3))])


def test_a_placement_is_static_and_compares_by_value() -> None:
    a, b = (OnMesh(Mesh(np.array(jax.devices("cpu")[:2]), ("x",)), "mod") for _ in range(2))
    assert a == b
    assert hash(a) == hash(b)
    assert a != OnMesh(a.mesh, "div")

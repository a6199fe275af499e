"""Tables by rows, by columns, copied, and whole on one device: the same numbers, wherever they are
put and restored.
"""

import dataclasses
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from gradlab.errors import InvalidArgumentError
from gradlab.rules import Adagrad, PartialRowWiseAdam, RowWiseAdagrad, Rule
from gradlab.tpu import (
    Feature,
    Levels,
    OnMesh,
    Plan,
    Table,
    gather,
    lay_out,
    lookup,
    make_batch,
    place,
    place_batch,
    plan_placement,
    restore,
    save,
)
from gradlab.tpu.stacks import stack_tables
from tests.tpu.sharding.plans import compiled, ids_of_cores, mesh, start, two_tables

SIZE = (48, 24)  # fixed, so that all steps share a compiled program
LAYOUTS: Any = (("columns", "copies", "whole", "whole"), ("whole", "columns", "rows", "whole"))


def four_tables(pipelined: bool = False) -> Plan:
    """Tables with slots kept by row, one of which is quantized; none can be shared equally by rows;
    two are alike.
    """
    plan = two_tables(4, pipelined)
    tables = (
        dataclasses.replace(
            plan.tables[0], width=8, rule=RowWiseAdagrad(), levels=Levels(-1.0, 1.0, 64)
        ),
        dataclasses.replace(plan.tables[1], width=4, rule=PartialRowWiseAdam()),
        Table("third", 9, 4, Adagrad()),
        Table("fourth", 6, 4, Adagrad(), combiner="sum"),
    )
    features = (Feature("l", 3, (2,)), *plan.features, Feature("k", 2, (3,)))
    return dataclasses.replace(plan, tables=tables, features=features)


def run(state: Any, seeds: Any) -> tuple[list[Any], Any]:
    seen = []
    for seed in seeds:
        batch = make_batch(state.plan, ids_of_cores(state.plan, seed))
        sizes = [SIZE] * len(stack_tables(state.plan, state.placement).plan.tables)
        activations, state = compiled(
            state, place_batch(state.plan, state.placement, batch, sizes), [np.float32(0.1)]
        )
        seen += [np.asarray(a) for a in activations]
    return seen, state


def held(state: Any) -> list[np.ndarray]:
    whole = gather(state)
    return [np.asarray(x) for x in jax.tree.leaves((whole.tables, whole.slots))]


def check_close(one: Any, other: Any) -> None:
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


@pytest.mark.exhaustive
@pytest.mark.parametrize("pipelined", [False, True])
def test_steps_in_all_layouts_are_those_on_one_device(pipelined: bool, tmp_path: Path) -> None:
    one, layouts = start(four_tables(pipelined)), LAYOUTS[pipelined]
    seen, after = run(one, range(2))
    found, state = run(place(one, mesh(2, 2), "mod", layouts), range(2))
    check_close(found, seen)
    check_close(held(state), held(after))
    shape = (37, 2) if layouts[0] == "columns" else (11, 1)  # tables that are not whole come first
    assert state.tables[0].sharding.shard_shape(state.tables[0].shape) == shape
    names = {t.name: layout for t, layout in zip(state.plan.tables, layouts, strict=True)}
    of_one = [
        x.addressable_shards[0].data.nbytes for x in jax.tree.leaves((state.tables, state.slots))
    ]
    assert plan_placement(state.plan, 4, layouts=names).memory == sum(of_one)
    save(state, tmp_path)
    again = restore(state.plan, tmp_path, mesh(2), "div", ("rows", "columns", "whole", "copies"))
    for a, b in zip(held(state), held(again), strict=True):
        np.testing.assert_array_equal(a, b)
    check_close(run(again, [7])[0], run(state, [7])[0])


@pytest.mark.exhaustive
def test_an_explicit_mesh_keeps_layouts_and_compiles_once() -> None:
    explicit = jax.make_mesh((4,), ("x",), devices=jax.devices("cpu")[:4])
    before = compiled._cache_size()  # type: ignore[attr-defined]
    run(
        place(start(four_tables()), explicit, "div", ("columns", "rows", "whole", "whole")),
        range(2),
    )
    assert compiled._cache_size() == before + 1  # type: ignore[attr-defined]


@pytest.mark.exhaustive
def test_tables_come_back_from_any_layout() -> None:
    one = start(four_tables())
    placed = place(one, mesh(4), "mod")
    laid = lay_out(lay_out(placed, LAYOUTS[0]), LAYOUTS[1])
    assert laid.placement.layouts == LAYOUTS[1]
    assert [x.addressable_shards[0].data.shape for x in laid.slots[0]] == [(11, 1), (11, 1)]
    for state in (laid, lay_out(laid), place(laid, mesh(2), "div", LAYOUTS[0])):
        for a, b in zip(held(one), held(state), strict=True):
            np.testing.assert_array_equal(a, b)
    assert lay_out(laid).placement == placed.placement
    assert lay_out(placed, ["rows"] * 4) is placed


class Own(Rule):
    """A rule whose mean is its own."""

    row_slots = ("m",)


@pytest.mark.exhaustive
def test_layouts_that_tables_cannot_have_are_refused() -> None:
    plan = four_tables()
    with pytest.raises(InvalidArgumentError, match="the plan has 4 tables, got 1 layouts"):
        place(start(plan), mesh(4), layouts=["copies"])
    with pytest.raises(
        ValueError, match="layout must be one of 'rows', 'columns', 'copies', 'whole'; got 'div'"
    ):
        place(start(plan), mesh(4), layouts=["div"] * 4)  # type: ignore[list-item]
    with pytest.raises(InvalidArgumentError, match="layouts are for a state on a mesh"):
        lay_out(start(plan), LAYOUTS[0])
    odd = dataclasses.replace(
        plan, tables=(dataclasses.replace(plan.tables[0], width=6), *plan.tables[1:])
    )
    with pytest.raises(
        InvalidArgumentError, match="4 devices cannot share the 6 columns of table 'words'"
    ):
        place(start(odd), mesh(4), layouts=LAYOUTS[0])
    own = dataclasses.replace(plan.tables[2], rule=Own())
    own_plan = Plan((own,), (Feature("f", 0, (1,)),), cores=4)
    with pytest.raises(
        InvalidArgumentError, match="table 'third' has a rule of your own with slots kept by row"
    ):
        lay_out(place(start(own_plan), mesh(4)), ["columns"])
    placed = place(start(plan), mesh(4))
    rows = make_batch(plan, ids_of_cores(plan, 0))
    laid = OnMesh(placed.placement.mesh, "div", LAYOUTS[0])
    with pytest.raises(
        InvalidArgumentError,
        match=r"on 4 devices by 'div', .* 4 devices by 'div' in the layouts columns, c",
    ):
        lookup(placed, place_batch(plan, laid, rows, [SIZE] * 3))
    with pytest.raises(
        InvalidArgumentError, match="table 'stack of third, fourth' needs sizes of at least"
    ):
        place_batch(plan, laid, rows, [SIZE, SIZE, (1, 1)])
    shared = (*placed.shared[:3], {"beta": np.float32(0.5)})
    with pytest.raises(
        InvalidArgumentError,
        match="tables 'third' and 'fourth' stand in one stack, so what their rules",
    ):
        lay_out(dataclasses.replace(placed, shared=shared), LAYOUTS[0])

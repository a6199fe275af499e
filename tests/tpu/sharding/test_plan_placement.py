"""Which table lies how: what each layout costs, what is chosen within a budget, and what fits
nowhere.
"""

import dataclasses

import jax
import numpy as np
import pytest

from gradlab.errors import InvalidArgumentError
from gradlab.rules import Adagrad, PartialRowWiseAdam, RowWiseAdagrad
from gradlab.tpu import (
    Feature,
    Ids,
    Plan,
    Table,
    create_placed,
    describe,
    example_config,
    make_batch,
    plan_of,
    plan_placement,
)
from gradlab.tpu.sharding.plan_placement import EXCHANGE, RowDemand, cost_of
from tests.tpu.sharding.plans import mesh, rows_of

PLAN = Plan(
    (
        Table("items", 1001, 64, Adagrad()),
        Table("users", 400, 16, RowWiseAdagrad()),
        Table("days", 7, 8),
    ),
    (Feature("item", 0, (512,)), Feature("user", 1, (128,)), Feature("day", 2, (512,))),
    cores=8,
)


@pytest.mark.parametrize(
    ("layout", "rule"),
    [
        ("rows", Adagrad()),
        ("rows", RowWiseAdagrad()),
        ("columns", PartialRowWiseAdam()),
        ("copies", PartialRowWiseAdam()),
    ],
)
def test_memory_is_what_a_device_holds(layout: str, rule: object) -> None:
    table = Table("t", 13, 8, rule)  # type: ignore[arg-type]
    plan = Plan((table,), (Feature("f", 0, (2,)),), cores=4)
    state = create_placed(plan, mesh(4), [rows_of(table)], layouts=[layout])  # type: ignore[list-item]
    arrays = jax.tree.leaves((state.tables, state.slots))
    held = sum(x.addressable_shards[0].data.nbytes for x in arrays)
    cost = cost_of(table, layout, 4, RowDemand(0, 0))  # type: ignore[arg-type]
    assert cost.memory == held
    if layout == "rows":
        assert cost.memory * 4 - cost.padding * 3 == sum(x[:1].nbytes for x in arrays) * 13


def test_small_tables_are_copied_while_the_budget_lasts() -> None:
    free = plan_placement(PLAN, 8)
    assert (free.layouts, free.tables[2].why) == (("rows", "copies", "copies"), "least cost")
    least = plan_placement(PLAN, 8, layouts={t.name: "rows" for t in PLAN.tables})
    tight = plan_placement(PLAN, 8, budget=least.memory + 7 * 8 * 4)
    assert tight.layouts == ("rows", "rows", "copies")
    assert tight.tables[1].why == "copies would cost less, but not fit"
    assert least.memory < tight.memory <= tight.budget < free.memory  # type: ignore[operator]
    assert free.traffic == sum(t.cost.traffic for t in free.tables)


def test_a_larger_budget_lowers_the_cost_and_may_raise_the_traffic() -> None:
    plan = Plan((Table("movies", 2000, 16),), (Feature("movie", 0, (256,)),), cores=8)
    tight = plan_placement(plan, 8, budget=20_000)
    ample = plan_placement(plan, 8, budget=200_000)
    assert (tight.layouts, tight.traffic) == (("rows",), 30_464)
    assert (ample.layouts, ample.traffic) == (("copies",), 121_856)
    exchanges_by_rows, exchanges_of_copies = 4, 2
    assert (
        ample.traffic + exchanges_of_copies * EXCHANGE
        < tight.traffic + exchanges_by_rows * EXCHANGE
    )


def test_a_table_whose_copies_would_send_more_but_cost_less_says_cost() -> None:
    plan = Plan((Table("users", 2_000_000, 16, Adagrad()),), (Feature("user", 0, (512,)),), cores=4)
    (users,) = plan_placement(plan, 4, budget=70 << 20).tables
    (copied,) = plan_placement(plan, 4, layouts={"users": "copies"}).tables
    assert users.why == "copies would cost less, but not fit"
    assert copied.cost.traffic > users.cost.traffic


def test_ids_of_one_owner_make_columns_worth_while() -> None:
    """All devices wait for the busiest one otherwise."""
    ids = {"item": Ids(np.arange(100), np.arange(100)), "user": Ids([0], [1]), "day": Ids([0], [1])}
    batch = make_batch(PLAN, [ids] * 8)
    assert plan_placement(PLAN, 8, batch=batch).layouts[0] == "columns"
    assert plan_placement(PLAN, 8, batch=batch, strategy="mod").layouts[0] == "rows"


def test_many_alike_become_whole_tables_of_one_stack() -> None:
    """Eight tables are exchanged at once; the small ones only, where the large would need room on
    every device.
    """
    rows = [*range(700, 1500, 100), 40_000]
    tables = tuple(Table(f"t{k}", n, 16, Adagrad(), combiner="sum") for k, n in enumerate(rows))
    plan = Plan(tables, tuple(Feature(f"f{k}", k, (256,)) for k in range(9)), cores=4)
    placed = plan_placement(plan, 4, budget=2_000_000)
    assert placed.layouts == ("whole",) * 8 + ("rows",)
    assert [t.device for t in placed.tables] == [0, 1, 2, 3, 3, 2, 1, 0, None]
    assert placed.tables[0].why == "least cost, in a stack of 8"
    assert placed.held == (placed.memory,) * 4 == ((2100 + 10_000) * 16 * 2 * 4,) * 4
    assert "  whole, device 3  " in str(placed)
    apart = plan_placement(plan, 4, budget=2_000_000, layouts={t.name: "rows" for t in tables})
    assert placed.traffic < apart.traffic + 4 * 7 * EXCHANGE
    forced = plan_placement(plan, 4, layouts={"t8": "whole", "t0": "rows"})
    assert (forced.layouts[0], forced.layouts[8], forced.tables[8].why) == (
        "rows",
        "whole",
        "as you chose",
    )
    with pytest.raises(
        InvalidArgumentError,
        match=r"the largest are t8 .* \(whole\).*; no number of devices would do",
    ):
        plan_placement(plan, 4, budget=2_000_000, layouts={"t8": "whole"})


def test_names_override_and_words_say_so() -> None:
    placed = plan_placement(PLAN, 8, layouts={"items": "columns", "days": "rows"})
    assert placed.layouts == ("columns", "copies", "rows")
    assert placed.tables[0].why == "as you chose"
    assert str(placed).splitlines()[2].split()[:6] == [
        "items",
        "1001",
        "x",
        "64",
        "columns",
        "0.0611",
    ]
    assert "<caption>Placement on 8 devices: " in placed._repr_html_()
    config = example_config()
    plan = dataclasses.replace(plan_of(config), cores=8)
    assert "Placement on 8 devices: " in str(describe(config, plan_placement(plan, 8)))


def test_what_does_not_fit_is_refused_with_what_would() -> None:
    over = (
        r"the tables need 0\.0644 MiB on each of 8 devices, the budget is 0\.0381; "
        r"the largest are items 0\.0611 \(col"
    )
    with pytest.raises(
        InvalidArgumentError,
        match=over + r".*; 16 devices would do, or a rule with slots kept by row",
    ):
        plan_placement(PLAN, 8, budget=40_000)
    with pytest.raises(InvalidArgumentError, match="no number of devices would do"):
        plan_placement(PLAN, 8, budget=40_000, layouts={"items": "copies"})
    with pytest.raises(
        InvalidArgumentError, match="layouts name a table 'item'; the plan has items, users, days"
    ):
        plan_placement(PLAN, 8, layouts={"item": "rows"})
    with pytest.raises(
        ValueError,
        match="the layout of table 'days' must be one of 'rows', 'columns', 'copies', 'whole'",
    ):
        plan_placement(PLAN, 8, layouts={"days": "mod"})  # type: ignore[dict-item]
    with pytest.raises(InvalidArgumentError, match="5 devices cannot share 8 cores"):
        plan_placement(PLAN, 5)
    wide = dataclasses.replace(PLAN, cores=3)
    with pytest.raises(
        InvalidArgumentError, match="3 devices cannot share the 64 columns of table 'items'"
    ):
        plan_placement(wide, 3, layouts={"items": "columns"})
    with pytest.raises(
        InvalidArgumentError, match="budget must be an integer of at least 1, got 0"
    ):
        plan_placement(PLAN, 8, budget=0)

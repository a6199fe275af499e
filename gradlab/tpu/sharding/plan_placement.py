"""Choose a layout for each table on the devices of a mesh, within a budget of memory.

`plan_placement` measures what the cores ask of each table (`RowDemand`), works out what each table
would cost in each layout (`cost_of`), and chooses: first the layouts of least memory, then whatever
lowers the cost most while the budget lasts, and at last which small tables share a stack.
`PlacementPlan` is the result; `place` and `lay_out` carry it out.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, get_args

import numpy as np

from ..._base.html import html_table, text_table
from ..._base.options import check_choice, check_count
from ...errors import InvalidArgumentError
from ..batch import Batch
from ..plan import PADDING_ID, Plan, Table
from ..row_owners import Layout, Shards, Strategy
from ..stacks import Stack, assign_stacks, stack_key

NUMBER = 4  # bytes of a float32 or an id
EXCHANGE = 1 << 16  # bytes that could be sent in the time in which an exchange begins

# Exchanges of a step. Ids, rows, ids and sums are sent; with copies only ids and sums.
_EXCHANGES = {"rows": 4, "columns": 4, "whole": 4, "copies": 2}

COLUMNS = (
    "table",
    "rows x width",
    "layout",
    "MiB of a device",
    "of it padding",
    "KiB sent in a step",
    "why",
)


class Cost(NamedTuple):
    """The cost of a table on each device, in bytes.

    Every device has as much room for a stack as any other; of that, its whole tables have shares by
    their rows.
    """

    memory: int  # weights and slots
    padding: int  # of the memory, what holds no row
    traffic: int  # sent in a step


@dataclass(frozen=True)
class Placed:
    """One table of a `PlacementPlan`: its layout, what it costs each device, and why it was chosen.

    Not in TensorFlow.

    >>> Placed("users", 10, 4, "rows", Cost(96, 16, 0), "chosen").layout
    'rows'
    """

    table: str
    rows: int
    width: int
    layout: Layout
    cost: Cost
    why: str
    device: int | None = None  # the only one that has the table, if its layout is "whole"
    held: tuple[int, ...] = ()  # bytes of its rows on each device, padding left out


@dataclass(frozen=True)
class PlacementPlan:
    """The result of `plan_placement`.

    Prints as a table; `layouts` is what `place` and its kin take. Not in TensorFlow.

    >>> PlacementPlan((Placed("users", 10, 4, "rows", Cost(96, 16, 0), "chosen"),), 2, None).layouts
    ('rows',)
    """

    tables: tuple[Placed, ...]
    devices: int
    budget: int | None

    @property
    def layouts(self) -> tuple[Layout, ...]:
        """A layout for each table, in the plan's order."""
        return tuple(t.layout for t in self.tables)

    @property
    def memory(self) -> int:
        """Bytes of weights and slots on each device, padding included."""
        return sum(t.cost.memory for t in self.tables)

    @property
    def held(self) -> tuple[int, ...]:
        """Bytes of weights and slots on each device, padding left out."""
        return tuple(map(sum, zip(*(t.held for t in self.tables), strict=True)))

    @property
    def traffic(self) -> int:
        """Bytes that each device sends in a step."""
        return sum(t.cost.traffic for t in self.tables)

    @property
    def title(self) -> str:
        """All tables in one line."""
        limit = "" if self.budget is None else f" of {_mib(self.budget)}"
        return (
            f"Placement on {self.devices} devices: {_mib(self.memory)}{limit} MiB, and "
            f"{self.traffic / 1024:,.1f} KiB sent in a step, each"
        )

    def table_of_words(self) -> list[tuple[str, ...]]:
        """Return a row of words for each table, under `COLUMNS`."""
        return [
            (
                table.table,
                f"{table.rows} x {table.width}",
                table.layout if table.device is None else f"{table.layout}, device {table.device}",
                _mib(table.cost.memory),
                _mib(table.cost.padding),
                f"{table.cost.traffic / 1024:,.1f}",
                table.why,
            )
            for table in self.tables
        ]

    def __str__(self) -> str:
        return text_table(self.title, COLUMNS, self.table_of_words())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(self.title, COLUMNS, self.table_of_words())


def plan_placement(
    plan: Plan,
    devices: int,
    budget: int | None = None,
    batch: Batch | None = None,
    layouts: Mapping[str, Layout] | None = None,
    strategy: Strategy = "div",
) -> PlacementPlan:
    """Choose, table by table, layouts that lower the cost and fit into the memory of a device.

        memory = (rows here, filled up) * (columns here * (1 + slots) + slots kept by row) * 4 bytes
        cost = traffic + 64 KiB for each exchange: 4 a step by rows or columns, 2 with copies, 4 for each stack

    The traffic is in bytes. An exchange is priced, too, because it takes time to begin: 64 KiB
    stand for what could be sent in that time. So the least cost isn't the least traffic: with a
    larger budget a plan may have fewer exchanges and send more bytes.

    With u distinct ids of each of the c cores of a device, at most b of them of one owner, n
    devices and width w, a device sends in a step, lookup and update together:

        rows: (n - 1) * c * b * 8 * (1 + w) bytes, since all owners get parts of equal length
        columns: (n - 1) * c * u * (8 + 8 * w / n)
        copies: (n - 1) * c * u * 4 * (1 + w)
        whole: as by rows, where b counts the ids of all tables of a stack that one device has

    Tables begin with the layout of least memory; then the table whose cost falls most by another
    layout gets it, and so on, while the budget lasts. At last the smallest tables of one width and
    rule become a stack of whole tables, as many of them as make the cost lowest; its memory is that
    of the fullest device's rows. This is a greedy choice: no other plan was compared, so one of
    lower cost may exist.

    Args:
        plan: of as many cores as devices, or a multiple.
        devices: their number.
        budget: bytes on each device for tables and slots, padding included; None is no limit.
            Batches, activations and what a step sends come on top.
        batch: of `make_batch`, for u and b: ids that are often those of one owner make columns
            worth their ids. Without it u is one for each sample, or all rows if they are fewer, and
            b is u / n.
        strategy: that of tables by rows.
        layouts: those that you choose, by the names of tables.

    Raises:
        InvalidArgumentError: a budget that the tables do not fit into (it says what each of them
            takes, and how many devices would do), a name without a table, columns that the devices
            cannot share, cores that they cannot.

    Not in TensorFlow.

    >>> from gradlab.tpu import Feature
    >>> tables = Table("items", 1_000_000, 64), Table("days", 7, 8)
    >>> plan = Plan(tables, (Feature("item", 0, (512,)), Feature("day", 1, (512,))), cores=8)
    >>> plan_placement(plan, 8, budget=100 << 20).layouts
    ('rows', 'copies')

    A larger budget here saves two exchanges of each step, and sends more bytes:

    >>> movies = Plan((Table("movies", 2000, 16),), (Feature("movie", 0, (256,)),), cores=8)
    >>> for budget in (20_000, 200_000):
    ...     placement = plan_placement(movies, 8, budget)
    ...     print(placement.layouts, placement.traffic)
    ('rows',) 30464
    ('copies',) 121856
    """
    check_count("devices", devices)
    if budget is not None:
        check_count("budget", budget)
    if plan.cores % devices:
        raise InvalidArgumentError(
            f"{devices} devices cannot share {plan.cores} cores; give the plan as many cores as "
            "devices, or a multiple"
        )
    fixed = dict(layouts or {})
    allowed = allowed_layouts(plan, devices, fixed)
    demands = [row_demand(plan, k, devices, batch, strategy) for k in range(len(plan.tables))]
    options: list[Mapping[Layout, Cost]] = []
    for k, table in enumerate(plan.tables):
        options.append(
            {x: cost_of(table, x, devices, demands[k]) for x in allowed[k] if x != "whole"}
        )
    problem = _Problem(plan, devices, budget, fixed, demands, options)
    chosen = _choose_layouts(problem)
    chosen = _choose_stacks(problem, chosen)
    return build_result(problem, chosen)


class _Problem(NamedTuple):
    """The inputs of a choice."""

    plan: Plan
    devices: int
    budget: int | None
    fixed: Mapping[str, Layout]  # that the caller chose, by the names of tables
    demands: Sequence[RowDemand]
    # For each table; a table that the caller wants whole has none.
    options: Sequence[Mapping[Layout, Cost]]

    def fits(self, memory: int) -> bool:
        """Tell whether the budget allows so many bytes on each device."""
        return self.budget is None or memory <= self.budget


# Demand and costs


class RowDemand(NamedTuple):
    """The distinct rows of a table that the cores of one device ask for in a step."""

    total: int
    from_one_owner: int  # at most
    by_core: tuple[int, ...] = ()  # the total of each core of the plan


def row_demand(
    plan: Plan, table: int, devices: int, batch: Batch | None, strategy: Strategy
) -> RowDemand:
    """Return what the cores of a device ask for, if each asks for as much as the busiest does."""
    cores = plan.cores // devices
    rows = plan.tables[table].rows
    if batch is None:
        count = min(plan.samples_of(table), rows)
        return RowDemand(cores * count, cores * -(-count // devices), (count,) * plan.cores)
    shards = Shards(rows, devices, strategy)
    by_core = np.asarray(batch.tables[table].unique).reshape(plan.cores, -1)
    ids_by_core = [ids[ids != PADDING_ID] for ids in by_core]
    busiest_owner = 0
    for ids in ids_by_core:
        by_owner = np.bincount(np.asarray(shards.owner(ids)), minlength=1)
        busiest_owner = max(busiest_owner, int(by_owner.max()))
    counts = tuple(len(ids) for ids in ids_by_core)
    return RowDemand(cores * max(counts), cores * busiest_owner, counts)


def cost_of(table: Table, layout: Layout, devices: int, demand: RowDemand) -> Cost:
    """Return the cost of a table in a layout on each device."""
    if layout == "rows":
        rows_here = Shards(table.rows, devices).size
        least_rows = table.rows // devices
    else:
        rows_here = table.rows
        least_rows = table.rows
    row = NUMBER * table.width
    others = devices - 1
    traffic = {
        "rows": others * demand.from_one_owner * 2 * (NUMBER + row),
        "columns": others * demand.total * 2 * (NUMBER + row // devices),
        "copies": others * demand.total * (NUMBER + row),
    }
    size = bytes_of_row(table, layout, devices)
    return Cost(rows_here * size, (rows_here - least_rows) * size, traffic[layout])


def bytes_of_row(table: Table, layout: Layout, devices: int) -> int:
    """Return the bytes of a row and its slots on a device that has the row."""
    by_row = len(table.rule.row_slots)
    columns = table.width // devices if layout == "columns" else table.width
    return NUMBER * (columns * (1 + len(table.rule.slots) - by_row) + by_row)


def costs_of(
    plan: Plan, layouts: Sequence[Layout], devices: int, demands: Sequence[RowDemand]
) -> list[Cost]:
    """Return the cost of each table. The cost of a stack is shared by its tables."""
    whole: dict[int, Cost] = {}
    for stack in assign_stacks(plan, layouts, devices):
        whole.update(_split_stack_cost(plan, stack, devices, demands))
    costs = []
    for k, table in enumerate(plan.tables):
        costs.append(whole[k] if k in whole else cost_of(table, layouts[k], devices, demands[k]))
    return costs


def _split_stack_cost(
    plan: Plan, stack: Stack, devices: int, demands: Sequence[RowDemand]
) -> Iterator[tuple[int, Cost]]:
    """Yield the share of each table of a stack in the cost of the stack."""
    first = plan.tables[stack.tables[0]]
    rows_on = np.zeros(devices, np.int64)
    ids_from = np.zeros((devices, plan.cores), np.int64)  # that a core asks of a device
    for k, device in zip(stack.tables, stack.devices, strict=True):
        rows_on[device] += plan.tables[k].rows
        ids_from[device] += np.array(demands[k].by_core or [0], np.int64)
    size = bytes_of_row(first, "whole", devices)
    from_one_owner = plan.cores // devices * int(ids_from.max())
    cost = Cost(
        memory=stack.size * size,
        padding=(stack.size - int(rows_on.min())) * size,
        traffic=(devices - 1) * from_one_owner * 2 * NUMBER * (1 + first.width),
    )
    # By differences of running totals the shares add up to the cost, whatever the rounding.
    ends = np.cumsum([0, *(plan.tables[k].rows for k in stack.tables)]).tolist()
    for n, k in enumerate(stack.tables):
        yield k, Cost(*(x * ends[n + 1] // ends[-1] - x * ends[n] // ends[-1] for x in cost))


def _price(layout: Layout, cost: Cost) -> int:
    """Return the traffic of a table, and its exchanges as if they were traffic."""
    return cost.traffic + EXCHANGE * _EXCHANGES[layout]


def _memory(problem: _Problem, layouts: Sequence[Layout]) -> int:
    return sum(
        cost.memory for cost in costs_of(problem.plan, layouts, problem.devices, problem.demands)
    )


def _total_price(problem: _Problem, layouts: Sequence[Layout]) -> int:
    """Return the price of all tables. A stack is exchanged at once."""
    costs = costs_of(problem.plan, layouts, problem.devices, problem.demands)
    stacks = assign_stacks(problem.plan, layouts, problem.devices)
    exchanges = sum(_EXCHANGES[layout] for layout in layouts if layout != "whole")
    exchanges += _EXCHANGES["whole"] * len(stacks)
    return sum(cost.traffic for cost in costs) + EXCHANGE * exchanges


# The choice


def allowed_layouts(plan: Plan, devices: int, fixed: Mapping[str, Layout]) -> list[list[Layout]]:
    """Return the layouts that each table may have."""
    names = [t.name for t in plan.tables]
    for name, layout in fixed.items():
        if name not in names:
            raise InvalidArgumentError(
                f"layouts name a table {name!r}; the plan has {', '.join(names)}"
            )
        check_choice(f"the layout of table {name!r}", layout, get_args(Layout))
    allowed: list[list[Layout]] = []
    for table in plan.tables:
        problem = why_no_columns(table, devices)
        if table.name not in fixed:
            allowed.append(["rows", "copies"] if problem else ["rows", "columns", "copies"])
            continue
        if fixed[table.name] == "columns" and problem:
            raise InvalidArgumentError(problem)
        allowed.append([fixed[table.name]])
    return allowed


def why_no_columns(table: Table, devices: int) -> str | None:
    """Return the reason why a table cannot be dealt out by columns, None if it can."""
    if table.width % devices:
        return (
            f"{devices} devices cannot share the {table.width} columns of table {table.name!r}; "
            "give a multiple"
        )
    if table.rule.row_slots and not type(table.rule).__module__.startswith("gradlab.rules."):
        return (
            f"table {table.name!r} has a rule of your own with slots kept by row; it cannot be "
            "dealt out by columns"
        )
    return None


def _take_least_memory(costs: Mapping[Layout, Cost]) -> Layout:
    """Return the layout of least memory, of several the cheapest one; "whole" if there is none."""
    return min(
        costs,
        key=lambda layout: (costs[layout].memory, _price(layout, costs[layout])),
        default="whole",
    )


def _choose_layouts(problem: _Problem) -> list[Layout]:
    """Return a layout for each table: of least memory first, then whatever gains most while the
    budget lasts.
    """
    chosen = [_take_least_memory(costs) for costs in problem.options]

    gains = []
    for k, costs in enumerate(problem.options):
        for layout in costs:
            gain = _price(chosen[k], costs[chosen[k]]) - _price(layout, costs[layout])
            gains.append((gain, k, layout))
    gains.sort(key=lambda item: -item[0])

    room = math.inf if problem.budget is None else problem.budget - _memory(problem, chosen)
    for gain, k, layout in gains:
        old = problem.options[k][chosen[k]]
        new = problem.options[k][layout]
        # The table may have moved to a better layout in an earlier turn of this loop.
        is_better = gain > 0 and _price(layout, new) < _price(chosen[k], old)
        if is_better and new.memory - old.memory <= room:
            room -= new.memory - old.memory
            chosen[k] = layout
    return chosen


def _choose_stacks(problem: _Problem, chosen: list[Layout]) -> list[Layout]:
    """Return the layouts with the smallest tables of a width and rule whole, as many as cost least
    so and fit.
    """
    groups: dict[Hashable, list[int]] = {}
    for k, table in enumerate(problem.plan.tables):
        if table.name not in problem.fixed and problem.devices > 1:
            groups.setdefault(stack_key(table), []).append(k)
    for members in groups.values():
        trial = list(chosen)
        candidates = [chosen]
        for k in sorted(members, key=lambda k: problem.plan.tables[k].rows):
            trial[k] = "whole"
            if problem.fits(_memory(problem, trial)):
                candidates.append(list(trial))
        chosen = min(candidates, key=lambda layouts: _total_price(problem, layouts))
    return chosen


# The result


def build_result(problem: _Problem, chosen: Sequence[Layout]) -> PlacementPlan:
    """Return the plan of these layouts.

    Raises:
        InvalidArgumentError: the tables don't fit into the budget.
    """
    plan = problem.plan
    device_of: dict[int, int] = {}
    stack_of: dict[int, Stack] = {}
    for stack in assign_stacks(plan, chosen, problem.devices):
        for k, device in zip(stack.tables, stack.devices, strict=True):
            device_of[k] = device
            stack_of[k] = stack

    costs = costs_of(plan, chosen, problem.devices, problem.demands)
    tables = []
    for k, table in enumerate(plan.tables):
        only_device = device_of.get(k)
        tables.append(
            Placed(
                table.name,
                table.rows,
                table.width,
                chosen[k],
                costs[k],
                why=_reason(problem, k, chosen[k], stack_of.get(k)),
                device=only_device,
                held=_bytes_by_device(table, chosen[k], problem.devices, only_device),
            )
        )
    result = PlacementPlan(tuple(tables), problem.devices, problem.budget)
    if problem.budget is not None and not problem.fits(result.memory):
        raise InvalidArgumentError(_explain_excess(problem, result, problem.budget))
    return result


def _reason(problem: _Problem, k: int, layout: Layout, stack: Stack | None) -> str:
    """Return why a table has its layout."""
    if problem.plan.tables[k].name in problem.fixed:
        return "as you chose"
    if stack is not None:
        return f"least cost, in a stack of {len(stack.tables)}"
    costs = problem.options[k]
    best = min(costs, key=lambda x: _price(x, costs[x]))
    return "least cost" if layout == best else f"{best} would cost less, but not fit"


def _bytes_by_device(
    table: Table, layout: Layout, devices: int, device: int | None
) -> tuple[int, ...]:
    """Return the bytes of a table's rows on each device, padding left out."""
    size = bytes_of_row(table, layout, devices)
    if device is not None:
        return tuple(table.rows * size * (n == device) for n in range(devices))
    shards = Shards(table.rows, devices if layout == "rows" else 1)
    return tuple(len(shards.range_of(n % shards.count)) * size for n in range(devices))


def _explain_excess(problem: _Problem, result: PlacementPlan, budget: int) -> str:
    largest = sorted(result.tables, key=lambda table: -table.cost.memory)[:5]
    sizes = ", ".join(
        f"{table.table} {_mib(table.cost.memory)} ({table.layout})" for table in largest
    )
    return (
        f"the tables need {_mib(result.memory)} MiB on each of {result.devices} devices, the "
        f"budget is {_mib(budget)}; the largest are {sizes}; {_suggest_devices(problem)}"
    )


def _suggest_devices(problem: _Problem) -> str:
    """Return the remedy: a number of devices that would do, found by doubling."""
    plan = problem.plan
    layouts = [problem.fixed.get(table.name, "rows") for table in plan.tables]
    no_demand = [RowDemand(0, 0)] * len(plan.tables)
    by_columns = [
        table for table, layout in zip(plan.tables, layouts, strict=True) if layout == "columns"
    ]
    for doublings in range(1, 21):
        devices = problem.devices << doublings
        needed = sum(cost.memory for cost in costs_of(plan, layouts, devices, no_demand))
        if problem.fits(needed) and not any(why_no_columns(table, devices) for table in by_columns):
            return f"{devices} devices would do, or a rule with slots kept by row"
    return "no number of devices would do: choose other layouts, or smaller tables"


def _mib(count: int) -> str:
    size = count / (1 << 20)
    return f"{size:,.1f}" if size >= 10 else f"{size:.3g}"

"""Layouts of tables on the devices of a mesh: memory and traffic of each layout, and a choice within a budget."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, get_args

import numpy as np

from .._base.html import html_table, text_table
from .._base.options import check_choice, check_count
from ..errors import InvalidArgumentError
from .batch import Batch
from .placement import Layout, Shards, Strategy
from .plan import PADDING_ID, Plan, Table
from .stacks import Stack, stack_key, stacks_of

NUMBER = 4  # bytes of a float32 or an id
EXCHANGE = 1 << 16  # bytes that could be sent in the time in which an exchange begins
_EXCHANGES = {"rows": 4, "columns": 4, "whole": 4, "copies": 2}  # ids, rows, ids, sums; copies: ids and sums
COLUMNS = ("table", "rows x width", "layout", "MiB of a device", "of it padding", "KiB sent in a step", "why")


class Cost(NamedTuple):
    """The cost of a table on each device: bytes of weights and slots, those of no row, and bytes sent in a step.

    Every device has as much room for a stack as any other; of that, its whole tables have shares by their rows.
    """

    memory: int
    padding: int
    traffic: int


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
    device: int | None = None  # that has it, if one has it whole
    held: tuple[int, ...] = ()  # bytes of its rows on each device, padding left out


@dataclass(frozen=True)
class PlacementPlan:
    """The result of `plan_placement`. Prints as a table; `layouts` is what `place` and its kin take. Not in TensorFlow.

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
            f"Placement on {self.devices} devices: {_mib(self.memory)}{limit} MiB, and {self.traffic / 1024:,.1f} KiB "
            "sent in a step, each"
        )

    def table_of_words(self) -> list[tuple[str, ...]]:
        """A row of words for each table, under `COLUMNS`."""
        return [
            (
                *(t.table, f"{t.rows} x {t.width}", _words(t), _mib(t.cost.memory), _mib(t.cost.padding)),
                *(f"{t.cost.traffic / 1024:,.1f}", t.why),
            )
            for t in self.tables
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

    The traffic is in bytes. An exchange is priced, too, because it takes time to begin: 64 KiB stand for what could be
    sent in that time. So the least cost isn't the least traffic: with a larger budget a plan may have fewer exchanges
    and send more bytes.

    With u distinct ids of each of the c cores of a device, at most b of them of one owner, n devices and width w, a
    device sends in a step, lookup and update together:

        rows: (n - 1) * c * b * 8 * (1 + w) bytes, since all owners get parts of equal length
        columns: (n - 1) * c * u * (8 + 8 * w / n)
        copies: (n - 1) * c * u * 4 * (1 + w)
        whole: as by rows, where b counts the ids of all tables of a stack that one device has

    Tables begin with the layout of least memory; then the table whose cost falls most by another layout gets it, and
    so on, while the budget lasts. At last the smallest tables of one width and rule become a stack of whole tables, as
    many of them as make the cost lowest; its memory is that of the fullest device's rows. This is a greedy choice: no
    other plan was compared, so one of lower cost may exist.

    Args:
        plan: of as many cores as devices, or a multiple.
        devices: their number.
        budget: bytes on each device for tables and slots, padding included; None is no limit. Batches, activations and
            what a step sends come on top.
        batch: of `make_batch`, for u and b: ids that are often those of one owner make columns worth their ids. Without
            it u is one for each sample, or all rows if they are fewer, and b is u / n.
        strategy: that of tables by rows.
        layouts: those that you choose, by the names of tables.

    Raises:
        InvalidArgumentError: a budget that the tables do not fit into (it says what each of them takes, and how many
            devices would do), a name without a table, columns that the devices cannot share, cores that they cannot.

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
            f"{devices} devices cannot share {plan.cores} cores; give the plan as many cores as devices, or a multiple"
        )
    given = dict(layouts or {})
    wanted = _wanted(plan, devices, given)
    asked = [_asked(plan, k, devices, batch, strategy) for k in range(len(plan.tables))]
    options: Options = [
        {layout: cost_of(table, layout, devices, ids) for layout in allowed if layout != "whole"}
        for table, allowed, ids in zip(plan.tables, wanted, asked, strict=True)
    ]
    known = _Known(plan, devices, asked, options)
    chosen = _with_stacks(known, _chosen(known, budget), budget, given)
    return _told(known, budget, chosen, given)


class Asked(NamedTuple):
    """The distinct rows that the cores of one device ask for in a step: of everybody, and of one owner at most."""

    all: int
    of_one: int
    by_core: tuple[int, ...] = ()  # of everybody, for each core of the plan


def cost_of(table: Table, layout: Layout, devices: int, ids: Asked) -> Cost:
    """The cost of a table in a layout on each device."""
    here = Shards(table.rows, devices).size if layout == "rows" else table.rows
    least = table.rows // devices if layout == "rows" else table.rows
    row = NUMBER * table.width
    others = devices - 1
    traffic = {
        "rows": others * ids.of_one * 2 * (NUMBER + row),
        "columns": others * ids.all * 2 * (NUMBER + row // devices),
        "copies": others * ids.all * (NUMBER + row),
    }
    each = bytes_of_row(table, layout, devices)
    return Cost(here * each, (here - least) * each, traffic[layout])


def bytes_of_row(table: Table, layout: Layout, devices: int) -> int:
    """The bytes of a row and its slots on a device that has the row."""
    by_row = len(table.rule.row_slots)
    columns = table.width // devices if layout == "columns" else table.width
    return NUMBER * (columns * (1 + len(table.rule.slots) - by_row) + by_row)


def costs_of(plan: Plan, layouts: Sequence[Layout], devices: int, asked: Sequence[Asked]) -> list[Cost]:
    """The cost of each table; a stack's is shared by its tables."""
    stacks = stacks_of(plan, layouts, devices)
    whole = {k: cost for stack in stacks for k, cost in _shares(plan, stack, devices, asked)}
    return [
        whole[k] if k in whole else cost_of(table, layout, devices, ids)
        for k, (table, layout, ids) in enumerate(zip(plan.tables, layouts, asked, strict=True))
    ]


def _shares(plan: Plan, stack: Stack, devices: int, asked: Sequence[Asked]) -> Iterator[tuple[int, Cost]]:
    first = plan.tables[stack.tables[0]]
    rows, ids = np.zeros(devices, np.int64), np.zeros((devices, plan.cores), np.int64)
    for k, device in zip(stack.tables, stack.devices, strict=True):
        rows[device] += plan.tables[k].rows
        ids[device] += np.array(asked[k].by_core or [0], np.int64)
    each, of_one = bytes_of_row(first, "whole", devices), plan.cores // devices * int(ids.max())
    traffic = (devices - 1) * of_one * 2 * NUMBER * (1 + first.width)
    whole = Cost(stack.size * each, (stack.size - int(rows.min())) * each, traffic)
    ends = np.cumsum([0, *(plan.tables[k].rows for k in stack.tables)]).tolist()
    for n, k in enumerate(stack.tables):
        yield k, Cost(*(x * ends[n + 1] // ends[-1] - x * ends[n] // ends[-1] for x in whole))


def no_columns(table: Table, devices: int) -> str | None:
    """The reason why a table cannot be dealt out by columns, if so."""
    if table.width % devices:
        return f"{devices} devices cannot share the {table.width} columns of table {table.name!r}; give a multiple"
    if table.rule.row_slots and not type(table.rule).__module__.startswith("gradlab.rules."):
        return f"table {table.name!r} has a rule of your own with slots kept by row; it cannot be dealt out by columns"
    return None


Options = Sequence[Mapping[Layout, Cost]]  # a table that shall be whole has none


class _Known(NamedTuple):
    """The inputs of a choice."""

    plan: Plan
    devices: int
    asked: Sequence[Asked]
    options: Options


def _wanted(plan: Plan, devices: int, given: Mapping[str, Layout]) -> list[list[Layout]]:
    """The layouts that each table may have."""
    names = [t.name for t in plan.tables]
    for name, layout in given.items():
        if name not in names:
            raise InvalidArgumentError(f"layouts name a table {name!r}; the plan has {', '.join(names)}")
        check_choice(f"the layout of table {name!r}", layout, get_args(Layout))
    found: list[list[Layout]] = []
    for t in plan.tables:
        why = no_columns(t, devices)
        if given.get(t.name) == "columns" and why:
            raise InvalidArgumentError(why)
        every: list[Layout] = [x for x in get_args(Layout) if x != "whole" and (x != "columns" or why is None)]
        found.append([given[t.name]] if t.name in given else every)
    return found


def _asked(plan: Plan, table: int, devices: int, batch: Batch | None, strategy: Strategy) -> Asked:
    """The distinct rows that the cores of a device ask for, each as many as the busiest."""
    each, shards = plan.cores // devices, Shards(plan.tables[table].rows, devices, strategy)
    if batch is None:
        count = min(plan.samples_of(table), plan.tables[table].rows)
        return Asked(each * count, each * -(-count // devices), (count,) * plan.cores)
    ids = np.asarray(batch.tables[table].unique).reshape(plan.cores, -1)
    cores = [core[core != PADDING_ID] for core in ids]
    of_one = max(int(np.bincount(np.asarray(shards.owner(core)), minlength=1).max()) for core in cores)
    return Asked(each * max(map(len, cores)), each * of_one, tuple(map(len, cores)))


def _cost(layout: Layout, cost: Cost) -> int:
    return cost.traffic + EXCHANGE * _EXCHANGES[layout]


def _chosen(known: _Known, budget: int | None) -> list[Layout]:
    """The layout of each table: of least memory first, then what gains most, while there is room."""
    options, chosen = known.options, list[Layout]()
    for own in options:
        chosen.append(min(own, key=lambda x: (own[x].memory, _cost(x, own[x])), default="whole"))
    room = np.inf if budget is None else budget - _memory(known, chosen)
    better = [
        (_cost(now, own[now]) - _cost(x, own[x]), k, x)
        for k, (own, now) in enumerate(zip(options, chosen, strict=True))
        for x in own
    ]
    for gain, k, layout in sorted(better, key=lambda found: -found[0]):
        more = options[k][layout].memory - options[k][chosen[k]].memory
        is_better = _cost(layout, options[k][layout]) < _cost(chosen[k], options[k][chosen[k]])
        if gain > 0 and is_better and more <= room:
            room, chosen[k] = room - more, layout
    return chosen


def _with_stacks(known: _Known, chosen: list[Layout], budget: int | None, given: Mapping[str, Layout]) -> list[Layout]:
    """Layouts with the smallest tables of a width and rule whole, as many as cost least that way and fit."""
    groups: dict[Hashable, list[int]] = {}
    for k, table in enumerate(known.plan.tables):
        if table.name not in given and known.devices > 1:
            groups.setdefault(stack_key(table), []).append(k)
    for members in groups.values():
        smallest, trial, found = sorted(members, key=lambda k: known.plan.tables[k].rows), list(chosen), [chosen]
        for k in smallest:
            trial[k] = "whole"
            if budget is None or _memory(known, trial) <= budget:
                found.append(list(trial))
        chosen = min(found, key=lambda layouts: _total(known, layouts))
    return chosen


def _memory(known: _Known, layouts: Sequence[Layout]) -> int:
    return sum(cost.memory for cost in costs_of(known.plan, layouts, known.devices, known.asked))


def _total(known: _Known, layouts: Sequence[Layout]) -> int:
    """The cost of all tables; a stack is exchanged at once."""
    sent = sum(cost.traffic for cost in costs_of(known.plan, layouts, known.devices, known.asked))
    begun = sum(_EXCHANGES[layout] for layout in layouts if layout != "whole")
    return sent + EXCHANGE * (begun + _EXCHANGES["whole"] * len(stacks_of(known.plan, layouts, known.devices)))


def _told(known: _Known, budget: int | None, chosen: list[Layout], given: Mapping[str, Layout]) -> PlacementPlan:
    plan, devices = known.plan, known.devices
    where = {
        k: (device, len(stack.tables))
        for stack in stacks_of(plan, chosen, devices)
        for k, device in zip(stack.tables, stack.devices, strict=True)
    }

    def why(k: int) -> str:
        own, now = known.options[k], chosen[k]
        if plan.tables[k].name in given:
            return "as you chose"
        if now == "whole":
            return f"least cost, in a stack of {where[k][1]}"
        best = min(own, key=lambda x: _cost(x, own[x]))
        return "least cost" if now == best else f"{best} would cost less, but not fit"

    def held(k: int) -> tuple[int, ...]:
        table, each = plan.tables[k], bytes_of_row(plan.tables[k], chosen[k], devices)
        if k in where:
            return tuple(table.rows * each * (n == where[k][0]) for n in range(devices))
        shards = Shards(table.rows, devices if chosen[k] == "rows" else 1)
        return tuple(len(shards.range_of(n % shards.count)) * each for n in range(devices))

    costs = costs_of(plan, chosen, devices, known.asked)
    tables = tuple(
        Placed(t.name, t.rows, t.width, chosen[k], costs[k], why(k), where.get(k, (None,))[0], held(k))
        for k, t in enumerate(plan.tables)
    )
    placed = PlacementPlan(tables, devices, budget)
    if budget is not None and placed.memory > budget:
        raise InvalidArgumentError(_over(plan, placed, budget, given))
    return placed


def _over(plan: Plan, placed: PlacementPlan, budget: int, given: Mapping[str, Layout]) -> str:
    large = sorted(placed.tables, key=lambda t: -t.cost.memory)[:5]
    each = ", ".join(f"{t.table} {_mib(t.cost.memory)} ({t.layout})" for t in large)
    return (
        f"the tables need {_mib(placed.memory)} MiB on each of {placed.devices} devices, the budget is {_mib(budget)}; "
        f"the largest are {each}; {_instead(plan, placed.devices, budget, given)}"
    )


def _instead(plan: Plan, devices: int, budget: int, given: Mapping[str, Layout]) -> str:
    """The remedy: the least number of devices, twice as many at a time."""
    fixed, unasked = [given.get(t.name, "rows") for t in plan.tables], [Asked(0, 0)] * len(plan.tables)
    for count in (devices << k for k in range(1, 21)):
        needed = sum(cost.memory for cost in costs_of(plan, fixed, count, unasked))
        columns = (t for t, layout in zip(plan.tables, fixed, strict=True) if layout == "columns")
        if needed <= budget and not any(no_columns(t, count) for t in columns):
            return f"{count} devices would do, or a rule with slots kept by row"
    return "no number of devices would do: choose other layouts, or smaller tables"


def _words(placed: Placed) -> str:
    return placed.layout if placed.device is None else f"{placed.layout}, device {placed.device}"


def _mib(count: int) -> str:
    size = count / (1 << 20)
    return f"{size:,.1f}" if size >= 10 else f"{size:.3g}"

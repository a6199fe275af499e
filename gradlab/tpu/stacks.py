"""Stacks: arrays of whole tables, each table on one device of a mesh.

An array of JAX has a part of equal size on every device. So tables of one width and rule share one
array, a stack, in which the tables of a device stand one after another. A step sees the stack as
one table by rows, and exchanges it at once.

`assign_stacks` decides which table is where; it depends on nothing but the plan, the layouts and
the number of devices. `stack_tables` translates the plan of the user into the plan of the arrays,
and `stack_lookups` does so for a batch.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidArgumentError
from ..rules.rule import Shared
from .batch import Lookups
from .plan import PADDING_ID, Plan, Table
from .row_owners import Layout, OnMesh, Placement


@dataclass(frozen=True)
class Stack:
    """Some tables of a plan, by number, each whole on one device; `firsts` are their first rows in the array.

    Every device has room for `size` rows, as many as the tables of the fullest one.
    """

    tables: tuple[int, ...]
    devices: tuple[int, ...]
    firsts: tuple[int, ...]
    size: int


def assign_stacks(plan: Plan, layouts: Sequence[Layout], devices: int) -> tuple[Stack, ...]:
    """Return the stacks of the tables whose layout is "whole": one for each width, rule and limits.

    Tables with most rows come first, each to the device with the fewest rows so far.
    """
    groups: dict[Hashable, list[int]] = {}
    for k, (table, layout) in enumerate(zip(plan.tables, layouts, strict=False)):
        if layout == "whole":
            groups.setdefault(stack_key(table), []).append(k)
    return tuple(_assign_devices(plan, members, devices) for members in groups.values())


_MAY_DIFFER = ("name", "rows", "combiner")  # fields of the tables of one stack


def stack_key(table: Table) -> Hashable:
    """Return what tables of one stack have in common: everything but the name, the rows and the combiner.

    Combiners may differ because they are in the weights of a batch.
    """
    shared = [field.name for field in dataclasses.fields(table) if field.name not in _MAY_DIFFER]
    return tuple(_settings_key(getattr(table, name)) for name in shared)


def _settings_key(value: Any) -> Hashable:
    """Return a key that is equal for equal settings.

    A hyperparameter may be an array of JAX, which has no hash, and no value while it is traced.
    Such an array equals itself alone.
    """
    if dataclasses.is_dataclass(value):
        keys = [_settings_key(getattr(value, field.name)) for field in dataclasses.fields(value)]
        return (type(value), *keys)
    return value if isinstance(value, Hashable) else id(value)


def _assign_devices(plan: Plan, members: Sequence[int], devices: int) -> Stack:
    rows_on = [0] * devices
    device_of = {}
    first_of = {}
    for k in sorted(members, key=lambda k: -plan.tables[k].rows):
        device = rows_on.index(min(rows_on))
        device_of[k] = device
        first_of[k] = rows_on[device]
        rows_on[device] += plan.tables[k].rows
    size = max(rows_on)
    return Stack(
        tables=tuple(members),
        devices=tuple(device_of[k] for k in members),
        firsts=tuple(device_of[k] * size + first_of[k] for k in members),
        size=size,
    )


class StackedPlan(NamedTuple):
    """The arrays of a step as a plan: tables that aren't whole, in the user's order, then a table for each stack."""

    plan: Plan
    placement: Placement
    unstacked: tuple[int, ...]  # tables of the user's plan
    stacks: tuple[Stack, ...]

    def locate(self, table: int) -> tuple[int, int]:
        """Return the array in which a table of the user's plan stands, and its first row there."""
        for n, stack in enumerate(self.stacks):
            if table in stack.tables:
                return len(self.unstacked) + n, stack.firsts[stack.tables.index(table)]
        return self.unstacked.index(table), 0

    def tables_by_array(self) -> Iterator[tuple[int, ...]]:
        """Yield the tables of the user's plan in each array."""
        for k in self.unstacked:
            yield (k,)
        for stack in self.stacks:
            yield stack.tables


def stack_tables(plan: Plan, placement: Placement) -> StackedPlan:
    """Return the plan and the placement of the arrays, which are those given where no table is whole.

    Raises:
        ValueError: a stack of too many rows; it names its tables.
    """
    if not isinstance(placement, OnMesh) or "whole" not in placement.layouts:
        return StackedPlan(plan, placement, tuple(range(len(plan.tables))), ())
    if _has_hash(plan):
        return _stack_tables_cached(plan, placement)
    return _stack_tables(plan, placement)


def _has_hash(plan: Plan) -> bool:
    """Tell whether a plan can be a key: a hyperparameter that is an array of JAX has no hash."""
    try:
        hash(plan)
    except TypeError:
        return False
    return True


def _stack_tables(plan: Plan, placement: OnMesh) -> StackedPlan:
    stacks = assign_stacks(plan, placement.layouts, placement.devices)
    unstacked = tuple(k for k in range(len(plan.tables)) if placement.layouts[k] != "whole")
    tables = [plan.tables[k] for k in unstacked]
    layouts: list[Layout] = [placement.layouts[k] for k in unstacked]
    for stack in stacks:
        name = "stack of " + ", ".join(plan.tables[k].name for k in stack.tables)
        first = plan.tables[stack.tables[0]]
        tables.append(dataclasses.replace(first, name=name, rows=stack.size * placement.devices))
        layouts.append("whole")
    arrays = StackedPlan(plan, placement, unstacked, stacks)
    features = tuple(dataclasses.replace(f, table=arrays.locate(f.table)[0]) for f in plan.features)
    return arrays._replace(
        plan=dataclasses.replace(plan, tables=tuple(tables), features=features),
        placement=dataclasses.replace(placement, layouts=tuple(layouts)),
    )


# Called for each batch, and stacking 26 tables takes 2 ms.
_stack_tables_cached = lru_cache(maxsize=64)(_stack_tables)


def stack_lookups(
    plan: Plan, arrays: StackedPlan, tables: Sequence[Lookups], cores: int
) -> tuple[Lookups, ...]:
    """Return the lookups of these cores by array; those of all tables of a stack become lookups of the stack."""
    unstacked = [tables[k] for k in arrays.unstacked]
    stacked = [_lookups_of_stack(plan, arrays, n, tables, cores) for n in range(len(arrays.stacks))]
    return (*unstacked, *stacked)


def _lookups_of_stack(
    plan: Plan, arrays: StackedPlan, number: int, tables: Sequence[Lookups], cores: int
) -> Lookups:
    stack = arrays.stacks[number]
    array = len(arrays.unstacked) + number
    by_core = [
        Lookups(*(np.asarray(x).reshape(cores, -1) for x in tables[k])) for k in stack.tables
    ]
    # A table's distinct rows begin here among those of the stack; the last number is past their
    # end.
    begins = np.cumsum([0, *(t.unique.shape[1] for t in by_core)]).astype(np.uint32)
    parts = []
    for k, first, lookups, begin in zip(stack.tables, stack.firsts, by_core, begins, strict=False):
        sample_numbers = _sample_numbers(plan, arrays.plan, k, array)
        is_padding = lookups.unique == PADDING_ID
        unique = np.where(is_padding, lookups.unique, lookups.unique + np.uint32(first))
        is_real = lookups.inverse < lookups.unique.shape[1]
        inverse = np.where(is_real, lookups.inverse + begin, begins[-1])
        samples = sample_numbers[np.minimum(lookups.samples, sample_numbers.size - 1)]
        parts.append((unique, inverse, samples, lookups.weights))
    return Lookups(*(np.concatenate(x, axis=1).reshape(-1) for x in zip(*parts, strict=True)))


def _sample_numbers(plan: Plan, array_plan: Plan, table: int, array: int) -> np.ndarray:
    """Return the sample of an array for each sample of a table of the user's plan, and for the
    number past the last.
    """
    starts = {}
    count = 0
    for f in array_plan.features_of(array):
        starts[f] = count
        count += array_plan.features[f].samples
    numbers = [
        np.arange(starts[f], starts[f] + plan.features[f].samples) for f in plan.features_of(table)
    ]
    return np.concatenate([*numbers, [count]]).astype(np.uint32)


def merge_shared(plan: Plan, arrays: StackedPlan, shared: Sequence[Shared]) -> tuple[Shared, ...]:
    """Return the values that all rows of each array have in common, from those of each table.

    Raises:
        InvalidArgumentError: tables of a stack where they differ; it names two.
    """
    merged = []
    for first, *others in arrays.tables_by_array():
        for k in others:
            if any(
                np.asarray(shared[first].get(name)) != np.asarray(x)
                for name, x in shared[k].items()
            ):
                raise InvalidArgumentError(
                    f"tables {plan.tables[first].name!r} and {plan.tables[k].name!r} stand in one "
                    f"stack, so what their rules have in common must be equal; got {shared[first]} "
                    f"and {shared[k]}; place one by rows"
                )
        merged.append(shared[first])
    return tuple(merged)

"""Whole tables, each on one device of a mesh: they stand in stacks, arrays whose parts are dealt out over the devices.

An array of JAX has a part of equal size on every device. So tables of one width and rule share one array, a stack, in
which the tables of a device stand one after another; a step sees it as one table by rows, and exchanges it at once.
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
from .placement import Layout, OnMesh, Placement
from .plan import PADDING_ID, Plan, Table


@dataclass(frozen=True)
class Stack:
    """Some tables of a plan, by number, each whole on one device; `firsts` are their first rows in the array.

    Every device has room for `size` rows, as many as the tables of the fullest one.
    """

    tables: tuple[int, ...]
    devices: tuple[int, ...]
    firsts: tuple[int, ...]
    size: int


def stacks_of(plan: Plan, layouts: Sequence[Layout], devices: int) -> tuple[Stack, ...]:
    """The stacks of the tables whose layout is "whole": one for all that have the same width, rule and limits.

    Tables with most rows come first, each to the device with the fewest rows so far, so that the plan, the layouts and
    the number of devices say where each table is.
    """
    groups: dict[Hashable, list[int]] = {}
    for k, (table, layout) in enumerate(zip(plan.tables, layouts, strict=False)):
        if layout == "whole":
            groups.setdefault(stack_key(table), []).append(k)
    return tuple(_stacked(plan, members, devices) for members in groups.values())


_MAY_DIFFER = ("name", "rows", "combiner")  # fields of the tables of one stack


def stack_key(table: Table) -> Hashable:
    """Return what tables of one stack have in common: everything but the name, the rows and the combiner.

    Combiners may differ because they are in the weights of a batch.
    """
    shared = [field.name for field in dataclasses.fields(table) if field.name not in _MAY_DIFFER]
    return tuple(_settings_key(getattr(table, name)) for name in shared)


def _settings_key(value: Any) -> Hashable:
    """Return a key that is equal for equal settings.

    A hyperparameter may be an array of JAX, which has no hash, and no value while it is traced. Such an array equals
    itself alone.
    """
    if dataclasses.is_dataclass(value):
        keys = [_settings_key(getattr(value, field.name)) for field in dataclasses.fields(value)]
        return (type(value), *keys)
    return value if isinstance(value, Hashable) else id(value)


def _stacked(plan: Plan, members: Sequence[int], devices: int) -> Stack:
    held, places = [0] * devices, {}
    for k in sorted(members, key=lambda k: -plan.tables[k].rows):
        device = held.index(min(held))
        places[k] = device, held[device]
        held[device] += plan.tables[k].rows
    size, own = max(held), [places[k] for k in members]
    return Stack(tuple(members), tuple(d for d, _ in own), tuple(d * size + at for d, at in own), size)


class Inside(NamedTuple):
    """The arrays of a step: tables that are not whole, in the plan's order, then the stacks as tables by rows."""

    plan: Plan
    placement: Placement
    alone: tuple[int, ...]
    stacks: tuple[Stack, ...]

    def at(self, table: int) -> tuple[int, int]:
        """The array in which a table of the plan stands, and its first row there."""
        for n, stack in enumerate(self.stacks):
            if table in stack.tables:
                return len(self.alone) + n, stack.firsts[stack.tables.index(table)]
        return self.alone.index(table), 0

    def members(self) -> Iterator[tuple[int, ...]]:
        """The tables of the plan in each array."""
        yield from ((k,) for k in self.alone)
        yield from (stack.tables for stack in self.stacks)


def inside(plan: Plan, placement: Placement) -> Inside:
    """The plan and the placement of the arrays that there are; those given where no table is whole.

    Raises:
        ValueError: a stack of too many rows; it names its tables.
    """
    everything = tuple(range(len(plan.tables)))
    if not isinstance(placement, OnMesh) or "whole" not in placement.layouts:
        return Inside(plan, placement, everything, ())
    return _stack_tables_cached(plan, placement) if _has_hash(plan) else _stack_tables(plan, placement)


def _has_hash(plan: Plan) -> bool:
    """Tell whether a plan can be a key: a hyperparameter that is an array of JAX has no hash."""
    try:
        hash(plan)
    except TypeError:
        return False
    return True


def _stack_tables(plan: Plan, placement: OnMesh) -> Inside:
    everything = range(len(plan.tables))
    stacks = stacks_of(plan, placement.layouts, placement.devices)
    alone = tuple(k for k in everything if placement.layouts[k] != "whole")
    tables = [plan.tables[k] for k in alone]
    for stack in stacks:
        name = "stack of " + ", ".join(plan.tables[k].name for k in stack.tables)
        first = plan.tables[stack.tables[0]]
        tables.append(dataclasses.replace(first, name=name, rows=stack.size * placement.devices))
    layouts = (*(placement.layouts[k] for k in alone), *(placement.layouts[s.tables[0]] for s in stacks))
    within = Inside(plan, placement, alone, stacks)
    features = tuple(dataclasses.replace(f, table=within.at(f.table)[0]) for f in plan.features)
    inner = dataclasses.replace(plan, tables=tuple(tables), features=features)
    return Inside(inner, dataclasses.replace(placement, layouts=layouts), alone, stacks)


# Called for each batch, and stacking 26 tables takes 2 ms.
_stack_tables_cached = lru_cache(maxsize=64)(_stack_tables)


def stacked_lookups(plan: Plan, within: Inside, tables: Sequence[Lookups], cores: int) -> tuple[Lookups, ...]:
    """The lookups of so many cores, with those of all tables of a stack as lookups of the stack."""
    stacks = range(len(within.stacks))
    return (*(tables[k] for k in within.alone), *(_joined(plan, within, n, tables, cores) for n in stacks))


def _joined(plan: Plan, within: Inside, number: int, tables: Sequence[Lookups], cores: int) -> Lookups:
    stack, array = within.stacks[number], len(within.alone) + number
    each = [Lookups(*(np.asarray(x).reshape(cores, -1) for x in tables[k])) for k in stack.tables]
    begins = np.cumsum([0, *(t.unique.shape[1] for t in each)]).astype(np.uint32)
    parts = []
    for k, first, t, begin in zip(stack.tables, stack.firsts, each, begins, strict=False):
        to = _samples(plan, within.plan, k, array)
        unique = np.where(t.unique == PADDING_ID, t.unique, t.unique + np.uint32(first))
        inverse = np.where(t.inverse < t.unique.shape[1], t.inverse + begin, begins[-1])
        parts.append((unique, inverse, to[np.minimum(t.samples, to.size - 1)], t.weights))
    return Lookups(*(np.concatenate(x, axis=1).reshape(-1) for x in zip(*parts, strict=True)))


def _samples(plan: Plan, inner: Plan, table: int, array: int) -> np.ndarray:
    """The sample of an array for each sample of a table of the plan, and for the number past the last."""
    starts, count = {}, 0
    for f in inner.features_of(array):
        starts[f], count = count, count + inner.features[f].samples
    own = [np.arange(starts[f], starts[f] + plan.features[f].samples) for f in plan.features_of(table)]
    return np.concatenate([*own, [count]]).astype(np.uint32)


def common(plan: Plan, within: Inside, shared: Sequence[Shared]) -> tuple[Shared, ...]:
    """The values that all rows of each array have in common.

    Raises:
        InvalidArgumentError: tables of a stack where they differ; it names two.
    """
    found = []
    for first, *others in within.members():
        for k in others:
            if any(np.asarray(shared[first].get(name)) != np.asarray(x) for name, x in shared[k].items()):
                raise InvalidArgumentError(
                    f"tables {plan.tables[first].name!r} and {plan.tables[k].name!r} stand in one stack, so what their "
                    f"rules have in common must be equal; got {shared[first]} and {shared[k]}; place one by rows"
                )
        found.append(shared[first])
    return tuple(found)

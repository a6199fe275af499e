"""`Explanation`: why a row moved or not, as data and as text. `explain` makes it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from ..._base import numbers
from ..._base.html import html_table
from ...rules import Rule
from ..plan import Table

Fate = Literal["looked up", "truncated", "dropped"]
Cause = Literal["looked up", "not lazy", "never looked up", "truncated", "dropped", "not yet"]
SHOWN = 12  # contributions, and runs of the rule, that are written out
NUMBERS = 4  # of a vector that are written out


@dataclass(frozen=True, eq=False)
class Contribution:
    """One lookup of a row, and what it adds to the row's gradient: gain * gradient of its sample.

    Attributes:
        core, feature, sample: where it was looked up.
        position: its place in the list of ids of the sample.
        given_id, given_weight: as they came in, before the policy and the combiner; None where they
            were not kept.
        gain: the weight after the combiner.
        gradient: of the sample's activation, (width,).
        product: gain * gradient.
        joined: how many equal ids of the sample the engine made one lookup of.

    Not in TensorFlow.

    >>> Contribution(0, "f", 2, 0, 7, 1.0, 0.5, np.float32([2.0]), np.float32([1.0])).product.tolist()
    [1.0]
    """

    core: int
    feature: str
    sample: int
    position: int | None
    given_id: int | None
    given_weight: float | None
    gain: float
    gradient: np.ndarray
    product: np.ndarray
    joined: int = 1


class GivenId(NamedTuple):
    """An id as it was given, the row that it names or would name if it were not dropped, and what became of it."""

    core: int
    feature: str
    sample: int
    position: int
    id: int
    weight: float
    row: int
    fate: Fate


@dataclass(frozen=True, eq=False)
class RuleRun:
    """One run of the rule on the row: one for all gradients summed, or without accumulation one for each.

    Attributes:
        total: the gradient before limits.
        gradient: what the rule got.
        decay: what decay took from the weights.
        free: the weights before their limits.
        weights: after them.
        slots: after the run, by name.
    """

    total: np.ndarray
    gradient: np.ndarray
    decay: np.ndarray
    free: np.ndarray
    weights: np.ndarray
    slots: Mapping[str, np.ndarray]

    @property
    def clipped(self) -> bool:
        """Tell whether a limit changed the gradient."""
        return not np.array_equal(self.total, self.gradient, equal_nan=True)

    @property
    def limited(self) -> bool:
        """Tell whether a limit changed the weights."""
        return not np.array_equal(self.free, self.weights, equal_nan=True)


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why one row of a table is what it is after a step; `str` says it in words. Made by `explain`.

    Attributes:
        table, row: which.
        cause: why it moved, or why not.
        contributions: every lookup of the row, core after core.
        core_sums: their sum on each core.
        runs: of the rule, in order.
        rule: with what it has at this step, as powers of beta.
        learning_rate: of the step.
        rate_source: "constant" or "tag k".
        weights_before, weights_after: (width,).
        slots_before, slots_after: by name.
        left_out: ids that would have touched the row but were cut off or dropped.
        steps_late: 1 where a pipelined plan made the update of the step before, else 0.
        padding: samples without an id; they give 0 and touch no row.
        ulps: how far all this is from the state after the step, in units in the last place; None
            without that state.

    Not in TensorFlow.

    >>> table, zero = Table("t", 4, 1), np.zeros(1, np.float32)
    >>> print(Explanation(table, 3, "never looked up", table.rule, zero, zero, {}, {}).headline[:60])
    Row 3 of table 't' did not move: no id of the step names it.
    """

    table: Table
    row: int
    cause: Cause
    rule: Rule
    weights_before: np.ndarray
    weights_after: np.ndarray
    slots_before: Mapping[str, np.ndarray]
    slots_after: Mapping[str, np.ndarray]
    contributions: tuple[Contribution, ...] = ()
    core_sums: Mapping[int, np.ndarray] = dataclasses.field(default_factory=dict)
    runs: tuple[RuleRun, ...] = ()
    learning_rate: float = float("nan")
    rate_source: str = "none"
    left_out: tuple[GivenId, ...] = ()
    steps_late: int = 0
    padding: int = 0
    ulps: int | None = None

    @property
    def moved(self) -> bool:
        """Tell whether a weight of the row has changed."""
        return not np.array_equal(self.weights_before, self.weights_after, equal_nan=True)

    def __str__(self) -> str:
        return "\n".join([self.headline, *(f"  {line}" for line in self._lines())])

    @property
    def headline(self) -> str:
        """The answer in one sentence or two."""
        row, name = f"row {self.row} of table {self.table.name!r}", type(self.rule).__name__
        lookups, cores = len(self.contributions), len(self.core_sums)
        if self.cause == "looked up":
            times = numbers.counted(lookups, "lookup") if lookups else "lookups that were not kept"
            verb = "moved" if self.moved else "was touched, but did not move"
            nothing = all(not run.gradient.any() for run in self.runs)
            zero = "; its gradients sum to 0, and the rule runs all the same" if nothing else ""
            return f"{row.capitalize()} {verb}: {times} on {numbers.counted(cores, 'core')}{zero}."
        return {
            "not lazy": f"Nobody looked {row} up, but {name} is not lazy here: it runs on every "
            "row, on this one with a gradient of 0, and the row "
            f"{'moved' if self.moved else 'did not move'}.",
            "never looked up": f"{row.capitalize()} did not move: no id of the step names it. "
            f"{name} is lazy, so rows that nobody looks up "
            "keep their weights and slots.",
            "truncated": f"{row.capitalize()} did not move: its ids stand past the end of their "
            "sequences and were cut off.",
            "dropped": f"{row.capitalize()} did not move: what would have touched it was dropped.",
            "not yet": f"{row.capitalize()} did not move: lookups run one update ahead, and there "
            "is no earlier step whose gradients could be applied.",
        }[self.cause]

    def _lines(self) -> Iterator[str]:
        if self.steps_late and self.runs:
            yield (
                "The plan is pipelined: these are the gradients of the step before; those of this "
                "step come next."
            )
        for one in self.contributions[:SHOWN]:
            yield (
                f"{_where(one)}: {_origin(one, self.row)}; {vector(one.gradient)} * gain = "
                f"{vector(one.product)}"
            )
        if (more := len(self.contributions) - SHOWN) > 0:
            yield f"... and {more} more"
        for out in self.left_out[:SHOWN]:
            yield (
                f"{out.fate}: core {out.core}, feature {out.feature!r}, "
                f"sample {out.sample}, id {out.id}"
            )
        if self.padding and not self.contributions:
            yield (
                f"{numbers.counted(self.padding, 'sample')} without an id: padding gives 0 and "
                "touches no row."
            )
        yield from (f"{name}: {value}" for name, value in self.numbers())
        if self.ulps is not None:
            yield (
                "The table after the step says "
                f"{'the same to the last bit' if not self.ulps else _off(self.ulps)}."
            )

    def numbers(self) -> Iterator[tuple[str, str]]:
        """Yield the stages of the sum, step by step, as names and values."""
        if not self.runs:
            yield "weights", vector(self.weights_before)
            return
        if len(self.core_sums) > 1:
            yield from ((f"sum of core {core}", vector(x)) for core, x in self.core_sums.items())
        yield "learning rate", f"{self.learning_rate:.7g} ({self.rate_source})"
        slots, weights = self.slots_before, self.weights_before
        for k, run in enumerate(self.runs[:SHOWN]):
            which = f" {k + 1} of {len(self.runs)}" if len(self.runs) > 1 else ""
            yield f"gradient{which}", vector(run.total)
            if run.clipped:
                yield f"clipped to {_limits(self.table.gradient_limits)}", vector(run.gradient)
            if run.decay.any():
                yield "weight decay takes", vector(run.decay)
            for name, x in run.slots.items():
                yield f"slot {name}", f"{vector(slots[name])} -> {vector(x)}"
            yield "weights", f"{vector(weights)} -> {vector(run.free)}"
            if run.limited:
                yield f"clipped to {_limits(self.table.weight_limits)}", vector(run.weights)
            slots, weights = run.slots, run.weights

    def _repr_html_(self) -> str:
        head = [
            "core",
            "feature",
            "sample",
            "position",
            "id",
            "weight",
            "gain",
            "gradient",
            "gain * gradient",
        ]
        body = [
            (
                c.core,
                c.feature,
                c.sample,
                _or_unknown(c.position),
                _or_unknown(c.given_id),
                _or_unknown(c.given_weight),
                number(c.gain),
                vector(c.gradient),
                vector(c.product),
            )
            for c in self.contributions[:SHOWN]
        ]
        lookups = html_table("Lookups of the row", head, body) if body else ""
        return html_table(self.headline, ["what", "numbers"], list(self.numbers())) + lookups


def number(x: Any) -> str:
    """Return a number in six digits."""
    return numbers.number(float(x), 6)


def vector(x: np.ndarray) -> str:
    """Return a vector in brackets, the first numbers of a long one."""
    shown = " ".join(number(v) for v in x[:NUMBERS])
    return f"[{shown}]" if x.size <= NUMBERS else f"[{shown} ... {x.size} numbers]"


def _where(one: Contribution) -> str:
    position = "" if one.position is None else f", position {one.position}"
    return f"core {one.core}, feature {one.feature!r}, sample {one.sample}{position}"


def _origin(one: Contribution, row: int) -> str:
    joined = f", {one.joined} equal ids joined" if one.joined > 1 else ""
    weight = "" if one.given_weight is None else f", weight {number(one.given_weight)}"
    if one.given_id is None:
        return f"gain {number(one.gain)}"
    moved = "" if one.given_id == row else f" (outside the table; the policy made row {row} of it)"
    return f"id {one.given_id}{moved}{weight}{joined}, gain {number(one.gain)}"


def _off(ulps: int) -> str:
    return f"the same within {numbers.counted(ulps, 'unit')} in the last place"


def _limits(limits: tuple[float | None, float | None]) -> str:
    return " to ".join("no limit" if x is None else number(x) for x in limits)


def _or_unknown(x: Any) -> Any:
    return "?" if x is None else number(x) if isinstance(x, float) else x

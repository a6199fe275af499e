"""A record of one step of embedding tables, which `explain` reads: the state, and what was sent to the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .batch import Batch, Cores, PlacedBatch, make_classic_batch
from .ids import Ids
from .plan import Plan
from .state import State


@dataclass(frozen=True, eq=False)
class Sent:
    """The data that a step sends to the tables: gradients, rates, and the ids they are for.

    Not in TensorFlow.

    Args:
        gradients: for each feature an array like its activations.
        learning_rates: a scalar for each tag.
        ids: for each core the ids by feature name, as `make_batch` takes them.
        batch: what was made of them. Without it `make_batch` does; without ids nobody can say what
            was given.

    Raises:
        ValueError: neither ids nor a batch.

    >>> Sent([], batch=Batch(())).learning_rates
    ()
    """

    gradients: Sequence[Any]
    learning_rates: Sequence[Any] = ()
    ids: Cores | None = None
    batch: Batch | PlacedBatch | None = None

    def __post_init__(self) -> None:
        if self.ids is None and self.batch is None:
            raise ValueError("give the ids of the step, or the batch made of them")

    def lookups(self, plan: Plan) -> Batch | PlacedBatch:
        """Return the batch, made of the ids if it is not there."""
        return make_classic_batch(plan, self.cores()) if self.batch is None else self.batch

    def cores(self) -> list[Mapping[str, Ids]]:
        """Return the ids of each core; none where they were not kept."""
        if self.ids is None:
            return []
        return [self.ids] if isinstance(self.ids, Mapping) else list(self.ids)


@dataclass(frozen=True, eq=False)
class StepRecord:
    """One step: the state before, what was sent, and the state after if it is kept.

    Not in TensorFlow.

    Args:
        before: the state that `lookup` and `update` got.
        sent: what the step sent.
        after: the state that `update` gave.
        late: in a pipelined plan, what the step before sent: that is what moves rows now.

    >>> from gradlab.tpu import Feature, Plan, Table, create
    >>> plan = Plan((Table("t", 4, 1),), (Feature("f", 0, (1,)),))
    >>> StepRecord(create(plan, [[[0.0]] * 4]), Sent([[[1.0]]], ids={"f": Ids([0], [2])})).applied.learning_rates
    ()
    """

    before: State
    sent: Sent
    after: State | None = None
    late: Sent | None = None

    @property
    def plan(self) -> Plan:
        """The plan of the step."""
        return self.before.plan

    @property
    def applied(self) -> Sent | None:
        """The gradients that moved rows in this step; None for the first step of a pipelined plan."""
        return self.late if self.plan.pipelined else self.sent

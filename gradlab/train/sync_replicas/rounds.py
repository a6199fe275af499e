"""Rounds: whose gradients an update is the mean of.

No lock, no clock: everything that decides it is here.

A push goes to the accumulators of all variables, a sync takes from all of them; so they always
agree on the count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..._base.arrays import Array
from ..._base.gradient_types import Gradient
from ..._base.slices import IndexedSlices
from ..accumulators import (
    ConditionalAccumulator,
    Receipt,
    SparseConditionalAccumulator,
    SparseGradient,
)
from ..variable import Variable
from .tokens import Queued, Worker

Accumulator = ConditionalAccumulator | SparseConditionalAccumulator
Pairs = Sequence[tuple[Gradient, Variable]]


@dataclass(frozen=True)
class Push:
    """The record of a worker's gradients.

    `accepted`: whether they wait to be averaged, or came too late and were dropped; `receipts` has
    each variable's.
    `token`: the step the worker was given afterwards, if it waited for one.
    """

    worker: Worker
    local_step: int
    accepted: bool
    receipts: Mapping[str, Receipt] = field(repr=False)
    token: int | None = None


@dataclass(frozen=True)
class Update:
    """One update: the global step after it, whose gradients it is the mean of, and whose were dropped since the last.

    A worker that pushed twice is there twice.
    """

    step: int
    contributors: tuple[Worker, ...]
    dropped: tuple[Worker, ...]


class Sync(Queued):
    """One take of all accumulators; `done` once `replicas_to_aggregate` gradients have come."""

    def __init__(self, takers: dict[Variable, Any]) -> None:
        super().__init__()
        self.takers = takers
        self.contributors: tuple[Worker, ...] = ()
        self.dropped: tuple[Worker, ...] = ()

    @property
    def done(self) -> bool:
        return all(taker.done for taker in self.takers.values())

    def pairs(self) -> Pairs:
        """The mean gradients, for an optimizer."""
        return [(_gradient(taker.result(timeout=0), v), v) for v, taker in self.takers.items()]


class Rounds:
    """The accumulators of the variables and who has pushed to them since the last take."""

    def __init__(self, sparse: Mapping[Variable, bool], needs: int, step: int) -> None:
        self.sparse, self.needs = sparse, needs
        self.accumulators = {v: _accumulator(v, is_sparse) for v, is_sparse in sparse.items()}
        self.contributors: list[Worker] = []
        self.dropped: list[Worker] = []
        self.waiting: list[Sync] = []
        self.served: list[Sync] = []  # whose gradients are taken and not applied yet
        self.abandoned: list[Sync] = []  # those of them that nobody works on
        self.set_global_step(step)

    def set_global_step(self, step: int) -> None:
        for accumulator in self.accumulators.values():
            accumulator.set_global_step(step)

    def push(self, pairs: Pairs, worker: Worker, local_step: int) -> Push:
        """Hand in gradients computed at `local_step`, one for each variable."""
        receipts = {v.name: _apply(self.accumulators[v], g, local_step) for g, v in pairs}
        accepted = all(receipt.accepted for receipt in receipts.values())
        (self.contributors if accepted else self.dropped).append(worker)
        self._serve_first()
        return Push(worker, local_step, accepted, receipts)

    def request(self) -> Sync:
        """Join the queue of syncs; done at once if enough gradients are there, or if they were left behind."""
        if self.abandoned:
            return self.abandoned.pop(0)
        sync = Sync(
            {v: accumulator.request(self.needs) for v, accumulator in self.accumulators.items()}
        )
        self.waiting.append(sync)
        self._serve_first()
        return sync

    def cancel(self, sync: Sync) -> None:
        """Leave the queue; if it is too late for that, the gradients are for the next who asks."""
        if sync in self.served and sync not in self.abandoned:
            self.abandoned.append(sync)
        elif sync in self.waiting:
            self.waiting.remove(sync)
            for taker in sync.takers.values():
                taker.cancel()

    def _serve_first(self) -> None:
        """The first sync of the queue, if it is done, takes the workers of the round along with
        their gradients.
        """
        if self.waiting and self.waiting[0].done:
            sync = self.waiting.pop(0)
            self.served.append(sync)
            sync.contributors, sync.dropped = tuple(self.contributors), tuple(self.dropped)
            self.contributors, self.dropped = [], []


def _accumulator(v: Variable, sparse: bool) -> Accumulator:
    """Make accumulators like TensorFlow: rows were compared with the variable's shape already."""
    return (
        SparseConditionalAccumulator(v.dtype)
        if sparse
        else ConditionalAccumulator(v.dtype, v.shape)
    )


def _apply(accumulator: Accumulator, g: Gradient, local_step: int) -> Receipt:
    if isinstance(accumulator, SparseConditionalAccumulator):
        assert isinstance(g, IndexedSlices)
        return accumulator.apply_grad(g.indices, g.values, local_step=local_step)
    return accumulator.apply_grad(g, local_step)


def _gradient(mean: Any, v: Variable) -> Array | IndexedSlices:
    return (
        IndexedSlices(mean.values, mean.indices, v.shape)
        if isinstance(mean, SparseGradient)
        else mean
    )

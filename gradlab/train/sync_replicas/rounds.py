"""Rounds: the accumulators of all variables, and the workers whose gradients are in them.

A push adds a gradient to every accumulator and a sync takes from every one, so all of them always
have the same count, and one list of contributors is that of each. There are no locks and clocks
here: `Exchange` calls `Rounds` under its lock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..._base.gradient_types import Gradient
from ..._base.slices import IndexedSlices
from ..accumulators import (
    ConditionalAccumulator,
    Receipt,
    SparseConditionalAccumulator,
    SparseGradient,
)
from ..variable import Variable
from .tokens import Request, Worker

Accumulator = ConditionalAccumulator | SparseConditionalAccumulator
Pairs = Sequence[tuple[Gradient, Variable]]


@dataclass(frozen=True)
class Push:
    """The verdict on a worker's gradients.

    `accepted` is False if they were stale and dropped; `receipts` has the verdict of each
    variable's accumulator. `token` is the step that the worker got afterwards, if it waited for
    one.
    """

    worker: Worker
    local_step: int
    accepted: bool
    receipts: Mapping[str, Receipt] = field(repr=False)
    token: int | None = None


@dataclass(frozen=True)
class Update:
    """One update of the weights.

    `step` is the global step after it, `contributors` the workers of whose gradients it is the
    mean, and `dropped` those whose gradients were dropped since the update before. A worker that
    pushed twice is listed twice.
    """

    step: int
    contributors: tuple[Worker, ...]
    dropped: tuple[Worker, ...]


class Sync(Request):
    """One take from all accumulators; `done` once `replicas_to_aggregate` gradients have come."""

    def __init__(self, takers: dict[Variable, Any]) -> None:
        super().__init__()
        self.takers = takers
        self.contributors: tuple[Worker, ...] = ()
        self.dropped: tuple[Worker, ...] = ()

    @property
    def done(self) -> bool:
        return all(taker.done for taker in self.takers.values())

    def pairs(self) -> Pairs:
        """Return (mean gradient, variable) pairs, for an optimizer."""
        pairs: list[tuple[Gradient, Variable]] = []
        for v, taker in self.takers.items():
            mean = taker.result(timeout=0)
            if isinstance(mean, SparseGradient):
                mean = IndexedSlices(mean.values, mean.indices, v.shape)
            pairs.append((mean, v))
        return pairs


class Rounds:
    """The accumulators of the variables, and the workers that pushed since the last take.

    Args:
        sparse: whether the gradient of each variable is IndexedSlices.
        needs: the number of gradients of an update.
        step: the global step to start with.
    """

    def __init__(self, sparse: Mapping[Variable, bool], needs: int, step: int) -> None:
        self.sparse = sparse
        self.needs = needs
        self.accumulators = {v: _make_accumulator(v, is_sparse) for v, is_sparse in sparse.items()}
        self.contributors: list[Worker] = []
        self.dropped: list[Worker] = []
        self.waiting: list[Sync] = []
        self.served: list[Sync] = []  # their gradients are taken and not applied yet
        self.abandoned: list[
            Sync
        ] = []  # those of `served` that were canceled, for the next request
        self.set_global_step(step)

    def set_global_step(self, step: int) -> None:
        for accumulator in self.accumulators.values():
            accumulator.set_global_step(step)

    def push(self, pairs: Pairs, worker: Worker, local_step: int) -> Push:
        """Add gradients computed at `local_step`, one for each variable, or drop them."""
        receipts = {v.name: _apply(self.accumulators[v], g, local_step) for g, v in pairs}
        accepted = all(receipt.accepted for receipt in receipts.values())
        (self.contributors if accepted else self.dropped).append(worker)
        self._serve_first()
        return Push(worker, local_step, accepted, receipts)

    def request(self) -> Sync:
        """Join the queue of syncs; done at once if gradients suffice or a sync was abandoned."""
        if self.abandoned:
            return self.abandoned.pop(0)
        sync = Sync(
            {v: accumulator.request(self.needs) for v, accumulator in self.accumulators.items()}
        )
        self.waiting.append(sync)
        self._serve_first()
        return sync

    def cancel(self, sync: Sync) -> None:
        """Withdraw a sync; if it was served already, the next request gets its gradients."""
        if sync in self.served and sync not in self.abandoned:
            self.abandoned.append(sync)
        elif sync in self.waiting:
            self.waiting.remove(sync)
            for taker in sync.takers.values():
                taker.cancel()

    def _serve_first(self) -> None:
        """Give the first sync of the queue, if it is done, the workers of its round."""
        if self.waiting and self.waiting[0].done:
            sync = self.waiting.pop(0)
            self.served.append(sync)
            sync.contributors = tuple(self.contributors)
            sync.dropped = tuple(self.dropped)
            self.contributors = []
            self.dropped = []


def _make_accumulator(v: Variable, is_sparse: bool) -> Accumulator:
    if is_sparse:
        # Without a shape, as in TensorFlow: rows were compared with the variable's already.
        return SparseConditionalAccumulator(v.dtype)
    return ConditionalAccumulator(v.dtype, v.shape)


def _apply(accumulator: Accumulator, g: Gradient, local_step: int) -> Receipt:
    if isinstance(accumulator, SparseConditionalAccumulator):
        assert isinstance(g, IndexedSlices)
        return accumulator.apply_grad(g.indices, g.values, local_step=local_step)
    return accumulator.apply_grad(g, local_step)

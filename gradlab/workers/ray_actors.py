"""The processes of a run on Ray: workers, the server, and the shards of embedding tables.

A worker asks the server for its moves, one request at a time; the server makes each request once
and logs it (see `logged_server`). Weights and gradients go from process to process, not through the
process that called `run`.

With a log, Ray restarts a server or shard that dies and sends the calls under way again. The new
server reads the log; a shard reads there the requests that it has not seen. Both then have the
state that was lost, bit for bit.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DeadlockError  # its public module has to be loaded where one is unpickled
from .experiment import Experiment, worker_pieces
from .ledger import CHECK, JOIN, LEAVE, READ
from .logged_server import LoggedServer, read_requests
from .rows import join_rows, split_gradient, split_ids
from .server import Gradient, Server, Weights
from .table_shard import ShardedLedger, TableShard
from .trace import Trace

Handle = Any  # ray.actor.ActorHandle
Ref = Any  # ray.ObjectRef
MOST_DEATHS = 5  # of one worker without a gradient in between


class WorkerActor:
    """Computes the gradients of one worker, and asks the server for its moves."""

    def __init__(self, experiment: Experiment, worker: int, tick: float, has_shards: bool) -> None:
        self.experiment = experiment
        self.worker = worker
        self.tick = tick
        self.has_shards = has_shards

    def ready(self) -> None:
        """Return once the process is up."""

    def run(self, server: Handle) -> None:
        """Compute until the run is over, or until the worker leaves for good."""
        import ray

        joined = ray.get(server.join.remote(self.worker))
        if joined is None:
            return
        sequence, number = joined
        # A death costs the worker the number of its gradient, so a run may need this many numbers.
        ticks = self.experiment.ticks(MOST_DEATHS * self.experiment.ticks().shape[1])[self.worker]
        weights: Mapping[str, Any] = {}
        life = worker_pieces(self.experiment, self.worker, ticks, number)
        for piece in life:
            due = time.monotonic() + piece.ticks * self.tick
            payload: Any = None
            if CHECK in piece.moves:
                payload = self.experiment.gradient(weights, self.worker, number)
            elif READ in piece.moves and self.has_shards:
                payload = self._read_ids(number)
            time.sleep(max(0.0, due - time.monotonic()))
            sequence += 1
            answer = self._ask(server, sequence, piece.moves, payload)
            if answer is None:
                return
            number = answer[0]
            if READ in piece.moves:
                weights = self._join(payload, answer[1]) if self.has_shards else answer[1]
            if LEAVE in piece.moves:
                pause = next(life, None)
                if pause is None:
                    return
                time.sleep(pause.ticks * self.tick)
                ray.actor.exit_actor()  # a new process takes the worker's place, and joins
        raise RuntimeError(
            f"worker {self.worker} died so often that its {len(ticks)} gradients are used up"
        )

    def _ask(
        self, server: Handle, sequence: int, moves: tuple[int, ...], payload: Any
    ) -> tuple[int, Any] | None:
        """Send a request; return the number of the next gradient, and what was read."""
        import ray

        while True:
            answer: tuple[int, Any] | None = ray.get(
                server.ask.remote(self.worker, sequence, moves, payload)
            )
            if answer is None or not (self.has_shards and READ in moves):
                return answer
            number, refs = answer
            try:
                return number, ray.get(refs)
            except ray.exceptions.ObjectLostError:
                # References die with the server that made them. The next one answers the request
                # again.
                continue

    def _read_ids(self, number: int) -> dict[str, np.ndarray]:
        """The ids of the rows that a batch reads, by table."""
        problem: Any = self.experiment.problem
        ids: dict[str, np.ndarray] = problem.rows(self.experiment.rng(self.worker, number))
        return ids

    def _join(
        self, ids_by_table: Mapping[str, np.ndarray], parts: list[Mapping[str, Any]]
    ) -> dict[str, Any]:
        """The weights of which the shards sent their rows."""
        weights: dict[str, Any] = dict(parts[0])
        for name, ids in ids_by_table.items():
            weights[name] = join_rows(ids, [part[name] for part in parts])
        return weights


class ServerActor:
    """Makes the requests of all workers in one order.

    Its methods are coroutines: a worker that has to wait holds up no other one. `changed` is held
    during a request, so that one is made at a time.
    """

    def __init__(
        self, experiment: Experiment, log: Path | None, sync: bool, shards: list[Handle]
    ) -> None:
        self.experiment = experiment
        self.log = log
        self.sync = sync
        self.shards = shards
        self.changed = asyncio.Condition()
        self.waiting: set[int] = set()  # workers that may not read yet
        self.deaths = [0] * experiment.workers  # since the last gradient of each

    @cached_property
    def server(self) -> LoggedServer:
        """Opened by the first call and not in `__init__`, whose errors Ray would not pass on as they are."""
        server = ShardedLedger(self.experiment) if self.shards else Server(self.experiment)
        return LoggedServer(self.experiment, self.log, self.sync, server)

    async def begin(self) -> None:
        """Have all workers leave that are alive in the log: their processes belong to an earlier run."""
        async with self.changed:
            for worker, sequence in enumerate(self.server.sequences):
                if sequence > 0:
                    await self._leave(worker)

    async def leave(self, worker: int) -> None:
        """Note that a worker's process died."""
        async with self.changed:
            self.deaths[worker] += 1
            if self.deaths[worker] == MOST_DEATHS:
                raise RuntimeError(
                    f"worker {worker} died {MOST_DEATHS} times in a row without a gradient"
                )
            await self._leave(worker)
            self.waiting.discard(worker)
            self.changed.notify_all()

    async def join(self, worker: int) -> tuple[int, int] | None:
        """Let a new process take a worker's place.

        Returns:
            The number of the worker's last request, and of its next gradient; None if it has left
            for good.
        """
        async with self.changed:
            if self._has_left_for_good(worker):
                return None
            ledger = self.server.ledger
            if worker not in ledger.alive:
                await self._make(worker, self.server.sequences[worker] + 1, (JOIN,))
            return self.server.sequences[worker], ledger.clock[worker]

    async def ask(
        self, worker: int, sequence: int, moves: tuple[int, ...], payload: Gradient | None = None
    ) -> tuple[int, Any] | None:
        """Make a request as soon as the policy allows it.

        Returns:
            The number of the worker's next gradient, and what it read: weights, or references to
            the rows of each shard. None: the run is over.
        """
        async with self.changed:
            while not await self._make(worker, sequence, moves, payload):
                if self.server.is_done:
                    return None
                if worker not in self.waiting:
                    self.waiting.add(worker)
                    self.changed.notify_all()  # `trace` looks for a deadlock
                await self.changed.wait()
            self.waiting.discard(worker)
            if CHECK in moves:
                self.deaths[worker] = 0
            self.changed.notify_all()
            server = self.server.server
            number = server.ledger.clock[worker]
            if READ not in moves:
                return number, None
            if isinstance(server, Server):
                return number, server.held(worker)
            return number, self._send_to_shards(worker, moves, payload or {})

    async def trace(self) -> tuple[Trace, list[Ref]]:
        """Wait for the end of the run.

        Returns:
            The trace, and references to the weights of each shard.

        Raises:
            DeadlockError: no worker can go on.
        """
        async with self.changed:
            await self.changed.wait_for(lambda: self.server.is_done or self._is_stuck())
            if not self.server.is_done:
                error: DeadlockError = self.server.ledger.deadlock_error(self.waiting)
                raise error
            weights = [shard.weights.remote(self.server.num_requests) for shard in self.shards]
            return self.server.trace("ray"), weights

    async def _make(
        self, worker: int, sequence: int, moves: tuple[int, ...], payload: Gradient | None = None
    ) -> bool:
        is_made = self.server.ask(worker, sequence, moves, payload)
        if is_made and self.shards and READ not in moves:
            await asyncio.gather(*self._send_to_shards(worker, moves, payload or {}))
        return is_made

    async def _leave(self, worker: int) -> None:
        if worker in self.server.ledger.alive:
            await self._make(worker, self.server.sequences[worker] + 1, (LEAVE,))

    def _send_to_shards(self, worker: int, moves: tuple[int, ...], payload: Gradient) -> list[Ref]:
        position = self.server.positions[worker]
        parts = split_payload(moves, payload, len(self.shards))
        return [
            shard.make.remote(position, worker, moves, part)
            for shard, part in zip(self.shards, parts, strict=True)
        ]

    def _has_left_for_good(self, worker: int) -> bool:
        ledger = self.server.ledger
        if worker in ledger.alive:
            return False
        # The number of the gradient that was lost when the worker left.
        lost = ledger.clock[worker] - 1
        crashes = self.experiment.speeds.crashes
        return any(
            crash.worker == worker and crash.number == lost and crash.after is None
            for crash in crashes
        )

    def _is_stuck(self) -> bool:
        """Whether all workers that have not left for good wait, and none of them may read."""
        ledger = self.server.ledger
        workers = {k for k in range(self.experiment.workers) if not self._has_left_for_good(k)}
        return workers <= self.waiting and not any(ledger.may_read(k) for k in workers)


class ShardActor:
    """Holds the rows of one shard."""

    def __init__(self, experiment: Experiment, index: int, count: int, log: Path | None) -> None:
        self.experiment = experiment
        self.shard = TableShard(experiment, index, count)
        self.log = log
        self.num_requests = 0  # made so far

    def make(
        self, position: int, worker: int, moves: tuple[int, ...], part: Gradient
    ) -> Mapping[str, Any] | None:
        """Make request number `position` of the run, unless it was made; return the rows that it reads."""
        self._catch_up(position - 1)
        if self.num_requests < position:
            self._handle(worker, moves, part)
        return self.shard.held(worker) if READ in moves else None

    def weights(self, position: int) -> Weights:
        """The rows after the first `position` requests."""
        self._catch_up(position)
        return dict(self.shard.weights)

    def _catch_up(self, position: int) -> None:
        """Make the requests up to `position` that this process has not seen, from the log."""
        if self.num_requests >= position:
            return
        assert self.log is not None  # without a log no shard is restarted
        shapes = ShardedLedger(self.experiment).shapes
        for request in islice(read_requests(self.log, shapes), self.num_requests, position):
            parts = split_payload(request.moves, request.payload, self.shard.count)
            self._handle(request.worker, request.moves, parts[self.shard.index])

    def _handle(self, worker: int, moves: tuple[int, ...], part: Gradient) -> None:
        for move in moves:
            self.shard.handle(move, worker, 0, part if move in (CHECK, READ) else None)
        self.num_requests += 1


def split_payload(moves: tuple[int, ...], payload: Gradient, shards: int) -> list[dict[str, Any]]:
    """Divide the gradient of a check, or the ids of a read, among shards."""
    return split_ids(payload, shards) if READ in moves else split_gradient(payload, shards)

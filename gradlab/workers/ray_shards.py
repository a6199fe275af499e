"""Tables over Ray's actors: each shard has its rows, workers read and send the rows of their batch alone.

One request is under way at a time, to all shards at once, so that all hear all of them in one order and agree on what
is accepted; gradients are computed side by side. A request counts once every shard has it in its log. One that some
have and others have not is finished after any death: what goes with it can be computed again, to the same bits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._base.arrays import Array
from .._base.slices import IndexedSlices
from ..errors import InvalidArgumentError
from .checks import whole as check_whole
from .durable import Answer, Durable
from .experiment import Experiment, Piece
from .ledger import CHECK, READ
from .ray_driver import PATIENCE, Driver, Ref, ServerActor, ServerProcess, WorkerActor
from .rows import dealt, dealt_ids, joined, whole
from .shard import Shard
from .trace import Trace

Made = Callable[[], list[Ref]]  # makes what goes with a request: a part for each shard


class ShardActor(ServerActor):
    """A `Durable` with a `Shard`."""

    def open(self, experiment: Experiment, path: Path | None, sync: bool, index: int = 0, count: int = 1) -> list[int]:
        """Begin, or go on where the log ends; the last request of each worker."""
        self.server = Durable(experiment, path, sync, Shard(experiment, index, count))
        return self.server.serials

    def step(self) -> int:
        return self.server.server.step

    def held(self, worker: int) -> Mapping[str, Array]:
        """The rows that a worker read last, again."""
        return self.server.held(worker)

    def last(self, worker: int) -> tuple[tuple[int, ...], int]:
        """The moves of the worker's last request, and the number of its gradient then."""
        return self.server.last(worker)


class RowsActor(WorkerActor):
    """Says which rows a batch reads, and computes their gradient."""

    def wanted(self, worker: int, number: int, shards: int) -> tuple[Any, ...]:
        """Something small to wait for; the rows to read of each shard, by table."""
        ids = self._ids(worker, number)
        parts = {name: list(dealt_ids(x, shards)) for name, x in ids.items()}
        return None, *({name: x[shard] for name, x in parts.items()} for shard in range(shards))

    def row_gradient(self, worker: int, number: int, seconds: float, *read: Mapping[str, Array]) -> tuple[Any, ...]:
        """Something small to wait for; the gradient for each shard, of the rows that the shards gave."""
        until = time.monotonic() + seconds
        weights: dict[str, Any] = dict(read[0])
        for name, ids in self._ids(worker, number).items():
            weights[name] = joined(ids, [part[name] for part in read])
        found = self.experiment.gradient(weights, worker, number)
        parts: list[dict[str, Any]] = [{} for _ in read]
        for name, g in found.items():
            if isinstance(g, IndexedSlices):
                for part, own in zip(parts, dealt(g, len(read)), strict=True):
                    part[name] = own
            else:
                parts[0][name] = g
        time.sleep(max(0.0, until - time.monotonic()))
        return None, *parts

    def _ids(self, worker: int, number: int) -> dict[str, np.ndarray]:
        problem: Any = self.experiment.problem
        ids: dict[str, np.ndarray] = problem.rows(self.experiment.rng(worker, number))
        return ids


class Shards(ServerProcess):
    """The actors of all shards. What one can answer for all, the first does."""

    def __init__(self, parts: list[ServerProcess]) -> None:
        self.parts, self.log = parts, parts[0].log

    @property
    def actor(self) -> Any:
        return self.parts[0].actor

    @property
    def falls(self) -> int:
        return max(part.falls for part in self.parts)

    @falls.setter
    def falls(self, count: int) -> None:
        for part in self.parts:
            part.falls = count

    def open(self, timeout: float | None) -> list[int]:
        """The last request of each worker that all shards have."""
        serials = [part.open(timeout) for part in self.parts]
        return [min(each) for each in zip(*serials, strict=True)]

    def reopen(self, death: Exception, answered: list[int], timeout: float | None) -> None:
        self.parts[0].reopen(death, answered, timeout)

    def kill(self) -> None:
        for part in self.parts:
            part.kill()


class ShardedDriver(Driver):
    """A `Driver` whose server is dealt out: row r of each table is on shard r % shards.

    Args:
        shards: how many; all other weights are on the first.
        shard_options: Ray's options of a shard's actor, as `{"memory": 8e9}`. Shards are spread over the nodes.
        log: each shard has its own, beside this path: NAME.0-of-2, NAME.1-of-2.

    For the rest see `Driver`. A shard that dies is started again where it was, on whatever node there is.
    """

    server_class: type[ShardActor] = ShardActor
    worker_class: type[RowsActor] = RowsActor
    server: Shards

    def __init__(
        self, ray: Any, experiment: Experiment, *, shards: int, shard_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:  # fmt: skip
        check_whole("shards", shards, 1)
        if not hasattr(experiment.problem, "rows"):
            raise InvalidArgumentError(
                "shards= is for tables: the problem says which rows a batch reads, as Tables does"
            )
        self.shards, self.shard_options = shards, {"scheduling_strategy": "SPREAD"} | dict(shard_options or {})
        self.made_by: dict[int, Made] = {}  # how to make again what a worker's request brings along
        super().__init__(ray, experiment, **options)

    def _new_server(self, sync: bool) -> Shards:
        return Shards([self._new_part(index, sync) for index in range(self.shards)])

    def _new_part(self, index: int, sync: bool) -> ServerProcess:
        part = index, self.shards
        log = None if self.log is None else self.log.with_name(f"{self.log.name}.{index}-of-{self.shards}")
        return ServerProcess(self.ray, self.server_class, self.shipped, log, sync, part, self.shard_options)

    def _open(self) -> None:
        """Finish the request that some shards have in their logs and others have not, if there is one."""
        super()._open()
        ahead = [(k, part) for part in self.server.parts for k, n in enumerate(part.serials) if n > self.serials[k]]
        if any((k, part.serials[k]) != (ahead[0][0], self.serials[k] + 1) for k, part in ahead):
            raise RuntimeError(f"the logs beside {self.log} are not of one run, or some of them lack what others have")
        if ahead:
            k, part = ahead[0]
            moves, number = self.ray.get(part.actor.last.remote(k), timeout=self._left())
            self._bring(k, moves, number)
            self._make(k, self.serials[k] + 1, moves, self._given(k) if k in self.made_by else None)
            self.serials[k] += 1

    def _trace(self) -> Trace:
        parts = [self._of(part, "trace") for part in self.server.parts]
        weights = dict(parts[0].weights)
        for table in self.experiment.problem.plan.tables:  # type: ignore[attr-defined]
            weights[table.name] = whole([part.weights[table.name] for part in parts])
        first = parts[0]
        return Trace(self.experiment, first.engine, first.unit, first.moves, first.times, first.rounds, weights)

    def _work(self, k: int, piece: Piece, number: int, weights: Any) -> Generator[Ref, Any, Any]:
        """The parts that go with the moves: rows that are wanted, or gradients of the rows that were read."""
        actor, seconds = self._actor(k), piece.ticks * self.tick
        self._bring(k, piece.moves, number)
        if CHECK in piece.moves:
            done, *parts = self._row_gradient(actor, k, number, seconds, weights)
        elif READ in piece.moves:
            done, *parts = self._wanted(actor, k, number)
        else:
            return (yield from super()._work(k, piece, number, weights))
        yield done
        return parts

    def _bring(self, k: int, moves: tuple[int, ...], number: int) -> None:
        """Note how to make again what a request with these moves brings along."""
        self.made_by.pop(k, None)
        if CHECK in moves:
            self.made_by[k] = lambda: self._row_gradient(self._actor(k), k, number, 0.0, self._read_again(k))
        elif READ in moves:
            self.made_by[k] = lambda: self._wanted(self._actor(k), k, number)

    def _wanted(self, actor: Any, k: int, number: int) -> list[Ref]:
        return list(actor.wanted.options(num_returns=1 + self.shards).remote(k, number, self.shards))

    def _row_gradient(self, actor: Any, k: int, number: int, seconds: float, weights: list[Ref]) -> list[Ref]:
        call = actor.row_gradient.options(num_returns=1 + self.shards)
        return list(call.remote(k, number, seconds, *weights))

    def _read_again(self, k: int) -> list[Ref]:
        """The rows that the worker read last, which its shards still hold."""
        return [part.actor.held.remote(k) for part in self.server.parts]

    def _told(
        self, k: int, serial: int, moves: tuple[int, ...], given: list[Ref] | None
    ) -> Generator[Ref, Any, tuple[Answer, list[Ref]]]:
        return self._make(k, serial, moves, given)
        yield  # a generator that never waits: no other request comes between

    def _make(self, k: int, serial: int, moves: tuple[int, ...], given: list[Ref] | None) -> tuple[Answer, list[Ref]]:
        """Ask all shards, and those again that died or whose part was lost."""
        answers: dict[int, tuple[Answer, Ref]] = {}
        while len(answers) < self.shards:
            left = [index for index in range(self.shards) if index not in answers]
            asked = {index: self._asked(index, k, serial, moves, given) for index in left}
            for index, (told, read) in asked.items():
                try:
                    answers[index] = self.ray.get(told, timeout=self._left()), read
                except (self.ray.exceptions.RayActorError, self.ray.exceptions.OutOfMemoryError) as death:
                    self.server.parts[index].reopen(death, self.serials, self._left())
                except self.ray.exceptions.ObjectLostError:
                    given = self._given(k)
        first, *others = (answers[index][0] for index in range(self.shards))
        if any(other != first for other in others):
            raise RuntimeError(f"the shards disagree on request {serial} of worker {k}: {first} and {others}")
        return first, [answers[index][1] for index in range(self.shards)]

    def _asked(self, index: int, k: int, serial: int, moves: tuple[int, ...], given: list[Ref] | None) -> list[Ref]:
        call = self.server.parts[index].actor.ask.options(num_returns=2)
        return list(call.remote(k, serial, moves, None if given is None else given[index]))

    def _given(self, k: int) -> list[Ref]:
        """Make again what goes with the worker's request; its gradient has the bits it had."""
        for _ in range(PATIENCE):
            try:
                done, *parts = self.made_by[k]()
                self.ray.get(done, timeout=self._left())
                return parts
            except self.deaths as death:
                last = death
                self._bury(k)
                self._revive()
        raise RuntimeError(f"worker {k} died {PATIENCE} times in a row without a gradient") from last

    def _revive(self) -> None:
        """Have all shards up, whichever of them have died."""
        for part in self.server.parts:
            self._of(part, "step")

    def _of(self, part: ServerProcess, method: str) -> Any:
        """Call a method of a shard and return its result, however often it dies."""
        while True:
            try:
                return self.ray.get(getattr(part.actor, method).remote(), timeout=self._left())
            except self.ray.exceptions.RayActorError as death:
                part.reopen(death, self.serials, self._left())

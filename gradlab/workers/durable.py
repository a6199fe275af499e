"""A server that answers each request once and outlives its process: all it does is in its log before it is answered."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .._base.arrays import Array
from .._base.checked_files import checked
from .._base.growing import GrowingFile
from .experiment import Experiment
from .ledger import CHECK, READ
from .rows import flat, gradients
from .server import Gradient, Server, Weights
from .trace import Trace


class Answer(NamedTuple):
    """The server's answer to a request.

    granted: the moves were made; otherwise the worker has to wait, or the run is over.
    number: of the worker's next gradient. made: moves made so far, by all. done: enough gradients were handed in.
    """

    granted: bool
    number: int
    made: int
    done: bool


class Durable:
    """A `Server` behind requests that are numbered per worker, so that asking twice does nothing twice.

    Args:
        path: of its log; one that is there already is read, and the state is that of the server that wrote it, bit for
            bit. None: no log.
        sync: whether a request is on the disk before it is answered (fsync), and so outlives the machine, too.
        server: that of the whole experiment, if you say nothing.

    The log is a `GrowingFile`, whose key is the worker and the number of the request: it holds each request once, even
    if two servers of one run have it open.

    Raises: ValueError: the log is of another experiment, or a request has the wrong number. DataLossError: the log is
    damaged. FailedPreconditionError: another server has written to the log.

    Source: Ongaro & Ousterhout, "In Search of an Understandable Consensus Algorithm" (2014), section 8, on requests
    that are numbered; Mohan et al., "ARIES" (1992), on logs. Not in TensorFlow, whose parameter servers restart from
    their last checkpoint.

    >>> from gradlab.workers import Bowl, RECORD
    >>> server = Durable(Experiment(Bowl(), workers=1))
    >>> server.ask(0, 1, (READ, RECORD)), server.ask(0, 1, (READ, RECORD)).made
    (Answer(granted=True, number=0, made=2, done=False), 2)
    """

    def __init__(
        self, experiment: Experiment, path: str | Path | None = None, sync: bool = True, server: Server | None = None
    ) -> None:
        self.experiment, self.server = experiment, Server(experiment) if server is None else server
        self.moves: list[tuple[int, int, int]] = []  # move, worker, time
        self.serials = [0] * experiment.workers  # the last request of each
        self._answers: list[Answer | None] = [None] * experiment.workers
        self._last: list[tuple[tuple[int, ...], int]] = [((), 0)] * experiment.workers
        self._began = time.time_ns()
        self._log = None if path is None else GrowingFile(path, sync)
        if self._log is not None:
            try:
                self._recover(self._log)
            except BaseException:
                self._log.close()
                raise

    @property
    def done(self) -> bool:
        return len(self.server.ledger.rounds) >= self.experiment.gradients

    def ask(self, worker: int, serial: int, moves: tuple[int, ...], gradient: Gradient | None = None) -> Answer:
        """Make the moves of a worker in one piece, unless request `serial` has been answered before.

        A check needs its gradient, and a read of a shard the rows that are wanted.

        A read that the policy does not allow yet is not granted and has to be asked for again.
        """
        if serial == self.serials[worker] and (answer := self._answers[worker]) is not None:
            return answer
        if serial != self.serials[worker] + 1:
            raise ValueError(f"worker {worker} asks for request {serial} after {self.serials[worker]}")
        if self.done or (moves[0] == READ and not self.server.ledger.may_read(worker)):
            return self._answer(worker, granted=False)
        now = max((time.time_ns() - self._began) // 1000, self.moves[-1][2] if self.moves else 0)
        answer = self._make(worker, serial, moves, now, gradient)
        if self._log is not None:
            fields = {"worker": worker, "serial": serial, "moves": moves, "time": now}
            self._log.append(fields, flat(gradient or {}), producer=worker, sequence=serial)
        return answer

    def held(self, worker: int) -> Weights:
        """The weights the worker read last."""
        return self.server.held(worker)

    def last(self, worker: int) -> tuple[tuple[int, ...], int]:
        """The moves of the worker's last request, and the number of its gradient before them."""
        return self._last[worker]

    def trace(self, engine: str) -> Trace:
        """All that has been done so far; times in microseconds."""
        server = self.server
        return Trace.of(self.experiment, engine, "microseconds", self.moves, server.ledger.rounds, server.weights)

    def close(self) -> None:
        """Let go of the log."""
        if self._log is not None:
            self._log.close()

    def _make(self, worker: int, serial: int, moves: tuple[int, ...], now: int, gradient: Gradient | None) -> Answer:
        number = self.server.ledger.clock[worker]
        for move in moves:
            self.server.handle(move, worker, now, gradient if move in (CHECK, READ) else None)
        self.moves += [(move, worker, now) for move in moves]
        self.serials[worker], self._last[worker] = serial, (moves, number)
        self._answers[worker] = answer = self._answer(worker, granted=True)
        return answer

    def _answer(self, worker: int, granted: bool) -> Answer:
        return Answer(granted, self.server.ledger.clock[worker], len(self.moves), self.done)

    def _recover(self, log: GrowingFile) -> None:
        records = iter(log)
        head, start = next(records, (None, {}))
        config = {"experiment": self.experiment.to_json(), **self.server.part}
        if head is None:
            return log.append({**config, "began": self._began}, self.server.weights)
        if {name: head.get(name) for name in config} != config or not _same(start, self.server.weights):
            raise ValueError(f"{log.path} is the log of another experiment: {head['experiment']}; give another path")
        self._began = head["began"]
        for fields, arrays in records:
            with checked(log.path, "log of this experiment"):
                given = gradients(arrays, self.server.weights)
                self._make(fields["worker"], fields["serial"], tuple(fields["moves"]), fields["time"], given)
        return None


def _same(a: Mapping[str, Array], b: Mapping[str, Array]) -> bool:
    """Return the same bits under the same names."""

    def bits(x: Array) -> tuple[np.dtype, tuple[int, ...], bytes]:
        return np.asarray(x).dtype, np.shape(x), np.asarray(x).tobytes()

    return a.keys() == b.keys() and all(bits(a[k]) == bits(b[k]) for k in a)

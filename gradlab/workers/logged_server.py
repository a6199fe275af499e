"""A server that logs every request before it answers, so that it can be restored after its process has died.

Workers number their requests. The log is a `GrowingFile` whose unique key is (worker, number of the
request): a request that is sent again after a failure is found there and isn't made twice.

Source: Ongaro & Ousterhout, "In Search of an Understandable Consensus Algorithm" (2014), section 8,
on numbered requests; Mohan et al., "ARIES" (1992), on logs. TensorFlow's parameter servers restart
from their last checkpoint.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._base.arrays import Array
from .._base.checked_files import report_damage
from .._base.growing import GrowingFile, read_records
from ..errors import FailedPreconditionError
from .experiment import Experiment
from .ledger import CHECK, READ, Ledger
from .rows import flatten_gradient, restore_gradient
from .server import Gradient, Server
from .table_shard import ShardedLedger
from .trace import Trace

Shapes = Mapping[str, tuple[int, ...]]


class Request(NamedTuple):
    """Moves of one worker that are made together, and what they need: a gradient, or ids of the rows to read."""

    worker: int
    sequence: int  # of this worker's requests, from 1
    moves: tuple[int, ...]
    time: int  # microseconds
    payload: Gradient


class LoggedServer:
    """A `Server` that makes each numbered request once, and logs it before it returns.

    Args:
        path: of the log. A log of this experiment that is already there is read, and restores the
            server bit for bit. None: no log.
        sync: whether a request is on the disk before it is answered (fsync), and so outlives the
            machine, too.
        server: what makes the moves; by default a `Server` of the whole experiment.

    Raises:
        ValueError: the log is of another experiment, or a request has the wrong number.
        DataLossError: the log is damaged.
        FailedPreconditionError: another server has written to the log.

    >>> from gradlab.workers import Bowl, RECORD
    >>> server = LoggedServer(Experiment(Bowl(), workers=1))
    >>> server.ask(0, 1, (READ, RECORD)), server.ask(0, 1, (READ, RECORD)), len(server.moves)
    (True, True, 2)
    """

    def __init__(
        self,
        experiment: Experiment,
        path: str | Path | None = None,
        sync: bool = True,
        server: Server | ShardedLedger | None = None,
    ) -> None:
        self.experiment = experiment
        self.server = Server(experiment) if server is None else server
        self.moves: list[tuple[int, int, int]] = []  # move, worker, time
        self.sequences = [0] * experiment.workers  # the number of each worker's last request
        # The place of that request among all requests, from 1.
        self.positions = [0] * experiment.workers
        self.num_requests = 0
        self._log_error: BaseException | None = None
        self._start_ns = time.time_ns()
        self._log = None if path is None else GrowingFile(path, sync)
        if self._log is not None:
            try:
                self._restore(self._log)
            except BaseException:
                self._log.close()
                raise

    @property
    def ledger(self) -> Ledger:
        return self.server.ledger

    @property
    def is_done(self) -> bool:
        """Whether all gradients of the experiment were handed in."""
        return len(self.ledger.rounds) >= self.experiment.gradients

    def ask(
        self, worker: int, sequence: int, moves: tuple[int, ...], payload: Gradient | None = None
    ) -> bool:
        """Make a worker's moves, unless this request was made before.

        Args:
            payload: what the moves need: the gradient of a check, or of tables on shards the ids of
                the rows to read.

        Returns:
            False if nothing was made: the policy makes the worker wait, or the run is over.

        Raises:
            FailedPreconditionError: an earlier request could not be logged.
        """
        if self._log_error is not None:
            raise FailedPreconditionError(
                "the server has made a request that it could not log "
                f"({type(self._log_error).__name__}: {self._log_error}), so it takes no more; make "
                "a new LoggedServer from the log"
            ) from self._log_error
        if sequence == self.sequences[worker] > 0:
            return True
        if sequence != self.sequences[worker] + 1:
            raise ValueError(
                f"worker {worker} sent request {sequence} after {self.sequences[worker]}; if the "
                "server was restarted, its log must be on a disk that all nodes see"
            )
        if self.is_done or (moves[0] == READ and not self.ledger.may_read(worker)):
            return False
        last_time = self.moves[-1][2] if self.moves else 0
        # The clock of a new machine may be behind.
        now = max((time.time_ns() - self._start_ns) // 1000, last_time)
        request = Request(worker, sequence, moves, now, payload or {})
        self._make(request)
        if self._log is not None:
            fields = {"worker": worker, "sequence": sequence, "moves": moves, "time": now}
            try:
                self._log.append(
                    fields, flatten_gradient(request.payload), producer=worker, sequence=sequence
                )
            except BaseException as error:
                # The moves are made, but a restored server would not know of them. If the request
                # is sent again it must not be answered as one that is in the log.
                self._log_error = error
                raise
        return True

    def trace(self, engine: str) -> Trace:
        """The trace of all moves so far; times are microseconds."""
        rounds = self.ledger.rounds
        return Trace.of(
            self.experiment, engine, "microseconds", self.moves, rounds, self.server.weights
        )

    def close(self) -> None:
        """Unlock the log."""
        if self._log is not None:
            self._log.close()

    def _make(self, request: Request) -> None:
        worker = request.worker
        for move in request.moves:
            self.server.handle(
                move, worker, request.time, request.payload if move in (CHECK, READ) else None
            )
            self.moves.append((move, worker, request.time))
        self.num_requests += 1
        self.sequences[worker] = request.sequence
        self.positions[worker] = self.num_requests

    def _restore(self, log: GrowingFile) -> None:
        """Make the requests of the log again, or begin a new log with the experiment and its first
        weights.
        """
        config = {
            "experiment": self.experiment.to_json(),
            "sharded": isinstance(self.server, ShardedLedger),
        }
        head, start = next(iter(log), (None, {}))
        if head is None:
            log.append({**config, "start_ns": self._start_ns}, self.server.weights)
            return
        if {name: head.get(name) for name in config} != config or not _are_equal(
            start, self.server.weights
        ):
            raise ValueError(
                f"{log.path} is the log of another experiment: "
                f"{head['experiment']}; give another path"
            )
        self._start_ns = head["start_ns"]
        with report_damage(log.path, "log of this experiment"):
            for request in read_requests(log.path, self.server.shapes):
                self._make(request)


def read_requests(path: str | Path, shapes: Shapes) -> Iterator[Request]:
    """Read the requests of a log from the first to the last; `shapes` are those of the weights."""
    records = read_records(path)
    next(records)  # the experiment
    for fields, arrays in records:
        payload = restore_gradient(arrays, shapes)
        yield Request(
            fields["worker"], fields["sequence"], tuple(fields["moves"]), fields["time"], payload
        )


def _are_equal(a: Mapping[str, Array], b: Mapping[str, Array]) -> bool:
    """Whether both hold the same bits under the same names."""
    return a.keys() == b.keys() and all(_bits(a[name]) == _bits(b[name]) for name in a)


def _bits(x: Any) -> tuple[np.dtype, tuple[int, ...], bytes]:
    x = np.asarray(x)
    return x.dtype, x.shape, x.tobytes()

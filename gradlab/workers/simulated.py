"""Virtual time: who acts next is who is done first; ties go to the lower worker. Nothing waits, nothing varies.

Also an engine in which staleness is drawn, not grown, and a walk through a run, move by move, in both directions.
"""

from __future__ import annotations

import dataclasses
import heapq

import numpy as np

from ..errors import InvalidArgumentError
from .checks import whole
from .experiment import Experiment, Piece, worker
from .ledger import CHECK, JOIN, LEAVE, MOVES, READ, RECORD, UPDATE, Ledger
from .plain import decide_plain, is_plain
from .replays import replay, step
from .server import Server
from .trace import Trace

_EVERY = 16  # moves between two states of a `Simulation` that are kept, which share their arrays


def run(experiment: Experiment) -> Trace:
    """The trace of an experiment in virtual time: first who does what when, then the arithmetic in that order.

    Raises: DeadlockError: every worker waits for a worker that is gone.

    >>> from gradlab.workers import Bowl
    >>> run(Experiment(Bowl(), workers=2, gradients=4)).rounds["worker"].tolist()
    [1, 0, 1, 0]
    """
    trace = decide(experiment)
    return dataclasses.replace(trace, weights=replay(experiment, trace))


def decide(experiment: Experiment) -> Trace:
    """Timing and decisions alone: the trace without its weights."""
    return decide_plain(experiment) if is_plain(experiment) else one_by_one(experiment)


def one_by_one(experiment: Experiment) -> Trace:
    """`decide` for every experiment: a queue of pieces by the time at which they are due."""
    e, log = experiment, []
    ledger = Ledger(e.workers, e.policy, e.staleness, e.aggregate)
    does = {
        READ: ledger.read, RECORD: ledger.record, CHECK: ledger.check, UPDATE: ledger.update, LEAVE: ledger.leave,
        JOIN: ledger.join,
    }  # fmt: skip
    lives = [worker(e, k, ticks) for k, ticks in enumerate(e.ticks())]
    due: list[tuple[int, int, Piece]] = []
    blocked: dict[int, Piece] = {}

    def go_on(k: int, now: int) -> None:
        piece = next(lives[k], None)
        if piece is not None:
            heapq.heappush(due, (now + piece.ticks, k, piece))

    for k in range(e.workers):
        go_on(k, 0)
    while due and len(ledger.rounds) < e.gradients:
        now, k, piece = heapq.heappop(due)
        if piece.moves[0] == READ and not ledger.may_read(k):
            blocked[k] = piece
            continue
        for move in piece.moves:
            does[move](k, now)
            log.append((move, k, now))
        go_on(k, now)
        if blocked and piece.moves[-1] in (UPDATE, LEAVE):
            for other in sorted(k for k in blocked if ledger.may_read(k)):
                heapq.heappush(due, (now, other, blocked.pop(other)))
    if len(ledger.rounds) < e.gradients:
        raise ledger.deadlock(blocked)
    return Trace.of(e, "simulated", "ticks", log, ledger.rounds, {})


class uniform_delays:
    """Engine: gradient n is computed from weights that are 0 to `most` updates old, each as likely (Dai et al. 2018).

    Every gradient has a worker of its own, so an experiment for it has as many workers as gradients; speeds play no
    part. Not in TensorFlow. Raises: ValueError: it has not, or `most` is not a whole number of at least 0.
    Source: Dai, Zhou, Dong, Zhang & Xing, "Toward Understanding the Impact of Staleness in Distributed Machine
    Learning" (2018).

    >>> from gradlab.workers import Bowl, run
    >>> trace = run(Experiment(Bowl(), workers=50, gradients=50, policy="apply"), uniform_delays(4))
    >>> trace.updates, int(trace.true_staleness.max())
    (50, 4)
    """

    def __init__(self, most: int) -> None:
        whole("most", most, 0)
        self.most = most

    def __call__(self, experiment: Experiment) -> Trace:
        count = experiment.gradients
        if experiment.workers != count:
            raise ValueError(f"uniform_delays wants a worker for each of the {count} gradients: workers={count}")
        drawn = np.random.default_rng([experiment.seed, self.most]).integers(0, self.most + 1, count)
        reads = np.arange(count) - np.minimum(drawn, np.arange(count))
        begins: list[list[int]] = [[] for _ in range(count)]
        for k, read in enumerate(reads.tolist()):
            begins[read].append(k)
        log = []
        for now, starting in enumerate(begins):
            log += [(move, k, now) for k in starting for move in (READ, RECORD)]
            log += [(CHECK, now, now), (UPDATE, now, now)]
        server = Server(experiment)
        for move, k, time in log:
            step(server, move, k, time)
        return Trace.of(experiment, "uniform_delays", "updates", log, server.ledger.rounds, server.weights)


class Simulation:
    """The server as it is after any number of the moves of a run.

    Args:
        run: an experiment, to be run in virtual time, or any engine's trace.

    Fields: `trace`; `server`, as it is at `position`, the number of moves made. `len` is how many there are.

    Not in TensorFlow.

    >>> from gradlab.workers import Bowl
    >>> run = Simulation(Experiment(Bowl(), workers=2, gradients=10))
    >>> run.forward(7).ledger.step, run.move
    (1, ('read', 1, 102))
    >>> run.back(2).ledger.step, run.position, len(run)
    (0, 5, 42)
    """

    def __init__(self, run: Experiment | Trace) -> None:
        self.trace = run if isinstance(run, Trace) else decide(run)
        self.server, self.position = Server(self.trace.experiment), 0
        self._states = [self.server.copy()]  # after 0, _EVERY, 2 * _EVERY, ... moves, as far as the walk went

    def __len__(self) -> int:
        return len(self.trace.moves)

    @property
    def move(self) -> tuple[str, int, int] | None:
        """The move made last: its name, the worker and the time."""
        if self.position == 0:
            return None
        move, worker = self.trace.moves[self.position - 1].tolist()
        return MOVES[move], worker, self.time

    @property
    def time(self) -> int:
        """When the last move was made, in the trace's unit."""
        return int(self.trace.times[self.position - 1]) if self.position else 0

    def forward(self, moves: int = 1) -> Server:
        """Go on by so many moves, at most to the end."""
        whole("moves", moves, 0)
        return self.goto(min(len(self), self.position + moves))

    def back(self, moves: int = 1) -> Server:
        """Take so many moves back, at most to the start."""
        whole("moves", moves, 0)
        return self.goto(max(0, self.position - moves))

    def goto(self, position: int) -> Server:
        """The server after the first `position` moves.

        Raises: ValueError: not from 0 to `len`.
        """
        whole("position", position, 0)
        if position > len(self):
            raise InvalidArgumentError(f"position must be from 0 to {len(self)}, got {position}")
        nearest = min(position // _EVERY, len(self._states) - 1)
        if not nearest * _EVERY <= self.position <= position:
            self.server, self.position = self._states[nearest].copy(), nearest * _EVERY
        for now in range(self.position, position):
            move, worker = self.trace.moves[now].tolist()
            step(self.server, move, worker, int(self.trace.times[now]))
            if now + 1 == len(self._states) * _EVERY:
                self._states.append(self.server.copy())
            self.position = now + 1
        return self.server

    def goto_time(self, time: int) -> Server:
        """The server after all moves up to a time, in the trace's unit."""
        return self.goto(int(np.searchsorted(self.trace.times, time, side="right")))

    def __repr__(self) -> str:
        return f"<gradlab.workers.Simulation at move {self.position} of {len(self)}, time {self.time}, {self.trace!r}>"

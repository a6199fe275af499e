"""Virtual time: a deterministic event loop in which the worker with the earliest finish time acts next.

Ties go to the lower worker. Nothing waits and nothing varies. `decide` works out which worker makes
which move when; `run` then computes the gradients and updates in that order.

Also an engine whose staleness is drawn at random, and a walk through a run, move by move, in both
directions.
"""

from __future__ import annotations

import dataclasses
import heapq

import numpy as np

from ..errors import InvalidArgumentError
from .experiment import Experiment, Piece, worker_pieces
from .fast_timing import can_decide_fast, decide_fast
from .ledger import CHECK, LEAVE, MOVES, READ, RECORD, UPDATE, Ledger
from .replays import replay, replay_move
from .server import Server
from .trace import Trace
from .validation import check_whole

_MOVES_PER_STATE = 16  # between two states that a `Simulation` keeps; the states share their arrays


def run(experiment: Experiment) -> Trace:
    """Run an experiment in virtual time: first the timing and the decisions, then the arithmetic in that order.

    Raises:
        DeadlockError: every worker waits for a worker that is gone.

    >>> from gradlab.workers import Bowl
    >>> run(Experiment(Bowl(), workers=2, gradients=4)).rounds["worker"].tolist()
    [1, 0, 1, 0]
    """
    trace = decide(experiment)
    return dataclasses.replace(trace, weights=replay(experiment, trace))


def decide(experiment: Experiment) -> Trace:
    """Work out timing and decisions alone: the trace without its weights."""
    return decide_fast(experiment) if can_decide_fast(experiment) else decide_by_events(experiment)


def decide_by_events(experiment: Experiment) -> Trace:
    """`decide` for every experiment: a queue of pieces, each due at a time."""
    e = experiment
    ledger = Ledger(e.workers, e.policy, e.staleness, e.aggregate)
    log = []
    lives = [worker_pieces(e, k, ticks) for k, ticks in enumerate(e.ticks())]
    due: list[tuple[int, int, Piece]] = []  # a heap of (time, worker, piece)
    blocked: dict[int, Piece] = {}  # reads that the policy does not allow yet

    def schedule_next(k: int, now: int) -> None:
        piece = next(lives[k], None)
        if piece is not None:
            heapq.heappush(due, (now + piece.ticks, k, piece))

    for k in range(e.workers):
        schedule_next(k, 0)
    while due and len(ledger.rounds) < e.gradients:
        now, k, piece = heapq.heappop(due)
        if piece.moves[0] == READ and not ledger.may_read(k):
            blocked[k] = piece
            continue
        for move in piece.moves:
            ledger.handle(move, k, now)
            log.append((move, k, now))
        schedule_next(k, now)
        # Only these moves can allow a read.
        if blocked and piece.moves[-1] in (UPDATE, LEAVE):
            for other in sorted(k for k in blocked if ledger.may_read(k)):
                heapq.heappush(due, (now, other, blocked.pop(other)))
    if len(ledger.rounds) < e.gradients:
        raise ledger.deadlock_error(blocked)
    return Trace.of(e, "simulated", "ticks", log, ledger.rounds, {})


class uniform_delays:
    """Engine: gradient n is computed from weights that are 0 to `most` updates old, each as likely (Dai et al. 2018).

    Every gradient has a worker of its own, so the experiment needs as many workers as gradients.
    Speeds have no effect.

    Raises:
        ValueError: the experiment has a different number of workers, or `most` is not a whole
            number of at least 0.

    Not in TensorFlow. Source: Dai, Zhou, Dong, Zhang & Xing, "Toward Understanding the Impact of
    Staleness in Distributed Machine Learning" (2018).

    >>> from gradlab.workers import Bowl, run
    >>> trace = run(Experiment(Bowl(), workers=50, gradients=50, policy="apply"), uniform_delays(4))
    >>> trace.updates, int(trace.true_staleness.max())
    (50, 4)
    """

    def __init__(self, most: int) -> None:
        check_whole("most", most, 0)
        self.most = most

    def __call__(self, experiment: Experiment) -> Trace:
        count = experiment.gradients
        if experiment.workers != count:
            raise ValueError(
                f"uniform_delays wants a worker for each of the {count} gradients: workers={count}"
            )
        delays = np.random.default_rng([experiment.seed, self.most]).integers(
            0, self.most + 1, count
        )
        read_steps = np.arange(count) - np.minimum(delays, np.arange(count))
        readers: list[list[int]] = [[] for _ in range(count)]  # of each step
        for k, step in enumerate(read_steps.tolist()):
            readers[step].append(k)
        log = []
        for step, workers in enumerate(readers):
            log += [(move, k, step) for k in workers for move in (READ, RECORD)]
            # Gradient n is of worker n, and is checked and applied at step n.
            log += [(CHECK, step, step), (UPDATE, step, step)]
        server = Server(experiment)
        for move, k, time in log:
            replay_move(server, move, k, time)
        return Trace.of(
            experiment, "uniform_delays", "updates", log, server.ledger.rounds, server.weights
        )


class Simulation:
    """The server as it is after any number of the moves of a run.

    Args:
        run: an experiment, to be run in virtual time, or any engine's trace.

    Attributes:
        trace: of the run.
        server: after the first `position` moves. The length is the number of all moves.

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
        self.server = Server(self.trace.experiment)
        self.position = 0
        self._states = [self.server.copy()]  # after 0, 16, 32, ... moves, as far as the walk went

    def __len__(self) -> int:
        return len(self.trace.moves)

    @property
    def move(self) -> tuple[str, int, int] | None:
        """The last move: its name, the worker and the time."""
        if self.position == 0:
            return None
        move, worker = self.trace.moves[self.position - 1].tolist()
        return MOVES[move], worker, self.time

    @property
    def time(self) -> int:
        """The time of the last move, in the trace's unit."""
        return int(self.trace.times[self.position - 1]) if self.position else 0

    def forward(self, moves: int = 1) -> Server:
        """Make the next moves, at most to the end."""
        check_whole("moves", moves, 0)
        return self.goto(min(len(self), self.position + moves))

    def back(self, moves: int = 1) -> Server:
        """Take the last moves back, at most to the start."""
        check_whole("moves", moves, 0)
        return self.goto(max(0, self.position - moves))

    def goto(self, position: int) -> Server:
        """Return the server after the first `position` moves.

        Raises:
            ValueError: `position` is not from 0 to `len`.
        """
        check_whole("position", position, 0)
        if position > len(self):
            raise InvalidArgumentError(f"position must be from 0 to {len(self)}, got {position}")
        nearest = min(position // _MOVES_PER_STATE, len(self._states) - 1)
        if not nearest * _MOVES_PER_STATE <= self.position <= position:
            self.server = self._states[nearest].copy()
            self.position = nearest * _MOVES_PER_STATE
        while self.position < position:
            move, worker = self.trace.moves[self.position].tolist()
            replay_move(self.server, move, worker, self.trace.times[self.position].item())
            self.position += 1
            if self.position == len(self._states) * _MOVES_PER_STATE:
                self._states.append(self.server.copy())
        return self.server

    def goto_time(self, time: int) -> Server:
        """Return the server after all moves up to a time, in the trace's unit."""
        return self.goto(int(np.searchsorted(self.trace.times, time, side="right")))

    def __repr__(self) -> str:
        return (
            f"<gradlab.workers.Simulation at move {self.position} of {len(self)}, time "
            f"{self.time}, {self.trace!r}>"
        )

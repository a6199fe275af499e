"""Workers as real threads, which really wait: the operating system decides which one acts next.

Threads share one `_Run`. All of it except `over` and `threads` is used under the condition `turn`
only, so the server sees one move after the other, and its log of them is the trace.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

from .._base.forks import renew_in_child
from .experiment import Experiment, Piece, worker_pieces
from .ledger import CHECK, LEAVE, READ
from .server import Gradient, Server
from .trace import Trace
from .validation import check_finite

# Seconds. A wait without end may not notice Ctrl-C, and an interrupt may leave `Thread.join` half
# done.
_POLL_SECONDS = 0.1


def run(experiment: Experiment, tick: float = 1e-5) -> Trace:
    """Run an experiment whose workers are threads; times are microseconds.

    `replay` repeats the trace bit for bit.

    A worker that crashes is a thread that ends; another thread takes its place later. An error that
    a problem raises in a thread is raised here, and so is KeyboardInterrupt; no thread is left
    either way.

    Args:
        tick: seconds that one tick of `Speeds` lasts. A gradient that takes longer to compute lasts
            longer.

    Raises:
        DeadlockError: every worker waits for a worker that is gone.

    Not in TensorFlow.

    >>> from gradlab.workers import Bowl
    >>> trace = run(Experiment(Bowl(), workers=3, gradients=30, policy="wait"))
    >>> trace.engine, len(trace), int(trace.accepted.sum())
    ('threads', 30, 30)
    """
    check_finite("tick", tick, 0)
    return _Run(experiment, tick).trace()


class _Run:
    """The state that the threads of one run share."""

    def __init__(self, experiment: Experiment, tick: float) -> None:
        self.experiment = experiment
        self.tick = tick
        self.server = Server(experiment)
        self.log: list[tuple[int, int, int]] = []
        self.turn: threading.Condition
        renew_in_child(self, "turn", threading.Condition)
        self.living = set(range(experiment.workers))
        self.waiting: set[int] = set()
        self.failure: BaseException | None = None
        self.over = threading.Event()
        self.threads: list[threading.Thread] = []
        self.start_time = time.perf_counter()

    def trace(self) -> Trace:
        e = self.experiment
        try:
            if e.gradients == 0:
                self.stop()
            for k, ticks in enumerate(e.ticks()):
                self.start_thread(k, worker_pieces(e, k, ticks))
            while not self.over.wait(_POLL_SECONDS):
                pass
        finally:
            self.stop()
            self.join()
        if self.failure is not None:
            raise self.failure
        return Trace.of(
            e, "threads", "microseconds", self.log, self.server.ledger.rounds, self.server.weights
        )

    def start_thread(self, k: int, life: Iterator[Piece]) -> None:
        """Start a thread for the rest of a worker's life."""
        thread = threading.Thread(
            target=self.live, args=(k, life), name=f"gradlab worker {k}", daemon=True
        )
        try:
            thread.start()
        except RuntimeError as error:
            if "can't start new thread" not in str(error):
                raise
            raise RuntimeError(
                'no thread can start here, and so engine="threads" cannot run: use engine="simulated", which repeats '
                "bit for bit, or fewer workers where the system's limit on threads is reached"
            ) from error
        self.threads.append(thread)

    def join(self) -> None:
        """Wait for all threads; one that ends has added its successor before."""
        for thread in self.threads:
            if thread.ident is not None:
                thread.join()

    def stop(self, failure: BaseException | None = None) -> None:
        """End the run for all threads; the first failure counts."""
        with self.turn:
            if not self.over.is_set():
                self.failure = failure
            self.over.set()
            self.turn.notify_all()

    def live(self, k: int, life: Iterator[Piece]) -> None:
        """The target of a thread."""
        try:
            for piece in life:
                if not self.work(k, piece):
                    return
                if LEAVE in piece.moves:
                    self.start_thread(k, life)
                    return
            with self.turn:
                self.living.discard(k)
                self.check_deadlock()
        except BaseException as failure:  # `trace` raises it, where `run` was called
            self.stop(failure)

    def work(self, k: int, piece: Piece) -> bool:
        """Compute, wait for the time and the worker's turn, and make the moves; False once the run
        is over.
        """
        due = time.perf_counter() + piece.ticks * self.tick
        gradient = self.compute_gradient(k) if CHECK in piece.moves else None
        if self.over.wait(max(0.0, due - time.perf_counter())):
            return False
        with self.turn:
            if piece.moves[0] == READ:
                self.wait_to_read(k)
            if self.over.is_set():
                return False
            now = int((time.perf_counter() - self.start_time) * 1e6)
            for move in piece.moves:
                self.server.handle(move, k, now, gradient if move == CHECK else None)
                self.log.append((move, k, now))
            if len(self.server.ledger.rounds) >= self.experiment.gradients:
                self.stop()
            self.turn.notify_all()
        return True

    def compute_gradient(self, k: int) -> Gradient:
        # No lock: only this worker's own moves change what is read here.
        return self.experiment.gradient(self.server.held(k), k, self.server.ledger.clock[k])

    def wait_to_read(self, k: int) -> None:
        ledger = self.server.ledger
        if not ledger.may_read(k):
            self.waiting.add(k)
            self.check_deadlock()
            self.turn.wait_for(lambda: self.over.is_set() or ledger.may_read(k))
            self.waiting.discard(k)

    def check_deadlock(self) -> None:
        """End the run if all living workers wait, and none of them may read meanwhile."""
        ledger = self.server.ledger
        if self.living == self.waiting and not any(ledger.may_read(k) for k in self.waiting):
            self.stop(ledger.deadlock_error(self.waiting))

"""Every order in which workers can come, without clocks: what may come out of it, and in how many ways."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from .._base.errors import InvalidArgumentError
from .checks import whole
from .experiment import Experiment
from .ledger import READ, UPDATE
from .outcomes import End, History, Outcomes, bits
from .replays import step
from .server import Server
from .trace import Trace
from .worker import Piece, worker


def explore(experiment: Experiment, rounds: int = 1, limit: int = 100_000) -> Outcomes:
    """All interleavings of workers who hand in `rounds` gradients each; speeds do not matter, crashes do.

    What one worker does in one piece nobody interrupts: with `atomic` check and update are one, with `step_first` the
    read and the note of the step are. States that are equal bit for bit are gone on from once, however many ways lead
    to them.

    Args:
        limit: refuse what has more interleavings.

    Raises: ValueError: there are more; the message has their number, which is an upper bound if the policy makes
    workers wait.

    Not in TensorFlow.

    >>> from gradlab.workers import Bowl
    >>> two = Experiment(Bowl(), workers=2, staleness=0)
    >>> explore(two).accepted, explore(two.with_(atomic=False)).accepted  # so many gradients: in so many interleavings
    ({1: 4, 2: 2}, {1: 6, 2: 14})
    """
    whole("rounds", rounds, 1)
    e = experiment.with_(gradients=rounds * experiment.workers)
    lives = [list(worker(e, k, [e.speeds.median] * rounds)) for k in range(e.workers)]
    if (count := _interleavings(lives)) > limit:
        most = "up to " if e.policy in ("wait", "backup") else ""
        size = f"{count:,}" if count < 10**15 else f"about 10^{math.log10(count):.0f}"
        raise InvalidArgumentError(
            f"{e.workers} workers with {rounds} gradients each have {most}{size} interleavings; the limit is "
            f"{limit:,}. Take fewer workers or rounds, or give a larger limit"
        )
    start = _State(lives, Server(e), (0,) * e.workers, History((0,) * e.workers))
    layer: dict[Hashable, _State] = {None: start}  # all states after so many pieces
    ends: list[End] = []
    while layer:
        following: dict[Hashable, _State] = {}
        for state in layer.values():
            able = state.able()
            if not able:
                ends.append(state.end())
            for k in able:
                after = state.after(k)
                same = following.setdefault(after.key(), after)
                if same is not after:
                    same.ways += after.ways
        layer = following
    return Outcomes.of(e, rounds, ends)


def _interleavings(lives: list[list[Piece]]) -> int:
    """(a + b + ...)! / (a! b! ...) for lives of a, b, ... pieces."""
    return math.factorial(sum(map(len, lives))) // math.prod(math.factorial(len(life)) for life in lives)


@dataclass
class _State:
    """The server, where each worker is in its life, and how many interleavings lead here; `path` is one of them."""

    lives: list[list[Piece]]
    server: Server
    places: tuple[int, ...]
    history: History
    ways: int = 1
    path: tuple[Any, int] | None = None  # (the path before, who came last)

    def able(self) -> list[int]:
        """Who may come next."""
        return [k for k, life in enumerate(self.lives) if self.places[k] < len(life) and self._may(k)]

    def after(self, k: int) -> _State:
        """The state after worker k's next piece."""
        server, history = self.server.copy(), self.history
        for move in self.lives[k][self.places[k]].moves:
            given = server.given(k)
            step(server, move, k, 0)
            if move == UPDATE:
                history = history.after(server.ledger.rounds[-1], b"".join(bits(given or {})), self._limit())
        places = tuple(place + (j == k) for j, place in enumerate(self.places))
        return _State(self.lives, server, places, history, self.ways, (self.path, k))

    def key(self) -> Hashable:
        """Equal for states with equal futures and equal histories."""
        ledger, everybody = self.server.ledger, range(len(self.lives))
        at_work = tuple(self._in_hand(k) if self._is_at_work(k) else None for k in everybody)
        reads = tuple(ledger.read_at) if ledger.policy == "backup" else None
        state = (ledger.step, tuple(ledger.clock), reads)
        return self.places, self.server.fingerprint(), state, at_work, self.history

    def end(self) -> End:
        """The state as the end of its interleavings."""
        waiting = tuple(k for k, life in enumerate(self.lives) if self.places[k] < len(life))
        return End(self.history, self.ways, waiting, self.server.weights, self._example())

    def _may(self, k: int) -> bool:
        return self.lives[k][self.places[k]].moves[0] != READ or self.server.ledger.may_read(k)

    def _is_at_work(self, k: int) -> bool:
        return 0 < self.places[k] < len(self.lives[k]) and self.lives[k][self.places[k]].moves[0] != READ

    def _in_hand(self, k: int) -> Hashable:
        server, ledger = self.server, self.server.ledger
        given = server.given(k)
        noted = ledger.read_at[k], ledger.recorded[k], ledger.checked[k], ledger.fresh[k]
        return bits(server.held(k)), noted, None if given is None else bits(given)

    def _limit(self) -> float:
        ledger = self.server.ledger
        return ledger.staleness if ledger.policy in ("drop", "backup") else math.inf

    def _example(self) -> Trace:
        """One of the interleavings as a trace; its times count pieces."""
        order, path = [], self.path
        while path is not None:
            path, k = path
            order.append(k)
        server, log, places = Server(self.server.experiment), [], [0] * len(self.lives)
        for time, k in enumerate(reversed(order)):
            for move in self.lives[k][places[k]].moves:
                step(server, move, k, time)
                log.append((move, k, time))
            places[k] += 1
        return Trace.of(server.experiment, "explored", "pieces", log, server.ledger.rounds, server.weights)

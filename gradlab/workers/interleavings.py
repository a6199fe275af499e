"""Every order in which workers can come, without clocks: what may come out of it, and in how many ways."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._base.arrays import Array
from .._base.numbers import counted
from ..errors import InvalidArgumentError
from .experiment import Experiment, Piece, worker
from .ledger import READ, UPDATE, Round
from .replays import replay_move
from .rows import flatten_gradient
from .server import Server
from .trace import Trace
from .validation import check_whole

Applied = frozenset[tuple[int, int, bytes]]  # worker, number, bits of the gradient


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
    check_whole("rounds", rounds, 1)
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
        """The workers that may move next."""
        return [k for k, life in enumerate(self.lives) if self.places[k] < len(life) and self._may(k)]

    def after(self, k: int) -> _State:
        """The state after worker k's next piece."""
        server, history = self.server.copy(), self.history
        for move in self.lives[k][self.places[k]].moves:
            gradient = server.given(k)
            replay_move(server, move, k, 0)
            if move == UPDATE:
                gradient_bits = b"".join(bits(flatten_gradient(gradient or {})))
                history = history.after(server.ledger.rounds[-1], gradient_bits, self._limit())
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
        ledger = self.server.ledger
        gradient = self.server.given(k)
        gradient_bits = None if gradient is None else bits(flatten_gradient(gradient))
        steps = (ledger.read_at[k], ledger.recorded[k], ledger.checked[k], ledger.accepted[k])
        return bits(self.server.held(k)), steps, gradient_bits

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
                replay_move(server, move, k, time)
                log.append((move, k, time))
            places[k] += 1
        return Trace.of(server.experiment, "explored", "pieces", log, server.ledger.rounds, server.weights)


class History(NamedTuple):
    """The part of a path that distinguishes states."""

    accepted: tuple[int, ...]  # per worker
    understated: bool = False
    too_stale: bool = False
    applied: Applied = frozenset()

    def after(self, r: Round, gradient: bytes, limit: float) -> History:
        """With one more round."""
        if not r.accepted:
            return self
        accepted = tuple(n + (k == r.worker) for k, n in enumerate(self.accepted))
        true = r.applied_to - r.read
        return History(
            accepted, self.understated or true > r.checked - r.recorded, self.too_stale or true > limit,
            self.applied | {(r.worker, r.number, gradient)},
        )  # fmt: skip


class End(NamedTuple):
    """A state in which no worker can continue."""

    history: History
    ways: int  # interleavings that lead there
    waiting: tuple[int, ...]  # who would go on if it could
    weights: Mapping[str, Array]
    example: Trace


class Outcome(NamedTuple):
    """Final weights, the number of interleavings that lead to them, and a trace of one of those. Not in TensorFlow.

    >>> from gradlab.workers import Bowl, explore
    >>> first = explore(Experiment(Bowl(condition=1.0), learning_rate=0.5, workers=2)).outcomes[0]
    >>> first.weights["w"].tolist(), first.interleavings, len(first.example)
    ([0.5, 0.5], 4, 2)
    """

    weights: Mapping[str, Array]
    interleavings: int
    example: Trace


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The result of `explore`.

    Fields:
        experiment, rounds: what was explored.
        outcomes: the different final weights, those that most interleavings lead to first.
        accepted: how many gradients were accepted in how many interleavings.
        understated: interleavings in which an accepted gradient was truly staler than its check saw.
        too_stale: those in which one was accepted that was truly staler than the limit.
        stuck: those which end with somebody waiting forever.
        starved: per worker, those in which none of its gradients was accepted.
        order_dependent: groups of outcomes in which the same gradients, bit for bit, were accepted in another order;
            under plain descent only rounding makes such sums differ.

    Not in TensorFlow.

    >>> from gradlab.workers import Bowl, explore
    >>> explore(Experiment(Bowl(), workers=2, atomic=False))
    20 orders, 3 different results; 1 to 2 of 2 gradients accepted; 12 orders accept one that is too stale
    """

    experiment: Experiment
    rounds: int
    outcomes: tuple[Outcome, ...]
    accepted: Mapping[int, int]
    understated: int
    too_stale: int
    stuck: int
    starved: tuple[int, ...]
    order_dependent: tuple[tuple[Outcome, ...], ...]

    @classmethod
    def of(cls, experiment: Experiment, rounds: int, ends: Iterable[End]) -> Outcomes:
        """Add up the ends."""
        ends = list(ends)
        by_weights: dict[tuple[bytes, ...], list[End]] = {}
        for end in ends:
            by_weights.setdefault(bits(end.weights), []).append(end)
        groups = sorted(by_weights.values(), key=lambda group: -sum(end.ways for end in group))
        outcomes = tuple(Outcome(g[0].weights, sum(end.ways for end in g), g[0].example) for g in groups)
        sharing: dict[Applied, list[Outcome]] = {}
        for outcome, group in zip(outcomes, groups, strict=True):
            for applied in dict.fromkeys(end.history.applied for end in group):
                sharing.setdefault(applied, []).append(outcome)
        accepted: Counter[int] = Counter()
        for end in ends:
            accepted[sum(end.history.accepted)] += end.ways
        return cls(
            experiment, rounds, outcomes, dict(sorted(accepted.items())),
            understated=sum(end.ways for end in ends if end.history.understated),
            too_stale=sum(end.ways for end in ends if end.history.too_stale),
            stuck=sum(end.ways for end in ends if end.waiting),
            starved=tuple(
                sum(end.ways for end in ends if end.history.accepted[k] == 0) for k in range(experiment.workers)
            ),
            order_dependent=tuple(tuple(group) for group in sharing.values() if len(group) > 1),
        )  # fmt: skip

    @property
    def interleavings(self) -> int:
        """The number of interleavings."""
        return sum(self.accepted.values())

    @property
    def ranges(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """For each weight the least and the greatest of its entries that come out."""
        names = self.outcomes[0].weights
        all_of = {name: np.stack([np.asarray(o.weights[name]) for o in self.outcomes]) for name in names}
        return {name: (x.min(axis=0), x.max(axis=0)) for name, x in all_of.items()}

    def __len__(self) -> int:
        """The number of distinct final weights."""
        return len(self.outcomes)

    def __repr__(self) -> str:
        low, high = min(self.accepted), max(self.accepted)
        accepted = f"{low}" if low == high else f"{low} to {high}"
        results = counted(len(self), "result") if len(self) == 1 else f"{len(self):,} different results"
        parts = [
            f"{counted(self.interleavings, 'order')}, {results}",
            f"{accepted} of {counted(self.rounds * self.experiment.workers, 'gradient')} accepted",
            _orders_that_accept(self.too_stale, "one that is too stale"),
        ]
        if self.understated != self.too_stale:
            parts.append(_orders_that_accept(self.understated, "one that is staler than its check saw"))
        if self.stuck:
            parts.append(f"in {self.stuck:,} a worker waits forever")
        return "; ".join(parts)


def _orders_that_accept(orders: int, what: str) -> str:
    """Say how many orders accept such a gradient."""
    if not orders:
        return f"no order accepts {what}"
    return f"{counted(orders, 'order')} {'accepts' if orders == 1 else 'accept'} {what}"


def bits(arrays: Mapping[str, Array]) -> tuple[bytes, ...]:
    """Equal if and only if arrays of the same names, shapes and dtypes are equal bit for bit."""
    return tuple(np.asarray(x).tobytes() for x in arrays.values())

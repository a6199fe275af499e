"""Every order in which workers can act, without clocks: the possible results, and the number of orders of each.

All orders are walked at once, layer by layer: a layer holds the states after the same number of
pieces. States that are equal bit for bit are merged and their orders added up, so that each is
continued once.
"""

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
from .experiment import Experiment, Piece, worker_pieces
from .ledger import READ, UPDATE, Round
from .replays import replay_move
from .rows import flatten_gradient
from .server import Server
from .trace import Trace
from .validation import check_whole

Applied = frozenset[tuple[int, int, bytes]]  # worker, number, bits of the gradient


def explore(experiment: Experiment, rounds: int = 1, limit: int = 100_000) -> Outcomes:
    """Explore all interleavings of workers that hand in `rounds` gradients each; speeds do not matter, crashes do.

    No other worker acts within a piece: with `atomic` check and update are one piece, with
    `step_first` the read and the note of the step are.

    Args:
        limit: the most interleavings.

    Raises:
        ValueError: there are more; the message has their number, which is an upper bound if the
            policy makes workers wait.

    Not in TensorFlow.

    >>> from gradlab.workers import Bowl
    >>> two = Experiment(Bowl(), workers=2, staleness=0)
    >>> explore(two).accepted, explore(two.with_(atomic=False)).accepted  # accepted gradients: interleavings
    ({1: 4, 2: 2}, {1: 6, 2: 14})
    """
    check_whole("rounds", rounds, 1)
    e = experiment.with_(gradients=rounds * experiment.workers)
    lives = [list(worker_pieces(e, k, [e.speeds.median] * rounds)) for k in range(e.workers)]
    count = _count_interleavings(lives)
    if count > limit:
        most = "up to " if e.policy in ("wait", "backup") else ""
        size = f"{count:,}" if count < 10**15 else f"about 10^{math.log10(count):.0f}"
        raise InvalidArgumentError(
            f"{e.workers} workers with {rounds} gradients each have {most}{size} interleavings; "
            f"the limit is {limit:,}. Take fewer workers or rounds, or give a larger limit"
        )
    start = _State(lives, Server(e), (0,) * e.workers, History((0,) * e.workers))
    layer: dict[Hashable, _State] = {None: start}
    ends: list[End] = []
    while layer:
        next_layer: dict[Hashable, _State] = {}
        for state in layer.values():
            workers = state.workers_that_may_move()
            if not workers:
                ends.append(state.end())
            for k in workers:
                after = state.after(k)
                equal = next_layer.setdefault(after.key(), after)
                if equal is not after:
                    equal.ways += after.ways
        layer = next_layer
    return Outcomes.of(e, rounds, ends)


def _count_interleavings(lives: list[list[Piece]]) -> int:
    """Return (a + b + ...)! / (a! b! ...) for lives of a, b, ... pieces."""
    return math.factorial(sum(map(len, lives))) // math.prod(
        math.factorial(len(life)) for life in lives
    )


@dataclass
class _State:
    """The server, where each worker is in its life, and how many interleavings lead here; `path` is
    one of them.
    """

    lives: list[list[Piece]]
    server: Server
    places: tuple[int, ...]
    history: History
    ways: int = 1
    path: tuple[Any, int] | None = None  # (the path before, the worker that moved last)

    def workers_that_may_move(self) -> list[int]:
        return [
            k for k, life in enumerate(self.lives) if self.places[k] < len(life) and self._may(k)
        ]

    def after(self, k: int) -> _State:
        """Return the state after worker k's next piece."""
        server = self.server.copy()
        history = self.history
        for move in self.lives[k][self.places[k]].moves:
            gradient = server.given(k)
            replay_move(server, move, k, 0)
            if move == UPDATE:
                gradient_bits = b"".join(bits(flatten_gradient(gradient or {})))
                history = history.after(server.ledger.rounds[-1], gradient_bits, self._limit())
        places = tuple(place + (j == k) for j, place in enumerate(self.places))
        return _State(self.lives, server, places, history, self.ways, (self.path, k))

    def key(self) -> Hashable:
        """Return what is equal for states with equal futures and equal histories."""
        ledger = self.server.ledger
        in_hand = tuple(
            self._in_hand(k) if self._is_at_work(k) else None for k in range(len(self.lives))
        )
        reads = tuple(ledger.read_at) if ledger.policy == "backup" else None
        clocks = (ledger.step, tuple(ledger.clock), reads)
        return self.places, self.server.fingerprint(), clocks, in_hand, self.history

    def end(self) -> End:
        """Return the state as the end of its interleavings."""
        waiting = tuple(k for k, life in enumerate(self.lives) if self.places[k] < len(life))
        return End(self.history, self.ways, waiting, self.server.weights, self._example())

    def _may(self, k: int) -> bool:
        return self.lives[k][self.places[k]].moves[0] != READ or self.server.ledger.may_read(k)

    def _is_at_work(self, k: int) -> bool:
        return (
            0 < self.places[k] < len(self.lives[k])
            and self.lives[k][self.places[k]].moves[0] != READ
        )

    def _in_hand(self, k: int) -> Hashable:
        """Return what a worker holds between its read and its update."""
        ledger = self.server.ledger
        gradient = self.server.given(k)
        gradient_bits = None if gradient is None else bits(flatten_gradient(gradient))
        steps = (ledger.read_at[k], ledger.recorded[k], ledger.checked[k], ledger.accepted[k])
        return bits(self.server.held(k)), steps, gradient_bits

    def _limit(self) -> float:
        ledger = self.server.ledger
        return ledger.staleness if ledger.policy in ("drop", "backup") else math.inf

    def _example(self) -> Trace:
        """Return one of the interleavings as a trace; its times count pieces."""
        reversed_order = []
        path = self.path
        while path is not None:
            path, k = path
            reversed_order.append(k)
        server = Server(self.server.experiment)
        log = []
        places = [0] * len(self.lives)
        for time, k in enumerate(reversed(reversed_order)):
            for move in self.lives[k][places[k]].moves:
                replay_move(server, move, k, time)
                log.append((move, k, time))
            places[k] += 1
        return Trace.of(
            server.experiment, "explored", "pieces", log, server.ledger.rounds, server.weights
        )


class History(NamedTuple):
    """The part of a path that distinguishes states."""

    accepted: tuple[int, ...]  # per worker
    understated: bool = False
    too_stale: bool = False
    applied: Applied = frozenset()

    def after(self, r: Round, gradient: bytes, limit: float) -> History:
        """Return the history with one more round."""
        if not r.accepted:
            return self
        accepted = tuple(n + (k == r.worker) for k, n in enumerate(self.accepted))
        true_staleness = r.applied_to - r.read
        return History(
            accepted=accepted,
            understated=self.understated or true_staleness > r.checked - r.recorded,
            too_stale=self.too_stale or true_staleness > limit,
            applied=self.applied | {(r.worker, r.number, gradient)},
        )


class End(NamedTuple):
    """A state in which no worker can continue."""

    history: History
    ways: int  # interleavings that lead there
    waiting: tuple[int, ...]  # workers that the policy makes wait forever
    weights: Mapping[str, Array]
    example: Trace


class Outcome(NamedTuple):
    """Final weights, the number of interleavings that lead to them, and a trace of one of those.

    Not in TensorFlow.

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

    Attributes:
        experiment, rounds: what was explored.
        outcomes: the different final weights, those that most interleavings lead to first.
        accepted: number of accepted gradients -> number of interleavings.
        understated: interleavings in which an accepted gradient was truly staler than its check
            saw.
        too_stale: interleavings in which an accepted gradient was truly staler than the limit.
        stuck: interleavings that end with a worker waiting forever.
        starved: per worker, interleavings in which none of its gradients was accepted.
        order_dependent: groups of outcomes in which the same gradients, bit for bit, were accepted
            in another order; under plain descent only rounding makes such sums differ.

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
        """Add up the ends of all interleavings."""
        ends = list(ends)
        by_weights: dict[tuple[bytes, ...], list[End]] = {}
        for end in ends:
            by_weights.setdefault(bits(end.weights), []).append(end)
        groups = sorted(by_weights.values(), key=_count_ways, reverse=True)
        outcomes = tuple(
            Outcome(group[0].weights, _count_ways(group), group[0].example) for group in groups
        )
        by_applied: dict[Applied, list[Outcome]] = {}
        for outcome, group in zip(outcomes, groups, strict=True):
            for applied in dict.fromkeys(end.history.applied for end in group):
                by_applied.setdefault(applied, []).append(outcome)
        accepted: Counter[int] = Counter()
        for end in ends:
            accepted[sum(end.history.accepted)] += end.ways
        return cls(
            experiment=experiment,
            rounds=rounds,
            outcomes=outcomes,
            accepted=dict(sorted(accepted.items())),
            understated=_count_ways(end for end in ends if end.history.understated),
            too_stale=_count_ways(end for end in ends if end.history.too_stale),
            stuck=_count_ways(end for end in ends if end.waiting),
            starved=tuple(
                _count_ways(end for end in ends if end.history.accepted[k] == 0)
                for k in range(experiment.workers)
            ),
            order_dependent=tuple(tuple(group) for group in by_applied.values() if len(group) > 1),
        )

    @property
    def interleavings(self) -> int:
        """The number of interleavings."""
        return sum(self.accepted.values())

    @property
    def ranges(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """For each weight, its least and its greatest possible entries."""
        names = self.outcomes[0].weights
        all_of = {
            name: np.stack([np.asarray(o.weights[name]) for o in self.outcomes]) for name in names
        }
        return {name: (x.min(axis=0), x.max(axis=0)) for name, x in all_of.items()}

    def __len__(self) -> int:
        """The number of distinct final weights."""
        return len(self.outcomes)

    def __repr__(self) -> str:
        low = min(self.accepted)
        high = max(self.accepted)
        accepted = f"{low}" if low == high else f"{low} to {high}"
        results = (
            counted(len(self), "result") if len(self) == 1 else f"{len(self):,} different results"
        )
        parts = [
            f"{counted(self.interleavings, 'order')}, {results}",
            f"{accepted} of {counted(self.rounds * self.experiment.workers, 'gradient')} accepted",
            _orders_that_accept(self.too_stale, "one that is too stale"),
        ]
        if self.understated != self.too_stale:
            parts.append(
                _orders_that_accept(self.understated, "one that is staler than its check saw")
            )
        if self.stuck:
            parts.append(f"in {self.stuck:,} a worker waits forever")
        return "; ".join(parts)


def _count_ways(ends: Iterable[End]) -> int:
    """Return the number of interleavings with these ends."""
    return sum(end.ways for end in ends)


def _orders_that_accept(orders: int, what: str) -> str:
    """Say how many orders accept such a gradient."""
    if not orders:
        return f"no order accepts {what}"
    return f"{counted(orders, 'order')} {'accepts' if orders == 1 else 'accept'} {what}"


def bits(arrays: Mapping[str, Array]) -> tuple[bytes, ...]:
    """Return what is equal if and only if arrays of the same names, shapes and dtypes are equal bit for bit."""
    return tuple(np.asarray(x).tobytes() for x in arrays.values())

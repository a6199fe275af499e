"""What all interleavings of a few gradients come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._base.arrays import Array
from .experiment import Experiment
from .ledger import Round
from .trace import Trace

Applied = frozenset[tuple[int, int, bytes]]  # worker, number, bits of the gradient


class History(NamedTuple):
    """What is kept of the way to a state, so that states are told apart by it."""

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
    """A state in which nobody can go on."""

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
    """What `explore` found.

    Fields:
        experiment, rounds: what was explored.
        outcomes: the different final weights, those that most interleavings lead to first.
        accepted: how many gradients were accepted in how many interleavings.
        understated: interleavings in which an accepted gradient was truly staler than its check saw.
        too_stale: those in which one was accepted that was truly staler than the limit.
        stuck: those which end with somebody waiting for ever.
        starved: per worker, those in which none of its gradients was accepted.
        order_dependent: groups of outcomes in which the same gradients, bit for bit, were accepted in another order;
            under plain descent only rounding makes such sums differ.

    Not in TensorFlow.

    >>> from gradlab.workers import Bowl, explore
    >>> explore(Experiment(Bowl(), workers=2, atomic=False))
    <gradlab.workers.Outcomes of 20 interleavings: 3 weights, 1 to 2 of 2 accepted, understated in 12, too stale in 12>
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
        """How many there are."""
        return sum(self.accepted.values())

    @property
    def ranges(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """For each weight the least and the greatest of its entries that come out."""
        names = self.outcomes[0].weights
        all_of = {name: np.stack([np.asarray(o.weights[name]) for o in self.outcomes]) for name in names}
        return {name: (x.min(axis=0), x.max(axis=0)) for name, x in all_of.items()}

    def __len__(self) -> int:
        """How many different weights come out."""
        return len(self.outcomes)

    def __repr__(self) -> str:
        low, high = min(self.accepted), max(self.accepted)
        stuck = f", stuck in {self.stuck}" if self.stuck else ""
        return (
            f"<gradlab.workers.Outcomes of {self.interleavings} interleavings: {len(self)} weights, "
            f"{low if low == high else f'{low} to {high}'} of {self.rounds * self.experiment.workers} accepted, "
            f"understated in {self.understated}, too stale in {self.too_stale}{stuck}>"
        )


def bits(arrays: Mapping[str, Array]) -> tuple[bytes, ...]:
    """Equal if and only if arrays of the same names, shapes and dtypes are equal bit for bit."""
    return tuple(np.asarray(x).tobytes() for x in arrays.values())

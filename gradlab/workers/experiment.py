"""Experiments: a problem, an optimizer, workers and their speeds, and a policy for stale gradients.

A worker is a generator: it says what it asks of the server next and how long it works before it does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np

from .. import rules
from .._base.arrays import Array, as_array, quiet
from ..errors import InvalidArgumentError
from . import problems
from .checks import brief, finite, flag, lent, whole, written_to
from .ledger import CHECK, JOIN, LEAVE, POLICIES, READ, RECORD, UPDATE
from .problems import Problem
from .speeds import Crash, Speeds


@dataclass(frozen=True)
class Experiment:
    """Asynchronous training of one problem by several workers. Every engine runs the same experiment.

    Args:
        problem: what is trained: `Bowl`, `Digits`, `FromLoss`, `Tables`, or an object with their three methods.
        optimizer, learning_rate: a rule of `gl.rules` and its rate; those of `Tables` are in its plan.
        workers, speeds: how many, and how long they take.
        policy, staleness: what becomes of stale gradients, s = step now - step noted with the read:
            "apply" takes all (asynchronous SGD, Dean et al. 2012); "drop" accepts s <= staleness only
            (`DropStaleGradientOptimizer`, which also takes limits below 0 and then drops all); "wait" lets nobody get
            more than `staleness` gradients ahead of the slowest (stale-synchronous, Ho et al. 2013); "damp" divides the
            gradient by 1 + s (after Zhang et al. 2016); "compensate" adds strength * g * g * (w_now - w_read) (DC-ASGD,
            Zheng et al. 2017); "backup" takes the mean of the first `aggregate` gradients of a step and drops the rest
            (Chen et al. 2016).
        mean_square_decay: with it "compensate" divides its strength by the root of a running mean of g * g (DC-ASGD-a
            there); None keeps the strength as it is.
        gradients: the run ends when so many have been handed in, accepted or not.
        atomic: check and update are one piece. In TensorFlow they are not, and two workers may both pass.
        step_first: a worker notes the step with the weights it reads. In TensorFlow it may do so after its forward
            pass, and its gradient is staler than it says.
        seed: of speeds and batches; batch n of worker k is drawn by `default_rng([seed, k, n + 1])`, for
            NumPy takes [seed, k, 0] for [seed, k], which draws the speeds.
        weights: to start from, instead of the problem's own.

    Not in TensorFlow. Source: Dean et al., "Large Scale Distributed Deep Networks" (2012); Ho et al., "More Effective
    Distributed ML via a Stale Synchronous Parallel Parameter Server" (2013); Chen et al., "Revisiting Distributed
    Synchronous SGD" (2016); and those named in `gl.staleness`.

    Raises: ValueError or TypeError for what does not fit; the message lists what does.

    >>> Experiment(problems.Bowl(), workers=2, policy="hope")
    Traceback (most recent call last):
    gradlab.errors.InvalidArgumentError: policy must be one of apply, drop, wait, damp, compensate, backup; got 'hope'
    """

    problem: Problem
    optimizer: rules.Rule = rules.StochasticGradientDescent()  # noqa: RUF009  # frozen
    learning_rate: float = 0.1
    workers: int = 4
    speeds: Speeds = Speeds()  # noqa: RUF009  # frozen
    policy: str = "drop"
    staleness: int = 0
    aggregate: int = 1
    strength: float = 0.04
    mean_square_decay: float | None = None
    gradients: int = 200
    atomic: bool = True
    step_first: bool = True
    seed: int = 0
    weights: Mapping[str, Array] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            raise InvalidArgumentError(f"policy must be one of {', '.join(POLICIES)}; got {self.policy!r}")
        if isinstance(self.problem, type):
            raise TypeError(f"problem is the class {self.problem.__name__}: give one of it, {self.problem.__name__}()")
        for name in ("start", "gradient", "loss"):
            if not callable(getattr(self.problem, name, None)):
                raise TypeError(f"a problem has methods start, gradient and loss; {self.problem!r} lacks {name}")
        if not isinstance(self.optimizer, rules.Rule):
            raise TypeError(f"optimizer must be a rule of gl.rules, got {type(self.optimizer).__name__}")
        if not isinstance(self.speeds, Speeds):
            raise TypeError(f"speeds must be Speeds(...), got {type(self.speeds).__name__}")
        self._check_numbers()
        if self.policy == "compensate" and getattr(self.problem, "plan", None) is not None:
            raise InvalidArgumentError("policy 'compensate' is for whole weights: take another for those of a plan")
        if self.policy == "backup" and self.aggregate > self.workers:
            raise InvalidArgumentError(f"{self.workers} workers cannot hand in {self.aggregate} gradients of one step")
        who = {*self.speeds.slow, *(crash.worker for crash in self.speeds.crashes)}
        if not who <= set(range(self.workers)):
            raise InvalidArgumentError(
                f"speeds name workers {sorted(who)}; there are 0 to {self.workers - 1}: slow or crash one of these, "
                "such as 0, or have more workers"
            )
        if self.weights is not None:
            weights = {name: as_array(w, f"the weight {name}") for name, w in self.weights.items()}
            object.__setattr__(self, "weights", weights)

    def _check_numbers(self) -> None:
        for name, least in (("staleness", 0), ("workers", 1), ("aggregate", 1), ("gradients", 0), ("seed", 0)):
            whole(name, getattr(self, name), least)
        for name in ("learning_rate", "strength"):
            finite(name, getattr(self, name))
        if self.mean_square_decay is not None:
            finite("mean_square_decay", self.mean_square_decay, 0)
            if self.mean_square_decay > 1:
                raise InvalidArgumentError(f"mean_square_decay is from 0 to 1, got {self.mean_square_decay!r}")
        for name in ("atomic", "step_first"):
            flag(name, getattr(self, name))

    def __repr__(self) -> str:
        shown = {f.name: getattr(self, f.name) for f in fields(self)}
        parts = (f"{name}={brief(x) if name == 'weights' else repr(x)}" for name, x in shown.items())
        return f"Experiment({', '.join(parts)})"

    def start(self) -> dict[str, Array]:
        """The weights before the first update."""
        return dict(self.problem.start() if self.weights is None else self.weights)

    def rng(self, worker: int, number: int) -> np.random.Generator:
        """The generator that draws batch `number` of a worker."""
        return np.random.default_rng([self.seed, worker, number + 1])

    @quiet
    def gradient(self, weights: Mapping[str, Array], worker: int, number: int) -> dict[str, Array]:
        """Gradient `number` of a worker at these weights: the same bits on whatever engine.

        The problem may read the weights and not write to them (InvalidArgumentError): others hold the same arrays.
        """
        try:
            return self.problem.gradient(lent(weights), self.rng(worker, number))
        except ValueError as error:
            if (told := written_to(f"gradient of {brief(self.problem)}", error)) is error:
                raise
            raise told from error

    def ticks(self, count: int | None = None) -> np.ndarray:
        """int64 (workers, count): how long each gradient takes; by default as many as one worker can need."""
        most = self.gradients + len(self.speeds.crashes) + 1
        return self.speeds.ticks(self.seed, self.workers, most if count is None else count)

    def to_json(self) -> str:
        """Return everything but the weights to start from; null for a problem of your own."""
        config = {name: getattr(self, name) for name in _PLAIN}
        config |= {"problem": problems.get_config(self.problem), "optimizer": self.optimizer.get_config()}
        speeds = asdict(self.speeds)
        speeds["slow"] = sorted(self.speeds.slow.items())
        return json.dumps(config | {"speeds": speeds}, default=lambda number: number.item())  # NumPy's numbers

    @classmethod
    def from_json(cls, text: str, problem: Problem | None = None) -> Experiment:
        """The experiment that `to_json` wrote; a problem of your own has to be given again."""
        config: dict[str, Any] = json.loads(text)
        written, speeds = config.pop("problem"), config.pop("speeds")
        if problem is None and written is None:
            raise ValueError("the problem of this experiment is not one that ships: give it as problem=")
        crashes = tuple(Crash(**crash) for crash in speeds.pop("crashes"))
        slow = {int(k): factor for k, factor in speeds.pop("slow")}
        config["speeds"] = Speeds(**speeds, slow=slow, crashes=crashes)
        config["optimizer"] = rules.from_config(config["optimizer"])
        return cls(problem=problem or problems.from_config(written), **config)

    def with_(self, **changes: Any) -> Experiment:
        """Return the same experiment with some fields changed, checked again."""
        return replace(self, **changes)


_PLAIN = (
    "learning_rate", "workers", "policy", "staleness", "aggregate", "strength", "mean_square_decay", "gradients",
    "atomic", "step_first", "seed",
)  # fmt: skip


class Piece(NamedTuple):
    """Moves that the server makes in one piece, and the ticks that the worker works before them."""

    ticks: int
    moves: tuple[int, ...]


def worker(experiment: Experiment, k: int, ticks: Sequence[int] | np.ndarray, first: int = 0) -> Iterator[Piece]:
    """The life of worker k from gradient `first` on; `ticks[n]` is how long gradient n takes.

    A piece that begins with a read is made once `may_read` allows it.
    """
    crashes = {crash.number: crash for crash in experiment.speeds.crashes if crash.worker == k}
    for number in range(first, len(ticks)):
        work = int(ticks[number])
        late = 0 if experiment.step_first else min(experiment.speeds.gap, work)
        yield Piece(0, (READ, RECORD) if experiment.step_first else (READ,))
        if crash := crashes.get(number):
            yield Piece(max(1, work // 2), (LEAVE,))
            if crash.after is None:
                return
            yield Piece(crash.after, (JOIN,))
            continue
        if not experiment.step_first:
            yield Piece(late, (RECORD,))
        if experiment.atomic:
            yield Piece(work - late, (CHECK, UPDATE))
        else:
            yield Piece(work - late, (CHECK,))
            yield Piece(experiment.speeds.gap, (UPDATE,))

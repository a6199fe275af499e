"""Experiments: a problem, an optimizer, workers and their speeds, and a policy for stale gradients.

An engine runs an experiment. It walks through the life of each worker: a generator of the moves
that the worker asks of the server next, and of the time that it works before it asks.
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
from .ledger import CHECK, JOIN, LEAVE, POLICIES, READ, RECORD, UPDATE
from .problems import Problem
from .read_only_weights import explain_write, lend
from .speeds import Crash, Speeds
from .validation import check_finite, check_flag, check_whole, short_repr

_PLAIN_FIELDS = (  # that are written to JSON as they are
    "learning_rate",
    "workers",
    "policy",
    "staleness",
    "aggregate",
    "strength",
    "mean_square_decay",
    "gradients",
    "atomic",
    "step_first",
    "seed",
)


@dataclass(frozen=True)
class Experiment:
    """Asynchronous training of one problem by several workers.

    Every engine runs the same experiment.

    Args:
        problem: what is trained: `Bowl`, `Digits`, `FromLoss`, `Tables`, or an object with their
            three methods.
        optimizer, learning_rate: a rule of `gl.rules` and its rate; those of `Tables` are in its
            plan.
        workers, speeds: the number of workers, and how long they take.
        policy, staleness: what becomes of stale gradients, s = step now - step noted with the read.
            "apply" accepts all (asynchronous SGD, Dean et al. 2012).
            "drop" accepts s <= staleness only (`DropStaleGradientOptimizer`, which also takes
            limits below 0 and then drops all).
            "wait" keeps every worker at most `staleness` gradients ahead of the slowest
            (stale-synchronous, Ho et al. 2013).
            "damp" divides the gradient by 1 + s (after Zhang et al. 2016).
            "compensate" adds strength * g * g * (w_now - w_read) (DC-ASGD, Zheng et al. 2017).
            "backup" takes the mean of the first `aggregate` gradients of a step and drops the rest
            (Chen et al. 2016).
        mean_square_decay: with it "compensate" divides its strength by the root of a running mean
            of g * g (DC-ASGD-a there); None keeps the strength as it is.
        gradients: the run ends when this many were handed in, accepted or not.
        atomic: whether check and update are one move. In TensorFlow they are not, and two workers
            may both pass.
        step_first: whether a worker notes the step with the weights it reads. In TensorFlow it may
            do so after its forward pass, and its gradient is staler than it says.
        seed: of speeds and batches. `default_rng([seed, k])` draws the speeds of worker k, and
            `default_rng([seed, k, n + 1])` its batch n; NumPy takes [seed, k, 0] for [seed, k].
        weights: the first ones, instead of the problem's own.

    Not in TensorFlow. Source: Dean et al., "Large Scale Distributed Deep Networks" (2012); Ho et
    al., "More Effective Distributed ML via a Stale Synchronous Parallel Parameter Server" (2013);
    Chen et al., "Revisiting Distributed Synchronous SGD" (2016); and those named in `gl.staleness`.

    Raises:
        ValueError or TypeError: an argument that does not fit; the message says which values do.

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
            raise InvalidArgumentError(
                f"policy must be one of {', '.join(POLICIES)}; got {self.policy!r}"
            )
        self._check_parts()
        self._check_numbers()
        if self.policy == "compensate" and getattr(self.problem, "plan", None) is not None:
            raise InvalidArgumentError(
                "policy 'compensate' is for whole weights: take another for those of a plan"
            )
        if self.policy == "backup" and self.aggregate > self.workers:
            raise InvalidArgumentError(
                f"{self.workers} workers cannot hand in {self.aggregate} gradients of one step"
            )
        named_workers = {*self.speeds.slow, *(crash.worker for crash in self.speeds.crashes)}
        if not named_workers <= set(range(self.workers)):
            raise InvalidArgumentError(
                f"speeds name workers {sorted(named_workers)}; there are 0 to {self.workers - 1}: "
                "slow or crash one of these, such as 0, or have more workers"
            )
        if self.weights is not None:
            weights = {name: as_array(w, f"the weight {name}") for name, w in self.weights.items()}
            object.__setattr__(self, "weights", weights)

    def _check_parts(self) -> None:
        if isinstance(self.problem, type):
            raise TypeError(
                f"problem is the class {self.problem.__name__}: give one of it, "
                f"{self.problem.__name__}()"
            )
        for name in ("start", "gradient", "loss"):
            if not callable(getattr(self.problem, name, None)):
                raise TypeError(
                    f"a problem has methods start, gradient and loss; {self.problem!r} lacks {name}"
                )
        if not isinstance(self.optimizer, rules.Rule):
            raise TypeError(
                f"optimizer must be a rule of gl.rules, got {type(self.optimizer).__name__}"
            )
        if not isinstance(self.speeds, Speeds):
            raise TypeError(f"speeds must be Speeds(...), got {type(self.speeds).__name__}")

    def _check_numbers(self) -> None:
        check_whole("staleness", self.staleness, 0)
        check_whole("workers", self.workers, 1)
        check_whole("aggregate", self.aggregate, 1)
        check_whole("gradients", self.gradients, 0)
        check_whole("seed", self.seed, 0)
        check_finite("learning_rate", self.learning_rate)
        check_finite("strength", self.strength)
        if self.mean_square_decay is not None:
            check_finite("mean_square_decay", self.mean_square_decay, 0)
            if self.mean_square_decay > 1:
                raise InvalidArgumentError(
                    f"mean_square_decay is from 0 to 1, got {self.mean_square_decay!r}"
                )
        check_flag("atomic", self.atomic)
        check_flag("step_first", self.step_first)

    def __repr__(self) -> str:
        values = {f.name: repr(getattr(self, f.name)) for f in fields(self)}
        values["weights"] = short_repr(self.weights)
        return f"Experiment({', '.join(f'{name}={value}' for name, value in values.items())})"

    def start(self) -> dict[str, Array]:
        """Return the weights before the first update."""
        return dict(self.problem.start() if self.weights is None else self.weights)

    def rng(self, worker: int, number: int) -> np.random.Generator:
        """Return the generator that draws batch `number` of a worker."""
        return np.random.default_rng([self.seed, worker, number + 1])

    @quiet
    def gradient(self, weights: Mapping[str, Array], worker: int, number: int) -> dict[str, Array]:
        """Compute gradient `number` of a worker at these weights, with the same bits on every engine.

        The problem may read the weights and not write to them (InvalidArgumentError): others hold
        the same arrays.
        """
        try:
            return self.problem.gradient(lend(weights), self.rng(worker, number))
        except ValueError as error:
            explained = explain_write(f"gradient of {short_repr(self.problem)}", error)
            if explained is error:
                raise
            raise explained from error

    def ticks(self, count: int | None = None) -> np.ndarray:
        """Draw how long each gradient takes.

        Args:
            count: gradients of each worker; by default as many as one worker can need.

        Returns:
            int64 (workers, count).
        """
        most = self.gradients + len(self.speeds.crashes) + 1
        return self.speeds.ticks(self.seed, self.workers, most if count is None else count)

    def to_json(self) -> str:
        """Return everything but the weights to start from; null for a problem of your own."""
        speeds = asdict(self.speeds)
        speeds["slow"] = sorted(self.speeds.slow.items())
        config = {name: getattr(self, name) for name in _PLAIN_FIELDS}
        config["problem"] = problems.get_config(self.problem)
        config["optimizer"] = self.optimizer.get_config()
        config["speeds"] = speeds
        return json.dumps(config, default=lambda number: number.item())  # NumPy's numbers

    @classmethod
    def from_json(cls, text: str, problem: Problem | None = None) -> Experiment:
        """Return the experiment that `to_json` wrote; a problem of your own has to be given again."""
        config: dict[str, Any] = json.loads(text)
        problem_config = config.pop("problem")
        if problem is None:
            if problem_config is None:
                raise ValueError(
                    "the problem of this experiment is not one that ships: give it as problem="
                )
            problem = problems.from_config(problem_config)
        speeds = config.pop("speeds")
        speeds["crashes"] = tuple(Crash(**crash) for crash in speeds["crashes"])
        speeds["slow"] = {int(k): factor for k, factor in speeds["slow"]}
        config["speeds"] = Speeds(**speeds)
        config["optimizer"] = rules.from_config(config["optimizer"])
        return cls(problem=problem, **config)

    def with_(self, **changes: Any) -> Experiment:
        """Return the same experiment with some fields changed, checked again."""
        return replace(self, **changes)


class Piece(NamedTuple):
    """Moves that the server makes together, and the ticks that the worker works before them."""

    ticks: int
    moves: tuple[int, ...]


def worker_pieces(
    experiment: Experiment, k: int, ticks: Sequence[int] | np.ndarray, first: int = 0
) -> Iterator[Piece]:
    """Yield the pieces of worker k from gradient `first` on; gradient n takes `ticks[n]`.

    The engine has to make a piece that begins with a read wait until `may_read` allows it.
    """
    crashes = {crash.number: crash for crash in experiment.speeds.crashes if crash.worker == k}
    for number in range(first, len(ticks)):
        work = int(ticks[number])
        if experiment.step_first:
            late = 0
            yield Piece(0, (READ, RECORD))
        else:
            late = min(experiment.speeds.gap, work)  # ticks from the read to the note of the step
            yield Piece(0, (READ,))
        crash = crashes.get(number)
        if crash is not None:
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

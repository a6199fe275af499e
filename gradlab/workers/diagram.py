"""Phase diagrams: timing and accepted gradients of whole grids of experiments in one call."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from .._base.suggest import did_you_mean
from ..errors import InvalidArgumentError
from .experiment import Experiment
from .speeds import draws

AXES = (
    "staleness",
    "workers",
    "aggregate",
    "median",
    "spread",
    "slow",
    "stall",
    "stall_factor",
    "seed",
)
_OF_SPEEDS = ("median", "spread", "slow", "stall", "stall_factor", "seed")  # what ticks depend on
_LARGEST = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Diagram:
    """The results of the experiments of a grid; the arrays have one axis for each of `axes`, in their order.

    Attributes:
        axes: name -> values.
        acceptance: share of the gradients handed in that was accepted.
        throughput: updates per tick.
        updates: int64.
        staleness, most_staleness: mean and maximum of the true staleness of all gradients handed
            in.
        handed_in, accepted: int64, gradients per worker along one more axis, 0 for workers that are
            not there.
        waiting: share of the workers' time that they waited.
        time: int64, ticks until the last gradient was handed in.

    Not in TensorFlow.

    >>> from gradlab.workers import Bowl
    >>> sweep(Experiment(Bowl()), staleness=[0, 1], workers=[1, 2, 4])
    <gradlab.workers.Diagram of 2 staleness x 3 workers>
    """

    axes: Mapping[str, Sequence[Any]]
    acceptance: np.ndarray
    throughput: np.ndarray
    updates: np.ndarray
    staleness: np.ndarray
    most_staleness: np.ndarray
    handed_in: np.ndarray
    accepted: np.ndarray
    waiting: np.ndarray
    time: np.ndarray

    def __repr__(self) -> str:
        return f"<gradlab.workers.Diagram of {' x '.join(f'{len(x)} {name}' for name, x in self.axes.items())}>"


def sweep(experiment: Experiment, **axes: Sequence[Any]) -> Diagram:
    """Compute timing and decisions for every combination of some values, tick by tick those of the simulated engine.

    Args:
        experiment: all settings that are no axis. Its problem and optimizer have no effect.
        axes: lists of values for any of staleness, workers, aggregate, median, spread, slow, stall,
            stall_factor, seed; without any, staleness 0 to 15 by 1 to 16 workers. A value of slow
            is a mapping, as in `Speeds`.

    JAX compiles one program for each policy, number of gradients and size of the grid (workers are
    rounded up to a power of two), whatever the values; without JAX, NumPy computes.
    Not in TensorFlow.

    Raises:
        ValueError or TypeError: an unknown axis, or values of which no experiment can be made; also
            crashes, `atomic=False`, `step_first=False` and no gradients at all, for which there is
            `run`.
        OverflowError: times that 32 bits cannot hold.

    >>> from gradlab.workers import Bowl
    >>> e = Experiment(Bowl(), gradients=1000)
    >>> sweep(e, staleness=[0, 1, 3], workers=[1, 4]).acceptance.round(2).tolist()
    [[1.0, 0.26], [1.0, 0.51], [1.0, 0.85]]
    """
    from .._base.jax_or_numpy import on_host
    from .batched import run

    axes = axes or {"staleness": range(16), "workers": range(1, 17)}
    values = {name: _check_axis(name, x) for name, x in axes.items()}
    _check_grid(experiment, values)
    grid = _Grid(experiment, values)
    ticks = grid.ticks()
    if int(ticks.max()) * ticks.shape[1] > _LARGEST:
        raise OverflowError(_too_long(experiment))
    policy = _policy_of_batch(experiment.policy)
    outcome = on_host(
        run(ticks.astype(np.int32), grid.row, grid.workers, grid.limit, grid.aggregate, policy)
    )
    return _make_diagram(
        experiment, values, {name: grid.unflatten(x) for name, x in outcome._asdict().items()}
    )


def _make_diagram(
    experiment: Experiment, values: Mapping[str, list[Any]], counts: Mapping[str, np.ndarray]
) -> Diagram:
    """Return the shares and means of counts with the workers along their last axis."""
    if counts["overflow"].any():
        raise OverflowError(_too_long(experiment))
    workers = max(values.get("workers", [experiment.workers]))
    accepted = counts["accepted"][..., :workers]
    updates = counts["updates"][..., 0]
    time = counts["time"][..., 0]
    return Diagram(
        axes=values,
        acceptance=accepted.sum(axis=-1) / experiment.gradients,
        throughput=updates / time,
        updates=updates,
        staleness=counts["age"][..., 0] / experiment.gradients,
        most_staleness=counts["oldest"][..., 0],
        handed_in=counts["handed_in"][..., :workers],
        accepted=accepted,
        waiting=counts["waited"][..., 0] / counts["all_time"][..., 0],
        time=time,
    )


class _Grid:
    """The grid as `batched` needs it: limits of staleness along one axis, all other combinations
    along another.
    """

    def __init__(self, experiment: Experiment, values: Mapping[str, list[Any]]) -> None:
        self._experiment = experiment
        self._values = values
        # Under "wait" the times depend on the limit, so each limit is a configuration of its own.
        self._others = [
            name for name in values if name != "staleness" or experiment.policy == "wait"
        ]
        self._shape = tuple(len(values[name]) for name in self._others)
        places = np.indices(self._shape).reshape(len(self._shape), math.prod(self._shape))
        self._places = dict(zip(self._others, places, strict=True))
        self._speeds = [name for name in self._others if name in _OF_SPEEDS]
        self.workers = self._along("workers")
        self.aggregate = self._along("aggregate")
        row = np.zeros_like(self.workers)
        for name in self._speeds:
            row = row * len(values[name]) + self._places[name]
        self.row = row.astype(np.int32)
        self._limits_apart = "staleness" in values and "staleness" not in self._others
        self._limits = len(values["staleness"]) if self._limits_apart else 1
        if experiment.policy == "drop":
            self.limit = _int32(values.get("staleness", [experiment.staleness]))[:, None]
        else:
            self.limit = self._along("staleness")[None]

    def _along(self, name: str) -> np.ndarray:
        """Return one of the settings: int32 (configurations,)."""
        if name in self._others:
            return _int32(self._values[name])[self._places[name]]
        return np.full(math.prod(self._shape), _int32([getattr(self._experiment, name)]), np.int32)

    def ticks(self) -> np.ndarray:
        """Return int64 (speeds, workers, gradients + 1); workers are a power of two, of which the
        last are idle.
        """
        e = self._experiment
        most = int(self.workers.max())
        combinations = list(product(*(self._values[name] for name in self._speeds)))
        shape = len(combinations), 1 << (most - 1).bit_length(), e.gradients + 1
        if math.prod(shape) > _LARGEST:
            raise OverflowError(
                f"{' x '.join(map(str, shape))} speeds, workers and "
                f"gradients are over {_LARGEST} ticks"
            )
        ticks = np.ones(shape, np.int64)
        for row, combination in zip(ticks, combinations, strict=True):
            changes = dict(zip(self._speeds, combination, strict=True))
            seed = changes.pop("seed", e.seed)
            speeds = replace(e.speeds, **changes)
            row[:most] = speeds.ticks_from(
                *_draws(seed, most, e.gradients + 1, stalls=speeds.stall > 0)
            )
        return ticks

    def unflatten(self, x: np.ndarray) -> np.ndarray:
        """Return (workers or 1, limits or 1, configurations) along the axes of the grid, the
        workers last.
        """
        x = np.broadcast_to(x, (x.shape[0], self._limits, x.shape[2])).transpose(1, 2, 0)
        x = x.reshape(self._limits, *self._shape, x.shape[-1])
        x = x.astype(np.int64) if x.dtype == np.int32 else x
        return (
            np.moveaxis(x, 0, list(self._values).index("staleness")) if self._limits_apart else x[0]
        )


def _int32(values: Sequence[int]) -> np.ndarray:
    """Return int32; a staleness limit over a billion is never reached."""
    limits: np.ndarray = np.minimum(np.array(values), 2**30).astype(np.int32)
    return limits


# A slider for the spread or for a straggler needs other ticks from the same draws.
_draws = lru_cache(maxsize=8)(draws)


def _policy_of_batch(policy: str) -> str:
    """Return "apply" for all policies that accept all: their timing and decisions are the same."""
    return policy if policy in ("drop", "wait", "backup") else "apply"


def _check_axis(name: str, x: Any) -> list[Any]:
    """Return the values of an axis as a list."""
    if name not in AXES:
        raise TypeError(f"{name} is no axis of a sweep; {did_you_mean(name, AXES)}")
    if isinstance(x, str | Mapping) or not hasattr(x, "__len__"):
        raise TypeError(f"{name} is an axis: give a list of values, got {x!r}")
    if not len(x):
        raise InvalidArgumentError(f"{name} is an axis without values")
    return x.tolist() if isinstance(x, np.ndarray) else list(x)


def _check_grid(experiment: Experiment, values: Mapping[str, list[Any]]) -> None:
    """Raise unless experiments can be made of all combinations: each value is tried with the fewest
    workers.
    """
    e = experiment
    if e.speeds.crashes or not e.atomic or not e.step_first:
        raise InvalidArgumentError(
            "sweep knows no crashes, and checks and updates in one piece: set atomic=True, "
            "step_first=True and no crashes, or run the experiments one by one with gl.workers.run"
        )
    if e.gradients < 1:
        raise InvalidArgumentError(f"sweep needs at least 1 gradient, got {e.gradients}")
    fewest = {name: x[0] for name, x in values.items()} | {
        "workers": min(values.get("workers", [e.workers]))
    }
    for name, x in values.items():
        for value in x:
            changes = fewest | {name: value}
            speeds = {k: changes.pop(k) for k in _OF_SPEEDS if k in changes and k != "seed"}
            try:
                e.with_(**changes, speeds=replace(e.speeds, **speeds))
            except (InvalidArgumentError, TypeError) as error:
                place = ", ".join(
                    f"{k}={x!r}" for k, x in (fewest | {name: value}).items() if k in values
                )
                raise type(error)(f"at {place}: {error}") from error


def _too_long(experiment: Experiment) -> str:
    e = experiment
    return (
        f"{e.gradients} gradients of these speeds take longer than 32 bits can count in ticks and "
        f"workers; give a smaller median than {e.speeds.median} or fewer gradients"
    )

"""Speeds of workers: integer ticks per gradient, stragglers, stalls, and crashes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from ..errors import InvalidArgumentError
from .validation import check_finite, check_whole

LONGEST = 2**31 - 1  # ticks of one gradient


@dataclass(frozen=True)
class Crash:
    """A worker dies while it computes its gradient `number` (from 0), which is lost, and returns `after` ticks later.

    `after=None`: it never returns. Not in TensorFlow.

    >>> Speeds(crashes=(Crash(worker=1, number=3, after=500), Crash(0, 7))).crashes[1]
    Crash(worker=0, number=7, after=None)
    """

    worker: int
    number: int
    after: int | None = None

    def __post_init__(self) -> None:
        check_whole("worker of a crash", self.worker, 0)
        check_whole("number of a crash", self.number, 0)
        if self.after is not None:
            check_whole("after of a crash", self.after, 0)


@dataclass(frozen=True)
class Speeds:
    """Ticks that each gradient of each worker takes.

        ticks = max(1, round(median * slow[worker] * exp(spread * z)))
        in a stall times `stall_factor`

    Args:
        median: ticks of one gradient.
        spread: standard deviation of their logarithm; z is standard normal.
        slow: worker -> factor, for stragglers.
        stall, stall_factor: the chance that a gradient takes that many times longer.
        crashes: the deaths of workers.
        gap: ticks between two moves that are not one piece (`Experiment.atomic`, `step_first`).
        measured: durations of the steps of a real run, in any unit, such as `Recorder.durations()`.
            One of them, over their median, replaces exp(spread * z); z chooses it by its rank, and
            `spread` has no effect.

    Worker k draws from `default_rng([seed, k])`, and whether it stalls from that generator's child:
    its draws depend neither on the other workers nor on the number of gradients. No gradient takes
    over `LONGEST` ticks.

    Not in TensorFlow.

    >>> Speeds(median=100, spread=0.0, slow={1: 3}).ticks(seed=0, workers=2, count=2).tolist()
    [[100, 100], [300, 300]]
    >>> sorted({*Speeds(measured=[0.02, 0.01, 0.01, 0.05, 0.01]).ticks(seed=0, workers=1, count=50)[0].tolist()})
    [100, 200, 500]
    """

    median: int = 100
    spread: float = 0.2
    slow: Mapping[int, float] = field(default_factory=dict, hash=False)
    stall: float = 0.0
    stall_factor: float = 10.0
    crashes: tuple[Crash, ...] = ()
    gap: int = 5
    measured: tuple[float, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        check_whole("median", self.median, 1)
        check_whole("gap", self.gap, 0)
        for name in ("spread", "stall", "stall_factor"):
            check_finite(name, getattr(self, name), 0)
        if self.stall > 1:
            raise InvalidArgumentError(f"stall is a chance from 0 to 1, got {self.stall!r}")
        if not isinstance(self.slow, Mapping):
            raise TypeError(f"slow maps workers to factors, as {{3: 2.5}}; got {self.slow!r}")
        for worker, factor in self.slow.items():
            check_whole("a worker in slow", worker, 0)
            check_finite(f"slow[{worker}]", factor, 0)
        self._check_crashes()
        object.__setattr__(self, "measured", tuple(float(x) for x in self.measured))
        if not all(0 < x < np.inf for x in self.measured):
            raise InvalidArgumentError(
                "measured must hold positive, finite durations; omit unknown ones"
            )

    def _check_crashes(self) -> None:
        for crash in self.crashes:
            if not isinstance(crash, Crash):
                raise TypeError(f"crashes are Crash(worker, number, after), got {crash!r}")
        object.__setattr__(self, "crashes", tuple(self.crashes))
        deaths = [(crash.worker, crash.number) for crash in self.crashes]
        if twice := sorted({death for death in deaths if deaths.count(death) > 1}):
            raise InvalidArgumentError(
                f"worker {twice[0][0]} crashes twice at its gradient {twice[0][1]}; it can once"
            )

    def ticks(self, seed: int, workers: int, count: int) -> np.ndarray:
        """Return how long gradient n of worker k takes: int64 (workers, count)."""
        return self.ticks_from(*draws(seed, workers, count, stalls=self.stall > 0))

    def ticks_from(self, z: np.ndarray, u: np.ndarray | None) -> np.ndarray:
        """Return the same durations from the result of `draws`."""
        median = np.array([[self.median * self.slow.get(k, 1.0)] for k in range(len(z))])
        with np.errstate(over="ignore"):
            ticks = median * (
                _choose_duration(self.measured, z) if self.measured else np.exp(self.spread * z)
            )
            if self.stall and u is not None:
                ticks = np.where(u < self.stall, ticks * self.stall_factor, ticks)
        whole_ticks: np.ndarray = np.clip(np.rint(ticks), 1, LONGEST).astype(np.int64)
        return whole_ticks


def _choose_duration(measured: tuple[float, ...], z: np.ndarray) -> np.ndarray:
    """Return for every z the duration of its rank, over the median of all: all are equally likely."""
    return (np.sort(measured) / np.median(measured))[np.searchsorted(_borders(len(measured)), z)]


@lru_cache(maxsize=16)
def _borders(count: int) -> np.ndarray:
    """Return the boundaries that divide standard normal draws into that many equal shares."""
    return np.array([NormalDist().inv_cdf(k / count) for k in range(1, count)])


def draws(
    seed: int, workers: int, count: int, stalls: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return z, standard normal, and u, uniform from 0 to 1 (a worker stalls if u < stall): float64 (workers, count).

    u is None unless `stalls`.
    """
    rngs = [np.random.default_rng([seed, k]) for k in range(workers)]
    z = np.array([rng.standard_normal(count) for rng in rngs])
    if not stalls:
        return z, None
    u = np.array([rng.spawn(1)[0].random(count) for rng in rngs])
    return z, u

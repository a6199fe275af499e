"""How long workers take: integer ticks per gradient, stragglers, stalls and crashes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..errors import InvalidArgumentError


@dataclass(frozen=True)
class Crash:
    """A worker dies while it computes its gradient `number` (from 0), which is lost, and is back `after` ticks later.

    `after=None`: it never comes back.
    """

    worker: int
    number: int
    after: int | None = None


@dataclass(frozen=True)
class Speeds:
    """Ticks that each gradient of each worker takes.

        ticks = max(1, round(mean * slow[worker] * exp(spread * z))), z standard normal, times `stall_factor` in a stall

    Args:
        mean: median ticks of one gradient. spread: standard deviation of their logarithm.
        slow: worker -> factor, for stragglers. stall, stall_factor: chance that a gradient takes that much longer.
        crashes: who dies when. gap: ticks between two moves that are not one piece (`Experiment.atomic`, `step_first`).

    Worker k draws from `default_rng([seed, k])`, so what it draws does not depend on the others. Not in TensorFlow.

    >>> Speeds(mean=100, spread=0.0, slow={1: 3}).ticks(seed=0, workers=2, count=2).tolist()
    [[100, 100], [300, 300]]
    """

    mean: int = 100
    spread: float = 0.2
    slow: Mapping[int, float] = field(default_factory=dict)
    stall: float = 0.0
    stall_factor: float = 10.0
    crashes: tuple[Crash, ...] = ()
    gap: int = 5

    def __post_init__(self) -> None:
        for name, least in (("mean", 1), ("spread", 0), ("stall", 0), ("stall_factor", 0), ("gap", 0)):
            if not getattr(self, name) >= least:
                raise InvalidArgumentError(f"{name} must be at least {least}, got {getattr(self, name)!r}")
        if self.stall > 1:
            raise InvalidArgumentError(f"stall is a chance from 0 to 1, got {self.stall!r}")
        if any(not factor > 0 for factor in self.slow.values()):
            raise InvalidArgumentError(f"the factors in slow must be above 0, got {dict(self.slow)!r}")

    def ticks(self, seed: int, workers: int, count: int) -> np.ndarray:
        """int64 (workers, count): how long gradient n of worker k takes."""
        drawn = np.empty((workers, count), np.int64)
        for k in range(workers):
            rng = np.random.default_rng([seed, k])
            z, stalls = rng.standard_normal(count), rng.random(count) < self.stall
            ticks = self.mean * self.slow.get(k, 1.0) * np.exp(self.spread * z)
            drawn[k] = np.maximum(1, np.rint(np.where(stalls, ticks * self.stall_factor, ticks)))
        return drawn

"""The gradient noise scale: how large a batch may be before a larger one hardly helps (McCandlish et al., 2018).

A step that is the mean of n micro-batches, or of n replicas, says how much gradients of the same
weights differ. What is kept of it are two scalars of every step: `micro_norm`, the root of the mean
of the squared norms of the gradients that it is the mean of, and `micro_batches`, n.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base.arrays import as_array, namespace, quiet
from ..._base.numbers import counted, number
from ...errors import InvalidArgumentError

if TYPE_CHECKING:
    from ..buckets import Buckets

SCALARS = ("micro_norm", "micro_batches")
_PARTS = 20  # of a run, each left out once
_ERRORS = 2  # standard errors on either side
_NONE = (
    "this recording holds no norms of micro-batches. Give them to the recorder, record(grads, "
    "micro_norms=[...]), or noise_scale=True to gl.record.torch or gl.record.keras"
)


@dataclass(frozen=True)
class NoiseScale:
    """About how many examples, or micro-batches, a batch needs for its gradient to be as large as its noise.

    Attributes:
        value: the estimate; infinite where no gradient shows in the noise.
        bounds: two standard errors below and above, by a jackknife over stretches of the run.
        noise, signal: means of the estimates of tr(S), the variance of one of them, and of the true
            gradient's `|G|^2`.
        steps: how many it is from.
        unit: how many examples a micro-batch has, 1 where that is not said.
    """

    value: float
    bounds: tuple[float, float]
    noise: float
    signal: float
    steps: int
    unit: int

    def __str__(self) -> str:
        what = "micro-batches" if self.unit == 1 else "examples"
        low, high = map(number, self.bounds)
        return (
            f"gradient noise scale about {number(self.value)} {what} ({low} to {high}), "
            f"estimated from {counted(self.steps, 'step')}"
        )


def with_norms(scalars: Mapping[str, Any], norms: Any) -> Mapping[str, Any]:
    """The scalars of a step, with what is kept of the norms of its micro-batches; as they are where there are none."""
    if norms is None:
        return scalars
    x: Any = as_array(norms, "micro_norms").reshape(-1)
    if not x.size:
        raise InvalidArgumentError(
            "micro_norms must have the norm of each micro-batch's gradient; it has none"
        )
    mean = namespace(x).sqrt((x.astype(np.float32) ** 2).mean())
    return {**scalars, **dict(zip(SCALARS, (mean, float(x.size)), strict=True))}


@quiet
def noise_scale(rec: Buckets, micro_batch: int, last: int | None) -> NoiseScale:
    """See `Recorder.noise_scale`."""
    if SCALARS[0] not in rec.scalars:
        raise ValueError(_NONE)
    if micro_batch < 1 or (last is not None and last < 1):
        raise InvalidArgumentError(
            f"micro_batch and last must be >= 1, got {micro_batch} and {last}"
        )
    columns = (rec.every_step(name) for name in ("global_norm", *SCALARS, "skipped"))
    big, small, n, skipped = (
        x[-last:].astype(np.float64) if last else x.astype(np.float64) for x in columns
    )
    there = np.isfinite(big) & np.isfinite(small) & (n > 1) & (skipped != 1)
    big, small, n = big[there] ** 2, small[there] ** 2, n[there]
    if not big.size:
        raise ValueError("no step is the mean of several micro-batches with finite norms")
    signal, noise = (n * big - small) / (n - 1), (small - big) * n / (n - 1)
    value = _quotient(noise.sum(), signal.sum())
    low, high = _bounds(noise, signal, value)
    scaled = float(micro_batch * value), (float(micro_batch * low), float(micro_batch * high))
    return NoiseScale(*scaled, float(noise.mean()), float(signal.mean()), len(big), micro_batch)


def known_noise(rec: Buckets) -> NoiseScale | None:
    """Return that of the whole run in micro-batches; None where it was not recorded."""
    try:
        return noise_scale(rec, 1, None)
    except ValueError:
        return None


def _quotient(noise: Any, signal: Any) -> Any:
    """Noise over signal: 0 where there is no noise, infinite where there is no signal."""
    return np.where(noise <= 0, 0.0, np.where(signal > 0, noise / signal, np.inf))


def _bounds(noise: np.ndarray, signal: np.ndarray, value: float) -> tuple[float, float]:
    """Two standard errors below and above."""
    parts = min(_PARTS, len(noise))
    starts = np.arange(parts) * len(noise) // parts
    without = _quotient(*(x.sum() - np.add.reduceat(x, starts) for x in (noise, signal)))
    if parts < 2 or not np.isfinite(without).all() or not np.isfinite(value):
        return 0.0, np.inf
    error = _ERRORS * float(np.sqrt((parts - 1) * np.var(without)))
    return max(0.0, value - error), value + error

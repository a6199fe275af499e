"""Agreement of a run's gradients with earlier ones: how much of its direction a stale gradient still has.

Two gradients of single batches agree in part only because each is mostly noise of its batch, so their cosine says
little about the true gradients. Products with probes (`record/probes.py`) are free of that noise on average. They are
summed over the run before anything is divided, because a ratio of two noisy numbers is biased and their sums are not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._base.errors import InvalidArgumentError
from .._base.numbers import counted, decimals
from .._base.paired import LEVEL, t_quantile
from . import probes
from .buckets import Buckets

FEWEST = 20  # probes that an agreement is given for
WIDEST = 1.0  # an interval that is wider tells nothing
_BLOCKS = 10  # stretches of the run, each left out once
NO_PROBES = (
    "this recording holds no probes, so nothing can be said about how much its gradients agree: products of the "
    "gradients that were trained on measure the noise of batches. Every few steps call rec.probe(grads) with the "
    "gradient of a batch that is not trained on, right before rec.record"
)


@dataclass(frozen=True, eq=False)
class Agreement:
    """Cosine between the true gradients of steps some updates apart, estimated from probes, with its 95% interval.

    Attributes:
        lags: (17,) updates apart, 0 to 16.
        value: (17,) the agreement; NaN where fewer than 20 probes have that lag, or where no gradient shows in the
            noise. An estimate may be a little above 1.
        low, high: (17,) the ends of its 95% interval.
        pairs: (17,) how many probes each is from.
        probes: how many there are. first, last: the steps that were asked about, `last` not included.
    """

    lags: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    pairs: np.ndarray
    probes: int
    first: int
    last: int

    def is_known(self, lag: int) -> bool:
        """Whether the interval at a lag is at most 1 wide; a wider one tells nothing."""
        if not 0 <= lag <= probes.LAGS:
            return False
        return bool(self.high[lag] - self.low[lag] <= WIDEST)

    def in_words(self, lag: int) -> str:
        """The agreement at a lag with its interval, or why there is none.

        >>> from gradlab.models import reader_run
        >>> reader_run.shipped().agreement().in_words(40)
        'not known: probes are compared with the 16 steps after them'
        """
        if not 0 <= lag <= probes.LAGS:
            return f"not known: probes are compared with the {probes.LAGS} steps after them"
        if not self.is_known(lag):
            return f"can't tell from {counted(self.pairs[lag], 'probe')}"
        interval = f"{decimals(self.low[lag])} to {decimals(self.high[lag])}"
        return f"{decimals(self.value[lag])} ({interval})"

    def __str__(self) -> str:
        rows = [f"{lag:>3} {self.in_words(lag)}" for lag in self.lags.tolist()]
        head = f"agreement of true gradients by updates apart, 95% interval, from {counted(self.probes, 'probe')}"
        return "\n".join([head, *rows])


def agreement(rec: Buckets, first: int, last: int | None) -> Agreement:
    """See `Recorder.agreement`."""
    end = rec.seen if last is None else last
    if not 0 <= first < end <= rec.seen:
        raise InvalidArgumentError(
            f"first and last must be steps with 0 <= first < last <= {rec.seen}, the steps of this recording; got "
            f"{first!r} and {last!r}"
        )
    step, products = probes.products(rec._data)
    if not len(step):
        raise ValueError(NO_PROBES)
    updates = np.cumsum(rec.every_step("skipped") != 1)[step]  # by then: a skipped step is none
    return estimate(products, step, updates, first, end)


def estimate(products: np.ndarray, step: np.ndarray, updates: np.ndarray, first: int, last: int) -> Agreement:
    """Return the agreement that products of probes (`record/probes.py`) tell.

    Args:
        products: (probes, 17) by lag, NaN where not known.
        step, updates: (probes,) the step of lag 0 of each, and how many updates there were by then.
        first, last: the probes of steps first to last - 1 are asked.
    """
    inside = (step >= first) & (step < last) & np.isfinite(products[:, 0])
    rows = [_at_lag(products[inside], updates[inside], lag) for lag in range(probes.LAGS + 1)]
    value, low, high, pairs = (np.array(column) for column in zip(*rows, strict=True))
    lags = np.arange(probes.LAGS + 1)
    return Agreement(lags, value, low, high, pairs.astype(int), int(inside.sum()), first, last)


def known_agreement(rec: Buckets) -> Agreement | None:
    """Return the agreement over the whole run; None where there are no probes."""
    return agreement(rec, 0, None) if probes.count(rec._data) and rec.seen else None


def _at_lag(products: np.ndarray, updates: np.ndarray, lag: int) -> tuple[float, float, float, int]:
    """Return the agreement at a lag, the ends of its interval, and the number of probes behind it.

        sum of h_t g_{t+k} / root(sum of |G_t|^2 * sum of |G_{t+k}|^2)

    |G_t|^2 is h_t g_t; |G_{t+k}|^2 lies between two probes where not every step has one, and is interpolated.
    """
    later = updates + lag
    here = np.isfinite(products[:, lag]) & (later <= updates.max(initial=0))
    if here.sum() < FEWEST:
        return math.nan, math.nan, math.nan, int(here.sum())
    signal = products[:, 0]
    terms = np.stack([products[here, lag], signal[here], np.interp(later[here], updates, signal)])
    value = _ratio(terms.sum(axis=1))
    starts = np.arange(_BLOCKS) * terms.shape[1] // _BLOCKS
    blocks = np.add.reduceat(terms, starts, axis=1)
    without = np.array([_ratio(terms.sum(axis=1) - block) for block in blocks.T])
    error = math.sqrt((_BLOCKS - 1) / _BLOCKS * float(((without - without.mean()) ** 2).sum()))
    half_width = t_quantile(1 - LEVEL / 2, _BLOCKS - 1) * error
    return value, value - half_width, value + half_width, int(here.sum())


def _ratio(sums: Sequence[float]) -> float:
    """Return the first over the root of the product of the others; NaN unless both are above 0."""
    product, first, second = sums
    return float(product / math.sqrt(first * second)) if min(first, second) > 0 else math.nan

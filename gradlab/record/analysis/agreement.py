"""Agreement of a run's gradients with earlier ones: how much a stale gradient still points where a fresh one does.

Two gradients of single batches agree in part only because each is mostly noise of its batch, so
their cosine says little about the true gradients. Products with probes (`record/probes.py`) are
free of that noise on average. They are summed over the run before anything is divided, because a
ratio of two noisy numbers is biased and their sums are not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..._base.numbers import counted, decimals
from ..._base.paired import LEVEL, t_quantile
from ...errors import InvalidArgumentError
from .. import probes
from ..buckets import Buckets

FEWEST = 20  # probes that an agreement needs: two in each block of the jackknife
# Width of an interval beyond which no agreement is stated; a convention: cosines span 2.
WIDEST = 1.0
_BLOCKS = 10  # of the jackknife
NO_PROBES = (
    "this recording holds no probes, so nothing can be said about how much its gradients agree: "
    "products of the gradients that were trained on measure the noise of batches. Every few steps "
    "call rec.probe(grads) with the gradient of a batch that is not "
    "trained on, right before rec.record"
)


@dataclass(frozen=True, eq=False)
class Agreement:
    """Cosine of the true gradients of two steps, by updates between them, estimated from probes with 95% intervals.

    Attributes:
        lags: (17,) updates apart, 0 to 16.
        value: (17,) the agreement; NaN where fewer than 20 probes have that lag, or where the
            estimate of a squared norm is not above 0, because noise hides the gradient. An estimate
            may be a little above 1.
        low, high: (17,) the ends of its 95% interval.
        pairs: (17,) the number of probes behind each value.
        probes: the number of probes in these steps.
        first, last: the steps asked about, without `last`.
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
        """Tell whether the interval at a lag is known and at most 1 wide."""
        if not 0 <= lag <= probes.LAGS:
            return False
        return bool(self.high[lag] - self.low[lag] <= WIDEST)  # False for NaN

    def in_words(self, lag: int) -> str:
        """Return the agreement at a lag with its interval, or why there is none.

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
        measured = f"from {counted(self.probes, 'probe')}"
        head = (
            f"agreement of true gradients by updates between them, with 95% intervals, {measured}"
        )
        return "\n".join([head, *rows])


def agreement(rec: Buckets, first: int, last: int | None) -> Agreement:
    """See `Recorder.agreement`."""
    end = rec.seen if last is None else last
    if not 0 <= first < end <= rec.seen:
        raise InvalidArgumentError(
            f"first and last must be steps with 0 <= first < last <= {rec.seen}, the steps of this "
            f"recording; got {first!r} and {last!r}"
        )
    step, products = probes.products(rec.flush().columns)
    if not len(step):
        raise ValueError(NO_PROBES)
    # Up to each probe; a skipped step isn't an update.
    updates = np.cumsum(rec.every_step("skipped") != 1)[step]
    return estimate(products, step, updates, first, end)


def estimate(
    products: np.ndarray, step: np.ndarray, updates: np.ndarray, first: int, last: int
) -> Agreement:
    """Estimate the agreement from products of probes (`record/probes.py`).

    Args:
        products: (probes, 17) by lag, NaN where not known.
        step, updates: (probes,) the step of lag 0 of each, and the number of updates up to it.
        first, last: only probes of steps first to last - 1 count.
    """
    inside = (step >= first) & (step < last) & np.isfinite(products[:, 0])
    rows = [_at_lag(products[inside], updates[inside], lag) for lag in range(probes.LAGS + 1)]
    value, low, high, pairs = (np.array(column) for column in zip(*rows, strict=True))
    lags = np.arange(probes.LAGS + 1)
    return Agreement(lags, value, low, high, pairs.astype(int), int(inside.sum()), first, last)


def known_agreement(rec: Buckets) -> Agreement | None:
    """Return the agreement over the whole run; None where there are no probes."""
    if not rec.seen or not probes.count(rec.flush().columns):
        return None
    return agreement(rec, 0, None)


def _at_lag(products: np.ndarray, updates: np.ndarray, lag: int) -> tuple[float, float, float, int]:
    """Return the agreement at a lag, the ends of its interval, and the number of probes behind it.

        sum of h_t g_{t+k} / root(sum of |G_t|^2 * sum of |G_{t+k}|^2)

    |G_t|^2 is estimated by h_t g_t. Where step t + k has no probe, |G_{t+k}|^2 is interpolated between the nearest
    two. The interval is a jackknife over blocks of the run, because neighboring products depend on
    each other.

    Source: Künsch, "The jackknife and the bootstrap for general stationary observations" (1989).
    """
    later = updates + lag
    # Nothing is known after the last probe.
    counts = np.isfinite(products[:, lag]) & (later <= updates.max(initial=0))
    pairs = int(counts.sum())
    if pairs < FEWEST:
        return math.nan, math.nan, math.nan, pairs
    squared_norm = products[:, 0]
    terms = np.stack(
        [
            products[counts, lag],
            squared_norm[counts],
            np.interp(later[counts], updates, squared_norm),
        ]
    )
    value = _ratio(terms.sum(axis=1))
    starts = np.arange(_BLOCKS) * terms.shape[1] // _BLOCKS
    blocks = np.add.reduceat(terms, starts, axis=1)
    without = np.array([_ratio(terms.sum(axis=1) - block) for block in blocks.T])
    error = math.sqrt((_BLOCKS - 1) / _BLOCKS * float(((without - without.mean()) ** 2).sum()))
    half_width = t_quantile(1 - LEVEL / 2, _BLOCKS - 1) * error
    return value, value - half_width, value + half_width, pairs


def _ratio(sums: Sequence[float]) -> float:
    """Return the first over the root of the product of the others; NaN unless both are above 0."""
    product, first, second = sums
    if min(first, second) <= 0:
        return math.nan
    return float(product / math.sqrt(first * second))

"""Comparisons of runs that are paired by seed: which differences hold, and which may be chance.

Runs that are compared start from the same seeds, so a difference is taken seed by seed, and what
the seeds have in common drops out. A difference holds where its 95% t interval excludes 0. Of a
sentence that names several differences, those hold that pass Holm's correction over all of them: if
they were chosen before the runs were seen, the sentence names a difference that isn't there in at
most 5% of cases.

Which contestant leads is seen in the runs themselves. `best` and `worst` allow for that, because
every other contestant has to differ. A single difference from the leader does not: where 5 or 6
contestants are all alike, about 8% of comparisons find one; where 16 are, about 17%.
`pairs_told_apart` corrects over all pairs, and so has no such excess.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

LEVEL = 0.05  # significance level: the share of sentences that may be wrong
# The 95% t interval is then 2.8 standard errors to either side; with 3 seeds it would be 4.3.
FEWEST_SEEDS = 5


@dataclass(frozen=True)
class Difference:
    """Mean difference of two contestants over seeds, and how sure it is.

    Attributes:
        mean, standard_error: of the differences, in the unit of the measure.
        low, high: the ends of the 95% t interval of the mean.
        p_value: two-sided, of a mean difference of 0; 1 where all differences are 0.
        seeds: the number of pairs.
    """

    mean: float
    standard_error: float
    low: float
    high: float
    p_value: float
    seeds: int

    @property
    def holds(self) -> bool:
        """Whether the 95% t interval excludes 0.

        Of several differences in one sentence ask `which_hold`.
        """
        return self.p_value < LEVEL


def paired_difference(first: Any, second: Any) -> Difference:
    """Return the difference first - second of two measures over the same seeds.

    Args:
        first, second: (seeds,) finite values of one measure, in the same order of seeds, 5 seeds or
            more.

    Raises:
        ValueError: fewer than 5 seeds, different numbers of them, or a value that is not finite.

    Source: Student, "The probable error of a mean" (1908).

    >>> d = paired_difference([2.4, 2.1, 2.6, 2.3, 2.2], [2.1, 2.0, 2.1, 2.1, 2.0])
    >>> f"{d.mean:.2f} ({d.low:.2f} to {d.high:.2f}), p = {d.p_value:.3f}", d.holds
    ('0.26 (0.07 to 0.45), p = 0.019', True)
    """
    first = _seed_values(first, "first")
    second = _seed_values(second, "second")
    if len(first) != len(second):
        raise ValueError(
            f"first and second must have one value for each seed, got {len(first)} and "
            f"{len(second)}"
        )
    differences = first - second
    seeds = len(differences)
    mean = float(differences.mean())
    error = float(differences.std(ddof=1)) / math.sqrt(seeds)
    if error == 0:  # t would be 0 / 0 or infinite
        return Difference(mean, 0.0, mean, mean, 0.0 if mean else 1.0, seeds)
    half_width = error * t_quantile(1 - LEVEL / 2, seeds - 1)
    p_value = 2 * (1 - t_probability(abs(mean) / error, seeds - 1))
    return Difference(mean, error, mean - half_width, mean + half_width, p_value, seeds)


def _seed_values(values: Any, name: str) -> np.ndarray:
    """Return values as float64; ValueError unless there are enough of them, all finite."""
    array: np.ndarray = np.asarray(values, np.float64)
    if array.ndim != 1 or len(array) < FEWEST_SEEDS:
        raise ValueError(
            f"{name} must hold one value for each of at least {FEWEST_SEEDS} seeds, got "
            f"{array.shape}"
        )
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array}; count lost runs instead")
    return array


def which_hold(differences: Sequence[Difference]) -> list[bool]:
    """Return which of the differences of one sentence hold, by Holm's correction.

    The smallest p-value is compared with 0.05 / n, the next with 0.05 / (n - 1), and so on. The
    first that isn't below its bound doesn't hold, and neither does any larger one.

    Source: Holm, "A simple sequentially rejective multiple test procedure" (1979).

    >>> sure = paired_difference([1.0, 1.1, 0.9, 1.0, 1.2], [3.0, 3.2, 2.9, 3.1, 3.0])
    >>> unsure = paired_difference([1.0, 1.1, 0.9, 1.0, 1.2], [0.9, 1.0, 0.8, 1.0, 1.16])
    >>> unsure.holds, which_hold([sure, unsure, unsure])
    (True, [True, False, False])
    """
    order = sorted(range(len(differences)), key=lambda k: differences[k].p_value)
    holds = [False] * len(differences)
    for rank, k in enumerate(order):
        if differences[k].p_value >= LEVEL / (len(differences) - rank):
            break
        holds[k] = True
    return holds


@dataclass(frozen=True)
class Comparison:
    """One measure of several contestants, paired by seed.

    Args:
        measure: what is measured, such as "loss after 200 gradients".
        values: contestant -> (seeds,) its finite values, the same seeds in the same order for all.
        lower_is_better: True for losses and times, False for accuracies.

    Raises:
        ValueError: fewer than 2 contestants, or values that cannot be paired.

    >>> loss = {"a": [2.1, 2.0, 2.2, 2.1, 2.0], "b": [2.5, 2.3, 2.5, 2.4, 2.4], "c": [2.1, 2.1, 2.1, 2.1, 2.1]}
    >>> runs = Comparison("final loss", loss)
    >>> runs.better("a", "b"), runs.better("a", "c"), runs.best, runs.level_with_best
    (True, False, None, ('a', 'c'))
    """

    measure: str
    values: Mapping[str, Any]
    lower_is_better: bool = True

    def __post_init__(self) -> None:
        if len(self.values) < 2:
            raise ValueError(f"a comparison needs at least 2 contestants, got {list(self.values)}")
        arrays = {
            name: _seed_values(values, f"the values of {name!r}")
            for name, values in self.values.items()
        }
        if len({len(array) for array in arrays.values()}) > 1:
            seeds = {name: len(array) for name, array in arrays.items()}
            raise ValueError(f"all contestants need the same seeds, got {seeds}")
        object.__setattr__(self, "values", arrays)

    @property
    def seeds(self) -> int:
        """The number of runs of each contestant."""
        return len(next(iter(self.values.values())))

    def mean(self, name: str) -> float:
        """Return the mean over seeds."""
        return float(self.values[name].mean())

    def standard_error(self, name: str) -> float:
        """Return the standard deviation over seeds divided by the root of their number."""
        return float(self.values[name].std(ddof=1)) / math.sqrt(self.seeds)

    def difference(self, first: str, second: str) -> Difference:
        """Return first - second."""
        return paired_difference(self.values[first], self.values[second])

    def better(self, first: str, second: str) -> bool:
        """Return whether `first` is better than `second`, if that is the only comparison made."""
        difference = self.difference(first, second)
        return difference.holds and (difference.mean < 0) == self.lower_is_better

    @property
    def leader(self) -> str:
        """The contestant with the best mean.

        That it is better than others is a claim: ask `best`.
        """
        sign = 1 if self.lower_is_better else -1
        return min(self.values, key=lambda name: sign * self.mean(name))

    def differs_from_leader(self) -> dict[str, bool]:
        """Return for each other contestant whether it differs from the leader, after Holm.

        With many contestants it finds too many differences, because the leader is chosen by the
        same runs: see the top of this file.
        """
        others = [name for name in self.values if name != self.leader]
        holds = which_hold([self.difference(self.leader, name) for name in others])
        return dict(zip(others, holds, strict=True))

    @property
    def best(self) -> str | None:
        """The contestant that is better than every other one; None if one may be as good."""
        return self.leader if all(self.differs_from_leader().values()) else None

    @property
    def worst(self) -> str | None:
        """The contestant that is worse than every other one; None if one may be as bad."""
        sign = 1 if self.lower_is_better else -1
        last = max(self.values, key=lambda name: sign * self.mean(name))
        others = [name for name in self.values if name != last]
        holds = which_hold([self.difference(last, name) for name in others])
        return last if all(holds) else None

    def pairs_told_apart(self) -> set[tuple[str, str]]:
        """Return the pairs of contestants that differ, after Holm's correction over all pairs.

        >>> loss = {"a": [2.1, 2.0, 2.2, 2.1, 2.0], "b": [2.5, 2.3, 2.5, 2.4, 2.4], "c": [2.1, 2.1, 2.1, 2.1, 2.1]}
        >>> sorted(Comparison("final loss", loss).pairs_told_apart())
        [('a', 'b'), ('b', 'c')]
        """
        pairs = list(itertools.combinations(self.values, 2))
        holds = which_hold([self.difference(first, second) for first, second in pairs])
        return {pair for pair, is_apart in zip(pairs, holds, strict=True) if is_apart}

    @property
    def level_with_best(self) -> tuple[str, ...]:
        """The leader and all contestants that may be as good, in the order of `values`.

        Two of them may still differ from each other, and one of them needn't differ from the
        contestants left out.
        """
        differs = self.differs_from_leader()
        return tuple(name for name in self.values if not differs.get(name, False))


def t_probability(t: float, degrees: int) -> float:
    """Return the share of Student's t distribution below t >= 0, of 1 degree of freedom or more.

    For whole degrees of freedom the integral is a finite sum, so that no special functions are
    needed.

    Source: Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964), 26.7.3 and 26.7.4.

    >>> round(t_probability(2.776445, 4), 6), t_probability(0.0, 7)
    (0.975, 0.5)
    """
    angle = math.atan2(t, math.sqrt(degrees))  # theta of the source
    cosine_squared = math.cos(angle) ** 2
    odd = degrees % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for k in range(2 + odd, degrees + 1, 2):
        total += term
        term *= cosine_squared * (k - 1) / k
    inside = math.sin(angle) * total  # the share between -t and t
    if odd:
        inside = (angle + inside) * 2 / math.pi
    return (1 + inside) / 2


def t_quantile(share: float, degrees: int) -> float:
    """Return the t below which a share of Student's t distribution lies, for shares from 0.5.

    >>> round(t_quantile(0.975, 4), 3), round(t_quantile(0.975, 19), 3)
    (2.776, 2.093)
    """
    low = 0.0
    high = 1.0
    while t_probability(high, degrees) < share:
        high *= 2
    for _ in range(60):  # halves the interval down to the last bit
        middle = (low + high) / 2
        if t_probability(middle, degrees) < share:
            low = middle
        else:
            high = middle
    return high

"""Paired differences, their t intervals, and Holm's correction, beside SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gradlab._base.paired import (
    Comparison,
    paired_difference,
    t_probability,
    t_quantile,
    which_hold,
)


@given(st.floats(0, 1e6), st.integers(1, 200))
def test_t_probability_is_that_of_scipy(t: float, degrees: int) -> None:
    assert t_probability(t, degrees) == pytest.approx(stats.t.cdf(t, degrees), abs=1e-12)


@given(st.floats(0.5, 0.9999), st.integers(1, 100))
def test_t_quantile_is_that_of_scipy(share: float, degrees: int) -> None:
    assert t_quantile(share, degrees) == pytest.approx(
        stats.t.ppf(share, degrees), rel=1e-6, abs=1e-9
    )


@given(st.integers(5, 30), st.integers(0, 2**32 - 1))
def test_a_paired_difference_is_that_of_scipy(seeds: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    first, second = draw.normal(size=(2, seeds))
    got, expected = paired_difference(first, second), stats.ttest_rel(first, second)
    assert got.p_value == pytest.approx(expected.pvalue, abs=1e-9)
    assert (got.low, got.high) == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert got.holds == (got.low > 0 or got.high < 0)


def test_equal_runs_are_not_told_apart_and_a_constant_difference_is() -> None:
    same = np.arange(5.0)
    assert not paired_difference(same, same).holds
    assert paired_difference(same + 1, same).holds


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ([1.0] * 4, [1.0] * 4, "at least 5 seeds"),
        ([1.0] * 5, [1.0] * 6, "one value for each seed"),
        ([1.0] * 4 + [np.nan], [1.0] * 5, "finite"),
    ],
)
def test_what_cannot_be_paired_is_refused(
    first: list[float], second: list[float], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        paired_difference(first, second)


def test_chance_alone_is_seldom_called_a_difference() -> None:
    """Of 400 sentences on six differences that are chance alone, about 5% name one."""
    draw = np.random.default_rng(0)
    wrong = 0
    for _ in range(400):
        differences = [paired_difference(*draw.normal(size=(2, 10))) for _ in range(6)]
        wrong += any(which_hold(differences))
    assert wrong <= 32  # 5% is 20; 32 is 2.7 standard deviations above it


@pytest.mark.exhaustive
def test_chance_alone_seldom_makes_a_best_or_tells_a_pair_apart() -> None:
    """The leader is chosen by the same runs: single differences from it are found too often, a best
    one isn't.
    """
    draw = np.random.default_rng(0)
    with_a_best = 0
    with_a_pair = 0
    below_the_leader = 0
    for _ in range(300):
        runs = Comparison("loss", {name: draw.normal(size=15) for name in "abcdef"})
        with_a_best += runs.best is not None
        with_a_pair += bool(runs.pairs_told_apart())
        below_the_leader += any(runs.differs_from_leader().values())
    assert with_a_best <= 3
    assert with_a_pair <= 25  # 5% is 15; 25 is 2.6 standard deviations above it
    assert 15 < below_the_leader <= 40  # about 8%


def test_the_best_of_accuracies_is_the_highest() -> None:
    draw = np.random.default_rng(0)
    values = {"low": draw.normal(0.7, 0.01, 8), "high": draw.normal(0.9, 0.01, 8)}
    assert Comparison("accuracy", values, lower_is_better=False).best == "high"
    assert Comparison("loss", values).best == "low"


def test_a_comparison_wants_the_same_seeds_for_all() -> None:
    with pytest.raises(ValueError, match="same seeds"):
        Comparison("loss", {"a": [1.0] * 5, "b": [1.0] * 6})
    with pytest.raises(ValueError, match="at least 2"):
        Comparison("loss", {"a": [1.0] * 5})

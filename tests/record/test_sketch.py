"""Counts of norms in narrow bins: every number in its own, sums that are exact, and errors within
what is said.
"""

from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradlab.record import sketch
from gradlab.record.sketch import FIRST, SKIPPED, WIDTH, ZEROS

TAKEN = np.zeros(1, bool)
PERCENTS = (0, 1, 10, 50, 90, 99, 100)


def counted(x: np.ndarray, at_once: int = 64) -> np.ndarray:
    """A sketch of (n, rows) numbers, some at a time."""
    found = sketch.empty(x.shape[1])
    for k in range(0, len(x), at_once):
        some = np.ascontiguousarray(x[k : k + at_once])
        found = sketch.add(found, some, np.zeros(len(some), bool))
    return found


def numbers(seed: int, spread: float, steps: int = 300) -> np.ndarray:
    """Three rows: log-normal, a slow fall with two levels, and log-uniform; as wide as asked for."""
    draw = np.random.default_rng(seed)
    normal = draw.normal(0, spread, steps)
    two = np.linspace(0, -3 * spread, steps) + spread * (draw.random(steps) < 0.5)
    even = draw.uniform(-2 * spread, 2 * spread, steps)
    return np.exp(np.clip(np.stack([normal, two, even], axis=1), -80, 80)).astype(np.float32)


spreads = st.one_of(st.floats(1e-4, 0.1), st.floats(0.1, 30.0))


def test_a_number_is_in_the_bin_whose_edges_are_around_it_in_numpy_and_in_jax() -> None:
    at = sketch.edges()
    odd = np.float32(
        [0, 1e-45, 2.0**-126, 1, np.nextafter(np.float32(1), np.float32(0)), 3.4e38, np.inf, np.nan]
    )
    x = np.concatenate(
        [np.exp(np.random.default_rng(0).uniform(-87, 88, 20_000)).astype(np.float32), odd]
    )
    k = sketch.bins(x)
    finite = np.isfinite(x)
    assert (at[k[finite]] <= x[finite]).all() and (x[finite] < at[k[finite] + 1]).all()
    assert (k[~finite] == len(at) - 1).all()
    edges = at[1:-1].astype(np.float32)
    np.testing.assert_array_equal(sketch.bins(edges), np.arange(1, len(at) - 1))
    np.testing.assert_array_equal(np.asarray(sketch.bins(jax.numpy.asarray(x))), k)


@pytest.mark.exhaustive
@given(
    seed=st.integers(0, 99),
    spread=spreads,
    limit=st.floats(-3, 3),
    at_once=st.sampled_from([1, 7, 300]),
)
def test_how_many_are_above_a_limit_is_within_the_bounds(
    seed: int, spread: float, limit: float, at_once: int
) -> None:
    x = numbers(seed, spread)
    for c in (float(np.exp(limit * spread)), float(x[3, 0]), float(x[5, 2])):
        least, about, most = sketch.above(counted(x, at_once), c)
        there = (x.astype(float) > c).sum(axis=0)
        assert (
            (least <= there).all()
            and (there <= most).all()
            and (least <= about).all()
            and (about <= most).all()
        )


@given(seed=st.integers(0, 99), spread=spreads)
def test_quantiles_are_within_the_error_that_is_told(seed: int, spread: float) -> None:
    x = numbers(seed, spread)
    found = counted(x)
    error = sketch.error(found)
    right = np.percentile(x.astype(float), PERCENTS, axis=0)
    assert (np.abs(sketch.quantiles(found, PERCENTS) / right - 1) <= error + 1e-9).all()
    assert (error <= 0.01).all() or np.log10(x.astype(float).max() / x.min()) > 16


@pytest.mark.parametrize(("spread", "error"), [(0.05, 0.0007), (1.0, 0.0101), (4.0, 0.0101)])
def test_the_error_is_one_percent_or_better(spread: float, error: float) -> None:
    assert sketch.error(counted(numbers(0, spread, 3000))).max() <= error


@given(seed=st.integers(0, 99), spread=spreads)
def test_what_is_counted_is_kept_when_windows_move_and_bins_join(seed: int, spread: float) -> None:
    x = numbers(seed, spread)
    found = counted(x, 7)
    assert (found[:, FIRST:-1].sum(axis=1) == len(x)).all()
    narrow = sketch.fitted(found)
    assert (
        narrow.shape[1] == FIRST + WIDTH + 1 and (narrow[:, FIRST:-1].sum(axis=1) == len(x)).all()
    )
    least, _, most = sketch.above(narrow, 1.0)
    assert (least <= (x > 1).sum(axis=0)).all() and ((x > 1).sum(axis=0) <= most).all()


def test_compiled_code_counts_the_same() -> None:
    x = numbers(1, 3.0, 40)

    @jax.jit
    def step(found: Any, row: Any) -> Any:
        k = sketch.bins(row[None])
        inside = sketch.is_inside(k, TAKEN)
        found = sketch.moved(found, *sketch.span(found, k, inside))
        slot, weight = sketch.slots(found, k, TAKEN)
        return found.at[np.arange(len(found)), slot[0]].add(weight[0])

    traced, eager = jax.numpy.asarray(sketch.empty(3)), sketch.empty(3)
    for row in x:
        traced = step(traced, row)
        eager = sketch.moved(eager, *sketch.span(eager))
        eager = sketch.add(eager, row[None], TAKEN)
    for percent in (0, 50, 100):
        one, other = (sketch.quantiles(np.asarray(s), (percent,)) for s in (traced, eager))
        np.testing.assert_allclose(one, other, rtol=0.02)
    assert (np.asarray(traced)[:, FIRST:-1].sum(axis=1) == len(x)).all()


def test_zeros_infinities_and_skipped_steps_are_counted_apart() -> None:
    x = np.float32([[0, 1, np.inf], [2, np.nan, 1], [np.inf, 3, 3]])
    found = sketch.add(sketch.empty(3), x, np.array([False, False, True]))
    assert found[:, ZEROS].tolist() == [1, 0, 0] and sketch.nonfinite(found).tolist() == [0, 1, 1]
    assert found[:, SKIPPED].tolist() == [1, 0, 0]
    assert found[:, FIRST:-1].sum(axis=1).tolist() == [1, 1, 1]
    least, _, most = sketch.above(found, 1.5)
    assert least.tolist() == most.tolist() == [1, 1, 1]
    assert sketch.quantiles(found, (50,))[0] == pytest.approx([2, 1, 1], rel=1e-3)
    assert sketch.quantiles(found, (0,), zeros=True)[0, 0] == 0

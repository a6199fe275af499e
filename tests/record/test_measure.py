"""The numbers kept of one gradient, against float64."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gradlab import Recorder
from gradlab._base.arrays import quiet
from gradlab.record import columns, store
from gradlab.record import measure as module
from gradlab.record.measure import BINS, LOWEST, careful, histogram, histograms, measure

FLOATS = st.floats(-1.0, 1.0, width=32, allow_subnormal=False).map(
    lambda x: np.float32(x) * np.float32(2.0) ** 40
)
EDGES = [-np.inf, *range(LOWEST + 1, LOWEST + BINS), np.inf]


@given(hnp.arrays(np.float32, st.integers(1, 40), elements=FLOATS))
def test_measure_agrees_with_float64(g: np.ndarray) -> None:
    wide, counts = g.astype(np.float64), histogram(g)
    for norm, largest, nonfinite in (measure(g), careful(g)):
        assert norm == pytest.approx(np.sqrt((wide**2).sum()), rel=1e-6)
        assert (largest, nonfinite) == (np.abs(g).max(), 0)
    assert counts.sum() == g.size
    with np.errstate(divide="ignore"):
        assert (
            counts.tolist() == np.histogram(np.log2(np.abs(wide)), EDGES)[0].tolist()
            or (g == 0).any()
        )


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
@quiet
def test_a_norm_is_kept_where_its_square_is_not(scale: float) -> None:
    g = np.array([3 * scale, 4 * scale], np.float32)
    assert measure(g)[0] == pytest.approx(5 * scale, rel=1e-6)
    assert measure(np.concatenate([g, np.zeros(100_000, np.float32)]))[0] == pytest.approx(
        5 * scale, rel=1e-6
    )


def test_entries_that_are_not_finite_are_counted_and_show_in_the_norm() -> None:
    g = np.array([np.nan, np.inf, -np.nan, 2.0], np.float32)
    norm, largest, nonfinite = measure(g)
    assert (largest, nonfinite) == (2, 3) and not np.isfinite(norm) and histogram(g).sum() == 1


def test_many_tensors_are_counted_as_each_by_itself() -> None:
    rng = np.random.default_rng(0)
    sizes = [0, 3, 12, 3, 5000, 12, 1]
    tensors = [
        (rng.normal(size=n) * 10.0 ** rng.uniform(-30, 30, n)).astype(np.float32) for n in sizes
    ]
    tensors[1][:] = [np.nan, np.inf, 0.0]
    np.testing.assert_array_equal(histograms(tensors), [histogram(g) for g in tensors])


def test_small_tensors_of_one_size_are_measured_in_few_calls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A step of 100,000 tensors took half a minute when each was counted and placed by itself."""
    calls = []
    monkeypatch.setattr(module, "histogram", lambda g: calls.append(len(g)))
    monkeypatch.setattr(store, "careful", lambda g: calls.append(len(g)))
    columns._spread.cache_clear()
    rec = Recorder()
    rec.record({f"w{k:03}": np.full((3, 4), k + 1.0) for k in range(500)})
    np.testing.assert_allclose(rec["norm"][0], np.sqrt(12.0) * np.arange(1, 501), rtol=1e-6)
    assert calls == []
    assert columns._spread.cache_info().misses == 2, "of 12 entries 1 is sampled, or 2"

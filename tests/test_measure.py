"""The numbers kept of one gradient, against float64."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gradlab.measure import BINS, LOWEST, measure

FLOATS = st.floats(-1.0, 1.0, width=32, allow_subnormal=False).map(lambda x: np.float32(x) * np.float32(2.0) ** 40)


@given(hnp.arrays(np.float32, st.integers(1, 40), elements=FLOATS))
def test_measure_agrees_with_float64(g: np.ndarray) -> None:
    m = measure(g)
    wide = g.astype(np.float64)
    assert m["norm"] == pytest.approx(np.sqrt((wide**2).sum()), rel=1e-6)
    assert m["largest"] == np.abs(g).max()
    assert m["histogram"].sum() == g.size and m["nonfinite"] == 0
    edges = [-np.inf, *range(LOWEST + 1, LOWEST + BINS), np.inf]
    with np.errstate(divide="ignore"):
        assert m["histogram"].tolist() == np.histogram(np.log2(np.abs(wide)), edges)[0].tolist() or (g == 0).any()


def test_a_norm_is_kept_where_the_square_overflows() -> None:
    assert measure(np.array([3e30, 4e30], np.float32))["norm"] == pytest.approx(5e30, rel=1e-6)


def test_entries_that_are_not_finite_are_counted_and_show_in_the_norm() -> None:
    m = measure(np.array([np.nan, np.inf, 2.0], np.float32))
    assert m["nonfinite"] == 2 and m["largest"] == 2 and not np.isfinite(m["norm"]) and m["histogram"].sum() == 1

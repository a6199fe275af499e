"""Norms and parts tensor by tensor, of rows that are steps and of merged ones."""

import numpy as np
import pytest

from gradlab import Recorder
from gradlab.record.by_tensor import parts, percentiles

NORMS = np.exp(np.random.default_rng(0).normal((0, 1, 4), size=(400, 3)))


def recorded(norms: np.ndarray, steps: int) -> Recorder:
    rec = Recorder(steps=steps, entries=0)
    rec.prepare({name: (5,) for name in "abc"})
    rec.extend({"norm": norms, "largest": norms, "nonfinite": ~np.isfinite(norms)})
    return rec


def test_percentiles_are_those_of_all_steps_and_nearly_so_when_rows_are_merged() -> None:
    expected = np.percentile(NORMS, [10, 50, 100], axis=0)
    np.testing.assert_allclose(percentiles(recorded(NORMS, 400), (10, 50, 100)), expected, rtol=1e-5)
    np.testing.assert_allclose(percentiles(recorded(NORMS, 50), (10, 50, 100)), expected, rtol=0.1)


@pytest.mark.parametrize("steps", [8, 2])
def test_norms_that_are_0_or_not_finite_are_left_out(steps: int) -> None:
    norms = np.array([[0, 2.0, 0], [np.nan, 2.0, 0], [np.inf, 0, 0], [3.0, 2.0, 0]])
    np.testing.assert_allclose(percentiles(recorded(norms, steps), (50,)), [[3, 2, 0]], rtol=0.1)


def test_parts_add_up_to_the_whole_norm_of_the_rows_asked_about() -> None:
    rec = recorded(np.array([[3.0, 4.0, 0.0], [1.0, 0.0, 0.0], [np.nan, 1.0, 1.0], [0.0, 0.0, 0.0]]), 4)
    np.testing.assert_allclose(parts(rec, np.array([True, False, False, False])), [0.36, 0.64, 0])
    np.testing.assert_allclose(parts(rec, np.ones(4, bool)), [0.68, 0.32, 0])
    assert parts(rec, np.zeros(4, bool)).tolist() == [0, 0, 0]

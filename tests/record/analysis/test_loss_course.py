"""How a loss is said to have gone: NaN is named, and it falls or rises only where it does."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import gradlab as gl
from gradlab.record.analysis.loss_course import LossCourse, loss_course
from tests import sick_runs


def course(
    losses: np.ndarray, gradients: np.ndarray | None = None, buckets: int = 1000
) -> LossCourse:
    """Record these losses, with a gradient of 1 unless others are given."""
    rec = gl.Recorder(buckets, entries=0)
    ones = np.ones(len(losses)) if gradients is None else gradients
    for loss, gradient in zip(losses, ones, strict=True):
        rec.record({"w": np.array([gradient])}, loss=float(loss))
    found = loss_course(rec)
    assert found is not None
    return found


def test_a_run_that_ends_in_nan_says_from_which_step_on_and_falls_only_before() -> None:
    found = loss_course(sick_runs.nan_from_step_51())
    assert str(found).startswith(
        "The loss is NaN from step 51 on, in 29 of 80 steps. Before that it falls from 4."
    )
    assert found is not None and (found.nonfinite, found.first_nonfinite, found.to_the_end) == (
        29,
        (51, 51),
        True,
    )


@pytest.mark.parametrize("buckets", [1000, 8])
def test_merged_buckets_hide_no_nan(buckets: int) -> None:
    losses = np.linspace(4, 1, 100)
    losses[[40, 41]] = np.nan
    gradients = np.where(np.isnan(losses), np.nan, 1.0)
    said = str(course(losses, gradients, buckets))
    assert said.startswith(
        "The loss is NaN in 2 of 100 steps, first in step 40. Elsewhere it falls from 3.88 to 1.12"
    )


@pytest.mark.exhaustive
def test_steps_that_a_traced_run_has_forgotten_still_count_their_nan() -> None:
    rec = gl.Recorder(8, entries=0, ring=4)
    state = rec.init({"w": np.ones(1, np.float32)}, loss=0.0)
    step = jax.jit(lambda state, gradient: rec.update(state, {"w": gradient}, loss=2 * gradient[0]))
    for k in range(64):
        state = step(state, np.full(1, np.nan if k >= 40 else 1.0, np.float32))
    rec = rec.absorb(state)
    assert not rec.known.all()
    found = loss_course(rec)
    assert found is not None and found.nonfinite == 24 and found.to_the_end
    assert str(found).startswith("The loss is NaN from step 40 on, in 24 of 64 steps.")


def test_infinity_is_told_from_nan() -> None:
    losses = np.r_[np.linspace(4, 1, 50), np.inf, np.inf]
    assert str(course(losses)).startswith("The loss is Inf from step 50 on, in 2 of 52 steps.")
    both = np.r_[np.linspace(4, 1, 50), np.inf, np.nan]
    gradients = np.r_[np.ones(50), np.nan, np.nan]
    assert str(course(both, gradients)).startswith(
        "The loss is NaN or Inf from step 50 on, in 2 of 52 steps."
    )


def test_a_loss_that_is_logged_now_and_then_is_no_nan() -> None:
    losses = np.where(np.arange(100) % 10 == 0, np.linspace(4, 1, 100), np.nan)
    gradients = np.r_[np.ones(95), np.full(5, np.nan)]
    said = str(course(losses, gradients))
    assert said.startswith("The loss falls from 4 to 1.27")
    assert said.endswith("In 90 of 100 steps no loss is known: it was either NaN or not recorded.")


def test_a_loss_that_comes_back_does_not_fall() -> None:
    found = loss_course(sick_runs.loss_comes_back())
    assert str(found) == (
        "The loss falls from 3.71 to 1.31 (steps 160 to 199) and then rises to 3.5 at the end "
        "(medians of tenths of the run)."
    )


@pytest.mark.parametrize("seed", range(10))
def test_noise_is_no_fall(seed: int) -> None:
    noise = np.random.default_rng(seed).normal(size=200)
    found = course(3 + 0.2 * noise)
    assert not found.comes_back
    assert ("no more than its noise" in str(found)) == (not found.falls and not found.rises)
    assert course(3 + 0.2 * noise - np.linspace(0, 2, 200)).falls


def test_one_bad_batch_at_the_end_is_no_rise() -> None:
    losses = np.linspace(4, 1, 100)
    losses[95] = 1e6
    assert str(course(losses)).startswith("The loss falls from 3.86 to 1.1")


def test_what_does_not_change_stays_and_what_is_not_recorded_is_none() -> None:
    assert str(course(np.ones(5))) == "The loss stays at 1."
    rec = gl.Recorder()
    rec.record({"w": np.ones(2)})
    assert loss_course(rec) is None

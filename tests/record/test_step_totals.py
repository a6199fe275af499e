"""Numbers of every step: all of them on the host, the last ones in a traced state, and joined when
it is absorbed.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import gradlab as gl

GRADS = {"w": np.zeros(3, np.float32)}


def norms(steps: int, seed: int = 0) -> np.ndarray:
    return np.exp(np.random.default_rng(seed).normal(size=steps)).astype(np.float32)


@functools.cache
def loop() -> Callable[..., Any]:
    """Return a compiled loop over steps of one norm each, for any recorder of the same sizes."""
    rec = gl.Recorder(8, entries=1, ring=16)
    rec.prepare({"w": (3,)}, ["loss"])

    def step(state: Any, x: Any) -> Any:
        return rec.update(state, {"w": jax.numpy.stack([x, 0 * x, 0 * x])}, loss=-x), None

    return jax.jit(lambda state, x: jax.lax.scan(step, state, x)[0])


def recorder() -> gl.Recorder:
    return gl.Recorder(8, entries=1, ring=16)


def test_every_step_is_kept_however_many_share_a_bucket() -> None:
    rec, x = gl.Recorder(2, entries=1), norms(3000)
    for k, norm in enumerate(x):
        rec.record({"w": np.float32([norm, 0, 0])}, loss=k)
    np.testing.assert_array_equal(rec.every_step("global_norm"), x)
    np.testing.assert_array_equal(rec.every_step("loss"), np.arange(3000))
    assert (
        rec.known.all()
        and not rec.every_step("skipped").any()
        and np.isnan(rec.every_step("scale")).all()
    )
    with pytest.raises(
        KeyError,
        match="no column 'norm' of every step; there are global_norm, leading_norm, largest",
    ):
        rec.every_step("norm")


@pytest.mark.exhaustive
@pytest.mark.parametrize(("steps", "kept"), [(10, 10), (17, 16), (60, 16)])
def test_a_traced_state_keeps_the_last_steps_and_says_which_it_lost(steps: int, kept: int) -> None:
    rec, x = recorder(), norms(steps)
    rec = rec.absorb(loop()(rec.init(GRADS, loss=0.0), x))
    assert rec.known.tolist() == [False] * (steps - kept) + [True] * kept
    np.testing.assert_allclose(rec.every_step("global_norm")[rec.known], x[-kept:], rtol=1e-6)
    np.testing.assert_allclose(rec.every_step("loss")[rec.known], -x[-kept:], rtol=1e-6)
    assert np.isnan(rec.every_step("global_norm")[~rec.known]).all()


def test_a_state_that_is_absorbed_in_time_loses_nothing() -> None:
    rec, x = recorder(), norms(100)
    state = rec.init(GRADS, loss=0.0)
    for some in np.split(x, 10):
        state = loop()(state, some)
        rec = rec.absorb(state)
    assert rec.known.all()
    np.testing.assert_allclose(rec.every_step("global_norm"), x, rtol=1e-6)
    answer = rec.what_if(clip_global_norm=1.0)
    assert answer.fraction_fired == (rec.every_step("global_norm") > 1).mean() and answer.exact


@pytest.mark.exhaustive
def test_what_was_lost_is_estimated_between_bounds() -> None:
    rec, x = recorder(), norms(4000)
    rec = rec.absorb(loop()(rec.init(GRADS, loss=0.0), x))
    for limit in (0.2, 1.0, float(np.percentile(x, 90)), 7.0):
        answer = rec.what_if(clip_global_norm=limit)
        low, high = answer.bounds
        assert low <= (x > limit).mean() <= high and high - low < 0.02 and not answer.exact
        assert "between the bounds" in answer.note
    summary = rec.summary()
    assert "about the 90th percentile" in summary.reason and "estimates" in str(summary)
    assert summary.suggested == pytest.approx(np.percentile(x, 90), rel=0.02)


@pytest.mark.exhaustive
def test_steps_of_another_run_do_not_fill_what_was_lost() -> None:
    first, other = recorder(), recorder()
    first = first.absorb(loop()(first.init(GRADS, loss=0.0), norms(10)))
    state = loop()(other.init(GRADS, loss=0.0), norms(60, seed=1))
    mixed, alone = first.absorb(state), other.absorb(state)
    np.testing.assert_array_equal(mixed.known, alone.known)
    assert mixed.known.sum() == 16


@pytest.mark.exhaustive
def test_a_run_that_goes_on_from_a_recorder_keeps_its_steps() -> None:
    rec, x = recorder(), norms(60)
    for part in (x[:30], x[30:]):
        steps = rec.every_step("global_norm") if rec.seen else np.zeros(0)
        rec = rec.absorb(loop()(rec.init(GRADS, loss=0.0), part))
        np.testing.assert_array_equal(rec.every_step("global_norm")[: len(steps)], steps)
    assert rec.known.tolist() == ([False] * 14 + [True] * 16) * 2

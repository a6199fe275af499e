"""The gradient noise scale of gradients whose noise is known."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl

ENTRIES, MICRO, TRUE, SPREAD = 200, 4, 0.1, 0.5
KNOWN = SPREAD**2 / TRUE**2  # tr(S) / |G|^2 of a micro-batch


def micro_batches(steps: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    return (TRUE + SPREAD * rng.normal(size=(steps, MICRO, ENTRIES))).astype(np.float32)


@pytest.mark.exhaustive
def test_known_noise_is_found_eager_and_traced() -> None:
    rec, traced = gl.Recorder(steps=50), gl.Recorder(steps=50)
    found = micro_batches(400)
    state = traced.init([found[0, 0]], micro_norms=0.0)
    step = jax.jit(
        lambda s, g: traced.update(s, [g.mean(0)], micro_norms=jnp.linalg.norm(g, axis=1))
    )
    for g in found:
        rec.record([g.mean(axis=0)], micro_norms=np.linalg.norm(g, axis=1))
        state = step(state, g)
    one, other = rec.noise_scale(), traced.absorb(state).noise_scale(8)
    assert (
        one.bounds[0] < KNOWN < one.bounds[1]
        and one.value == pytest.approx(KNOWN, rel=0.1)
        and one.steps == 400
    )
    assert other.value == pytest.approx(8 * one.value, rel=1e-3) and other.unit == 8
    assert rec.noise_scale(last=100).steps == 100
    assert str(rec.summary()).endswith(str(one)) and "estimated from 400 steps" in str(one)


def test_absent_without_micro_batches() -> None:
    rec = gl.Recorder()
    rec.record([np.ones(2)])
    assert rec.summary().noise is None
    with pytest.raises(ValueError, match="micro_norms="):
        rec.noise_scale()
    with pytest.raises(ValueError, match="it has none"):
        gl.Recorder().record([np.ones(2)], micro_norms=[])

"""Tensor rules and schedule-free rules beside optax: at least as near to a float64 run as optax."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import optax
import pytest

from gradlab.rules import Adafactor, Lamb, Muon, ScheduleFreeAdam, ScheduleFreeSGD
from gradlab.rules.muon import DION
from tests.rules.relative_error import check, inputs, run, run_jit

RATE = 0.1
# So high that a limit of 1 / sqrt(steps) would count.
HIGH_RATE = 0.6
MUON = {"form": "optax", "adjust_lr": "width", "norm_epsilon": 1e-8}
CASES = {
    "muon": (optax.contrib.muon(RATE), Muon(**MUON)),
    "muon, no nesterov": (
        optax.contrib.muon(RATE, nesterov=False),
        Muon(**MUON, use_nesterov=False),
    ),
    "muon, dion": (
        optax.contrib.muon(RATE, ns_coeffs="dion", beta=0.8),
        Muon(0.8, **MUON, coefficients=DION),
    ),
    "muon, rms": (
        optax.contrib.muon(RATE, consistent_rms=0.2, eps=RATE),
        Muon(form="optax", norm_epsilon=RATE),
    ),
    "lamb": (optax.lamb(RATE, eps=1e-6), Lamb(epsilon=1e-6)),
    "lamb, decay": (
        optax.lamb(RATE, b2=0.9, weight_decay=0.3),
        Lamb(beta2=0.9, epsilon=1e-6, weight_decay=0.3),
    ),
    "adafactor": (
        optax.adafactor(HIGH_RATE, min_dim_size_to_factor=20),
        Adafactor(limits_rate=False, min_factored=20),
    ),
    "adafactor, not factored": (
        optax.adafactor(HIGH_RATE, clipping_threshold=0.5),
        Adafactor(limits_rate=False, min_factored=128, clip_threshold=0.5),
    ),
    "schedule-free SGD": (
        optax.contrib.schedule_free_sgd(RATE, b1=0.8),
        ScheduleFreeSGD(0.8),
    ),
}


def optax_run(tx: Any, w: Any, gradients: Any, dtype: Any) -> np.ndarray:
    """Return the weights after each step of an optimizer of optax under jit, as float64."""

    @jax.jit
    def step(state: Any, w: Any, g: Any) -> Any:
        updates, state = tx.update(g, state, w)
        return optax.apply_updates(w, updates), state

    with jax.enable_x64(np.dtype(dtype) == np.float64):
        w = jax.numpy.asarray(w, dtype)
        state = tx.init(w)
        after = []
        for g in gradients:
            w, state = step(state, w, jax.numpy.asarray(g, dtype))
            after.append(np.asarray(w, np.float64))
    return np.stack(after)


@pytest.mark.parametrize("shape", [(40, 30), (20, 50)])
@pytest.mark.parametrize("name", CASES)
def test_the_error_is_at_most_that_of_optax(name: str, shape: Any) -> None:
    tx, rule = CASES[name]
    rate = HIGH_RATE if isinstance(rule, Adafactor) else RATE
    w, gradients = inputs(0, shape)
    exact = optax_run(tx, w, gradients, np.float64)

    theirs = optax_run(tx, w, gradients, np.float32)
    # These two are in the order of Keras; and how XLA adds the squares of a norm depends on what
    # it fuses them with.
    factor = {Adafactor: 1.1, Lamb: 1.5}.get(type(rule), 1.0)
    check(run(rule, rate, w, gradients), theirs, exact, factor)
    check(run_jit(rule, rate, w, gradients), theirs, exact, factor)
    # What a rule shares between weights is float32 whatever their dtype.
    got = run(rule, rate, w, gradients, np.float64)
    np.testing.assert_allclose(got, exact, rtol=1e-6, atol=1e-7)


def test_schedule_free_adam_is_that_of_optax_in_float64() -> None:
    w, gradients = inputs(0, (4, 3))
    tx = optax.contrib.schedule_free_adamw(RATE, b2=0.99)

    exact = optax_run(tx, w, gradients, np.float64)
    got = run(ScheduleFreeAdam(beta2=0.99), RATE, w, gradients, np.float64)
    # The power of beta2 is float32.
    np.testing.assert_allclose(got, exact, rtol=1e-5, atol=1e-6)

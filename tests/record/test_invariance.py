"""Measures of a recording under changes that must not matter, and under changes that must.

`MEASURES` has each measure that a report, a lab or an exercise takes from a recording, with the
power of a factor on the loss that it scales with: 0 for shares, ratios and angles, 1 for norms and
limits. The run is a small regression whose optimum turns, so that its gradients keep their size and
slowly turn; its noise is about as large as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from gradlab import Recorder
from gradlab.record.analysis.summary import medians, norm_at, parts

SIZE = 30  # entries of each of the two tensors, "x" and "z"
BATCH = 32
STEPS = 512


@dataclass(frozen=True)
class Change:
    """What is changed of the run.

    Attributes:
        factor: on the loss; the rate is divided by it, so that the weights take the same path.
        unit: of the first feature, which its weight is divided by.
        parts: micro-batches that a batch is split into.
        steps, seed: of the run.
        spike: a factor on the gradients of tensor "x" in step 20; the weights don't see it.
        stopped: whether tensor "z" gets no gradient from step 256 on.
        sudden: a factor on the turn of the optimum in a step.
    """

    factor: float = 1.0
    unit: float = 1.0
    parts: int = 2
    steps: int = STEPS
    seed: int = 0
    spike: float = 1.0
    stopped: bool = False
    sudden: float = 1.0


def run(change: Change) -> Recorder:
    """Train with descent, and record gradients, micro-batches, weights and probes."""
    rng = np.random.default_rng([change.seed, 1])
    probe_rng = np.random.default_rng([change.seed, 2])
    rec = Recorder(change.steps, entries=2 * SIZE, sample_every=8)
    weights = np.zeros(2 * SIZE)
    start, side = np.linalg.qr(np.random.default_rng(7).normal(size=(2 * SIZE, 2)))[0].T
    units = np.ones(2 * SIZE)
    units[0] = change.unit

    def gradient(rng: np.random.Generator, optimum: np.ndarray) -> np.ndarray:
        """(BATCH, weights) of the single examples."""
        inputs = rng.normal(size=(BATCH, 2 * SIZE))
        errors = inputs @ (weights * units - optimum) + rng.normal(size=BATCH)
        return change.factor * errors[:, None] * inputs * units

    def tree(flat: np.ndarray) -> dict[str, np.ndarray]:
        return {"x": flat[:SIZE].astype(np.float32), "z": flat[SIZE:].astype(np.float32)}

    for step in range(change.steps):
        angle = 0.05 * change.sudden * step
        optimum = 2 * (np.cos(angle) * start + np.sin(angle) * side)
        rec.probe(tree(gradient(probe_rng, optimum).mean(axis=0)))
        examples = gradient(rng, optimum)
        if step == 20:
            examples[:, :SIZE] *= change.spike
        if change.stopped and step >= 256:
            examples[:, SIZE:] = 0
        micro = examples.reshape(change.parts, -1, 2 * SIZE).mean(axis=1)
        mean = micro.mean(axis=0)
        moved = -0.02 / change.factor * mean / units**2
        rec.record(
            tree(mean),
            weights=tree(weights * units),
            updates=tree(moved * units),
            micro_norms=np.linalg.norm(micro, axis=1),
        )
        if step != 20:  # a spike that was recorded, and not taken
            weights = weights + moved
    return rec


def limit(rec: Recorder) -> float:
    """A limit that scales with the loss: the median norm."""
    return norm_at(rec, 50)


def agreement(rec: Recorder) -> np.ndarray:
    return rec.agreement().value[1:9]


def examples_of_noise(rec: Recorder) -> float:
    """The noise scale in examples, whatever the micro-batches."""
    micro_batches = rec.every_step("micro_batches")[0]
    return rec.noise_scale(micro_batch=int(BATCH / micro_batches)).value


# The measure, the power of the loss's factor that it has, and how far it may be from itself in
# another run of the kind: relative to the largest of its values.
MEASURES: dict[str, tuple[Callable[[Recorder], Any], int, float]] = {
    "held back: R": (lambda rec: np.median(rec.held_back().ratio), 0, 0.15),
    "held back: share of entries": (lambda rec: rec.held_back().held.mean(), 0, 0.05),
    "agreement from probes": (agreement, 0, 0.25),
    "noise scale": (examples_of_noise, 0, 0.4),
    "median norm": (limit, 1, 0.1),
    "median norm by tensor": (medians, 1, 0.1),
    "largest over median norm": (lambda rec: rec.global_norm.max() / limit(rec), 0, 0.5),
    "suggested limit": (lambda rec: rec.summary().suggested, 1, 0.1),
    "share of clipped steps": (
        lambda rec: rec.what_if(clip_global_norm=limit(rec)).fraction_fired,
        0,
        0.01,
    ),
    "share of clipped steps by tensor": (
        lambda rec: rec.what_if(clip_norm=limit(rec) / 2).share_by_tensor,
        0,
        0.1,
    ),
    "share of entries cut by value": (
        lambda rec: rec.what_if(clip_value=limit(rec) / 8).fraction_hit.mean(),
        0,
        0.15,
    ),
    "median turn of a clip by tensor": (
        lambda rec: rec.what_if(clip_norm=limit(rec) / 2).median_angle,
        0,
        0.5,
    ),
    "tensor's part of the squared norm": (lambda rec: parts(rec, np.ones(len(rec), bool)), 0, 0.1),
    "update over weight": (lambda rec: rec.updates().median, 0, 0.1),
    "steps that are not finite": (lambda rec: rec.nonfinite_steps, 0, 0.0),
}
ALL_MEASURES = pytest.mark.parametrize("name", MEASURES)
_RUNS: dict[Change, Recorder] = {}


def measured(name: str, **change: Any) -> np.ndarray:
    """A measure of a run; each run is made once."""
    key = Change(**change)
    if key not in _RUNS:
        _RUNS[key] = run(key)
    return np.asarray(MEASURES[name][0](_RUNS[key]), np.float64)


@ALL_MEASURES
@pytest.mark.parametrize("factor", [64.0, 1 / 64])
def test_a_factor_on_the_loss_changes_norms_by_itself_and_nothing_else(
    name: str, factor: float
) -> None:
    _, power, _ = MEASURES[name]
    # Limits are rounded to digits that are printed, and values counted by powers of two.
    rounding = {"suggested limit": 0.01, "share of entries cut by value": 0.0}.get(name, 1e-6)
    np.testing.assert_allclose(
        measured(name, factor=factor), factor**power * measured(name), rtol=rounding, atol=1e-9
    )


@ALL_MEASURES
def test_splitting_a_batch_in_more_micro_batches_changes_nothing(name: str) -> None:
    """The gradients are the same to rounding; the noise scale is estimated from other parts of
    them.
    """
    tolerance = 0.4 if name == "noise scale" else 1e-3
    np.testing.assert_allclose(
        measured(name, parts=4), measured(name), rtol=tolerance, atol=tolerance / 10
    )


@ALL_MEASURES
@pytest.mark.parametrize(
    "change", [{"steps": STEPS // 2}, {"seed": 1}, {"seed": 2}], ids=["half", "seed 1", "seed 2"]
)
def test_half_the_steps_or_another_seed_change_it_by_chance_only(
    name: str, change: dict[str, int]
) -> None:
    *_, tolerance = MEASURES[name]
    there = measured(name)
    scale = max(1e-9, float(np.abs(there).max()))
    np.testing.assert_allclose(
        measured(name, **change), there, atol=tolerance * scale + 0.02 * (tolerance > 0)
    )


def test_the_unit_of_a_feature_changes_neither_who_is_held_back_nor_r() -> None:
    """A feature in other units has a gradient with a factor, and weights that stand for the same."""
    one, other = run(Change()).held_back(), run(Change(unit=0.05)).held_back()
    np.testing.assert_allclose(one.ratio, other.ratio, rtol=1e-4)
    np.testing.assert_array_equal(one.held, other.held)


# What a change must be seen in, and in which direction.
SEEN = {
    "a spike holds entries back": ("held back: share of entries", {"spike": 1000.0}, np.greater),
    "a spike is far above the median": ("largest over median norm", {"spike": 1000.0}, np.greater),
    "larger gradients than the rate allows for turn faster": (
        "agreement from probes",
        {"sudden": 6.0},
        np.less,
    ),
}


@pytest.mark.parametrize("what", SEEN)
def test_a_change_that_matters_is_seen(what: str) -> None:
    name, change, direction = SEEN[what]
    *_, tolerance = MEASURES[name]
    before, after = measured(name).ravel()[-1], measured(name, **change).ravel()[-1]
    assert direction(after, before)
    assert abs(after - before) > tolerance * max(abs(before), 0.1), "more than chance"


def test_a_spike_makes_its_tensor_trouble_and_no_other() -> None:
    found = run(Change(spike=1000.0)).held_back()
    assert found.tensors(found.in_trouble) == ("x",)


def test_a_stopped_tensor_has_no_gradient_and_no_part_of_the_norm_any_more() -> None:
    rec = run(Change(stopped=True))
    found = rec.held_back()
    assert found.no_gradient.tolist() == [False] * SIZE + [True] * SIZE
    assert not found.in_trouble.any(), "that it stopped is another fact"
    late = np.arange(len(rec)) >= 256
    assert parts(rec, late).tolist() == [1, 0]
    assert 0.3 < parts(rec, ~late)[1] < 0.7


def test_a_factor_on_the_loss_changes_the_share_of_the_initial_accumulator() -> None:
    """It has a unit, and says so."""
    small, large = (run(Change(factor=factor)).held_back() for factor in (1 / 64, 64.0))
    assert (small.initial_share(0.1) > 0.5).mean() > (large.initial_share(0.1) > 0.5).mean()

"""Norms of weights and updates: by hand, eager and traced alike, sampled, thinned, saved, and
absent if not given.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import gradlab as gl
from gradlab.record import updates as module

SHAPES = {"b": (3,), "w": (80, 60)}


def course(steps: int) -> tuple[list[dict[str, np.ndarray]], list[dict[str, np.ndarray]]]:
    """Gradients, and weights before each step and after the last; step 3 moves nothing."""
    rng = np.random.default_rng(0)
    grads = [
        {n: rng.normal(size=s).astype(np.float32) for n, s in SHAPES.items()} for _ in range(steps)
    ]
    weights = [{n: rng.normal(size=s).astype(np.float32) for n, s in SHAPES.items()}]
    for k, g in enumerate(grads):
        rate = np.float32(0 if k == 3 else 0.1 / (k + 1))
        weights.append({n: w - rate * g[n] for n, w in weights[-1].items()})
    return grads, weights


def norms(trees: list[dict[str, np.ndarray]]) -> np.ndarray:
    return np.array(
        [[np.linalg.norm(tree[n].astype(np.float64)) for n in SHAPES] for tree in trees]
    )


def eager(steps: int, given: bool, **options: Any) -> gl.Recorder:
    rec, (grads, weights) = gl.Recorder(**options), course(steps)
    for k, g in enumerate(grads):
        moved = {n: weights[k + 1][n] - weights[k][n] for n in SHAPES}
        rec.record(g, weights=weights[k], updates=moved if given else None, skipped=k == 4)
    return rec


def traced(steps: int, **options: Any) -> gl.Recorder:
    rec, (grads, weights) = gl.Recorder(**options), course(steps)
    state = rec.init(grads[0], weights=weights[0])
    step = jax.jit(
        lambda state, g, w, u, k: rec.update(state, g, weights=w, updates=u, skipped=k == 4)
    )
    for k, g in enumerate(grads):
        state = step(
            state, g, weights[k], {n: weights[k + 1][n] - weights[k][n] for n in SHAPES}, k
        )
    return rec.absorb(state)


@pytest.mark.parametrize(
    "run",
    [
        lambda **o: eager(8, True, **o),
        lambda **o: eager(8, False, **o),
        pytest.param(lambda **o: traced(8, **o), marks=pytest.mark.exhaustive),
    ],
)
def test_norms_and_ratios_are_those_computed_by_hand(run: Any) -> None:
    grads, weights = course(8)
    found = run(sample_every=1).updates()
    want = [k for k in range(8) if k not in (3, 4)]  # one moves nothing, one was skipped
    # Without updates, what the last one did is not known yet.
    assert found.step.tolist() in (want, want[:-1])
    at = found.step
    moved = [{n: weights[k + 1][n] - weights[k][n] for n in SHAPES} for k in at]
    np.testing.assert_allclose(found.gradient, norms([grads[k] for k in at]), 1e-5)
    np.testing.assert_allclose(found.weight, norms([weights[k] for k in at]), 1e-5)
    np.testing.assert_allclose(found.update, norms(moved), 1e-5)
    np.testing.assert_allclose(found.ratio, norms(moved) / norms([weights[k] for k in at]), 1e-5)
    # 3 and 4 are none, so the next one.
    assert run(sample_every=3).updates().step.tolist()[:4] == [0, 1, 2, 5]
    both = found.by_group({"all": ["w", "b"]})
    np.testing.assert_allclose(both.update[:, 0], np.linalg.norm(found.update, axis=1), 1e-6)
    with pytest.raises(ValueError, match="'all' has c, which"):
        found.by_group({"all": ["c"]})


@pytest.mark.exhaustive
def test_long_runs_keep_samples_spread_over_all_of_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "ROOM", 8)
    rec, same = eager(40, True, sample_every=1), traced(40, sample_every=1)
    step = rec.updates().step
    assert 4 <= len(step) <= 8 and step[0] == 0 and step[-1] > 30
    assert step.tolist() == same.updates().step.tolist()
    np.testing.assert_allclose(same.updates().update, rec.updates().update, 1e-5)
    rec.save(tmp_path / "run.npz")
    back = gl.Recorder.load(tmp_path / "run.npz")
    assert np.array_equal(back.flush().columns["moved"], rec.flush().columns["moved"])
    assert back.absorb(back.init(course(1)[0][0])).updates().step.tolist() == step.tolist()
    later = gl.Recorder(sample_every=1)
    later.load_state_dict(rec.state_dict())
    assert f"in {len(step)} of 40 steps" in str(later.summary())


def one_ratio(ratios: list[float], **options: Any) -> gl.Recorder:
    """A run of one tensor whose updates are these shares of its weights."""
    rec, w = gl.Recorder(**options), {"w": np.array([3.0, 4.0])}
    for ratio in ratios:
        rec.record(w, weights=w, updates={"w": w["w"] * ratio})
    return rec


def test_samples_are_dense_at_first_and_then_rarer() -> None:
    step = one_ratio([0.1] * 700, sample_every=64).updates().step
    assert step[:17].tolist() == list(range(17))
    assert step[17:26].tolist() == [18, 20, 22, 24, 26, 28, 30, 32, 36]
    assert np.diff(step).max() == 64 and step[-3:].tolist() == [512, 576, 640]
    assert (np.diff(step) <= np.maximum(step[:-1] / 8, 1)).all()


@pytest.mark.exhaustive
def test_traced_samples_are_of_the_same_steps_as_eager_ones() -> None:
    rec, w = gl.Recorder(sample_every=12), {"w": np.float32([3.0, 4.0])}
    state = rec.init(w, weights=w)
    step = jax.jit(lambda state: rec.update(state, w, weights=w, updates=w))
    for _ in range(150):
        state = step(state)
    assert (
        rec.absorb(state).updates().step.tolist()
        == one_ratio([1.0] * 150, sample_every=12).updates().step.tolist()
    )


def test_the_median_is_of_all_steps_but_the_first() -> None:
    # As Adam's: large at first, then falling by a power of the step. A plain median of samples is
    # that of the start.
    ratios = [5.0, 2.0, *(1 / np.arange(3, 1001))]
    found = one_ratio(ratios).updates()
    exact = np.percentile(ratios[8:], [25, 50, 75])
    np.testing.assert_allclose(found.quartiles[:, 0], exact, rtol=0.05)
    assert found.first == 8 and found.at_start[0] == pytest.approx(np.median(ratios[:8]), rel=1e-5)
    assert int(found.stands_for.sum()) == 1000
    assert np.nanmedian(found.ratio) > 5 * exact[1], "which is why samples are weighted"


def test_of_few_samples_nothing_is_said() -> None:
    found = one_ratio([5.0] * 5).updates()  # four after the first
    assert np.isnan(found.median).all() and not found.enough
    assert (found.outside, found.below, found.above) == ((), (), ())
    assert "no ratio of update to weight is stated" in str(found)
    assert one_ratio([5.0] * 6).updates().enough


def test_tensors_below_and_above_are_told_apart() -> None:
    rec, w = (
        gl.Recorder(),
        {name: np.array([3.0, 4.0]) for name in ("slow", "usual", "fast", "still")},
    )
    shares = {"slow": 1e-6, "usual": 1e-3, "fast": 0.5, "still": 0.0}
    for _ in range(20):
        rec.record(w, weights=w, updates={name: w[name] * shares[name] for name in w})
    found = rec.updates()
    assert (found.below, found.above, found.still) == (("slow",), ("fast",), ("still",))
    assert found.in_words == "below 0.0001: slow; above 0.01: fast"
    assert "1.00e-03 (1.00e-03 to 1.00e-03)" in str(found) or "0.001 (0.001 to 0.001)" in str(found)


def test_absent_where_no_weights_were_given(tmp_path: Path) -> None:
    rec = gl.Recorder()
    rec.record(course(1)[0][0])
    rec.save(tmp_path / "run.npz")
    for each in (rec, gl.Recorder.load(tmp_path / "run.npz")):
        assert "moved" not in each.flush().columns and each.summary().updates is None
        with pytest.raises(ValueError, match="weights=True"):
            each.updates()


def test_a_step_without_weights_compares_nothing() -> None:
    grads, weights = course(4)
    rec = gl.Recorder(sample_every=1)
    for k in range(4):
        rec.record(grads[k], weights=None if k == 1 else weights[k])
    # What 0 did is not known, 1 has no weights, what 3 did is to come.
    assert rec.updates().step.tolist() == [2]
    with pytest.raises(ValueError, match="give weights=, too"):
        rec.record(grads[0], updates=grads[0])
    with pytest.raises(ValueError, match="weights must be a tree like grads"):
        rec.record(grads[0], weights={"w": np.ones(3)})
    assert rec.seen == 4


@pytest.mark.parametrize(
    "change",
    [
        {"moved": np.zeros((3, 2, 3), np.float32)},
        {"moved_at": np.array([1, 5, 2], np.int32)},
        {"moved_at": np.array([1, 5, 90], np.int32)},
        {"moved_at": np.array([0, 5, 6], np.int32)},
    ],
    ids=str,
)
def test_samples_of_no_run_are_refused(change: dict[str, np.ndarray]) -> None:
    fine = {"moved": np.zeros((3, 2, 2), np.float32), "moved_at": np.array([1, 5, 6], np.int32)}
    module.check(fine, 2, 10)
    with pytest.raises(ValueError, match="norms of updates"):
        module.check({**fine, **change}, 2, 10)

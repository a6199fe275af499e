"""Probes: products with the gradients of their step and of the 16 after it, kept whatever becomes
of the recording.
"""

import pickle
from pathlib import Path

import numpy as np
import pytest

import gradlab as gl
from gradlab import Recorder
from gradlab.record.probes import LAGS

RNG = np.random.default_rng(0)
GRADS = RNG.normal(size=(40, 7)).astype(np.float32)
PROBES = RNG.normal(size=(40, 7)).astype(np.float32)


def recorded(
    every: int = 3, steps: int = 100, first: int = 0, rec: Recorder | None = None, end: int = 40
) -> Recorder:
    rec = Recorder(steps=steps) if rec is None else rec
    for k in range(first, end):
        if k % every == 0:
            rec.probe({"a": PROBES[k, :4], "b": PROBES[k, 4:]})
        rec.record({"a": GRADS[k, :4], "b": GRADS[k, 4:]}, loss=1.0)
    return rec


def expected(every: int = 3) -> np.ndarray:
    found = np.full((-(-40 // every), LAGS + 1), np.nan)
    for row, step in enumerate(range(0, 40, every)):
        for lag in range(min(LAGS + 1, 40 - step)):
            found[row, lag] = PROBES[step] @ GRADS[step + lag]
    return found


def test_products_are_those_of_the_whole_gradients() -> None:
    step, products = recorded().probe_products()
    assert step.tolist() == list(range(0, 40, 3))
    np.testing.assert_allclose(products, expected(), rtol=1e-5)


def test_merged_buckets_and_files_keep_them(tmp_path: Path) -> None:
    rec = recorded(steps=5)
    assert rec.stride == 8
    rec.save(tmp_path / "run.npz")
    with rec.append_to(tmp_path / "run.rec", seconds=0):
        pass
    later = Recorder(steps=5)
    later.load_state_dict(rec.state_dict())
    copies = [
        Recorder.load(tmp_path / "run.npz"),
        Recorder.load(tmp_path / "run.rec"),
        later,
        rec.snapshot(),
    ]
    for copy in (*copies, pickle.loads(pickle.dumps(rec))):
        for mine, other in zip(rec.probe_products(), copy.probe_products(), strict=True):
            np.testing.assert_array_equal(mine, other)


def test_a_recording_that_goes_on_has_new_probes_and_gaps_in_the_old() -> None:
    rec = Recorder(steps=100)
    rec.load_state_dict(recorded(end=20).state_dict())
    step, products = recorded(first=20, rec=rec).probe_products()
    assert step.tolist() == list(range(0, 40, 3))
    np.testing.assert_allclose(products[7:], expected()[7:], rtol=1e-5)
    assert np.isnan(products[6, 2:]).all() and np.isfinite(products[6, :2]).all()  # of step 18


def test_more_probes_than_there_is_room_for_at_first() -> None:
    rec = Recorder()
    for _ in range(300):
        rec.probe([np.ones(2)])
        rec.record([np.ones(2)])
    step, products = rec.probe_products()
    assert step.tolist() == list(range(300)) and (products[:284] == 2).all()


def test_a_skipped_step_is_no_update() -> None:
    rec = Recorder()
    for k in range(4):
        rec.probe([np.full(1, 1.0)])
        rec.record([np.full(1, np.inf)], skipped=True)
        rec.record([np.full(1, k + 1.0)])
    step, products = rec.probe_products()
    assert step.tolist() == [1, 3, 5, 7], "the step that was taken at these weights"
    assert products[0, :4].tolist() == [1, 2, 3, 4]


def test_a_probe_does_not_lengthen_the_steps() -> None:
    assert len(recorded(every=2).durations()) == 20


def test_probes_fit_the_gradients() -> None:
    rec = recorded()
    before = rec.probe_products()[1]
    with pytest.raises(ValueError, match="the grads of probe must be a tree like grads"):
        rec.probe({"c": np.ones(3)})
    fresh = Recorder()
    fresh.probe({"c": np.ones(3)})
    with pytest.raises(ValueError, match="the grads of probe must be a tree like grads"):
        fresh.record({"a": np.ones(4)})
    assert fresh.seen == 0
    np.testing.assert_array_equal(rec.probe_products()[1], before)


def test_traced_gradients_are_refused_with_a_way_out() -> None:
    import jax

    rec = Recorder()
    with pytest.raises(ValueError, match="Return both gradients from the jitted step"):
        jax.jit(lambda g: rec.probe([g]))(np.ones(2))


@pytest.mark.exhaustive
def test_a_probe_of_steps_that_are_recorded_elsewhere_is_dropped_with_a_warning() -> None:
    rec = Recorder(entries=0)
    rec.probe({"w": np.ones(2)})
    state = rec.init({"w": np.ones(2)})
    state = rec.update(state, {"w": np.ones(2)})
    with pytest.warns(gl.errors.RecordingWarning, match="a probe was dropped"):
        rec = rec.absorb(state)
    assert not len(rec.probe_products()[0])
    rec.probe({"w": np.ones(2)})
    with pytest.warns(gl.errors.RecordingWarning, match="a probe was dropped"):
        rec.extend({"norm": [[1.0]], "largest": [[1.0]], "nonfinite": [[0]]})


def test_jax_arrays_are_probes() -> None:
    import jax.numpy as jnp

    rec = Recorder()
    rec.probe({"w": jnp.ones(3)})
    rec.record({"w": 2 * jnp.ones(3)})
    assert rec.probe_products()[1][0, 0] == 6


@pytest.mark.torch
def test_a_recorder_that_is_attached_has_no_probes() -> None:
    import torch

    model, rec = torch.nn.Linear(2, 1), Recorder()
    run = gl.record.torch(rec, model, torch.optim.SGD(model.parameters(), 0.1))
    with run, pytest.raises(ValueError, match="this recorder is attached to a loop"):
        rec.probe([np.ones(2)])


def damaged(tmp_path: Path, **columns: np.ndarray) -> Path:
    from gradlab.record import file

    rec = recorded()
    store = rec.flush()
    store.columns |= columns
    file.save(tmp_path / "bad.npz", store)
    return tmp_path / "bad.npz"


@pytest.mark.parametrize(
    "columns",
    [
        {"probe_step": np.array([3, 0]), "probe": np.ones((2, LAGS + 1))},
        {"probe_step": np.array([0, 40]), "probe": np.ones((2, LAGS + 1))},
        {"probe_step": np.array([0, 3]), "probe": np.ones((2, 5))},
        {"probe_step": np.array([0, 3]), "probe": np.ones((2, LAGS + 1), np.float32)},
    ],
    ids=["order", "beyond", "lags", "dtype"],
)
def test_damaged_probes_are_refused(tmp_path: Path, columns: dict[str, np.ndarray]) -> None:
    with pytest.raises(gl.errors.DataLossError, match="probes"):
        Recorder.load(damaged(tmp_path, **columns))

"""All hosts record the same run: NumPy, optax, PyTorch, and Keras 3 on each of its backends."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gradlab as gl
from tests.notebooks import your_run
from tests.record import hosts


@pytest.fixture(scope="module")
def plain() -> gl.Recorder:
    return hosts.of_numpy()


def assert_same(got: gl.Recorder, plain: gl.Recorder) -> None:
    """The order of tensors is each host's own; that of NumPy and JAX goes by name."""
    names = [name.rpartition("/")[2] for name in got.names]
    order = [names.index(name) for name in plain.names] if set(names) == set(hosts.NAMES) else [1, 3, 0, 2]
    assert got.seen == plain.seen == hosts.STEPS
    np.testing.assert_allclose(got["norm"][:, order], plain["norm"], 1e-4, 1e-6)
    np.testing.assert_allclose(got["largest"][:, order], plain["largest"], 1e-4, 1e-6)
    np.testing.assert_allclose(got["loss"], plain["loss"], 1e-4)
    np.testing.assert_array_equal(got["histogram"][:, order].sum(2), plain["histogram"].sum(2))
    fired = [rec.what_if(clip_global_norm=hosts.LIMIT).fraction_fired for rec in (got, plain)]
    assert fired[0] == pytest.approx(fired[1])
    assert 0 < fired[1] < 1


def assert_the_notebook_takes(recording: Path) -> None:
    assert f"{hosts.STEPS} steps of 4 tensors with 53 entries" in your_run.report_on(recording)


@pytest.mark.parametrize(
    "host", [pytest.param("optax", marks=pytest.mark.exhaustive), pytest.param("torch", marks=pytest.mark.torch)]
)
def test_a_host_in_this_process(host: str, plain: gl.Recorder, tmp_path: Path) -> None:
    rec = hosts.HOSTS[host]()
    assert_same(rec, plain)
    rec.save(tmp_path / "run.npz")
    assert_the_notebook_takes(tmp_path / "run.npz")


# Keras takes its backend when it is imported, so each has a process of its own.
@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "backend", ["tensorflow", "jax", pytest.param("torch", marks=pytest.mark.torch)], ids=lambda b: f"keras-{b}"
)
def test_keras(backend: str, plain: gl.Recorder, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.record.hosts", "keras", str(tmp_path / "run.npz")]
    environment = {**os.environ, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2]
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert_same(gl.Recorder.load(tmp_path / "run.npz"), plain)
    if backend == "tensorflow":
        assert_the_notebook_takes(tmp_path / "run.npz")

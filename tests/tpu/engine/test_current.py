"""There is one system at a time."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from gradlab import tpu
from gradlab.errors import CancelledError, FailedPreconditionError


def test_initializing_again_wipes_the_tables() -> None:
    first = tpu.initialize_system(tpu.example_config())
    first.load(0, [np.ones((4, 1))])
    second = tpu.initialize_system(tpu.example_config())
    assert tpu.current_system() is second
    assert not second.retrieve(0)[0].any()
    with pytest.raises(CancelledError):
        first.retrieve(0)


def test_a_configuration_that_cannot_be_run_leaves_the_running_system() -> None:
    first = tpu.initialize_system(tpu.example_config())
    for config in (b"\xff", tpu.TPUEmbeddingConfiguration(), tpu.example_config("user_defined_program")):
        with pytest.raises(ValueError, match=r"Configuration|mode|program"):
            tpu.initialize_system(config)
    with pytest.raises(ValueError, match="engine must be one of 'classic', 'sparsecore'"):
        tpu.initialize_system(tpu.example_config(), engine="dense")
    assert tpu.current_system() is first


def test_after_shutting_down_there_is_none() -> None:
    tpu.initialize_system(tpu.example_config())
    tpu.shutdown_system()
    with pytest.raises(FailedPreconditionError, match="there is no TPU system"):
        tpu.current_system()


def test_tables_start_at_zero_and_slots_as_their_rules_say() -> None:
    w, slot = tpu.initialize_system(tpu.example_config("adagrad")).retrieve(0)
    assert not w.any()
    assert (slot == np.float32(0.1)).all()


@pytest.mark.parametrize(("number", "timeout"), [(-1, None), (0, 0.0), (0, -1.0)])
def test_replicas_that_cannot_be(number: int, timeout: float | None) -> None:
    with pytest.raises(ValueError, match="got"), tpu.replica(number, timeout=timeout):
        pass


def test_a_mesh_that_cannot_share_the_cores_or_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    config = tpu.example_config()
    with pytest.raises(ValueError, match="core"):
        tpu.initialize_system(config, mesh=jax.sharding.Mesh(jax.devices()[:2], "x"))
    monkeypatch.setattr(tpu.OnMesh, "here", [])  # all its devices are another process's
    with pytest.raises(ValueError, match="the devices of one process"):
        tpu.initialize_system(config, mesh=jax.sharding.Mesh(jax.devices()[:1], "x"))

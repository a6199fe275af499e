"""A system takes its operations in their order, and is changed by no call that raises."""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np
import pytest

from gradlab import tpu
from gradlab.errors import CancelledError, FailedPreconditionError, InvalidArgumentError
from gradlab.tpu import Ids, initialize_system, replica
from tests.tpu.engine.systems import GRADIENT, ids, rows, step, system

ORDER = (
    "each step is: enqueue once for each core, receive deduplication data, receive activations, "
    "send gradients"
)


def test_every_other_order_raises_and_changes_nothing() -> None:
    s = system()
    calls = {
        "enqueue": lambda: s.enqueue(ids(3, 3)),
        "dedup": s.receive_deduplication_data,
        "activations": lambda: s.receive_activations(s.deduplication_data()),
        "send": lambda: s.send_gradients([GRADIENT], []),
        "again": s.receive_activations,
    }
    # after each call of a step: which others are out of order, and what the error says
    wrong = {
        "": {
            "dedup": "have enqueued nothing",
            "activations": "have enqueued nothing",
            "send": "received nothing",
        },
        "enqueue": {
            "enqueue": "a batch that nobody received",
            "activations": "received nothing",
            "send": "nothing",
        },
        "dedup": {"dedup": "no activations", "send": "no activations"},
        "activations": {
            "dedup": "owes gradients",
            "activations": "owes gradients",
            "again": "owes gradients",
        },
        "send": {"send": "received nothing", "activations": "have enqueued nothing"},
    }
    for done, refused in wrong.items():
        if done:
            calls[done]()
        before = s.state.tables[0]
        for name, words in refused.items():
            with pytest.raises(FailedPreconditionError, match=words):
                calls[name]()
        assert (s.state.tables[0] == before).all()
    assert rows(s) == [0, 0, 0, -1]
    with pytest.raises(FailedPreconditionError, match=ORDER):
        s.receive_deduplication_data()


def test_several_cores_enqueue_all_or_none() -> None:
    s = system(num_tensor_cores=2)
    for bad, error in (
        ({0: ids(1, 1), 1: ids(1, 9)}, "outside table"),
        ({0: ids(1, 1), 2: ids(1, 1)}, "cores are 0"),
    ):
        with pytest.raises(InvalidArgumentError, match=error):
            s.enqueue_all(bad)
    s.enqueue(ids(3, 3), 1)
    with pytest.raises(FailedPreconditionError, match="core 1 has a batch"):
        s.enqueue_all({0: ids(1, 1), 1: ids(1, 1)})
    with pytest.raises(InvalidArgumentError, match="at least one core"):
        s.enqueue_all({})
    s.enqueue(ids(2, 2), 0)


@pytest.mark.parametrize("table", [-1, 1])
def test_a_table_that_is_not_there_is_neither_loaded_nor_retrieved(table: int) -> None:
    s = system()
    for call in (lambda: s.load(table, [np.ones((4, 1))]), lambda: s.retrieve(table)):
        with pytest.raises(InvalidArgumentError, match=f"tables are 0 to 0, got {table}"):
            call()
    assert step(s, 3, 3).tolist() == [[0], [0]]


def test_a_mesh_is_no_list_of_devices() -> None:
    with pytest.raises(TypeError, match=r"mesh must be a jax\.sharding\.Mesh, got list"):
        initialize_system(tpu.example_config(), mesh=jax.devices())


@pytest.mark.exhaustive
def test_a_mesh_with_explicit_axes_holds_the_rows() -> None:
    mesh = jax.make_mesh((8,), ("x",), devices=jax.devices("cpu")[:8])
    config = system(num_tensor_cores=8).config
    s = initialize_system(config, mesh=mesh)
    s.enqueue_all({k: ids(3, k % 4) for k in range(8)})
    with replica(0):
        assert s.state.tables[0].sharding.num_devices == 8
    for k in range(8):
        s.receive_activations(replica=k)
    for k in range(8):
        s.send_gradients([GRADIENT], [], replica=k)
    assert rows(s) == [-1, -1, -1, -5]


def test_a_core_may_enqueue_the_next_batch_when_it_has_received() -> None:
    s = system()
    s.enqueue(ids(3, 3))
    dedup = s.receive_deduplication_data()
    s.enqueue(ids(1, 2))
    with pytest.raises(FailedPreconditionError, match="one batch ahead already"):
        s.enqueue(ids(1, 2))
    s.receive_activations(dedup)
    s.send_gradients([GRADIENT], [], dedup)
    s.receive_activations()
    s.send_gradients([GRADIENT], [])
    assert rows(s) == [0, -0.5, -0.5, -1]


def test_inference_looks_up_and_sends_nothing() -> None:
    s = system()
    s.load(0, [[[1.0], [2.0], [3.0], [4.0]]])
    s.enqueue(ids(3, 0), mode="inference")
    assert np.asarray(s.receive_activations()[0]).ravel().tolist() == [4, 1]
    with pytest.raises(
        FailedPreconditionError, match="the last batch was for inference, which sends no gradients"
    ):
        s.send_gradients([GRADIENT], [])
    step(s, 3, 3)
    assert rows(s) == [1, 2, 3, 3]


def test_a_backward_pass_needs_no_activations() -> None:
    s = system()
    s.enqueue(ids(3, 0), mode="backward_pass_only")
    s.send_gradients([GRADIENT], [], s.receive_deduplication_data())
    assert rows(s) == [-0.5, 0, 0, -0.5]


@pytest.mark.parametrize("mode", ["", "unspecified", "train", "training"])
def test_modes_of_training(mode: str) -> None:
    s = system()
    s.enqueue(ids(3, 0), mode=mode)
    s.receive_activations()
    s.send_gradients([GRADIENT], [])
    assert rows(s) == [-0.5, 0, 0, -0.5]


def test_unknown_modes_and_combiners_and_cores_are_refused() -> None:
    s = system()
    with pytest.raises(InvalidArgumentError, match=r"mode_override must be one of .*; got 'test'"):
        s.enqueue(ids(3, 0), mode="test")
    with pytest.raises(InvalidArgumentError, match="'sum', 'mean' or 'sqrtn', got 'max'"):
        s.enqueue(ids(3, 0), combiners=["max"])
    with pytest.raises(InvalidArgumentError, match="one for each of 1 tables"):
        s.enqueue(ids(3, 0), combiners=["sum", "sum"])
    with pytest.raises(InvalidArgumentError, match="cores are 0 to 0, got 1"):
        s.enqueue(ids(3, 0), core=1)
    assert s._queue.current.cores == {}


def test_ids_outside_their_table_are_refused_when_they_are_enqueued() -> None:
    s = system(num_tensor_cores=2)
    s.enqueue(ids(3, 0), core=1)
    for core in (0, 0):
        with pytest.raises(
            InvalidArgumentError, match="id 9 of feature 't', sample 1, is outside table 't'"
        ):
            s.enqueue(ids(3, 9), core=core)
    s.enqueue(ids(3, 1), core=0)
    for k in range(2):
        with replica(k):
            s.receive_activations()
    for k in range(2):
        with replica(k):
            s.send_gradients([GRADIENT], [])
    assert rows(s) == [-0.5, -0.5, 0, -1]


def test_pipelined_lookups_are_one_update_old_and_retrieving_catches_up() -> None:
    s = system(pipeline_execution_with_tensor_core=True)
    assert [step(s, 3, 3)[0, 0] for _ in range(3)] == [0, 0, -1]
    assert rows(s) == [0, 0, 0, -3]
    step(s, 3, 3)
    with pytest.raises(InvalidArgumentError):
        s.load(0, [np.ones((3, 1))])
    assert step(s, 2, 3)[1, 0] == -3  # a refused load does not catch up
    s.load(0, [np.arange(4.0)[:, None]])
    assert rows(s) == [0, 1, 2, 3]
    step(s, 3, 3)
    s.load(0, [np.full((4, 1), -3.0)])
    s.enqueue(ids(3, 0), mode="inference")
    assert s.receive_activations()[0].ravel().tolist() == [-3, -3]
    step(s, 3, 3)
    s.enqueue(ids(3, 0), mode="inference")
    assert s.receive_activations()[0].ravel().tolist() == [-4, -3]


def test_loading_is_all_or_nothing() -> None:
    s = system()
    with pytest.raises(
        InvalidArgumentError,
        match=r"parameters of table 't' must have shape \(4, 1\) here, got \(3, 1\)",
    ):
        s.load(0, [np.ones((3, 1))])
    with pytest.raises(InvalidArgumentError, match="has parameters and 0 slots, got 3 arrays"):
        s.load(0, [np.ones((4, 1))] * 3)
    with pytest.raises(
        InvalidArgumentError, match="the hidden accumulator of table 't' holds gradients"
    ):
        s.load(0, [np.ones((4, 1))] * 2)
    with pytest.raises(InvalidArgumentError, match="must be real numbers"):
        s.load(0, [np.full((4, 1), "a")])
    assert rows(s) == [0, 0, 0, 0]


def test_what_is_retrieved_and_what_was_loaded_are_copies() -> None:
    s = system()
    given = np.ones((4, 1), np.float32)
    s.load(0, [given])
    given[:] = 7
    found, state = s.retrieve(0)[0], s.state
    found[:] = 8
    step(s, 3, 3)
    assert rows(s) == [1, 1, 1, 0]
    assert np.asarray(state.tables[0]).ravel().tolist() == [1, 1, 1, 1]


def test_ids_and_gradients_may_be_overwritten_after_they_were_given() -> None:
    s = system(num_tensor_cores=2)
    mine, gradient = np.array([3, 0]), GRADIENT.copy()
    s.enqueue({"t": Ids(np.arange(2), mine)}, core=0)
    mine[:] = 2
    s.enqueue(ids(3, 1), core=1)
    for k in range(2):
        s.receive_activations(replica=k)
    s.send_gradients([gradient], [], replica=0)
    gradient[:] = 100
    s.send_gradients([GRADIENT], [], replica=1)
    assert rows(s) == [-0.5, -0.5, 0, -1]


def test_a_step_can_be_abandoned() -> None:
    s = system()
    s.enqueue(ids(3, 3))
    s.receive_activations()
    s.abandon()
    step(s, 1, 1)
    assert rows(s) == [0, -1, 0, 0]


@pytest.mark.exhaustive
@pytest.mark.parametrize("strategy", [0, 1])
def test_on_a_mesh_the_numbers_are_those_of_one_device(strategy: int) -> None:
    found = []
    for mesh in (None, jax.sharding.Mesh(jax.devices()[:2], "x")):
        config = tpu.parse(tpu.example_config("adagrad", rows=5))
        config.num_tensor_cores, config.sharding_strategy = 2, strategy
        s = initialize_system(config, mesh=mesh)
        for shard in range(2):
            size = s.retrieve(0, 2, shard)[0].size
            s.load(0, [np.arange(size)[:, None] + 10 * shard, np.full((size, 1), 0.5)], 2, shard)
        for t in range(3):
            for k in range(2):
                s.enqueue(ids((t + k) % 5, 4), core=k)
            got = [s.receive_activations(replica=k) for k in range(2)]
            for k in range(2):
                s.send_gradients(got[k], [], replica=k)
        found.append(s.retrieve(0))
    assert all((a == b).all() for a, b in zip(*found, strict=True))
    assert len(set(found[0][0].ravel().tolist())) == 5


@pytest.mark.parametrize(
    "engine",
    ["sparsecore", functools.partial(tpu.sparsecore.make_batch, per_core=2)],
    ids=["name", "function"],
)
def test_the_other_engine_gives_the_same(engine: Any) -> None:
    found = []
    for name in ("classic", engine):
        s = initialize_system(tpu.example_config("adagrad", rows=50, batch=8), engine=name)
        rng = np.random.default_rng(0)
        for _ in range(3):
            row = rng.integers(0, 50, 16)
            s.enqueue({"t": Ids(np.arange(16) // 2, row)}, combiners=["mean"])
            got = s.receive_activations()
            s.send_gradients([got[0] + 1], [])
        found.append(s.retrieve(0))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_a_batch_beyond_the_limits_of_an_engine_is_refused_when_it_is_enqueued() -> None:
    limits = tpu.sparsecore.Limits(1, 1)
    engine = functools.partial(tpu.sparsecore.make_batch, per_core=1, limits=limits)
    s = initialize_system(tpu.example_config(), engine=engine)
    with pytest.raises(InvalidArgumentError, match="limit"):
        s.enqueue(ids(3, 1))
    step(s, 3)
    assert rows(s) == [0, 0, 0, -0.5]


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
    for config in (
        b"\xff",
        tpu.TPUEmbeddingConfiguration(),
        tpu.example_config("user_defined_program"),
    ):
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

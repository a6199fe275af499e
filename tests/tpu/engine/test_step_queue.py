"""Replicas take their turns: in one thread, in threads of their own, and waiting for each other."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from gradlab import tpu
from gradlab.errors import (
    CancelledError,
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
)
from gradlab.tpu import TPUEmbeddingConfiguration, initialize_system, replica
from tests.tpu.engine.systems import GRADIENT, ids, rows, system


def test_the_update_is_made_when_the_last_replica_has_sent() -> None:
    s = system(num_tensor_cores=2)
    for k in range(2):
        s.enqueue(ids(3, k), core=k)
    for k in range(2):
        s.receive_activations(s.receive_deduplication_data(k), k)
    s.send_gradients([GRADIENT], [], replica=1)
    assert rows(s) == [0, 0, 0, 0]
    with pytest.raises(
        FailedPreconditionError, match=r"replicas \[0\] have not finished their step"
    ):
        s.receive_deduplication_data(1)
    s.send_gradients([GRADIENT], [], replica=0)
    assert rows(s) == [-0.5, -0.5, 0, -1]


def test_replicas_are_named_and_agree() -> None:
    s = system(num_tensor_cores=2)
    with pytest.raises(
        FailedPreconditionError, match=r"there are 2 replicas; say which: with gl\.tpu\.replica"
    ):
        s.receive_deduplication_data()
    with pytest.raises(InvalidArgumentError, match="replicas are 0 to 1, got 2"), replica(2):
        s.receive_deduplication_data()
    s.enqueue(ids(3, 0), core=0, combiners=["mean"])
    with pytest.raises(
        InvalidArgumentError, match="all cores of a step have one mode and one list of combiners"
    ):
        s.enqueue(ids(3, 0), core=1, mode="inference", combiners=["mean"])
    with pytest.raises(FailedPreconditionError, match=r"cores \[1\] have enqueued nothing"):
        s.receive_deduplication_data(0)


def test_replicas_send_one_learning_rate() -> None:
    config = TPUEmbeddingConfiguration()
    config.ParseFromString(tpu.example_config())
    config.num_tensor_cores = 2
    config.table_descriptor[0].optimization_parameters.learning_rate.dynamic.tag = 0
    s = initialize_system(config)
    for k in range(2):
        s.enqueue(ids(3, k), core=k)
    for k in range(2):
        s.receive_activations(replica=k)
    s.send_gradients([GRADIENT], [0.5], replica=0)
    with pytest.raises(InvalidArgumentError, match="must send the same learning rates"):
        s.send_gradients([GRADIENT], [0.25], replica=1)
    s.send_gradients([GRADIENT], [0.5], replica=1)
    assert rows(s) == [-0.5, -0.5, 0, -1]


def test_with_spmd_sharding_one_replica_has_all_cores() -> None:
    s = system(num_tensor_cores=2, spmd_sharding={"enabled": True, "num_cores_per_replica": 2})
    with pytest.raises(InvalidArgumentError, match="cores are 0 to 1, got -1"):
        s.enqueue(ids(3, 0))
    for k in range(2):
        s.enqueue(ids(3, k), core=k)
    (got,) = s.receive_activations()
    assert got.shape == (4, 1)
    with pytest.raises(InvalidArgumentError, match=r"feature 't'.*\(4, 1\); got \(2, 1\)"):
        s.send_gradients([GRADIENT], [])
    s.send_gradients([np.ones((4, 1))], [])
    assert rows(s) == [-0.5, -0.5, 0, -1]


@pytest.mark.exhaustive
@pytest.mark.parametrize("asks", [True, False], ids=["with deduplication data", "without"])
@pytest.mark.parametrize("pipelined", [False, True])
def test_replicas_in_threads_of_their_own(pipelined: bool, asks: bool) -> None:
    s = system(num_tensor_cores=3, pipeline_execution_with_tensor_core=pipelined)
    failures: list[BaseException] = []

    def work(k: int) -> None:
        try:
            with replica(k, timeout=30.0):
                for t in range(5):
                    s.enqueue(ids((t + k) % 4, 3))
                    s.receive_activations(s.receive_deduplication_data() if asks else None)
                    s.send_gradients([GRADIENT], [])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    counts = np.bincount([(t + k) % 4 for t in range(5) for k in range(3)], minlength=4) + np.array(
        [0, 0, 0, 15]
    )
    assert rows(s) == (-0.5 * counts).tolist()


def test_a_replica_that_waits_in_vain_is_told() -> None:
    s = system(num_tensor_cores=2)
    with replica(0, timeout=0.01):
        s.enqueue(ids(3, 0))
        with pytest.raises(
            DeadlineExceededError, match=r"after 0\.01 seconds cores \[1\] have enqueued nothing"
        ):
            s.receive_deduplication_data()


def test_who_waits_is_told_that_the_system_ends() -> None:
    s = system(num_tensor_cores=2)
    waiting, errors = threading.Event(), []

    def wait() -> None:
        with replica(0, timeout=30.0):
            s.enqueue(ids(3, 0))
            waiting.set()
            with pytest.raises(CancelledError, match="was shut down") as found:
                s.receive_deduplication_data()
            errors.append(found.value)

    thread = threading.Thread(target=wait)
    thread.start()
    assert waiting.wait(30)
    tpu.shutdown_system()
    thread.join(30)
    assert len(errors) == 1
    with pytest.raises(CancelledError, match="initialize_system starts another"):
        s.retrieve(0)

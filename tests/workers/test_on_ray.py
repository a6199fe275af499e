"""Runs on Ray: processes and nodes are killed, nothing is lost or counted twice, and every trace
replays bit for bit.

One Ray runs for all tests here. test_ray_actors.py shows the decisions without Ray.
"""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab._base.arrays import Array
from gradlab._base.extras import how_to_install
from gradlab.workers import LEAVE, Bowl, Crash, Experiment, Speeds, on_ray, run
from tests.test_readme import CLUSTER, SHARDS
from tests.workers import embedding
from tests.workers.killing import Killer, are_equal, find_fault

NODE = {"num_cpus": 2, "object_store_memory": 100 * 2**20}


@pytest.fixture(scope="module")
def ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A Ray of our own, whose processes start quickly."""
    folder = tmp_path_factory.mktemp("path")
    # They compute with NumPy: each would take a second to import JAX, and another for a grammar in
    # jsonschema.
    (folder / "sitecustomize.py").write_text("import sys; sys.modules['jax'] = None")
    (folder / "rfc3987_syntax.py").write_text("raise ImportError")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(
            "PYTHONPATH",
            os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]),
        )
        patch.delenv("RAY_ADDRESS", raising=False)
        # A node is dead after five calls in half a second each, and not after five in ten seconds
        # each.
        patch.setenv("RAY_health_check_initial_delay_ms", "500")
        patch.setenv("RAY_health_check_period_ms", "500")
        with on_ray.connect(None) as ray:
            for module in (sys.modules[__name__], embedding):  # Ray's processes cannot import them
                ray.cloudpickle.register_pickle_by_value(module)
            yield ray
    assert not ray.is_initialized()


@pytest.mark.ray
def test_the_guide_prints_what_it_should(
    ray: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(CLUSTER, "asynchronous.md", "exec"), {})
    first, second = capsys.readouterr().out.splitlines()
    assert "Trace of 300 gradients" in first and "3 workers, ray" in first
    assert second == "True True"
    assert (tmp_path / "run.log").exists()


@pytest.mark.ray
def test_nothing_is_lost_or_counted_twice_whatever_is_killed(ray: Any, tmp_path: Path) -> None:
    e = Experiment(Bowl(noise=0.5), workers=2, policy="backup", aggregate=2, gradients=60)
    with Killer(kills=3) as killer:
        trace = run(e, "ray", log=tmp_path / "run.log", tick=2e-3, timeout=400)
    assert killer.killed
    assert find_fault(trace, tmp_path / "run.log") == ""


@pytest.mark.ray
def test_an_interrupted_run_continues_from_its_log(ray: Any, tmp_path: Path) -> None:
    e = Experiment(Bowl(), workers=2, policy="apply", gradients=40)
    with pytest.raises(TimeoutError, match="the run was not over in time"):
        run(
            e.with_(speeds=Speeds(stall=0.3, stall_factor=1e6)),
            "ray",
            log=tmp_path / "run.log",
            timeout=20,
        )
    trace = run(
        e.with_(speeds=Speeds(stall=0.3, stall_factor=1e6)), "ray", log=tmp_path / "run.log", tick=0
    )
    assert find_fault(trace, tmp_path / "run.log") == ""
    assert {k for move, k in trace.moves.tolist() if move == LEAVE} == {0, 1}


@pytest.mark.exhaustive
@pytest.mark.ray
@pytest.mark.filterwarnings("ignore:os.fork")  # by which nodes start, of which JAX warns
def test_no_row_is_lost_with_the_node_of_workers_and_shards(ray: Any, tmp_path: Path) -> None:
    from ray.cluster_utils import Cluster
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    cluster = Cluster()
    cluster.head_node = ray._private.worker._global_node  # the one that runs already
    cluster.redis_address = cluster.head_node.redis_address
    node = cluster.add_node(**NODE)
    there = {"scheduling_strategy": NodeAffinitySchedulingStrategy(node.node_id, soft=True)}
    e = embedding.experiment("drop", workers=2, gradients=60)
    with Killer(after=8, act=lambda: cluster.remove_node(node, allow_graceful=False)) as killer:
        trace = run(
            e,
            "ray",
            shards=2,
            log=tmp_path / "run.log",
            tick=4e-3,
            timeout=400,
            worker_options=there,
            shard_options=there,
        )
    assert killer.killed
    assert find_fault(trace) == ""
    # The run may be over before Ray notices that the node is gone, so nobody needs to have left.


@pytest.mark.ray
def test_the_guide_to_shards_prints_what_it_should(
    ray: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    # The processes here have no JAX, which would take the derivatives.
    program = SHARDS.replace(
        "watch=draw(np.random.default_rng(0))", "draw(np.random.default_rng(0)), derivatives"
    )
    exec(compile(program, "asynchronous.md", "exec"), {"derivatives": embedding.derivatives})
    assert capsys.readouterr().out == "True\n"
    assert (tmp_path / "tables.log").exists()


class Careless(Bowl):
    """Changes the weights it was given."""

    def gradient(self, weights: Mapping[str, Array], rng: np.random.Generator) -> dict[str, Array]:
        weights["w"][0] = 0
        return super().gradient(weights, rng)


class Mortal(Bowl):
    """Ends its process."""

    def gradient(self, weights: Mapping[str, Array], rng: np.random.Generator) -> dict[str, Array]:
        os._exit(1)


@pytest.mark.ray
def test_errors_are_raised_as_they_are(ray: Any, tmp_path: Path) -> None:
    with pytest.raises(
        gl.errors.InvalidArgumentError, match=r"^the gradient of Careless.* write to a copy"
    ):
        run(Experiment(Careless(), workers=1), "ray", timeout=300)
    with pytest.raises(
        gl.errors.DeadlockError, match=r"^no worker can go on after 1 gradient: .* alive are \[\]"
    ):
        run(
            Experiment(Bowl(), workers=1, speeds=Speeds(crashes=(Crash(0, 1),))), "ray", timeout=300
        )
    with pytest.raises(RuntimeError, match="worker 0 died 5 times in a row without a gradient"):
        run(Experiment(Mortal(), workers=1), "ray", timeout=300)
    run(Experiment(Bowl(), gradients=2, workers=1), "ray", log=tmp_path / "run.log")
    with pytest.raises(ValueError, match="is the log of another experiment"):
        run(
            Experiment(Bowl(), gradients=3, workers=1), "ray", log=tmp_path / "run.log", timeout=300
        )
    with pytest.raises(ValueError, match="Ray is connected already, so address="):
        run(Experiment(Bowl()), "ray", address="1.2.3.4:6379")


@pytest.mark.ray
def test_a_server_without_a_log_takes_the_run_with_it(ray: Any) -> None:
    with (
        Killer(kills=1, titles=("ray::ServerActor",)),
        pytest.raises(RuntimeError, match="the server died, and its state with it; give log=path"),
    ):
        run(Experiment(Bowl(), workers=1, gradients=10_000), "ray", tick=1e-3, timeout=300)


def test_tables_are_needed_for_shards() -> None:
    with pytest.raises(
        ValueError, match="shards= is for tables: the problem says which rows a batch reads"
    ):
        run(Experiment(Bowl()), "ray", shards=2)
    with pytest.raises(ValueError, match="shards must be a whole number of at least 1, got 0"):
        run(embedding.experiment("drop"), "ray", shards=0)


def test_without_ray_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=re.escape(how_to_install("ray"))):
        run(Experiment(Bowl()), "ray")


@pytest.fixture
def fake_ray(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A module `ray` that cannot start."""

    def init(**options: Any) -> None:
        raise OSError("many lines\nno memory")

    ray = SimpleNamespace(init=init, is_initialized=lambda: False, shutdown=lambda: None)
    monkeypatch.setattr(on_ray, "need", lambda *names: ray)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    return ray


def test_a_ray_that_cannot_start_says_what_to_do(fake_ray: SimpleNamespace) -> None:
    with pytest.raises(
        RuntimeError, match=r"Ray cannot be started on this machine \(no memory\): see whether"
    ):
        run(Experiment(Bowl()), "ray")


def test_a_ray_of_our_own_has_the_cpus_that_its_actors_ask_for(
    fake_ray: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []

    def init(*, num_cpus: int, **_: Any) -> None:
        found.append(num_cpus)
        raise OSError("enough seen")

    monkeypatch.setattr(fake_ray, "init", init)
    for options in ({}, {"worker_options": {"num_cpus": 4}}, {"worker_options": {"num_gpus": 1}}):
        with pytest.raises(RuntimeError, match="enough seen"):
            run(Experiment(Bowl(), workers=3), "ray", **options)
    assert found == [2, 12, 2]


def test_only_a_death_is_called_one(tmp_path: Path) -> None:
    class RayError(Exception):
        pass

    class RayTaskError(RayError):
        pass

    class ActorDiedError(RayError):
        pass

    ray = SimpleNamespace(
        exceptions=SimpleNamespace(
            RayError=RayError, RayTaskError=RayTaskError, ActorDiedError=ActorDiedError
        )
    )
    log = tmp_path / "run.log"
    died = ActorDiedError()
    full = RayError("the node is out of memory")
    assert "died, and its state with it" in str(on_ray._explain(ray, died, None))
    assert "died more than 100 times" in str(on_ray._explain(ray, died, log))
    for path in (None, log):
        error = on_ray._explain(ray, full, path)
        assert isinstance(error, RuntimeError)
        assert str(error) == "Ray could not go on with the run: the node is out of memory"


def test_an_address_where_nothing_answers(fake_ray: SimpleNamespace) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # and does not listen
        address = f"ray://127.0.0.1:{bound.getsockname()[1]}"
        with pytest.raises(
            ConnectionError, match=rf"no Ray answers at {address} \(.*refused\): start one there by"
        ):
            run(Experiment(Bowl()), "ray", address=address)


@pytest.mark.parametrize("address", ["here:", ":", "127.0.0.1:port"])
def test_what_is_not_an_address(fake_ray: SimpleNamespace, address: str) -> None:
    with pytest.raises(
        ValueError, match="address must be HOST:PORT, ray://HOST:PORT, auto or local; got"
    ):
        run(Experiment(Bowl()), "ray", address=address)


def test_equality_is_that_of_bits() -> None:
    assert are_equal({"w": np.float32([0.0])}, {"w": np.float32([0.0])})
    assert not are_equal({"w": np.float32([0.0])}, {"w": np.float32([-0.0])})

"""Ray itself: processes end, a node is killed with everybody on it, and nothing is lost, done twice or different.

One Ray runs for all tests here, each of its processes takes a second of a core to start, and each node four: so there
are few, and what does not need them is shown by a stand-in in test_on_ray.py.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab._base.arrays import Array
from gradlab.workers import LEAVE, Bowl, Digits, Experiment, Trace, on_ray, run
from gradlab.workers.ray_driver import ServerProcess
from gradlab.workers.ray_shards import RowsActor, ShardActor, ShardedDriver
from gradlab.workers.ray_start import connected
from tests.workers import embedding, killing
from tests.workers.killing import POINTS, DyingServer, DyingWorker, lost, lost_rows, wrong

pytestmark = pytest.mark.ray

NODE = {"num_cpus": 2, "object_store_memory": 100 * 2**20}


@pytest.fixture(scope="module")
def ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A Ray of our own, beside JAX which warns of forks, and with temporary files too deep for sockets."""
    jnp.zeros(1).block_until_ready()
    deep = tmp_path_factory.mktemp("deep") / ("x" * 120)
    deep.mkdir()
    # Each of Ray's processes imports jsonschema, which builds a grammar of URIs for a second if this is installed.
    (deep / "rfc3987_syntax.py").write_text("raise ImportError")
    # Here they compute with NumPy, and are replayed beside JAX: it takes each of them a second to import.
    (deep / "sitecustomize.py").write_text("import sys; sys.modules['jax'] = None")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(deep))
        patch.setenv("PYTHONPATH", os.pathsep.join([str(deep), *filter(None, [os.environ.get("PYTHONPATH")])]))
        patch.delenv("RAY_ADDRESS", raising=False)
        # A node that refuses five calls is dead; one that is slow has ten seconds for each of them as ever.
        patch.setenv("RAY_health_check_initial_delay_ms", "500")
        patch.setenv("RAY_health_check_period_ms", "500")
        with connected() as ray:
            for module in (sys.modules[__name__], embedding, killing):  # they are known here only
                ray.cloudpickle.register_pickle_by_value(module)
            socket = Path(ray.nodes()[0]["ObjectStoreSocketName"])
            assert socket.exists()
            yield ray
    assert not ray.is_initialized()
    assert not socket.parent.exists()


@pytest.fixture(scope="module")
def cluster(ray: Any) -> Iterator[Any]:
    """To it nodes are added, and taken from it."""
    from ray.cluster_utils import Cluster

    cluster = Cluster()
    cluster.head_node = ray._private.worker._global_node  # the one that runs already
    cluster.redis_address = cluster.head_node.redis_address
    yield cluster
    for node in list(cluster.worker_nodes):
        cluster.remove_node(node, allow_graceful=False)


def on(node: Any) -> dict[str, Any]:
    """Ray's options of an actor on this node."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return {"scheduling_strategy": NodeAffinitySchedulingStrategy(node.node_id, soft=False)}


class Where:
    """Says on which node it is, and in which process."""

    def place(self) -> tuple[str, int]:
        import ray

        return str(ray.get_runtime_context().get_node_id()), os.getpid()


class Server(Where, DyingServer):
    points = POINTS[1:2]


class Worker(Where, DyingWorker):
    pass


class ShardThere(Where, ShardActor):
    pass


class RowsThere(Where, RowsActor):
    pass


class Sinking(on_ray.Driver):
    """Kills nodes, each once so many moves were made; `found` is who was where before each."""

    def _next(self) -> None:
        if self.doomed and self.made >= self.doomed[0][0] and all(self.actors):
            with contextlib.suppress(*self.deaths):  # who died a moment ago is found by another process, a move later
                servers = [part.actor for part in self._parts()]
                places = [self.ray.get([x.place.remote() for x in who]) for who in (self.actors, servers)]
                self.found += [[{node for node, _ in who} for who in places]]
                self._sink(self.doomed.pop(0)[1], {place for who in places for place in who})
        super()._next()

    def _parts(self) -> list[ServerProcess]:
        return getattr(self.server, "parts", [self.server])

    def _sink(self, node: Any, places: set[tuple[str, int]]) -> None:
        """Kill it, and its processes, which would live on for seconds; who was there will be anywhere."""
        self.cluster.remove_node(node, allow_graceful=False)
        for pid in (pid for at, pid in places if at == node.node_id):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if node is self.of_workers:
            self.new_worker = self.ray.remote(self.worker_class).options(num_cpus=0)
        if node is self.of_servers:
            for part in self._parts():
                part._new = self.ray.remote(self.server_class).options(num_cpus=0)

    def until_death(self, cluster: Any, of_workers: Any, of_servers: Any, *doomed: tuple[int, Any]) -> Trace:
        """The trace of the run; nodes die in the order of `doomed`."""
        self.cluster, self.doomed, self.found = cluster, list(doomed), []
        self.of_workers, self.of_servers = of_workers, of_servers
        return self.run()


class SinkingDense(Sinking):
    """Has its server on the node of the workers."""

    server_class, worker_class = Server, Worker

    def __init__(self, *arguments: Any, place: dict[str, Any], **options: Any) -> None:
        self.place = place
        super().__init__(*arguments, worker_options=place, **options)

    def _new_server(self, sync: bool) -> ServerProcess:
        return ServerProcess(self.ray, self.server_class, self.shipped, self.log, sync, options=self.place)


class SinkingRows(Sinking, ShardedDriver):
    server_class, worker_class = ShardThere, RowsThere


@pytest.mark.filterwarnings("ignore:os.fork")  # by which nodes start, of which JAX warns
def test_no_update_is_lost_with_processes_or_with_the_node_of_all_of_them(
    ray: Any, cluster: Any, tmp_path: Path
) -> None:
    """Weights and gradients are too large to travel with the answers: those under way die with the node."""
    e = Experiment(Digits(hidden=(600,)), gl.rules.Adagrad(), 0.01, workers=2, policy="drop", staleness=2, gradients=30)
    node = cluster.add_node(**NODE)
    driver = SinkingDense(ray, e, log=tmp_path / "run.log", timeout=300, place=on(node))
    trace = driver.until_death(cluster, node, node, (30, node))
    assert driver.found == [[{node.node_id}, {node.node_id}]]  # nobody was elsewhere
    assert not wrong(trace) and not lost(driver, trace)
    assert all((tmp_path / point).exists() for point in Server.points)
    assert {k for move, k in trace.moves.tolist() if move == LEAVE} == {0, 1}


@pytest.mark.filterwarnings("ignore:os.fork")
def test_no_row_update_is_lost_with_the_node_of_the_workers_or_that_of_the_shards(
    ray: Any, cluster: Any, tmp_path: Path
) -> None:
    e = embedding.experiment("drop", embedding.recommender(3000, 4000, 64, 1200), workers=2, gradients=30)
    of_workers, of_shards = cluster.add_node(**NODE), cluster.add_node(**NODE)
    driver = SinkingRows(
        ray, e, shards=2, log=tmp_path / "run.log", timeout=300, worker_options=on(of_workers),
        shard_options=on(of_shards),
    )  # fmt: skip
    trace = driver.until_death(cluster, of_workers, of_shards, (24, of_workers), (64, of_shards))
    (workers, shards), (workers_later, shards_later) = driver.found
    assert (workers, shards, shards_later) == ({of_workers.node_id}, {of_shards.node_id}, {of_shards.node_id})
    # Who had its gradient ready need not have left: another process made the gradient again, to the same bits.
    assert of_workers.node_id not in workers_later
    assert (wrong(trace), lost_rows(driver, trace)) == ("", "")


class Careless(Bowl):
    """Changes the weights it was given."""

    def gradient(self, weights: Mapping[str, Array], rng: np.random.Generator) -> dict[str, Array]:
        weights["w"][0] = 0
        return super().gradient(weights, rng)


def test_what_a_problem_raises_is_raised(ray: Any) -> None:
    with pytest.raises(gl.errors.InvalidArgumentError, match="write to a copy"):
        run(Experiment(Careless(), workers=1), "ray", timeout=300)
    assert ray.is_initialized()


def test_a_run_at_an_address_replays_bit_for_bit(ray: Any, tmp_path: Path) -> None:
    """BLAS divides such long sums among its threads, of which Ray gives its processes another number."""
    address = ray.get_runtime_context().gcs_address
    code = f"""
import gradlab as gl
problem = gl.workers.Digits(hidden=(300,), batch=1500)
e = gl.workers.Experiment(problem, gl.rules.Adam(), 0.01, workers=2, policy="wait", gradients=8)
trace = gl.workers.run(e, "ray", address={address!r}, timeout=300)
trace.save({str(tmp_path / "trace.npz")!r})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert not wrong(Trace.load(tmp_path / "trace.npz"))

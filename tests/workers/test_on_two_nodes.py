"""Ray itself: processes end, a node is killed with everybody on it, and nothing is lost, done twice or different.

One Ray runs for all tests here, each of its processes takes a second of a core to start, and each node four: so there
are few, and what does not need them is shown by a stand-in in test_on_ray.py.
"""

from __future__ import annotations

import contextlib
import os
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
from gradlab.workers.ray_start import connected
from tests.workers import killing
from tests.workers.killing import POINTS, DyingServer, DyingWorker, lost, wrong

pytestmark = pytest.mark.ray

NODE = {"num_cpus": 0, "resources": {"doomed": 9}, "object_store_memory": 100 * 2**20}
THERE = {"resources": {"doomed": 1}}


@pytest.fixture(scope="module")
def ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A Ray of our own, beside JAX which warns of forks, and with temporary files too deep for sockets."""
    jnp.zeros(1).block_until_ready()
    deep = tmp_path_factory.mktemp("deep") / ("x" * 120)
    deep.mkdir()
    # Each of Ray's processes imports jsonschema, which builds a grammar of URIs for a second if this is installed.
    (deep / "rfc3987_syntax.py").write_text("raise ImportError")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(deep))
        patch.setenv("PYTHONPATH", os.pathsep.join([str(deep), *filter(None, [os.environ.get("PYTHONPATH")])]))
        patch.delenv("RAY_ADDRESS", raising=False)
        # A node that refuses five calls is dead; one that is slow has ten seconds for each of them as ever.
        patch.setenv("RAY_health_check_initial_delay_ms", "500")
        patch.setenv("RAY_health_check_period_ms", "500")
        with connected() as ray:
            for module in (sys.modules[__name__], killing):  # they are known here only
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


class DyingOnce(DyingServer):
    points = POINTS[1:2]


class Where(DyingWorker):
    """Says on which node it is."""

    def node(self) -> str:
        import ray

        return str(ray.get_runtime_context().get_node_id())


class Sinking(on_ray.Driver):
    """Has its server and its workers, which die at times, on a node that is killed once so many moves were made."""

    server_class, worker_class = DyingOnce, Where

    def __init__(self, ray: Any, experiment: Experiment, cluster: Any, after: int, log: Path) -> None:
        self.cluster, self.after, self.nodes = cluster, after, [cluster.add_node(**NODE)]
        super().__init__(ray, experiment, log=log, timeout=300, worker_options=THERE)
        self.server.kill()
        self.server._new = ray.remote(self.server_class).options(num_cpus=0, **THERE)
        self.server.actor = self.server._new.remote()

    def _next(self) -> None:
        if len(self.nodes) == 1 and self.made >= self.after and all(self.actors):
            with contextlib.suppress(*self.deaths):  # who died a moment ago is found by another process, a move later
                self.found = {self.ray.get(actor.node.remote()) for actor in self.actors}
                self.cluster.remove_node(self.nodes[0], allow_graceful=False)
                self.nodes.append(self.cluster.add_node(**NODE))
        super()._next()


@pytest.mark.filterwarnings("ignore:os.fork")  # by which nodes start, of which JAX warns
def test_no_update_is_lost_with_processes_or_with_the_node_of_all_of_them(
    ray: Any, cluster: Any, tmp_path: Path
) -> None:
    """Weights and gradients are too large to travel with the answers: those under way die with the node."""
    e = Experiment(Digits(hidden=(600,)), gl.rules.Adagrad(), 0.01, workers=2, policy="drop", staleness=2, gradients=30)
    driver = Sinking(ray, e, cluster, after=30, log=tmp_path / "run.log")
    trace = driver.run()
    assert driver.found == {driver.nodes[0].node_id}  # nobody was elsewhere
    assert not wrong(trace) and not lost(driver, trace)
    assert all((tmp_path / point).exists() for point in DyingOnce.points)
    assert {k for move, k in trace.moves.tolist() if move == LEAVE} == {0, 1}


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

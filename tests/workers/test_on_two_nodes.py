"""The node of Ray with everybody on it is killed: nothing is lost or done twice, and the run repeats.

Weights and gradients are too large to travel with the answers, so that those that are under way die with the node.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import gradlab as gl
from gradlab.workers import LEAVE, Digits, Experiment, on_ray
from gradlab.workers.ledger import CHECK
from gradlab.workers.on_ray import WorkerActor
from tests.workers.killing import lost, wrong

# The cluster is started by forks, of which JAX warns.
pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("ignore:os.fork")]

NODE = {"num_cpus": 3, "object_store_memory": 100 * 2**20}


class Where(WorkerActor):
    """Says on which node it is."""

    def node(self) -> str:
        import ray

        return str(ray.get_runtime_context().get_node_id())


class Sinking(on_ray.Driver):
    """Has its server and its workers on a node that is killed once so many moves were made; then there is another."""

    worker_class = Where

    def __init__(self, ray: Any, experiment: Experiment, cluster: Any, after: int, log: Path) -> None:
        self.cluster, self.after, self.nodes = cluster, after, [cluster.add_node(**NODE)]
        super().__init__(ray, experiment, log=log, timeout=300, worker_options={"num_cpus": 1})
        self.server.kill()
        self.server._new = ray.remote(self.server_class).options(num_cpus=1)  # as workers do: the head has none
        self.server.actor = self.server._new.remote()

    def _next(self) -> None:
        if len(self.nodes) == 1 and self.made >= self.after:
            self.found = {self.ray.get(actor.node.remote()) for actor in self.actors}
            self.cluster.remove_node(self.nodes[0], allow_graceful=False)
            self.nodes.append(self.cluster.add_node(**NODE))
        super()._next()


@pytest.fixture
def cluster() -> Iterator[Any]:
    import ray
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "object_store_memory": 100 * 2**20, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        ray.init(address=cluster.address, log_to_driver=False)
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def test_a_gradient_that_a_server_took_before_it_died_is_not_sent_again() -> None:
    asked, driver = list[tuple[Any, ...]](), object.__new__(on_ray.Driver)
    remote = SimpleNamespace(remote=lambda *arguments: asked.append(arguments) or (object(), object()))
    server = SimpleNamespace(actor=SimpleNamespace(ask=SimpleNamespace(options=lambda num_returns: remote)))

    def reopen(death: Exception, answered: list[int], timeout: float | None) -> None:
        server.serials = [1, 0]  # of two requests under way the first is in the log

    server.reopen = reopen
    vars(driver).update(serials=[0, 0], until=None, server=server, ray=SimpleNamespace(exceptions=SimpleNamespace()))
    driver.ray.exceptions.RayActorError = OSError
    for worker in range(2):
        asking = driver._ask(worker, (CHECK,), "gradient")
        next(asking)
        asking.throw(OSError())
    assert asked == [
        (0, 1, (CHECK,), "gradient"), (0, 1, (CHECK,), None), (1, 1, (CHECK,), "gradient"), (1, 1, (CHECK,), "gradient")
    ]  # fmt: skip


def test_no_update_is_lost_with_the_node_of_the_server_and_the_workers(cluster: Any, tmp_path: Path) -> None:
    import ray

    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    e = Experiment(Digits(hidden=(600,)), gl.rules.Adagrad(), 0.01, workers=2, policy="drop", staleness=2, gradients=30)
    driver = Sinking(ray, e, cluster, after=30, log=tmp_path / "run.log")
    trace = driver.run()
    assert driver.found == {driver.nodes[0].node_id}  # nobody was elsewhere
    assert not wrong(trace) and not lost(driver, trace)
    assert sorted(k for move, k in trace.moves.tolist() if move == LEAVE) == [0, 1]

"""A cluster of TensorFlow 1 as its tests build one: graphs of several workers whose variables are
those of one server.

Here the workers are threads of one process, so the server is a table of variables and queues by
name, all workers have one graph, and the optimizer they share is one object that tells them apart
by thread, as gradlab's does.
"""

from __future__ import annotations

import contextlib
import queue
from collections.abc import Iterator
from typing import Any

import gradlab as gl
from tests.originals.stand_ins.graph import Tensor, raw
from tests.originals.stand_ins.tf_test import DefaultGraph, Session
from tests.originals.stand_ins.tf_train import TRAIN, bridged
from tests.originals.stand_ins.tf_variables import Variable


class Cluster:
    """What the workers of one case share."""

    def __init__(self) -> None:
        self.graph = DefaultGraph()
        self.workers = 0
        self.hooks: list[Any] = []
        self.variables: dict[str, Variable] = {}
        self.queues: dict[str, queue.Queue[Any]] = {}
        self.optimizer: Any = None


class WorkerGraph:
    """The graph of one worker, which is that of all, and whose tensors have names."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._worker = cluster, cluster.workers
        cluster.workers += 1

    def as_default(self) -> Any:
        return self._cluster.graph.as_default()

    def get_tensor_by_name(self, name: str) -> Any:
        optimizer = self._cluster.optimizer
        if name == "stale_counter:0":
            return Tensor(lambda: raw(optimizer.stale_counter))
        if name == "sync_rep_local_step:0":
            return Tensor(lambda: optimizer.local_step(self._worker))
        return self._cluster.variables[name.removesuffix(":0")]


_CURRENT: list[Cluster] = []


@contextlib.contextmanager
def one_cluster() -> Iterator[None]:
    """Whatever cluster a case makes is gone after it."""
    try:
        yield
    finally:
        for hook in _CURRENT[-1].hooks if _CURRENT else ():
            hook.end()
        _CURRENT.clear()


def cluster_spec(_jobs: Any) -> Cluster:
    _CURRENT.append(Cluster())
    return _CURRENT[-1]


def create_local_cluster(num_workers: int, num_ps: int) -> tuple[list[Any], list[Any]]:
    cluster_spec({})
    return [Server() for _ in range(num_workers)], [Server() for _ in range(num_ps)]


class Server:
    """`tf.distribute.Server`."""

    target = ""

    def __init__(self, *_: Any, **__: Any) -> None: ...


def new_graph() -> Any:
    return WorkerGraph(_CURRENT[-1]) if _CURRENT else DefaultGraph()


def variable(
    initial_value: Any = None, *arguments: Any, name: Any = None, **keywords: Any
) -> Variable:
    """A variable; with a cluster the one of this name."""
    if not _CURRENT or name is None:
        return Variable(initial_value, *arguments, name=name, **keywords)
    known = _CURRENT[-1].variables
    if name not in known:
        known[name] = Variable(initial_value, *arguments, name=name, **keywords)
    return known[name]


class FIFOQueue:
    """A queue by its shared name, whose operations are nodes."""

    def __init__(
        self, _capacity: Any, _dtypes: Any, *_: Any, shared_name: str = "", **__: Any
    ) -> None:
        self._queue = _CURRENT[-1].queues.setdefault(shared_name, queue.Queue())

    def enqueue(self, x: Any) -> Tensor:
        return Tensor(lambda: self._queue.put(raw(x)), "enqueue")

    def dequeue(self) -> Tensor:
        return Tensor(lambda: self._queue.get(timeout=60), "dequeue")

    def dequeue_many(self, n: int) -> Tensor:
        return Tensor(
            lambda: [self._queue.get(timeout=60) for _ in range(n)] and None, "dequeue_many"
        )


_DropStale = bridged(gl.train.DropStaleGradientOptimizer)


def drop_stale(opt: Any, staleness: Any, **keywords: Any) -> Any:
    """The optimizer of the cluster, which the first worker makes."""
    if not _CURRENT:
        return _DropStale(opt, staleness, **keywords)
    if _CURRENT[-1].optimizer is None:
        _CURRENT[-1].optimizer = _DropStale(opt, staleness, **keywords)
    return _CURRENT[-1].optimizer


_Sync = bridged(gl.train.SyncReplicasOptimizer)


class SyncReplicas:
    """What one worker of a cluster has of the optimizer that all share."""

    def __init__(self, cluster: Cluster, opt: Any, options: dict[str, Any]) -> None:
        self._worker = cluster.workers - 1
        cluster.optimizer = self._shared = cluster.optimizer or _Sync(opt, **options)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any) -> Any:
        return self._shared.apply_gradients(grads_and_vars, global_step, worker=self._worker)

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1) -> Any:
        return self._shared.make_session_run_hook(is_chief, num_tokens, worker=self._worker)


def sync_replicas(opt: Any, **options: Any) -> Any:
    return SyncReplicas(_CURRENT[-1], opt, options) if _CURRENT else _Sync(opt, **options)


def monitored_session(hooks: Any = (), **_: Any) -> Session:
    """A session whose hooks have begun; they end with the case."""
    for hook in hooks:
        hook.begin()
        hook.after_create_session()
        _CURRENT[-1].hooks.append(hook)
    return Session(graph=_CURRENT[-1].graph)


def global_step(name: str) -> Any:
    """A function of the global step; with a cluster its step, made if it is not there."""

    def function(*graphs: Any) -> Any:
        if not _CURRENT:
            return TRAIN[name](*graphs)
        with _CURRENT[-1].graph.as_default():
            return Variable.adopt(gl.get_or_create_global_step())

    return function


CLUSTER: dict[str, Any] = {
    "ClusterSpec": cluster_spec,
    "DropStaleGradientOptimizer": drop_stale,
    "FIFOQueue": FIFOQueue,
    "Graph": new_graph,
    "MonitoredTrainingSession": monitored_session,
    "Server": Server,
    "SyncReplicasOptimizer": sync_replicas,
    "create_local_cluster": create_local_cluster,
    "Session": lambda *_, **keywords: Session(graph=keywords.get("graph")),
    "VariableV1": variable,
    "create_global_step": global_step("create_global_step"),
    "get_global_step": global_step("get_global_step"),
    "get_or_create_global_step": global_step("get_or_create_global_step"),
    "pick_unused_port": lambda: 0,
}

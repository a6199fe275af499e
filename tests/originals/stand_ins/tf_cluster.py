"""A cluster of TensorFlow 1 as its tests build one: graphs of several workers whose variables are those of one server.

Here the workers are threads of one process, so the server is a table of variables and queues by name, all workers have
one graph, and the optimizer they share is one object that tells them apart by thread, as gradlab's does.
"""

from __future__ import annotations

import contextlib
import queue
from collections.abc import Iterator
from typing import Any

import gradlab as gl
from tests.originals.stand_ins import graph
from tests.originals.stand_ins.graph import Tensor, raw
from tests.originals.stand_ins.tf_test import DefaultGraph, Session
from tests.originals.stand_ins.tf_train import bridged
from tests.originals.stand_ins.tf_variables import Variable


class Cluster:
    """What the workers of one case share."""

    def __init__(self) -> None:
        self.graph = ClusterGraph()
        self.variables: dict[str, Variable] = {}
        self.queues: dict[str, queue.Queue[Any]] = {}
        self.optimizer: Any = None


class ClusterGraph(DefaultGraph):
    """The graph of all workers, whose tensors have names."""

    def get_tensor_by_name(self, name: str) -> Any:
        cluster = _CURRENT[-1]
        if name == "stale_counter:0":
            return Tensor(lambda: raw(cluster.optimizer.stale_counter))
        return cluster.variables[name.removesuffix(":0")]


_CURRENT: list[Cluster] = []


@contextlib.contextmanager
def one_cluster() -> Iterator[None]:
    """Whatever cluster a case makes is gone after it."""
    try:
        yield
    finally:
        _CURRENT.clear()


def cluster_spec(_jobs: Any) -> Cluster:
    _CURRENT.append(Cluster())
    return _CURRENT[-1]


class Server:
    """`tf.distribute.Server`."""

    target = ""

    def __init__(self, *_: Any, **__: Any) -> None: ...


def new_graph() -> Any:
    return _CURRENT[-1].graph if _CURRENT else DefaultGraph()


def variable(initial_value: Any = None, *arguments: Any, name: Any = None, **keywords: Any) -> Variable:
    """A variable; with a cluster the one of this name."""
    if not _CURRENT or name is None:
        return Variable(initial_value, *arguments, name=name, **keywords)
    known = _CURRENT[-1].variables
    if name not in known:
        known[name] = Variable(initial_value, *arguments, name=name, **keywords)
    return known[name]


class FIFOQueue:
    """A queue by its shared name, whose operations are nodes."""

    def __init__(self, _capacity: Any, _dtypes: Any, *_: Any, shared_name: str = "", **__: Any) -> None:
        self._queue = _CURRENT[-1].queues.setdefault(shared_name, queue.Queue())

    def enqueue(self, x: Any) -> Tensor:
        return Tensor(lambda: self._queue.put(raw(x)), "enqueue")

    def dequeue(self) -> Tensor:
        return Tensor(lambda: self._queue.get(timeout=60), "dequeue")

    def dequeue_many(self, n: int) -> Tensor:
        return Tensor(lambda: [self._queue.get(timeout=60) for _ in range(n)] and None, "dequeue_many")


_DropStale = bridged(gl.train.DropStaleGradientOptimizer)


def drop_stale(opt: Any, staleness: Any, **keywords: Any) -> Any:
    """The optimizer of the cluster, which the first worker makes."""
    if not _CURRENT:
        return _DropStale(opt, staleness, **keywords)
    if _CURRENT[-1].optimizer is None:
        _CURRENT[-1].optimizer = _DropStale(opt, staleness, **keywords)
    return _CURRENT[-1].optimizer


def global_step(*_: Any) -> Any:
    """The step of the graph, made if it is not there."""
    with graph.default_graph().as_default() if not _CURRENT else _CURRENT[-1].graph.as_default():
        return Variable.adopt(gl.get_or_create_global_step())


CLUSTER: dict[str, Any] = {
    "ClusterSpec": cluster_spec,
    "DropStaleGradientOptimizer": drop_stale,
    "FIFOQueue": FIFOQueue,
    "Graph": new_graph,
    "Server": Server,
    "Session": lambda *_, **keywords: Session(graph=keywords.get("graph")),
    "VariableV1": variable,
    "create_global_step": global_step,
    "get_global_step": global_step,
    "get_or_create_global_step": global_step,
    "pick_unused_port": lambda: 0,
}

"""Kills of the processes of a run on Ray, and what must be left of the run whoever is killed when.

What must hold is said as a text, empty if it does, so that a test can assert it and the fault bench can print it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from gradlab._base.arrays import Array
from gradlab._base.growing import read_records
from gradlab.workers import UPDATE, Experiment, Trace, on_ray, replay
from gradlab.workers.durable import Durable
from gradlab.workers.ray_driver import ServerActor, WorkerActor
from gradlab.workers.ray_shards import ShardedDriver
from gradlab.workers.server import Server
from gradlab.workers.shard import Shard

POINTS = ("before 0 4", "after 1 6", "after 0 9")  # worker and request


class DyingServer(ServerActor):
    """Ends its process right before it does something, or right after; each once."""

    points = POINTS

    def open(self, experiment: Experiment, path: Path | None, sync: bool) -> list[int]:
        assert path is not None
        self.folder = path.parent
        return super().open(experiment, path, sync)

    def ask(self, worker: int, serial: int, moves: tuple[int, ...], gradient: Any = None) -> Any:
        self.die_once(f"before {worker} {serial}")
        answer = super().ask(worker, serial, moves, gradient)
        self.die_once(f"after {worker} {serial}")
        return answer

    def die_once(self, point: str) -> None:
        if point in self.points and not (self.folder / point).exists():
            (self.folder / point).touch()
            os._exit(1)


class DyingWorker(WorkerActor):
    """Ends its process in the middle of some gradients."""

    def gradient(self, weights: Any, worker: int, number: int, seconds: float) -> Any:
        if (worker, number) in ((0, 3), (1, 5)):
            os._exit(1)
        return super().gradient(weights, worker, number, seconds)


class Fragile(on_ray.Driver):
    """Has such a server and such workers."""

    server_class, worker_class = DyingServer, DyingWorker


class Cruel(on_ray.Driver):
    """Kills the server, a worker, and both, whatever they are at.

    `seed` says when, whom first, and which worker; `killed` is what has been killed so far.
    """

    seed = 0

    def _next(self) -> None:
        if not hasattr(self, "killed"):
            self.rng, self.events, self.killed = np.random.default_rng(self.seed), 0, list[str]()
            last = min(3 * self.experiment.gradients, 140)  # of a short run there are about so many events
            self.when = sorted(self.rng.choice(np.arange(3, last), 3, replace=False).tolist())
        self.events += 1
        if self.events in self.when:
            who = (self.seed + self.when.index(self.events)) % 3
            if who != 1:
                self.killed.append("server")
                self.server.kill()
            if who != 0:
                self.killed.append("worker")
                self._bury(int(self.rng.integers(self.experiment.workers)))
        super()._next()


def same(a: Mapping[str, Array], b: Mapping[str, Array]) -> bool:
    """To the last bit."""
    return a.keys() == b.keys() and all(a[k].tobytes() == b[k].tobytes() for k in a)


def wrong(trace: Trace) -> str:
    """What does not hold for every run: it repeats, each gradient was handed in once, and each update counts."""
    e = trace.experiment
    if trace.engine != "ray" or len(trace) != e.gradients:
        return f"{len(trace)} gradients of {e.gradients} were made by {trace.engine}"
    if not same(replay(e, trace), trace.weights):
        return "the replay gives other weights"
    if len(set(zip(trace.rounds["worker"].tolist(), trace.rounds["number"].tolist(), strict=True))) != len(trace):
        return "a gradient was handed in twice"
    if (updates := (trace.moves[:, 0] == UPDATE).sum()) != len(trace):
        return f"{updates} updates were asked for with {len(trace)} gradients"
    return "" if (np.diff(trace.times) >= 0).all() else "time runs backward"


def lost(driver: on_ray.Driver, trace: Trace) -> str:
    """What else does not hold where there is a log.

    Replayed, it is the state that survived; no request is in it twice, and none is missing that was answered.
    """
    assert driver.log is not None
    return _lost(driver, driver.log, Server(driver.experiment), trace, trace.weights)


def lost_rows(driver: ShardedDriver, trace: Trace) -> str:
    """The same for the logs of all shards."""
    e, count = driver.experiment, driver.shards
    for index, part in enumerate(driver.server.parts):
        own = {name: w[index::count] for name, w in trace.weights.items()}
        if found := _lost(driver, part.log, Shard(e, index, count), trace, own):
            return f"shard {index}: {found}"
    return ""


def _lost(driver: on_ray.Driver, path: Path, server: Server, trace: Trace, weights: Mapping[str, Array]) -> str:
    with closing(Durable(driver.experiment, path, server=server)) as again:
        recovered = again.trace("ray")
    if not same(recovered.weights, weights):
        return "the log gives other weights"
    columns = {"moves": (recovered.moves, trace.moves)}
    decided = trace.rounds.keys() - {"began", "ended"} if server.part else trace.rounds  # each shard has its clock
    columns |= {k: (recovered.rounds[k], trace.rounds[k]) for k in decided}
    if other := [name for name, (a, b) in columns.items() if a.shape != b.shape or not (a == b).all()]:
        return f"the log has other {', '.join(other)}"
    if not server.part and not (recovered.times == trace.times).all():
        return "the log has other times"
    requests = [(fields["worker"], fields["serial"]) for fields, _ in read_records(path) if "serial" in fields]
    for k, answered in enumerate(driver.serials):
        serials = [serial for worker, serial in requests if worker == k]
        if serials != list(range(1, len(serials) + 1)) or answered > len(serials):
            return f"worker {k} was answered {answered} requests, the log holds {serials[-3:]}"
    return ""

"""The processes of a run on Ray: a worker that computes gradients, and a server that outlives its process."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._base.arrays import Array
from .._base.errors import DeadlockError
from .durable import Answer, Durable
from .experiment import Experiment
from .ledger import READ
from .trace import Trace

Ref = Any  # ray.ObjectRef
PATIENCE = 5  # deaths in a row without anything done in between


class WorkerActor:
    """Computes gradients."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment

    def gradient(
        self, weights: Mapping[str, Array], worker: int, number: int, seconds: float
    ) -> tuple[None, Mapping[str, Array]]:
        """The gradient, no sooner than after so many seconds, and before it something small to wait for."""
        until = time.monotonic() + seconds
        gradient = self.experiment.gradient(weights, worker, number)
        time.sleep(max(0.0, until - time.monotonic()))
        return None, gradient

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)


class ServerActor:
    """A `Durable`."""

    def open(self, experiment: Experiment, path: Path | None, sync: bool) -> list[int]:
        """Begin, or go on where the log ends; the last request of each worker."""
        self.server = Durable(experiment, path, sync)
        return self.server.serials

    def ask(
        self, worker: int, serial: int, moves: tuple[int, ...], gradient: Mapping[str, Array] | None = None
    ) -> tuple[Answer, Mapping[str, Array] | None]:
        """What `Durable.ask` answers, and the weights if they were read."""
        answer = self.server.ask(worker, serial, moves, gradient)
        return answer, self.server.held(worker) if answer.granted and READ in moves else None

    def trace(self) -> Trace:
        return self.server.trace("ray")

    def deadlock(self, waiting: list[int]) -> DeadlockError:
        return self.server.server.ledger.deadlock(waiting)


class ServerProcess:
    """The actor of the server, and another one with its log whenever it dies.

    Args:
        ray: the module. actor: `ServerActor`, or a class like it. arguments: of its `open`.
    """

    def __init__(self, ray: Any, actor: type[ServerActor], experiment: Ref, log: Path | None, sync: bool) -> None:
        self.ray, self.log, self.falls = ray, log, 0
        self._new = ray.remote(actor).options(num_cpus=0)
        self._arguments = experiment, log, sync
        self.actor = self._new.remote()

    def open(self, timeout: float | None) -> list[int]:
        """Have it read its log; the last request of each worker."""
        while True:
            try:
                serials: list[int] = self.ray.get(self.actor.open.remote(*self._arguments), timeout=timeout)
                return serials
            except self.ray.exceptions.RayActorError as death:
                self._replace(death)

    def reopen(self, death: Exception, answered: list[int], timeout: float | None) -> None:
        """Another one after this death; `answered` are the requests whose answers were heard.

        Raises: RuntimeError: there is no log, it lacks some of them, or one server dies after the other.
        """
        if self.log is None:
            raise RuntimeError("the server died, and its state with it; give log=path to go on after that") from death
        self._replace(death)
        if any(there < here for there, here in zip(self.open(timeout), answered, strict=True)):
            raise RuntimeError(f"{self.log} lacks what the server had answered: is it on a disk that all nodes see?")

    def kill(self) -> None:
        self.ray.kill(self.actor)

    def _replace(self, death: Exception) -> None:
        self.kill()
        self.falls += 1
        if self.falls == PATIENCE:
            raise RuntimeError(f"the server died {self.falls} times in a row without an answer") from death
        self.actor = self._new.remote()

"""The server and the workers of a run as Ray's actors, and who drives them: all of them may die.

The driver walks every worker's life as a generator, so that it waits for all of them at once and holds nobody up.
Arrays go from actor to actor by reference and not through the driver.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from .._base.arrays import Array
from ..errors import DeadlockError  # its public home has to be there where one is unpickled
from .checks import finite
from .durable import Answer, Durable
from .experiment import Experiment, Piece, worker
from .ledger import CHECK, JOIN, LEAVE, READ
from .trace import Trace

Ref = Any  # ray.ObjectRef
Life = Generator[Ref | None, Any, Any]  # what it waits for; None: for the others' moves
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
        """The answer of `Durable.ask`, and the weights if they were read."""
        answer = self.server.ask(worker, serial, moves, gradient)
        return answer, self.server.held(worker) if answer.granted and READ in moves else None

    def trace(self) -> Trace:
        return self.server.trace("ray")

    def deadlock(self, waiting: list[int]) -> DeadlockError:
        return self.server.server.ledger.deadlock(waiting)


class ServerProcess:
    """The actor of the server, and another one with its log whenever it dies.

    Args:
        ray: the module. actor: `ServerActor`, or a class like it. experiment, log, sync, part: what its `open` takes.
        options: Ray's of this actor.
    """

    def __init__(
        self, ray: Any, actor: type[ServerActor], experiment: Ref, log: Path | None, sync: bool,
        part: tuple[int, ...] = (), options: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        self.ray, self.log, self.falls = ray, log, 0
        self._new = ray.remote(actor).options(**{"num_cpus": 0} | dict(options))
        self._arguments = experiment, log, sync, *part
        self.actor = self._new.remote()

    def open(self, timeout: float | None) -> list[int]:
        """Have it read its log; the last request of each worker."""
        while True:
            try:
                serials: list[int] = self.ray.get(self.actor.open.remote(*self._arguments), timeout=timeout)
                self.serials = serials
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


class Driver:
    """Starts the actors, lets them talk, and replaces those that die.

    Args:
        log: path of the server's log, on a disk that all nodes see. A server that dies is started again where it was,
            and a run whose log is there already goes on where it stopped. None: the run dies with its server.
        sync: whether a request is on the disk before it is answered (fsync), and so outlives the machine, too.
        tick: seconds that one tick of `Speeds` takes at least.
        timeout: seconds for the whole run; None: as long as it takes.
        worker_options: Ray's options of a worker's actor, as `{"num_cpus": 4, "num_gpus": 1}`.

    A worker that dies leaves (its gradient in hand is lost) and joins again as a new process with its next number.
    """

    server_class: type[ServerActor] = ServerActor
    worker_class: type[WorkerActor] = WorkerActor

    def __init__(
        self, ray: Any, experiment: Experiment, *, log: str | Path | None = None, sync: bool = True, tick: float = 1e-5,
        timeout: float | None = None, worker_options: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        finite("tick", tick, 0)
        self.ray, self.experiment, self.tick = ray, experiment, tick
        self.deaths = (ray.exceptions.RayActorError, ray.exceptions.ObjectLostError, ray.exceptions.OutOfMemoryError)
        self.log = None if log is None else Path(log).absolute()
        self.until = None if timeout is None else time.monotonic() + timeout
        options = {"num_cpus": 0, "scheduling_strategy": "SPREAD"} | dict(worker_options or {})
        # As many again as a run needs, for deaths cost numbers too.
        self.ticks = experiment.ticks(2 * experiment.ticks().shape[1])
        self.shipped = ray.put(experiment)
        self.server = self._new_server(sync)
        self.new_worker = ray.remote(self.worker_class).options(**options)
        self.serials = [0] * experiment.workers
        self.actors: list[Any] = [None] * experiment.workers
        self.waiting: dict[Ref, tuple[int, Life]] = {}
        self.blocked: dict[int, Life] = {}
        self.made, self.up = 0, False
        self.done = False

    def _new_server(self, sync: bool) -> ServerProcess:
        return ServerProcess(self.ray, self.server_class, self.shipped, self.log, sync)

    def run(self) -> Trace:
        """From the first read to the trace; no actor is left."""
        workers = range(self.experiment.workers)
        try:
            self._wait([self._actor(k).wait.remote(0.0) for k in workers], count=len(workers))
            self._open()
            self.up = True
            for k in workers:
                self._advance(k, self._life(k))
            while not self.done:
                self._next()
            return self._trace()
        except self.ray.exceptions.GetTimeoutError as late:
            raise self._late() from late
        finally:
            self.server.kill()
            for k in workers:
                self._bury(k)

    def _open(self) -> None:
        """Have the server begin, or go on from its log."""
        self.serials = self.server.open(self._left())

    def _trace(self) -> Trace:
        """The trace of what was done."""
        return cast(Trace, self._call("trace"))

    def _next(self) -> None:
        """Wait for the next answer or gradient, and let the life that waits for it go on."""
        if not self.waiting:
            raise self._call("deadlock", sorted(self.blocked))
        (ready,) = self._wait(list(self.waiting))
        k, life = self.waiting.pop(ready)
        try:
            value = self.ray.get(ready)
        except self.deaths as death:
            self._advance(k, life, death=death)
        else:
            self._advance(k, life, value)

    def _advance(self, k: int, life: Life, value: Any = None, death: Exception | None = None) -> None:
        try:
            wanted = life.send(value) if death is None else life.throw(death)
        except StopIteration:
            return
        if wanted is None:
            self.blocked[k] = life
        else:
            self.waiting[wanted] = k, life

    def _life(self, k: int) -> Life:
        """Worker k from its first process to its last."""
        number = deaths = 0
        died = self.serials[k] > 0  # whoever asked before this run is gone
        while True:
            weights = None
            try:
                if died:
                    number = yield from self._again(k)
                for piece in worker(self.experiment, k, self.ticks[k], number):
                    gradient = yield from self._work(k, piece, number, weights)
                    answer, read = yield from self._ask(k, piece.moves, gradient)
                    number, weights = answer.number, read if READ in piece.moves else weights
                    deaths = 0 if CHECK in piece.moves else deaths
                return
            except self.deaths as death:
                died, deaths = True, deaths + 1
                if deaths == PATIENCE:
                    raise RuntimeError(f"worker {k} died {deaths} times in a row without a gradient") from death

    def _again(self, k: int) -> Generator[Ref | None, Any, int]:
        """The worker has died: it leaves, and joins as a new process; the number it goes on with."""
        self._bury(k)
        yield from self._ask(k, (LEAVE,))
        yield self._actor(k).wait.remote(0.0)
        answer, _ = yield from self._ask(k, (JOIN,))
        return int(answer.number)

    def _work(self, k: int, piece: Piece, number: int, weights: Ref) -> Generator[Ref, Any, Ref | None]:
        """Do the worker's part before it asks for the moves; return its gradient if they need one."""
        actor, seconds = self._actor(k), piece.ticks * self.tick
        if CHECK in piece.moves:
            done, gradient = actor.gradient.options(num_returns=2).remote(weights, k, number, seconds)
            yield done
            return gradient
        if piece.ticks:
            yield actor.wait.remote(seconds)
        if LEAVE in piece.moves:
            self._bury(k)
        return None

    def _ask(self, k: int, moves: tuple[int, ...], given: Any = None) -> Generator[Ref | None, Any, tuple[Answer, Any]]:
        """The server's answer, and the weights if it was asked for them."""
        serial = self.serials[k] + 1
        while True:
            answer, weights = yield from self._told(k, serial, moves, given)
            self.server.falls, self.done = 0, self.done or answer.done
            if self.done:
                yield None
            if answer.granted:
                break
            if answer.made >= self.made:  # otherwise something was done since
                yield None
        self.serials[k], self.made = serial, max(self.made, answer.made)
        blocked, self.blocked = self.blocked, {}
        for other, life in blocked.items():
            self._advance(other, life)
        return answer, weights

    def _told(
        self, k: int, serial: int, moves: tuple[int, ...], gradient: Ref | None
    ) -> Generator[Ref, Any, tuple[Answer, Ref]]:
        """Ask once, and again for as often as the server dies."""
        while True:
            server = self.server.actor
            told, weights = server.ask.options(num_returns=2).remote(k, serial, moves, gradient)
            try:
                answer = yield told
            except self.ray.exceptions.RayActorError as death:
                if server is self.server.actor:
                    self.server.reopen(death, self.serials, self._left())
                if self.server.serials[k] == serial:  # it is in the log, its gradient may be gone with a node
                    gradient = None
            else:
                return answer, weights

    def _actor(self, k: int) -> Any:
        """The process of worker k, a new one if it has none."""
        if self.actors[k] is None:
            self.actors[k] = self.new_worker.remote(self.shipped)
        return self.actors[k]

    def _call(self, method: str, *arguments: Any) -> Any:
        """Call a method of the server and return its result, however often the server dies."""
        while True:
            try:
                return self.ray.get(getattr(self.server.actor, method).remote(*arguments), timeout=self._left())
            except self.ray.exceptions.RayActorError as death:
                self.server.reopen(death, self.serials, self._left())

    def _bury(self, k: int) -> None:
        """End the process of worker k, dead already or not."""
        if self.actors[k] is not None:
            self.ray.kill(self.actors[k])
        self.actors[k] = None

    def _wait(self, refs: list[Ref], count: int = 1) -> list[Ref]:
        """So many of them that are there, with a value or with an error."""
        ready: list[Ref] = self.ray.wait(refs, num_returns=count, timeout=self._left())[0]
        if len(ready) < count:
            raise self._late()
        return ready

    def _late(self) -> TimeoutError:
        done = f"{self.made} moves were made" if self.up else "the processes of the run were not up yet"
        return TimeoutError(f"the run was not over in time: {done}")

    def _left(self) -> float | None:
        """Seconds until the timeout."""
        return None if self.until is None else max(0.0, self.until - time.monotonic())

"""One operation at a time, each in its order; and who waits for whom."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from ..._base.arrays import is_traced
from ..._base.errors import CancelledError, DeadlineExceededError, FailedPreconditionError, InvalidArgumentError
from ..._steps.jax import jnp
from .replicas import current_replica, patience
from .steps import BACKWARD, INFERENCE, ORDER, Stage, Step


class Turns:
    """The step in progress and the one after it, under one lock."""

    def __init__(self, cores: int, cores_per_replica: int) -> None:
        self.cores, self.cores_per_replica = cores, cores_per_replica
        self.replicas = cores // cores_per_replica
        self.changed = threading.Condition(threading.RLock())
        self.now, self.ahead = Step(self.replicas), Step(self.replicas)
        self._is_closed = False
        self._last_mode = ""

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Nobody else does anything in the meantime.

        Raises:
            TypeError: inside `jax.jit`, where it would happen once, while it is compiled.
        """
        if is_traced(jnp.zeros(())):
            raise TypeError("inside jax.jit there are no operations on a system; use gl.tpu.lookup and gl.tpu.update")
        with self.changed:
            self._check_open()
            yield

    def wait(self, ready: Callable[[], bool], why: Callable[[], str]) -> None:
        """Until others have done their part; without patience it is an error that they have not."""
        if ready():
            return
        seconds = patience()
        if seconds is None:
            raise FailedPreconditionError(f"{why()}; {ORDER}. Threads wait by replica(k, timeout=...)")
        if not self.changed.wait_for(lambda: self._is_closed or ready(), seconds):
            raise DeadlineExceededError(f"after {seconds} seconds {why()}; {ORDER}")
        self._check_open()

    def replica(self, given: int | None) -> int:
        """The replica that is meant: the one given, else the one around, else the only one."""
        r = current_replica() if given is None else given
        if r is None and self.replicas > 1:
            raise FailedPreconditionError(f"there are {self.replicas} replicas; say which: with gl.tpu.replica(k):")
        r = r or 0
        if not 0 <= r < self.replicas:
            raise InvalidArgumentError(f"replicas are 0 to {self.replicas - 1}, got {r}")
        return r

    def core(self, given: int) -> int:
        """The core that is meant; -1 is that of the replica."""
        if given == -1 and self.cores_per_replica == 1:
            return self.replica(None)
        if not 0 <= given < self.cores:
            raise InvalidArgumentError(
                f"cores are 0 to {self.cores - 1}, got {given}; -1 is the replica's where it has one core"
            )
        return given

    def step_for(self, cores: Collection[int]) -> Step:
        """The step that the next batches of cores belong to: the one in progress, or after receiving the next."""
        if not cores:
            raise InvalidArgumentError("the ids of at least one core must be given")
        *_, step = [self._step_for(self.core(k)) for k in cores]
        return step

    def _step_for(self, core: int) -> Step:
        if core not in self.now.cores:
            return self.now
        if self.now.stages[core // self.cores_per_replica] is Stage.NOTHING:
            raise FailedPreconditionError(f"core {core} has a batch that nobody received; {ORDER}")
        if core in self.ahead.cores:
            raise FailedPreconditionError(f"core {core} is one batch ahead already; {ORDER}")
        return self.ahead

    def start(self, replica: int) -> Step:
        """The step whose batch the replica is to receive, when all have finished the step before and enqueued."""
        self.wait(
            lambda: self.now.stages[replica] is not Stage.DONE,
            lambda: f"replicas {self.now.missing_replicas()} have not finished their step",
        )
        step = self.now
        step.expect(replica, Stage.NOTHING, "receive deduplication data")
        self.wait(lambda: step.batch is not None, self.who_misses)
        return step

    def expect_gradients(self, replica: int) -> Step:
        """The step whose gradients the replica owes."""
        step = self.now
        if step.stages[replica] is Stage.NOTHING and self._last_mode == INFERENCE:
            raise FailedPreconditionError(f"the last batch was for inference, which sends no gradients; {ORDER}")
        if not (step.mode == BACKWARD and step.stages[replica] is Stage.DEDUPLICATED):
            step.expect(replica, Stage.ACTIVATED, "send gradients")
        return step

    def who_misses(self) -> str:
        """Which cores have not enqueued, in words."""
        return f"cores {self.now.missing_cores(self.cores)} have enqueued nothing for this step"

    def advance(self, replica: int, stage: Stage) -> None:
        """The replica has come so far; the last one that is done ends the step."""
        self.now.stages[replica] = stage
        if not self.now.missing_replicas():
            self._last_mode = self.now.mode
            self.now, self.ahead = self.ahead, Step(self.replicas)
            self.changed.notify_all()

    def abandon(self) -> None:
        """Forget what is enqueued and received."""
        with self.changed:
            self.now, self.ahead = Step(self.replicas), Step(self.replicas)
            self.changed.notify_all()

    def close(self) -> None:
        """No more turns; who waits is told."""
        with self.changed:
            self._is_closed = True
            self.changed.notify_all()

    def _check_open(self) -> None:
        if self._is_closed:
            raise CancelledError("this TPU system was shut down; gl.tpu.initialize_system starts another")

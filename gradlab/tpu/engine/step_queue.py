"""The order of operations on a system: the step in progress, the step after it, and what each replica has done.

A replica receives deduplication data, then activations, then sends gradients. A core that has
received may enqueue its next batch, so there are two steps at a time. `StepQueue` holds both under
one lock. An operation that comes out of order is an error; one that only comes too early waits, if
the thread's `replica(k, timeout=...)` allows it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ..._base.arrays import is_traced
from ..._base.forks import renew_in_child
from ..._base.jax_or_numpy import jnp
from ...errors import (
    CancelledError,
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
)
from ..ids import Ids
from ..lookup import Dedup
from .proto import TPUEmbeddingConfiguration
from .replicas import current_replica, wait_timeout

ORDER = (
    "each step is: enqueue once for each core, receive deduplication data, receive activations, "
    "send gradients"
)
CoreIds = Mapping[str, Ids]  # the ids of one core, by feature

TRAIN = "train"
INFERENCE = "inference"
BACKWARD = "backward_pass_only"
_MODES = {"train": TRAIN, "training": TRAIN, INFERENCE: INFERENCE, BACKWARD: BACKWARD}


class Stage(Enum):
    """The progress of a replica; in words, the operations it has done."""

    NOTHING = "received nothing"
    DEDUPLICATED = "received deduplication data, but no activations"
    ACTIVATED = "received activations, and owes gradients"
    DONE = "done all it has to"


@dataclass
class QueuedStep:
    """One step: the ids of each core, what each replica received, and the gradients and rates it sent."""

    replicas: int
    mode: str = ""
    combiners: tuple[str, ...] = ()
    cores: dict[int, CoreIds] = field(default_factory=dict)
    batch: Any = None
    activations: Sequence[Any] = ()
    stages: list[Stage] = field(default_factory=list)
    dedup_by_replica: dict[int, Dedup] = field(default_factory=dict)
    sent: dict[int, tuple[Sequence[Any], Sequence[Any]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.stages = self.stages or [Stage.NOTHING] * self.replicas

    def check_agreement(self, mode: str, combiners: tuple[str, ...]) -> None:
        """Refuse a core whose mode or combiners are not those of the others in this step."""
        if self.cores and (mode, combiners) != (self.mode, self.combiners):
            raise InvalidArgumentError(
                f"all cores of a step have one mode and one list of combiners; got {mode!r} and "
                f"{list(combiners)}, but core {min(self.cores)} has {self.mode!r} and "
                f"{list(self.combiners)}"
            )

    def add_cores(
        self, mode: str, combiners: tuple[str, ...], ids: Mapping[int, CoreIds], batch: Any
    ) -> None:
        """Add the ids of some cores, and the batch of all if these were the last."""
        self.mode = mode
        self.combiners = combiners
        self.batch = batch
        self.cores.update(ids)

    def check_stage(self, replica: int, stage: Stage, what: str) -> None:
        """Refuse an operation of a replica that isn't at this stage."""
        actual = self.stages[replica]
        if actual is not stage:
            raise FailedPreconditionError(
                f"cannot {what}: replica {replica} has {actual.value} in this step; {ORDER}"
            )

    def missing_cores(self, cores: int) -> list[int]:
        """Return the cores that have not enqueued."""
        return [k for k in range(cores) if k not in self.cores]

    def missing_replicas(self) -> list[int]:
        """Return the replicas that are not done."""
        return [k for k, stage in enumerate(self.stages) if stage is not Stage.DONE]


def configured_mode(config: TPUEmbeddingConfiguration) -> str:
    """Return the mode of the batches of a configuration."""
    modes = {
        TPUEmbeddingConfiguration.TRAINING: TRAIN,
        TPUEmbeddingConfiguration.INFERENCE: INFERENCE,
    }
    return modes.get(config.mode, BACKWARD)


def batch_mode(override: Any, configured: str) -> str:
    """Return the mode of a batch: the configuration's, or that of `mode_override`.

    Raises:
        InvalidArgumentError: an unknown mode.

    >>> batch_mode("training", "inference"), batch_mode("", "inference")
    ('train', 'inference')
    """
    mode = override.decode() if isinstance(override, bytes) else str(override)
    if mode in ("", "unspecified"):
        return configured
    if mode not in _MODES:
        allowed = ", ".join(map(repr, ("", "unspecified", *_MODES)))
        raise InvalidArgumentError(f"mode_override must be one of {allowed}; got {mode!r}")
    return _MODES[mode]


class StepQueue:
    """The step in progress and the one after it, under one lock.

    After Ctrl-C, or a fork by another thread, in the middle of an operation, start another system.
    """

    def __init__(self, cores: int, cores_per_replica: int) -> None:
        self.cores = cores
        self.cores_per_replica = cores_per_replica
        self.replicas = cores // cores_per_replica
        self.changed: threading.Condition
        renew_in_child(self, "changed", threading.Condition)
        self.current = QueuedStep(self.replicas)
        self.next = QueuedStep(self.replicas)
        self._is_closed = False
        self._last_mode = ""

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock during one operation.

        Raises:
            TypeError: inside `jax.jit`, where it would happen once, while it is compiled.
        """
        if is_traced(jnp.zeros(())):
            raise TypeError(
                "inside jax.jit there are no operations on a system; use gl.tpu.lookup and "
                "gl.tpu.update"
            )
        with self.changed:
            self._check_open()
            yield

    def wait(self, ready: Callable[[], bool], why: Callable[[], str]) -> None:
        """Wait until `ready()`; raise at once where the thread's replica has no timeout."""
        if ready():
            return
        seconds = wait_timeout()
        if seconds is None:
            raise FailedPreconditionError(
                f"{why()}; {ORDER}. Threads wait by replica(k, timeout=...)"
            )
        if not self.changed.wait_for(lambda: self._is_closed or ready(), seconds):
            raise DeadlineExceededError(f"after {seconds} seconds {why()}; {ORDER}")
        self._check_open()

    def replica(self, given: int | None) -> int:
        """Return the replica that is meant: the one given, else the one of the context, else the only one."""
        r = current_replica() if given is None else given
        if r is None and self.replicas > 1:
            raise FailedPreconditionError(
                f"there are {self.replicas} replicas; say which: with gl.tpu.replica(k):"
            )
        r = r or 0
        if not 0 <= r < self.replicas:
            raise InvalidArgumentError(f"replicas are 0 to {self.replicas - 1}, got {r}")
        return r

    def core(self, given: int) -> int:
        """Return the core that is meant; -1 is that of the replica."""
        if given == -1 and self.cores_per_replica == 1:
            return self.replica(None)
        if not 0 <= given < self.cores:
            raise InvalidArgumentError(
                f"cores are 0 to {self.cores - 1}, got {given}; -1 is the "
                "replica's where it has one core"
            )
        return given

    def step_for(self, cores: Collection[int]) -> QueuedStep:
        """Return the step that a new batch of these cores belongs to: the current one, or after receiving the next."""
        if not cores:
            raise InvalidArgumentError("the ids of at least one core must be given")
        # All cores are checked; the last one says which step it is.
        steps = [self._step_for(self.core(k)) for k in cores]
        return steps[-1]

    def _step_for(self, core: int) -> QueuedStep:
        if core not in self.current.cores:
            return self.current
        if self.current.stages[core // self.cores_per_replica] is Stage.NOTHING:
            raise FailedPreconditionError(f"core {core} has a batch that nobody received; {ORDER}")
        if core in self.next.cores:
            raise FailedPreconditionError(f"core {core} is one batch ahead already; {ORDER}")
        return self.next

    def wait_for_batch(self, replica: int) -> QueuedStep:
        """Return the step whose batch the replica is to receive.

        Waits until the replica's step before is finished by all, and all cores have enqueued.
        """
        self.wait(
            lambda: self.current.stages[replica] is not Stage.DONE,
            lambda: f"replicas {self.current.missing_replicas()} have not finished their step",
        )
        step = self.current
        step.check_stage(replica, Stage.NOTHING, "receive deduplication data")
        self.wait(lambda: step.batch is not None, self.explain_missing_cores)
        return step

    def step_owing_gradients(self, replica: int) -> QueuedStep:
        """Return the step whose gradients the replica owes."""
        step = self.current
        if step.stages[replica] is Stage.NOTHING and self._last_mode == INFERENCE:
            raise FailedPreconditionError(
                f"the last batch was for inference, which sends no gradients; {ORDER}"
            )
        if not (step.mode == BACKWARD and step.stages[replica] is Stage.DEDUPLICATED):
            step.check_stage(replica, Stage.ACTIVATED, "send gradients")
        return step

    def explain_missing_cores(self) -> str:
        """Say which cores have not enqueued."""
        return f"cores {self.current.missing_cores(self.cores)} have enqueued nothing for this step"

    def advance(self, replica: int, stage: Stage) -> None:
        """Note that a replica has reached a stage. The last one that is done ends the step."""
        self.current.stages[replica] = stage
        if not self.current.missing_replicas():
            self._last_mode = self.current.mode
            self.current = self.next
            self.next = QueuedStep(self.replicas)
            self.changed.notify_all()

    def abandon(self) -> None:
        """Forget what is enqueued and received."""
        with self.changed:
            self.current = QueuedStep(self.replicas)
            self.next = QueuedStep(self.replicas)
            self.changed.notify_all()

    def close(self) -> None:
        """Refuse every operation from now on. Threads that wait are woken, and raise."""
        with self.changed:
            self._is_closed = True
            self.changed.notify_all()

    def _check_open(self) -> None:
        if self._is_closed:
            raise CancelledError(
                "this TPU system was shut down; gl.tpu.initialize_system starts another"
            )

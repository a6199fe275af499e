"""One operation at a time, each in its order: which replica the code stands for, and who waits for whom."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ..._base.arrays import is_traced
from ..._base.forks import give_lock
from ..._base.library import jnp
from ...errors import (
    CancelledError,
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
)
from ..ids import Ids
from ..lookup import Dedup
from .proto import TPUEmbeddingConfiguration

_replica: ContextVar[int | None] = ContextVar("replica", default=None)
_patience: ContextVar[float | None] = ContextVar("patience", default=None)


@contextmanager
def replica(number: int, timeout: float | None = None) -> Iterator[int]:
    """Operations inside are those of this replica.

    Args:
        number: 0, 1, ...; with SPMD sharding a replica has several cores, else one.
        timeout: where every replica runs in a thread of its own, the seconds that an operation waits for what the
            others have to do first. None: they run in this thread too, so waiting would not end, and it is an error.

    Raises:
        ValueError: a number below 0, or a timeout that is not above 0.

    Source: `tf.distribute.ReplicaContext`, TensorFlow 2.21 (2026).

    >>> with replica(1):
    ...     current_replica()
    1
    """
    if number < 0:
        raise ValueError(f"replicas are 0, 1, ...; got {number}")
    if timeout is not None and not timeout > 0:
        raise ValueError(f"timeout must be above 0 or None, got {timeout}")
    tokens = _replica.set(number), _patience.set(timeout)
    try:
        yield number
    finally:
        _replica.reset(tokens[0])
        _patience.reset(tokens[1])


def current_replica() -> int | None:
    """The number of the replica around, None where none is named.

    >>> current_replica() is None
    True
    """
    return _replica.get()


def patience() -> float | None:
    """The time that operations here wait for other replicas."""
    return _patience.get()


ORDER = "each step is: enqueue once for each core, receive deduplication data, receive activations, send gradients"
TRAIN, INFERENCE, BACKWARD = "train", "inference", "backward_pass_only"
Given = Mapping[str, Ids]  # of one core, by feature
_MODES = {"train": TRAIN, "training": TRAIN, INFERENCE: INFERENCE, BACKWARD: BACKWARD}


class Stage(Enum):
    """The progress of a replica; in words, the operations it has done."""

    NOTHING = "received nothing"
    DEDUPLICATED = "received deduplication data, but no activations"
    ACTIVATED = "received activations, and owes gradients"
    DONE = "done all it has to"


@dataclass
class Step:
    """One step: the ids of each core, what was handed out, and what came back."""

    replicas: int
    mode: str = ""
    combiners: tuple[str, ...] = ()
    cores: dict[int, Given] = field(default_factory=dict)
    batch: Any = None
    activations: Sequence[Any] = ()
    stages: list[Stage] = field(default_factory=list)
    handed: dict[int, Dedup] = field(default_factory=dict)
    sent: dict[int, tuple[Sequence[Any], Sequence[Any]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.stages = self.stages or [Stage.NOTHING] * self.replicas

    def agree(self, mode: str, combiners: tuple[str, ...]) -> None:
        """Refuse a core whose mode or combiners are not those of the others in this step."""
        if self.cores and (mode, combiners) != (self.mode, self.combiners):
            raise InvalidArgumentError(
                f"all cores of a step have one mode and one list of combiners; got {mode!r} and {list(combiners)}, "
                f"but core {min(self.cores)} has {self.mode!r} and {list(self.combiners)}"
            )

    def put(self, mode: str, combiners: tuple[str, ...], ids: Mapping[int, Given], batch: Any) -> None:
        """The ids of some cores, and the batch of all if these were the last."""
        self.mode, self.combiners, self.batch = mode, combiners, batch
        self.cores.update(ids)

    def expect(self, replica: int, stage: Stage, what: str) -> None:
        """Refuse what comes out of its order."""
        found = self.stages[replica]
        if found is not stage:
            raise FailedPreconditionError(f"cannot {what}: replica {replica} has {found.value} in this step; {ORDER}")

    def missing_cores(self, cores: int) -> list[int]:
        """The cores that have not enqueued."""
        return [k for k in range(cores) if k not in self.cores]

    def missing_replicas(self) -> list[int]:
        """The replicas that are not done."""
        return [k for k, stage in enumerate(self.stages) if stage is not Stage.DONE]


def configured_mode(config: TPUEmbeddingConfiguration) -> str:
    """The mode of the batches of a configuration."""
    modes = {TPUEmbeddingConfiguration.TRAINING: TRAIN, TPUEmbeddingConfiguration.INFERENCE: INFERENCE}
    return modes.get(config.mode, BACKWARD)


def mode_of(override: Any, configured: str) -> str:
    """The mode of a batch: the configuration's, or that of `mode_override`.

    Raises:
        InvalidArgumentError: an unknown mode.

    >>> mode_of("training", "inference"), mode_of("", "inference")
    ('train', 'inference')
    """
    given = override.decode() if isinstance(override, bytes) else str(override)
    if given in ("", "unspecified"):
        return configured
    if given not in _MODES:
        allowed = ", ".join(map(repr, ("", "unspecified", *_MODES)))
        raise InvalidArgumentError(f"mode_override must be one of {allowed}; got {given!r}")
    return _MODES[given]


class Turns:
    """The step in progress and the one after it, under one lock.

    After Ctrl-C, or a fork by another thread, in the middle of an operation, start another system.
    """

    def __init__(self, cores: int, cores_per_replica: int) -> None:
        self.cores, self.cores_per_replica = cores, cores_per_replica
        self.replicas = cores // cores_per_replica
        self.changed: threading.Condition
        give_lock(self, "changed", threading.Condition)
        self.now, self.ahead = Step(self.replicas), Step(self.replicas)
        self._is_closed = False
        self._last_mode = ""

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Keep all other threads out meanwhile.

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

"""An accumulator that threads share: a lock around `Machine`, and the waiting.

From the inside out:

    DenseSum, SparseSum      arithmetic
    Machine                  the step, the count and the queue of pending takes; no threads
    Kernel (this file)       the lock and the waiting
    ConditionalAccumulator   what a user calls, and what Python checks before an op runs

Each method takes the lock, calls the machine once and releases the lock. A take that cannot be
served at once is queued as a `Taker`, and its thread sleeps, without the lock, until the machine
finishes the take.

Each taker has an event of its own. A condition variable on the lock would be shorter, but isn't
safe from Ctrl-C: `Condition.wait` releases the lock while it sleeps, and takes it again at the end.
A KeyboardInterrupt before it has the lock ends the `with` block, which then releases a lock that
another thread holds.

After Ctrl-C: a take that is waiting leaves the queue and consumes nothing. Ctrl-C in the middle of
the arithmetic, or at the instant at which a take is served, may lose the gradient or the mean at
hand. Python can't prevent that (bpo-29988). Where it matters, make a new accumulator. The same
holds in a child that was forked while another thread was in the middle of a call.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Hashable, MutableMapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..._base.forks import call_in_child, renew_in_child
from ..._base.options import is_strict
from ...errors import (
    CancelledError,
    DeadlineExceededError,
    DeadlockError,
    InvalidArgumentError,
    NotFoundError,
)
from ..variable import Collection, current_collection
from .arguments import (
    Shape,
    check_timeout,
    format_shape,
    read_count,
    read_dtype,
    read_reduction,
    read_shape,
    read_step,
)
from .deadlock import Producer, Wait
from .dense_sum import DenseSum
from .machine import Machine, Peek, PendingTake, Receipt, Sum, Waiting
from .sparse_sum import SparseSum


class Taker(PendingTake):
    """A pending take that threads can wait for. `done` once it has a value or an error."""

    def __init__(self, kernel: Kernel, num_required: int) -> None:
        super().__init__(num_required)
        self._kernel = kernel
        self._done = threading.Event()

    @property
    def position(self) -> int | None:
        """Its place in the queue: 1 is served next, None once it is done."""
        return self._kernel.position_of(self)

    def result(self, timeout: float | None = None) -> Any:
        """Return the value, after waiting for it at most `timeout` seconds.

        Raises: DeadlineExceededError (it stays in the queue), CancelledError, DeadlockError (as
        `take_grad`).
        """
        check_timeout(timeout)
        self._kernel.wait_for(self, timeout)
        return self.outcome()

    def cancel(self) -> bool:
        """Leave the queue and consume nothing. Return False if it was done already."""
        return self._kernel.cancel(self)

    def outcome(self) -> Any:
        """Return the value of a take that is done, or raise its error."""
        if self.error is not None:
            # A copy, because several threads may raise it, and each adds its traceback.
            raise type(self.error)(*self.error.args)
        return self.value

    def notify(self) -> None:
        """Wake the threads in `wait`."""
        self._done.set()

    def wait(self, timeout: float) -> bool:
        """Sleep until the take is done, at most `timeout` seconds. Return whether it is."""
        return self._done.wait(timeout)

    def __repr__(self) -> str:
        return f"<gradlab Taker num_required={self.num_required} done={self.done}>"


class Kernel:
    """One accumulator, named for TensorFlow's kernel. Several Python objects may refer to it.

    Its methods check what TensorFlow checks when an op runs; Python's checks come before.
    Where TensorFlow's process dies, they raise InvalidArgumentError and change nothing.
    """

    def __init__(self, name: str, spec: Spec) -> None:
        self.name = name
        self.spec = spec
        self.dtype = spec.dtype
        self._lock: threading.Lock
        renew_in_child(self, "_lock", threading.Lock)
        self._machine = Machine(spec.new_sum())
        self._producers: set[Producer] = set()
        self._had_producers = False  # once True, a wait without living producers is hopeless
        self._is_closed = False
        self._is_deleted = False

    def apply(self, gradient: Any, local_step: Any = 0) -> Receipt:
        """Accept or drop a gradient: an array or a SparseGradient of this dtype."""
        if gradient.dtype != self.dtype:
            raise InvalidArgumentError(
                f"{self.name} has dtype {self.dtype}, got a gradient of dtype {gradient.dtype}"
            )
        late_error = None
        step = local_step
        if type(local_step) is not int:  # rarely
            step, late_error = self._read_scalar(local_step, "local_step")
        with self._lock:
            self._check_open()
            receipt = self._machine.apply(gradient, step)
        if late_error is not None:  # TensorFlow uses a step of shape (1,), then refuses it
            raise late_error
        return receipt

    def set_global_step(self, new_global_step: Any) -> None:
        """Set the step to any number. What is counted stays, and no take is served."""
        step, late_error = self._read_scalar(new_global_step, "new_global_step")
        with self._lock:
            self._check_open()
            self._machine.step = step
        if late_error is not None:
            raise late_error

    def take(self, num_required: Any, dtype: Any = None, timeout: float | None = None) -> Any:
        """Wait for `num_required` gradients and return their mean (or sum).

        A take that ends in another way, by Ctrl-C too, leaves the queue and consumes nothing.
        """
        check_timeout(timeout)
        taker = self._new_taker(num_required, dtype)
        try:
            with self._lock:
                self._check_open()
                self._machine.request(taker)
            self.wait_for(taker, timeout)
        except (DeadlineExceededError, DeadlockError):
            if self._withdraw(taker):
                raise
            # It was served between the last look and the withdrawal, so the value counts.
        except BaseException:
            # Ctrl-C, or a check above that failed. No caller would get the value of this take, so
            # it must not stay in the queue and use up a round.
            self._withdraw(taker)
            raise
        return taker.outcome()

    def try_take(self, num_required: Any) -> Any:
        """Return a value without waiting, or None."""
        count = _read_num_required(num_required)
        with self._lock:
            self._check_open()
            return self._machine.try_take(count)

    def request(self, num_required: Any) -> Taker:
        """Queue a take without waiting for it."""
        taker = self._new_taker(num_required)
        with self._lock:
            self._check_open()
            self._machine.request(taker)
        return taker

    def cancel(self, taker: PendingTake) -> bool:
        """End the wait of a take with CancelledError. Return False if it was done already."""
        error = CancelledError(f"a take from {self.name} was cancelled")
        with self._lock:
            return self._machine.cancel(taker, error)

    def num_accumulated(self) -> int:
        """Return the number of gradients counted."""
        with self._lock:
            self._check_exists()
            return self._machine.count

    @property
    def step(self) -> int:
        """The step that local steps are compared with."""
        with self._lock:
            self._check_exists()
            return self._machine.step

    def peek(self) -> Peek:
        """Return a copy of the content."""
        with self._lock:
            self._check_exists()
            return self._machine.peek()

    def why_waiting(self) -> list[Waiting]:
        """Return one record for each pending take."""
        with self._lock:
            self._check_exists()
            return self._machine.why_waiting()

    def close(self) -> None:
        """End all waits with CancelledError. The content can still be looked at."""
        error = CancelledError(
            f"a take was cancelled: {self.name} was closed while it waited; nothing is lost by that"
        )
        with self._lock:
            self._is_closed = True
            self._machine.close(error)

    def delete(self) -> None:
        """Refuse all use from now on."""
        # Without the lock: the garbage collector calls this, perhaps while the lock is held.
        self._is_deleted = True

    def producing(self) -> Producer:
        """Return a promise that the calling thread will bring gradients."""
        producer = Producer(self._forget_producer)
        with self._lock:
            self._producers.add(producer)
            self._had_producers = True
        return producer

    def position_of(self, taker: Taker) -> int | None:
        """Return the place of a take in the queue, from 1, or None once it is done."""
        with self._lock:
            if taker.done:
                return None
            return self._machine.queue.index(taker) + 1

    def wait_for(self, taker: Taker, timeout: float | None) -> None:
        """Wait until a take is done, at most `timeout` seconds.

        Both loops sleep in slices: on Windows Ctrl-C doesn't interrupt a sleeping lock, and without
        a timeout this thread must check now and then whether any other can still end the wait.

        Raises: DeadlineExceededError, DeadlockError. The take stays in the queue.
        """
        if timeout is not None:
            deadline = time.monotonic() + timeout
            while not taker.done:
                seconds_left = deadline - time.monotonic()
                if seconds_left <= 0:
                    raise DeadlineExceededError(
                        f"take from {self.name} after {timeout} s: {self._why_one(taker)}"
                    )
                taker.wait(min(seconds_left, Wait.PAUSE))
            return

        with Wait(lambda: taker.done) as wait:
            while not taker.done:
                if wait.is_hopeless():
                    raise DeadlockError(
                        f"nothing alive can end this wait for {self.name}: {self._why_one(taker)}"
                    )
                if self._is_abandoned():
                    raise DeadlockError(
                        f"all producers of {self.name} are gone: {self._why_one(taker)}"
                    )
                taker.wait(wait.pause)

    def _withdraw(self, taker: Taker) -> bool:
        """Take it out of the queue. Return False if it is done or was never queued."""
        with self._lock:
            return taker in self._machine.queue and self._machine.cancel(taker)

    def _forget_producer(self, producer: Producer) -> None:
        with self._lock:
            self._producers.discard(producer)

    def _is_abandoned(self) -> bool:
        """Return whether threads promised to bring gradients, and all of them are gone."""
        with self._lock:
            return self._had_producers and not any(
                producer.is_alive for producer in self._producers
            )

    def _why_one(self, taker: Taker) -> str:
        with self._lock:
            for waiting in self._machine.why_waiting():
                if waiting.taker is taker:
                    return waiting.text
        return "served just now"

    def _new_taker(self, num_required: Any, dtype: Any = None) -> Taker:
        if dtype is not None:
            requested = read_dtype(dtype, strict=False)
            if requested != self.dtype:
                raise InvalidArgumentError(
                    f"{self.name} has dtype {self.dtype}, a take asks for {requested}"
                )
        return Taker(self, _read_num_required(num_required))

    def _read_scalar(self, value: Any, name: str) -> tuple[int, InvalidArgumentError | None]:
        """Return an integer, and the error to raise once it was used.

        With `strict`, a step of shape (1,) is used before it is refused, as in TensorFlow.
        """
        step = read_step(value, name)
        if isinstance(step, int):
            return step, None
        error = InvalidArgumentError(f"{name} must be a scalar, got shape {step.shape}")
        if self.spec.strict and step.size == 1:
            return int(step.reshape(())), error
        raise error

    def _check_open(self) -> None:
        """Refuse a closed or deleted accumulator. Call it under the lock."""
        if self._is_closed:
            raise RuntimeError(f"{self.name} is closed; make a new accumulator")
        if self._is_deleted:
            raise self._make_deleted_error()

    def _check_exists(self) -> None:
        """Refuse a deleted accumulator. Call it under the lock."""
        if self._is_deleted:
            raise self._make_deleted_error()

    def _make_deleted_error(self) -> NotFoundError:
        return NotFoundError(
            f'{self.name} was deleted: with strict="tf" accumulators without a name are one '
            "object, and it goes with the first of them; give each a shared_name"
        )


def _read_num_required(num_required: Any) -> int:
    count = read_count(num_required)
    if not isinstance(count, int):
        raise InvalidArgumentError(f"num_required must be a scalar, got shape {count.shape}")
    return count


DENSE = "conditional_accumulator"
SPARSE = "sparse_conditional_accumulator"


@dataclass(frozen=True)
class Spec:
    """The arguments of an accumulator's constructor, checked and converted by `Spec.read`."""

    kind: str  # DENSE or SPARSE
    dtype: np.dtype[Any]
    shape: Shape
    reduction_type: str
    strict: bool
    sum_dtype: np.dtype[Any]
    mean: str

    @classmethod
    def read(
        cls,
        kind: str,
        dtype: Any,
        shape: Any,
        reduction_type: Any,
        strict: Any,
        sum_dtype: Any = None,
        mean: Any = "row",
    ) -> Spec:
        """Return the spec of these arguments; errors are those of `ConditionalAccumulator`."""
        strict = is_strict(strict)
        if mean not in ("row", "gradient"):
            raise ValueError(f'mean must be "row" or "gradient", got {mean!r}')
        dtype = read_dtype(dtype, strict)
        return cls(
            kind=kind,
            dtype=dtype,
            shape=read_shape(shape),
            reduction_type=read_reduction(reduction_type),
            strict=strict,
            sum_dtype=dtype if sum_dtype is None else read_dtype(sum_dtype, strict),
            mean=mean,
        )

    def new_sum(self) -> Sum:
        """Return an empty sum of this kind."""
        is_mean = self.reduction_type == "MEAN"
        if self.kind == DENSE:
            return DenseSum(
                self.dtype,
                self.shape,
                is_mean=is_mean,
                sum_dtype=self.sum_dtype,
                flushes_denormals=self.strict,  # as TensorFlow's CPU kernels do
            )
        return SparseSum(
            self.dtype,
            self.shape,
            is_mean=is_mean,
            sum_dtype=self.sum_dtype,
            by_row=self.mean == "row",
            strict=self.strict,
        )

    def __str__(self) -> str:
        text = f"{self.reduction_type} of {self.dtype}, shape {format_shape(self.shape)}"
        if self.kind == SPARSE:
            text += f", mean by {self.mean}"
        if self.sum_dtype != self.dtype:
            text += f", sum_dtype {self.sum_dtype}"
        return text


_Kernels: TypeAlias = MutableMapping[Hashable, Kernel]
# Per collection: kernels that stay for good (strict), and kernels that go when nothing refers to
# them.
_kernels: weakref.WeakKeyDictionary[Collection, tuple[_Kernels, _Kernels]] = (
    weakref.WeakKeyDictionary()
)
_kernels_lock = threading.Lock()


def _renew_lock_after_fork() -> None:
    # A thread that held the lock doesn't exist in the child. The tables are consistent at every
    # instant.
    global _kernels_lock
    _kernels_lock = threading.Lock()


call_in_child(_renew_lock_after_fork)


def kernel_for(spec: Spec, shared_name: str, name: str) -> Kernel:
    """Return the kernel with this shared_name in the current collection, or a new one.

    Strict specs without a shared_name and outside a graph share a kernel if they are equal, as in
    TensorFlow. TensorFlow doesn't compare the specs of one shared_name, so a strict spec gets the
    kernel of that name, whatever its spec.

    Raises: InvalidArgumentError if the shared_name belongs to another spec and this one isn't
    strict.
    """
    collection = current_collection()
    key: Hashable = None
    if shared_name:
        key = (spec.kind, shared_name)
    elif spec.strict and not collection.graph:
        key = spec

    with _kernels_lock:
        permanent, weak = _kernels.setdefault(collection, ({}, weakref.WeakValueDictionary()))
        kernels = permanent if spec.strict else weak
        kernel = kernels.get(key) if key is not None else None
        if kernel is None:
            kernel = Kernel(shared_name or name or spec.kind, spec)
            if key is not None:
                kernels[key] = kernel

    if kernel.spec != spec and not spec.strict:
        raise InvalidArgumentError(
            f"shared_name {shared_name!r} belongs to a {kernel.spec}, this is a {spec}"
        )
    return kernel

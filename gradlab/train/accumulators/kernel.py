"""The accumulator behind its lock: what it is made of, what TensorFlow's kernels check, and the waiting."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Hashable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias

import numpy as np

from ..._base.forks import guard, in_child
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
    read_count,
    read_dtype,
    read_reduction,
    read_shape,
    read_step,
    shown,
)
from .deadlock import Producer, Wait
from .dense_sum import DenseSum
from .machine import Machine, Peek, Receipt, Sum, Waiter, Waiting
from .sparse_sum import SparseSum


class Taker(Waiter):
    """A place in the queue of an accumulator. `done` once it has a value or an error; both stay."""

    def __init__(self, kernel: Kernel, needs: int) -> None:
        super().__init__(needs)
        # No condition variable: it lets go of its lock while it waits, and a thread that Ctrl-C or another thread stops
        # in the wrong moment would then release the lock of somebody else.
        self._kernel, self._bell = kernel, SimpleQueue[None]()

    def ring(self) -> None:
        """Wake up one who waits for it."""
        self._bell.put(None)

    def listen(self, seconds: float) -> None:
        """Wait for the bell at most so long. Who hears that it is done passes it on."""
        with suppress(Empty):
            self._bell.get(timeout=seconds)
        if self.done:
            self.ring()

    @property
    def position(self) -> int | None:
        """1 for the next to be served; None when done."""
        return self._kernel._position(self)

    def result(self, timeout: float | None = None) -> Any:
        """The value, waiting for it at most `timeout` seconds.

        Raises: DeadlineExceededError (it stays in the queue), CancelledError, DeadlockError (as `take_grad`).
        """
        return self._kernel._result(self, timeout)

    def cancel(self) -> bool:
        """Leave the queue and consume nothing; False if it was done already."""
        return self._kernel.cancel(self)

    def __repr__(self) -> str:
        return f"<gradlab Taker needs={self.needs} done={self.done}>"


class Kernel:
    """One accumulator. Several Python objects may refer to it.

    Its methods check what TensorFlow checks when an op runs, and nothing that Python checks before. A scalar that is
    none raises; with `strict` one number in a vector is used all the same before it raises, as in TensorFlow. What
    kills TensorFlow's process is an InvalidArgumentError here and changes nothing.
    """

    def __init__(self, name: str, spec: Spec) -> None:
        self.name, self.spec = name, spec
        self.dtype, self._strict = spec.dtype, spec.strict
        self._lock = threading.Lock()
        guard(self, "_lock", f"the accumulator {name}")
        self._machine = Machine(spec.new_sum())
        self._producers: set[Producer] = set()
        self._ended = self._had_producers = False
        self.destroyed = False  # a plain flag: it is set while garbage is collected, which may be under the lock

    def apply(self, gradient: Any, local_step: Any = 0) -> Receipt:
        """`gradient` is an array or a SparseGradient of this dtype; `local_step` a scalar."""
        if gradient.dtype != self.dtype:
            raise InvalidArgumentError(f"{self.name} has dtype {self.dtype}, got a gradient of dtype {gradient.dtype}")
        step, flaw = (local_step, None) if type(local_step) is int else self._scalar(local_step, "local_step")
        with self._lock:
            if self._ended or self.destroyed:
                raise self._unusable()
            receipt = self._machine.apply(gradient, step)
        if flaw:
            raise flaw
        return receipt

    def set_global_step(self, new_global_step: Any) -> None:
        """Any number, lower ones too; what is counted stays, and no taker is served."""
        step, flaw = self._scalar(new_global_step, "new_global_step")
        with self._lock:
            self._usable().step = step
        if flaw:
            raise flaw

    # What is taken belongs to the caller once it was handed on, which is an assignment followed by a return: between
    # them nothing is called, so that Ctrl-C, which strikes when something is, comes before both or after both.
    def take(self, num_required: Any, dtype: Any = None, timeout: float | None = None) -> Any:
        """Wait for `num_required` gradients. Who leaves for another reason, Ctrl-C too, consumes nothing."""
        check_timeout(timeout)
        taker = self._taker(num_required, dtype)
        taker.claimed = False
        try:
            try:
                with self._lock:
                    self._usable().request(taker)
                self._wait(taker, timeout)
            except (DeadlineExceededError, DeadlockError):
                if self._leave(taker):
                    raise  # else it was served at the last moment
            if taker.error is not None:
                raise type(taker.error)(*taker.error.args)
            taker.claimed = True
            return taker.value
        except BaseException:
            taker.left = True  # at first: another Ctrl-C may strike in what follows, and in that case others do it
            self._tidy()
            raise

    def try_take(self, num_required: Any) -> Any:
        """The value, or None."""
        taker = self._taker(num_required)
        taker.claimed = False
        try:
            with self._lock:
                machine = self._usable()
                machine.request(taker)
                machine.cancel(taker)
            taker.claimed = True
            return taker.value
        except BaseException:
            taker.left = True
            self._tidy()
            raise

    def request(self, num_required: Any) -> Taker:
        """Queue up without waiting."""
        taker = self._taker(num_required)
        taker.claimed = False
        try:
            with self._lock:
                self._usable().request(taker)
            taker.claimed = True
            return taker
        except BaseException:
            taker.left = True
            self._tidy()
            raise

    def cancel(self, taker: Waiter) -> bool:
        """False if it was done already."""
        with self._lock:
            return self._machine.cancel(taker, CancelledError(f"a take from {self.name} was cancelled"))

    def num_accumulated(self) -> int:
        """The number of gradients counted."""
        with self._lock:
            return self._readable().count

    @property
    def step(self) -> int:
        """The step that local steps are compared with."""
        with self._lock:
            return self._readable().step

    def peek(self) -> Peek:
        """Return what is inside, as copies."""
        with self._lock:
            return self._readable().peek()

    def why(self) -> list[Waiting]:
        """One record for each taker."""
        with self._lock:
            return self._readable().why()

    def close(self) -> None:
        """End all waits with CancelledError; what is inside can still be looked at."""
        with self._lock:
            self._ended = True
            self._machine.close(
                CancelledError(f"a take was cancelled: {self.name} was closed while it waited; nothing is lost by that")
            )

    def producing(self) -> Producer:
        """A promise of the calling thread."""
        producer = Producer(self._without)
        with self._lock:
            self._producers.add(producer)
            self._had_producers = True
        return producer

    def _without(self, producer: Producer) -> None:
        with self._lock:
            self._producers.discard(producer)
            for taker in self._machine.takers:
                if isinstance(taker, Taker):
                    taker.ring()  # whoever waits may look again

    def _taker(self, num_required: Any, dtype: Any = None) -> Taker:
        asked = self.dtype if dtype is None else read_dtype(dtype, strict=False)
        if asked != self.dtype:
            raise InvalidArgumentError(f"{self.name} has dtype {self.dtype}, a take asks for {asked}")
        return Taker(self, _count(num_required))

    def _scalar(self, value: Any, what: str) -> tuple[int, InvalidArgumentError | None]:
        step = read_step(value, what)
        if isinstance(step, int):
            return step, None
        flaw = InvalidArgumentError(f"{what} must be a scalar, got shape {step.shape}")
        if self._strict and step.size == 1:
            return int(step.reshape(())), flaw
        raise flaw

    def _tidy(self) -> None:
        with self._lock:
            self._machine.tidy()

    # Under the lock. No context manager made of a generator: one that is stopped in the wrong moment keeps the lock.
    def _usable(self) -> Machine:
        if self._ended or self.destroyed:
            raise self._unusable()
        return self._tidied()

    def _readable(self) -> Machine:
        if self.destroyed:
            raise self._unusable()
        return self._tidied()

    def _tidied(self) -> Machine:
        if self._machine.loose or self._machine.takers:
            self._machine.tidy()
        return self._machine

    def _unusable(self) -> Exception:
        if self._ended:
            return RuntimeError(f"{self.name} is closed; make a new accumulator")
        return NotFoundError(
            f'{self.name} was deleted: with strict="tf" accumulators without a name are one object, '
            "and it goes with the first of them; give each a shared_name"
        )

    def _position(self, taker: Waiter) -> int | None:
        with self._lock:
            return None if taker.done else self._machine.takers.index(taker) + 1

    def _leave(self, taker: Taker) -> bool:
        with self._lock:
            return taker in self._machine.takers and self._machine.cancel(taker)

    def _result(self, taker: Taker, timeout: float | None) -> Any:
        check_timeout(timeout)
        self._wait(taker, timeout)
        return _outcome(taker)

    def _wait(self, taker: Taker, timeout: float | None) -> None:
        """Until it is done; in slices, to look around and to be interrupted."""
        if not taker.done:
            self._tidy()
        if timeout is not None:
            self._wait_until(time.monotonic() + timeout, taker, timeout)
            return
        with Wait(lambda: taker.done) as wait:
            while not taker.done:
                if wait.is_hopeless():
                    raise DeadlockError(f"nothing alive can end this wait for {self.name}: {self._reason(taker)}")
                if self._is_abandoned():
                    raise DeadlockError(f"all producers of {self.name} are gone: {self._reason(taker)}")
                taker.listen(wait.pause)
                self._tidy()  # who was to serve it may have been stopped by Ctrl-C before

    def _wait_until(self, end: float, taker: Taker, timeout: float) -> None:
        while not taker.done:
            left = end - time.monotonic()
            if left <= 0:
                raise DeadlineExceededError(f"take from {self.name} after {timeout} s: {self._reason(taker)}")
            taker.listen(min(left, Wait.PAUSE))
            self._tidy()

    def _is_abandoned(self) -> bool:
        with self._lock:
            return self._had_producers and not any(producer.is_alive for producer in self._producers)

    def _reason(self, taker: Taker) -> str:
        with self._lock:
            return next((waiting.text for waiting in self._machine.why() if waiting.taker is taker), "served just now")


def _count(num_required: Any) -> int:
    count = read_count(num_required)
    if not isinstance(count, int):
        raise InvalidArgumentError(f"num_required must be a scalar, got shape {count.shape}")
    return count


def _outcome(taker: Waiter) -> Any:
    if taker.error is not None:
        raise type(taker.error)(*taker.error.args)
    return taker.value


DENSE, SPARSE = "conditional_accumulator", "sparse_conditional_accumulator"


@dataclass(frozen=True)
class Spec:
    """All that is fixed: `Spec.read` checks it."""

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
        """Return what the constructors are given. Errors as said there."""
        is_tf = is_strict(strict)
        if mean not in ("row", "gradient"):
            raise ValueError(f'mean must be "row" or "gradient", got {mean!r}')
        own = read_dtype(dtype, is_tf)
        wide = own if sum_dtype is None else read_dtype(sum_dtype, is_tf)
        return cls(kind, own, read_shape(shape), read_reduction(reduction_type), is_tf, wide, mean)

    def new_sum(self) -> Sum:
        """An empty sum of this kind."""
        is_mean = self.reduction_type == "MEAN"
        if self.kind == DENSE:
            return DenseSum(self.dtype, self.shape, is_mean, self.sum_dtype, self.strict)
        by_row = self.mean == "row"
        return SparseSum(self.dtype, self.shape, is_mean, self.sum_dtype, by_row, self.strict)

    def __str__(self) -> str:
        more = f", mean by {self.mean}" if self.kind == SPARSE else ""
        more += f", sum_dtype {self.sum_dtype}" if self.sum_dtype != self.dtype else ""
        return f"{self.reduction_type} of {self.dtype}, shape {shown(self.shape)}{more}"


_Kernels: TypeAlias = MutableMapping[Hashable, Kernel]
_lock = threading.Lock()
_kernels: weakref.WeakKeyDictionary[Collection, tuple[_Kernels, _Kernels]] = weakref.WeakKeyDictionary()


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()  # the tables are whole at every instant


in_child(_after_fork)


def kernel_for(spec: Spec, shared_name: str, name: str) -> Kernel:
    """A new kernel, or one that is there: one shared_name is one kernel in a collection.

    As in TensorFlow, strict specs without a graph need no shared_name to be one, nothing compares strict specs of one
    shared_name, and such kernels stay when nothing refers to them. Others must be equal (InvalidArgumentError).
    """
    collection = current_collection()
    alike = spec if spec.strict and not collection.graph else None
    key = (spec.kind, shared_name) if shared_name else alike
    with _lock:
        kernels = _of(collection, spec.strict)
        kernel = None if key is None else kernels.get(key)
        if kernel is None:
            kernel = Kernel(shared_name or name or spec.kind, spec)
            if key is not None:
                kernels[key] = kernel
    if kernel.spec != spec and not spec.strict:
        raise InvalidArgumentError(f"shared_name {shared_name!r} belongs to a {kernel.spec}, this is a {spec}")
    return kernel


def _of(collection: Collection, keep: bool) -> _Kernels:
    kept, alive = _kernels.setdefault(collection, ({}, weakref.WeakValueDictionary()))
    return kept if keep else alive

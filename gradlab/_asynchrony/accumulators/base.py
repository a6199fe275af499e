"""What dense and sparse accumulators share: steps, takers, views, and which object is which."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from ..._base.arrays import is_jax
from ..._base.errors import DTypeError, InvalidArgumentError, StalenessWarning, warn
from ..._variables.variable import current_collection
from .arguments import check_whole, read_count, read_name, read_step
from .deadlock import Producer
from .kernel import Kernel
from .machine import Peek, Waiter, Waiting
from .spec import Spec, kernel_for
from .taker import Taker


class ConditionalAccumulatorBase:
    """A sum of gradients that are fresh enough, and a queue of those who want their mean.

    A gradient is kept iff `local_step >= global_step`. A take waits for `count >= num_required`, returns the mean (or
    sum) of all that are there, empties the accumulator and increments its global step.
    `ConditionalAccumulator` and `SparseConditionalAccumulator` say how gradients are added.
    """

    _KIND = ""  # what it adds up, and the name of TensorFlow's node

    def __init__(
        self,
        dtype: Any,
        shape: Any,
        shared_name: str | None,
        name: str | None,
        reduction_type: str | None,
        strict: str | None,
        sum_dtype: Any,
        mean: str = "row",
    ) -> None:
        spec = Spec.read(self._KIND, dtype, shape, reduction_type, strict, sum_dtype, mean)
        shared_name, name = read_name(shared_name, "shared_name"), read_name(name, "name") or self._KIND
        self.dtype, self._shape, self._strict = spec.dtype, spec.shape, spec.strict
        self._in_graph = current_collection().graph
        self.name = self._named(name)
        self._kernel = kernel_for(spec, shared_name, self.name)
        if spec.strict and not self._in_graph:  # TensorFlow destroys it for all with the first object that is deleted
            weakref.finalize(self, setattr, self._kernel, "destroyed", True).atexit = False

    def _named(self, name: str) -> str:
        """The last part of the name of TensorFlow's node; in TensorFlow without a graph there is no node."""
        if self._in_graph:
            name = current_collection().unique_name(name)
        elif self._strict:
            return ""
        return name.rpartition("/")[2]

    @property
    def accumulator_ref(self) -> Kernel:
        """The accumulator itself, as `gl.raw_ops` take it; its methods skip what is checked before an op runs."""
        return self._kernel

    @property
    def global_step(self) -> int:
        """What local steps are compared with. Not in TensorFlow, which never shows it."""
        return self._kernel.step

    def set_global_step(self, new_global_step: Any, name: str | None = None) -> None:
        """global_step = new_global_step, any integer; gradients already counted stay, and no taker is served.

        Going back is a StalenessWarning; TensorFlow, and so `strict`, only writes it to a log.
        """
        step, before = self._read_step(new_global_step, "new_global_step"), self.global_step
        if not self._strict and isinstance(step, int) and step < before:
            words = f"global_step of {self.name} goes back from {before} to {step}: gradients of old steps pass again"
            warn(words, StalenessWarning)
        self._kernel.set_global_step(step)

    def num_accumulated(self, name: str | None = None) -> int:
        """How many gradients are counted since the last take."""
        return self._kernel.num_accumulated()

    def take_grad(self, num_required: int, name: str | None = None, *, timeout: float | None = None) -> Any:
        """Wait until at least `num_required` gradients are there; return their mean (or sum) and start a new round.

        Takers are served in order of arrival, one per round. The divisor is the number of gradients there are.
        In JupyterLab, whose widgets may still act, a hopeless wait is noticed only with a `timeout`, or when those who
        bring gradients are declared by `producing()`.

        Raises:
            DeadlineExceededError: `timeout` seconds have passed. Nothing is consumed then, nor in these cases:
            CancelledError: the accumulator was closed, or `cancel` ended the wait.
            DeadlockError: there is no timeout, and nothing alive can bring what is missing.
            InvalidArgumentError: `num_required` is below 1 or no scalar; TypeError: it is no integer.
        """
        read_name(name, "name")  # a second argument that was meant as timeout
        return self._kernel.take(self._read_count(num_required), timeout=timeout)

    def try_take(self, num_required: int) -> Any:
        """What `take_grad` returns if it need not wait, else None: too few gradients, or somebody waits already."""
        return self._kernel.try_take(self._read_count(num_required))

    def request(self, num_required: int, name: str | None = None) -> Taker:
        """Join the queue without waiting. The taker has `done`, `result(timeout)`, `cancel()` and `position`."""
        return self._kernel.request(self._read_count(num_required))

    def cancel(self, taker: Waiter) -> bool:
        """End the wait of a taker with CancelledError; it consumes nothing. False if it was done already."""
        if not isinstance(taker, Waiter):
            raise TypeError(f"cancel takes what request returned, got {taker!r}")
        return self._kernel.cancel(taker)

    def peek(self) -> Peek:
        """What is inside, as copies: step, count, sum, and the value a take would return now."""
        return self._kernel.peek()

    def why_waiting(self) -> list[Waiting]:
        """For each taker, the next first: what it needs, what is there, and what was dropped since it came and why."""
        return self._kernel.why()

    def producing(self) -> Producer:
        """`with accumulator.producing():` declares that this thread brings gradients until the block ends.

        Once anybody has declared this and all who did are gone, takes that wait for ever raise DeadlockError. Call it
        before a thread starts to promise for it; the promise becomes that of the thread that enters the block.
        """
        return self._kernel.producing()

    def close(self) -> None:
        """End all waits with CancelledError; only looking is possible then."""
        self._kernel.close()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _read_step(self, step: Any, what: str) -> Any:
        if type(step) is int and 0 <= step < 2**63:  # nearly always, and what follows costs a tenth of a small gradient
            return step
        read = read_step(step, what, self._strict)
        if not self._strict:
            check_whole(step, read, what)
        if self._in_graph and not isinstance(read, int):
            raise InvalidArgumentError(f"{what} must be a scalar, got shape {read.shape}")
        return read

    def _read_count(self, num_required: Any) -> Any:
        if type(num_required) is int:
            return num_required
        if self._strict and is_jax(num_required) and num_required.dtype != np.int32:  # a tensor has its dtype for good
            raise DTypeError(f"num_required must be int32, got an array of {num_required.dtype}")
        return read_count(num_required)

    def __repr__(self) -> str:
        return f"<gradlab.{type(self).__name__} {self.name!r} dtype={self.dtype} shape={self._shape}>"

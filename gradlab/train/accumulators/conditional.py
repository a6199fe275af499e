"""The conditional accumulators that users call: dense, sparse, and their common base.

The classes check and convert arguments, as TensorFlow's Python layer does, and call a `Kernel`,
which does what TensorFlow's ops do.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from ..._base.arrays import Array, is_jax
from ..._base.slices import IndexedSlices
from ...errors import DTypeError, InvalidArgumentError, StalenessWarning, warn
from ..copies import refuse_copies
from ..variable import current_collection
from .arguments import (
    check_integral,
    format_shape,
    is_compatible,
    read_any,
    read_count,
    read_gradient,
    read_name,
    read_step,
)
from .deadlock import Producer
from .kernel import DENSE, SPARSE, Kernel, Spec, Taker, kernel_for
from .machine import Peek, PendingTake, Receipt, Waiting
from .sparse_sum import SparseGradient


class ConditionalAccumulatorBase:
    """A sum of gradients that are not stale, and a queue of takes of their mean.

    A gradient is accepted iff `local_step >= global_step`. A take waits for
    `count >= num_required`, returns the mean (or sum) of all gradients counted, empties the
    accumulator and increments its global step. Threads may share an accumulator. If Ctrl-C
    interrupts a call, or another thread forks the process during one, make a new accumulator: the
    gradient or the mean at hand may be lost. A take that only waits is safe from that.
    `ConditionalAccumulator` and `SparseConditionalAccumulator` say how gradients are added.
    """

    _KIND = ""  # DENSE or SPARSE: the kind of the kernel, and the default name of TensorFlow's node

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
        shared_name = read_name(shared_name, "shared_name")
        name = read_name(name, "name") or self._KIND
        self.dtype = spec.dtype
        self._shape = spec.shape
        self._strict = spec.strict
        self._in_graph = current_collection().graph
        self.name = self._name_node(name)
        self._kernel = kernel_for(spec, shared_name, self.name)
        # In TensorFlow the kernel that several objects share goes with the first of them.
        if spec.strict and not self._in_graph:
            weakref.finalize(self, self._kernel.delete).atexit = False

    def _name_node(self, name: str) -> str:
        """Return the last part of the name of TensorFlow's node, "" if TensorFlow makes none."""
        if self._in_graph:
            name = current_collection().unique_name(name)
        elif self._strict:
            return ""
        return name.rpartition("/")[2]

    __reduce_ex__ = refuse_copies(
        "an accumulator, at which other threads may wait,",
        "make a new one, and tell it the step by set_global_step; peek() shows what is in this one",
    )

    @property
    def accumulator_ref(self) -> Kernel:
        """The kernel, which `gl.raw_ops` take as a handle; it makes only the checks of the ops."""
        return self._kernel

    @property
    def global_step(self) -> int:
        """The step that local steps are compared with. Not in TensorFlow, which never shows it."""
        return self._kernel.step

    def set_global_step(self, new_global_step: Any, name: str | None = None) -> None:
        """Set the global step to any integer; gradients counted so far stay, no take is served.

        Going back is a StalenessWarning; TensorFlow, and so `strict`, only logs it.
        """
        step = self._read_step(new_global_step, "new_global_step")
        old_step = self.global_step
        if not self._strict and isinstance(step, int) and step < old_step:
            warn(
                f"global_step of {self.name} goes back from {old_step} to {step}: gradients of old "
                "steps pass again",
                StalenessWarning,
            )
        self._kernel.set_global_step(step)

    def num_accumulated(self, name: str | None = None) -> int:
        """Return the number of gradients counted since the last take."""
        return self._kernel.num_accumulated()

    def take_grad(
        self, num_required: int, name: str | None = None, *, timeout: float | None = None
    ) -> Any:
        """Wait for `num_required` gradients, return their mean (or sum) and start a new round.

        Takes are served in order of arrival, one a round. The divisor is the number of gradients
        counted, which may be larger than `num_required`. In JupyterLab a widget could still end any
        wait, so a hopeless one is noticed only with a `timeout`, or if the threads that bring
        gradients are declared by `producing()`.

        Raises:
            DeadlineExceededError: `timeout` seconds have passed.
            CancelledError: the accumulator was closed, or `cancel` ended the wait.
            DeadlockError: there is no timeout, and no living thread can bring more gradients.
            InvalidArgumentError: `num_required` is below 1 or not a scalar.
            TypeError: it isn't an integer.

        No gradient is consumed in any of these cases.
        """
        read_name(name, "name")  # refuses a timeout that was passed as the second argument
        return self._kernel.take(self._read_count(num_required), timeout=timeout)

    def try_take(self, num_required: int) -> Any:
        """Take a mean without waiting; None if gradients are too few or another take waits."""
        return self._kernel.try_take(self._read_count(num_required))

    def request(self, num_required: int, name: str | None = None) -> Taker:
        """Join the queue without waiting.

        The taker has `done`, `result(timeout)`, `cancel()` and `position`.
        """
        return self._kernel.request(self._read_count(num_required))

    def cancel(self, taker: Taker) -> bool:
        """End the wait of a taker with CancelledError; it consumes nothing.

        Return False if it was done already.
        """
        if not isinstance(taker, PendingTake):
            raise TypeError(f"cancel takes what request returned, got {taker!r}")
        return self._kernel.cancel(taker)

    def peek(self) -> Peek:
        """Return a copy of the content: step, count, sum, and what a take would return."""
        return self._kernel.peek()

    def why_waiting(self) -> list[Waiting]:
        """Return for each pending take, the next one first, why it waits."""
        return self._kernel.why_waiting()

    def producing(self) -> Producer:
        """Declare by `with accumulator.producing():` that this thread brings gradients.

        Once at least one thread has declared it and all of them have ended, takes without a timeout
        raise DeadlockError. It may be called before a thread starts; the thread that enters the
        block counts.
        """
        return self._kernel.producing()

    def close(self) -> None:
        """End all waits with CancelledError; after that the content can only be looked at."""
        self._kernel.close()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _read_step(self, step: Any, what: str) -> Any:
        # Nearly always; the checks below take a tenth of an `apply_grad` of a small gradient.
        if type(step) is int and 0 <= step < 2**63:
            return step
        read = read_step(step, what, self._strict)
        if not self._strict:
            check_integral(step, read, what)
        if self._in_graph and not isinstance(read, int):
            raise InvalidArgumentError(f"{what} must be a scalar, got shape {read.shape}")
        return read

    def _read_count(self, num_required: Any) -> Any:
        if type(num_required) is int:
            return num_required
        # TensorFlow doesn't convert tensors.
        if self._strict and is_jax(num_required) and num_required.dtype != np.int32:
            raise DTypeError(f"num_required must be int32, got an array of {num_required.dtype}")
        return read_count(num_required)

    def __repr__(self) -> str:
        return (
            f"<gradlab.{type(self).__name__} {self.name!r} dtype={self.dtype} shape={self._shape}>"
        )


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """The mean of dense gradients that are not stale: accepted iff `local_step >= global_step`.

        apply: sum += grad; count += 1
        take: mean = sum / count; count = 0; global_step += 1

    Args:
        dtype: float16, bfloat16, float32 or float64; the sum is rounded to it after every addition.
        shape: of the gradients; None, or an entry of None, is settled by the first gradient of a
            round.
        shared_name: objects of one collection with the same shared_name share an accumulator.
        name: for messages.
        reduction_type: "MEAN" or "SUM".
        strict: "tf" reproduces TensorFlow's traps. Without a graph, objects with equal arguments
            and no shared_name share an accumulator, which is deleted with the first of them. A step
            of shape (1,) raises, but is used.
        sum_dtype: what to add in, if not in `dtype`: float32 keeps a float16 sum from sticking or
            overflowing.

    Raises: UnsupportedDTypeError, InvalidArgumentError, TypeError for other dtypes, shapes,
    reductions and names.

    NumPy stays NumPy, JAX stays JAX; gradients are copied, and a mean never changes after it was
    taken. Calls happen at once, in a `gl.Graph` too. Differs from TensorFlow: `apply_grad` returns
    what became of the gradient; `take_grad` has a timeout, and Ctrl-C ends it; what kills
    TensorFlow's process is an InvalidArgumentError; bfloat16; and the methods that look inside.

    Source: `tf.compat.v1.ConditionalAccumulator`, TensorFlow 2.21 (2026).

    >>> acc = ConditionalAccumulator("float32", shape=(2,))
    >>> acc.apply_grad([1.0, 2.0], local_step=0).accepted
    True
    >>> acc.apply_grad([3.0, 6.0], local_step=0).count
    2
    >>> acc.take_grad(2).tolist(), acc.global_step
    ([2.0, 4.0], 1)
    >>> late = acc.apply_grad([9.0, 9.0], local_step=0)
    >>> late.accepted, late.comparison, acc.try_take(1)
    (False, '0 < 1', None)
    """

    _KIND = DENSE

    def __init__(
        self,
        dtype: Any,
        shape: Any = None,
        shared_name: str | None = None,
        name: str | None = "conditional_accumulator",
        reduction_type: str | None = "MEAN",
        *,
        strict: str | None = None,
        sum_dtype: Any = None,
    ) -> None:
        super().__init__(dtype, shape, shared_name, name, reduction_type, strict, sum_dtype)

    def apply_grad(self, grad: Any, local_step: Any = 0, name: str | None = None) -> Receipt:
        """Add a gradient if `local_step >= global_step`, else drop it; return which, and why.

        Args:
            grad: array of this dtype; numbers, lists and NumPy arrays are cast; IndexedSlices are
                made dense.
            local_step: the global step that the gradient was computed at, as 2 or 2.0.

        Raises:
            InvalidArgumentError: `grad` does not fit the shape, `local_step` is not a scalar.
            DTypeError: a JAX array or a Variable of another dtype; strings; a `local_step` of 1.5
                (TensorFlow and `strict` make it 1).
            ValueError: None, ragged lists.
        """
        if isinstance(grad, IndexedSlices):
            if grad.dtype != self.dtype:
                raise DTypeError(
                    f"these IndexedSlices have dtype {grad.dtype}, the accumulator {self.dtype}"
                )
            grad = grad.to_dense()
        gradient = read_gradient(grad, self.dtype, "grad")
        if gradient.shape != self._shape and not is_compatible(gradient.shape, self._shape):
            raise InvalidArgumentError(
                f"grad must have shape {format_shape(self._shape)}, got {gradient.shape}"
            )
        return self._kernel.apply(gradient, self._read_step(local_step, "local_step"))

    def take_grad(
        self, num_required: int, name: str | None = None, *, timeout: float | None = None
    ) -> Array:
        taken: Array = super().take_grad(num_required, name, timeout=timeout)
        # Only with strict="tf" and without a graph can objects of different shapes share an
        # accumulator. TensorFlow notices it now, when the mean is already lost.
        is_shared = self._strict and not self._in_graph
        if is_shared and not is_compatible(taken.shape, self._shape):
            raise InvalidArgumentError(
                f"what was taken has shape {taken.shape}, this accumulator "
                f"{format_shape(self._shape)} under one shared_name"
            )
        return taken


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """The mean of sparse gradients that are not stale: accepted iff `local_step >= global_step`.

        apply: row[i] += values[k] for i = indices[k]; count[i] += 1
        take:  row[i] / count[i]                  mean="row", TensorFlow's
               row[i] / number of gradients       "gradient"

    Args:
        dtype, shared_name, name, reduction_type, strict, sum_dtype: as for ConditionalAccumulator.
        shape: of the whole tensor; None and () mean unknown. If an entry is None, or with `strict`,
            as in TensorFlow, rows may have more axes than declared.
        mean: "row" divides each row by the number of gradients that contained it, "gradient" by the
            number of all gradients, as the dense accumulator does.

    `strict="tf"` merges rows as TensorFlow does: it assumes that indices are sorted and distinct,
    and accepts negative ones and a grad_shape that contradicts the rows; outside a Graph it is a
    RuntimeError, as there. Otherwise rows of one index are summed first and count once, and
    contradictions are refused. Source: `tf.compat.v1.SparseConditionalAccumulator`,
    TensorFlow 2.21 (2026).

    >>> acc = SparseConditionalAccumulator("float32", shape=(4, 1))
    >>> acc.apply_grad([0, 1], [[2.0], [4.0]]), acc.apply_grad([1, 3], [[8.0], [6.0]]).count
    (Receipt(accepted=True, comparison='0 >= 0', count=1), 2)
    >>> acc.peek().row_counts.tolist()
    [1, 2, 1]
    >>> mean = acc.take_grad(2)
    >>> mean.indices.tolist(), mean.values.ravel().tolist(), mean.shape.tolist()
    ([0, 1, 3], [2.0, 6.0, 6.0], [4, 1])
    """

    _KIND = SPARSE

    def __init__(
        self,
        dtype: Any,
        shape: Any = None,
        shared_name: str | None = None,
        name: str | None = "sparse_conditional_accumulator",
        reduction_type: str | None = "MEAN",
        *,
        mean: str = "row",
        strict: str | None = None,
        sum_dtype: Any = None,
    ) -> None:
        if strict == "tf" and not current_collection().graph:
            raise RuntimeError(
                "TensorFlow has sparse accumulators in graphs only: make it within "
                '`with gl.Graph().as_default():`, or leave out strict="tf"'
            )
        super().__init__(dtype, shape, shared_name, name, reduction_type, strict, sum_dtype, mean)

    def apply_grad(
        self,
        grad_indices: Any,
        grad_values: Any = ...,  # required; the default catches calls with IndexedSlices alone
        grad_shape: Any = None,
        local_step: Any = 0,
        name: str | None = None,
    ) -> Receipt:
        """Add rows if `local_step >= global_step`, else drop them unchecked.

        Args:
            grad_indices: (n,) integers.
            grad_values: (n, ...) rows of this dtype; lists and NumPy arrays are cast (not with
                `strict`).
            grad_shape: of the whole tensor; None and () mean unknown. It must fit the rows, which
                TensorFlow, and so `strict`, doesn't check.
            local_step: the global step that the gradient was computed at, as 2 or 2.0.

        Raises:
            InvalidArgumentError: parts that do not fit each other, the shape, or the rows counted
                so far.
            DTypeError: indices or steps that are not integers, rows of another dtype.
            ValueError: None.
        """
        if isinstance(grad_indices, IndexedSlices) or grad_values is ...:
            raise TypeError(
                "apply_grad needs grad_indices and grad_values; apply_indexed_slices_grad takes "
                "IndexedSlices"
            )
        if self._strict:
            values = read_any(grad_values, "grad_values")
        else:
            values = read_gradient(grad_values, self.dtype, "grad_values")
        shape = None
        if grad_shape is not None:
            shape = _read_integers(grad_shape, "grad_shape", self._strict)
        indices = _read_integers(grad_indices, "grad_indices", self._strict)
        gradient = SparseGradient(indices, values, shape)
        return self._kernel.apply(gradient, self._read_step(local_step, "local_step"))

    def apply_indexed_slices_grad(
        self, grad: IndexedSlices, local_step: Any = 0, name: str | None = None
    ) -> Receipt:
        """Call `apply_grad` with the parts of IndexedSlices; AttributeError for anything else."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step)

    def take_indexed_slices_grad(
        self, num_required: int, name: str | None = None, *, timeout: float | None = None
    ) -> IndexedSlices:
        """Return `take_grad` as IndexedSlices.

        If the accumulator doesn't know its first size, their dense_shape is None; with `strict` it
        begins with -1, as in TensorFlow.
        """
        taken = self.take_grad(num_required, name, timeout=timeout)
        shape = tuple(taken.shape.tolist())
        is_known = min(shape) >= 0
        return IndexedSlices(
            taken.values, taken.indices, shape if self._strict or is_known else None
        )


def _read_integers(x: Any, what: str, strict: bool) -> Any:
    """Return int64; with `strict` floats are truncated, as in TensorFlow."""
    array = np.asarray(read_any(x, what))
    if array.size and array.dtype.kind not in ("biuf" if strict else "iu"):
        raise DTypeError(f"{what} must be integers, got {array.dtype}")
    with np.errstate(invalid="ignore"):
        return array.astype(np.int64)

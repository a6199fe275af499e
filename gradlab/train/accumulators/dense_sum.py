"""The running sum of dense gradients.

A `DenseSum` holds one round: the gradients that have arrived since the last take. `add` copies the
first gradient of a round into a buffer and adds each later one to that buffer, rounding after every
addition as TensorFlow's kernel does. `take` divides the buffer in place and hands it out, so the
next round begins with new memory.

`Machine` calls it, under the accumulator's lock. It knows nothing of steps, queues or threads.

The invariant: nothing else refers to `_total`. It is copied from the first gradient, `peek` returns
copies, and `take` gives it away. Only for that reason may it be overwritten (NumPy) or donated to
the next addition (JAX).
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from ..._base.arrays import Array, flush_denormals, is_jax, namespace, precision, quiet
from ..._base.forks import renew_in_child
from ...errors import InvalidArgumentError
from .arguments import Shape, format_shape, is_compatible


class DenseSum:
    """The sum of dense gradients since the last take.

    Args:
        dtype: of the gradients and of the result.
        shape: the declared shape. The first gradient of a round settles sizes that are None.
        is_mean: whether `take` divides by the number of gradients.
        sum_dtype: what gradients are added in.
        flushes_denormals: whether denormal numbers count as 0, as in TensorFlow's CPU kernels.
    """

    def __init__(
        self,
        dtype: np.dtype[Any],
        shape: Shape,
        *,
        is_mean: bool,
        sum_dtype: np.dtype[Any],
        flushes_denormals: bool,
    ) -> None:
        self._dtype = dtype
        self._shape = shape
        self._is_mean = is_mean
        self._sum_dtype = sum_dtype
        self._flushes_denormals = flushes_denormals
        self._add_quietly: Callable[[Array, Array, Array], Array]
        # Another thread may be inside the context of this addition at the instant of a fork. In the
        # child that thread is gone and never leaves it, so the child needs a new context.
        renew_in_child(self, "_add_quietly", _make_quiet_add)
        self._total: Any = None
        self.count = 0

    def add(self, gradient: Array) -> None:
        """Add a gradient. The first of a round settles the shape for the others.

        Raises:
            InvalidArgumentError: the shape does not fit. The sum is unchanged.
        """
        if self.count == 0:
            self._check_declared_shape(gradient.shape)
            self._total = self._copy(gradient)
        else:
            self._check_shape_of_round(gradient.shape)
            self._total = self._add_to_total(gradient)
        self.count += 1

    def take(self) -> Array:
        """Return the mean (or sum), which belongs to the caller, and start the next round."""
        value = self._reduce(self._total)
        self._total = None  # the caller may write into the value from now on
        self.count = 0
        return value

    def peek(self) -> tuple[Array, Array]:
        """Return copies of the sum and of what `take` would return."""
        return self._total.copy(), self._reduce(self._total.copy())

    def _copy(self, gradient: Array) -> Array:
        """Return a copy in the dtype of the sum; the caller may later overwrite its gradient."""
        if is_jax(gradient):
            with precision(self._sum_dtype):
                return namespace(gradient).array(gradient, self._sum_dtype, copy=True)
        return np.array(gradient, self._sum_dtype, order="C")

    def _add_to_total(self, gradient: Array) -> Array:
        """Return total + gradient, in the memory of the total."""
        total: Array = self._total
        if is_jax(total) or is_jax(gradient):  # XLA flushes denormal numbers by itself
            with precision(self._sum_dtype):
                if not is_jax(total):  # the first JAX gradient makes the whole sum JAX
                    total = namespace(gradient).array(total)
                return _make_donating_add()(total, gradient)

        if not self._flushes_denormals:
            return self._add_quietly(total, gradient, total)
        # TensorFlow's kernel reads denormal operands as 0 and writes denormal results as 0.
        flush_denormals(total)
        self._add_quietly(total, flush_denormals(gradient.copy()), total)
        flush_denormals(total)
        return total

    @quiet
    def _reduce(self, total: Array) -> Array:
        """Return the mean or the sum in the accumulator's dtype. May overwrite `total`."""
        with precision(self._sum_dtype), precision(self._dtype):
            if self._is_mean:
                total = self._divide(total)
            return total.astype(self._dtype, copy=False)

    def _divide(self, total: Array) -> Array:
        divisor = self._sum_dtype.type(self.count)
        if is_jax(total):
            return total / namespace(total).asarray(divisor)
        np.divide(total, divisor, out=total)
        if self._flushes_denormals:
            flush_denormals(total)
        return total

    def _check_declared_shape(self, shape: tuple[int, ...]) -> None:
        if not is_compatible(shape, self._shape):
            raise InvalidArgumentError(
                f"the accumulator has shape {format_shape(self._shape)}, got a gradient of shape "
                f"{shape}"
            )

    def _check_shape_of_round(self, shape: tuple[int, ...]) -> None:
        if shape == self._total.shape:
            return
        self._check_declared_shape(shape)  # TensorFlow compares with the declared shape first
        raise InvalidArgumentError(
            f"the gradients counted so far have shape {self._total.shape}, got one of shape {shape}"
        )


def _make_quiet_add() -> Callable[[Array, Array, Array], Array]:
    """Return `np.add(x, y, out)` without overflow warnings.

    NumPy keeps its error state in a context variable, so the addition can run in a context that was
    prepared once. The plain `with np.errstate(...)` takes 2 us, and `apply_grad` of a small
    gradient takes 3.
    """
    silent = contextvars.Context()
    silent.run(np.seterr, all="ignore")
    return partial(silent.run, np.add)  # type: ignore[arg-type]  # np.add has many overloads


@cache
def _make_donating_add() -> Callable[[Array, Array], Array]:
    """Return a compiled addition in the memory of its first argument.

    For a large gradient new memory costs more than the addition.
    """
    from ..._base.jax import jax

    return jax.jit(lambda total, gradient: total + gradient.astype(total.dtype), donate_argnums=0)

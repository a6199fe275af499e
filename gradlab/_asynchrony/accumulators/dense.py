"""The sum of dense gradients, in one buffer that belongs to it."""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from ..._base.arrays import Array, flush, is_jax, namespace, precision, quiet
from ..._base.errors import InvalidArgumentError
from ..._variables.buffers import is_ours
from .arguments import Shape, is_compatible, shown

_LARGE = 1 << 20  # bytes from which getting a new buffer costs more than looking whether the old one is free


class DenseSum:
    """Added one by one in order of arrival, rounded after each; NumPy in place. The mean is one division.

    `sum_dtype` is what it is added in. With `flushes` denormal numbers count as 0, as TensorFlow's kernels see them.
    """

    def __init__(
        self, dtype: np.dtype[Any], shape: Shape, is_mean: bool, sum_dtype: np.dtype[Any], flushes: bool
    ) -> None:
        self._dtype, self._shape, self._is_mean = dtype, shape, is_mean
        self._sum_dtype, self._flushes = sum_dtype, flushes
        # Where NumPy is silent about overflow; entering it costs a tenth of what np.errstate costs.
        quietly = contextvars.Context()
        quietly.run(np.seterr, all="ignore")
        add: Any = np.add  # its type has many overloads
        self._add: Callable[..., Array] = partial(quietly.run, add)
        self.count = 0
        self._total: Array = None
        self._spare: Array = None  # the buffer handed out last, of use once its taker has let go of it

    def add(self, gradient: Array) -> None:
        """The first of a round fixes the shape for the others."""
        count, total = self.count + 1, self._total
        if count == 1:
            self._check_declared(gradient.shape)
            total = self._copied(gradient)
            self._total, self.count = total, count
            return
        if gradient.shape != total.shape:
            self._check_declared(gradient.shape)
            raise InvalidArgumentError(
                f"the gradients counted so far have shape {total.shape}, got one of shape {gradient.shape}"
            )
        if self._flushes and not is_jax(gradient):
            gradient = flush(gradient.copy())
        if self._flushes:
            flush(total)
        if isinstance(total, np.ndarray) and isinstance(gradient, np.ndarray):
            # Unpacking is no call: Ctrl-C, which strikes when one returns, cannot come between the addition and this.
            (self._total,) = map(self._add, (total,), (gradient,), (total,))
            self.count = count
            if self._flushes:
                flush(total)
            return
        with precision(self._sum_dtype):
            total = total if is_jax(total) else namespace(gradient).array(total)
            (self._total,) = map(_adding(), (total,), (gradient,))
            self.count = count

    def take(self) -> Array:
        """The sum leaves with its buffer; the next round starts in another."""
        total, count = self._total, self.count
        self._total, self.count = None, 0  # before the division in place, which must not be done twice
        try:
            value = self._reduced(total, count)
        except Exception:  # no memory
            self._total, self.count = total, count
            raise
        self._spare = None if is_jax(total) or total.nbytes < _LARGE else total
        return value

    def peek(self) -> tuple[Array, Array]:
        """Sum and mean so far."""
        return self._total.copy(), self._reduced(self._total.copy(), self.count)

    @quiet
    def _reduced(self, total: Array, count: int) -> Array:
        """The mean, or the sum as it is, in the accumulator's dtype; NumPy's is written over a sum of that dtype."""
        with precision(self._sum_dtype), precision(self._dtype):
            if self._is_mean:
                total = self._flushed(self._divided(self._flushed(total), self._sum_dtype.type(count)))
            return total if self._sum_dtype == self._dtype else total.astype(self._dtype)

    def _divided(self, total: Array, divisor: Any) -> Array:
        if is_jax(total):
            return total / namespace(total).asarray(divisor)
        return np.divide(total, divisor, out=total if self._sum_dtype == self._dtype else np.empty_like(total))

    def _flushed(self, x: Array) -> Array:
        return flush(x) if self._flushes else x

    def _copied(self, gradient: Array) -> Array:
        """The gradient's numbers in memory that nobody else has: its owner may write over it, or donate it."""
        if is_jax(gradient):
            with precision(self._sum_dtype):
                return namespace(gradient).array(gradient, self._sum_dtype, copy=True)
        kept, self._spare = [self._spare], None
        if kept[0] is None or kept[0].shape != gradient.shape or not is_ours(kept):
            return np.array(gradient, self._sum_dtype, order="C")
        kept[0].flags.writeable = True
        np.copyto(kept[0], gradient)
        return kept[0]

    def _check_declared(self, shape: tuple[int, ...]) -> None:
        if not is_compatible(shape, self._shape):
            raise InvalidArgumentError(
                f"the accumulator has shape {shown(self._shape)}, got a gradient of shape {shape}"
            )


@cache
def _adding() -> Callable[[Array, Array], Array]:
    """The sum in the buffer it has: getting another from the system costs more than the addition."""
    from ..._steps.jax import jax

    return jax.jit(lambda total, gradient: total + gradient.astype(total.dtype), donate_argnums=0)

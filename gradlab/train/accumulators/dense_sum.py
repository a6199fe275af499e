"""The sum of dense gradients, one after another, in one buffer."""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from ..._base.arrays import Array, flush, is_jax, namespace, precision, quiet
from ...errors import InvalidArgumentError
from ..buffers import is_ours
from .arguments import Shape, is_compatible, shown
from .machine import Waiter

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
        self._total: Any = None
        self._spare: np.ndarray | None = None  # the buffer handed out last, of use once its taker has let go of it

    def add(self, gradient: Array) -> None:
        """The first of a round fixes the shape for the others."""
        count, total = self.count + 1, self._total
        if count == 1:
            self._check_declared(gradient.shape)
            del total  # its buffer may be of use
            first = self._copied(gradient)
            self._total, self.count = first, count
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

    @property
    def round(self) -> tuple[Array, int]:
        return self._total, self.count

    def take(self) -> Array:
        """The sum stays in its buffer, for the next round if nothing holds it; the value has another."""
        spare = [self._spare]
        self._spare = None
        value = self._reduced(self._total, self.count, _let_go(spare, self._total.shape))
        self._spare = value if isinstance(value, np.ndarray) and value.nbytes >= _LARGE else None
        self.count = 0
        return value

    def restore(self, taker: Waiter) -> bool:
        total, count = taker.round
        if self.count and self._total.shape != total.shape:
            return False
        if self.count:
            with precision(self._sum_dtype), np.errstate(all="ignore"):
                total = self._flushed(total + self._total)
        self._total, self.count, taker.round = total, count + self.count, None
        return True

    def peek(self) -> tuple[Array, Array]:
        """Sum and mean so far."""
        return self._total.copy(), self._reduced(self._total.copy(), self.count)

    @quiet
    def _reduced(self, total: Array, count: int, buffer: np.ndarray | None = None) -> Array:
        """The mean, or a copy of the sum, in the accumulator's dtype; NumPy's is written to the buffer, if it fits."""
        with precision(self._sum_dtype), precision(self._dtype):
            if self._is_mean:
                total = self._flushed(self._divided(self._flushed(total), self._sum_dtype.type(count), buffer))
            elif isinstance(total, np.ndarray):
                total = _copied_to(buffer, total, self._dtype)
            return total if total.dtype == self._dtype else total.astype(self._dtype)

    def _divided(self, total: Array, divisor: Any, buffer: np.ndarray | None) -> Array:
        if isinstance(total, np.ndarray):
            mean: Array = np.divide(total, divisor, out=buffer if self._sum_dtype == self._dtype else None)
        else:
            mean = total / namespace(total).asarray(divisor)
        return mean

    def _flushed(self, x: Array) -> Array:
        return flush(x) if self._flushes else x

    def _copied(self, gradient: Array) -> Array:
        """The gradient's numbers in memory that nothing else has: its owner may write over it, or donate it."""
        if is_jax(gradient):
            with precision(self._sum_dtype):
                return namespace(gradient).array(gradient, self._sum_dtype, copy=True)
        last, self._total = [self._total], None
        buffer = _let_go(last, gradient.shape)
        return _copied_to(buffer, gradient, self._sum_dtype)

    def _check_declared(self, shape: tuple[int, ...]) -> None:
        if not is_compatible(shape, self._shape):
            raise InvalidArgumentError(
                f"the accumulator has shape {shown(self._shape)}, got a gradient of shape {shape}"
            )


def _let_go(kept: list[Any], shape: tuple[int, ...]) -> np.ndarray | None:
    """The one array in a list if nothing else holds it, and it is large and of this shape."""
    x = kept[0]
    fits = isinstance(x, np.ndarray) and x.nbytes >= _LARGE and x.shape == shape
    del x
    if not fits or not is_ours(kept):
        return None
    kept[0].flags.writeable = True
    found: np.ndarray = kept[0]
    return found


def _copied_to(buffer: np.ndarray | None, x: Array, dtype: np.dtype[Any]) -> np.ndarray:
    """A copy of this dtype, in the buffer if one is given."""
    if buffer is None or buffer.dtype != dtype:
        return np.array(x, dtype, order="C")
    np.copyto(buffer, x, casting="unsafe")
    return buffer


@cache
def _adding() -> Callable[[Array, Array], Array]:
    """The sum in the buffer it has: getting another from the system costs more than the addition."""
    from ..._base.jax import jax

    return jax.jit(lambda total, gradient: total + gradient.astype(total.dtype), donate_argnums=0)

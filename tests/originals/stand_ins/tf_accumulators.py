"""`tf.compat.v1.ConditionalAccumulator` in a Graph: what gradlab does at once is done when the node
is run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import gradlab as gl
from tests.originals.stand_ins import graph
from tests.originals.stand_ins.dtypes import numpy_dtype
from tests.originals.stand_ins.graph import Slices, Tensor, is_node, raw

WAITING: list[tuple[Any, Any]] = []  # accumulators and their takers
STRICT: list[str | None] = ["tf"]  # the mode of accumulators that are made now is the last


@contextlib.contextmanager
def default_mode() -> Iterator[None]:
    """Accumulators made in here are as gradlab makes them for everybody."""
    STRICT.append(None)
    try:
        yield
    finally:
        STRICT.pop()


class Accumulator:
    """Either kind of accumulator, in the mode that is on when it is made."""

    _KIND: Any = None

    def __init__(
        self,
        dtype: Any,
        shape: Any = None,
        shared_name: Any = None,
        name: Any = None,
        **options: Any,
    ) -> None:
        named = {} if name is None else {"name": name}
        shape = tuple(shape) if shape is not None else None
        options |= {"strict": STRICT[-1]}
        self._make = lambda: self._KIND(numpy_dtype(dtype), shape, **options)
        self._accumulator = self._KIND(numpy_dtype(dtype), shape, shared_name, **named, **options)
        self.name, self.dtype = self._accumulator.name, dtype

    @property
    def accumulator_ref(self) -> Tensor:
        return Tensor(lambda: None, self.name)

    def num_accumulated(self, name: Any = None) -> Any:
        return graph.deferred(self._accumulator.num_accumulated)

    def set_global_step(self, step: Any, name: Any = None) -> Any:
        return graph.deferred(lambda: self._accumulator.set_global_step(raw(step)))

    def take_grad(self, num_required: Any, name: Any = None) -> Any:
        return graph.deferred(lambda: self._taken(raw(num_required)))

    def _taken(self, num_required: Any) -> Any:
        taker = self._accumulator.request(num_required)
        WAITING.append((self._accumulator, taker))
        try:
            return taker.result()
        finally:
            WAITING.remove((self._accumulator, taker))

    def _applied(self, parts: Any, local_step: Any) -> Any:
        """A node; what is known is tried at once on an accumulator of its own, as TensorFlow looks
        at static shapes.
        """

        def apply(accumulator: Any) -> None:
            accumulator.apply_grad(*map(raw, parts), local_step=raw(local_step))

        if not is_node(parts) and self._tries:
            apply(self._make())
        return graph.deferred(lambda: apply(self._accumulator))

    _tries = True


class ConditionalAccumulator(Accumulator):
    """The dense one."""

    _KIND = gl.ConditionalAccumulator

    def apply_grad(self, grad: Any, local_step: Any = 0, name: Any = None) -> Any:
        return self._applied([grad], local_step)


class SparseConditionalAccumulator(Accumulator):
    """The sparse one, whose shapes TensorFlow looks at when it runs."""

    _KIND = gl.SparseConditionalAccumulator
    _tries = False

    def apply_grad(
        self,
        grad_indices: Any,
        grad_values: Any,
        grad_shape: Any = None,
        local_step: Any = 0,
        name: Any = None,
    ) -> Any:
        return self._applied([grad_indices, grad_values, grad_shape], local_step)

    def apply_indexed_slices_grad(self, grad: Slices, local_step: Any = 0, name: Any = None) -> Any:
        return self._applied([grad.indices, grad.values, grad.dense_shape], local_step)

    def take_indexed_slices_grad(self, num_required: Any, name: Any = None) -> Any:
        taken = self.take_grad(num_required)
        return Slices(
            Tensor(lambda: raw(taken).values),
            Tensor(lambda: raw(taken).indices),
            Tensor(lambda: raw(taken).shape),
        )


def cancel_all() -> None:
    """What closing a session does to those who wait."""
    for accumulator, taker in WAITING.copy():
        accumulator.cancel(taker)


graph.ON_CLOSE.append(cancel_all)
ACCUMULATORS = {
    "ConditionalAccumulator": ConditionalAccumulator,
    "SparseConditionalAccumulator": SparseConditionalAccumulator,
}

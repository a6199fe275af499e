"""The last rows of a recording, in variables of a Keras 3 optimizer: whatever runs its step carries them along."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..record.layout import Layout
from ..record.measure import BINS, EXPONENT_BIAS, LOWEST, well_inside

Tensor = Any


class Ring:
    """Room for `size` rows on the device; row number n is at n % size.

    Args:
        optimizer: a built Keras 3 optimizer, which gets three variables more until `remove`.
        layout: the tensors and their sampled entries.
    """

    def __init__(self, optimizer: Any, layout: Layout, size: int) -> None:
        import keras

        self._keras, self._ops, self._layout, self._size = keras, keras.ops, layout, size
        self._slots = -(-size // layout.histogram_every) + 1
        tensors, width = len(layout.names), 3 * len(layout.names) + len(layout.sampled[0])
        add = functools.partial(optimizer.add_variable, initializer="zeros")
        self._at = add((), dtype="int32", name="recorded")
        self._update = add((size,), dtype="int32", name="recorded_update")
        self._rows = add((size, width), dtype="float32", name="recorded_rows")
        self._counts = add((self._slots, tensors, BINS), dtype="int32", name="recorded_counts")
        self.variables = (self._at, self._update, self._rows, self._counts)
        self.taken = 0

    def append(self, grads: Sequence[Tensor | None], update: Tensor) -> None:
        """One row more, in the traced step, for update number `update`; None is a gradient that is not there."""
        ops, every, at = self._ops, self._layout.histogram_every, self._at.value
        flat = [self._flat(g, size) for g, size in zip(grads, self._layout.sizes, strict=True)]
        entries = [ops.take(g, p) for g, p in zip(flat, self._layout.places, strict=True)]
        row = ops.concatenate([*self._numbers(flat), *entries])
        _put(self._rows, at % self._size, row)
        _put(self._update, at % self._size, ops.cast(update, "int32"))
        slot = (at // every) % self._slots
        counts = _choose(
            ops.equal(at % every, 0),
            lambda: ops.stack([self._histogram(g) for g in flat]),
            lambda: self._counts.value[slot],
        )
        _put(self._counts, slot, counts)
        self._at.assign(at + 1)

    def take(self) -> dict[str, np.ndarray]:
        """The rows since the last time, as `Recorder.extend` takes them, and "update": the number of each."""
        at, update, rows, counts = (v.numpy() for v in self.variables)
        number, every = np.arange(self.taken, int(at)), self._layout.histogram_every
        self.taken = int(at)
        norm, largest, nonfinite, entry = np.split(
            rows[number % self._size], np.arange(1, 4) * len(self._layout.names), axis=1
        )
        counted = (number % every == 0)[:, None, None]
        histogram = np.where(counted, counts[number // every % self._slots], 0)
        columns = {"norm": norm, "largest": largest, "nonfinite": nonfinite, "entry": entry, "histogram": histogram}
        return {**columns, "update": update[number % self._size]}

    def _flat(self, g: Tensor | None, size: int) -> Tensor:
        ops = self._ops
        if g is None:
            return ops.zeros((size,), "float32")
        return ops.cast(ops.reshape(ops.convert_to_tensor(g), (-1,)), "float32")

    def _numbers(self, flat: Sequence[Tensor]) -> Sequence[Tensor]:
        """Norms, largest entries and counts of what is not finite: the plain way, and with care where needed."""
        ops = self._ops
        squares = ops.stack([ops.sum(g * g) for g in flat])
        largest = ops.stack([ops.maximum(ops.max(g), -ops.min(g)) for g in flat])
        fine = ops.logical_or(well_inside(squares), ops.equal(largest, 0))
        return ops.unstack(
            _choose(
                ops.all(fine),
                lambda: ops.stack([ops.sqrt(squares), largest, ops.zeros_like(squares)]),
                lambda: ops.stack([ops.stack(column) for column in zip(*map(self._careful, flat), strict=True)]),
            ),
            3,
        )

    def _careful(self, g: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """As `gradlab.record.measure.careful` has it."""
        ops = self._ops
        size = ops.abs(g)
        finite = ops.isfinite(size)
        largest = ops.max(ops.where(finite, size, 0.0))
        unit = ops.where(largest > 0, largest, 1.0)
        return unit * ops.sqrt(ops.sum((size / unit) ** 2)), largest, ops.sum(ops.cast(~finite, "float32"))

    def _histogram(self, g: Tensor) -> Tensor:
        """As `gradlab.record.measure.histogram` has it."""
        ops = self._ops
        exponent = _bits(ops.abs(g)) // 2**23
        counted = ops.cast(exponent < 2 * EXPONENT_BIAS + 1, "int32")
        return ops.segment_sum(counted, ops.clip(exponent - (EXPONENT_BIAS + LOWEST), 0, BINS - 1), num_segments=BINS)


def _choose(flag: Tensor, yes: Callable[[], Tensor], no: Callable[[], Tensor]) -> Tensor:
    """`cond`, but by Python where the step is not traced: JAX would compile both sides at each step there."""
    import keras

    try:
        return yes() if bool(flag) else no()
    except TypeError:  # of tracers and symbolic tensors
        return keras.ops.cond(flag, yes, no)


def _bits(g: Tensor) -> Tensor:
    """The bits of float32 numbers, as int32."""
    import keras

    match keras.backend.backend():
        case "tensorflow":
            import tensorflow

            return tensorflow.bitcast(g, tensorflow.int32)
        case "torch":
            import torch

            return g.view(torch.int32)
    return g.view(np.int32)


def _put(variable: Any, at: Tensor, row: Tensor) -> None:
    """variable[at] = row, without a copy of the others where the backend can."""
    import keras

    match keras.backend.backend():
        case "tensorflow":
            import tensorflow

            variable.value.scatter_update(tensorflow.IndexedSlices(row, at))
        case "torch":
            variable.value[at] = row
        case _:
            variable.assign(variable.value.at[at].set(row))

"""The ring on the device that takes the last steps of a Keras 3 optimizer.

It is variables of the optimizer, so that whatever runs its step carries them along; they are never
saved.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....errors import RecordingWarning, warn
from ...analysis.noise import SCALARS
from ...columns import Layout
from ...measure import BINS, bin_of, careful, well_inside
from ...store import split_rows
from ...updates import gap_at

Tensor = Any
# Of a step beside its tensors; the last is the norm of its micro-batches.
_MARKS = ("scale", "skipped", SCALARS[0])


class Ring:
    """Room for `size` steps on the device, and for the losses of as many batches; number n is at n % size.

    Args:
        optimizer: a built Keras 3 optimizer, which gets some variables more until the tap takes
            them off.
        layout: the tensors and their sampled entries.
        weights: whether there is room for norms of weights and updates.
        micro_batches: of how many micro-batches the noise is measured, 0 for none.
    """

    def __init__(
        self,
        optimizer: Any,
        layout: Layout,
        size: int,
        weights: bool = False,
        micro_batches: int = 0,
    ) -> None:
        import keras

        self._ops = keras.ops
        self._layout = layout
        self._size = size
        self._slots = -(-size // layout.histogram_every) + 1
        tensors, width = (
            len(layout.names),
            3 * len(layout.names) + len(_MARKS) + len(layout.sampled[0]),
        )
        # Replicas write them together, once, so that the copy of the first is as good as any.
        add = functools.partial(
            optimizer.add_variable, initializer="zeros", aggregation="only_first_replica"
        )
        self._at = add((), dtype="int32", name="recorded")
        self._before = add((size,), dtype="int32", name="recorded_before")
        self._steps = add((size, width), dtype="float32", name="recorded_steps")
        self._counts = add((self._slots, tensors, BINS), dtype="int32", name="recorded_counts")
        self._batches = add((), dtype="int32", name="recorded_batches")
        self._losses = add((size,), dtype="float32", name="recorded_losses")
        self._moves = (
            add((size, 2, tensors), dtype="float32", name="recorded_moves") if weights else None
        )
        self._squares = add((), dtype="float32", name="recorded_squares") if micro_batches else None
        self._micro = micro_batches
        always = (self._at, self._before, self._steps, self._counts, self._batches, self._losses)
        self.variables = (*always, *(v for v in (self._moves, self._squares) if v is not None))
        self.taken = self._read = 0

    def append(
        self, grads: Sequence[Tensor | None], before: Tensor, scale: Any, skipped: bool
    ) -> None:
        """One step more, where it is traced; None is a gradient that is not there.

        Args:
            before: how many batches the optimizer had taken before this step's last one.
            scale: the loss scale, NaN for none.
            skipped: whether the step changed nothing.
        """
        ops, every, at = self._ops, self._layout.histogram_every, self._at.value
        flat = [self._flat(g, size) for g, size in zip(grads, self._layout.sizes, strict=True)]
        entries = [ops.take(g, p) for g, p in zip(flat, self._layout.places, strict=True)]
        marks = ops.stack(
            [ops.cast(scale, "float32"), ops.cast(skipped, "float32"), self._micro_norm(skipped)]
        )
        _put(self._steps, at % self._size, ops.concatenate([*self._numbers(flat), marks, *entries]))
        _put(self._before, at % self._size, ops.cast(before, "int32"))
        slot = (at // every) % self._slots
        counts = _choose(
            ops.equal(at % every, 0),
            lambda: ops.stack([self._histogram(g) for g in flat]),
            lambda: _taken(self._counts, slot),
        )
        _put(self._counts, slot, counts)
        if self._moves is not None:
            _put(self._moves, at % self._size, ops.zeros_like(_taken(self._moves, 0)))
        self._at.assign(at + 1)

    def add_micro_batch(self, grads: Sequence[Tensor | None]) -> None:
        """Note the norm of one micro-batch's gradient, where it is traced."""
        ops = self._ops
        if self._squares is not None:
            there = [
                (g, size)
                for g, size in zip(grads, self._layout.sizes, strict=True)
                if g is not None
            ]
            norms = [careful(self._flat(g, size), ops)[0] for g, size in there]
            self._squares.assign(self._squares.value + ops.sum(ops.stack(norms) ** 2))

    def _micro_norm(self, skipped: bool) -> Tensor:
        """The root of the mean square of the micro-batches since the last step, which are none from
        here on.
        """
        ops = self._ops
        if self._squares is None or skipped:
            return ops.convert_to_tensor(np.float32(np.nan))
        found = ops.sqrt(self._squares.value / self._micro)
        self._squares.assign(0 * self._squares.value)
        return found

    def weights(self, variables: Sequence[Any]) -> Sequence[Tensor] | None:
        """The weights before a step, to give to `move`; None where that will not want them."""
        return None if self._moves is None else [self._ops.copy(v) for v in variables]

    def move(self, before: Sequence[Tensor] | None, variables: Sequence[Any]) -> None:
        """Record the norms of the last update and of the weights before it, where they are traced."""
        if before is None or self._moves is None:
            return
        ops, every, last = self._ops, self._layout.histogram_every, self._at.value - 1
        place, sizes = last % self._size, self._layout.sizes
        now = _taken(self._moves, place)

        def norms() -> Tensor:
            own, after = (
                [self._flat(x, n) for x, n in zip(xs, sizes, strict=True)]
                for xs in (before, variables)
            )
            change = [a - b for a, b in zip(after, own, strict=True)]
            rows = [ops.stack([careful(x, ops)[0] for x in some]) for some in (own, change)]
            return ops.where(ops.any(rows[1] != 0), ops.stack(rows), now)

        is_due = ops.equal(last % gap_at(last, every, ops.where), 0)
        _put(self._moves, place, _choose(is_due, norms, lambda: now))

    def note(self, loss: Tensor | float) -> None:
        """The loss of one batch more, NaN where it is not known, where its step is traced."""
        at = self._batches.value
        _put(self._losses, at % self._size, self._ops.cast(loss, "float32"))
        self._batches.assign(at + 1)

    def losses(self) -> list[float]:
        """Return those of the batches since the last time."""
        batches, found = int(self._batches.numpy()), self._losses.numpy()
        numbers = np.arange(self._read, batches)
        self._read = batches
        kept: list[float] = np.where(
            numbers >= batches - self._size, found[numbers % self._size], np.nan
        ).tolist()
        return kept

    def drain(self) -> dict[str, np.ndarray]:
        """The steps since the last time, as `Recorder.extend` takes them, and "before" of each.

        And "moved" (n, 2, tensors), norms of weights and updates, 0 where they were not measured.
        """
        at, before, numbers, counts = (
            v.numpy() for v in (self._at, self._before, self._steps, self._counts)
        )
        first = max(self.taken, int(at) - self._size)
        if lost := first - self.taken:
            warn(
                f"{lost} steps were not recorded: more than {self._size} came at once; give "
                "record a higher every",
                RecordingWarning,
            )
        number, every = np.arange(first, int(at)), self._layout.histogram_every
        self.taken = int(at)
        place = number % self._size
        columns = split_rows(numbers[place], len(self._layout.names), _MARKS)
        counted = (number % every == 0)[:, None, None]
        columns["histogram"] = np.where(counted, counts[number // every % self._slots], 0)
        columns["before"] = before[place]
        if self._moves is not None:
            columns["moved"] = self._moves.numpy()[place]
        if self._micro:
            columns[SCALARS[1]] = np.full(len(number), self._micro)
        else:
            del columns[SCALARS[0]]
        return columns

    def _flat(self, g: Tensor | None, size: int) -> Tensor:
        ops = self._ops
        if g is None:
            return ops.zeros((size,), "float32")
        return ops.cast(ops.reshape(ops.convert_to_tensor(g), (-1,)), "float32")

    def _numbers(self, flat: Sequence[Tensor]) -> Sequence[Tensor]:
        """Norms, largest entries and counts of what is not finite: the plain way, and with care
        where needed.
        """
        ops = self._ops
        squares = ops.stack([ops.sum(g * g) for g in flat])
        largest = ops.stack([ops.maximum(ops.max(g), -ops.min(g)) for g in flat])
        fine = ops.logical_or(well_inside(squares), ops.equal(largest, 0))

        def with_care() -> Tensor:
            columns = zip(*(careful(g, ops) for g in flat), strict=True)
            return ops.stack([ops.cast(ops.stack(column), "float32") for column in columns])

        numbers: Sequence[Tensor] = ops.unstack(
            _choose(
                ops.all(fine),
                lambda: ops.stack([ops.sqrt(squares), largest, ops.zeros_like(squares)]),
                with_care,
            ),
            3,
        )
        return numbers

    def _histogram(self, g: Tensor) -> Tensor:
        """Compute what `gradlab.record.measure.histogram` does."""
        ops = self._ops
        exponent = _bits(ops.abs(g)) // 2**23
        counted = ops.cast(exponent < 255, "int32")
        return ops.segment_sum(counted, bin_of(exponent, ops), num_segments=BINS)


def backend() -> str:
    """The name of the backend that Keras was imported with."""
    import keras

    return str(keras.backend.backend())


def _choose(flag: Tensor, yes: Callable[[], Tensor], no: Callable[[], Tensor]) -> Tensor:
    """`cond`, but by Python where the step is not traced: JAX would compile both sides at each step
    there.
    """
    import keras

    try:
        return yes() if bool(flag) else no()
    except TypeError:  # of tracers and symbolic tensors
        return keras.ops.cond(flag, yes, no)


def _bits(g: Tensor) -> Tensor:
    """The bits of float32 numbers, as int32."""
    match backend():
        case "tensorflow":
            import tensorflow

            return tensorflow.bitcast(g, tensorflow.int32)
        case "torch":
            import torch

            return g.view(torch.int32)
    return g.view(np.int32)


def _taken(variable: Any, at: Tensor) -> Tensor:
    """variable[at], gathered: where a slice begins must be constant for TensorFlow's XLA, which
    compiled each step.
    """
    import keras

    return keras.ops.take(variable.value, at, axis=0)


def _put(variable: Any, at: Tensor, x: Tensor) -> None:
    """variable[at] = x, without a copy of the others where the backend can."""
    match backend():
        case "tensorflow":
            import tensorflow

            variable.value.scatter_update(tensorflow.IndexedSlices(x, at))
        case "torch":
            variable.value[at] = x
        case _:
            variable.assign(variable.value.at[at].set(x))

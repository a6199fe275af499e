"""A tap on a Keras 3 optimizer, where its gradients are about to be clipped, and the ring that takes the last steps.

The ring is variables of the optimizer, so that whatever runs its step carries them along; they are never saved.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..record.layout import Layout
from ..record.measure import BINS, EXPONENT_BIAS, LOWEST, well_inside

Tensor = Any

# Keras's private parts: nothing public takes a variable off an optimizer, or sees the mean of micro-batches.
TRACKS = ("_track_variable", "_untrack_variable")
ACCUMULATES = ("_backend_apply_gradients", "_clip_gradients")
KNOWN = "Keras 3.15"  # has all of them


def check_optimizer(optimizer: Any) -> None:
    """Refuse an optimizer of a Keras that lacks what a tap needs, before anything of it is changed.

    Raises NotImplementedError.
    """
    accumulates = bool(optimizer.gradient_accumulation_steps)
    needed = TRACKS + (ACCUMULATES if accumulates else ())
    if missing := [name for name in needed if not hasattr(optimizer, name)]:
        instead = "leave out gradient_accumulation_steps" if missing[0] in ACCUMULATES else "write the loop yourself"
        raise NotImplementedError(
            f"gl.keras.record needs {' and '.join(missing)}, which this version of Keras does not have for "
            f"{type(optimizer).__name__}; use {KNOWN}, or {instead}"
        )


class Tap:
    """Wraps methods of one optimizer, not of its class; `close` leaves it as it was.

    Args:
        outer: the model's optimizer. inner: the one in it that clips and steps, the same but for LossScaleOptimizer.
        variables: all that are trained. ring: gets a step for each update.
    """

    def __init__(self, outer: Any, inner: Any, variables: Sequence[Any], ring: Ring) -> None:
        if previous := vars(inner).get("_gradlab_tap"):  # of a fit that did not end
            previous.close()
        self._inner, self._variables, self._ring = inner, variables, ring
        self._present: Sequence[Any] = ()  # the variables whose gradients are on their way to the clip
        means = zip(ACCUMULATES, (self._backend_apply, self._clip), strict=True)
        steps = means if inner.gradient_accumulation_steps else [("apply", self._apply)]
        self._wrapped = [
            *((inner, name, wrap) for name, wrap in steps),
            (outer, "save_own_variables", self._without_ring),
            (outer, "load_own_variables", self._without_ring),
        ]
        for owner, name, wrap in self._wrapped:
            vars(owner)[name] = wrap(getattr(owner, name))
        vars(inner)["_gradlab_tap"] = self

    def close(self) -> None:
        """Take the wrappers and the ring's variables off."""
        for owner, name, _ in self._wrapped:
            vars(owner).pop(name, None)
        vars(self._inner).pop("_gradlab_tap", None)
        self._untrack()

    def _apply(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def apply(grads: Sequence[Tensor | None], trainable_variables: Sequence[Any] | None = None) -> Any:
            variables = self._variables if trainable_variables is None else trainable_variables
            left = [self._unscaled(g, v) for g, v in zip(grads, variables, strict=True)]
            if any(g is not None for g in left):
                self._append(left, variables)
            return original(grads, trainable_variables)

        return apply

    def _unscaled(self, g: Tensor | None, variable: Any) -> Tensor | None:
        """Return what Keras clips of a gradient: nothing of one that takes the place of its variable (float8)."""
        if g is None or getattr(variable, "overwrite_with_gradient", False):
            return None
        scale = self._inner.loss_scale_factor
        return g if scale is None else g / scale

    def _backend_apply(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def apply(grads: Sequence[Tensor], variables: Sequence[Any]) -> Any:
            self._present = variables
            return original(grads, variables)

        return apply

    def _clip(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def clip(grads: Sequence[Tensor]) -> Any:
            self._append(grads, self._present)
            return original(grads)

        return clip

    def _append(self, grads: Sequence[Tensor | None], variables: Sequence[Any]) -> None:
        from keras import ops

        found = {id(_bare(v)): g for v, g in zip(variables, grads, strict=True)}
        in_order = [found.get(id(_bare(v))) for v in self._variables]
        self._ring.append(in_order, ops.convert_to_tensor(self._inner.iterations))

    def _without_ring(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def with_store(store: Any) -> None:
            self._untrack()
            try:
                original(store)
            finally:
                for v in self._ring.variables:
                    self._inner._track_variable(v)

        return with_store

    def _untrack(self) -> None:
        for v in self._ring.variables:
            self._inner._untrack_variable(v)


def _bare(variable: Any) -> Any:
    """TensorFlow's own variable of a Keras variable, which optimizers are given by either name."""
    return getattr(variable, "value", variable) if hasattr(variable, "path") else variable


class Ring:
    """Room for `size` steps on the device; step number n is at n % size.

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
        self._steps = add((size, width), dtype="float32", name="recorded_steps")
        self._counts = add((self._slots, tensors, BINS), dtype="int32", name="recorded_counts")
        self.variables = (self._at, self._update, self._steps, self._counts)
        self.taken = 0

    def append(self, grads: Sequence[Tensor | None], update: Tensor) -> None:
        """One step more, where it is traced, for update number `update`; None is a gradient that is not there."""
        ops, every, at = self._ops, self._layout.histogram_every, self._at.value
        flat = [self._flat(g, size) for g, size in zip(grads, self._layout.sizes, strict=True)]
        entries = [ops.take(g, p) for g, p in zip(flat, self._layout.places, strict=True)]
        _put(self._steps, at % self._size, ops.concatenate([*self._numbers(flat), *entries]))
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
        """The steps since the last time, as `Recorder.extend` takes them, and "update": the number of each."""
        at, update, numbers, counts = (v.numpy() for v in self.variables)
        number, every = np.arange(self.taken, int(at)), self._layout.histogram_every
        self.taken = int(at)
        norm, largest, nonfinite, entry = np.split(
            numbers[number % self._size], np.arange(1, 4) * len(self._layout.names), axis=1
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
        numbers: Sequence[Tensor] = ops.unstack(
            _choose(
                ops.all(fine),
                lambda: ops.stack([ops.sqrt(squares), largest, ops.zeros_like(squares)]),
                lambda: ops.stack([ops.stack(column) for column in zip(*map(self._careful, flat), strict=True)]),
            ),
            3,
        )
        return numbers

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


def _put(variable: Any, at: Tensor, x: Tensor) -> None:
    """variable[at] = x, without a copy of the others where the backend can."""
    import keras

    match keras.backend.backend():
        case "tensorflow":
            import tensorflow

            variable.value.scatter_update(tensorflow.IndexedSlices(x, at))
        case "torch":
            variable.value[at] = x
        case _:
            variable.assign(variable.value.at[at].set(x))

"""Record what the gradients of a training run looked like, and ask what a clip would have done to them."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from .._base.arrays import Array, as_array
from .._base.errors import InvalidArgumentError
from .._base.tree import named_leaves
from . import file, merge, traced
from .buckets import COLUMNS
from .eager import Part, Waiting
from .layout import Layout
from .measure import flat, histogram
from .merge import Columns, from_steps
from .recording import Recording

if TYPE_CHECKING:
    import jax


class Recorder(Recording):
    """Norm, largest entry, non-finite count and some single entries of every gradient of a run of any length.

        norm[t, k] = |g_k| at step t,  histogram[t, k, b] = number of entries with floor(log2|g|) = b - 32

    A bucket is a stretch of consecutive steps, of one at first. When all are full, every two neighbors are merged, and
    `stride`, the steps of a bucket, doubles. No extreme is lost: columns are `norm` and `norm_low`, (buckets, tensors),
    the largest and smallest norm of the steps in it, `largest`, max |entry|, `nonfinite`, a sum, `square` and `entry`,
    (buckets, entries), sum of g*g and the first g of sampled entries, `seconds` and scalars such as `loss`, (buckets,),
    means. How often limits fire is counted for all steps.

    Args:
        steps: buckets to keep.
        entries: how many single entries to follow, spread over all tensors; at least one of each, unless 0.
        histogram_every: every so many steps all entries are counted by size, 1 for all; as many buckets share them.

    Eager: `rec.record(grads, loss=loss)` each step, with any tree of arrays, or a list of (gradient, variable) pairs.
    Inside `jit` or `scan`: `state = rec.init(grads, loss=0.0)`, then `state = rec.update(state, grads, loss=loss)` in
    the traced step, and `rec = rec.absorb(state)` at the end; no callback leaves the device. Donate the state.

    Raises:
        ValueError: steps < 1; a later step has other tensors; nothing recorded yet; a scalar that is a vector.
        TypeError: a scalar that is no number.

    Not in TensorFlow.

    >>> rec = Recorder(steps=10)
    >>> for scale in (1.0, 2.0, 10.0):
    ...     rec.record({"w": np.array([3.0, 4.0]) * scale}, loss=scale)
    >>> rec.global_norm.tolist(), rec.what_if(clip_global_norm=8.0).fired.tolist()
    ([5.0, 10.0, 50.0], [False, True, True])
    >>> import jax
    >>> rec = Recorder(steps=10)
    >>> step = jax.jit(lambda state, g: rec.update(state, {"w": g}, loss=g.sum()), donate_argnums=0)
    >>> state = rec.init({"w": np.ones(2)}, loss=0.0)
    >>> for scale in (1.0, 2.0):
    ...     state = step(state, np.array([3.0, 4.0]) * scale)
    >>> rec = rec.absorb(state)
    >>> rec
    <gradlab.Recorder: 2 steps of w and loss>
    """

    def __init__(self, steps: int = 1000, *, entries: int = 512, histogram_every: int = 64) -> None:
        for name, value, least in (
            ("steps", steps, 1),
            ("entries", entries, 0),
            ("histogram_every", histogram_every, 1),
        ):
            if value < least:
                raise ValueError(f"{name} must be >= {least}, got {value}")
        super().__init__(int(steps), int(entries), int(histogram_every))
        self._clock: float | None = None  # when the last step was recorded
        self._waiting: Waiting | None = None

    def prepare(self, shapes: Mapping[str, Sequence[int]], scalars: Sequence[str] = ()) -> None:
        """Settle the tensors, name -> shape, and the scalars' names, as the first step does otherwise.

        >>> rec = Recorder(entries=3)
        >>> rec.prepare({"w": (4, 5), "b": (5,)}, ["loss"])
        >>> [rec.entry_name(k) for k in range(3)], rec.sampled[0].tolist()
        (['w[0, 0]', 'w[3, 1]', 'b[0]'], [0, 0, 1])
        """
        layout = self._layout_of(tuple(shapes), tuple(tuple(map(int, s)) for s in shapes.values()), tuple(scalars))
        if self._layout is None:
            self._layout, self._data = layout, layout.empty()

    def record(self, grads: Any, **scalars: float) -> None:
        """Add one step. `scalars`, such as loss=..., are kept as float32."""
        tensors = [np.asarray(g) for g in self._prepare(grads, scalars)]
        now, before = time.perf_counter(), self._clock
        seconds = np.nan if before is None else now - before
        numbers = [seconds, *(float(scalars.get(name, np.nan)) for name in self.scalars)]
        parts = self._room().parts({k: flat(g) for k, g in enumerate(tensors)})
        self._add(parts, numbers, np.stack([histogram(g) for g in tensors]) if self._counts_next() else None)
        self._clock = now

    def _room(self) -> Waiting:
        """Where steps wait."""
        if self._waiting is None:
            self._waiting = Waiting(self.layout)
        return self._waiting

    def _counts_next(self) -> bool:
        """Whether all entries of the step to come are counted by size."""
        return bool((vars(self)["seen"] + len(self._room())) % self.histogram_every == 0)

    def _add(self, parts: Sequence[Part], scalars: Sequence[float], counts: np.ndarray | None) -> None:
        """One step more, as `Waiting` has it; the counts of its entries if they are due."""
        waiting = self._room()
        if counts is not None:
            self._settle()
        waiting.add(parts, scalars)
        if counts is not None:
            self._settle(counts[None])
        elif waiting.full:
            self._settle()

    def _settle(self, counts: np.ndarray | None = None) -> None:
        if self._waiting:
            self._append(self._waiting.take(vars(self)["seen"]), counts)

    def __getstate__(self) -> dict[str, Any]:
        _ = self._data  # reading it puts in what waits
        return {**vars(self), "_waiting": None, "_elsewhere": None}

    def state_dict(self) -> dict[str, Any]:
        """The layout and the columns, for `gl.save`; what a recorder made with the same arguments can go on from.

        Not in TensorFlow.

        >>> rec, later = Recorder(3), Recorder(3)
        >>> rec.record([np.ones(4)])
        >>> later.load_state_dict(rec.state_dict())
        >>> later.record([np.zeros(4)])
        >>> later.global_norm.tolist()
        [2.0, 0.0]
        """
        made, data = self._made_with(), {name: x.copy() for name, x in self._data.items()}
        steps = {"seen": self.seen, "stride": self.stride}
        if self._layout is None:
            return {"made with": made, "layout": None, "columns": data, **steps}
        return {"made with": made, "layout": file.vars_of(self._layout), "columns": data, **steps}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what `state_dict` gave, in place of all that was recorded; ValueError, and no change, unless it
        is of a recorder made with the same arguments.
        """
        self._loading(state)()

    def _loading(self, state: Mapping[str, Any], variables: Any = None) -> Callable[[], None]:
        """Check a state; what is returned takes it over."""
        if not isinstance(state, Mapping) or not {"made with", "layout", "columns", "seen", "stride"} <= set(state):
            raise InvalidArgumentError("this is not the state of a recorder")
        if (made := dict(state["made with"])) != self._made_with():
            raise InvalidArgumentError(f"the recorder was made with {made}, this one with {self._made_with()}")
        layout, seen, stride = file.layout_of(state["layout"]), int(state["seen"]), int(state["stride"])
        data = {name: np.array(x) for name, x in state["columns"].items()}
        expected = {} if layout is None else layout.empty()
        if {k: (x.shape, x.dtype) for k, x in data.items()} != {k: (x.shape, x.dtype) for k, x in expected.items()}:
            raise InvalidArgumentError("the columns of the recorder are not those of its layout")
        if stride < 1 or not 0 <= seen <= stride * self.capacity:
            raise InvalidArgumentError(f"{seen} steps do not fit into {self.capacity} buckets of {stride}")

        def commit() -> None:
            self._waiting, self._layout, self._clock = None, layout, None
            self._data, self.seen, self.stride = data, seen, stride

        return commit

    def _made_with(self) -> dict[str, int]:
        return {"steps": self.capacity, "entries": self.entries, "histogram_every": self.histogram_every}

    def _to_save(self, variables: Any = None) -> dict[str, Any]:
        return self.state_dict()

    def extend(self, columns: Mapping[str, Any]) -> None:
        """Add n steps at once, measured elsewhere, after `prepare`.

        Args:
            columns: "norm", "largest", "nonfinite" (n, tensors), "entry" (n, entries) of the entries `sampled` names;
                and where known "seconds" and scalars (n,), "histogram" (n, tensors, 64), 0 where it was not counted.

        Raises ValueError: `prepare` comes first; a column is missing, unknown, or of another shape.

        >>> rec = Recorder(steps=10, entries=0)
        >>> rec.prepare({"w": (2,)})
        >>> rec.extend({"norm": [[5.0], [10.0]], "largest": [[4.0], [8.0]], "nonfinite": [[0], [0]]})
        >>> rec.global_norm.tolist()
        [5.0, 10.0]
        """
        given = merge.checked(columns, self.layout)
        n = len(given["norm"])
        step = np.arange(self.seen, self.seen + n, dtype=np.int32)
        steps = from_steps(step, *(given[c] for c in ("norm", "largest", "nonfinite", "entry", "scalars")))
        self._append(steps, given.get("histogram"))

    def _append(self, steps: Columns, counts: np.ndarray | None) -> None:
        done, n = 0, len(steps["peak"])
        while done < n:
            if self.seen == self.capacity * self.stride:
                merge.halve(self._data)
                self.stride *= 2
            some = slice(done, done + min(n - done, self.capacity * self.stride - self.seen))
            merge.put(self._data, {name: x[some] for name, x in steps.items()}, self.seen, self.stride)
            if counts is not None:
                merge.put_counts(self._data["histogram"], counts[some], self.seen, self.histogram_every * self.stride)
            self.seen += some.stop - some.start
            done = some.stop

    def init(self, grads: Any, **scalars: Any) -> dict[str, jax.Array]:
        """The state that `update` carries through traced code; `grads` and `scalars` show the shapes only."""
        self._prepare(grads, scalars)
        return traced.init(self._data, self.seen, self.stride)

    def update(self, state: Mapping[str, jax.Array], grads: Any, **scalars: Any) -> dict[str, jax.Array]:
        """A new state with one step more. Pure."""
        return traced.update(self.layout, state, self._prepare(grads, scalars), scalars)

    def absorb(self, state: Mapping[str, jax.Array]) -> Recorder:
        """A recorder with what a traced run has recorded; this one stays as it is, ready for another run."""
        recorder = copy.copy(self)
        recorder._data, recorder.seen, recorder.stride = traced.columns(self.layout, state)
        recorder._clock = None
        return recorder

    def _prepare(self, grads: Any, scalars: Mapping[str, Any]) -> list[Array]:
        tensors = dict(named_leaves(grads))
        for name, x in scalars.items():
            if not isinstance(x, float) and (shape := tuple(as_array(x, name).shape)):
                raise InvalidArgumentError(f"{name} must be one number for each step, got shape {shape}; give its mean")
        shapes, own = {name: g.shape for name, g in tensors.items()}, self._layout
        if own is None or tuple(shapes.items()) != own.items or own.scalars != tuple(scalars):
            self.prepare(shapes, tuple(scalars))
        return list(tensors.values())

    def _layout_of(
        self, names: tuple[str, ...], shapes: tuple[tuple[int, ...], ...], scalars: tuple[str, ...]
    ) -> Layout:
        """The layout of these, or ValueError where they do not fit the one that is there."""
        if not names:
            raise ValueError("there is no gradient to record: every entry is None, or the tree is empty")
        if taken := sorted(COLUMNS & set(scalars)):
            raise ValueError(f"{', '.join(taken)} cannot be the name of a scalar; call it something else")
        layout = Layout(names, shapes, scalars, self.capacity, self.entries, self.histogram_every)
        if (own := self._layout) is None:
            return layout
        if (names, layout.sizes) != (own.names, own.sizes) or not set(scalars) <= set(own.scalars):
            raise ValueError(
                f"this recorder holds tensors {own.names} of sizes {own.sizes} and scalars {own.scalars}; "
                f"this step has {names} of sizes {layout.sizes} and {scalars}. Give init and the first step all of them"
            )
        return own

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Recorder:
        """Read what `save` wrote; ValueError if it is something else.

        >>> import tempfile, os
        >>> rec = Recorder(3); rec.record([np.ones(4)])
        >>> with tempfile.TemporaryDirectory() as d:
        ...     rec.save(os.path.join(d, "run.npz"))
        ...     Recorder.load(os.path.join(d, "run.npz")).global_norm.tolist()
        [2.0]
        """
        layout, data, seen, stride = file.load(path)
        rec = cls(layout.capacity, entries=layout.entries, histogram_every=layout.histogram_every)
        rec._layout, rec._data, rec.seen, rec.stride = layout, data, seen, stride
        return rec

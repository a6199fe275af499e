"""The recorder: it adds steps to a recording, eager and traced, saves it, and sends it on.

A `Recorder` has a `store` of columns, a `sampler` of weights and updates, `listeners` that follow
the run, such as files and streams, and perhaps an `attachment`: a training loop in which steps wait
until the recorder is read. What can be asked of a recording is in `Recording`.

An attachment adds steps in one of two ways: `add_step`, one that it has measured with
`store.queue.parts`, or `extend`, many at once. Norms of weights and updates go to `sampler`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from .._base.archive import MAX_BYTES
from .._base.arrays import Array, is_traced, real_array
from .._base.named_leaves import named_leaves
from ..errors import InvalidArgumentError
from . import file, merge, probes, step_totals, traced
from .analysis import noise
from .buckets import COLUMNS
from .columns import Layout, sample_every_for
from .file import Appended
from .measure import flat, histograms
from .merge import Columns, from_steps
from .probes import Probes
from .recording import Recording
from .sampling import WeightSampler
from .store import LOCK, Part, Store
from .streams.stream import Stream

if TYPE_CHECKING:
    import jax


class Recorder(Recording):
    """Norm, largest entry, non-finite count and some single entries of every gradient of a run of any length.

        norm[t, k] = |g_k| at step t,  histogram[t, k, b] = number of entries with floor(log2|g|) = b - 32

    A bucket is a stretch of consecutive steps, of one at first. When all are full, every two
    neighbors are merged, and `stride`, the steps of a bucket, doubles. No extreme is lost: columns
    are `norm` and `norm_low`, (buckets, tensors), the largest and smallest norm of the steps in it,
    `largest`, max `|entry|`, `nonfinite`, a sum, `square` and `entry`, (buckets, entries), sum of
    g*g and the first g of sampled entries, `seconds` and scalars such as `loss`, (buckets,), means.

    Of every step, however many share a bucket, the global norm, the largest norm and entry of any
    tensor, and the scalars are kept. These take 24 bytes a step with a loss, and make statistics
    over all tensors exact. The norms of each tensor are counted in narrow bins (`quantile_error`,
    1% at most unless they span 17 decades), and what follows from them is given with its bounds. A
    step that a loss scaler skipped is one with `skipped=True`: limits are asked about the steps
    taken, and the report says how many were not.

    Args:
        steps: buckets to keep.
        entries: how many single entries to follow, spread over all tensors; at least one of each,
            unless 0.
        sample_every: every `sample_every`-th step, histogram all entries and measure weights and
            updates, where they are given; 1 means every step. One histogram covers `sample_every`
            buckets. Weights and updates are measured in more of the first steps: in each of the
            first 16, then in every second, and so on. The default follows from the tensors' sizes:
            in the long run these measurements cost at most a quarter of what the norms cost. The
            attribute `sample_every` has the number.
        ring: steps of which a traced state keeps those few numbers until `absorb` takes them; of
            older ones there are estimates, with bounds.
        state_bytes: what a traced state may take, a million if you say nothing.

    A recording counts up to 2,147,483,647 steps, eager and traced.

    A traced state is as large as it is at its start. Of T tensors, S scalars and E sampled entries
    it takes, in bytes,

        4 (B + 1) (4 T + 2 E + 2 S + 8) + 256 T ceil(B / sample_every) + 4 (W + 5) (T + 2) + 4 (W / 2 + 5) (T + 1)
        + 4 ring (S + 5) + 16

    It has B <= steps buckets: the most that fit into `state_bytes`, at least 16 (or `steps`, if
    fewer). It counts norms in W = 512 bins, or 256 where 512 take more than half of `state_bytes`;
    largest entries in half as many. Norms are known to 1% while the largest of a tensor is up to
    25,000 times the smallest, with 256 bins 150 times, then to 2%, and so on: `quantile_error` says
    it. Extremes, and what the ring has, are exact. 1.0 MB for 300 tensors and a loss, 27 buckets;
    `state_bytes=12 << 20` has room for all of them. An eager recorder has them anyway. With weights
    it takes 3072 T + 1036 bytes more, and with micro_norms two scalars.

    Eager: `rec.record(grads, loss=loss)` each step, with any tree of arrays, or a list of
    (gradient, variable) pairs. Inside `jit` or `scan`: `state = rec.init(grads, loss=0.0)`, then
    `state = rec.update(state, grads, loss=loss)` in the traced step, and `rec = rec.absorb(state)`
    at the end; no callback leaves the device. Donate the state.

    Raises:
        ValueError: steps < 1; a later step has other tensors; nothing recorded yet; a scalar that
            is a vector.
        TypeError: a scalar that isn't a number; a gradient that is complex, masked, or not of
            numbers.

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

    def __init__(
        self,
        steps: int = 1000,
        *,
        entries: int = 512,
        sample_every: int | None = None,
        ring: int = step_totals.RING,
        state_bytes: int = traced.STATE_BYTES,
    ) -> None:
        for name, value, least in (
            ("steps", steps, 1),
            ("entries", entries, 0),
            ("sample_every", 1 if sample_every is None else sample_every, 1),
            ("ring", ring, 1),
            ("state_bytes", state_bytes, 1),
        ):
            if value < least:
                raise ValueError(f"{name} must be >= {least}, got {value}")
        super().__init__(
            int(steps), int(entries), None if sample_every is None else int(sample_every)
        )
        self.ring = int(ring)
        self.state_bytes = int(state_bytes)
        self.sampler = WeightSampler(self.store)
        self._clock: float | None = None  # when the last step was recorded
        self._probes = Probes()

    def prepare(self, shapes: Mapping[str, Sequence[int]], scalars: Sequence[str] = ()) -> None:
        """Settle the tensors, name -> shape, and the scalars' names, as the first step does otherwise.

        >>> rec = Recorder(entries=3)
        >>> rec.prepare({"w": (4, 5), "b": (5,)}, ["loss"])
        >>> [rec.entry_name(k) for k in range(3)], rec.sampled[0].tolist()
        (['w[0, 0]', 'w[3, 1]', 'b[0]'], [0, 0, 1])
        """
        sizes = tuple(tuple(map(int, shape)) for shape in shapes.values())
        self.store.set_layout(self._layout_of(tuple(shapes), sizes, tuple(scalars)))

    def record(
        self,
        grads: Any,
        *,
        weights: Any = None,
        updates: Any = None,
        micro_norms: Any = None,
        scale: float | None = None,
        skipped: bool = False,
        **scalars: float,
    ) -> None:
        """Add one step.

        Args:
            grads: its gradients. Of one that was trained with a loss scale, divided by it.
            weights: as they are before it, so that norms of weights and updates are recorded in
                every `sample_every`-th step, and more of the first: `Recorder.updates`. They are
                copied in such a step, and compared with those given in the next one.
            updates: what is added to the weights in this step, if you have it; then nothing is
                copied.
            micro_norms: the norms of the micro-batches' gradients that `grads` are the mean of, or
                of the replicas': `Recorder.noise_scale`.
            scale: the loss scale of this step, if it has one; it is noted, nothing is divided by
                it.
            skipped: whether the optimizer changed nothing in this step, as loss scalers decide
                where gradients overflowed. `grads` are what they were, Inf and NaN included.
            scalars: such as loss=..., kept as float32.

        Raises:
            ValueError: other tensors than before; a scale that is not above 0 and finite; updates
                without weights.

        >>> rec = Recorder()
        >>> rec.record({"w": np.float32([np.inf, 1.0])}, scale=65536.0, skipped=True)
        >>> rec.record({"w": np.float32([3.0, 4.0])}, scale=32768.0)
        >>> rec.seen, rec.skipped_steps, rec["skipped"].tolist(), rec["scale"].tolist()
        (2, 1, [1, 0], [65536.0, 32768.0])
        >>> rec.what_if(clip_global_norm=1.0).steps  # it asks about the steps taken
        1
        """
        scale_or_nan = _check_scale(scale)
        scalars = dict(noise.with_norms(scalars, micro_norms))
        tensors = [np.asarray(g) for g in self._prepare(grads, scalars)]
        store = self.store
        layout = self.layout
        store.require_room(1)
        self._probes.check(layout)
        step = store.next_step
        self.sampler.begin_step(step, tensors, weights, updates)

        now = time.perf_counter()
        seconds = np.nan if self._clock is None else now - self._clock
        numbers = [seconds, *(float(scalars.get(name, np.nan)) for name in layout.scalars)]
        parts = store.queue.parts({k: flat(g) for k, g in enumerate(tensors)})
        counts = histograms(tensors) if store.counts_next_step else None
        self.add_step(parts, numbers, counts, scale_or_nan, bool(skipped))

        self._clock = now
        if skipped:
            self._probes.skip(step)
            return
        self.sampler.end_step()
        with LOCK:
            self._probes.compare(store.columns, step, tensors, layout)

    def probe(self, grads: Any) -> None:
        """Give the gradient of a batch that is *not* trained on, at the weights of the step that is recorded next.

        It is multiplied with the gradient of that step and of the 16 steps after it; from these
        products `Recorder.agreement` says how much of its direction a stale gradient still has.
        Take a probe every few steps, on a batch that is drawn apart from those that are trained on:
        20 probes at least, a hundred or more to tell much.

        Args:
            grads: a tree like that of `record`: of the mean loss if those are, unclipped if those
                are. A copy is kept until its 16 lags are recorded, so with a probe in every n-th
                step 1 + 16 / n copies of the gradient are in memory, and 144 bytes of each probe
                are in the recording.

        The time since the last step includes that of the probe, so the duration of its step counts
        as not known.

        For loops that call `record` with NumPy or JAX arrays. In code that is traced, and of a
        recorder that is attached to PyTorch, Keras or optax, no full gradient is at hand in later
        steps, so there are no probes.

        Raises:
            ValueError: other tensors than those recorded; the recorder is attached to a loop; the
                code is traced.

        Not in TensorFlow.

        >>> rec, rng = Recorder(), np.random.default_rng(0)
        >>> w = np.full(50, 3.0)
        >>> for step in range(200):
        ...     if step % 2 == 0:
        ...         rec.probe([w + rng.normal(size=50)])  # another batch, the same weights
        ...     g = w + rng.normal(size=50)
        ...     rec.record([g])
        ...     w = w - 0.001 * g
        >>> rec.agreement().in_words(3)  # the weights hardly move, so the true gradients agree
        '1.01 (0.99 to 1.03)'
        """
        if self.attachment is not None:
            raise InvalidArgumentError(
                "probes are for loops that call rec.record(grads); this recorder is attached to a "
                "loop, whose later gradients it doesn't keep whole. Record a run with "
                "rec.probe(grads) and rec.record(grads) instead"
            )
        tensors = dict(named_leaves(grads))
        if any(is_traced(x) for x in tensors.values()):
            raise InvalidArgumentError(
                "the grads of probe must be arrays, got traced values. Return both gradients from "
                "the jitted step, and call rec.probe and rec.record outside of it"
            )
        self._probes.take({name: np.array(x) for name, x in tensors.items()}, self.store.layout)
        self._clock = None

    def add_step(
        self,
        parts: Sequence[Part],
        scalars: Sequence[float],
        counts: np.ndarray | None,
        scale: float = np.nan,
        skipped: bool = False,
    ) -> None:
        """Add a step that has been measured, as `Store.add_step` takes it, and tell the listeners.

        For attachments.
        """
        self.store.add_step(parts, scalars, counts, scale, skipped)
        self.listeners.tell(self)

    def _state_with(self, store: Store) -> dict[str, Any]:
        return {**super()._state_with(store), "sampler": WeightSampler(store), "_probes": Probes()}

    def _set_contents(self, store: Store, missing_steps: int) -> None:
        """Replace all that is recorded."""
        self.store = store
        self.sampler = WeightSampler(store)
        self.missing_steps = missing_steps

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
        store = self.flush()
        head: dict[str, Any] | None = None
        columns: Columns = {}
        if store.layout is not None:
            head, columns = file.parts(store, self.missing_steps)
        return {"made with": self._made_with(), "head": head, "columns": columns}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what `state_dict` gave, in place of all that was recorded; ValueError, and no
        change, unless it is of a recorder made with the same arguments.
        """
        self._loading(state)()

    def _loading(self, state: Mapping[str, Any], variables: Any = None) -> Callable[[], None]:
        """Check a state; what is returned takes it over."""
        if not isinstance(state, Mapping) or not {"made with", "head", "columns"} <= set(state):
            raise InvalidArgumentError("this is not the state of a recorder")
        made, own = dict(state["made with"]), self._made_with()
        if self._sample_every is None:  # then it is that of the state
            made.pop("sample_every", None)
        if made != own:
            raise InvalidArgumentError(f"the recorder was made with {made}, this one with {own}")
        store = Store(self.capacity)
        missing_steps = 0
        if state["head"] is not None:
            store, missing_steps = file.whole_of(state["head"], state["columns"])

        def commit() -> None:
            self._clock = None
            self._probes = Probes()
            self._set_contents(store, missing_steps)

        return commit

    def _made_with(self) -> dict[str, int]:
        fixed = {} if self._sample_every is None else {"sample_every": self._sample_every}
        return {"steps": self.capacity, "entries": self.entries, **fixed}

    def _to_save(self, variables: Any = None) -> dict[str, Any]:
        return self.state_dict()

    def extend(self, columns: Mapping[str, Any]) -> None:
        """Add n steps at once, measured elsewhere, after `prepare`.

        Args:
            columns: "norm", "largest", "nonfinite" (n, tensors), "entry" (n, entries) of the
                entries `sampled` names; and where known "seconds", scalars, "scale" and "skipped"
                (n,), as `record` takes them, "histogram" (n, tensors, 64), 0 where it was not
                counted.

        Raises:
            ValueError: `prepare` comes first; a column is missing, unknown, or of another shape.

        >>> rec = Recorder(steps=10, entries=0)
        >>> rec.prepare({"w": (2,)})
        >>> rec.extend({"norm": [[5.0], [10.0]], "largest": [[4.0], [8.0]], "nonfinite": [[0], [0]]})
        >>> rec.global_norm.tolist()
        [5.0, 10.0]
        """
        given = merge.checked(columns, self.layout)
        self._probes.drop()
        n = len(given["norm"])
        store = self.flush()
        store.require_room(n)
        step = np.arange(store.seen, store.seen + n, dtype=np.int32)
        of_step = ("norm", "largest", "nonfinite", "entry", "scalars", "scale", "skipped")
        steps = from_steps(step, *(given[name] for name in of_step))
        with LOCK:
            store.append(steps, given.get("histogram"))
        self.listeners.tell(self)

    def init(
        self, grads: Any, *, weights: Any = None, micro_norms: Any = None, **scalars: Any
    ) -> dict[str, jax.Array]:
        """The state that `update` carries through traced code.

        `grads` and `scalars` show the shapes only; `weights` and `micro_norms` say that `update`
        will be given such.
        """
        self._prepare(grads, noise.with_norms(scalars, micro_norms))
        if weights is not None:
            self.layout.align(weights, "weights")
            self.sampler.ensure_columns()
        before = (self.missing_steps, self._nonfinite_rows)
        room = traced.within(self.layout, self.ring, self.state_bytes)
        return traced.init(self.flush(), before, room)

    def update(
        self,
        state: Mapping[str, jax.Array],
        grads: Any,
        *,
        weights: Any = None,
        updates: Any = None,
        micro_norms: Any = None,
        scale: Any = None,
        skipped: Any = False,
        **scalars: Any,
    ) -> dict[str, jax.Array]:
        """A new state with one step more, described as in `record`; weights and updates come together. Pure."""
        if (weights is None) != (updates is None) or (weights is not None and "moved" not in state):
            raise InvalidArgumentError(
                "weights and updates belong together, and to a state of init(..., weights=...)"
            )
        marks = (np.nan if scale is None else scale, skipped)
        scalars = dict(noise.with_norms(scalars, micro_norms))
        tensors = self._prepare(grads, scalars)
        layout = self.layout
        moves = (
            ()
            if weights is None
            else (layout.align(weights, "weights"), layout.align(updates, "updates"))
        )
        return traced.update(layout, state, tensors, scalars, marks, moves)

    def absorb(self, state: Mapping[str, jax.Array], *, nonfinite: int | None = None) -> Recorder:
        """Return a recorder with what a traced run has recorded; this one is ready for another run.

        This recorder keeps its steps. A probe that waits for its next step is dropped with a
        warning, because that step was recorded without its whole gradient.

        Args:
            state: what `update` returned; of a run under `pmap` that of all replicas.
            nonfinite: in how many steps since `init` gradients held NaN or Inf, if the state was
                taken back in some of them, as `optax.apply_if_finite` does: those that are not
                recorded are `missing_steps`.

        Raises:
            ValueError: the replicas, or the devices of `shard_map`, have recorded different
                gradients; the state has counted 2,147,483,647 steps, and cannot say how many more
                there were.

        A state has the norm of every one of its last `ring` steps. Those of earlier steps come from
        this recorder if it has absorbed an earlier state of the same run: `rec = rec.absorb(state)`
        now and then keeps a long run exact.
        """
        if traced.is_full(state):
            raise InvalidArgumentError(
                f"the state has counted {step_totals.MOST:,} steps, which is as far as it can: later "
                "ones are not told apart. Absorb the state of a longer run now and then, and go on "
                "with init of a new Recorder"
            )
        own = self.flush()
        store, (missing_steps, nonfinite_before) = traced.drain(self.layout, state)
        store.columns |= probes.filled(own.columns)  # of eager steps before the traced ones
        self._probes.drop()
        if 0 < own.seen <= store.seen and _is_earlier(own, store):
            store.columns["each"] = step_totals.continued(
                store.columns["each"], own.columns["each"][:, : own.seen]
            )

        recorder = self.with_store(store)
        recorder._clock = None
        recorder.missing_steps = missing_steps
        if nonfinite is not None:
            recorder.missing_steps += max(
                0, nonfinite - (recorder._nonfinite_rows - nonfinite_before)
            )
        recorder.listeners = self.listeners  # of the run, which goes on
        recorder.listeners.tell(recorder)
        return recorder

    def _prepare(self, grads: Any, scalars: Mapping[str, Any]) -> list[Array]:
        if (found := self._as_before(grads, scalars)) is not None:
            return found
        tensors = dict(named_leaves(grads))
        for name, x in scalars.items():
            if not isinstance(x, float) and (shape := tuple(real_array(x, name).shape)):
                raise InvalidArgumentError(
                    f"{name} must be one number for each step, got shape {shape}; give its mean"
                )
        shapes = {name: g.shape for name, g in tensors.items()}
        own = self.store.layout
        if own is None or tuple(shapes.items()) != own.items or own.scalars != tuple(scalars):
            self.prepare(shapes, tuple(scalars))
        return list(tensors.values())

    def _as_before(self, grads: Any, scalars: Mapping[str, Any]) -> list[Array] | None:
        """The tensors of a dict of NumPy arrays that is like those of earlier steps; None where
        that takes more to say.

        A walk through any tree costs as much as the norms of a small network.
        """
        own = self.store.layout
        if (
            own is None
            or type(grads) is not dict
            or len(grads) != len(own.names)
            or own.scalars != tuple(scalars)
        ):
            return None
        found: list[Any] = [grads.get(name) for name in own.names]
        pairs = zip(found, own.shapes, strict=True)
        like = all(
            type(g) is np.ndarray and g.shape == shape and g.dtype.kind == "f" for g, shape in pairs
        )
        return found if like and all(isinstance(x, float) for x in scalars.values()) else None

    def _layout_of(
        self, names: tuple[str, ...], shapes: tuple[tuple[int, ...], ...], scalars: tuple[str, ...]
    ) -> Layout:
        """The layout of these, or ValueError where they do not fit the one that is there."""
        if not names:
            raise ValueError(
                "there is no gradient to record: every entry is None, or the tree is empty"
            )
        if taken := sorted(COLUMNS & set(scalars)):
            raise ValueError(
                f"{', '.join(taken)} cannot be the name of a scalar; call it something else"
            )
        every = self._sample_every or sample_every_for(tuple(map(math.prod, shapes)))
        layout = Layout(names, shapes, scalars, self.capacity, self.entries, every)
        if (own := self.store.layout) is None:
            return layout
        if (names, layout.sizes) != (own.names, own.sizes) or not set(scalars) <= set(own.scalars):
            raise ValueError(
                f"this recorder holds tensors {own.names} of sizes {own.sizes} and scalars "
                f"{own.scalars}; this step has {names} of sizes {layout.sizes} and {scalars}. Give "
                "init and the first step all of them"
            )
        return own

    @classmethod
    def load(cls, path: str | PathLike[str], *, max_bytes: int = MAX_BYTES) -> Recorder:
        """Read what `save` wrote, under the name that `save` was given, or what `append_to` has written so far.

        Args:
            max_bytes: memory that it may take, 4 GiB if you say nothing; more is refused before it
                is taken.

        Raises:
            OSError: it cannot be opened.
            ValueError: no step is in it yet.
            DataLossError: it is damaged, too large, or something else; also a ValueError. Nothing
                of it is believed.

        >>> import tempfile, os
        >>> rec = Recorder(3); rec.record([np.ones(4)])
        >>> with tempfile.TemporaryDirectory() as d:
        ...     rec.save(os.path.join(d, "run.npz"))
        ...     Recorder.load(os.path.join(d, "run.npz")).global_norm.tolist()
        [2.0]
        """
        store, missing_steps = file.load(file.find(path), max_bytes)
        assert store.layout is not None  # of a recording that was saved
        rec = cls(
            store.capacity, entries=store.layout.entries, sample_every=store.layout.histogram_every
        )
        rec._set_contents(store, missing_steps)
        return rec

    def append_to(
        self, path: str | PathLike[str], *, seconds: float = 10.0, sync: bool = True
    ) -> Appended:
        """Write steps to a file while they are recorded; `load` and `gradlab report` read it at any time.

        Whatever ends the process, all but the last piece is in the file, and a damaged one is
        refused as every other. The file is an SQLite database; beside it is a file
        "run.rec-journal" while a piece is written. To go on after that:
        `rec = Recorder.load(path)`, or a checkpoint's recorder, and `rec.append_to(path)` again.

        Args:
            path: of the file, "run.rec" say; one that holds the first steps of this recorder goes
                on.
            seconds: between two pieces at least. All pieces together take at most 1% of the time,
                so they are rarer where one takes long. 0 for one after each step, whatever it
                takes.
            sync: whether a piece is on the disk when the next step begins (fsync), and so outlives
                the machine, too. Without it a machine that loses power may leave a damaged file.

        Returns:
            what writes, until its `close()`; a context manager, with `flush()`. Of a traced run it
            goes on with what `absorb` returns: call that now and then.

        Raises:
            ValueError: the file holds another run, or its name ends in .npz.
            OSError: it cannot be written.
            DataLossError: something else is there.
            TimeoutError: another process writes to it.
            ModuleNotFoundError: this Python has no sqlite3, as in some browsers.

        Where a piece cannot be written, a `gl.errors.RecordingWarning` says so once, and the next
        one has its steps.

        Not in TensorFlow.

        >>> import tempfile, os
        >>> rec = Recorder()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "run.rec")
        ...     with rec.append_to(path, seconds=0):
        ...         for scale in (1.0, 2.0):
        ...             rec.record([scale * np.array([3.0, 4.0])])
        ...             print(Recorder.load(path).global_norm.tolist())
        [5.0]
        [5.0, 10.0]
        """
        return Appended(self, path, seconds, sync)

    def stream(self, to: Any, *, seconds: float = 1.0, share: float = 0.05) -> Stream:
        """Send each step, once and in order, to TensorBoard, Weights & Biases, MLflow, or a file of JSON lines.

        Sends the numbers of `every_step`: global norm, largest norm of a tensor, largest entry,
        whether the step was skipped, its loss scale where there is one, and scalars. In a client
        their names begin with gradlab/.

        Args:
            to: a path that ends in .jsonl, which `gl.record.read_json_lines` reads;
                "tensorboard:FOLDER"; a SummaryWriter of torch.utils.tensorboard, tensorboardX or
                tensorboard; "wandb" or "mlflow" for the run that has begun in this process, or a
                new one; such a run.
            seconds: between two times at least, 0 for each step.
            share: of the time of the loop at most; 0.05 is 5%. Steps that queue up go on their way
                at `flush` or `close`.

        Steps that a file, a folder, or a run has already are not sent again, so a run that goes on
        from a checkpoint goes on there, under the same numbers; in a file, steps after the
        checkpoint give way to the new ones. Steps that were recorded before go first, but for a
        SummaryWriter, which gets those from now on.

        In Weights & Biases the charts are over gradlab/step, because W&B's own step counts every
        `log` call; log your own numbers without step=. JSON has no NaN: the lines have "NaN", "Infinity"
        and "-Infinity".

        Returns:
            the stream, until its `close()`; a context manager, with `flush()`. Of a traced run it
            goes on with what `absorb` returns: call that now and then.

        Raises:
            ValueError: the file holds another run, or another text.
            TypeError: something else.
            ModuleNotFoundError: the client is missing; it is in the extra tensorboard, wandb or
                mlflow.

        A client that fails does not end the training: a `gl.errors.RecordingWarning` says so once,
        its steps are sent later, and `close` says how many were not.

        Not in TensorFlow.

        >>> import tempfile, os
        >>> rec = Recorder()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with rec.stream(path := os.path.join(folder, "run.jsonl")):
        ...         rec.record([np.array([3.0, 4.0])], loss=0.1)
        ...     with open(path) as file:
        ...         print(file.read(), end="")
        {"step": 0, "global_norm": 5.0, "leading_norm": 5.0, "largest": 4.0, "skipped": false, "loss": 0.1}
        """
        self.require_tensors("stream")
        return Stream(self, to, seconds, share)


def _check_scale(scale: float | None) -> float:
    """NaN for none."""
    if scale is None:
        return np.nan
    if not 0 < (number := float(scale)) < np.inf:
        raise InvalidArgumentError(
            f"scale must be a loss scale above 0 and finite, or None, got {scale!r}"
        )
    return number


def _is_earlier(own: Store, later: Store) -> bool:
    """Tell whether a store holds the first steps of the run that a later one is of.

    Three things must be the same: the numbers of steps that both know, the sampled entries of the
    first bucket, and the largest global norm of each bucket of which the first store knows all
    steps.
    """
    n = own.seen
    stride = later.stride
    mine = own.columns["each"][:, :n]
    now = later.columns["each"][:, :n]

    # The numbers of steps that both know.
    is_known = ~(step_totals.lost(mine) | step_totals.lost(now))
    has_same_steps = np.array_equal(mine[:, is_known], now[:, is_known], equal_nan=True)

    # The sampled entries of the first bucket, which keeps those of its first step.
    has_same_start = np.array_equal(
        own.columns["entry"][0], later.columns["entry"][0], equal_nan=True
    )

    # The largest norms of whole buckets, of which the first store knows all steps.
    whole = n - n % stride
    by_bucket = mine[:, :whole].reshape(len(mine), -1, stride)
    norms = np.where(by_bucket[step_totals.SKIPPED] > 0, -np.inf, by_bucket[step_totals.GLOBAL])
    largest = norms.max(axis=1)
    is_whole = ~step_totals.lost(by_bucket).any(axis=1)
    # Infinite where all steps were skipped, or one overflowed; NaN says nothing either.
    compared = is_whole & np.isfinite(largest)
    largest_later = later.columns["norm"][: len(largest), step_totals.GLOBAL_NORM]
    has_same_norms = np.array_equal(largest[compared], largest_later[compared])

    return bool(has_same_steps and has_same_start and has_same_norms)

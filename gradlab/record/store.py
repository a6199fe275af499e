"""The columns of a recording, and the queue of steps on their way into them.

    add_step   queues a step; small tensors are copied, large ones have been measured already
    flush      measures the queued steps together, and appends them
    append     puts steps into buckets; when all are full, every two neighbors are merged, and `stride` doubles

The queue is there for speed: NumPy takes about as long for 64 small tensors at once as for one.
`Recorder` adds steps, and so do torch's loops on the CPU. Queries call `Recorder.flush` first, and
then read `columns`.

Steps wait in other places, too: on an accelerator (`attach/torch/queues`), among the variables of a
Keras optimizer (`attach/keras/ring`), and in the state that traced code carries (`traced`). What
these queues have in common is `append`, which adds one step, and `drain`, which returns the steps
so far and leaves none.

Threads: one adds steps while others look. `LOCK`, one for all recorders, is held while steps move
from the queue into the columns. Nothing waits while it holds the lock.

The invariants: step n is in bucket n // stride, and at most `capacity` buckets are in use.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._base.arrays import quiet
from .._base.forks import call_in_child
from ..errors import InvalidArgumentError
from . import merge, step_totals
from .columns import Layout
from .measure import careful, measure, well_inside
from .merge import Columns

LOCK = threading.RLock()
if hasattr(LOCK, "_at_fork_reinit"):  # a thread that held the lock doesn't exist in the child
    call_in_child(LOCK._at_fork_reinit)

_MAX_QUEUED_STEPS = 64
_MAX_QUEUED_ENTRIES = 2**20  # 4 MiB

# Of a large tensor norm, largest entry and how many are not finite, and its sampled entries; a
# small one as it is.
Part: TypeAlias = "tuple[tuple[float, float, int], np.ndarray] | np.ndarray"


class Store:
    """The columns of a run. The first axis of each is the bucket: consecutive steps.

    Attributes:
        capacity: the number of buckets that there is room for.
        layout: the tensors and scalars; None before the first step.
        columns: name -> array.
        seen: the number of steps in the columns.
        stride: steps of a bucket.
    """

    def __init__(
        self,
        capacity: int,
        layout: Layout | None = None,
        columns: Columns | None = None,
        seen: int = 0,
        stride: int = 1,
    ) -> None:
        self.capacity = capacity
        self.layout = layout
        self.columns = columns or {}
        self.seen = seen
        self.stride = stride
        self._queue: StepQueue | None = None

    def set_layout(self, layout: Layout) -> None:
        """Settle the tensors and scalars, unless they are settled."""
        if self.layout is None:
            self.layout = layout
            self.columns = layout.empty()

    @property
    def _settled_layout(self) -> Layout:
        assert self.layout is not None, "set_layout comes first"
        return self.layout

    @property
    def queue(self) -> StepQueue:
        """The steps that wait. It measures tensors, too."""
        if self._queue is None:
            self._queue = StepQueue(self._settled_layout)
        return self._queue

    @property
    def next_step(self) -> int:
        """The number of the step that is added next."""
        queued = 0 if self._queue is None else len(self._queue)
        return self.seen + queued

    @property
    def counts_next_step(self) -> bool:
        """Whether all entries of the step that is added next are counted by size."""
        return self.next_step % self._settled_layout.histogram_every == 0

    def require_room(self, steps: int) -> None:
        """Refuse more steps than a recording can count; ValueError."""
        if self.next_step + steps > step_totals.MOST:
            raise InvalidArgumentError(
                f"a recording holds at most {step_totals.MOST:,} steps; save this one, and go on "
                "with a new Recorder"
            )

    def add_step(
        self,
        parts: Sequence[Part],
        scalars: Sequence[float],
        counts: np.ndarray | None,
        scale: float = np.nan,
        skipped: bool = False,
    ) -> None:
        """Queue a step.

        Args:
            parts: of each tensor, from `queue.parts`.
            scalars: seconds, then the layout's scalars; NaN where there is none.
            counts: (tensors, bins) of its entries by size, if `counts_next_step`.
            scale: the loss scale.
            skipped: whether a loss scaler skipped the step.
        """
        self.require_room(1)
        with LOCK:
            if counts is None:
                self.queue.append(parts, scalars, scale, skipped)
                if self.queue.is_full:
                    self.flush()
            else:
                # Counts are of one step, so it goes into the columns alone.
                self.flush()
                self.queue.append(parts, scalars, scale, skipped)
                self.append(self.queue.drain(self.seen), counts[None])

    def flush(self) -> None:
        """Move queued steps into the columns."""
        with LOCK:
            if self._queue:
                self.append(self._queue.drain(self.seen))

    def append(self, steps: Columns, counts: np.ndarray | None = None) -> None:
        """Put measured steps into their buckets.

        Args:
            steps: columns of buckets of one step each.
            counts: (steps, tensors, bins).
        """
        layout = self._settled_layout
        total = len(steps["peak"])
        done = 0
        while done < total:
            if self.seen == self.capacity * self.stride:  # all buckets are full
                merge.halve(self.columns)
                self.stride *= 2
            # Up to the next merge: the rest has another stride.
            end = min(total, done + self.capacity * self.stride - self.seen)
            fitting = {name: x[done:end] for name, x in steps.items()}
            merge.put(self.columns, fitting, self.seen, self.stride)
            if counts is not None:
                steps_per_count = layout.histogram_every * self.stride
                merge.put_counts(
                    self.columns["histogram"], counts[done:end], self.seen, steps_per_count
                )
            self.seen += end - done
            done = end

    def snapshot(self) -> Store:
        """Return a copy that stays as it is, whatever is added."""
        with LOCK:
            self.flush()
            columns = {name: x.copy() for name, x in self.columns.items()}
            return Store(self.capacity, self.layout, columns, self.seen, self.stride)

    def condense(self, buckets: int) -> Store:
        """Return a copy whose neighboring buckets are merged until at most `buckets` are in use.

        It has room for as many buckets as this one, so steps can be added.
        """
        with LOCK:
            self.flush()
            every = self._settled_layout.histogram_every
            fewer, stride = merge.condensed(self.columns, self.seen, self.stride, buckets, every)
            # This merges none, and gives them the room.
            fewer, _ = merge.condensed(fewer, self.seen, stride, self.capacity, every)
            others = {name: x.copy() for name, x in self.columns.items() if name not in fewer}
            return Store(self.capacity, self.layout, others | fewer, self.seen, stride)

    def __getstate__(self) -> dict[str, Any]:
        """For `copy.copy` and pickle. The queue stays behind: flush first."""
        return {**vars(self), "columns": dict(self.columns), "_queue": None}


class _Step(NamedTuple):
    """A step in the queue: large tensors have been measured, small ones lie one after another."""

    large: list[Any]
    small: np.ndarray
    scalars: Sequence[float]
    scale: float
    skipped: bool


class StepQueue:
    """Steps on their way to their buckets.

    What a step costs by itself is calls of NumPy, so they are few.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        sizes = np.array(layout.sizes)
        self._small = [k for k, size in enumerate(layout.sizes) if layout.is_small(size)]
        self._large = [k for k, size in enumerate(layout.sizes) if not layout.is_small(size)]
        # Small tensors lie one after another: where each begins, and where their sampled entries
        # are.
        self._starts = np.zeros(len(sizes), np.int64)
        self._starts[self._small] = np.cumsum(sizes[self._small]) - sizes[self._small]
        tensor, place = layout.sampled
        is_small = np.isin(tensor, self._small)
        self._small_entries = np.flatnonzero(is_small)
        self._small_places = self._starts[tensor[is_small]] + place[is_small]
        counts = np.array([len(places) for places in layout.places], np.int64)
        self._entry_ends = np.cumsum(counts)
        entries = max(1, int(sizes[self._small].sum()))
        self._max_steps = min(_MAX_QUEUED_STEPS, max(1, _MAX_QUEUED_ENTRIES // entries))
        self._steps: list[_Step] = []

    def __len__(self) -> int:
        return len(self._steps)

    @property
    def is_full(self) -> bool:
        return len(self) >= self._max_steps

    @quiet
    def parts(self, tensors: Mapping[int, np.ndarray]) -> list[Part]:
        """Return what a step needs of some tensors, by their number; each flat, float32."""
        small, places = self._layout.is_small, self._layout.places
        return [g if small(g.size) else (measure(g), g.take(places[k])) for k, g in tensors.items()]

    def append(
        self, parts: Sequence[Part], scalars: Sequence[float], scale: float, skipped: bool
    ) -> None:
        """Add one step, of all tensors; `scalars` are seconds and the layout's own, NaN where there is none.

        Small tensors are copied, because their memory may hold another gradient soon.
        """
        whole: Sequence[Any] = parts  # which small ones are
        small = (
            np.concatenate([whole[k] for k in self._small])
            if self._small
            else np.zeros(0, np.float32)
        )
        self._steps.append(_Step([parts[k] for k in self._large], small, scalars, scale, skipped))

    def drain(self, number: int) -> Columns:
        """Return a bucket for each step, the first of them step `number`, and leave none."""
        large, small, scalars, scale, skipped = zip(*self._steps, strict=True)
        self._steps = []
        steps = len(scalars)
        together = np.stack(small)
        numbers = np.zeros((3, steps, len(self._layout.sizes)))
        entry = np.zeros((steps, len(self._layout.sampled[0])), np.float32)
        entry[:, self._small_entries] = together[:, self._small_places]
        for group in self._layout.groups:
            size = self._layout.sizes[group[0]]
            if self._layout.is_small(size):
                which = list(group)
                places = self._starts[which][:, None] + np.arange(size)
                numbers[:, :, which] = _measure_blocks(together[:, places])
        for k, parts in zip(self._large, zip(*large, strict=True), strict=True):
            measured, entries = zip(*parts, strict=True)
            numbers[:, :, k] = np.transpose(measured)
            entry[:, self._entry_ends[k] - len(entries[0]) : self._entry_ends[k]] = np.stack(
                entries
            )
        norm, largest = numbers[:2].astype(np.float32)
        return merge.from_steps(
            step=np.arange(number, number + steps, dtype=np.int32),
            norm=norm,
            largest=largest,
            nonfinite=numbers[2].astype(np.int32),
            entry=entry,
            scalars=np.array(scalars, np.float32),
            scale=np.array(scale, np.float32),
            skipped=np.array(skipped, bool),
        )


@quiet
def _measure_blocks(blocks: np.ndarray) -> np.ndarray:
    """(3, n, tensors) norm, largest entry and count of what is not finite, of (n, tensors,
    entries).
    """
    # Many tensors of one size at once, the plain way; those few that need care one by one.
    squares = (blocks * blocks).sum(axis=2)
    largest = np.abs(blocks).max(axis=2, initial=0)
    numbers = np.stack([np.sqrt(squares), largest, np.zeros(squares.shape)])
    for step, tensor in np.argwhere(~(well_inside(squares) | (largest == 0))):
        numbers[:, step, tensor] = careful(blocks[step, tensor])
    return numbers


def split_rows(rows: np.ndarray, tensors: int, numbers: Sequence[str]) -> Columns:
    """Return columns, as `Recorder.extend` takes them, of steps that are one row of float32 each.

    That is how steps wait on a device: norms, largest entries and counts of what is not finite, of
    each tensor; then the `numbers`, "skipped" and "scale" among them; then the sampled entries.
    """
    ends = np.cumsum([tensors, tensors, tensors, len(numbers)])
    norm, largest, nonfinite, values, entry = np.split(rows, ends, axis=1)
    columns = {"norm": norm, "largest": largest, "nonfinite": nonfinite, "entry": entry}
    columns |= dict(zip(numbers, values.T, strict=True))
    columns["skipped"] = columns["skipped"] > 0  # NaN where nothing might have skipped it
    return columns

"""What a recording holds: its columns, in buckets of consecutive steps, and what can be read off them directly."""

from __future__ import annotations

import copy
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from .._base.numbers import counted, listed
from . import sketch, step_totals
from .columns import Layout
from .listeners import Listeners
from .store import Store

COLUMNS = {
    *("norm", "norm_low", "global_norm", "global_norm_low", "largest", "nonfinite", "histogram"),
    *("square", "entry", "seconds", "peak", "step", "seen", "header", "sketch", "each", "taken"),
    *step_totals.NAMES,
}
_BY_TENSOR = ("norm", "norm_low", "largest", "nonfinite")
_OTHERS = ("peak", "taken", "skipped", "scale", "histogram", "square", "entry")
_NO_ENTRIES = (
    "this recording holds no single entries: it was made with entries=0. "
    "Its norms and limits can be asked for; for this record the run again"
)
EMPTY = (
    "nothing is recorded yet; call record(grads). After a traced run keep what absorb returns, a "
    "new recorder: rec = rec.absorb(state)"
)
SHOWN = 8  # of many names


class Attachment(Protocol):
    """A training loop in which steps may wait, on a device say, until the recorder is read."""

    def flush(self) -> object:
        """Hand the steps so far to the recorder."""

    def close(self) -> object:
        """Hand over the last steps, and leave the loop as it was."""


class Buckets:
    """The columns of a run, of which each entry along the first axis is of a bucket: a stretch of consecutive steps.

    Questions that take more than reading a column are answered in `analysis` and `updates`.
    `Recording` offers all of them, and `Recorder` fills the columns.
    """

    def __init__(self, capacity: int, entries: int, sample_every: int | None) -> None:
        self.entries = entries
        self._sample_every = sample_every
        # That were taken back before they were recorded: see `Recorder.absorb`.
        self.missing_steps = 0
        self.store = Store(capacity)
        self.listeners = Listeners()  # files, streams and labs that follow the run
        self.attachment: Attachment | None = None

    def flush(self) -> Store:
        """Move every step recorded so far into the columns, and return the store.

        Steps on a device are fetched, too. A query calls it before it reads the columns.
        """
        if self.attachment is not None:
            self.attachment.flush()
        self.store.flush()
        return self.store

    def with_store(self, store: Store) -> Self:
        """Return a copy that has these columns, and neither listeners nor an attachment."""
        copied = object.__new__(type(self))
        vars(copied).update(self._state_with(store))
        return copied

    def _state_with(self, store: Store) -> dict[str, Any]:
        return {**vars(self), "store": store, "listeners": Listeners(), "attachment": None}

    def __getstate__(self) -> dict[str, Any]:
        """For `copy.copy` and pickle."""
        return self._state_with(copy.copy(self.flush()))

    @property
    def capacity(self) -> int:
        """The number of buckets that there is room for."""
        return self.store.capacity

    @property
    def seen(self) -> int:
        """The number of steps recorded."""
        return self.flush().seen

    @property
    def stride(self) -> int:
        """The number of steps of a bucket."""
        return self.flush().stride

    @property
    def layout(self) -> Layout:
        """The layout of what is recorded; ValueError before it is known."""
        if self.store.layout is None:
            raise ValueError(EMPTY)
        return self.store.layout

    @property
    def names(self) -> tuple[str, ...]:
        return self.store.layout.names if self.store.layout else ()

    @property
    def sample_every(self) -> int | None:
        """Every so many steps what costs more than norms is looked at: all entries by size, weights, updates.

        Worked out from the sizes of the tensors, the same on every machine, unless it was given.
        None before they are known.
        """
        return self.store.layout.histogram_every if self.store.layout else self._sample_every

    @property
    def budget(self) -> str:
        """The sampling of a recording, in words.

        >>> from gradlab import Recorder
        >>> rec = Recorder()
        >>> rec.prepare({"w": (4, 5), "b": (5,)})
        >>> rec.budget
        '2 tensors: norms, largest and followed entries in every step, all entries by size in 1 of 64'
        """
        if self.norms_only:
            return self.about[0]
        moved = self.store.columns.get("moved_at")
        every = "norms, largest and followed entries in every step, all entries by size in 1 of "
        also = (
            ""
            if moved is None
            else f", weights and updates in 1 of {moved[0]:,} and more of the first"
        )
        return f"{counted(len(self.names), 'tensor')}: {every}{self.layout.histogram_every:,}{also}"

    @property
    def counted_in(self) -> str:
        """In how many of its steps all entries were counted by size, in words."""
        return f"{-(-self.seen // self.layout.histogram_every):,} of {counted(self.seen, 'step')}"

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shape of each tensor."""
        return self.store.layout.shapes if self.store.layout else ()

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.store.layout.sizes if self.store.layout else ()

    @property
    def norms_only(self) -> bool:
        """Whether it is of a log, `gl.record.read_log`: global norms and losses, and no tensors.

        Then `names` has one name, which stands for all tensors together, and no size.
        """
        return bool(self.about)

    @property
    def about(self) -> tuple[str, ...]:
        """What a log holds that was read, in sentences; empty for a run that was recorded."""
        return self.store.layout.log if self.store.layout else ()

    def step_in_words(self, step: int) -> str:
        """Name a step, such as "step 1,234"; of a log the training step beside its place."""
        words = f"step {step:,}"
        if self.norms_only and "training_step" in self.scalars:
            words += f" (training step {self.every_step('training_step')[step]:,.0f})"
        return words

    def require_tensors(self, what: str) -> None:
        """Refuse a question that global norms can't answer; ValueError."""
        if self.norms_only:
            raise ValueError(
                f"{what} needs the gradients of single tensors, and this recording is of a log, "
                "which holds global norms only. Record the run with gl.Recorder, or ask "
                "rec.what_if(clip_global_norm=...), rec.summary() or gl.labs.clipping(rec)"
            )

    @property
    def scalars(self) -> tuple[str, ...]:
        return self.store.layout.scalars if self.store.layout else ()

    @property
    def sampled(self) -> tuple[np.ndarray, np.ndarray]:
        """(entries,) tensor index and flat index of the entries in "square" and "entry"; the same for equal shapes."""
        return self.layout.sampled

    def entry_name(self, k: int) -> str:
        """Of a sampled entry, such as "w1[3, 5]"."""
        return self.layout.entry_name(k)

    @property
    def step(self) -> np.ndarray:
        """(buckets,) first step of each bucket."""
        return np.arange(len(self)) * self.stride

    @property
    def bucket_steps(self) -> np.ndarray:
        """(buckets,) how many steps each stands for: `stride`, the last one perhaps fewer."""
        steps: np.ndarray = np.minimum(self.seen - self.step, self.stride)
        return steps

    @property
    def peak(self) -> np.ndarray:
        """(buckets,) the step of each that had the largest global norm."""
        return self["peak"]

    @property
    def global_norm(self) -> np.ndarray:
        """(buckets,) norm over all tensors; of several steps the largest."""
        return self["global_norm"]

    def every_step(self, column: str) -> np.ndarray:
        """(seen,) one number of every step, float32, however many steps share a bucket.

        Args:
            column: "global_norm"; "leading_norm", the largest norm of any tensor; "largest", the
                largest |entry| of any, Inf where one is not finite; "skipped", 0 or 1; "scale"; or
                a scalar.

        A number that is not known is NaN: see `known`.

        >>> from gradlab import Recorder
        >>> rec = Recorder(steps=1)
        >>> for scale in (1.0, 2.0, 3.0):
        ...     rec.record([scale * np.array([3.0, 4.0])])
        >>> rec.global_norm.tolist(), rec.every_step("global_norm").tolist()
        ([15.0], [5.0, 10.0, 15.0])
        """
        known = step_totals.names(self.layout.scalars)
        if column not in known:
            raise KeyError(f"no column {column!r} of every step; there are {', '.join(known)}")
        found = self._each[known.index(column)]
        return (
            found
            if self.known.all()
            else np.where(self.known, found, np.float32(np.nan)).astype(np.float32)
        )

    @property
    def _each(self) -> np.ndarray:
        store = self.flush()
        return store.columns["each"][:, : store.seen]

    @property
    def known(self) -> np.ndarray:
        """(seen,) of which steps `every_step` has the numbers.

        Of all, but for those that a traced state had no room for any more when `absorb` took it.
        """
        return ~step_totals.lost(self._each)

    @property
    def taken(self) -> np.ndarray:
        """(buckets,) how many of its steps were not skipped."""
        return self["taken"]

    @property
    def skipped_steps(self) -> int:
        """The number of skipped steps: recorded, but no weight was changed."""
        return self.seen - int(self.taken.sum())

    @property
    def quantile_error(self) -> np.ndarray:
        """(tensors,) relative error, at most, of the quantiles of each tensor's norms once steps are merged.

        0.06 to 1%, the less the less they differ; 2, 4, ... % of a tensor whose norms span more
        than 17 decades, in a traced run more than 4, in one of hundreds of tensors more than 2; 0
        where each step has a bucket.
        """
        tensors = len(self.names)
        if self.stride == 1:
            return np.zeros(tensors)
        return sketch.error(self.flush().columns["sketch"][:tensors])

    @property
    def nonfinite_steps(self) -> int:
        """The number of steps taken that held NaN or Inf."""
        return int(sketch.nonfinite(self.flush().columns["sketch"])[-1])

    @property
    def first_nonfinite_step(self) -> int | None:
        """The first step, skipped ones too, whose gradients held NaN or Inf; None if none did.

        Exact however many steps share a bucket, but where `known` says that steps before it are not
        known.

        >>> from gradlab import Recorder
        >>> rec = Recorder(steps=1)
        >>> for g in (1.0, 2.0, np.inf, 3.0):
        ...     rec.record({"w": np.array([g])})
        >>> rec.first_nonfinite_step, len(rec)
        (2, 1)
        """
        bad = np.flatnonzero(np.isinf(self._each[step_totals.LARGEST]))
        return int(bad[0]) if bad.size else None

    def first_nonfinite(self, name: str) -> tuple[int, int] | None:
        """Between which steps, both included, a tensor first held NaN or Inf; twice the same step where that is known.

        None if it never did. Of merged steps it is the bucket that is known of a single tensor, and
        of every step whether any tensor held NaN or Inf: what is returned begins and ends at such
        steps.

        Raises:
            KeyError: no tensor has that name.

        >>> from gradlab import Recorder
        >>> rec = Recorder(steps=1)
        >>> for g in (1.0, 2.0, np.inf, 3.0):
        ...     rec.record({"w": np.array([g]), "b": np.array([1.0])})
        >>> rec.first_nonfinite("w"), rec.first_nonfinite("b")
        ((2, 2), None)
        """
        if name not in self.names:
            raise KeyError(f"no tensor {name!r}; there are {listed(self.names, SHOWN)}")
        buckets = np.flatnonzero(self["nonfinite"][:, self.names.index(name)])
        if not buckets.size:
            return None
        start = int(self.step[buckets[0]])
        steps = slice(start, start + int(self.bucket_steps[buckets[0]]))
        may_be = np.flatnonzero(
            np.isinf(self._each[step_totals.LARGEST, steps]) | ~self.known[steps]
        )
        return start + int(may_be[0]), start + int(may_be[-1])

    @property
    def _nonfinite_rows(self) -> int:
        """Number of recorded steps, skipped ones included, that held NaN or Inf."""
        every = self.flush().columns["sketch"][-1]
        return int(every[-1] + every[sketch.SKIPPED])

    @property
    def nonfinite_by_tensor(self) -> np.ndarray:
        """(tensors,) on how many steps, skipped ones too, each held NaN or Inf."""
        rows = self.flush().columns["sketch"][len(self.names) + 2 : -1]
        return sketch.nonfinite(rows) + rows[:, sketch.SKIPPED]

    @property
    def overflows(self) -> np.ndarray:
        """(tensors,) on how many of the skipped steps each held NaN or Inf."""
        tensors = len(self.names)
        return self.flush().columns["sketch"][tensors + 2 : -1, sketch.SKIPPED]

    def __len__(self) -> int:
        """Buckets."""
        return -(-self.seen // self.stride)

    def __getitem__(self, column: str) -> np.ndarray:
        """A column, its first axis the bucket: "norm", "norm_low", "global_norm", "largest", "entry", "loss", ...

        "histogram" has one entry there for every `histogram_every` buckets. "taken" and "skipped"
        say how many steps were, "scale" is the smallest loss scale.
        """
        layout, tensors = self.layout, len(self.names)
        if column in ("square", "entry") and not len(self.sampled[0]):
            raise ValueError(_NO_ENTRIES)
        if column in ("largest", "histogram"):
            self.require_tensors(f"the column {column!r}")
        if column in _BY_TENSOR:
            found = self.flush().columns[column][:, :tensors]
        elif column in ("global_norm", "global_norm_low"):
            found = self.flush().columns[column.removeprefix("global_")][:, tensors]
        elif column in ("seconds", *layout.scalars):
            found = self.flush().columns["mean"][:, ("seconds", *layout.scalars).index(column)]
        elif column == "histogram":
            return self.flush().columns[column][: -(-len(self) // self.layout.histogram_every)]
        elif column == "scale":
            return self._scale()
        elif column == "skipped":
            skipped: np.ndarray = self.bucket_steps - self.taken
            return skipped
        elif column in ("square", "entry", "peak", "taken"):
            found = self.flush().columns[column]
        else:
            known = ", ".join((*_BY_TENSOR, "global_norm", "global_norm_low", *_OTHERS))
            raise KeyError(
                f"no column {column!r}; there are {known}, "
                f"{', '.join(('seconds', *layout.scalars))}"
            )
        return found[: len(self)]

    def _scale(self) -> np.ndarray:
        """(buckets,) smallest loss scale of the steps of each; NaN where none is known."""
        found: np.ndarray = (
            np.fmin.reduceat(self.every_step("scale"), self.step)
            if len(self)
            else np.zeros(0, np.float32)
        )
        return found

    def __repr__(self) -> str:
        merged = f" in {counted(len(self), 'bucket')}" if self.stride > 1 else ""
        names = ("global norms alone",) if self.norms_only else self.names
        of = listed((*names, *self.scalars), SHOWN)
        missing = (
            f", {counted(self.missing_steps, 'more step')} missing" if self.missing_steps else ""
        )
        return (
            f"<gradlab.{type(self).__name__}: {counted(self.seen, 'step')}{merged} of "
            f"{of}{missing}>"
        )


AnyRecording = TypeVar("AnyRecording", bound=Buckets)


def condensed(rec: AnyRecording, buckets: int) -> AnyRecording:
    """The recording itself if it has no more buckets than that, else one with every two neighbors joined, and so on."""
    if len(rec) <= buckets:
        return rec
    rec.flush()  # of steps that wait in an attachment, too
    return rec.with_store(rec.store.condense(buckets))

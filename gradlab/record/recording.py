"""What is in a recording, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike

import numpy as np

from ..rules import Adagrad
from . import file, spectrum
from .coherence import Coherence, coherence
from .durations import durations
from .eager import Settled
from .frozen import Frozen, frozen
from .layout import Layout
from .summary import Summary, summarise
from .what_if import EMPTY, WhatIf, what_if
from .words import listed

COLUMNS = {
    *("norm", "norm_low", "global_norm", "global_norm_low", "largest", "nonfinite", "histogram"),
    *("square", "entry", "seconds", "peak", "step", "seen", "header"),
}
_BY_TENSOR = ("norm", "norm_low", "largest", "nonfinite")
_NO_ENTRIES = (
    "this recording holds no single entries: it was made with entries=0, or by an earlier gradlab. "
    "Its norms and limits can be asked for; for this record the run again"
)


class Recording:
    """Rows of a run; `Recorder` fills them."""

    seen, stride, _data = Settled(), Settled(), Settled()
    _elsewhere: Callable[[], object] | None = None  # hands over rows that wait on a device, if somebody records there

    def __init__(self, capacity: int, entries: int, histogram_every: int) -> None:
        self.capacity, self.entries, self.histogram_every = capacity, entries, histogram_every
        self.seen, self.stride = 0, 1
        self._layout: Layout | None = None
        self._data = {}

    def _settle(self) -> None:
        """Put steps that wait into their rows."""

    @property
    def layout(self) -> Layout:
        """What is recorded; ValueError before anything is known of it."""
        if self._layout is None:
            raise ValueError(EMPTY)
        return self._layout

    @property
    def names(self) -> tuple[str, ...]:
        return self._layout.names if self._layout else ()

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Of each tensor; flat where an earlier gradlab wrote the file."""
        return self._layout.shapes if self._layout else ()

    @property
    def sizes(self) -> tuple[int, ...]:
        return self._layout.sizes if self._layout else ()

    @property
    def scalars(self) -> tuple[str, ...]:
        return self._layout.scalars if self._layout else ()

    @property
    def sampled(self) -> tuple[np.ndarray, np.ndarray]:
        """(entries,) tensor index and flat index of the entries in "square" and "entry"; the same for equal shapes."""
        return self.layout.sampled

    def entry_name(self, k: int) -> str:
        """Of a sampled entry, such as "w1[3, 5]"."""
        return self.layout.entry_name(k)

    @property
    def step(self) -> np.ndarray:
        """(rows,) first step of each row."""
        return np.arange(len(self)) * self.stride

    @property
    def row_steps(self) -> np.ndarray:
        """(rows,) how many steps each row stands for: `stride`, the last one perhaps fewer."""
        return np.minimum(self.seen - self.step, self.stride)

    @property
    def peak(self) -> np.ndarray:
        """(rows,) the step of each row that had the largest global norm."""
        return self["peak"]

    @property
    def global_norm(self) -> np.ndarray:
        """(rows,) norm over all tensors; of a row of several steps the largest."""
        return self["global_norm"]

    @property
    def norm_counts(self) -> np.ndarray:
        """(tensors + 2, 2048) how many steps had a norm in each bin of `spectrum.edges`: of each tensor, the global
        norm, and the largest norm of any tensor. All steps are counted, however many share a row."""
        return self._data["spectrum"][: len(self.names) + 2]

    def ranges(self, column: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What a limit is held against, "norm" or "largest": least and most of each row, and counts over all steps.

        Their columns are the tensors, then, of norms only, all of them together, and last the largest of any tensor.
        An entry that is not finite is above every limit.
        """
        rows, tensors = len(self), len(self.names)
        if column == "norm":
            return self._data["norm_low"][:rows], self._data["norm"][:rows], self.norm_counts
        high = np.where(self["nonfinite"] > 0, np.inf, self["largest"])
        high = np.concatenate([high, high.max(axis=1, keepdims=True)], axis=1)
        low = np.where(self.row_steps[:, None] == 1, high, 0)
        return low, high, self._data["spectrum"][tensors + 2 :]

    @property
    def nonfinite_steps(self) -> int:
        """How many steps held NaN or Inf."""
        return int(spectrum.infinite(self._data["spectrum"][-1]))

    def __len__(self) -> int:
        """Rows."""
        return -(-self.seen // self.stride)

    def __getitem__(self, column: str) -> np.ndarray:
        """A column, its first axis the row: "norm", "norm_low", "global_norm", "largest", "entry", "loss", ...

        "histogram" has a row for every `histogram_every` rows.
        """
        layout, tensors = self.layout, len(self.names)
        if column in ("square", "entry") and not len(self.sampled[0]):
            raise ValueError(_NO_ENTRIES)
        if column in _BY_TENSOR:
            found = self._data[column][:, :tensors]
        elif column in ("global_norm", "global_norm_low"):
            found = self._data[column.removeprefix("global_")][:, tensors]
        elif column in ("seconds", *layout.scalars):
            found = self._data["mean"][:, ("seconds", *layout.scalars).index(column)]
        elif column == "histogram":
            return self._data[column][: -(-len(self) // self.histogram_every)]
        elif column in ("square", "entry", "peak"):
            found = self._data[column]
        else:
            known = ", ".join((*_BY_TENSOR, "global_norm", "global_norm_low", "peak", "histogram", "square", "entry"))
            raise KeyError(f"no column {column!r}; there are {known}, {', '.join(('seconds', *layout.scalars))}")
        return found[: len(self)]

    def __repr__(self) -> str:
        merged = f" in {len(self)} rows" if self.stride > 1 else ""
        return f"<gradlab.{type(self).__name__}: {self.seen} steps{merged} of {listed((*self.names, *self.scalars))}>"

    def what_if(
        self,
        *,
        clip_norm: float | None = None,
        clip_value: float | None = None,
        clip_global_norm: float | None = None,
    ) -> WhatIf:
        """What one limit would have done to these gradients: which steps it fires on, factor, norm after, turn angle.

        Exact for `clip_norm` (each tensor by itself) and `clip_global_norm`; an estimate from the histograms, and
        marked so, for `clip_value`. A row of several steps answers for the largest of them; shares count all steps.

        >>> from gradlab import Recorder
        >>> rec = Recorder(2)
        >>> for g in ([3.0, 4.0], [30.0, 40.0]):
        ...     rec.record([np.array(g)])
        >>> rec.what_if(clip_global_norm=10.0).norm_after.tolist()
        [5.0, 10.0]
        """
        limits = {"clip_norm": clip_norm, "clip_value": clip_value, "clip_global_norm": clip_global_norm}
        return what_if(self, {kind: limit for kind, limit in limits.items() if limit is not None})

    def summary(self, percentile: float = 90.0) -> Summary:
        """How often limits would have fired, by tensor, with the limit that fires on (100 - percentile) % of steps."""
        return summarise(self, percentile)

    def frozen(self, rule: Adagrad | None = None, *, below: float = 0.1, step: int | None = None) -> Frozen:
        """Which sampled entries Adagrad would have frozen by a step, which never moved, and which overflowed.

            accumulator = initial + sum of g * g so far,  frozen: lr / root(accumulator) < below * lr / root(start)

        Args:
            rule: the Adagrad, with its initial accumulator and epsilon; by default Keras's. The rate has no say.
            below: an effective rate below this share of the one at the start is frozen. start is the accumulator before
                the first step; if that is 0, the one after the first gradient that is not 0.
            step: how many steps are done; all by default.

        Raises: ValueError: no single entries were recorded; a share or a step that cannot be. TypeError: another rule.

        >>> from gradlab import Recorder
        >>> rec = Recorder()
        >>> for _ in range(20):
        ...     rec.record({"w": np.array([10.0, 0.1, 0.0])})
        >>> found = rec.frozen(below=0.1)
        >>> found.named(found.frozen), found.named(found.still)
        (('w[0]',), ('w[2]',))
        """
        return frozen(self, rule, below, step)

    def coherence(self, lags: Sequence[int] | None = None) -> Coherence:
        """How much gradients so many steps apart agree: the cosine between them, estimated on the sampled entries.

        Batches differ from step to step, so neighbours agree in part only; what is lost beyond lag 1 is what staleness
        costs. Of merged rows the first step's entries are kept: lags are multiples of `stride` then.

        Args:
            lags: steps apart; by default 0 to 16 times `stride`.

        Raises: ValueError: no single entries were recorded; a lag that is none.

        >>> from gradlab import Recorder
        >>> rec = Recorder()
        >>> for k in range(4):
        ...     rec.record({"w": np.array([1.0, 0.0]) if k % 2 else np.array([0.0, 1.0])})
        >>> rec.coherence([0, 1, 2]).cosine.tolist()
        [1.0, 0.0, 1.0]
        """
        return coherence(self, lags)

    def durations(self) -> np.ndarray:
        """Seconds of the steps of which that is known, float64; of merged rows their means.

        Without the first row, whose step has nothing before it to be measured from, or holds a compilation. Meant for
        `gl.workers.Speeds(measured=rec.durations())`.

        >>> from gradlab import Recorder
        >>> rec = Recorder()
        >>> for _ in range(3):
        ...     rec.record([np.ones(2)])
        >>> len(rec.durations())
        2
        """
        return durations(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write a compressed .npz, without pickle; ValueError if no step was recorded."""
        if not self.seen:
            raise ValueError(EMPTY)
        file.save(path, self.layout, self._data, self.seen, self.stride)

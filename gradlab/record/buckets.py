"""What a run has left: its layout and its columns, in buckets of consecutive steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._base.numbers import counted, listed
from .layout import Layout
from .measure import infinite

COLUMNS = {
    *("norm", "norm_low", "global_norm", "global_norm_low", "largest", "nonfinite", "histogram"),
    *("square", "entry", "seconds", "peak", "step", "seen", "header"),
}
_BY_TENSOR = ("norm", "norm_low", "largest", "nonfinite")
_NO_ENTRIES = (
    "this recording holds no single entries: it was made with entries=0, or by an earlier gradlab. "
    "Its norms and limits can be asked for; for this record the run again"
)
EMPTY = (
    "nothing is recorded yet; call record(grads). After a traced run keep what absorb returns, a new recorder: "
    "rec = rec.absorb(state)"
)
SHOWN = 8  # of many names


class Settled:
    """An attribute that is up to date when it is read: steps that wait, here or elsewhere, are put in first."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, rec: Buckets, owner: type | None = None) -> Any:
        if rec._elsewhere is not None:
            rec._elsewhere()
        rec._settle()
        return vars(rec)[self._name]

    def __set__(self, rec: Buckets, value: Any) -> None:
        vars(rec)[self._name] = value


class Buckets:
    """The columns of a run, of which each entry along the first axis is of a bucket: a stretch of consecutive steps.

    What can be asked of them is in the files above; `Recording` offers all of it, `Recorder` fills them.
    """

    if TYPE_CHECKING:
        seen: int
        stride: int
        _data: dict[str, np.ndarray]
    else:
        seen, stride, _data = Settled(), Settled(), Settled()
    _elsewhere: Callable[[], object] | None = None  # hands over what waits on a device, if somebody records there

    def __init__(self, capacity: int, entries: int, histogram_every: int) -> None:
        self.capacity, self.entries, self.histogram_every = capacity, entries, histogram_every
        self.seen, self.stride = 0, 1
        self._layout: Layout | None = None
        self._data = {}

    def _settle(self) -> None:
        """Put steps that wait into their buckets."""

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
        """(buckets,) first step of each bucket."""
        return np.arange(len(self)) * self.stride

    @property
    def bucket_steps(self) -> np.ndarray:
        """(buckets,) how many steps each stands for: `stride`, the last one perhaps fewer."""
        steps: np.ndarray = np.minimum(self.seen - self.step, self.stride)
        return steps

    @property
    def row_steps(self) -> np.ndarray:
        """`bucket_steps` under its old name."""
        return self.bucket_steps

    @property
    def peak(self) -> np.ndarray:
        """(buckets,) the step of each that had the largest global norm."""
        return self["peak"]

    @property
    def global_norm(self) -> np.ndarray:
        """(buckets,) norm over all tensors; of several steps the largest."""
        return self["global_norm"]

    @property
    def norm_counts(self) -> np.ndarray:
        """(tensors + 2, 2048) how many steps had a norm in each bin of `measure.norm_edges`: of each tensor, the global
        norm, and the largest norm of any tensor. All steps are counted, however many share a bucket."""
        return self._data["spectrum"][: len(self.names) + 2]

    def ranges(self, column: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What a limit is held against, "norm" or "largest": least and most of each bucket, and counts over all steps.

        Their columns are the tensors, then, of norms only, all of them together, and last the largest of any tensor.
        An entry that is not finite is above every limit.
        """
        buckets, tensors = len(self), len(self.names)
        if column == "norm":
            return self._data["norm_low"][:buckets], self._data["norm"][:buckets], self.norm_counts
        high = np.where(self["nonfinite"] > 0, np.inf, self["largest"])
        high = np.concatenate([high, high.max(axis=1, keepdims=True)], axis=1)
        low = np.where(self.bucket_steps[:, None] == 1, high, 0)
        return low, high, self._data["spectrum"][tensors + 2 :]

    @property
    def nonfinite_steps(self) -> int:
        """How many steps held NaN or Inf."""
        return infinite(self._data["spectrum"][-1])

    def __len__(self) -> int:
        """Buckets."""
        return -(-self.seen // self.stride)

    def __getitem__(self, column: str) -> np.ndarray:
        """A column, its first axis the bucket: "norm", "norm_low", "global_norm", "largest", "entry", "loss", ...

        "histogram" has one entry there for every `histogram_every` buckets.
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
        merged = f" in {counted(len(self), 'bucket')}" if self.stride > 1 else ""
        of = listed((*self.names, *self.scalars), SHOWN)
        return f"<gradlab.{type(self).__name__}: {counted(self.seen, 'step')}{merged} of {of}>"

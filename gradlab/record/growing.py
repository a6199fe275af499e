"""A recording in a file that grows while it is recorded, and can be read at any time.

The first record of the file is all of the recording, and each later one says what has changed since: of a column, runs
of numbers, where each begins in the flat column, how long it is, and its numbers. Once these records have become longer
than the recording, one record takes the place of all, so that the file stays a few times as large as one of
`Recorder.save`.
"""

from __future__ import annotations

import math
import os
import weakref
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

import numpy as np

from .._base.archive import MAX_BYTES
from .._base.checked_files import check_kind, checked
from .._base.growing import GrowingFile, Record, read_records
from .._base.numbers import counted
from ..errors import InvalidArgumentError, RecordingWarning, warn
from . import file, per_step
from .buckets import Buckets
from .merge import Columns
from .outlet import Outlet
from .store import LOCK

_KIND = "recording"
_VERSION = 1
_RUN_PARTS = ("start", "length", "value")
_TIMES = 2  # as long as all of a recording its changes may be, before it is written as one record again

Contents = tuple[dict[str, Any], Columns]  # what `file.parts` gives

_OPEN: weakref.WeakValueDictionary[str, Appended] = weakref.WeakValueDictionary()  # in this process, by path


class Appended(Outlet):
    """A file to which the steps of a recorder are appended; `Recorder.append_to` makes it. Not in TensorFlow.

    Attributes:
        path: of the file. steps: how many are in it.
    """

    def __init__(self, recorder: Buckets, path: str | PathLike[str], seconds: float, sync: bool) -> None:
        self.path = os.path.abspath(os.fsdecode(os.fspath(path)))
        if self.path.endswith(".npz"):
            raise InvalidArgumentError(f"a file that grows is no .npz, got {self.path}; call it run.rec, say")
        earlier = _OPEN.get(self.path)
        if earlier and not earlier.closed:
            earlier.close()
            warn(f"{self.path} was appended to already; that is closed now", RecordingWarning)
        self.steps = 0
        self._sync = sync
        self._file: GrowingFile | None = GrowingFile(self.path, sync)
        try:
            _check_continues(recorder, self.path)
        except BaseException:
            self._file.close()
            raise
        self._last: Contents | None = None
        self._whole = 0  # bytes of the first record
        super().__init__(recorder, seconds, f"appending to {self.path}")
        _OPEN[self.path] = self
        self.heard(recorder)

    def _write(self, rec: Buckets) -> None:
        now = contents_now(rec)
        if now is None or (self._last is not None and self._last[0] == now[0]):
            return
        try:
            self._put(now)
        except BaseException:
            self._finish()
            self._file = None
            self._last = None  # what is in the file isn't known for certain
            raise
        self._last = now
        self.steps = now[0]["seen"]

    def _put(self, now: Contents) -> None:
        if self._file is None:
            self._file = GrowingFile(self.path, self._sync)
        if self._last is None or self._file.size > (1 + _TIMES) * self._whole:
            self._file.restart(*whole_record(now))
            self._whole = self._file.size
        else:
            self._file.append(*change_record(self._last, now))

    def _finish(self) -> None:
        if self._file is not None:
            self._file.close()

    def _left(self) -> str:
        missing = self.recorder.store.seen - self.steps
        return f"{counted(missing, 'step')} are not in the file" if missing > 0 else ""

    def __repr__(self) -> str:
        return f"<Appended: {counted(self.steps, 'step')} in {self.path}>"


def load(path: str | PathLike[str], max_bytes: int = MAX_BYTES) -> file.Loaded:
    """Read what is in a file that grows.

    Raises:
        ValueError: no step is in it yet. DataLossError: it is damaged, too large, or something else.
    """
    found = _load(path, max_bytes)
    if found is None:
        raise ValueError(f"{os.fspath(path)} holds no step yet; load it once some are recorded")
    return found


def _load(path: str | PathLike[str], max_bytes: int = MAX_BYTES) -> file.Loaded | None:
    """Read what is in a file that grows; None before its first record."""
    with checked(path, _KIND):
        contents = merge_records(read_records(path, max_bytes), max_bytes)
        return None if contents is None else file.whole_of(*contents, max_bytes)


def contents_now(rec: Buckets) -> Contents | None:
    """Return what `file.parts` has of the steps that do not wait on a device; None before the first."""
    with LOCK:
        rec.store.flush()
        return file.parts(rec.store, rec.missing_steps) if rec.store.seen else None


def _check_continues(rec: Buckets, path: str) -> None:
    """ValueError unless what is in a file are steps of this recorder; of those it does not have, a warning."""
    found = _load(path)
    if found is None:
        return
    store, _ = found
    assert store.layout is not None  # of a recording that was saved
    own = contents_now(rec)
    steps = 0 if own is None else min(own[0]["seen"], store.seen)
    is_same = own is not None and tuple(own[0]["names"]) == store.layout.names
    if own is None or not is_same or not _agree(own[1]["each"], store.columns["each"], steps):
        raise InvalidArgumentError(
            f"{path} holds {counted(store.seen, 'step')} of another run. Go on with that one, rec = Recorder.load(path) "
            "and rec.append_to(path), give another path, or delete the file"
        )
    if store.seen > steps:
        warn(
            f"{path} has {counted(store.seen - steps, 'step')} more than this recorder, which is that of step {steps}; "
            "they are replaced by those to come",
            RecordingWarning,
        )


def _agree(mine: np.ndarray, other: np.ndarray, steps: int) -> bool:
    """Tell whether two runs have the same first steps, as far as both know them."""
    if len(mine) != len(other):
        return False
    a = mine[:, :steps]
    b = other[:, :steps]
    both = ~(per_step.lost(a) | per_step.lost(b))
    return np.array_equal(a[:, both], b[:, both], equal_nan=True)


def whole_record(contents: Contents) -> Record:
    """The record that is all of a recording."""
    head, columns = contents
    return {"kind": _KIND, "version": _VERSION, "head": dict(head)}, dict(columns)


def change_record(old: Contents, new: Contents) -> Record:
    """The record that makes `new` of `old`."""
    head = {name: x for name, x in new[0].items() if name not in old[0] or old[0][name] != x}
    like: dict[str, Any] = {}
    arrays: dict[str, Any] = {}
    for name, x in new[1].items():
        before = _reshape(old[1].get(name), x.dtype, x.shape)
        start, length = _find_runs(_view_bits(before) != _view_bits(x))
        value = x.ravel()[_list_places(start, length)]
        like[name] = [x.dtype.str, list(x.shape)]
        arrays |= {f"{name} {part}": y for part, y in zip(_RUN_PARTS, (start, length, value), strict=True)}
    return {"head": head, "columns": like}, arrays


def merge_records(records: Iterable[Record], max_bytes: int) -> Contents | None:
    """The recording that some records make; None of no record. ValueError unless each follows the last."""
    head: dict[str, Any] | None = None
    columns: Columns = {}
    for fields, arrays in records:
        if "kind" in fields:
            check_kind(fields, _KIND, (_VERSION,))
            _check_memory((x.nbytes for x in arrays.values()), max_bytes)
            head = dict(fields["head"])
            columns = {name: np.array(x) for name, x in arrays.items()}
        elif head is None:
            raise ValueError("its first piece is missing")
        else:
            head |= fields["head"]
            columns = _apply_changes(columns, fields["columns"], arrays, max_bytes)
    return None if head is None else (head, columns)


def _apply_changes(old: Columns, like: Mapping[str, Any], arrays: Mapping[str, Any], max_bytes: int) -> Columns:
    sizes = {name: math.prod(_check_shape(shape)) for name, (_, shape) in like.items()}
    _check_memory((np.dtype(dtype).itemsize * sizes[name] for name, (dtype, _) in like.items()), max_bytes)
    columns = {}
    for name, (dtype, shape) in like.items():
        start, length, value = (arrays[f"{name} {part}"] for part in _RUN_PARTS)
        _check_runs(start, length, value, sizes[name])
        x = _reshape(old.get(name), np.dtype(dtype), tuple(shape))
        x.reshape(-1)[_list_places(start, length)] = value
        columns[name] = x
    return columns


def _check_memory(nbytes: Iterable[int], max_bytes: int) -> None:
    """Refuse more than is allowed before it is taken."""
    needed = sum(nbytes)
    if needed > max_bytes:
        raise ValueError(f"its arrays take {needed:,} bytes, max_bytes allows {max_bytes:,}")


def _check_shape(shape: Any) -> list[int]:
    if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"{shape!r} is not a shape")
    return shape


def _check_runs(start: np.ndarray, length: np.ndarray, value: np.ndarray, size: int) -> None:
    """Refuse runs that overlap, or that are of other numbers than there are: their places take memory."""
    if start.dtype.kind != "i" or length.dtype.kind != "i" or start.ndim != 1 or start.shape != length.shape:
        raise ValueError("it does not say where its changes are")
    # Each bound by itself first, so that no sum of theirs can overflow.
    inside = ((start >= 0) & (length > 0) & (start <= size) & (length <= size)).all()
    ends = start + length
    if not inside or (ends > size).any() or (start[1:] < ends[:-1]).any() or int(length.sum()) != value.size:
        raise ValueError("its changes are not where its numbers are")


def _reshape(x: np.ndarray | None, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """A copy of another dtype and shape, zeros where there was nothing."""
    copy = np.zeros(shape, dtype)
    if x is not None and x.ndim == copy.ndim:
        both = tuple(slice(min(n, m)) for n, m in zip(x.shape, shape, strict=True))
        copy[both] = x[both].astype(dtype)
    return copy


def _view_bits(x: np.ndarray) -> np.ndarray:
    """Flat, and as integers: NaN is like itself, and -0 is not like 0."""
    return np.ascontiguousarray(x).reshape(-1).view(f"u{x.dtype.itemsize}")


def _find_runs(flags: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where each run of True begins, and how long it is."""
    ends = np.flatnonzero(np.diff(flags.astype(np.int8), prepend=0, append=0))
    return ends[::2], ends[1::2] - ends[::2]


def _list_places(start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """All places that are in runs."""
    before = np.cumsum(length) - length
    return np.repeat(start - before, length) + np.arange(int(length.sum()))

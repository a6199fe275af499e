"""Recordings on disk, believed only where every number of them fits the others.

    save, load   a file that is written once: an .npz without pickle
    Appended     a file that grows while a run is recorded, and can be read at any time

The first record of a file that grows is all of the recording, and each later one says what has
changed since: of a column, runs of numbers, where each begins in the flat column, how long it is,
and its numbers. Once these records have become longer than the recording, one record takes the
place of all, so that the file stays a few times as large as one of `save`.
"""

from __future__ import annotations

import math
import os
import weakref
from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from typing import Any

import numpy as np

from .._base.archive import MAX_BYTES, Archive, ArchiveWriter
from .._base.checked_files import check_kind, field, integer_field, report_damage
from .._base.growing import GrowingFile, Record, is_growing, read_records
from .._base.numbers import counted
from ..errors import InvalidArgumentError, RecordingWarning, warn
from . import probes, sketch, step_totals, updates
from .buckets import COLUMNS, Buckets
from .columns import Layout
from .listeners import Outlet
from .merge import BY_BUCKET, Columns
from .store import LOCK, Store

Loaded = tuple[Store, int]  # and how many steps are missing

_KIND = "recording"
_VERSION = 1
_COUNTS = ("histogram", "sketch")  # in the smallest unsigned integers that hold them
_MOST = np.iinfo(np.int32).max
_LARGEST = 1 << 48  # entries of a tensor: indices of samples are computed in int64
_RUN_PARTS = ("start", "length", "value")
# As long as all of a recording its changes may be, before it is written as one record again.
_TIMES = 2

Contents = tuple[dict[str, Any], Columns]  # what `parts` gives

# In this process, by path.
_OPEN: weakref.WeakValueDictionary[str, Appended] = weakref.WeakValueDictionary()


def save(path: str | PathLike[str], store: Store, missing: int = 0) -> None:
    """Write the buckets that are filled."""
    head, columns = parts(store, missing)
    with ArchiveWriter(_named(path), _KIND, _VERSION, head, compressed=True) as file:
        for name, x in columns.items():
            file.array(name, x)


def parts(store: Store, missing: int = 0) -> tuple[dict[str, Any], Columns]:
    """Return all of a recording: plain values, and copies of the filled buckets."""
    assert store.layout is not None, "nothing is recorded yet"
    layout = store.layout
    data = store.columns
    seen = store.seen
    stride = store.stride
    filled = -(-seen // stride)
    columns = {name: data[name][:filled] for name in BY_BUCKET}
    columns["histogram"] = data["histogram"][: -(-filled // layout.histogram_every)]
    columns |= {"sketch": data["sketch"], "each": data["each"][:, :seen]}
    columns |= {name: data[name] for name in updates.COLUMNS if name in data} | probes.filled(data)
    fields = {name: getattr(layout, name) for name in Layout.__dataclass_fields__}
    fields |= {
        "names": [*layout.names],
        "shapes": [[*s] for s in layout.shapes],
        "scalars": [*layout.scalars],
        "log": [*layout.log],
    }
    small = {name: _small(x) if name in _COUNTS else x.copy() for name, x in columns.items()}
    return {"seen": seen, "stride": stride, "missing": missing, **fields}, small


def load(path: str | PathLike[str], max_bytes: int = MAX_BYTES) -> Loaded:
    """Read a file of either kind.

    Raises:
        ValueError: no step is in it yet.
        DataLossError: it is damaged, too large, or something else.
    """
    path = os.fsdecode(fspath(path))
    if is_growing(path):
        loaded = _load_growing(path, max_bytes)
        if loaded is None:
            raise ValueError(f"{path} holds no step yet; load it once some are recorded")
        return loaded
    _refuse_logs_of_others(path)
    with Archive(path, _KIND, (_VERSION,), max_bytes=max_bytes) as file, report_damage(path, _KIND):
        return whole_of(file.head, file.arrays(), max_bytes)


def _refuse_logs_of_others(path: str) -> None:
    """Refuse text, such as a CSV file or a trainer's JSON, which is neither a recording nor
    damaged.
    """
    with open(path, "rb") as file:
        head = file.read(256)
    is_text = (
        bool(head)
        and not path.endswith(".npz")
        and all(byte >= 32 or byte in b"\t\r\n" for byte in head)
    )
    if is_text:
        raise InvalidArgumentError(
            f"{path} is a text file, not a recording. Files of Recorder.save (.npz) and "
            "Recorder.append_to are read; gl.record.read_log reads logs of other tools"
        )


def _named(path: str | PathLike[str]) -> str:
    name = os.fsdecode(fspath(path))
    return name if name.endswith(".npz") else f"{name}.npz"


def find(path: str | PathLike[str]) -> str:
    """Return what `save` wrote under this name; else the file that somebody gave exactly this name."""
    return named if os.path.exists(named := _named(path)) else os.fsdecode(fspath(path))


def whole_of(
    header: Mapping[str, Any], saved: Mapping[str, np.ndarray], max_bytes: int = MAX_BYTES
) -> Loaded:
    """Of what `parts` gave; ValueError unless all of it is of one recording."""
    layout, seen, stride = _layout(header, max_bytes)
    _check_columns(layout, saved, seen, stride)
    store = Store(layout.capacity, layout, _filled(layout, saved), seen, stride)
    return store, integer_field(header, "missing", 0)


def _layout(header: Mapping[str, Any], max_bytes: int) -> tuple[Layout, int, int]:
    """Layout, steps and stride, before room is made for them."""
    seen, stride = integer_field(header, "seen", 1), integer_field(header, "stride", 1)
    layout = Layout(
        _names(header, "names"),
        tuple(_shape(shape) for shape in field(header, "shapes", list)),
        _names(header, "scalars"),
        integer_field(header, "capacity", 1),
        integer_field(header, "entries", 0),
        integer_field(header, "histogram_every", 1),
        _names({"log": [], **header}, "log"),
    )
    _check_layout(layout, max_bytes, seen)
    if seen > layout.capacity * stride or stride & (stride - 1):
        raise ValueError(f"{seen} steps, {stride} a bucket, do not fill {layout.capacity} buckets")
    return layout, seen, stride


def _filled(layout: Layout, saved: Mapping[str, np.ndarray]) -> Columns:
    """Room for all buckets, with those that there are."""
    data = layout.empty()
    for name, x in saved.items():
        if name == "sketch":
            data[name] = x.astype(np.int32)
        elif name in ("each", *updates.COLUMNS, *probes.COLUMNS):
            data[name] = x
        else:
            data[name][: len(x)] = x
    return data


def _names(header: Mapping[str, Any], name: str) -> tuple[str, ...]:
    found = field(header, name, list)
    if not all(isinstance(x, str) for x in found) or len(set(found)) < len(found):
        raise ValueError(f"its {name} are not different texts")
    return tuple(found)


def _shape(found: Any) -> tuple[int, ...]:
    if not isinstance(found, list) or not all(type(x) is int and x >= 0 for x in found):
        raise ValueError(f"{found!r} is no shape")
    if math.prod(found) > _LARGEST:
        raise ValueError(f"no tensor has the shape {found}")
    return tuple(found)


def _check_layout(layout: Layout, max_bytes: int, seen: int) -> None:
    """Before room is made for it, and for so many steps."""
    if not layout.names or len(layout.names) != len(layout.shapes) or COLUMNS & set(layout.scalars):
        raise ValueError(
            f"{len(layout.shapes)} shapes and the scalars {layout.scalars} fit no {layout.names}"
        )
    needed = layout.nbytes + 4 * seen * len(step_totals.names(layout.scalars))
    if needed > max_bytes:
        raise ValueError(
            f"its {layout.capacity:,} buckets and {seen:,} steps take {needed:,} bytes, max_bytes "
            f"allows {max_bytes:,}"
        )


def _expected(layout: Layout, filled: int) -> tuple[dict[str, tuple[int, ...]], dict[str, type]]:
    """Shape and dtype of each column, as long as the filled buckets."""
    rows = dict.fromkeys(BY_BUCKET, filled) | {"histogram": -(-filled // layout.histogram_every)}
    shapes, dtypes = {}, {}
    for name, shape, dtype in layout.columns():
        shapes[name], dtypes[name] = (rows.get(name, shape[0]), *shape[1:]), dtype
    return shapes, dtypes


def _check_columns(layout: Layout, saved: Mapping[str, np.ndarray], seen: int, stride: int) -> None:
    """Exactly those that there are, and all of them about the same steps."""
    filled = -(-seen // stride)
    shapes, dtypes = _expected(layout, filled)
    if (x := saved.get("sketch")) is not None and x.ndim == 2 and sketch.is_width(x.shape[1]):
        shapes["sketch"] = (shapes["sketch"][0], x.shape[1])
    shapes["each"] = (shapes["each"][0], seen)
    updates.check(saved, len(layout.names), seen)
    probes.check(saved, seen)
    optional = {*updates.COLUMNS, *probes.COLUMNS}
    _check_shapes({name: x for name, x in saved.items() if name not in optional}, shapes, dtypes)
    taken = saved["taken"]
    steps = np.minimum(seen - np.arange(filled) * stride, stride)
    if (taken < 0).any() or (taken > steps).any():
        raise ValueError("it has buckets with more steps taken than there were")
    sketch.check(saved["sketch"], int(taken.sum()), len(layout.names) + 2)


def _check_shapes(
    saved: Mapping[str, np.ndarray],
    shapes: Mapping[str, tuple[int, ...]],
    dtypes: Mapping[str, type],
) -> None:
    """These columns and no others; float32 but for those of another dtype, and for counts."""
    if set(saved) != set(shapes):
        raise ValueError(f"it has the columns {', '.join(saved)}, it must have {', '.join(shapes)}")
    for name, x in saved.items():
        if x.shape != shapes[name]:
            raise ValueError(f"{name} must have shape {shapes[name]}, it has {x.shape}")
        if name in _COUNTS:
            counts = x[:, sketch.SHIFT :] if name == "sketch" else x
            if (
                x.dtype.kind not in "ui"
                or not 0 <= counts.min(initial=0) <= counts.max(initial=0) <= _MOST
            ):
                raise ValueError(f"{name} must hold counts, it holds {x.dtype}")
        elif x.dtype != dtypes.get(name, np.float32):
            raise ValueError(
                f"{name} must be {np.dtype(dtypes.get(name, np.float32))}, it is {x.dtype}"
            )


def _small(x: np.ndarray) -> np.ndarray:
    """Files stay small."""
    return x.astype(
        np.result_type(*(np.min_scalar_type(end) for end in (x.min(initial=0), x.max(initial=0))))
    )


class Appended(Outlet):
    """A file to which the steps of a recorder are appended; `Recorder.append_to` makes it.

    Not in TensorFlow.

    Attributes:
        path: of the file.
        steps: how many are in it.
    """

    def __init__(
        self, recorder: Buckets, path: str | PathLike[str], seconds: float, sync: bool
    ) -> None:
        self.path = os.path.abspath(os.fsdecode(os.fspath(path)))
        if self.path.endswith(".npz"):
            raise InvalidArgumentError(
                f"a file that grows is no .npz, got {self.path}; call it run.rec, say"
            )
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


def _load_growing(path: str | PathLike[str], max_bytes: int = MAX_BYTES) -> Loaded | None:
    """Read what is in a file that grows; None before its first record."""
    with report_damage(path, _KIND):
        contents = merge_records(read_records(path, max_bytes), max_bytes)
        return None if contents is None else whole_of(*contents, max_bytes)


def contents_now(rec: Buckets) -> Contents | None:
    """Return what `parts` has of the steps that do not wait on a device; None before the first."""
    with LOCK:
        rec.store.flush()
        return parts(rec.store, rec.missing_steps) if rec.store.seen else None


def _check_continues(rec: Buckets, path: str) -> None:
    """ValueError unless what is in a file are steps of this recorder; of those it does not have, a
    warning.
    """
    found = _load_growing(path)
    if found is None:
        return
    store, _ = found
    assert store.layout is not None  # of a recording that was saved
    own = contents_now(rec)
    steps = 0 if own is None else min(own[0]["seen"], store.seen)
    is_same = own is not None and tuple(own[0]["names"]) == store.layout.names
    if own is None or not is_same or not _agree(own[1]["each"], store.columns["each"], steps):
        raise InvalidArgumentError(
            f"{path} holds {counted(store.seen, 'step')} of another run. Go on with that one, rec "
            "= Recorder.load(path) and rec.append_to(path), give another path, or delete the file"
        )
    if store.seen > steps:
        warn(
            f"{path} has {counted(store.seen - steps, 'step')} more than this recorder, which is "
            f"that of step {steps}; they are replaced by those to come",
            RecordingWarning,
        )


def _agree(mine: np.ndarray, other: np.ndarray, steps: int) -> bool:
    """Tell whether two runs have the same first steps, as far as both know them."""
    if len(mine) != len(other):
        return False
    a = mine[:, :steps]
    b = other[:, :steps]
    both = ~(step_totals.lost(a) | step_totals.lost(b))
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
        arrays |= {
            f"{name} {part}": y for part, y in zip(_RUN_PARTS, (start, length, value), strict=True)
        }
    return {"head": head, "columns": like}, arrays


def merge_records(records: Iterable[Record], max_bytes: int) -> Contents | None:
    """The recording that some records make; None of no record.

    ValueError unless each follows the last.
    """
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


def _apply_changes(
    old: Columns, like: Mapping[str, Any], arrays: Mapping[str, Any], max_bytes: int
) -> Columns:
    sizes = {name: math.prod(_check_shape(shape)) for name, (_, shape) in like.items()}
    _check_memory(
        (np.dtype(dtype).itemsize * sizes[name] for name, (dtype, _) in like.items()), max_bytes
    )
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
    """Refuse runs that overlap, or that are of other numbers than there are: their places take
    memory.
    """
    if (
        start.dtype.kind != "i"
        or length.dtype.kind != "i"
        or start.ndim != 1
        or start.shape != length.shape
    ):
        raise ValueError("it does not say where its changes are")
    # Each bound by itself first, so that no sum of theirs can overflow.
    inside = ((start >= 0) & (length > 0) & (start <= size) & (length <= size)).all()
    ends = start + length
    if (
        not inside
        or (ends > size).any()
        or (start[1:] < ends[:-1]).any()
        or int(length.sum()) != value.size
    ):
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

"""Recordings on disk: .npz files without pickle, believed only where every number of them fits the others."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

import numpy as np

from .._base.archive import MAX_BYTES, Archive, ArchiveWriter
from .._base.checked_files import checked, field, whole
from ..errors import InvalidArgumentError
from . import per_step, probes, sketch, updates
from .buckets import COLUMNS
from .layout import Layout
from .merge import BY_BUCKET, Columns
from .store import Store

Loaded = tuple[Store, int]  # and how many steps are missing

_KIND = "recording"
_VERSION = 1
_COUNTS = ("histogram", "sketch")  # in the smallest unsigned integers that hold them
_MOST = np.iinfo(np.int32).max
_LARGEST = 1 << 48  # entries of a tensor: indices of samples are computed in int64


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
    fields |= {"names": [*layout.names], "shapes": [[*s] for s in layout.shapes], "scalars": [*layout.scalars]}
    small = {name: _small(x) if name in _COUNTS else x.copy() for name, x in columns.items()}
    return {"seen": seen, "stride": stride, "missing": missing, **fields}, small


def load(path: str | PathLike[str], max_bytes: int = MAX_BYTES) -> Loaded:
    """Read what `save` wrote; DataLossError unless all of it is of one recording."""
    path = os.fsdecode(fspath(path))
    _refuse_logs_of_others(path)
    with Archive(path, _KIND, (_VERSION,), max_bytes=max_bytes) as file, checked(path, _KIND):
        return whole_of(file.head, file.arrays(), max_bytes)


def _refuse_logs_of_others(path: str) -> None:
    """Refuse text, such as a CSV file or a trainer's JSON, which is neither a recording nor damaged."""
    with open(path, "rb") as file:
        head = file.read(256)
    is_text = bool(head) and not path.endswith(".npz") and all(byte >= 32 or byte in b"\t\r\n" for byte in head)
    if is_text:
        raise InvalidArgumentError(
            f"{path} is a text file, not a recording. Files of Recorder.save (.npz) and Recorder.append_to are read; "
            "logs of other tools are not. Norms that you have can be put into a recorder: gl.Recorder(entries=0), "
            "then prepare and extend"
        )


def _named(path: str | PathLike[str]) -> str:
    name = os.fsdecode(fspath(path))
    return name if name.endswith(".npz") else f"{name}.npz"


def find(path: str | PathLike[str]) -> str:
    """Return what `save` wrote under this name; else the file that somebody gave exactly this name."""
    return named if os.path.exists(named := _named(path)) else os.fsdecode(fspath(path))


def whole_of(header: Mapping[str, Any], saved: Mapping[str, np.ndarray], max_bytes: int = MAX_BYTES) -> Loaded:
    """Of what `parts` gave; ValueError unless all of it is of one recording."""
    layout, seen, stride = _layout(header, max_bytes)
    _check_columns(layout, saved, seen, stride)
    store = Store(layout.capacity)
    store.layout = layout
    store.columns = _filled(layout, saved)
    store.seen = seen
    store.stride = stride
    return store, whole(header, "missing", 0)


def _layout(header: Mapping[str, Any], max_bytes: int) -> tuple[Layout, int, int]:
    """Layout, steps and stride, before room is made for them."""
    seen, stride = whole(header, "seen", 1), whole(header, "stride", 1)
    layout = Layout(
        _names(header, "names"),
        tuple(_shape(shape) for shape in field(header, "shapes", list)),
        _names(header, "scalars"),
        whole(header, "capacity", 1),
        whole(header, "entries", 0),
        whole(header, "histogram_every", 1),
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
        raise ValueError(f"{len(layout.shapes)} shapes and the scalars {layout.scalars} fit no {layout.names}")
    needed = layout.nbytes + 4 * seen * len(per_step.names(layout.scalars))
    if needed > max_bytes:
        raise ValueError(
            f"its {layout.capacity:,} buckets and {seen:,} steps take {needed:,} bytes, max_bytes allows {max_bytes:,}"
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
    saved: Mapping[str, np.ndarray], shapes: Mapping[str, tuple[int, ...]], dtypes: Mapping[str, type]
) -> None:
    """These columns and no others; float32 but for those of another dtype, and for counts."""
    if set(saved) != set(shapes):
        raise ValueError(f"it has the columns {', '.join(saved)}, it must have {', '.join(shapes)}")
    for name, x in saved.items():
        if x.shape != shapes[name]:
            raise ValueError(f"{name} must have shape {shapes[name]}, it has {x.shape}")
        if name in _COUNTS:
            counts = x[:, sketch.SHIFT :] if name == "sketch" else x
            if x.dtype.kind not in "ui" or not 0 <= counts.min(initial=0) <= counts.max(initial=0) <= _MOST:
                raise ValueError(f"{name} must hold counts, it holds {x.dtype}")
        elif x.dtype != dtypes.get(name, np.float32):
            raise ValueError(f"{name} must be {np.dtype(dtypes.get(name, np.float32))}, it is {x.dtype}")


def _small(x: np.ndarray) -> np.ndarray:
    """Files stay small."""
    return x.astype(np.result_type(*(np.min_scalar_type(end) for end in (x.min(initial=0), x.max(initial=0)))))

"""Recordings on disk: .npz files without pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any
from zipfile import BadZipFile

import numpy as np

from .._files.replace import replaced
from .layout import Layout
from .merge import BY_BUCKET, Columns, from_steps, put

_VERSION = 2
_READ = (1, 2)


def save(path: str | PathLike[str], layout: Layout, data: Mapping[str, np.ndarray], seen: int, stride: int) -> None:
    """Write the buckets that are filled."""
    header = {"version": _VERSION, "seen": seen, "stride": stride, **vars_of(layout)}
    filled = -(-seen // stride)
    columns = {name: data[name][:filled] for name in BY_BUCKET}
    columns["histogram"] = data["histogram"][: -(-filled // layout.histogram_every)]
    columns["spectrum"] = data["spectrum"]
    for name in ("histogram", "spectrum"):  # small files
        columns[name] = columns[name].astype(np.min_scalar_type(columns[name].max(initial=0)))
    name = fspath(path)
    with replaced(name if name.endswith(".npz") else f"{name}.npz") as part, part.open("wb") as file:
        np.savez_compressed(file, header=np.array(json.dumps(header)), **columns)  # type: ignore[arg-type]


def vars_of(layout: Layout) -> dict[str, Any]:
    """The fields of a layout, without what was worked out from them."""
    return {name: getattr(layout, name) for name in Layout.__dataclass_fields__}


def layout_of(fields: Mapping[str, Any] | None) -> Layout | None:
    """The layout of these fields, as JSON has them; ValueError if it is none."""
    if fields is None:
        return None
    if set(fields) != set(Layout.__dataclass_fields__):
        raise ValueError(f"a layout has the fields {', '.join(Layout.__dataclass_fields__)}, got {', '.join(fields)}")
    words = {name: tuple(map(str, fields[name])) for name in ("names", "scalars")}
    shapes = tuple(tuple(int(n) for n in shape) for shape in fields["shapes"])
    return Layout(**{**fields, **words, "shapes": shapes})


def load(path: str | PathLike[str]) -> tuple[Layout, Columns, int, int]:
    """Layout, columns, steps and stride; ValueError if it is no recording."""
    try:
        with np.load(path, allow_pickle=False) as file:
            header = json.loads(str(file["header"]))
            saved = {name: file[name] for name in file.files if name != "header"}
    except (ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
        raise ValueError(f"{path} is not a recording; write one with Recorder.save") from error
    if header.get("version") not in _READ:
        raise ValueError(
            f"{path} is a recording of version {header.get('version')}, this gradlab reads {_READ[0]} to {_READ[-1]}"
        )
    return _first_version(header, saved) if header["version"] == 1 else _second_version(header, saved)


def _second_version(header: Mapping[str, Any], saved: Mapping[str, np.ndarray]) -> tuple[Layout, Columns, int, int]:
    fields = {name: header[name] for name in Layout.__dataclass_fields__}
    fields |= {"names": tuple(header["names"]), "scalars": tuple(header["scalars"])}
    layout = Layout(**{**fields, "shapes": tuple(tuple(shape) for shape in header["shapes"])})
    data = layout.empty()
    for name, x in saved.items():
        data[name][: len(x)] = x
    return layout, data, header["seen"], header["stride"]


def _first_version(header: Mapping[str, Any], saved: Mapping[str, np.ndarray]) -> tuple[Layout, Columns, int, int]:
    """Files of version 1 have a bucket for each step, sizes for shapes, and neither single entries nor seconds."""
    scalars = tuple(name for name in saved if name not in ("norm", "largest", "nonfinite", "histogram"))
    n = len(saved["norm"])
    shapes = tuple((size,) for size in header["sizes"])
    layout = Layout(tuple(header["names"]), shapes, scalars, max(1, n), entries=0, histogram_every=1)
    data, seconds = layout.empty(), np.full(n, np.nan, np.float32)
    numbers = np.stack([seconds, *(saved[name] for name in scalars)], axis=1)
    norm, largest, nonfinite = (saved[name] for name in ("norm", "largest", "nonfinite"))
    none = np.zeros((n, 0), np.float32)
    put(data, from_steps(np.arange(n, dtype=np.int32), norm, largest, nonfinite, none, numbers), 0, 1)
    data["histogram"][:n] = saved["histogram"]
    return layout, data, n, 1

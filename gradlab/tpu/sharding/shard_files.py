"""Shards on disk: .npz files cut into blocks of rows, so that a reader takes the blocks it needs and no more.

Each save has a number and a mark of its own, which its manifest, the heads of its shards and their
names repeat: of two saves into one folder at the same time, one is there whole.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..._base.archive import MAX_BYTES, Archive, ArchiveWriter
from ..._base.atomic_files import FORGOTTEN
from ..._base.checked_files import field, integer_field, read_json, report_damage, write_json
from ...errors import DataLossError

BLOCK = 1 << 22  # bytes of a block, or one row
MANIFEST = "manifest.json"
VERSION = 1  # of manifests and shards
_KIND, _SHARD = "manifest of tables", "shard of tables"
_NPY = 1024  # bytes, at the most, of a .npy beside its numbers


def shard_names(number: int, mark: str, count: int) -> list[str]:
    """Return the file names of a save."""
    return [f"shard-{number}-{k}-{mark}.npz" for k in range(count)]


def block_rows(width: int) -> int:
    """Return the number of float32 rows in a block."""
    return max(1, BLOCK // (4 * width))


class ShardWriter:
    """An .npz that appears under its name when it is complete. Arrays come block by block."""

    def __init__(self, path: Path, number: int = 0, mark: str = "", shard: int = 0) -> None:
        self._file = ArchiveWriter(
            path, _SHARD, VERSION, {"number": number, "mark": mark, "shard": shard}
        )

    def __enter__(self) -> ShardWriter:
        self._file.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._file.__exit__(*error)

    def rows(self, name: str, x: Any, count: int) -> None:
        """Write the first `count` rows of x, which may be on a device."""
        step = block_rows(x.shape[1])
        for start in range(0, count, step):
            self.array(f"{name}/{start // step}", np.asarray(x[start : min(start + step, count)]))

    def array(self, name: str, x: np.ndarray) -> None:
        """Write one array under a name."""
        self._file.array(name, x)


class ShardReader:
    """Arrays of one shard by name, read when they are asked for; what was read last is kept.

    Args:
        number, mark, shard: of the save, as its manifest says.

    Raises:
        DataLossError: the file is missing, damaged, or of another save; it is named.
        OSError: it cannot be opened.
    """

    def __init__(self, path: Path, number: int = 0, mark: str = "", shard: int = 0) -> None:
        self._path = path
        self._head = {"number": number, "mark": mark, "shard": shard}
        self._kept: tuple[str, np.ndarray] | None = None

    def whole(self, name: str, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
        """Return an array that is one piece, of this dtype, and of this shape but for its length."""
        with self._opened() as file:
            x = file.array(name, max_bytes=MAX_BYTES)
            if x.dtype != dtype or x.shape[:1] + shape != x.shape:
                raise ValueError(f"{name} is {x.dtype} of shape {x.shape}, not as it was saved")
            return x

    def rows(self, name: str, places: np.ndarray, width: int) -> np.ndarray:
        """Return the rows at these places."""
        step, out = block_rows(width), np.empty((places.size, width), np.float32)
        with self._opened() as file:
            for k in np.unique(places // step).tolist():
                asked = places // step == k
                block = self._block(file, f"{name}/{k}", _NPY + 4 * step * width)
                here = places[asked] - k * step
                if (
                    block.dtype != np.float32
                    or block.shape[1:] != (width,)
                    or here.max() >= len(block)
                ):
                    raise ValueError(
                        f"{name} is {block.dtype} of shape {block.shape}, not as it was saved"
                    )
                out[asked] = block[here]
        return out

    def _block(self, file: Archive, name: str, max_bytes: int) -> np.ndarray:
        if self._kept is None or self._kept[0] != name:
            self._kept = name, file.array(name, max_bytes=max_bytes)
        return self._kept[1]

    @contextmanager
    def _opened(self) -> Iterator[Archive]:
        with ExitStack() as stack:
            try:
                file = stack.enter_context(Archive(self._path, _SHARD, (VERSION,), max_bytes=None))
            except FileNotFoundError as error:
                raise DataLossError(
                    f"{self._path} is missing: its manifest names it; load another copy"
                ) from error
            stack.enter_context(report_damage(self._path, _SHARD))
            if file.head != self._head:
                raise ValueError(f"it is of the save {file.head}, the manifest is of {self._head}")
            yield file


def write_manifest(folder: Path, content: Mapping[str, Any]) -> None:
    """Replace the manifest in one step; the files that the older one named are removed, and forgotten ones."""
    earlier: list[str] = []
    with suppress(FileNotFoundError, DataLossError):
        earlier = read_manifest(folder)["files"]
    write_json(folder / MANIFEST, _KIND, VERSION, content)
    for old in _unnamed_files(folder, earlier, content["files"]):
        old.unlink(missing_ok=True)


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a saved folder: the fields that `checkpoint` writes.

    Raises:
        FileNotFoundError: nothing is.
        DataLossError: the manifest is damaged, or names other files than its own.
    """
    path = folder / MANIFEST
    try:
        content = read_json(path, _KIND, (VERSION,))
    except FileNotFoundError:
        raise FileNotFoundError(f"no state is saved in {folder}: it has no {MANIFEST}") from None
    with report_damage(path, _KIND):
        _check_fields(content)
    return content


def _check_fields(content: Mapping[str, Any]) -> None:
    """Raise ValueError unless each field is there and of its type."""
    mark = field(content, "mark", str)
    files = field(content, "files", list)
    if not re.fullmatch("[0-9a-f]{8}", mark):
        raise ValueError(f"its mark is {mark!r}")
    if not files or files != shard_names(integer_field(content, "number", 1), mark, len(files)):
        raise ValueError(f"its files are {files!r}, not those of a save")
    if field(content, "strategy", str) not in ("div", "mod"):
        raise ValueError(f"its strategy is {content['strategy']!r}")
    integer_field(content, "cores", 1)
    for table in field(content, "tables", list):
        (
            field(table, "name", str),
            integer_field(table, "rows", 1),
            integer_field(table, "width", 1),
            field(table, "slots", list),
        )
    rates = field(content, "pending", list, type(None)) or []
    shared = field(content, "shared", list)
    if len(shared) != len(content["tables"]):
        raise ValueError(f"it has {len(shared)} shared values for {len(content['tables'])} tables")
    if not all(type(x) is float for own in (*shared, dict(enumerate(rates))) for x in own.values()):
        raise ValueError("its shared values and rates are not all numbers")


def _unnamed_files(folder: Path, earlier: Collection[str], own: Collection[str]) -> Iterator[Path]:
    """Yield files that no manifest will name again.

    A save that runs at the same time keeps its shards.
    """
    for path in folder.glob("shard-*.npz*"):
        with suppress(FileNotFoundError):
            forgotten = time.time() - path.stat().st_mtime > FORGOTTEN
            if path.name not in own and (path.name in earlier or forgotten):
                yield path

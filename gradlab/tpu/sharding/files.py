"""Shards on disk: .npz files cut into blocks of rows, so that a reader takes the blocks it needs and no more."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from ..._files.replace import replaced

BLOCK = 1 << 22  # bytes of a block, or one row
MANIFEST = "manifest.json"
BROKEN = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)  # what reading an .npz may raise


def block_rows(width: int) -> int:
    """How many float32 rows stand in a block."""
    return max(1, BLOCK // (4 * width))


class ShardWriter:
    """An .npz that appears under its name when it is complete. Arrays come block by block."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> ShardWriter:
        with ExitStack() as stack:
            part = stack.enter_context(replaced(self._path))
            self._zip = stack.enter_context(zipfile.ZipFile(part, "w", zipfile.ZIP_STORED))
            self._open = stack.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)

    def rows(self, name: str, x: Any, count: int) -> None:
        """The first `count` rows of x, which may be on a device."""
        step = block_rows(x.shape[1])
        for start in range(0, count, step):
            self.array(f"{name}/{start // step}", np.asarray(x[start : min(start + step, count)]))

    def array(self, name: str, x: np.ndarray) -> None:
        """One array under a name."""
        with self._zip.open(f"{name}.npy", "w", force_zip64=True) as file:
            np.lib.format.write_array(file, np.ascontiguousarray(x), allow_pickle=False)


class ShardReader:
    """Arrays of one shard by name, read when they are asked for; what was read last is kept.

    Raises ValueError for a file that is missing or broken; it names the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept: tuple[str, np.ndarray] | None = None

    def array(self, name: str) -> np.ndarray:
        """The array of a name."""
        if self._kept is None or self._kept[0] != name:
            try:
                with zipfile.ZipFile(self._path) as file:
                    self._kept = name, np.load(io.BytesIO(file.read(f"{name}.npy")), allow_pickle=False)
            except BROKEN as error:
                raise ValueError(f"cannot read {name!r} of {self._path}: {error or type(error).__name__}") from error
        return self._kept[1]

    def rows(self, name: str, places: np.ndarray, width: int) -> np.ndarray:
        """The rows at these places."""
        step, out = block_rows(width), np.empty((places.size, width), np.float32)
        for k in np.unique(places // step).tolist():
            asked = places // step == k
            block = self.array(f"{name}/{k}")
            here = places[asked] - k * step
            if block.dtype != np.float32 or block.shape[1:] != (width,) or here.max() >= len(block):
                raise ValueError(f"{name!r} of {self._path} is {block.dtype} of shape {block.shape}, not as saved")
            out[asked] = block[here]
        return out


def write_manifest(folder: Path, content: dict[str, Any]) -> None:
    """Replace the manifest in one step; files that it does not name are removed."""
    with replaced(folder / MANIFEST) as part:
        part.write_text(json.dumps(content, indent=1), "utf-8")
    for old in _strangers(folder, content["files"]):
        old.unlink()


def read_manifest(folder: Path) -> dict[str, Any]:
    """What is saved in a folder.

    Raises:
        FileNotFoundError: nothing is. ValueError: the manifest is broken.
    """
    path = folder / MANIFEST
    try:
        content = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise FileNotFoundError(f"no state is saved in {folder}: it has no {MANIFEST}") from None
    except ValueError as error:
        raise ValueError(f"cannot read {path}: {error}") from error
    if not isinstance(content, dict) or content.get("format") != 1:
        raise ValueError(f"{path} is no manifest of format 1")
    return content


def _strangers(folder: Path, files: list[str]) -> Iterator[Path]:
    return (p for p in folder.glob("shard-*.npz*") if p.name not in files)

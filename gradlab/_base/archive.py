"""Archives: named arrays and plain values in one .npz, checked to the last bit when read.

Recordings, traces and training states are saved in this format. It is a ZIP file of .npy members,
which `np.load` reads, and a member gradlab.json with a kind, a version, plain values (the head) and
the dtype, shape and CRC-32 of each array.

The invariant of a reader: nothing is used, and no memory is allocated, before it is checked. An
archive may be damaged or made to harm, so sizes are compared with what the file can hold and what
the caller allows, arrays are never unpickled, and any fault is a DataLossError.
"""

from __future__ import annotations

import io
import math
import os
import struct
import zipfile
from collections.abc import Collection
from contextlib import ExitStack
from typing import Any, Self

import numpy as np

from .atomic_files import atomic_replace
from .checked_files import (
    MAX_TEXT,
    check_kind,
    dump_with_checksum,
    load_with_checksum,
    report_damage,
    require_regular,
)

MAX_BYTES = 1 << 32  # in memory, for all arrays of a file, unless the caller sets another limit
_HEAD = "gradlab.json"
_DTYPE_KINDS = "biufcUS"  # numbers and texts; bfloat16 and its kin are stored as integers
_PIECE = 1 << 20  # bytes that are read at a time
_END = struct.Struct("<4s4H2LH")  # the end record of a ZIP file without a comment
# In the end record they mean: the number is in a ZIP64 record.
_ZIP64_COUNT = 0xFFFF
_ZIP64_OFFSET = 0xFFFFFFFF
_MAX_RATIO = 1100  # DEFLATE compresses by less than this


class ArchiveWriter:
    """A writer of an archive, which replaces `path` when its block ends well.

    Arrays are written one by one, so they need not fit into memory together.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with ArchiveWriter(f"{folder}/a.npz", "example", 1, {"step": 3}) as file:
    ...         file.array("w", np.arange(3.0))
    ...     with Archive(f"{folder}/a.npz", "example", (1,)) as file:
    ...         file.head["step"], file.array("w").tolist()
    (3, [0.0, 1.0, 2.0])
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        kind: str,
        version: int,
        head: Any = None,
        *,
        compressed: bool = False,
    ) -> None:
        self._path = path
        self._method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
        self._arrays: dict[str, Any] = {}
        self._content = {
            "kind": kind,
            "version": version,
            "head": head or {},
            "arrays": self._arrays,
        }

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            part = stack.enter_context(atomic_replace(self._path))
            self._zip = stack.enter_context(zipfile.ZipFile(part, "w", self._method))
            # Nothing raised, so the file stays open until `__exit__`.
            self._open = stack.pop_all()
        return self

    def __exit__(self, error_type: Any, *error: Any) -> None:
        if error_type is not None:
            self._open.__exit__(error_type, *error)
            return
        with self._open:
            # A ZipInfo instead of a name, so that equal content makes equal bytes: it has no time.
            self._zip.writestr(
                zipfile.ZipInfo(_HEAD), dump_with_checksum(self._content), self._method
            )

    def array(self, name: str, x: np.ndarray) -> None:
        """Write an array under a name.

        Raises:
            TypeError: it holds something other than numbers or texts.
        """
        dtype, plain = _to_npy(name, x)
        with self._zip.open(f"{name}.npy", "w", force_zip64=True) as file:
            np.lib.format.write_array(file, plain, allow_pickle=False)
        crc = self._zip.getinfo(f"{name}.npy").CRC
        self._arrays[name] = {"dtype": dtype, "shape": list(plain.shape), "crc32": crc}


class Archive:
    """An open archive, which reads each array when it is asked for.

    Args:
        kind: what the file must be, in words that errors show.
        versions: those that the caller can read.
        max_bytes: the limit for the memory of all arrays together; None if the caller reads them
            one by one.

    Raises:
        OSError: it cannot be opened.
        DataLossError: it is something else, damaged, too large, or newer than this.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        kind: str,
        versions: Collection[int],
        *,
        max_bytes: int | None = MAX_BYTES,
    ) -> None:
        self._path = path
        self._kind = kind
        require_regular(path)
        with ExitStack() as stack:
            file = stack.enter_context(open(path, "rb"))
            with report_damage(path, kind):
                self._zip = stack.enter_context(zipfile.ZipFile(file))
                self._members = _check_members(self._zip, max_bytes)
                content = self._read_head()
                check_kind(content, kind, versions)
                self.head: dict[str, Any] = content["head"]
                self._entries: dict[str, Any] = content["arrays"]
                if set(self._entries) != set(self.names()):
                    raise ValueError("its arrays are not those that were written")
            # Nothing raised, so the file stays open until `__exit__`.
            self._open = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)

    def names(self) -> list[str]:
        """Return the names of its arrays."""
        return [name.removesuffix(".npy") for name in self._members if name != _HEAD]

    def arrays(self) -> dict[str, np.ndarray]:
        """Read all arrays."""
        return {name: self.array(name) for name in self.names()}

    def array(
        self, name: str, shape: tuple[int, ...] | None = None, *, max_bytes: int | None = None
    ) -> np.ndarray:
        """Read the array of a name.

        Args:
            shape: the shape that it must have, if given.
            max_bytes: the limit for its memory.

        Raises:
            DataLossError: it is missing, damaged, or of another shape or size.
        """
        with report_damage(self._path, self._kind):
            info = self._members.get(f"{name}.npy")
            if info is None:
                raise ValueError(f"it has no array {name!r}")
            if max_bytes is not None and info.file_size > max_bytes:
                raise ValueError(
                    f"{name} takes {info.file_size:,} bytes, {max_bytes:,} are allowed"
                )
            x = _parse_npy(self._read(info))
            entry = self._entries[name]
            x = x.view(dtype_named(entry["dtype"]))
            if [list(x.shape), info.CRC] != [entry["shape"], entry["crc32"]]:
                raise ValueError(f"{name} is not the array that was written")
            if shape is not None and x.shape != shape:
                raise ValueError(f"{name} must have shape {shape}, it has {x.shape}")
            return x

    def _read(self, info: zipfile.ZipInfo) -> np.ndarray:
        """Return the bytes of a member; `zipfile` checks their CRC-32 after the last one."""
        buffer = np.empty(info.file_size, np.uint8)
        start = 0
        with self._zip.open(info) as file:
            while piece := file.read(_PIECE):
                end = start + len(piece)
                buffer[start:end] = np.frombuffer(piece, np.uint8)
                start = end
        if start < info.file_size:
            raise ValueError(f"{info.filename} is cut off")
        return buffer

    def _read_head(self) -> dict[str, Any]:
        info = self._members.get(_HEAD)
        if info is None:
            raise ValueError(f"it has no {_HEAD}")
        if info.file_size > MAX_TEXT:
            raise ValueError(f"its head is larger than {MAX_TEXT:,} bytes")
        return load_with_checksum(self._read(info).tobytes().decode("utf-8"))


def _check_members(file: zipfile.ZipFile, max_bytes: int | None) -> dict[str, zipfile.ZipInfo]:
    """Return the members by name; ValueError unless all of them can be read safely.

    Names are distinct, members are packed as `ArchiveWriter` packs them, and none claims to be
    larger than it can be.
    """
    infos = file.infolist()
    members = {info.filename: info for info in infos}
    if len(members) != len(infos):
        raise ValueError("two of its members have one name")
    _check_end(file, len(infos))
    for info in infos:
        is_encrypted = info.flag_bits & 1
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or is_encrypted:
            raise ValueError(f"{info.filename} is packed in another way than gradlab's")
        if info.file_size > _MAX_RATIO * (info.compress_size + 1):
            raise ValueError(f"{info.filename} says that it is larger than it can be")
    total = sum(info.file_size for info in infos)
    if max_bytes is not None and total > max_bytes:
        raise ValueError(f"its arrays take {total:,} bytes, max_bytes allows {max_bytes:,}")
    return members


def _check_end(file: zipfile.ZipFile, num_members: int) -> None:
    """Raise ValueError unless the end record agrees with the directory that `zipfile` has read.

    `zipfile` doesn't compare them: a directory entry with a damaged length hides the entries after
    it, and an end record of zeros is that of an empty file.
    """
    assert file.fp is not None
    end_of_directory = file.fp.seek(-_END.size, os.SEEK_END)
    mark, _, _, _, count, size, start, _ = _END.unpack(file.fp.read(_END.size))
    if mark != b"PK\5\6":
        raise ValueError("something follows its directory")
    if count == _ZIP64_COUNT or start == _ZIP64_OFFSET:
        return  # the numbers are in a ZIP64 record, which `zipfile` checks
    if count != num_members or start + size != end_of_directory:
        raise ValueError(
            f"its directory has {num_members} of {count} members, or is not where it was written"
        )


def _to_npy(name: str, x: np.ndarray) -> tuple[str, np.ndarray]:
    """Return the name of the dtype, and an array of the same bits that the .npy format knows."""
    if x.dtype.kind in _DTYPE_KINDS:
        return x.dtype.str, np.asarray(x, order="C")
    if x.dtype.kind == "V" and x.dtype.fields is None and x.dtype.name != f"void{8 * x.itemsize}":
        return x.dtype.name, np.asarray(x, order="C").view(f"u{x.itemsize}")
    raise TypeError(f"a file holds arrays of numbers; {name} holds {x.dtype}")


def dtype_named(name: str) -> np.dtype:
    """Return the dtype with this `str` or, for bfloat16 and its kin, this name."""
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes  # comes with JAX; registers bfloat16 and its kin

        dtype: np.dtype = np.dtype(getattr(ml_dtypes, name))
        return dtype


def _parse_npy(data: np.ndarray) -> np.ndarray:
    """Return the array of the bytes of a .npy, as a view of them."""
    start = io.BytesIO(data[: 1 << 16].tobytes())
    version = np.lib.format.read_magic(start)
    read_header = np.lib.format.read_array_header_2_0
    if version == (1, 0):
        read_header = np.lib.format.read_array_header_1_0
    shape, is_fortran, dtype = read_header(start)
    if dtype.kind not in _DTYPE_KINDS:
        raise ValueError(f"it holds an array of {dtype}")
    numbers = data[start.tell() :]
    if numbers.size != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"an array of shape {shape} and dtype {dtype} has {numbers.size:,} bytes")
    return numbers.view(dtype).reshape(shape, order="F" if is_fortran else "C")

"""Named arrays and plain values in one .npz, checked to the last bit when they are read."""

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

from .atomic_files import replaced
from .checked_files import MAX_TEXT, check_kind, checked, require_regular, sealed, unsealed

MAX_BYTES = 1 << 32  # what the arrays of a file may take in memory, if its reader says nothing else
_HEAD = "gradlab.json"
_KINDS = "biufcUS"  # numbers and texts; bfloat16 and its kin are stored as integers
_PIECE = 1 << 20
_END = struct.Struct("<4s4H2LH")  # of a ZIP file without a comment
_MANY, _FAR = 0xFFFF, 0xFFFFFFFF  # members and bytes, or more
_PACKED = 1100  # times: what DEFLATE can unpack from a byte is less


class ArchiveWriter:
    """An .npz that appears under its name when its block ends well.

    Arrays come one by one, and need not fit at once.

    `np.load` reads it as any other. Its member gradlab.json says what it is, and has the values of
    the head and the dtype, shape, and checksum of each array.

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
            part = stack.enter_context(replaced(self._path))
            self._zip = stack.enter_context(zipfile.ZipFile(part, "w", self._method))
            self._open = stack.pop_all()
        return self

    def __exit__(self, kind: Any, *error: Any) -> None:
        if kind is not None:
            self._open.__exit__(kind, *error)
            return
        with self._open:
            # Without the time.
            self._zip.writestr(zipfile.ZipInfo(_HEAD), sealed(self._content), self._method)

    def array(self, name: str, x: np.ndarray) -> None:
        """One array under a name.

        Raises:
            TypeError: it holds something other than numbers or texts.
        """
        dtype, plain = _plain(name, x)
        with self._zip.open(f"{name}.npy", "w", force_zip64=True) as file:
            np.lib.format.write_array(file, plain, allow_pickle=False)
        crc = self._zip.getinfo(f"{name}.npy").CRC
        self._arrays[name] = {"dtype": dtype, "shape": list(plain.shape), "crc32": crc}


class Archive:
    """A file of `ArchiveWriter`, opened; arrays are read when they are asked for.

    Nothing is believed before it is checked: the kind and version of the file, the checksum of its
    head, and of each array its size, dtype, shape and checksum. Memory is taken only for sizes that
    the file can hold and the reader allows.

    Args:
        kind: what the file must be, in words that its readers know.
        versions: those that the caller reads.
        max_bytes: what its arrays may take in memory, all together; None where the caller reads
            them one by one.

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
        self._path, self._kind = path, kind
        require_regular(path)
        with ExitStack() as stack:
            file = stack.enter_context(open(path, "rb"))
            with checked(path, kind):
                self._zip = stack.enter_context(zipfile.ZipFile(file))
                self._members = _members(self._zip, max_bytes)
                content = self._content()
                check_kind(content, kind, versions)
                self.head: dict[str, Any] = content["head"]
                self._entries: dict[str, Any] = content["arrays"]
                if set(self._entries) != set(self.names()):
                    raise ValueError("its arrays are not those that were written")
            self._open = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)

    def names(self) -> list[str]:
        """Names of its arrays."""
        return [name.removesuffix(".npy") for name in self._members if name != _HEAD]

    def arrays(self) -> dict[str, np.ndarray]:
        """All of them."""
        return {name: self.array(name) for name in self.names()}

    def array(
        self, name: str, shape: tuple[int, ...] | None = None, *, max_bytes: int | None = None
    ) -> np.ndarray:
        """The array of a name, which nothing else holds; of this shape if one is given, no larger
        than `max_bytes`.

        Raises:
            DataLossError: it is missing, damaged, or another one than the file says.
        """
        with checked(self._path, self._kind):
            info = self._members.get(f"{name}.npy")
            if info is None:
                raise ValueError(f"it has no array {name!r}")
            if max_bytes is not None and info.file_size > max_bytes:
                raise ValueError(
                    f"{name} takes {info.file_size:,} bytes, {max_bytes:,} are allowed"
                )
            x = _parsed(self._read(info))
            entry = self._entries[name]
            x = x.view(dtype_named(entry["dtype"]))
            if [list(x.shape), info.CRC] != [entry["shape"], entry["crc32"]]:
                raise ValueError(f"{name} is not the array that was written")
            if shape is not None and x.shape != shape:
                raise ValueError(f"{name} must have shape {shape}, it has {x.shape}")
            return x

    def _read(self, info: zipfile.ZipInfo) -> np.ndarray:
        """The bytes of a member, as many as the file says; `zipfile` checks their CRC-32 at the
        last one.
        """
        buffer = np.empty(info.file_size, np.uint8)
        at = 0
        with self._zip.open(info) as file:
            while piece := file.read(_PIECE):
                buffer[at : at + len(piece)] = np.frombuffer(piece, np.uint8)
                at += len(piece)
        if at < info.file_size:
            raise ValueError(f"{info.filename} is cut off")
        return buffer

    def _content(self) -> dict[str, Any]:
        info = self._members.get(_HEAD)
        if info is None:
            raise ValueError(f"it has no {_HEAD}")
        if info.file_size > MAX_TEXT:
            raise ValueError(f"its head is larger than {MAX_TEXT:,} bytes")
        return unsealed(self._read(info).tobytes().decode("utf-8"))


def _members(file: zipfile.ZipFile, max_bytes: int | None) -> dict[str, zipfile.ZipInfo]:
    """By name: no two of a name, none packed in a way that is not ours, none that claims more than
    it can hold.
    """
    infos = file.infolist()
    found = {info.filename: info for info in infos}
    if len(found) != len(infos):
        raise ValueError("two of its members have one name")
    _check_end(file, len(infos))
    for info in infos:
        if (
            info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
            or info.flag_bits & 1
        ):
            raise ValueError(f"{info.filename} is packed in another way than gradlab's")
        if info.file_size > _PACKED * (info.compress_size + 1):
            raise ValueError(f"{info.filename} says that it is larger than it can be")
    total = sum(info.file_size for info in infos)
    if max_bytes is not None and total > max_bytes:
        raise ValueError(f"its arrays take {total:,} bytes, max_bytes allows {max_bytes:,}")
    return found


def _check_end(file: zipfile.ZipFile, found: int) -> None:
    """ValueError unless the directory is where the end of the file tells, with as many members.

    One with a damaged length swallows those after it, and an end of zeros is that of an empty file:
    `zipfile` believes both.
    """
    assert file.fp is not None
    place = file.fp.seek(-_END.size, os.SEEK_END)
    mark, _, _, _, told, size, start, _ = _END.unpack(file.fp.read(_END.size))
    if mark != b"PK\5\6":
        raise ValueError("something follows its directory")
    # The numbers are in a record of ZIP64's, which `zipfile` checks.
    if told == _MANY or start == _FAR:
        return
    if (told, start + size) != (found, place):
        raise ValueError(
            f"its directory has {found} of {told} members, or is not where it was written"
        )


def _plain(name: str, x: np.ndarray) -> tuple[str, np.ndarray]:
    """The name of its dtype, and an array that the .npy format knows."""
    if x.dtype.kind in _KINDS:
        return x.dtype.str, np.asarray(x, order="C")
    if x.dtype.kind == "V" and x.dtype.fields is None and x.dtype.name != f"void{8 * x.itemsize}":
        return x.dtype.name, np.asarray(x, order="C").view(f"u{x.itemsize}")
    raise TypeError(f"a file holds arrays of numbers; {name} holds {x.dtype}")


def dtype_named(name: str) -> np.dtype:
    """Of a dtype's `str` or, for bfloat16 and its kin, its name."""
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes  # comes with JAX; registers bfloat16 and its kin

        found: np.dtype = np.dtype(getattr(ml_dtypes, name))
        return found


def _parsed(data: np.ndarray) -> np.ndarray:
    """The array of a .npy that is whole in memory, as a view of it."""
    start = io.BytesIO(data[: 1 << 16].tobytes())
    version = np.lib.format.read_magic(start)
    header = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, fortran, dtype = header(start)
    if dtype.kind not in _KINDS:
        raise ValueError(f"it holds an array of {dtype}")
    numbers = data[start.tell() :]
    if numbers.size != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"an array of shape {shape} and dtype {dtype} has {numbers.size:,} bytes")
    return numbers.view(dtype).reshape(shape, order="F" if fortran else "C")

"""An append-only file of records: what is in it whole was asked for, what is torn at its end was never answered."""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from .._base.arrays import Array, as_array, is_jax, precision
from .._files.replace import sync_folder

if TYPE_CHECKING:
    from filelock import FileLock

Record = tuple[dict[str, Any], dict[str, Array]]  # plain values, arrays by name

MAGIC = b"gradlab log 1\n"
_FRAME = struct.Struct("<QI")  # bytes of the payload that follows; CRC-32 of these eight bytes and the payload
_PATIENCE = 30.0  # seconds that a dying process is given to let go of its log


class Log:
    """Records on disk, each of them plain values and arrays; without pickle.

        file = "gradlab log 1\\n" frame*,  frame = length checksum payload,  payload = JSON "\\n" arrays' bytes

    Opening it drops a torn last frame, which nobody has been told of, and waits until no other process has it open.

    Args:
        path: of the file, which is made if it is not there.
        sync: a record is on the disk before `append` returns (fsync), and outlives the machine; otherwise it has been
            handed to the operating system, and outlives the process.

    Raises: ValueError: not such a file, or damaged before its end. TimeoutError: another process keeps it open.
    OSError: it cannot be read or written; what was half written is taken back, and the log is closed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Log(Path(folder) / "run.log") as log:
    ...     log.append({"worker": 3}, {"w": np.float32([1.0, 2.0])})
    ...     list(log)
    [({'worker': 3}, {'w': array([1., 2.], dtype=float32)})]
    """

    def __init__(self, path: str | Path, sync: bool = True) -> None:
        self.path, self.sync = Path(path), sync
        self._file: IO[bytes] = open(self.path, "a+b", buffering=0)  # noqa: SIM115  # closed by `close`
        self._lock = _lock_of(self.path)
        try:
            _take(self._lock, self.path)
            self._end = self._whole()
            self._file.truncate(self._end)
            if self._end == 0:
                self._write(MAGIC)
                if sync:
                    sync_folder(self.path.parent)
        except BaseException:
            self.close()
            raise

    def append(self, fields: Mapping[str, Any], arrays: Mapping[str, Array] | None = None) -> None:
        """Add a record; once this returns it will be read again."""
        payload = pack(fields, arrays or {})
        length = len(payload).to_bytes(8, "little")
        self._write(_FRAME.pack(len(payload), zlib.crc32(payload, zlib.crc32(length))) + payload)

    def __iter__(self) -> Iterator[Record]:
        """The records from the first to the last."""
        with open(self.path, "rb") as file:
            for payload, _ in _payloads(file, self._end, self.path):
                yield unpack(payload)

    def close(self) -> None:
        self._file.close()
        self._lock.release()

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _whole(self) -> int:
        """Where the last whole frame ends."""
        size, end = os.fstat(self._file.fileno()).st_size, 0
        with open(self.path, "rb") as file:
            for _, end in _payloads(file, size, self.path):  # noqa: B007  # the last one counts
                pass
            return end or (len(MAGIC) if size >= len(MAGIC) else 0)

    def _write(self, data: bytes) -> None:
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) :]
            if self.sync:
                os.fsync(self._file.fileno())
        except OSError:
            self._file.truncate(self._end)
            self.close()
            raise
        self._end += len(data)


def _payloads(file: IO[bytes], size: int, path: Path) -> Iterator[tuple[bytes, int]]:
    """Each whole payload up to `size`, and where its frame ends."""
    magic = file.read(min(size, len(MAGIC)))
    if not MAGIC.startswith(magic):
        raise ValueError(f"{path} is no gradlab log: it begins with {magic!r}")
    end = len(magic)
    while size - end >= _FRAME.size:
        length, checksum = _FRAME.unpack(frame := file.read(_FRAME.size))
        next_end = end + _FRAME.size + length
        if next_end > size:
            return
        payload = file.read(length)
        if zlib.crc32(payload, zlib.crc32(frame[:8])) != checksum:
            if next_end == size:
                return
            raise ValueError(f"{path} is damaged at byte {end} of {size}: the checksum of a record does not fit")
        end = next_end
        yield payload, end


def pack(fields: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """A record as bytes. Raises: TypeError: an array holds Python objects, or a field is not plain."""
    read = {name: as_array(x, name) for name, x in arrays.items()}
    kept = {name: np.asarray(x) for name, x in read.items()}
    if objects := sorted(name for name, x in kept.items() if x.dtype.hasobject):
        raise TypeError(f"a log holds arrays of numbers; these hold Python objects: {', '.join(objects)}")
    layout = [[name, _name(x.dtype), x.shape, is_jax(read[name])] for name, x in kept.items()]
    head = json.dumps({"fields": dict(fields), "arrays": layout})
    return b"".join([head.encode(), b"\n", *(x.tobytes() for x in kept.values())])


def unpack(payload: bytes) -> Record:
    """The record that `pack` packed: NumPy arrays, and JAX arrays where they were such."""
    line, _, data = payload.partition(b"\n")
    head = json.loads(line)
    arrays, at = {}, 0
    for name, dtype, shape, jax in head["arrays"]:
        x = np.frombuffer(data, dtype, int(np.prod(shape)), at).reshape(shape)
        at += x.nbytes
        arrays[name] = _to_jax(x) if jax else x
    return head["fields"], arrays


def _name(dtype: np.dtype) -> str:
    """With its byte order; JAX's bfloat16 and its kin have only their names."""
    return dtype.name if dtype.kind == "V" else dtype.str


def _to_jax(x: np.ndarray) -> Array:
    from .._steps.jax import jnp

    with precision(x.dtype):
        return jnp.asarray(x)


def _lock_of(path: Path) -> FileLock:
    """The lock of a log, on a file beside it: on some systems a locked file itself cannot be read."""
    from filelock import FileLock

    return FileLock(path.with_name(f"{path.name}.lock"), thread_local=False)


def _take(lock: FileLock, path: Path) -> None:
    """Wait for the lock: a server that is being killed may still write its last record."""
    try:
        lock.acquire(timeout=_PATIENCE, poll_interval=0.02)
    except TimeoutError:
        raise TimeoutError(f"another run writes to {path}; end it or give another log") from None

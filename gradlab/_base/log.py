"""An append-only file of records: what is in it whole was asked for, what is torn at its end was never answered."""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import DataLossError
from .arrays import Array, as_array, is_jax, precision
from .atomic_files import replaced, sync_folder
from .checked_files import MAX_TEXT, checked, require_regular
from .extras import need

if TYPE_CHECKING:
    from filelock import FileLock

Record = tuple[dict[str, Any], dict[str, Array]]  # plain values, arrays by name

MAGIC = b"gradlab log 2\n"
_MAGIC_1 = b"gradlab log 1\n"
_HEAD = struct.Struct("<QII")  # bytes of the payload; its CRC-32; CRC-32 of these twelve bytes and all heads before
_HEAD_1 = struct.Struct("<QI")  # bytes of the payload; CRC-32 of these eight bytes and the payload
_END = b"end\n"  # no frame ends in zeros, which a machine that loses power may leave behind
_SECTOR = 512  # bytes that a disk writes whole or not at all
_PATIENCE = 30.0  # seconds that a dying process is given to let go of its log
_CHUNK = 1 << 20


class Log:
    """Records on disk, each of them plain values and arrays; without pickle.

        file = "gradlab log 2\\n" frame*,  frame = length checksum chain payload "end\\n",
        payload = JSON "\\n" arrays' bytes

    The checksum is that of the payload; the chain is one of this length and checksum and of those of all frames before,
    so that a length is believed only where it was written, and a frame that is missing, moved or doubled is seen.

    What is appended is in the file before anybody is told, so that only the last frame can be torn: by a process that
    died, which leaves its first bytes, or by a machine that lost power, which may leave the file longer, with zeros in
    the sectors of 512 bytes that were not written. Opening a log therefore drops its last frame if the file ends
    within it, or if all is zeros from its beginning or from that of one of its sectors to the end of the file; what is
    dropped is kept beside the log, as NAME.torn-BYTE, where BYTE is how long the log is then. Everything else that does
    not fit is damage: it raises, and the file stays as it is. Two losses leave no trace in a file and are not seen: a
    file cut off, or filled up with zeros, where a frame ends or in its last one. A server's answers show them: see
    `gradlab.workers.durable`.

    Logs of format 1, without the chain, are read and appended to as they are. There a length is not believed if a whole
    frame follows the torn one, or if what is there up to the end of the file is a whole frame of another length.

    Opening waits until no other process has it open.

    Args:
        path: of the file, which is made if it is not there.
        sync: a record is on the disk before `append` returns (fsync), and outlives the machine; otherwise it has been
            handed to the operating system, and outlives the process.

    Raises: DataLossError: not such a file, or damaged before its end. TimeoutError: another process keeps it open.
    OSError: it cannot be read or written; what was half written is taken back, and the log is closed.

    Source: of the rules what a crash leaves, "WAL-mode File Format" of SQLite and "leveldb Log format" (2026).

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
            self._mark = self._whole()
            self._drop_torn()
            if self._mark.end == 0:
                self._write(MAGIC, zlib.crc32(MAGIC))
                if sync:
                    sync_folder(self.path.parent)
        except BaseException:
            self.close()
            raise

    def append(self, fields: Mapping[str, Any], arrays: Mapping[str, Array] | None = None) -> None:
        """Add a record; once this returns it will be read again."""
        payload = pack(fields, arrays or {})
        if self._mark.is_old:
            length = len(payload).to_bytes(8, "little")
            return self._write(_HEAD_1.pack(len(payload), zlib.crc32(payload, zlib.crc32(length))) + payload, 0)
        return self._write(*_framed(payload, self._mark.chain))

    def restart(self, fields: Mapping[str, Any], arrays: Mapping[str, Array] | None = None) -> None:
        """Let one record take the place of all; a reader meanwhile sees the old ones or the new one.

        Raises: OSError: it cannot be written; the file is what it was, and the log is closed.
        """
        frame, chain = _framed(pack(fields, arrays or {}), zlib.crc32(MAGIC))
        try:
            with replaced(self.path) as part:
                part.write_bytes(MAGIC + frame)
                self._file.close()  # some systems replace no open file
        except BaseException:
            self.close()
            raise
        self._file = open(self.path, "a+b", buffering=0)  # noqa: SIM115  # closed by `close`
        self._mark = _Mark(len(MAGIC) + len(frame), chain, False)

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._mark.end

    def __iter__(self) -> Iterator[Record]:
        """The records from the first to the last."""
        with open(self.path, "rb") as file:
            end = 0
            for payload, mark in _frames(file, self._mark.end, self.path):
                with checked(self.path, "log"):
                    record = unpack(payload)
                end = mark.end
                yield record
            if end not in (0, self._mark.end):
                raise _damage(self.path, end, self._mark.end, "it was changed after it was opened")

    def close(self) -> None:
        self._file.close()
        self._lock.release()

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _whole(self) -> _Mark:
        """The end of the last whole frame."""
        with open(self.path, "rb") as file:
            mark = _begin(file, size := os.fstat(file.fileno()).st_size, self.path)
            for _, mark in _frames(file, size, self.path):  # noqa: B007  # the last one counts
                pass
            return mark

    def _drop_torn(self) -> None:
        """Cut off what follows the last whole frame, and keep it beside the log."""
        end = self._mark.end
        if os.fstat(self._file.fileno()).st_size == end:
            return
        with replaced(self.path.with_name(f"{self.path.name}.torn-{end}")) as part, open(self.path, "rb") as file:
            file.seek(end)
            with part.open("wb") as kept:
                while chunk := file.read(_CHUNK):
                    kept.write(chunk)
        self._file.truncate(end)

    def _write(self, data: bytes, chain: int) -> None:
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) :]
            if self.sync:
                os.fsync(self._file.fileno())
        except OSError:
            self._file.truncate(self._mark.end)
            self.close()
            raise
        self._mark = _Mark(self._mark.end + len(data), chain, self._mark.is_old)


def records(path: str | os.PathLike[str], max_bytes: int | None = None) -> Iterator[Record]:
    """The whole records of a log, which another process may be writing: nothing is locked, waited for or changed.

    Args:
        max_bytes: what the arrays of a record may take; a longer one is refused before it is read.

    Raises: OSError: it cannot be opened. DataLossError: not such a file, damaged before its end, or too large.
    """
    path = Path(path)
    require_regular(path)
    most = None if max_bytes is None else max_bytes + MAX_TEXT
    with open(path, "rb") as file:
        for payload, _ in _frames(file, os.fstat(file.fileno()).st_size, path, most):
            with checked(path, "log"):
                yield unpack(payload)


def is_log(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file begins as a log does."""
    require_regular(path)
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) in (MAGIC, _MAGIC_1)


class _Mark(NamedTuple):
    """A place between two frames: its byte, the chain so far, and whether the log is of format 1, which has none."""

    end: int
    chain: int
    is_old: bool


def _framed(payload: bytes, chain: int) -> tuple[bytes, int]:
    """A frame that follows this place of the chain, and the chain behind it."""
    length_and_sum = _HEAD.pack(len(payload), zlib.crc32(payload), 0)[:12]
    chain = zlib.crc32(length_and_sum, chain)
    return length_and_sum + chain.to_bytes(4, "little") + payload + _END, chain


def _begin(file: IO[bytes], size: int, path: Path) -> _Mark:
    """Read what a log begins with: where its first frame is, or 0 if even this was torn."""
    file.seek(0)
    magic = file.read(min(size, len(MAGIC)))
    if magic not in (MAGIC, _MAGIC_1):
        if size <= len(MAGIC) and any(whole.startswith(magic.rstrip(b"\0")) for whole in (MAGIC, _MAGIC_1)):
            return _Mark(0, 0, False)
        raise DataLossError(
            f"{path} is no gradlab log: it begins with {magic!r}. It was left as it was; give another path"
        )
    return _Mark(len(magic), zlib.crc32(MAGIC), magic == _MAGIC_1)


def _frames(file: IO[bytes], size: int, path: Path, most: int | None = None) -> Iterator[tuple[bytes, _Mark]]:
    """Each whole payload up to `size`, and the place behind its frame. What is torn ends it, what is damaged raises."""
    mark = _begin(file, size, path)
    while mark.end and mark.end < size:
        file.seek(mark.end)
        if most is not None:
            _check_length(file, size, mark, path, most)
            file.seek(mark.end)
        found = (_old_frame if mark.is_old else _frame)(file, size, mark, path)
        if found is None:
            return
        yield found
        mark = found[1]


def _check_length(file: IO[bytes], size: int, mark: _Mark, path: Path, most: int) -> None:
    """Raise DataLossError if reading the next record would take more than so many bytes."""
    length = int.from_bytes(file.read(8), "little")  # both formats begin a frame with it
    # A length beyond the file is torn or damaged, and never read. But in format 1 the rest of the file is read then, to
    # tell which of both it is.
    rest = size - mark.end
    if most < length <= size or (mark.is_old and most < rest):
        raise DataLossError(f"{path} has a record of {length:,} bytes, {most:,} are allowed")


def _frame(file: IO[bytes], size: int, mark: _Mark, path: Path) -> tuple[bytes, _Mark] | None:
    """The payload that follows and the place behind it; None if it is torn."""
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    length, checksum, chain = _HEAD.unpack(head)
    if zlib.crc32(head[:12], mark.chain) != chain:
        _check_torn(file, size, mark.end, mark.end + _HEAD.size, path, "the length of a record cannot be believed")
        return None
    end = mark.end + _HEAD.size + length + len(_END)
    if end > size:
        file.seek(max(mark.end + _HEAD.size, size - len(_END)))
        if file.read(len(_END)) == _END:  # the end is there, and what is missing is in the middle
            raise _damage(path, mark.end, size, "a record is shorter than it was")
        return None
    payload = file.read(length)
    if zlib.crc32(payload) != checksum or file.read(len(_END)) != _END:
        _check_torn(file, size, mark.end, end, path, "the checksum of a record does not fit")
        return None
    return payload, _Mark(end, chain, False)


def _old_frame(file: IO[bytes], size: int, mark: _Mark, path: Path) -> tuple[bytes, _Mark] | None:
    """Return the same check in format 1, where only later frames distinguish a torn frame from a damaged length."""
    head = file.read(_HEAD_1.size)
    if len(head) < _HEAD_1.size:
        return None
    length, checksum = _HEAD_1.unpack(head)
    end = mark.end + _HEAD_1.size + length
    if end > size:
        file.seek(mark.end + _HEAD_1.size)
        rest = file.read(size - mark.end - _HEAD_1.size)
        if _holds_frame(rest) or _old_sum(rest) == checksum:
            raise _damage(path, mark.end, size, "the length of a record cannot be believed")
        return None
    payload = file.read(length)
    if _old_sum(payload) != checksum:
        _check_torn(file, size, mark.end, end, path, "the checksum of a record does not fit")
        return None
    return payload, _Mark(end, 0, True)


def _old_sum(payload: bytes) -> int:
    return zlib.crc32(payload, zlib.crc32(len(payload).to_bytes(8, "little")))


def _holds_frame(data: bytes) -> bool:
    """Tell whether a whole frame of format 1 is somewhere in these bytes."""
    at = data.find(b'{"fields": ')
    while at >= 0:
        if at >= _HEAD_1.size:
            length, checksum = _HEAD_1.unpack(data[at - _HEAD_1.size : at])
            if length <= len(data) - at and _old_sum(data[at : at + length]) == checksum:
                return True
        at = data.find(b'{"fields": ', at + 1)
    return False


def _check_torn(file: IO[bytes], size: int, start: int, end: int, path: Path, why: str) -> None:
    """Accept zeros from `start`, or from the beginning of a sector before `end`, to the end of the file.

    Raises: DataLossError: they do not, and so the frame is not torn but damaged.
    """
    file.seek(start)
    zeros, at = start, start  # where the zeros begin that reach as far as was read
    while chunk := file.read(min(_CHUNK, size - at)):
        if kept := len(chunk.rstrip(b"\0")):
            zeros = at + kept
        at += len(chunk)
    begins = zeros if zeros == start else -(-zeros // _SECTOR) * _SECTOR
    if begins >= min(end, size):
        raise _damage(path, start, size, why)


def _damage(path: Path, end: int, size: int, why: str) -> DataLossError:
    return DataLossError(
        f"{path} is damaged at byte {end} of {size}: {why}. The file was left as it was: load another copy, or "
        f"go on from a copy of its first {end} bytes, which are whole"
    )


def pack(fields: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """A record as bytes. Raises: TypeError: an array holds Python objects, or a field is not plain."""
    read = {name: x if isinstance(x, np.ndarray) else as_array(x, name) for name, x in arrays.items()}  # as they are
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
    jnp = need("jax.numpy", "a log that holds JAX arrays")
    with precision(x.dtype):
        found: Array = jnp.asarray(x)
    return found


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

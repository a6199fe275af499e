"""Growing files: numbered records in a SQLite database, which one process writes while others read.

A record is plain values (JSON) and arrays by name, without pickle. Growing recordings and the
durable logs of runs on Ray are such files. SQLite gives what they need: an append happens whole or
not at all, whenever its process is killed, and readers see the last whole state.

The invariant: a file holds records `first` to `last` without a gap, each with the checksum that it
was written with. SQLite has no checksums, so every record has one, over its number too, and `last`
is kept in the header as well (`user_version`): a record that is changed, missing, or in another
place is refused.

A file has the rollback journal, not the write-ahead log: a log may lie on a network disk, where the
write-ahead log doesn't work, and a recording that is copied while it grows shouldn't need a second
file. The journal is there only during an append. A process that is killed in one leaves it behind,
and the next one that opens the file rolls it back.

Source: "Atomic Commit In SQLite" and "Defense Against The Dark Arts", the documentation of SQLite
(2026).
"""

from __future__ import annotations

import errno
import json
import math
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataLossError, FailedPreconditionError, InvalidArgumentError
from .archive import dtype_named
from .arrays import Array, as_array, is_jax, precision
from .atomic_files import check_folder_of
from .checked_files import MAX_TEXT, report_damage, require_regular
from .extras import need

if TYPE_CHECKING:
    import sqlite3

Record = tuple[dict[str, Any], dict[str, Array]]  # plain values, arrays by name

_APPLICATION = 0x67726164  # "grad": which application's database it is, in the header of the file
_MAGIC = b"SQLite format 3\0"
_PATIENCE = 30.0  # seconds to wait until a dying process has released its file
_TABLE = (
    "CREATE TABLE records (number INTEGER PRIMARY KEY, is_start INTEGER, producer INTEGER, "
    "sequence INTEGER, fields TEXT, arrays BLOB, crc32 INTEGER, UNIQUE (producer, sequence))"
)
_OTHER_WRITER = "another run has written to {path}; end it or give another path"
_SIZE = (
    "SELECT number, length(fields) + length(arrays) FROM records WHERE "
    "number > ? ORDER BY number LIMIT 1"
)
_ROW = "SELECT is_start, producer, sequence, fields, arrays, crc32 FROM records WHERE number = ?"


class GrowingFile:
    """A growing file that this process writes, and whose records survive a crash.

    It is locked until `close`, so that no other process writes to it; others may read it. Opening
    waits until another writer has closed it, or has died.

    Args:
        path: of the file, which is made if it isn't there.
        sync: a record is on the disk before `append` returns, and outlives the machine. Otherwise
            it has been handed to the operating system and outlives the process; a machine that
            loses power may leave a damaged file.

    Raises:
        DataLossError: something else is there, or it is damaged; it stays as it is.
        TimeoutError: another process keeps it open.
        OSError: it cannot be read or written.
        ModuleNotFoundError: this Python has no sqlite3.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, GrowingFile(f"{folder}/run.log") as file:
    ...     file.append({"worker": 3}, {"w": np.float32([1.0, 2.0])})
    ...     list(file)
    [({'worker': 3}, {'w': array([1., 2.], dtype=float32)})]
    """

    def __init__(self, path: str | os.PathLike[str], sync: bool = True) -> None:
        self.path = Path(path)
        self._is_closed = False
        self._process = os.getpid()
        check_folder_of(path)
        if self.path.exists():
            require_regular(path)
        with _translate_errors(self.path):
            self._connection = _connect(self.path, "rwc")
            try:
                # EXTRA syncs the folder too, without which a commit may be rolled back when the
                # power is lost.
                self._connection.execute(f"PRAGMA synchronous = {'EXTRA' if sync else 'OFF'}")
                self._lock()
                self._create()
                self._last, self.size = self._verify_and_measure()
            except BaseException:
                self._connection.close()
                raise

    def append(
        self,
        fields: Mapping[str, Any],
        arrays: Mapping[str, Array] | None = None,
        *,
        producer: int | None = None,
        sequence: int | None = None,
    ) -> None:
        """Add a record, which survives a crash once this returns.

        Args:
            fields: plain values.
            arrays: by name.
            producer, sequence: who wrote the record, and its number among theirs. The file holds
                each pair once.

        Raises:
            TypeError: an array holds Python objects, or a field isn't plain.
            FailedPreconditionError: the file has this pair, or another process has written to it.
                It is closed.
            OSError: it cannot be written. A half-written record is rolled back, and the file is
                closed.
        """
        self._write(fields, arrays or {}, producer, sequence, is_start=False)

    def restart(self, fields: Mapping[str, Any], arrays: Mapping[str, Array] | None = None) -> None:
        """Replace all records by one, atomically.

        Raises: as `append`; then the old ones stay.
        """
        self._write(fields, arrays or {}, None, None, is_start=True)

    def __iter__(self) -> Iterator[Record]:
        """Yield the records from the first to the last."""
        return read_records(self.path)

    def close(self) -> None:
        """Close the file, so that others may write to it."""
        self._is_closed = True
        if os.getpid() == self._process:
            self._connection.close()  # which rolls back the transaction that is the lock

    def __enter__(self) -> GrowingFile:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _lock(self) -> None:
        """Begin a transaction: the lock of SQLite that keeps out other writers, but no readers."""
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")

    def _create(self) -> None:
        """Make the table if the file is new."""
        (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables == 0 and _application(self._connection) == 0:
            self._connection.execute(_TABLE)
            self._connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            self._commit()

    def _verify_and_measure(self) -> tuple[int, int]:
        """Read all records; return the number of the last one and the bytes of all."""
        last = 0
        size = 0
        for number, _, stored in _iter_verified(self._connection, self.path, None):
            last = number
            size += stored
        return last, size

    def _write(
        self,
        fields: Mapping[str, Any],
        arrays: Mapping[str, Array],
        producer: int | None,
        sequence: int | None,
        is_start: bool,
    ) -> None:
        if self._is_closed:
            raise ValueError(f"{self.path} is closed")
        if os.getpid() != self._process:
            # SQLite forbids it: both processes would write the same pages, and neither would see
            # the other's lock.
            raise ValueError(
                f"{self.path} was opened before this process was forked; "
                "only its parent may write to it"
            )
        text, data = _pack(fields, arrays)
        number = self._last + 1
        place = (number, int(is_start), producer, sequence)
        # As TEXT, so that the fields can be read and searched with any tool for SQLite.
        row = (*place, text.decode(), data, _checksum(*place, text, data))
        with _translate_errors(self.path):
            try:
                self._lock()
                if _read_last_number(self._connection) != self._last:
                    # The lock had been lost, as it may be on a network disk, or another writer came
                    # in `_commit` first.
                    raise FailedPreconditionError(_OTHER_WRITER.format(path=self.path))
                if is_start:
                    self._connection.execute("DELETE FROM records")
                self._connection.execute("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?)", row)
                self._connection.execute(f"PRAGMA user_version = {number}")
                self._commit()
            except BaseException:
                self.close()
                raise
        self._last = number
        self.size = len(text) + len(data) + (0 if is_start else self.size)

    def _commit(self) -> None:
        """Make the changes last, and lock the file again."""
        import sqlite3

        self._connection.execute("COMMIT")
        # Another writer that waited came first; see `_write`.
        with suppress(sqlite3.OperationalError):
            self._lock()


def read_records(path: str | os.PathLike[str], max_bytes: int | None = None) -> Iterator[Record]:
    """Yield the records of a growing file, which another process may be writing.

    Each record is read in a transaction of its own, so that a slow reader doesn't block the writer.
    If the writer calls `restart` meanwhile, the next record is the one that replaced all others.

    Args:
        max_bytes: of the arrays of a record; a longer one is refused before it is read.

    Raises:
        OSError: it cannot be opened.
        DataLossError: it is something else, damaged, or too large.
        ModuleNotFoundError: this Python has no sqlite3.
    """
    path = Path(path)
    require_regular(path)
    with _translate_errors(path), closing(_connect(path, "rw")) as connection:
        connection.execute("PRAGMA query_only = ON")
        for _, record, _ in _iter_verified(connection, path, max_bytes):
            yield record


def is_growing(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file is one of `GrowingFile`.

    Closing a file drops all locks that the process has on it (POSIX), so a database that SQLite has
    open must not be opened here: SQLite itself is asked. Where it is missing or can't open the
    file, as on a read-only disk in a browser, no connection of this process has it open, and the
    first bytes tell.
    """
    require_regular(path)
    try:
        import sqlite3
    except ImportError:
        return _begins_as_database(path)
    try:
        with _translate_errors(Path(path)), closing(_connect(Path(path), "rw")) as connection:
            try:
                return _application(connection) == _APPLICATION
            except sqlite3.DatabaseError as error:
                # A database that is locked or cannot be read may well be one of these files.
                if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB:
                    return False
                raise
    except PermissionError:
        return _begins_as_database(path)


def _begins_as_database(path: str | os.PathLike[str]) -> bool:
    with open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    """Open a database; "rw" makes no new one, and "rwc" does."""
    try:
        import sqlite3
    except ImportError:
        raise ModuleNotFoundError(
            "a file that grows needs the module sqlite3, which this Python lacks; save the "
            "recording as an .npz instead"
        ) from None
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    # Readers, too, open it for writing: they may have to roll back the append of a killed writer.
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        timeout=_PATIENCE,
        isolation_level=None,  # transactions are begun by hand
        check_same_thread=False,
        uri=True,
    )
    connection.text_factory = bytes  # a text that is damaged may not be UTF-8
    # What SQLite advises for files of strangers: no functions in a schema, and pages checked before
    # they are used.
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def _application(connection: sqlite3.Connection) -> int:
    (number,) = connection.execute("PRAGMA application_id").fetchone()
    return int(number)


def _read_last_number(connection: sqlite3.Connection) -> int:
    """The number of the last record."""
    (number,) = connection.execute("PRAGMA user_version").fetchone()
    return int(number)


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into Python's and gradlab's, with the name of the file."""
    try:
        import sqlite3
    except ImportError:
        yield
        return
    try:
        yield
    except UnicodeDecodeError as error:  # in a message about a damaged schema
        raise _damage_error(path, str(error)) from error
    except sqlite3.IntegrityError as error:
        raise FailedPreconditionError(_OTHER_WRITER.format(path=path)) from error
    except sqlite3.DataError as error:
        raise InvalidArgumentError(f"a record of {path} is too large: {error}") from error
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary code of an extended one
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise TimeoutError(
                f"another run writes to {path}; end it or give another path"
            ) from error
        if code == sqlite3.SQLITE_FULL:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), os.fspath(path)) from error
        if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY):
            raise PermissionError(errno.EACCES, str(error), os.fspath(path)) from error
        if code == sqlite3.SQLITE_IOERR:
            raise OSError(errno.EIO, str(error), os.fspath(path)) from error
        raise _damage_error(path, str(error)) from error


def _iter_verified(
    connection: sqlite3.Connection, path: Path, max_bytes: int | None
) -> Iterator[tuple[int, Record, int]]:
    """Yield the number of each record, the record, and its size in bytes."""
    _check_schema(connection, path)
    number = 0
    while True:
        # `last` is read first: a record that is appended meanwhile is there, and isn't counted as
        # missing.
        last = _read_last_number(connection)
        following = connection.execute(_SIZE, (number,)).fetchone()
        if following is None:
            if number < last:
                raise _damage_error(path, f"record {number + 1} of {last} is missing")
            return
        following_number, size = following
        if not isinstance(size, int):
            raise _damage_error(path, f"record {following_number} is not complete")
        if max_bytes is not None and size > max_bytes + MAX_TEXT:
            raise DataLossError(
                f"{path} has a record of {size:,} bytes, {max_bytes + MAX_TEXT:,} are allowed"
            )
        row = connection.execute(_ROW, (following_number,)).fetchone()
        if row is None and _read_last_number(connection) != last:
            continue  # a restart came between the two queries, and removed the record
        if row is None or following_number <= number:
            # A damaged tree may answer the first query and not the second, or return the same
            # record for ever.
            raise _damage_error(path, f"record {following_number} is not in its place")
        is_start, producer, sequence, text, data, crc32 = row
        with report_damage(path, "file that grows"):
            if crc32 != _checksum(following_number, is_start, producer, sequence, text, data):
                raise ValueError(f"the checksum of record {following_number} is wrong")
            if following_number != number + 1 and not is_start:
                raise ValueError(f"record {number + 1} is missing")
            record = _unpack(text, data)
        number = following_number
        yield number, record, size


def _check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database of another application, or with other tables than ours."""
    application = _application(connection)
    if application != _APPLICATION:
        raise _damage_error(path, f"it is a database of another application, {application:#x}")
    schema = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    if schema != [(_TABLE.encode(),)]:
        raise _damage_error(path, "its tables are not those that were made")


def _damage_error(path: Path, why: str) -> DataLossError:
    return DataLossError(
        f"{path} is not a file of gradlab that grows, or it is damaged: {why}. It was left as it "
        "was; load another copy, or give another path"
    )


def _checksum(
    number: int, is_start: int, producer: int | None, sequence: int | None, text: bytes, data: bytes
) -> int:
    """Return the CRC-32 of a record and of its place."""
    place = json.dumps([number, is_start, producer, sequence])
    return zlib.crc32(data, zlib.crc32(text, zlib.crc32(place.encode())))


def _pack(fields: Mapping[str, Any], arrays: Mapping[str, Array]) -> tuple[bytes, bytes]:
    """Return a record as JSON, which has the layout of its arrays too, and the arrays' bytes."""
    layout = []
    parts = []
    objects = []
    for name, value in arrays.items():
        array = value if isinstance(value, np.ndarray) else as_array(value, name)
        x = np.asarray(array)
        if x.dtype.hasobject:
            objects.append(name)
            continue
        # JAX's bfloat16 and its kin have only names; others have their byte order in `str`.
        dtype = x.dtype.name if x.dtype.kind == "V" else x.dtype.str
        layout.append([name, dtype, x.shape, is_jax(array)])
        parts.append(x.tobytes())
    if objects:
        raise TypeError(
            "a log holds arrays of numbers; these hold Python objects: "
            f"{', '.join(sorted(objects))}"
        )
    text = json.dumps({"fields": dict(fields), "arrays": layout})
    return text.encode(), b"".join(parts)


def _unpack(text: bytes, data: bytes) -> Record:
    """Return the record that `_pack` packed; arrays that were JAX's are JAX's again."""
    head = json.loads(text)
    arrays: dict[str, Array] = {}
    start = 0
    for name, dtype, shape, was_jax in head["arrays"]:
        x = np.frombuffer(data, dtype_named(dtype), math.prod(shape), start).reshape(shape)
        start += x.nbytes
        arrays[name] = _to_jax(x) if was_jax else x
    return head["fields"], arrays


def _to_jax(x: np.ndarray) -> Array:
    jnp = need("jax.numpy", "a log that holds JAX arrays")
    with precision(x.dtype):
        array: Array = jnp.asarray(x)
    return array

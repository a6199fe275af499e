"""Files that are wrong though every checksum of their container is right: rebuilt, swapped, cut and
put together again.

A flipped bit is found by ZIP's own checksums, so that it doesn't show whether gradlab's are looked
at. These changes are ones that only gradlab's checks see: another value in the head of an archive,
a member or a whole shard of another file, a directory that hides members, and records of a log that
are left out, moved or doubled.
"""

from __future__ import annotations

import io
import sqlite3
import struct
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache, partial
from pathlib import Path

import numpy as np

from gradlab._base.growing import GrowingFile, read_records
from gradlab.errors import DataLossError
from tests._base.damage import rewrite
from tests.faults.fault import Fault
from tests.faults.kept import CHECKED, PROGRESS, Content, Kept

Files = dict[str, bytes]
# A file, another one of its kind -> what is read.
Change = Callable[[Files, Files, np.random.Generator], Files]
_HEAD = "gradlab.json"
_RECORDS = 20
_END = struct.Struct("<4s4H2LH")  # of a ZIP file
_ENTRY = struct.Struct("<4s6H3L5H2L")  # of its directory


@cache
def _written(name: str, number: int) -> tuple[Files, Content]:
    """The files of the content `number`, and what they hold."""
    kept = _kept(name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / kept.file
        kept.write(path, number)
        files = {
            str(p.relative_to(folder)): p.read_bytes()
            for p in Path(folder).rglob("*")
            if p.is_file()
        }
        return files, kept.read(path)


def _kept(name: str) -> Kept:
    return next(kept for kept in CHECKED if kept.name == name)


def _tried(name: str, change: Change, folder: Path, seed: int) -> str:
    """Read files after a change; it must be refused, or make no difference."""
    kept = _kept(name)
    files, good = _written(name, 5)
    other, _ = _written(name, 6)
    for path, data in change(files, other, np.random.default_rng(seed)).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        rewrite(folder / path, data)
    try:
        found = kept.read(folder / kept.file)
    except DataLossError:
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "" if found == good else "it was believed"


def _archive(files: Files, rng: np.random.Generator) -> str:
    """Choose one of the archives."""
    names = sorted(name for name, data in files.items() if data.startswith(b"PK"))
    return names[int(rng.integers(len(names)))]


def _members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def _packed(members: dict[str, bytes]) -> bytes:
    """Members as an archive whose own checksums are right."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, data in members.items():
            file.writestr(name, data)
    return buffer.getvalue()


def another_head(files: Files, _: Files, rng: np.random.Generator) -> Files:
    """Change a digit in the head of an archive, or in a file of plain values."""
    if not any(data.startswith(b"PK") for data in files.values()):
        (name,) = files
        return {name: _another_digit(files[name], rng)}
    name = _archive(files, rng)
    members = _members(files[name])
    members[_HEAD] = _another_digit(members[_HEAD], rng)
    return {**files, name: _packed(members)}


def _another_digit(text: bytes, rng: np.random.Generator) -> bytes:
    """Change a digit of the values; those of the checksum itself come last and are left alone."""
    end = text.rindex(b'"sha256"') if b'"sha256"' in text else len(text)
    places = [k for k in range(end) if chr(text[k]).isdigit()]
    at = places[int(rng.integers(len(places)))]
    digit = str((int(chr(text[at])) + 1 + int(rng.integers(8))) % 10).encode()
    return text[:at] + digit + text[at + 1 :]


def _counterpart(files: Files, other: Files, name: str) -> bytes:
    """Return the file in the place of this one; the names of shards have a random part."""
    return other[sorted(other)[sorted(files).index(name)]]


def swapped_member(files: Files, other: Files, rng: np.random.Generator) -> Files:
    """Take an array of another archive of the same kind."""
    name = _archive(files, rng)
    members = _members(files[name])
    arrays = sorted(set(members) - {_HEAD})
    array = arrays[int(rng.integers(len(arrays)))]
    members[array] = _members(_counterpart(files, other, name))[array]
    return {**files, name: _packed(members)}


def swapped_file(files: Files, other: Files, rng: np.random.Generator) -> Files:
    """Take one file of a folder from another folder of the same kind."""
    name = sorted(files)[int(rng.integers(len(files)))]
    return {**files, name: _counterpart(files, other, name)}


def hidden_members(files: Files, _: Files, rng: np.random.Generator) -> Files:
    """Hide members from who reads the directory: behind one whose comment is as long as they are,
    or all of them.
    """
    name = _archive(files, rng)
    data = bytearray(files[name])
    end = len(data) - _END.size
    mark, *disks, _count, _total, size, start, comment = _END.unpack(data[end:])
    if rng.integers(4) == 0:
        data[end:] = _END.pack(mark, *disks, 0, 0, 0, 0, comment)
        return {**files, name: bytes(data)}
    entries = list(_directory(data, start, start + size))
    at, following = entries[int(rng.integers(len(entries)))]
    fields = list(_ENTRY.unpack_from(data, at))
    fields[12] = start + size - following  # the length of the comment
    _ENTRY.pack_into(data, at, *fields)
    return {**files, name: bytes(data)}


def _directory(data: bytes | bytearray, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where each entry of the directory begins and ends."""
    while start < end:
        fields = _ENTRY.unpack_from(data, start)
        following = start + _ENTRY.size + fields[10] + fields[11] + fields[12]
        yield start, following
        start = following


def moved_records(folder: Path, seed: int) -> str:
    """Leave out, double or exchange records of a log, each of them whole."""
    path = folder / "run.log"
    with GrowingFile(path, sync=False) as log:
        for k in range(_RECORDS):
            log.append({"number": k}, {"w": np.full(8, k)})
    at = int(np.random.default_rng(seed).integers(1, _RECORDS))
    columns = "is_start, producer, sequence, fields, arrays, crc32"
    statements = (
        f"DELETE FROM records WHERE number = {at}",
        (
            f"INSERT OR REPLACE INTO records SELECT {at + 1}, {columns} FROM "
            f"records WHERE number = {at}"
        ),
        (
            f"UPDATE records SET number = CASE number WHEN {at} THEN -1 ELSE {at} END WHERE "
            f"number IN ({at}, {at + 1})"
        ),
    )
    with closing(sqlite3.connect(path)) as database:
        database.execute(statements[seed % 3])
        database.execute(f"UPDATE records SET number = {at + 1} WHERE number = -1")
        database.commit()
    try:
        found = [fields["number"] for fields, _ in read_records(path)]
    except DataLossError:
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "" if found == list(range(_RECORDS)) else "it was believed"


_ARCHIVES = [kept for kept in CHECKED if kept is not PROGRESS]
FAULTS = [
    *(
        Fault(
            f"another value in the head of {kept.name}",
            partial(_tried, kept.name, another_head),
            12,
        )
        for kept in CHECKED
    ),
    *(
        Fault(f"an array of another {kept.name}", partial(_tried, kept.name, swapped_member), 8)
        for kept in _ARCHIVES
    ),
    *(
        Fault(f"hidden arrays of {kept.name}", partial(_tried, kept.name, hidden_members), 12)
        for kept in _ARCHIVES
    ),
    Fault(
        "a file of another folder of gl.tpu.save", partial(_tried, "gl.tpu.save", swapped_file), 4
    ),
    Fault("records of a log left out, doubled or exchanged", moved_records, 12),
]

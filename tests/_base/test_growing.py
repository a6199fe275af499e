"""Growing files: what was appended is read again whatever was killed, and what is damaged is not
believed.
"""

import errno
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradlab._base import growing
from gradlab._base.arrays import is_jax, precision
from gradlab._base.growing import GrowingFile, is_growing, read_records
from gradlab.errors import DataLossError, FailedPreconditionError
from tests._base.damage import rewrite

RECORDS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"experiment": "e"}, {"w": np.float32([1.5, -2.0]), "b": np.zeros((0, 3))}),
    ({"worker": 0, "moves": [2, 3], "time": 17}, {"w": np.float32([np.nan, -0.0])}),
    ({"worker": 1, "note": "ü\n"}, {}),
    ({"worker": 0}, {"w": np.float32(3.0)}),
]


def write(path: Path, records: list[Any] = RECORDS) -> Path:
    with GrowingFile(path, sync=False) as file:
        for record in records:
            file.append(*record)
    return path


def numbered(count: int) -> list[Any]:
    return [({"number": k}, {"w": np.full(8, k)}) for k in range(count)]


def numbers(records: Iterator[Any]) -> list[int]:
    return [fields["number"] for fields, _ in records]


def bits(records: Any) -> list[Any]:
    return [
        (f, {k: (x.dtype, x.shape, np.asarray(x).tobytes()) for k, x in a.items()})
        for f, a in records
    ]


def change(path: Path, *statements: str) -> None:
    """Change the database by hand."""
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


# What is read


@pytest.mark.parametrize("sync", [True, False])
def test_what_is_appended_is_read_again(tmp_path: Path, sync: bool) -> None:
    with GrowingFile(tmp_path / "log", sync) as file:
        for k, record in enumerate(RECORDS):
            file.append(*record)
            assert bits(file) == bits(RECORDS[: k + 1])
    with GrowingFile(tmp_path / "log", sync) as file:
        assert bits(file) == bits(RECORDS)
        file.append(*RECORDS[0])
    assert bits(read_records(tmp_path / "log")) == bits([*RECORDS, RECORDS[0]])
    assert os.listdir(tmp_path) == ["log"]


@pytest.mark.parametrize(
    "x",
    [
        np.arange(6, dtype=">f4").reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.float16([1, 2]),
        np.int64(7),
        np.array([True]),
        np.complex64([1j]),
        np.asarray(jnp.array([1, 2.5], jnp.bfloat16)),
    ],
    ids=str,
)
def test_arrays_of_any_type_come_back_with_their_bits(tmp_path: Path, x: np.ndarray) -> None:
    ((_, arrays),) = read_records(write(tmp_path / "log", [({}, {"x": x})]))
    assert arrays["x"].dtype == x.dtype and arrays["x"].shape == x.shape
    assert arrays["x"].tobytes() == x.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
def test_jax_arrays_come_back_as_such(tmp_path: Path, dtype: str) -> None:
    with precision(np.float64):
        x = jnp.array([1 / 3, 2], dtype)
    ((_, arrays),) = read_records(write(tmp_path / "log", [({}, {"x": x, "y": [1, 2.5]})]))
    assert is_jax(arrays["x"]) and arrays["x"].dtype == dtype
    assert np.asarray(arrays["x"]).tobytes() == np.asarray(jax.device_get(x)).tobytes()
    assert arrays["y"].dtype == np.float32  # as the server reads lists


@pytest.mark.parametrize(
    ("fields", "arrays"),
    [({}, {"x": np.array([None, 2])}), ({"when": {1, 2}}, {}), ({"who": Path()}, {})],
)
def test_nothing_is_pickled(tmp_path: Path, fields: dict[str, Any], arrays: dict[str, Any]) -> None:
    with GrowingFile(tmp_path / "log", sync=False) as file:
        with pytest.raises(TypeError, match=r"Python objects|not JSON serializable"):
            file.append(fields, arrays)
        assert list(file) == []


def test_one_record_takes_the_place_of_all(tmp_path: Path) -> None:
    path = write(tmp_path / "log", numbered(3))
    reading = read_records(path)
    assert next(reading)[0] == {"number": 0}
    with GrowingFile(path, sync=False) as file:
        before = file.size
        file.restart({"number": 3}, {"w": np.full(8, 3)})
        assert file.size < before
        assert numbers(file) == [3]
        file.append({"number": 4})
    # One that had begun goes on with the record that took their place.
    assert numbers(reading) == [3, 4]
    assert numbers(read_records(path)) == [3, 4]


def test_more_than_is_allowed_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growing, "MAX_TEXT", 100)
    path = write(tmp_path / "log", [({}, {"w": np.zeros(1000)})])
    with pytest.raises(DataLossError, match=r"log has a record of 8,\d+ bytes, 1,100 are allowed"):
        next(read_records(path, max_bytes=1000))
    assert len(list(read_records(path, max_bytes=8000))) == 1


# Two processes


def test_two_cannot_write_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "_PATIENCE", 0.05)
    with GrowingFile(tmp_path / "log") as file:
        file.append({"number": 0})
        with pytest.raises(TimeoutError, match="another run writes to"):
            GrowingFile(tmp_path / "log")
        assert numbers(read_records(tmp_path / "log")) == [0]


def test_the_next_writer_waits_until_the_file_is_closed(tmp_path: Path) -> None:
    first, read = GrowingFile(tmp_path / "log"), list[Any]()

    def follow() -> None:
        with GrowingFile(tmp_path / "log") as file:
            read.extend(file)

    thread = threading.Thread(target=follow)
    thread.start()
    first.append(*RECORDS[0])
    first.close()
    thread.join(30)
    assert bits(read) == bits(RECORDS[:1])


def test_a_record_of_a_producer_is_there_once(tmp_path: Path) -> None:
    with GrowingFile(tmp_path / "log", sync=False) as file:
        for sequence in (1, 2):
            file.append({"number": sequence}, producer=0, sequence=sequence)
        file.append({"number": 3}, producer=1, sequence=1)
        with pytest.raises(FailedPreconditionError, match="another run has written to"):
            file.append({"number": 4}, producer=0, sequence=2)
        with pytest.raises(ValueError, match="is closed"):
            file.append({"number": 5}, producer=0, sequence=3)
    assert numbers(read_records(tmp_path / "log")) == [1, 2, 3]


def test_what_another_writer_appended_between_two_records_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path / "log", numbered(1))
    with GrowingFile(path, sync=False) as file:
        file._connection.execute("ROLLBACK")  # as if the lock had been lost
        write(path, numbered(1))
        with pytest.raises(FailedPreconditionError, match="another run has written to"):
            file.append({"number": 2})
    assert numbers(read_records(path)) == [0, 0]


def start(path: Path, statements: str) -> "subprocess.Popen[bytes]":
    """A process that writes to a file and says what it has done."""
    program = f"""
import itertools, os, signal
import numpy as np
from gradlab._base.growing import GrowingFile
file = GrowingFile({str(path)!r}, sync=False)
{statements}
"""
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)


APPEND = """
for k in itertools.count(len(list(file))):
    file.append({"number": k}, {"w": np.full(999, k)})
    print(k, flush=True)
"""


@pytest.mark.exhaustive
def test_another_process_reads_while_one_writes_and_is_killed(tmp_path: Path) -> None:
    path, answered = tmp_path / "log", -1
    for _ in range(2):  # the second writer goes on where the first one was
        process = start(path, APPEND)
        assert process.stdout is not None
        heard = [process.stdout.readline() for _ in range(10)]
        seen = [numbers(read_records(path)) for _ in range(10)]
        process.kill()
        heard += process.stdout.read().split(b"\n")[:-1]
        process.stdout.close()
        process.wait()
        answered = max(answered, *map(int, heard))
        there = numbers(read_records(path))
        assert there == list(range(len(there))) and answered < len(there) <= answered + 2
        assert all(found == there[: len(found)] for found in seen)
        assert sorted(map(len, seen)) == list(map(len, seen))


DIE_IN_AN_APPEND = """
file._connection.execute("PRAGMA cache_size = 1")  # so that pages are written before the commit
file._connection.execute("DELETE FROM records")
for k in range(50):
    file._connection.execute("INSERT INTO records (arrays) VALUES (zeroblob(99999))")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_writer_that_is_killed_in_an_append_leaves_what_was_answered(tmp_path: Path) -> None:
    """Some pages of the record are in the file then, and the journal has what was there before."""
    path = write(tmp_path / "log", numbered(3))
    process = start(path, DIE_IN_AN_APPEND)
    process.communicate()
    assert sorted(os.listdir(tmp_path)) == ["log", "log-journal"]
    assert numbers(read_records(path)) == [0, 1, 2]
    with GrowingFile(path) as file:
        file.append({"number": 3})
    assert numbers(read_records(path)) == [0, 1, 2, 3]
    assert os.listdir(tmp_path) == ["log"]


FORK = """
file.append({"number": 0})
if os.fork() == 0:
    try:
        file.append({"number": 1})
    except ValueError as error:
        print(error, flush=True)
    file.close()
    os._exit(0)
os.wait()
file.append({"number": 1})
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no forks")
def test_a_forked_child_leaves_the_file_to_its_parent(tmp_path: Path) -> None:
    path = tmp_path / "log"
    process = start(path, FORK)
    said, _ = process.communicate()
    assert b"only its parent may write to it" in said
    assert numbers(read_records(path)) == [0, 1]


# What is refused


def refused(path: Path) -> None:
    """Neither a reader nor a writer believes a file, and it stays as it is."""
    data = path.read_bytes()
    with pytest.raises(DataLossError, match=path.name):
        list(read_records(path))
    with pytest.raises(DataLossError, match=path.name):
        GrowingFile(path, sync=False)
    assert path.read_bytes() == data and not path.with_name(f"{path.name}-journal").exists()


@pytest.mark.parametrize("every", [97, pytest.param(23, marks=pytest.mark.exhaustive)])
def test_with_any_bit_changed_all_of_it_is_read_or_nothing(tmp_path: Path, every: int) -> None:
    data = write(tmp_path / "whole").read_bytes()
    path, whole, num_refused = tmp_path / "changed", bits(RECORDS), 0
    for at in range(0, 8 * len(data), every):
        changed = bytearray(data)
        changed[at // 8] ^= 1 << at % 8
        rewrite(path, changed)
        try:
            # A bit in a free part of a page, or in a number that SQLite only counts, makes no
            # difference.
            assert bits(read_records(path)) == whole, at
        except DataLossError:
            num_refused += 1
    assert num_refused > 10


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM records WHERE number = 1",
        "DELETE FROM records WHERE number = 3",
        "DELETE FROM records WHERE number = 5",
        "DELETE FROM records",
        (
            "UPDATE records SET fields = (SELECT r.fields FROM records AS r WHERE r.number = 6 - "
            "records.number)"
        ),
        "UPDATE records SET number = 9 WHERE number = 5",
        "UPDATE records SET sequence = 1 WHERE number = 3",
        "UPDATE records SET is_start = 1 WHERE number = 3",
        "UPDATE records SET fields = replace(fields, '3', '4')",
        "UPDATE records SET arrays = NULL WHERE number = 2",
        "UPDATE records SET crc32 = 0 WHERE number = 2",
        "PRAGMA user_version = 6",
        "PRAGMA application_id = 7",
        "CREATE VIEW more AS SELECT * FROM records",
    ],
)
def test_records_that_are_changed_or_missing_are_refused(tmp_path: Path, statement: str) -> None:
    path = write(tmp_path / "log", numbered(5))
    change(path, statement)
    refused(path)


@pytest.mark.parametrize("length", [0.1, 0.5, 0.9])
def test_a_file_that_was_cut_off_is_refused(tmp_path: Path, length: float) -> None:
    data = write(tmp_path / "whole", numbered(50)).read_bytes()
    (tmp_path / "cut").write_bytes(data[: int(length * len(data))])
    refused(tmp_path / "cut")


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes").write_bytes(b"not a database")
    change(tmp_path / "other", "CREATE TABLE songs (name TEXT)")
    for name in ("notes", "other"):
        assert not is_growing(tmp_path / name)
        refused(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        GrowingFile(tmp_path / "nowhere" / "log")
    with pytest.raises(FileNotFoundError):
        next(read_records(tmp_path / "nothing"))
    with pytest.raises(IsADirectoryError):
        GrowingFile(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["notes", "other"]


def test_a_locked_file_is_not_taken_for_another_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "log")
    monkeypatch.setattr(growing, "_PATIENCE", 0.01)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(TimeoutError, match="another run writes to"):
            is_growing(path)
    assert is_growing(path)


def test_a_query_in_place_of_the_table_is_not_run(tmp_path: Path) -> None:
    path = write(tmp_path / "log")
    endless = (
        "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n) SELECT k AS number, k AS "
        "fields FROM n"
    )
    change(path, "DROP TABLE records", f"CREATE VIEW records AS {endless}")
    refused(path)


def test_a_full_disk_takes_back_what_was_half_written(tmp_path: Path) -> None:
    path = write(tmp_path / "log", numbered(3))
    file = GrowingFile(path)
    file._connection.execute("PRAGMA max_page_count = 14")
    file.append({"number": 3}, {"w": np.zeros(2000)})
    with pytest.raises(OSError, match="No space left") as full:
        file.append({"number": 4}, {"w": np.zeros(9000)})
    assert full.value.errno == errno.ENOSPC and full.value.filename == str(path)
    with pytest.raises(ValueError, match="is closed"):
        file.append({})
    assert numbers(read_records(path)) == [0, 1, 2, 3]
    assert os.listdir(tmp_path) == ["log"]


def test_a_python_without_sqlite_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "log")
    (tmp_path / "notes").write_text("not a database")
    monkeypatch.setitem(sys.modules, "sqlite3", None)
    assert is_growing(path) and not is_growing(tmp_path / "notes")
    for use in (lambda: GrowingFile(tmp_path / "new"), lambda: next(read_records(path))):
        with pytest.raises(
            ModuleNotFoundError, match=r"needs the module sqlite3, which this Python lacks"
        ):
            use()

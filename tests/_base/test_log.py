"""The log: what was appended is read again, what is torn at its end is dropped, what is damaged is not believed."""

import os
import shutil
import threading
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradlab._base import log as module
from gradlab._base.arrays import is_jax, precision
from gradlab._base.log import MAGIC, Log, pack, unpack
from gradlab.errors import DataLossError
from tests._base.damage import rewrite

RECORDS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"experiment": "e"}, {"w": np.float32([1.5, -2.0]), "b": np.zeros((0, 3))}),
    ({"worker": 0, "moves": [2, 3], "time": 17}, {"w": np.float32([np.nan, -0.0])}),
    ({"worker": 1, "note": "ü\n"}, {}),
    ({"worker": 0}, {"w": np.float32(3.0)}),
]


def written(path: Path, records: list[Any] = RECORDS) -> list[int]:
    """How long the file is after each record, and before the first."""
    sizes = []
    with Log(path, sync=False) as log:
        sizes.append(path.stat().st_size)
        for record in records:
            log.append(*record)
            sizes.append(path.stat().st_size)
    return sizes


def bits(records: Any) -> list[Any]:
    return [(f, {k: (x.dtype, x.shape, np.asarray(x).tobytes()) for k, x in a.items()}) for f, a in records]


@pytest.mark.parametrize("sync", [True, False])
def test_what_is_appended_is_read_again(tmp_path: Path, sync: bool) -> None:
    with Log(tmp_path / "log", sync) as log:
        for k, record in enumerate(RECORDS):
            log.append(*record)
            assert bits(log) == bits(RECORDS[: k + 1])
    with Log(tmp_path / "log", sync) as log:
        assert bits(log) == bits(RECORDS)


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
def test_arrays_of_any_type_come_back_with_their_bits(x: np.ndarray) -> None:
    _, arrays = unpack(pack({}, {"x": x}))
    assert arrays["x"].dtype == x.dtype and arrays["x"].shape == x.shape
    assert arrays["x"].tobytes() == x.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
def test_jax_arrays_come_back_as_such(dtype: str) -> None:
    with precision(np.float64):
        x = jnp.array([1 / 3, 2], dtype)
    (_, arrays) = unpack(pack({}, {"x": x, "y": [1, 2.5]}))
    assert is_jax(arrays["x"]) and arrays["x"].dtype == dtype
    assert np.asarray(arrays["x"]).tobytes() == np.asarray(jax.device_get(x)).tobytes()
    assert arrays["y"].dtype == np.float32  # as the server reads lists


@pytest.mark.parametrize(
    ("fields", "arrays"), [({}, {"x": np.array([None, 2])}), ({"when": {1, 2}}, {}), ({"who": Path()}, {})]
)
def test_nothing_is_pickled(tmp_path: Path, fields: dict[str, Any], arrays: dict[str, Any]) -> None:
    with Log(tmp_path / "log") as log:
        with pytest.raises(TypeError, match=r"Python objects|not JSON serializable"):
            log.append(fields, arrays)
        assert list(log) == []


def test_truncated_at_every_byte_a_log_holds_a_prefix_and_goes_on(tmp_path: Path) -> None:
    sizes = written(tmp_path / "whole")
    data = (tmp_path / "whole").read_bytes()
    for cut in range(len(data) + 1):
        rewrite(tmp_path / "cut", data[:cut])
        whole = sum(size <= cut for size in sizes[1:])
        with Log(tmp_path / "cut", sync=False) as log:
            assert bits(log) == bits(RECORDS[:whole])
            log.append(*RECORDS[-1])
            assert bits(log) == bits([*RECORDS[:whole], RECORDS[-1]])


def of_format_1(path: Path) -> Path:
    """RECORDS as the first version of logs wrote them."""
    shutil.copy(Path(__file__).with_name("log_1.log"), path)
    return path


def refused(path: Path, data: bytes) -> None:
    """These bytes are no log, and they stay as they are."""
    rewrite(path, data)
    with pytest.raises(DataLossError, match="left as it was"):
        Log(path, sync=False)
    assert path.read_bytes() == data
    assert not list(path.parent.glob(f"{path.name}.torn-*"))


def held(path: Path, data: bytes) -> list[Any]:
    """What a log of these bytes holds."""
    rewrite(path, data)
    with Log(path, sync=False) as log:
        return bits(log)


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("old", [False, True], ids=["2", "1"])
def test_with_any_bit_changed_a_log_is_refused_and_stays_as_it_is(tmp_path: Path, old: bool, every: int) -> None:
    written(tmp_path / "whole")
    data = (of_format_1(tmp_path / "old") if old else tmp_path / "whole").read_bytes()
    for at in range(0, 8 * len(data), every):  # one or two bits of each byte, or all
        changed = bytearray(data)
        changed[at // 8] ^= 1 << at % 8
        refused(tmp_path / "changed", changed)


@pytest.mark.parametrize("bit", [0, 7, 12, 40])
def test_a_flipped_bit_in_a_length_costs_no_record(tmp_path: Path, bit: int) -> None:
    sizes = written(tmp_path / "log", [({"number": k}, {}) for k in range(100)])
    data = bytearray((tmp_path / "log").read_bytes())
    data[sizes[1] + bit // 8] ^= 1 << bit % 8
    refused(tmp_path / "log", data)


def test_what_is_torn_is_kept_beside_the_log(tmp_path: Path) -> None:
    sizes = written(tmp_path / "log")
    data = (tmp_path / "log").read_bytes()
    assert held(tmp_path / "log", data[:-5]) == bits(RECORDS[:-1])
    assert (tmp_path / "log").read_bytes() == data[: sizes[-2]]
    assert (tmp_path / f"log.torn-{sizes[-2]}").read_bytes() == data[sizes[-2] : -5]


def test_sectors_that_were_not_written_before_the_power_went_are_torn_others_are_damaged(tmp_path: Path) -> None:
    records = [*RECORDS, ({"long": True}, {"zeros": np.zeros(100), "w": np.full(500, 1 / 3)})]
    *_, start, size = written(tmp_path / "log", records)
    data = (tmp_path / "log").read_bytes()
    before, whole = bits(RECORDS), bits(records)
    assert held(tmp_path / "x", data) == whole
    for more in (0, 1, 5000):  # the disk may have given the file more room than it needed
        zeros = bytes(more)
        for at in (start, *range(-(-start // 512) * 512, size, 512)):
            assert held(tmp_path / "x", data[:at] + bytes(size - at) + zeros) == before, at
    assert held(tmp_path / "x", data + bytes(5000)) == whole
    for path in tmp_path.glob("x.torn-*"):
        path.unlink()
    for at in (start + 1, 512 * (size // 512) + 1, size - 1):
        refused(tmp_path / "x", data[:at] + bytes(size - at))
    refused(tmp_path / "x", data[:start] + bytes(16) + data[start + 16 :])
    refused(tmp_path / "x", data[:1024] + bytes(512) + data[1536:])  # a sector in the middle


@pytest.mark.parametrize("change", ["lost", "doubled", "swapped"])
def test_frames_that_are_whole_but_not_where_they_were_are_refused(tmp_path: Path, change: str) -> None:
    sizes = written(tmp_path / "log", [({"number": k}, {}) for k in range(5)])
    data = (tmp_path / "log").read_bytes()
    first, *frames = (data[a:b] for a, b in zip([0, *sizes], sizes, strict=False))
    a, b, *others = frames
    kept = {"lost": [a, *others], "doubled": [a, a, b, *others], "swapped": [b, a, *others]}[change]
    refused(tmp_path / "log", b"".join([first, *kept]))


def test_a_log_of_format_1_is_read_and_goes_on_as_it_is(tmp_path: Path) -> None:
    path = of_format_1(tmp_path / "log")
    data = path.read_bytes()
    for _ in range(2):
        with Log(path, sync=False) as log:
            log.append(*RECORDS[0])
    with Log(path) as log:
        assert bits(log) == bits([*RECORDS, RECORDS[0], RECORDS[0]])
    assert path.read_bytes().startswith(data)
    for cut in range(len(data) + 1):
        assert held(path, data[:cut]) in [bits(RECORDS[:k]) for k in range(len(RECORDS) + 1)]


def test_what_changes_under_an_open_log_is_noticed(tmp_path: Path) -> None:
    with Log(tmp_path / "log", sync=False) as log:
        for record in RECORDS:
            log.append(*record)
        data = (tmp_path / "log").read_bytes()
        for changed in (data[:-1], data[:-9], data[:40] + b"?" + data[41:]):
            (tmp_path / "log").write_bytes(changed)
            with pytest.raises(DataLossError):
                list(log)


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes").write_bytes(b"not a log")
    with pytest.raises(ValueError, match="is no gradlab log: it begins with b'not a log'"):
        Log(tmp_path / "notes")
    assert (tmp_path / "notes").read_bytes() == b"not a log"
    with pytest.raises(FileNotFoundError):
        Log(tmp_path / "nowhere" / "log")


def test_two_cannot_write_one_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 0.05)
    with Log(tmp_path / "log"), pytest.raises(TimeoutError, match="another run writes to"):
        Log(tmp_path / "log")


def test_who_comes_next_waits_until_the_log_is_let_go(tmp_path: Path) -> None:
    first, read = Log(tmp_path / "log"), list[Any]()

    def follow() -> None:
        with Log(tmp_path / "log") as log:
            read.extend(log)

    thread = threading.Thread(target=follow)
    thread.start()
    first.append(*RECORDS[0])
    first.close()
    thread.join(30)
    assert bits(read) == bits(RECORDS[:1])


def test_what_cannot_be_written_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    log = Log(tmp_path / "log")
    log.append(*RECORDS[0])
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            log.append(*RECORDS[1])
    with pytest.raises(ValueError, match="closed"):
        log.append(*RECORDS[1])
    with Log(tmp_path / "log") as again:
        assert bits(again) == bits(RECORDS[:1])


def test_a_new_log_begins_with_its_name(tmp_path: Path) -> None:
    assert written(tmp_path / "log", [])[0] == len(MAGIC)
    assert (tmp_path / "log").read_bytes() == MAGIC

"""What is read is what was written, to the bit, or it is refused by one error."""

import io
import json
import os
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from gradlab._base.archive import Archive, ArchiveWriter
from gradlab._base.checked_files import dump_with_checksum
from gradlab.errors import DataLossError
from tests._base.damage import damaged, rewrite

ARRAYS = {
    "w": np.arange(12, dtype=np.float32).reshape(3, 4),
    "half": np.ones(3, ml_dtypes.bfloat16),
    "none": np.zeros((0, 2)),
    "one": np.float64(0.1),
    "word": np.array(["a", "bcd"]),
    "big/endian": np.arange(3, dtype=">f4"),
    "columns": np.asfortranarray(np.arange(6, dtype=np.int8).reshape(2, 3)),
    "z": np.array([1 + 2j, np.nan]),
}


def _write(path: Path, compressed: bool = False, **more: np.ndarray) -> None:
    with ArchiveWriter(
        path, "test", 1, {"step": 3, "rate": [0.1, None]}, compressed=compressed
    ) as file:
        for name, x in {**ARRAYS, **more}.items():
            file.array(name, np.asarray(x))


def _read(path: Path) -> tuple[dict, dict[str, tuple]]:
    with Archive(path, "test", (1,)) as file:
        return file.head, {
            name: (x.dtype, x.shape, x.tobytes()) for name, x in file.arrays().items()
        }


@pytest.mark.parametrize("compressed", [False, True])
def test_what_is_written_is_read(tmp_path: Path, compressed: bool) -> None:
    _write(tmp_path / "a.npz", compressed)
    head, found = _read(tmp_path / "a.npz")
    assert head == {"step": 3, "rate": [0.1, None]}
    assert found == {
        name: (np.asarray(x).dtype, np.shape(x), np.asarray(x).tobytes())
        for name, x in ARRAYS.items()
    }
    with np.load(tmp_path / "a.npz") as plain:
        np.testing.assert_array_equal(plain["w"], ARRAYS["w"])


@given(
    x=arrays_of.arrays(
        st.sampled_from(["<f4", ">i8", "?", "<c8", "<u2"]),
        arrays_of.array_shapes(min_dims=0, min_side=0),
    )
)
def test_any_array(tmp_path_factory: pytest.TempPathFactory, x: np.ndarray) -> None:
    path = tmp_path_factory.mktemp("any") / "a.npz"
    with ArchiveWriter(path, "test", 1) as file:
        file.array("x", x)
    with Archive(path, "test", (1,)) as file:
        found = file.array("x")
    assert (found.dtype, found.shape, found.tobytes()) == (x.dtype, x.shape, x.tobytes())
    assert found.flags.writeable


@pytest.mark.parametrize("compressed", [False, True])
def test_damage_is_refused_or_harmless(tmp_path: Path, compressed: bool) -> None:
    path = tmp_path / "a.npz"
    _write(path, compressed)
    right = _read(path)
    refused = 0
    for data in damaged(path.read_bytes(), 300):
        rewrite(path, data)
        try:
            assert _read(path) == right
        except DataLossError:
            refused += 1
    assert refused > 200


def test_a_part_of_another_file_is_refused(tmp_path: Path) -> None:
    """Each array fits its own checksum; that they belong together is what the head says."""
    _write(tmp_path / "a.npz")
    _write(tmp_path / "b.npz", w=ARRAYS["w"] + 1)
    with (
        zipfile.ZipFile(tmp_path / "a.npz") as a,
        zipfile.ZipFile(tmp_path / "b.npz") as b,
        zipfile.ZipFile(tmp_path / "c.npz", "w") as c,
    ):
        for name in a.namelist():
            c.writestr(name, (b if name == "w.npy" else a).read(name))
    with pytest.raises(DataLossError, match="w is not the array that was written"):
        _read(tmp_path / "c.npz")


def test_a_missing_array_is_refused(tmp_path: Path) -> None:
    _write(tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "a.npz") as a, zipfile.ZipFile(tmp_path / "c.npz", "w") as c:
        for name in a.namelist()[1:]:
            c.writestr(name, a.read(name))
    with pytest.raises(DataLossError, match="not those that were written"):
        _read(tmp_path / "c.npz")


@pytest.mark.parametrize(
    ("kind", "versions", "said"),
    [("trace", (1,), "it holds a test"), ("test", (0, 2), "version 1, this gradlab reads 0, 2")],
)
def test_another_kind_and_another_version(
    tmp_path: Path, kind: str, versions: tuple[int, ...], said: str
) -> None:
    _write(tmp_path / "a.npz")
    with pytest.raises(DataLossError, match=said):
        Archive(tmp_path / "a.npz", kind, versions)


def test_sizes_are_checked_before_memory_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with ArchiveWriter(path, "test", 1, compressed=True) as file:
        file.array("zeros", np.zeros(10**6))
    assert path.stat().st_size < 20_000
    with pytest.raises(DataLossError, match=r"8,000,\d+ bytes, max_bytes allows 1,000,000"):
        Archive(path, "test", (1,), max_bytes=10**6)


def _pack(path: Path, x: bytes) -> None:
    """Write an archive whose head is right and whose only array has these bytes."""
    content = {"kind": "test", "version": 1, "head": {}, "arrays": {"x": {}}}
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("x.npy", x)
        file.writestr("gradlab.json", dump_with_checksum(content))


def test_a_header_is_not_believed(tmp_path: Path) -> None:
    """An .npy may say that it has a million rows while it has one."""
    lie = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        lie, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**3)}
    )
    _pack(tmp_path / "a.npz", lie.getvalue() + bytes(8))
    with (
        Archive(tmp_path / "a.npz", "test", (1,)) as file,
        pytest.raises(DataLossError, match="has 8 bytes"),
    ):
        file.array("x")


def test_nothing_is_executed(tmp_path: Path) -> None:
    pickled = io.BytesIO()
    np.save(pickled, np.array([print], object), allow_pickle=True)
    _pack(tmp_path / "a.npz", pickled.getvalue())
    with (
        Archive(tmp_path / "a.npz", "test", (1,)) as archive,
        pytest.raises(DataLossError, match="object"),
    ):
        archive.array("x")
    with (
        ArchiveWriter(tmp_path / "b.npz", "test", 1) as file,
        pytest.raises(TypeError, match="x holds object"),
    ):
        file.array("x", np.array([print], object))


def test_a_missing_array_and_one_of_another_shape_are_refused(tmp_path: Path) -> None:
    _write(tmp_path / "a.npz")
    with Archive(tmp_path / "a.npz", "test", (1,)) as file:
        with pytest.raises(DataLossError, match=r"w must have shape \(4,\), it has \(3, 4\)"):
            file.array("w", (4,))
        with pytest.raises(DataLossError, match="no array 'y'"):
            file.array("y")


def test_an_archive_of_numpy_is_not_one_of_ours(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.arange(3))
    with pytest.raises(DataLossError, match=r"it has no gradlab\.json"):
        Archive(tmp_path / "a.npz", "test", (1,))


def test_what_is_no_file_says_so_itself(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Archive(tmp_path / "a.npz", "test", (1,))
    (tmp_path / "b.npz").write_text("not a zip")
    with pytest.raises(
        DataLossError, match="is no test of gradlab's, or it is damaged: File is not a zip file"
    ):
        Archive(tmp_path / "b.npz", "test", (1,))


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    _write(path)
    right = _read(path)
    with pytest.raises(TypeError, match="w holds object"):
        _write(path, w=np.array([print], object))
    with (
        pytest.raises(TypeError, match="not JSON serializable"),
        ArchiveWriter(path, "test", 1, {"head": object()}),
    ):
        pass
    assert _read(path) == right and os.listdir(tmp_path) == ["a.npz"]


def test_open_files_are_given_back(tmp_path: Path) -> None:
    _write(tmp_path / "a.npz")
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else None
    for _ in range(5):
        _read(tmp_path / "a.npz")
        with pytest.raises(DataLossError):
            Archive(tmp_path / "a.npz", "other", (1,))
    assert before is None or len(os.listdir("/proc/self/fd")) == before


def test_the_head_is_json(tmp_path: Path) -> None:
    _write(tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "a.npz") as file:
        content = json.loads(file.read("gradlab.json"))
    assert {"kind", "version", "head", "arrays", "sha256"} == content.keys()
    assert content["arrays"]["half"]["dtype"] == "bfloat16"


def test_a_member_that_swallows_those_after_it_is_noticed(tmp_path: Path) -> None:
    """The length of its comment is not covered by any checksum of ZIP's."""
    np.savez(tmp_path / "a.npz", a=np.arange(3), b=np.arange(4), c=np.arange(5))
    data = bytearray((tmp_path / "a.npz").read_bytes())
    at = data.index(b"PK\1\2") + 32
    rest = data.index(b"PK\5\6") - data.index(b"PK\1\2") - 46 - len("a.npy")
    data[at : at + 2] = rest.to_bytes(2, "little")
    (tmp_path / "a.npz").write_bytes(data)
    with np.load(tmp_path / "a.npz") as file:
        assert file.files == ["a"]
    with pytest.raises(DataLossError, match="its directory has 1 of 3 members"):
        Archive(tmp_path / "a.npz", "example", (1,))


def test_an_end_of_zeros_is_not_that_of_an_empty_file(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", a=np.arange(3))
    data = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(data[:-18] + bytes(18))
    with np.load(tmp_path / "a.npz") as file:
        assert file.files == []
    with pytest.raises(DataLossError, match="or is not where it was written"):
        Archive(tmp_path / "a.npz", "example", (1,))

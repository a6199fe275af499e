"""Shard files: complete or not there, read block by block, told of by name when they are broken."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradlab._base.archive import Archive
from gradlab._base.checked_files import write_json
from gradlab.errors import DataLossError
from gradlab.tpu.sharding import shard_files

X = np.arange(15, dtype=np.float32).reshape(5, 3)


@pytest.fixture(autouse=True)
def blocks_of_two_rows(monkeypatch: Any) -> None:
    monkeypatch.setattr(shard_files, "BLOCK", 24)


def test_only_the_blocks_asked_for_are_read(tmp_path: Path, monkeypatch: Any) -> None:
    with shard_files.ShardWriter(tmp_path / "a.npz") as file:
        file.rows("x", X, 5)
    assert sorted(np.load(tmp_path / "a.npz")) == ["gradlab.json", "x/0", "x/1", "x/2"]
    read: list[str] = []
    array = Archive.array
    monkeypatch.setattr(
        Archive, "array", lambda self, name, **more: read.append(name) or array(self, name, **more)
    )
    assert (
        shard_files.ShardReader(tmp_path / "a.npz").rows("x", np.array([4, 0, 1]), 3).tolist()
        == X[[4, 0, 1]].tolist()
    )
    assert read == ["x/0", "x/2"]


def test_a_file_is_there_when_it_is_complete(tmp_path: Path) -> None:
    def stopped() -> None:
        with shard_files.ShardWriter(tmp_path / "a.npz") as file:
            file.rows("x", X, 5)
            assert not (tmp_path / "a.npz").exists()
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        stopped()
    assert not list(tmp_path.iterdir())


def test_a_block_of_another_shape_is_refused(tmp_path: Path) -> None:
    with shard_files.ShardWriter(tmp_path / "a.npz") as file:
        file.array("x/0", X[:2].astype(np.float64))
    with pytest.raises(
        ValueError, match=r"a.npz is no shard.*: x is float64 of shape \(2, 3\), not as"
    ):
        shard_files.ShardReader(tmp_path / "a.npz").rows("x", np.array([0]), 3)


def test_a_block_that_is_larger_than_it_can_be_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with shard_files.ShardWriter(tmp_path / "a.npz") as file:
        file.array("x/0", np.zeros((1000, 3), np.float32))
    with pytest.raises(DataLossError, match="x/0 takes 12,128 bytes, 1,048 are allowed"):
        shard_files.ShardReader(tmp_path / "a.npz").rows("x", np.array([0]), 3)


@pytest.mark.parametrize("change", [{"number": 2}, {"mark": "0a"}, {"shard": 1}])
def test_a_shard_of_another_save_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    with shard_files.ShardWriter(tmp_path / "a.npz", 1, "0b", 0) as file:
        file.rows("x", X, 5)
    own = {"number": 1, "mark": "0b", "shard": 0}
    assert (
        shard_files.ShardReader(tmp_path / "a.npz", **own).rows("x", np.array([0]), 3).tolist()
        == X[:1].tolist()
    )
    with pytest.raises(DataLossError, match="it is of the save"):
        shard_files.ShardReader(tmp_path / "a.npz", **own | change).rows("x", np.array([0]), 3)


CONTENT: dict[str, Any] = {
    "number": 3,
    "mark": "0123abcd",
    "files": ["shard-3-0-0123abcd.npz"],
    "strategy": "div",
    "mesh": {},
    "cores": 1,
    "tables": [{"name": "t", "rows": 5, "width": 3, "slots": []}],
    "shared": [{"power": 0.5}],
    "pending": None,
}


def test_the_manifest_clears_away_what_the_older_one_named_and_what_is_forgotten(
    tmp_path: Path,
) -> None:
    older = CONTENT | {"number": 2, "files": ["shard-2-0-0123abcd.npz"]}
    shard_files.write_manifest(tmp_path, older)
    stay = [
        "notes.txt",
        "shard-2-0-ffffffff.npz",
        "shard-3-0-0123abcd.npz",
        "shard-4-0-0123abcd.npz.5f.part",
    ]
    forgotten = ["shard-1-0.npz", "shard-2-0.npz.part"]
    for name in (*stay, *forgotten, "shard-2-0-0123abcd.npz"):
        (tmp_path / name).write_text("")
    for name in forgotten:
        os.utime(tmp_path / name, (0, 0))
    shard_files.write_manifest(tmp_path, CONTENT)
    assert shard_files.read_manifest(tmp_path) == CONTENT | {
        "version": 1,
        "kind": "manifest of tables",
    }
    assert sorted(p.name for p in tmp_path.iterdir()) == ["manifest.json", *stay]


@pytest.mark.parametrize(
    "change",
    [
        {"number": None},
        {"number": "3"},
        {"number": True},
        {"files": ["../../shard-3-0-0123abcd.npz"]},
        {"files": ["/etc/passwd"]},
        {"files": []},
        {"files": {"a": 1}},
        {"files": [1]},
        {"mark": "../../ab", "files": ["shard-3-0-../../ab.npz"]},
        {"strategy": "mid"},
        {"strategy": ["div"]},
        {"cores": 0},
        {"tables": {}},
        {"tables": [1]},
        {"tables": [{"name": "t"}]},
        {"shared": []},
        {"shared": [[1.0]]},
        {"shared": [{"power": "1"}]},
        {"pending": 1.0},
        {"pending": [None]},
    ],
    ids=str,
)
def test_a_manifest_with_other_fields_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    fields = {k: x for k, x in (CONTENT | change).items() if x is not None or k == "pending"}
    write_json(tmp_path / "manifest.json", "manifest of tables", 1, fields)
    with pytest.raises(DataLossError, match=r"manifest\.json is no manifest"):
        shard_files.read_manifest(tmp_path)


def test_a_manifest_nested_without_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("[" * 100_000)
    with pytest.raises(DataLossError):
        shard_files.read_manifest(tmp_path)

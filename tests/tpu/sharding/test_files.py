"""Shard files: complete or not there, read block by block, told of by name when they are broken."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradlab.tpu.sharding import files

X = np.arange(15, dtype=np.float32).reshape(5, 3)


@pytest.fixture(autouse=True)
def blocks_of_two_rows(monkeypatch: Any) -> None:
    monkeypatch.setattr(files, "BLOCK", 24)


def test_only_the_blocks_asked_for_are_read(tmp_path: Path, monkeypatch: Any) -> None:
    with files.ShardWriter(tmp_path / "a.npz") as file:
        file.rows("x", X, 5)
    assert sorted(np.load(tmp_path / "a.npz")) == ["x/0", "x/1", "x/2"]
    read: list[str] = []
    array = files.ShardReader.array
    monkeypatch.setattr(files.ShardReader, "array", lambda self, name: read.append(name) or array(self, name))
    assert files.ShardReader(tmp_path / "a.npz").rows("x", np.array([4, 0, 1]), 3).tolist() == X[[4, 0, 1]].tolist()
    assert read == ["x/0", "x/2"]


def test_a_file_is_there_when_it_is_complete(tmp_path: Path) -> None:
    def stopped() -> None:
        with files.ShardWriter(tmp_path / "a.npz") as file:
            file.rows("x", X, 5)
            assert not (tmp_path / "a.npz").exists()
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        stopped()
    assert not list(tmp_path.iterdir())


def test_a_block_of_another_shape_is_refused(tmp_path: Path) -> None:
    with files.ShardWriter(tmp_path / "a.npz") as file:
        file.array("x/0", X.astype(np.float64))
    with pytest.raises(ValueError, match=r"'x' of .*a.npz is float64 of shape \(5, 3\), not as saved"):
        files.ShardReader(tmp_path / "a.npz").rows("x", np.array([0]), 3)


def test_the_manifest_clears_away_what_it_does_not_name(tmp_path: Path) -> None:
    for name in ("shard-1-0.npz", "shard-2-0.npz", "shard-3-0.npz.part", "notes.txt"):
        (tmp_path / name).write_text("")
    content = {"format": 1, "files": ["shard-2-0.npz"]}
    files.write_manifest(tmp_path, content)
    assert files.read_manifest(tmp_path) == content
    assert sorted(p.name for p in tmp_path.iterdir()) == ["manifest.json", "notes.txt", "shard-2-0.npz"]

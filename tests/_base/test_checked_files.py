"""JSON with a checksum: read as it was written or refused."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradlab._base.archive import Archive
from gradlab._base.checked_files import (
    dump_with_checksum,
    load_with_checksum,
    read_json,
    write_json,
)
from gradlab._base.growing import GrowingFile, is_growing, read_records
from gradlab.errors import DataLossError
from tests._base.damage import damaged, rewrite

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text().filter(lambda name: name != "sha256"), _VALUES))
def test_what_is_sealed_is_unsealed(content: dict) -> None:
    assert load_with_checksum(dump_with_checksum(content)) == content
    assert (
        load_with_checksum(json.dumps(json.loads(dump_with_checksum(content)))) == content
    )  # however it is spaced


def test_damage_is_refused_or_harmless(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    content = {"tables": [{"rows": 3}, {"rows": 4}], "rate": 0.1, "name": "träge"}
    write_json(path, "test", 1, content)
    right = read_json(path, "test", (1,))
    assert right == {"kind": "test", "version": 1, **content}
    for data in damaged(path.read_bytes(), 500):
        rewrite(path, data)
        try:
            assert read_json(path, "test", (1,)) == right
        except DataLossError:
            continue


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 100_000, "recursion|Recursion"),
        ("[1]", "it holds a list"),
        ("", "Expecting value"),
        ("\xff", "decode"),
        ('{"kind": "test", "version": 1}', "checksum"),
        (dump_with_checksum({"kind": "trace", "version": 1}), "it holds a trace"),
        (dump_with_checksum({"kind": "test", "version": 9}), "version 9, this gradlab reads 1"),
        ('{"a": 1}', "checksum"),
        (dump_with_checksum({"a": 1}), "it has no kind"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "a.json").write_text(text, "latin-1")
    with pytest.raises(DataLossError, match=said):
        read_json(tmp_path / "a.json", "test", (1,))


@pytest.mark.parametrize("read", [
    lambda path: Archive(path, "example", (1,)),
    lambda path: read_json(path, "example", (1,)),
    GrowingFile,
    lambda path: next(read_records(path)),
    is_growing,
], ids=["archive", "json", "growing file", "records", "is_growing"])  # fmt: skip
@pytest.mark.parametrize("kind", ["a link to a device", "a pipe"])
def test_what_may_never_end_is_refused_before_it_is_read(
    tmp_path: Path, read: Any, kind: str
) -> None:
    path = tmp_path / "shard.npz"
    if kind == "a pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(DataLossError, match="a device or a pipe"):
        read(path)

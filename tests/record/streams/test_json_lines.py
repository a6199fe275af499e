"""Lines of JSON: valid, the same numbers when they are read, of each step one, after a crash and a
resume too.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import DataLossError
from gradlab.record import read_json_lines
from tests.record.streams.runs import NAN, SKIPPED, go_on, recorded, resumed


def refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def test_every_number_comes_back(tmp_path: Path) -> None:
    rec, path = recorded(2), tmp_path / "run.jsonl"
    with rec.stream(path, seconds=0):
        for k in range(3, 12):
            go_on(rec, k)
            assert len(read_json_lines(path)["step"]) == k  # while it is written
    found = read_json_lines(path)
    assert [*found] == [
        "step",
        "global_norm",
        "leading_norm",
        "largest",
        "skipped",
        "scale",
        "loss",
    ]
    for name in [*found][1:]:
        want = rec.every_step(name)
        np.testing.assert_array_equal(found[name], want, strict=name != "skipped")
    assert (
        found["step"].tolist() == list(range(11))
        and found["skipped"].tolist().index(True) == SKIPPED
    )
    rows = [json.loads(line, parse_constant=refuse) for line in path.read_text().splitlines()]
    assert (rows[SKIPPED]["largest"], rows[NAN]["loss"], rows[0]["loss"]) == (
        "Infinity",
        "NaN",
        0.33333334,
    )
    assert "scale" in rows[0] and "scale" not in rows[NAN]  # there was none


@pytest.mark.parametrize("cut", [0, -7, -60])
def test_after_a_crash_it_goes_on_under_the_same_numbers(tmp_path: Path, cut: int) -> None:
    """From a checkpoint of before: what came after it is of a run that is over."""
    rec, path = recorded(7), tmp_path / "run.jsonl"
    with rec.stream(path):
        checkpoint = resumed(rec)
        go_on(rec, 10)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) + cut])
    with checkpoint.stream(path, seconds=0) as stream:
        assert stream.sent == 7
        go_on(checkpoint, 10)
    assert path.read_bytes() == whole
    late = recorded(9)
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:4]))
    late.stream(path).close()  # one that was not streamed for a while: what is missing comes first
    assert read_json_lines(path)["step"].tolist() == list(range(9))


def test_another_run_is_not_mixed_in(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    recorded(5).stream(path).close()
    before = path.read_bytes()
    other = gl.Recorder()
    for _ in range(2):
        with pytest.raises(ValueError, match="5 steps of another run"):
            other.stream(path)
        other.record([np.ones(3)], loss=1.0)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"step": 1}',
        '{"step": 1, "skipped": 0}',
        '{"step": 9, "skipped": false, "loss": "nan"}',
    ],
)
def test_what_is_no_step_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "run.jsonl"
    recorded(2).stream(path).close()
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], line, lines[1], ""]))
    for read in (read_json_lines, recorded(2).stream):
        with pytest.raises(DataLossError, match="line 2 of"):
            read(path)

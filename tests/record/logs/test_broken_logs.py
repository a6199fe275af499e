"""Logs that are broken, hostile, or still being written."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradlab import Recorder
from gradlab.errors import DataLossError
from gradlab.record import read_log

SAMPLES = Path(__file__).parent / "samples"
HEADER = "step,loss,grad_norm\n"


def written(folder: Path, content: str | bytes, name: str = "log") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        (gzip.compress(b"step,loss"), "decompress it first"),
        (b"PK\x03\x04..", "gl.Recorder.load"),
        (b"PAR1....", "Parquet"),
        (HEADER + "1,2,3\n\0\0\0", "line 3 of .* binary"),
        (HEADER.encode() + b"1,2,3\n2,\xff,3\n", "UTF-8"),
        (HEADER + "1,2,3\n2,2,big\n", "line 3 of .*: norm must be a number, got 'big'"),
        (HEADER + "1,2,3\n2,2,0.5 GiB\n", "line 3 .*got '0.5 GiB'"),
        (HEADER + "1,2,3\n2,oops,3\n", "line 3 .*loss must be a number"),
        (HEADER + "1,2,3\n2,2,-3\n", "line 3 .*at least 0, got '-3'"),
        (HEADER + "1,2,3\n2.5,2,3\n", "line 3 .*whole number"),
        (HEADER + "1,2,3\n-1,2,3\n", "line 3 .*whole number"),
        (HEADER + "1,2,3\n1e30,2,3\n", "line 3 .*whole number"),
        (HEADER + "1,2,3\n,2,3\n", "line 3 .*no step"),
        (HEADER + "1,2,3\n2,3\n3,4,5\n", "line 3 of .* has 2 fields, and the header has 3"),
        (HEADER + '1,2,3\n2,"2"x,3\n', "line 3 of .* is not CSV"),
        (HEADER, "no row with a number"),
        (HEADER + "1,2,\n2,1,\n", "no row with a number"),
        ('{"step": 1, "grad_norm": 2}\n{"step": 2, "grad_norm":\n{}\n', "line 2 of .* JSON object"),
        ('{"step": 1, "grad_norm": 2}\n[3]\n', "line 2 of .* is not a JSON object but"),
        ('{"step": 1, "grad_norm": 2}\n{"step": 2, "grad_norm": [3]}\n', r"line 2 .*got \[3\]"),
        ('{"step": 1, "grad_norm": 2}\n{"step": 2, "grad_norm": true}\n', "line 2 .*got True"),
        ('{"step": 1, "grad_norm": ' + "9" * 400 + "}\n", "line 1 .*must be a number"),
        ('{"step": 1, "grad_norm": ' + "9" * 5000 + "}\n", "line 1 of .* is not a JSON object"),
        ('{"step": 1}\n' + "[" * 100_000 + "\n", "line 2 of .* is not a JSON object"),
        ('{\n "log_history": [\n  {"step": 1,', "line 3 of .* is not JSON"),
        ('{\n "log_history": 3\n}', 'without a list "log_history"'),
        ('{\n "log_history": [3]\n}', "entry 1 of the log"),
        ('{\n "log_history": [{"step": 1, "grad_norm": null}]\n}', "no number in it yet"),
    ],
    ids=lambda x: repr(x)[:30],
)
def test_a_broken_log_is_refused_with_its_line(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    with pytest.raises(DataLossError, match=message):
        read_log(written(tmp_path, content))


def test_a_line_without_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataLossError, match=r"line 2 of .* has more than"):
        read_log(written(tmp_path, HEADER + "7" * (1 << 23)))


@pytest.mark.parametrize("name", ["nanogpt.log", "table.csv"])
def test_a_log_without_a_norm_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no gradient norm that is recognized"):
        read_log(SAMPLES / name)


def test_what_is_there_is_named_where_no_norm_is(tmp_path: Path) -> None:
    path = written(tmp_path, "step,ce,gn\n1,2,3\n")
    with pytest.raises(ValueError, match="It has step, ce and gn"):
        read_log(path)
    with pytest.raises(ValueError, match="no norm called 'gnorm'"):
        read_log(path, columns={"norm": "gnorm"})


def test_two_columns_that_may_be_the_norm_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "step,actor/grad_norm,critic/grad_norm\n1,2,3\n")
    with pytest.raises(ValueError, match="actor/grad_norm and critic/grad_norm, each of which"):
        read_log(path)
    assert read_log(path, columns={"norm": "critic/grad_norm"}).global_norm.tolist() == [3.0]
    lines = '{"step": 1, "actor/grad_norm": 2}\n{"step": 1, "critic/grad_norm": 3}\n'
    with pytest.raises(ValueError, match=r"line 2 of .* has critic/grad_norm where earlier"):
        read_log(written(tmp_path, lines))


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ("norm", TypeError, "must be a dict"),
        ({}, ValueError, "keys of columns"),
        ({"gnorm": "norm"}, ValueError, "keys of columns"),
        ({"norm": 3}, ValueError, "name of a column"),
    ],
)
def test_columns_are_names_by_role(columns: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        read_log(SAMPLES / "table.csv", columns=columns)


def test_a_folder_without_a_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds no log that is recognized; pass a file"):
        read_log(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_log(tmp_path / "none")


@pytest.mark.trackers
def test_a_damaged_file_of_wandb_is_refused(tmp_path: Path) -> None:
    part = b"\x01\x02\x03\x04" + (5).to_bytes(2, "little") + b"\x01" + b"hello"
    with pytest.raises(DataLossError, match="damaged at byte 7"):
        read_log(written(tmp_path, b":W&B\x00\x00\x00" + part))


def test_nan_inf_and_huge_numbers_are_kept(tmp_path: Path) -> None:
    rows = "1,nan,nan\n2,inf,Infinity\n3,-inf,1e300\n4,1,-1\n5,1,3e38\n6,1,1e-40\n"
    rec = read_log(written(tmp_path, HEADER + rows))
    norms = np.array([np.nan, np.inf, np.inf, np.inf, 3e38, 1e-40], np.float32)
    np.testing.assert_array_equal(rec.every_step("global_norm"), norms)
    np.testing.assert_array_equal(rec["loss"][:3], np.array([np.nan, np.inf, -np.inf], np.float32))
    assert rec.nonfinite_steps == 4
    assert any("1 norm above 3.4e+38" in sentence for sentence in rec.about)
    assert any("1 norm of -1, which DeepSpeed writes" in sentence for sentence in rec.about)


def test_norms_may_be_texts_or_missing(tmp_path: Path) -> None:
    lines = [
        {"step": 1, "grad_norm": "0.5", "loss": "NaN"},
        {"step": 2, "grad_norm": None, "loss": 3.0},
        {"step": "3", "grad_norm": " 1.5 ", "loss": None},
        {"step": 4.0, "grad_norm": "", "loss": 2.0},
    ]
    rec = read_log(written(tmp_path, "".join(json.dumps(line) + "\n" for line in lines)))
    assert rec.global_norm.tolist() == [0.5, 1.5]
    assert rec.every_step("training_step").tolist() == [1.0, 3.0]


def test_the_later_of_two_lines_of_a_step_wins(tmp_path: Path) -> None:
    rows = "10,3,1\n20,3,2\n30,3,3\n20,2,5\n30,2,3\n40,2,4\n"
    rec = read_log(written(tmp_path, HEADER + rows))
    assert rec.global_norm.tolist() == [1.0, 5.0, 3.0, 4.0]
    assert rec["loss"].tolist() == [3.0, 2.0, 2.0, 2.0]
    assert any("1 line of a step that a later line has with another" in s for s in rec.about)


def test_steps_out_of_order_are_sorted(tmp_path: Path) -> None:
    rec = read_log(written(tmp_path, HEADER + "3,1,3\n1,1,1\n2,1,2\n"))
    assert rec.global_norm.tolist() == [1.0, 2.0, 3.0]
    assert "The steps were not in order; they are sorted." in rec.about


@pytest.mark.parametrize(
    "lines",
    [
        [HEADER, "1,2,3.5\n", "2,2,4.5\n", "3,2,"],
        ['{"step": 1, "grad_norm": 3.5}\n', '{"step": 2, "grad_norm": 4.5}\n', '{"step": 3, "gr'],
        ["step: 1 grad_norm: 3.5 x\n", "step: 2 grad_norm: 4.5 x\n", "step: 3 grad_norm: 5"],
    ],
    ids=["csv", "json", "text"],
)
def test_a_log_that_grows_is_read_up_to_its_last_whole_line(
    tmp_path: Path, lines: list[str]
) -> None:
    whole = written(tmp_path, "".join(lines[:-1]))
    assert read_log(whole).global_norm.tolist() == [3.5, 4.5]
    growing = written(tmp_path, "".join(lines))
    rec = read_log(growing)
    assert rec.global_norm.tolist()[:2] == [3.5, 4.5]
    assert any("cut off" in sentence or "line break" in sentence for sentence in rec.about)


def test_a_table_may_end_without_a_line_break(tmp_path: Path) -> None:
    rec = read_log(written(tmp_path, "\ufeff" + HEADER + "1,2,3\r\n2,2,4.25"))
    assert rec.global_norm.tolist() == [3.0, 4.25]
    assert "no line break" in rec.about[-1]


def test_a_table_may_have_norms_alone(tmp_path: Path) -> None:
    rec = read_log(written(tmp_path, "grad_norm\n1.5\n2.5\n"))
    assert rec.global_norm.tolist() == [1.5, 2.5]
    assert rec.scalars == ("training_step",)
    assert rec.about[-1] == "The log has no steps; its lines are counted from 0."


def test_a_recording_is_not_a_log(tmp_path: Path) -> None:
    rec = Recorder()
    rec.record([np.ones(2)])
    rec.save(tmp_path / "run.npz")
    with pytest.raises(DataLossError, match=r"gl\.Recorder\.load"):
        read_log(tmp_path / "run.npz")

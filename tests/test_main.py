"""The command: refusals in one line, and how it starts and stops."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import gradlab
from gradlab import __main__ as command

ROOT = Path(__file__).parents[1]
LIMIT = "limit (0.001 to 100000)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "nope"], "unknown lab 'nope': there are descent, clipping, clip_arrows"),
        (
            ["run", "clipping", "--set", "lr=1"],
            f"unknown key 'lr': the keys are {LIMIT}; method (one of",
        ),
        (
            ["run", "clipping", "--set", "record=1"],
            f"unknown key 'record': the keys are {LIMIT}; method (one of",
        ),
        (
            ["run", "clipping", "--set", "limit"],
            f"--set takes KEY=VALUE, got 'limit'; the keys are {LIMIT}",
        ),
        (["run", "clipping", "--set", "limit=1e9"], "limit is 0.001 to 100000; got '1e9'"),
        (["run", "clipping", "--set", "limit=nan"], "limit is 0.001 to 100000; got 'nan'"),
        (["run", "clipping", "--set", "limit=much"], "limit is 0.001 to 100000; got 'much'"),
        (
            ["run", "clipping", "--set", "method=best"],
            "method is one of global, norm, value; got 'best'",
        ),
        (
            ["run", "clipping", "--save", "x.bmp"],
            "cannot save 'x.bmp': allowed are .png, .svg, .pdf, .csv, .html",
        ),
        (
            ["run", "clipping", "--save", "no/such/folder/x.png"],
            "cannot write no/such/folder/x.png:",
        ),
        (
            ["run", "clipping", "--save", "no/such/folder/x.html"],
            "cannot write no/such/folder/x.html:",
        ),
        (
            ["run", "clipping", "--link", "limit=1"],
            "cannot open the link: a link to a lab ends in #gl=1&lab=NAME",
        ),
        (
            ["run", "clipping", "--link", "#gl=1&lab=nope"],
            "cannot open the link: the link names a lab 'nope'",
        ),
        (
            ["run", "clipping", "--link", "#gl=1&lab=clip_arrows"],
            "the link shows clip_arrows, not clipping",
        ),
        (
            ["list", "--", "--no-browser"],
            "only `gradlab lab` and `gradlab dashboard` take them, got --no-browser",
        ),
    ],
)
def test_a_command_that_cannot_be_carried_out_says_so_in_one_line(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: Any,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command.main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("gradlab: ")
    assert message in said.err
    assert said.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["lab", "--allow-root"], "; what is for Jupyter follows --: gradlab lab -- --allow-root"),
        (
            ["dashboard", "--port=3", "--quiet"],
            "; what is for Jupyter follows --: gradlab dashboard -- --port=3",
        ),
        (["list", "--quiet"], ""),
    ],
)
def test_an_option_of_jupyter_is_told_where_it_belongs(
    arguments: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        command.main(arguments)
    assert stop.value.code == 2
    assert capsys.readouterr().err.endswith(
        f"unrecognized arguments: {' '.join(arguments[1:])}{hint}\n"
    )


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        command.main(["--version"])
    assert (stop.value.code, capsys.readouterr().out) == (0, f"gradlab {gradlab.__version__}\n")


@pytest.mark.exhaustive
def test_python_dash_m_is_the_same_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gradlab", "run", "nope"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr.startswith("gradlab: unknown lab 'nope'")


def test_a_reader_who_stops_reading_is_no_error() -> None:
    program = [sys.executable, "-m", "gradlab", "list"]
    with subprocess.Popen(
        program, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""

"""`gradlab report`: what it prints and writes, and what it refuses."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab import __main__ as command


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small recording in the current folder."""
    monkeypatch.chdir(tmp_path)
    rec = gl.Recorder()
    for scale in (1.0, 2.0, 50.0):
        rec.record({"w": scale * np.array([3.0, 4.0])})
    rec.save("run.npz")
    return Path("run.npz")


def test_it_prints_the_key_sentences_and_writes_the_page_beside_the_run(
    run: Path, capsys: Any, monkeypatch: Any
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(gl.Report, "html", lambda self: f"<!doctype html>{self.title}")
    monkeypatch.setattr("webbrowser.open", shown.append)
    assert command.main(["report", "run.npz", "--limit", "20", "--still", "--open"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "3 steps of 1 tensor with 2 entries; every step has a row of its own."
    assert "Your limit 20 on the global norm fires on 33.3% of 3 steps." in printed
    assert printed[-1] == "wrote run.html"
    assert Path("run.html").read_text("utf-8") == "<!doctype html>run"
    assert shown == [Path("run.html").resolve().as_uri()]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.npz"], "cannot read missing.npz: No such file or directory"),
        (["text.npz"], "text.npz is not a recording; write one with Recorder.save"),
        (["."], "cannot read .: Is a directory"),
        (["run.npz", "--limit", "0"], "limit must be positive and finite, got 0.0"),
        (["run.npz", "-o", "no/such/run.html"], "cannot write no/such/run.html: No such file or directory"),
        (["run.npz", "-o", "run.npz"], "cannot write run.npz: a report is an .html file, got 'run.npz'"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(run: Path, arguments: list[str], message: str, capsys: Any) -> None:
    Path("text.npz").write_text("words")
    before = sorted(Path().iterdir())
    assert command.main(["report", *arguments]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"gradlab: {message}\n")
    assert sorted(Path().iterdir()) == before

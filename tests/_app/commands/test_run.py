"""`gradlab run`: what it prints, opens, saves and loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import gradlab
from gradlab import __main__ as command

ROOT = Path(__file__).parents[3]


def test_run_prints_what_the_lab_says_at_these_values(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["run", "clipping", "--set", "limit=0.5", "--set", "run=0.3", "--set", "method=norm"]) == 0
    words = gradlab.labs.clipping(limit=0.5, run="0.3", method="norm").description
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == [words.alt, words.summary]
    assert [line.split() for line in printed[2:]] == [f"{name} {value}".split() for name, value in words.table]


def test_a_menu_takes_the_label_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    command.main(["run", "clipping", "--set", "run=no limit"])
    by_label = capsys.readouterr().out
    command.main(["run", "clipping", "--set", "run=none"])
    assert capsys.readouterr().out == by_label


def test_run_opens_a_link_and_settings_come_after_it(capsys: pytest.CaptureFixture[str]) -> None:
    link = gradlab.labs.clip_arrows(method="norm", limit=2.5).link()
    assert command.main(["run", "clip_arrows", "--link", f"https://example.org/x.ipynb{link}", "--set", "g1=1"]) == 0
    expected = gradlab.labs.clip_arrows(method="norm", limit=2.5, g1=1).description
    assert capsys.readouterr().out.splitlines()[:2] == [expected.alt, expected.summary]


@pytest.mark.parametrize(
    ("suffix", "start"),
    [
        (".png", b"\x89PNG"),
        (".svg", b"<?xml"),
        (".pdf", b"%PDF"),
        (".csv", b"gradient,"),
        (".html", b"<!doctype html>"),
        (".gif", b"GIF89a"),
        (".mp4", b"\0\0\0"),
    ],
)
def test_run_saves_what_the_suffix_asks_for(suffix: str, start: bytes, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / f"clip{suffix}"
    assert command.main(["run", "clip_libraries", "--set", "case=inf", "--save", str(path)]) == 0
    assert path.read_bytes().startswith(start)
    assert capsys.readouterr().out.endswith(f"wrote {path}\n")


def test_run_brings_neither_jax_nor_pyplot() -> None:
    program = "import sys; from gradlab.__main__ import main; main(['run', 'clipping']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "matplotlib.figure" in loaded or "gradlab.labs" in loaded  # the list is the right one
    assert not loaded & {"jax", "matplotlib.pyplot"}

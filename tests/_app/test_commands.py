"""`gradlab list`, `gradlab run`, `gradlab report`: what they print, what they write, and what they refuse."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradlab
import gradlab as gl
from gradlab import __main__ as command


def test_list_says_what_every_control_takes(
    every_control: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["list"]) == 0
    assert capsys.readouterr().out.partition("Notebooks")[0].splitlines()[1:] == [
        "  everything: Has them all.",
        "      rate    0 to 1 1/s",
        "      steps   a whole number from 1 to 9",
        "      span    two whole numbers LOW~HIGH from 0 to 300 steps",
        "      ahead   true or false",
        "      mode    one of 1, None",
        "      letter  one of a, b, c, d, e, f, g, h, i, j, k, l, m",
        "      second  as letter",
        "      third   one of -, or as letter",
        "      presets, one press in a notebook: Fast; Slow, but sure",
    ]


def test_list_names_every_lab_control_and_notebook(
    wheel_notebooks: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["list"]) == 0
    said = capsys.readouterr().out
    for name, make in gradlab.labs.catalog().items():
        assert f"\n  {name}: {make.__doc__.splitlines()[0]}\n" in said
    limit, method = "limit   0.001 to 100000\n", "method  one of global, norm, value\n"
    for part in (limit, method, "  02_clipping.ipynb: Clipping\n"):
        assert part in said
    # Buttons cannot be set.
    assert "record" not in said.split("clip_arrows")[0].replace("recorded", "")


ROOT = Path(__file__).parents[2]


def test_run_prints_what_the_lab_says_at_these_values(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        command.main(
            ["run", "clipping", "--set", "limit=0.5", "--set", "run=0.3", "--set", "method=norm"]
        )
        == 0
    )
    words = gradlab.labs.clipping(limit=0.5, run="0.3", method="norm").description
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == [words.alt, words.summary]
    assert [line.split() for line in printed[2:]] == [
        f"{name} {value}".split() for name, value in words.table
    ]


def test_a_menu_takes_the_label_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    command.main(["run", "clipping", "--set", "run=no limit, rate 0.4"])
    by_label = capsys.readouterr().out
    command.main(["run", "clipping", "--set", "run=none"])
    assert capsys.readouterr().out == by_label


def test_run_opens_a_link_and_settings_come_after_it(capsys: pytest.CaptureFixture[str]) -> None:
    link = gradlab.labs.clip_arrows(method="norm", limit=2.5).link()
    assert (
        command.main(
            ["run", "clip_arrows", "--link", f"https://example.org/x.ipynb{link}", "--set", "g1=1"]
        )
        == 0
    )
    expected = gradlab.labs.clip_arrows(method="norm", limit=2.5, g1=1).description
    assert capsys.readouterr().out.splitlines()[:2] == [expected.alt, expected.summary]


def test_a_lab_that_is_nearly_called_so_is_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["run", "clip"]) == 2
    assert capsys.readouterr().err.strip().endswith("unknown lab 'clip': did you mean clipping?")


HELD = {".html": r"\d+ states, [\d,]+ bytes each, "}


@pytest.mark.parametrize(
    ("suffix", "start"),
    [
        (".png", b"\x89PNG"),
        (".svg", b"<?xml"),
        (".pdf", b"%PDF"),
        (".csv", b"gradient,"),
        (".html", b"<!doctype html>"),
        (".gif", b"GIF89a"),
        pytest.param(".mp4", b"\0\0\0", marks=pytest.mark.exhaustive),
    ],
)
def test_run_saves_what_the_suffix_asks_for(
    suffix: str, start: bytes, tmp_path: Path, capsys: Any
) -> None:
    path = tmp_path / f"clip{suffix}"
    assert command.main(["run", "clip_libraries", "--set", "case=inf", "--save", str(path)]) == 0
    assert path.read_bytes().startswith(start)
    *_, told = capsys.readouterr().out.splitlines()
    assert re.fullmatch(f"wrote {re.escape(str(path))}: {HELD.get(suffix, '')}\\d+ kB", told)


def test_run_brings_neither_jax_nor_pyplot() -> None:
    program = (
        "import sys; from gradlab.__main__ import main; main(['run', 'clipping']); "
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "matplotlib.figure" in loaded or "gradlab.labs" in loaded  # the list is the right one
    assert not loaded & {"jax", "matplotlib.pyplot"}


DAMAGED = "is no recording of gradlab's, or it is damaged"


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
    assert printed[0] == "3 steps of 1 tensor with 2 entries; every step has a bucket of its own."
    assert "Your limit 20 on the global norm fires on 33.3% of 3 steps." in printed
    assert printed[-1] == "wrote run.html"
    assert Path("run.html").read_text("utf-8") == "<!doctype html>run"
    assert shown == [Path("run.html").resolve().as_uri()]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.npz"], "cannot read missing.npz: No such file or directory"),
        (
            ["text.npz"],
            (
                f"text.npz {DAMAGED}: File is not a zip file. Nothing of it was taken; load "
                "another copy"
            ),
        ),
        (
            ["cut.npz"],
            (
                f"cut.npz {DAMAGED}: File is not a zip file. Nothing of it was taken; load "
                "another copy"
            ),
        ),
        (
            ["flipped.npz"],
            (
                f"flipped.npz {DAMAGED}: its checksum is wrong. Nothing of it was taken; load "
                "another copy"
            ),
        ),
        (["."], "cannot read .: Is a directory"),
        (["run.npz", "--limit", "0"], "limit must be positive and finite, got 0.0"),
        (
            ["run.npz", "-o", "no/such/run.html"],
            "cannot write no/such/run.html: There is no such folder, make it first: no/such",
        ),
        (
            ["run.npz", "-o", "run.npz"],
            "cannot write run.npz: a report is an .html file, got 'run.npz'",
        ),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    run: Path, arguments: list[str], message: str, capsys: Any
) -> None:
    Path("text.npz").write_text("words")
    whole = run.read_bytes()
    Path("cut.npz").write_bytes(whole[: len(whole) // 2])
    with zipfile.ZipFile(run) as old, zipfile.ZipFile("flipped.npz", "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b'"seen": 3', b'"seen": 2'))
    before = sorted(Path().iterdir())
    assert command.main(["report", *arguments]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"gradlab: {message}\n")
    assert sorted(Path().iterdir()) == before


def test_set_reads_every_control(
    every_control: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    settings = ["rate=0.25", "steps=7", "span=5~20", "ahead=true", "mode=nothing"]
    assert (
        command.main(
            ["run", "everything", *(part for text in settings for part in ("--set", text))]
        )
        == 0
    )
    assert every_control == [
        {"rate": 0.25, "steps": 7, "span": (5, 20), "ahead": True, "mode": None}
        | dict.fromkeys(("letter", "second", "third"), "a")
    ]


@pytest.mark.parametrize(
    "text", ["steps=2.5", "span=5", "span=20~5", "ahead=maybe", "mode=two", "rate="]
)
def test_what_a_control_does_not_take_is_refused(
    text: str, every_control: Any, capsys: Any
) -> None:
    assert command.main(["run", "everything", "--set", text]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"gradlab: {text.partition('=')[0]} is ")
    assert said.endswith(f"; got {text.partition('=')[2]!r}\n")
    assert every_control == []

"""`gradlab key`: one exercise, the whole course, and copies of the notebooks that solve themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradlab import __main__ as command
from gradlab._app import key
from gradlab._base import notebooks
from gradlab.exercises.catalog import EXERCISES, PREDICTIONS

CHECK = 'gl.exercises.choose("start.sign")'
PREDICT = 'gl.exercises.predict("clipping.spikes")'


def cell(kind: str, source: str) -> dict[str, object]:
    outputs = {"outputs": [{"text": "Not yet."}], "execution_count": 1} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True)} | outputs


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One notebook that asks two things."""
    asked = (
        "Words.\n\n**Predict.** Which way?\n\n- (a) up\n- (b) down\n\nRun "
        "the cell and press a button."
    )
    cells = [cell("markdown", asked), cell("code", CHECK), cell("code", PREDICT)]
    (tmp_path / "00_start_here.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}))
    monkeypatch.setattr(notebooks, "find_folder", lambda: tmp_path)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert command.main(["key", *arguments]) == 0
    return capsys.readouterr().out


def test_a_choice_is_asked_as_in_the_notebook(
    notebook: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = said(capsys, "start.sign").splitlines()
    assert lines[:5] == [
        "start.sign",
        "  asked       **Predict.** Which way?",
        "              - (a) up",
        "              - (b) down",
        "  answer      b",
    ]
    assert any(line.startswith("  recognized  (a) ") for line in lines)


def test_code_stands_on_its_own_lines_and_a_prediction_is_to_be_discussed(
    notebook: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = said(capsys, "start.norm")
    assert "  asked       Write the norm of a list" in code
    assert "  answer\n      def norm(grads):\n          return " in code
    assert "\n  discuss     Would you have seen" in said(capsys, "clipping.spikes")


def test_the_course_has_every_exercise_and_every_prediction_by_notebook(
    notebook: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key, "_told", lambda found, asked: found)
    monkeypatch.setattr(key, "_found", lambda name: name)
    lines = [line for line in said(capsys, "--course").splitlines() if line]
    assert set(lines) >= {*EXERCISES, *PREDICTIONS}
    assert lines[:4] == ["00_start_here", "=============", "start.reader", "start.sign"]


def test_solved_copies_have_answers_and_words_behind_predictions(
    notebook: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = notebook / "solved"
    assert (
        said(capsys, "--course", "--notebooks", str(folder))
        == f"wrote {folder / '00_start_here.ipynb'}\n"
    )
    _, check, predict, told = json.loads((folder / "00_start_here.ipynb").read_text())["cells"]
    assert check["source"] == CHECK.replace("choose", "check").replace(")", ', "b")')
    assert (check["outputs"], check["execution_count"]) == ([], None)
    assert predict["outputs"]
    assert told["source"].startswith("**Key.** 3 steps. A handful")
    assert command.main(["key", "--course", "--notebooks", str(folder)]) == 2
    assert "holds 00_start_here.ipynb already: give another folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "give the name of one exercise, or --course"),
        (["start.sign", "--course"], "give the name of one exercise, or --course"),
        (["start.sign", "--notebooks", "x"], "give the name of one exercise, or --course"),
        (["start.nothing"], "unknown exercise 'start.nothing'; choose one of: start.sign"),
        (["--course", "--notebooks", __file__], "cannot write to"),
    ],
)
def test_what_cannot_be_done_is_said(
    notebook: Path, arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["key", *arguments]) == 2
    assert complaint in capsys.readouterr().err

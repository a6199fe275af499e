"""`gradlab grade`: what is right scores, what cheats does not, what never ends is ended, and nothing gets out."""

import csv
import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from gradlab import __main__ as command
from gradlab._app import grade
from gradlab._app.grading import marks, student, submissions
from gradlab._app.grading.sandbox import bubblewrap, found, namespaces
from gradlab.exercises.key import CODE
from gradlab.exercises.starters import STARTERS

START = "import numpy as np\nimport gradlab as gl"
NORM, STEP = CODE["start.norm"] + "gl.exercises.check('start.norm', norm)", CODE["start.descent"]
FORKS = "import os, time\nfor k in range(400):\n    if not os.fork(): time.sleep(20); os._exit(0)"
RIGHT = [START, "gl.exercises.choose('start.sign', 'b')", NORM, STEP + "gl.exercises.check('start.descent', step)"]


def hand_in(folder: Path, student: str, *cells: str) -> None:
    (folder / student).mkdir(parents=True)
    code = [{"cell_type": "code", "source": cell} for cell in cells]
    (folder / student / "00_start_here.ipynb").write_text(json.dumps({"cells": code}))


def graded(folder: Path, *more: str) -> dict[tuple[str, str], dict[str, str]]:
    out = folder.parent / "marks.csv"
    assert command.main(["grade", str(folder), "-o", str(out), *more]) == 0
    with out.open(newline="") as file:
        return {(line["student"], line["exercise"]): line for line in csv.DictReader(file)}


@pytest.fixture
def sandbox(tmp_path: Path) -> None:
    if not found(lambda make: grade.works(make, tmp_path)):
        pytest.skip("neither bubblewrap nor user namespaces work here")


@pytest.mark.exhaustive
@pytest.mark.usefixtures("sandbox")
def test_a_class(tmp_path: Path) -> None:
    folder, server = tmp_path / "class", socket.create_server(("127.0.0.1", 0))
    (tmp_path / "secret").touch()
    hand_in(folder, "right", *RIGHT)
    wrong = NORM.replace("np.sqrt(", "(").replace("(g * g)", "np.abs(g)")
    hand_in(folder, "wrong", START, "gl.exercises.choose('start.sign', 'a')", wrong)
    hand_in(folder, "untouched", START, STARTERS["start.norm"] + "\ngl.exercises.check('start.norm', norm)")
    reads = "import gradlab.exercises.key as key\ngl.exercises.check('start.norm', key.value('start.norm'))"
    looks = "import os\nfor at, _, files in os.walk('/'):\n    if 'key.py' in files and 'exercises' in at: exec(open("
    opens = looks + "at + '/key.py').read())\ngl.exercises.check('start.norm', value('start.norm'))"
    patched = "gl.exercises.check = lambda *a: type('Yes', (), {'right': True})()"
    hand_in(folder, "cheat", START, reads, opens, patched, "def norm(grads):\n    return 1.0", NORM.splitlines()[-1])
    reach = f"import os, socket\nnet = socket.socket().connect_ex(('127.0.0.1', {server.getsockname()[1]}))"
    seen = [str(tmp_path / "secret"), "/etc/passwd"]
    noise = "print('{}')\nos.write(1, b'{}\\n')\nsocket = None"
    hand_in(folder, "=spy", START, reach, noise, f"assert net and not any(map(os.path.exists, {seen}))", NORM)
    result = graded(folder)
    server.close()
    scores = {(who, name): line["score"] for (who, name), line in result.items()}
    assert {scores["right", name] for name in ("start.sign", "start.descent", "start.norm")} == {"1"}
    assert scores["right", "start.units"] == ""  # a button alone is no part of a notebook
    assert result["wrong", "start.sign"]["mistake"].startswith("(a) The gradient points")
    assert result["wrong", "start.norm"]["mistake"] == "That adds absolute values. The norm adds squares."
    assert result["untouched", "start.norm"]["mistake"] == "not tried"
    assert result["untouched", "start.norm"]["said"] == ""  # no hint
    assert scores["cheat", "start.norm"] == "0"
    assert scores["'=spy", "start.norm"] == "1" and result["'=spy", "start.units"]["said"] == ""
    page = (tmp_path / "marks.html").read_text()
    assert "<td>That adds absolute values. The norm adds squares.</td><td>1 of 5</td><td>wrong</td>" in page


@pytest.mark.exhaustive
@pytest.mark.usefixtures("sandbox")
def test_what_never_ends_takes_all_memory_or_leaves_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(student, "CALL", 1.0)
    monkeypatch.setattr(student, "_GRACE", 1.0)
    folder = tmp_path / "class"
    forever = "while True:\n        try:\n            while True: pass\n        except BaseException: pass"
    stubborn = f"def step(w, g, lr):\n    {forever}"
    hand_in(folder, "loops", START, NORM, "while True: pass", *RIGHT[3:])
    hand_in(folder, "loops when called", START, stubborn + "\ngl.exercises.check('start.descent', step)", NORM)
    hand_in(folder, "leaves", START, "def step(*a):\n    import os; os._exit(0)", RIGHT[3].splitlines()[-1], NORM)
    hand_in(folder, "forks", START, FORKS, NORM)
    result = graded(folder, "--seconds", "5", "--memory", "2000")
    assert result["loops", "start.norm"]["score"] == "1"
    assert result["loops", "start.descent"]["said"] == "its cells ran for more than 5 seconds"
    for one in ("loops when called", "leaves"):
        assert (result[one, "start.descent"]["score"], result[one, "start.norm"]["score"]) == ("0", "1")
    # With time enough: on a busy machine its cells would be ended before memory is.
    hand_in(tmp_path / "another", "eats", START, "x = []\nwhile True: x.append(bytearray(10**9))", NORM)
    assert "MemoryError" in graded(tmp_path / "another", "--memory", "2000")["eats", "start.sign"]["said"]
    assert os.geteuid() == 0 or "BlockingIOError" in result["forks", "start.sign"]["said"]


@pytest.mark.parametrize("make", [bubblewrap, namespaces])
def test_a_sandbox_is_not_believed_before_it_was_tried(make: Any, tmp_path: Path) -> None:
    command = make(tmp_path, 9.0)
    assert command[:4] == ["timeout", "--foreground", "--signal=KILL", "9"]
    assert str(grade.HIDDEN) in " ".join(command)
    assert not grade.works(lambda scratch, seconds: ["false"], tmp_path)


def test_without_a_sandbox_nothing_runs_unless_the_teacher_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hand_in(tmp_path / "class", "right", *RIGHT)
    monkeypatch.setattr(grade, "found", lambda works: None)
    out = tmp_path / "marks.csv"
    assert command.main(["grade", str(tmp_path / "class"), "-o", str(out)]) == 2
    assert "no sandbox works here: install bubblewrap" in capsys.readouterr().err and not out.exists()
    assert graded(tmp_path / "class", "--trust")["right", "start.norm"]["score"] == "1"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "nowhere is not a folder"),
        (["."], "holds no notebooks of the course: expected NAME/*.ipynb"),
        ([".", "-o", "marks.txt"], "marks are written to a .csv file"),
        ([".", "-o", "no/marks.csv"], "there is no folder no"),
        ([".", "--seconds", "0"], "at least a second"),
    ],
)
def test_what_cannot_be_graded(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command.main(["grade", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_what_is_handed_in_is_found_and_what_leads_elsewhere_is_not_read(tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "ann", *RIGHT)
    (tmp_path / "class" / "ann" / "00_start_here.ipynb").rename(tmp_path / "class" / "bob.ipynb")
    (tmp_path / "class" / "ann" / "link.ipynb").symlink_to(tmp_path / "class" / "bob.ipynb")
    (tmp_path / "class" / "cyd").mkdir()
    (tmp_path / "class" / "cyd" / "02_clipping.ipynb").write_text("[" * 100_000)
    ann, bob, cyd = sorted(submissions.found(tmp_path / "class"), key=lambda one: one.student)
    assert (ann.student, ann.trouble, ann.cells) == ("ann", "it is a link to another file", ())
    assert (bob.student, bob.stem, len(bob.cells)) == ("bob", "00_start_here", 4)
    assert cyd.trouble.startswith("it cannot be read as a notebook")
    hand_in(tmp_path / "class", "bob", *RIGHT)
    with pytest.raises(grade.UsageError, match="bob has handed in 00_start_here twice"):
        submissions.found(tmp_path / "class")


def test_who_has_not_handed_in_what_others_have_has_zeros() -> None:
    ours = [
        marks.Mark("ann", "00_start_here", "start.sign", 1, "", ""),
        marks.Mark("bob", "02_clipping", "x", 1, "", ""),
    ]
    ours[1] = marks.Mark("bob", "02_clipping", "clipping.below", 1, "", "")
    all_marks = marks.completed(ours)
    assert {(m.student, m.score) for m in all_marks if m.mistake == marks.MISSING} == {("ann", 0), ("bob", 0)}
    assert len(all_marks) == 2 + 6 + 4

"""`gradlab course`: copies for a class, and the cells that nbgrader and Otter read."""

import json
from pathlib import Path

import nbformat
import pytest

from gradlab import __main__ as command
from gradlab._app import course, slides
from gradlab._base import notebooks
from gradlab.exercises.catalog import EXERCISES


@pytest.fixture(autouse=True)
def first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The course is its first notebook."""
    (shipped := tmp_path / "shipped").mkdir()
    path = notebooks.find_folder() / notebooks.START
    (shipped / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(notebooks, "find_folder", lambda: shipped)


def made(folder: Path, *options: str) -> nbformat.NotebookNode:
    assert command.main(["course", str(folder), *options]) == 0
    (path,) = folder.rglob("*.ipynb")
    nbformat.validate(notebook := nbformat.read(path, as_version=4))
    return notebook


def test_copies_have_outputs_or_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    as_it_is = made(tmp_path / "a")
    assert as_it_is == nbformat.read(notebooks.find_folder() / notebooks.START, as_version=4)
    bare = made(tmp_path / "b", "--no-outputs")
    assert [cell.source for cell in bare.cells] == [cell.source for cell in as_it_is.cells]
    assert not any(cell.get("outputs") for cell in bare.cells)
    assert command.main(["course", str(tmp_path / "b")]) == 2
    assert "is not an empty folder" in capsys.readouterr().err


def test_nbgrader_gets_a_cell_to_answer_in_and_one_that_checks(tmp_path: Path) -> None:
    cells = made(tmp_path / "c", "--nbgrader").cells
    assert (tmp_path / "c" / "source" / "00_start_here" / "00_start_here.ipynb").exists()
    assert "gradlab" in (tmp_path / "c" / "nbgrader_config.py").read_text()
    graded = {
        cell.metadata.nbgrader.grade_id: cell for cell in cells if "nbgrader" in cell.metadata
    }
    ours = [name.replace(".", "-") for name in EXERCISES if name.startswith("start.")]
    assert list(graded) == [f"{name}-{half}" for name in ours for half in ("answer", "test")]
    assert graded["start-sign-answer"].source.splitlines() == [
        '# The letter of your answer: "a", "b" or "c".',
        "answer = None",
        "### BEGIN SOLUTION",
        'answer = "b"',
        "### END SOLUTION",
    ]
    before = cells[cells.index(graded["start-sign-answer"]) - 1]
    assert before.source == 'gl.exercises.choose("start.sign")'  # its buttons stay
    lines = graded["start-norm-answer"].source.splitlines()
    assert lines[:2] == ["def norm(grads):", "    ### BEGIN SOLUTION"]
    test = graded["start-norm-test"]
    assert (test.metadata.nbgrader.points, test.metadata.nbgrader.locked) == (1, True)
    assert test.source.endswith("assert feedback.right, feedback")


def test_a_value_that_is_asked_for_keeps_its_starter() -> None:
    source = 'my_limit = None\n\ngl.exercises.check("clipping.keep_95", my_limit)'
    answer, _ = course._for_nbgrader({"cell_type": "code", "source": source})
    assert answer["source"].splitlines()[:2] == ["my_limit = None", "### BEGIN SOLUTION"]


def test_graded_copies_ask_for_letters(tmp_path: Path) -> None:
    cells = made(tmp_path / "g", "--graded").cells
    choices = [
        cell.source for cell in cells if cell.cell_type == "code" and "choose(" in cell.source
    ]
    assert choices[0] == (
        'gl.exercises.choose("start.sign", None)  # in place of None your letter: "a", "b" or "c"'
    )
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert "Write your letter in place of `None`, and run the cell." in text
    assert "press a button." not in text


def test_otter_gets_questions(tmp_path: Path) -> None:
    cells = made(tmp_path / "d", "--otter").cells
    assert cells[0].cell_type == "raw" and cells[0].source.startswith("# ASSIGNMENT CONFIG")
    raw = [cell.source.partition("\n")[0] for cell in cells if cell.cell_type == "raw"][1:7]
    assert raw == [
        f"# {word}"
        for word in (
            "BEGIN QUESTION",
            "BEGIN SOLUTION",
            "END SOLUTION",
            "BEGIN TESTS",
            "END TESTS",
            "END QUESTION",
        )
    ]


@pytest.mark.exhaustive
def test_a_deck_has_the_pages_of_its_labs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slides, "_STATES", 1)
    shown = {
        "output_type": "execute_result",
        "data": {"text/html": "a picture", "text/plain": "a lab"},
    }
    make = "import gradlab as gl\n%matplotlib inline\ngl.labs.clip_arrows(method='norm')"
    guess = "gl.exercises.predict('clipping.spikes')"
    cells = [
        {"cell_type": "code", "source": source, "outputs": [json.loads(json.dumps(shown))]}
        for source in (make, guess)
    ]
    slides.moving(cells)
    lab, prediction = (cell["outputs"][0]["data"]["text/html"] for cell in cells)
    assert lab.startswith('<iframe title="Four ways to clip one gradient" srcdoc="&lt;!')
    assert prediction == "a picture"

"""What is solved is saved in a kernel only, never gets in the way of a check, and is shown by
notebook.
"""

import json
import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from gradlab.errors import DataLossError
from gradlab.exercises import _progress, check, progress
from gradlab.exercises._progress import FILE, Entry, Progress
from gradlab.exercises.catalog import EXERCISES
from gradlab.exercises.questions import Choice
from gradlab.exercises.starters import run_code

SOLVED = {"start.sign": Entry("2026-11-22 14:05", 2), "start.units": Entry(None, 1)}


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which a kernel seems to run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_progress, "in_kernel", lambda: True)
    monkeypatch.setattr(_progress, "_session", {})
    monkeypatch.setattr(_progress, "_told", set())
    return tmp_path


def test_outside_a_kernel_nothing_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert check("start.sign", "b").progress == ""
    assert not list(tmp_path.iterdir())
    assert repr(progress()).splitlines()[-1].startswith("Answers are kept in a notebook only: ")


def test_a_notebook_is_not_told_where_answers_are_kept(kernel: Path) -> None:
    assert repr(progress()).splitlines()[-1].startswith("Solved 0 of 42.")


def test_a_kernel_is_an_ipython_that_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for shell, kernel in (
        (None, False),
        (SimpleNamespace(), False),
        (SimpleNamespace(kernel=1), True),
    ):
        monkeypatch.setitem(
            sys.modules, "IPython", SimpleNamespace(get_ipython=lambda shell=shell: shell)
        )
        assert _progress.in_kernel() == kernel
    monkeypatch.delitem(sys.modules, "IPython")
    assert not _progress.in_kernel()


def test_a_right_answer_says_how_many_are_solved_and_saves_it(kernel: Path) -> None:
    assert repr(check("start.sign", "b")).endswith("lr * g. (1 of 4 in this notebook)")
    assert repr(check("start.units", "b")).endswith("(2 of 4 in this notebook)")
    assert check("clipping.below", "b").progress == "1 of 6 in this notebook"
    assert progress().solved == ["start.sign", "start.units", "clipping.below"]
    assert progress().next == "start.descent"


def test_a_notebook_that_is_only_run_leaves_no_file_behind(kernel: Path) -> None:
    for answer in (None, "a", "c"):
        assert check("start.sign", answer).progress == ""
    for name, exercise in EXERCISES.items():
        if not isinstance(exercise, Choice):
            assert check(name, run_code(exercise.starter)).progress == ""
    assert not list(kernel.iterdir())
    assert progress().entries == {"start.sign": Entry(None, 2)}
    check("start.sign", "b")
    assert progress().entries["start.sign"].tries == 3
    check("start.units", "a")
    assert json.loads((kernel / FILE).read_text())["entries"]["start.units"] == {
        "solved": None,
        "tries": 1,
    }


@pytest.mark.parametrize("text", ["{", "[1]"])
def test_a_file_that_is_something_else_is_left_alone_and_spoken_of_once(
    kernel: Path, text: str
) -> None:
    (kernel / FILE).write_text(text)
    said = [check("start.sign", answer).progress for answer in ("a", "b", "b")]
    assert said[0].startswith(f"not saved, {FILE} cannot be used: ")
    assert said[1:] == ["1 of 4 in this notebook"] * 2
    assert (kernel / FILE).read_text() == text
    assert progress().solved == ["start.sign"]
    assert "cannot be used" in progress().trouble


def test_a_folder_that_cannot_be_written_breaks_no_check(
    kernel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr(_progress, "write", refuse)
    said = check("start.sign", "b").progress
    assert said == f"1 of 4 in this notebook; not saved, {FILE} cannot be used: read-only"


def test_the_table_says_what_is_solved_and_what_is_next() -> None:
    lines = repr(Progress(SOLVED)).splitlines()
    assert lines[0] == "00_start_here: 1 of 4"
    assert lines[1].split() == ["start.sign", "solved", "2026-11-22", "14:05", "tries:", "2"]
    assert lines[2].split() == ["start.units", "open", "tries:", "1"]
    assert lines[3].split() == ["start.descent", "open"]
    assert lines[5:7] == ["01_three_steps: 0 of 7", "02_clipping: 0 of 6"]
    assert lines[-2] == "Solved 1 of 42. Next: start.units in 00_start_here."
    html = Progress(SOLVED)._repr_html_()
    assert html.count("<tbody>") == 8
    assert '<th scope="row">start.sign</th><td>solved 2026-11-22 14:05</td><td>2</td>' in html


def test_who_solved_all_is_told_so() -> None:
    all_solved = Progress({name: Entry("now", 1) for name in Progress({}).open})
    assert all_solved.next is None
    assert "Nothing is left: you solved them all." in repr(all_solved)


def test_what_is_written_is_read_again_and_people_can_read_it(tmp_path: Path) -> None:
    entries = {"b.x": Entry("2026-11-22 14:05", 3), "a.y": Entry(None, 1)}
    assert _progress.read(tmp_path) == {}
    _progress.write(tmp_path, entries)
    assert _progress.read(tmp_path) == entries
    lines = (tmp_path / FILE).read_text("utf-8").splitlines()
    assert [line.strip() for line in lines[1:4]] == ['"entries": {', '"a.y": {', '"solved": null,']
    assert [p.name for p in tmp_path.iterdir()] == [FILE]


def test_an_answer_counts_until_one_is_right() -> None:
    entry = Entry().tried(False).tried(True)
    assert entry.tries == 2
    assert entry.solved
    assert entry.tried(False) == entry


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "[" * 100_000,
        '{"a": 1}',
        '{"a": {"tries": true, "solved": null}}',
        '{"a": {"tries": -1, "solved": null}}',
        '{"a": {"tries": "x"}}',
        '{"a": {"tries": 1, "solved": 2}}',
    ],
)
def test_a_file_that_holds_something_else_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(DataLossError, match=FILE):
        _progress.read(tmp_path)


def test_a_file_that_was_changed_by_hand_is_refused(tmp_path: Path) -> None:
    entries = {"a.y": Entry(None, 1), "b.x": Entry("2026-11-22 14:05", 3)}
    _progress.write(tmp_path, entries)
    assert _progress.read(tmp_path) == entries
    text = (tmp_path / FILE).read_text()
    (tmp_path / FILE).write_text(text.replace('"tries": 3', '"tries": 4'))
    with pytest.raises(DataLossError, match="its checksum is wrong"):
        _progress.read(tmp_path)


def test_of_two_entries_the_solved_one_counts_or_that_with_more_tries() -> None:
    done = Entry("2026-11-22 14:05", 1)
    both = _progress.merged(
        {"a": done, "b": Entry(None, 2)}, {"a": Entry(None, 9), "b": Entry(None, 3), "c": done}
    )
    assert both == {"a": done, "b": Entry(None, 3), "c": done}


def test_two_notebooks_at_once_lose_nothing(tmp_path: Path) -> None:
    def solve(name: str) -> None:
        for k in range(10):
            with _progress.locked(tmp_path):
                _progress.write(
                    tmp_path, _progress.read(tmp_path) | {f"{name}.{k}": Entry("now", 1)}
                )

    both = [threading.Thread(target=solve, args=(name,)) for name in "ab"]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert len(json.loads((tmp_path / FILE).read_text())["entries"]) == 20


def test_a_forgotten_lock_is_taken_away_and_a_held_one_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_progress, "_PATIENCE", 0.0)
    lock = tmp_path / f"{FILE}.lock"
    lock.touch()
    with _progress.locked(tmp_path):
        pass
    assert lock.exists()
    os.utime(lock, (0, 0))
    with _progress.locked(tmp_path):
        pass
    assert not lock.exists()

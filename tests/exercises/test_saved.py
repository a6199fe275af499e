"""The file beside the notebook: readable, replaced at once, shared by notebooks, refused if it is something else."""

import json
import os
import threading
from pathlib import Path

import pytest

from gradlab.exercises import saved
from gradlab.exercises.saved import FILE, Entry


def test_what_is_written_is_read_again_and_people_can_read_it(tmp_path: Path) -> None:
    entries = {"b.x": Entry("2026-11-22 14:05", 3), "a.y": Entry(None, 1)}
    assert saved.read(tmp_path) == {}
    saved.write(tmp_path, entries)
    assert saved.read(tmp_path) == entries
    text = (tmp_path / FILE).read_text("utf-8")
    assert text.splitlines()[1] == '  "a.y": {"solved": null, "tries": 1},'
    assert [p.name for p in tmp_path.iterdir()] == [FILE]


def test_an_answer_counts_until_one_is_right() -> None:
    entry = Entry().tried(False).tried(True)
    assert entry.tries == 2
    assert entry.solved
    assert entry.tried(False) == entry


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"a": 1}', '{"a": {"tries": "x"}}', '{"a": {"tries": 1, "solved": 2}}']
)
def test_a_file_that_holds_something_else_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(ValueError):  # noqa: PT011  # JSON's own, or ours
        saved.read(tmp_path)


def test_of_two_entries_the_solved_one_counts_or_that_with_more_tries() -> None:
    done = Entry("2026-11-22 14:05", 1)
    both = saved.merged({"a": done, "b": Entry(None, 2)}, {"a": Entry(None, 9), "b": Entry(None, 3), "c": done})
    assert both == {"a": done, "b": Entry(None, 3), "c": done}


def test_two_notebooks_at_once_lose_nothing(tmp_path: Path) -> None:
    def solve(name: str) -> None:
        for k in range(10):
            with saved.locked(tmp_path):
                saved.write(tmp_path, saved.read(tmp_path) | {f"{name}.{k}": Entry("now", 1)})

    both = [threading.Thread(target=solve, args=(name,)) for name in "ab"]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert len(json.loads((tmp_path / FILE).read_text())) == 20


def test_a_forgotten_lock_is_taken_away_and_a_held_one_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved, "_PATIENCE", 0.0)
    lock = tmp_path / f"{FILE}.lock"
    lock.touch()
    with saved.locked(tmp_path):
        pass
    assert lock.exists()
    os.utime(lock, (0, 0))
    with saved.locked(tmp_path):
        pass
    assert not lock.exists()

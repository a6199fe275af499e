"""The old file or the new one, whatever happens in between."""

import multiprocessing
import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

import gradlab as gl
from gradlab._base.atomic_files import atomic_replace, replace_folder


def _fail_half_way(path: Path) -> None:
    with atomic_replace(path) as part:
        part.write_text("half of the n")
        raise RuntimeError("half way")


def test_what_raises_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError, match="half way"):
        _fail_half_way(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def recorded() -> gl.Recorder:
    """A recording of one step."""
    rec = gl.Recorder()
    rec.record({"w": np.array([3.0, 4.0])})
    return rec


SAVES = {
    "a picture": lambda path: gl.labs.clip_arrows().save(path.with_suffix(".png")),
    "a film": lambda path: gl.labs.clip_arrows().save(path.with_suffix(".gif")),
    "a recording": lambda path: recorded().save(path.with_suffix(".npz")),
    "a training state": lambda path: gl.save(
        path.with_suffix(".npz"), w=gl.Variable([1.0], name="w")
    ),
}


@pytest.mark.parametrize("what", SAVES)
def test_a_folder_that_is_not_there_is_named(what: str, tmp_path: Path) -> None:
    folder = tmp_path / "nowhere"
    with pytest.raises(FileNotFoundError) as raised:
        SAVES[what](folder / "x")
    assert raised.value.filename == str(folder)
    assert ".part" not in str(raised.value)
    assert "no such folder" in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(NotADirectoryError, match="file and not a folder"),
        atomic_replace(tmp_path / "file" / "x"),
    ):
        raise AssertionError("nothing is written")


def _lose_the_part_file(path: Path) -> None:
    with atomic_replace(path) as part:
        part.unlink()
        part.read_bytes()


def test_an_error_of_the_part_file_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with pytest.raises(FileNotFoundError) as raised:
        _lose_the_part_file(path)
    assert raised.value.filename == str(path)


def _die_half_way(path: Path) -> None:
    with atomic_replace(path) as part:
        part.write_text("half of the n")
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_is_killed_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    process = multiprocessing.get_context("spawn").Process(target=_die_half_way, args=(path,))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert path.read_text() == "old"


def test_of_two_threads_the_later_one_wins_whole(tmp_path: Path) -> None:
    path, meet = tmp_path / "a.txt", threading.Barrier(4)

    def write(letter: str) -> None:
        with atomic_replace(path) as part:
            meet.wait(30)
            part.write_text(letter * 10_000)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(path.read_text()) == 10_000 and len(set(path.read_text())) == 1
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_said_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), atomic_replace(tmp_path / "missing" / "a.txt"):
        pytest.fail("the work was begun")


def test_a_link_stays_a_link_and_rights_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "a.txt", tmp_path / "link.txt"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    with atomic_replace(link) as part:
        part.write_text("new")
    assert link.is_symlink() and path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640


def test_what_a_killed_process_left_goes_a_day_later(tmp_path: Path) -> None:
    path, left, fresh = (
        tmp_path / "a[1].txt",
        tmp_path / "a[1].txt.0123.part",
        tmp_path / "a[1].txt.4567.part",
    )
    for part in (left, fresh):
        part.write_text("half")
    os.utime(left, (0, 0))
    with atomic_replace(path) as part:
        part.write_text("new")
    assert sorted(tmp_path.iterdir()) == [path, fresh]


def test_a_folder_is_the_old_one_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "site"
    for words in ("old", "new"):
        with replace_folder(path, "index.html") as new:
            (new / "index.html").write_text(words)
            assert not path.exists() or (path / "index.html").read_text() == "old"
    with (
        pytest.raises(RuntimeError, match="half way"),
        replace_folder(path, "index.html") as new,
    ):
        raise RuntimeError("half way")
    assert (path / "index.html").read_text() == "new" and list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_renamed_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "site"
    with replace_folder(path, "index.html") as new:
        (new / "index.html").write_text("old")
    with pytest.raises(FileNotFoundError), replace_folder(path, "index.html") as new:
        new.rmdir()  # so that it cannot be renamed to `path`
    assert (path / "index.html").read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_of_somebody_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with (
        pytest.raises(FileExistsError, match="holds other things"),
        replace_folder(tmp_path, "index.html"),
    ):
        pass
    assert (tmp_path / "thesis.tex").read_text() == "mine"

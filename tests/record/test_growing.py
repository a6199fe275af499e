"""A recording in a file that grows: at any time all but the last piece is in it, and it stays
small.
"""

import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab._base.growing import GrowingFile
from gradlab.errors import DataLossError, RecordingWarning
from gradlab.record.file import Appended, change_record, contents_now, whole_record
from tests._base.damage import rewrite


def recorder(steps: int = 8) -> gl.Recorder:
    return gl.Recorder(steps, entries=5, sample_every=3)


def go_on(rec: gl.Recorder, until: int) -> None:
    for k in range(rec.seen, until):
        rng = np.random.default_rng(k)
        skipped = k % 7 == 3
        scale = np.inf if skipped else float(np.exp(rng.normal()))
        rec.record(
            {"a": scale * rng.normal(size=(3, 2)), "b": rng.normal(size=2)},
            loss=k,
            scale=8.0,
            skipped=skipped,
        )


def same(a: gl.Recorder, b: gl.Recorder) -> bool:
    """Whether two recordings hold the same bits, and go on alike."""
    mine, other = contents_now(a), contents_now(b)
    assert mine is not None and other is not None
    bits = [
        {k: (x.shape, x.dtype, x.tobytes()) for k, x in columns.items()}
        for _, columns in (mine, other)
    ]
    return mine[0] == other[0] and bits[0] == bits[1]


def test_after_each_step_all_of_it_is_in_the_file(tmp_path: Path) -> None:
    rec, path = recorder(), tmp_path / "run.rec"
    with rec.append_to(path, seconds=0, sync=False) as file:
        with pytest.raises(ValueError, match="holds no step yet"):
            gl.Recorder.load(path)
        for k in range(1, 40):
            go_on(rec, k)
            assert same(gl.Recorder.load(path), rec) and file.steps == k
    rec.save(tmp_path / "run.npz")
    assert same(gl.Recorder.load(tmp_path / "run.npz"), gl.Recorder.load(path))


def test_damage_is_refused(tmp_path: Path) -> None:
    rec, path = recorder(), tmp_path / "run.rec"
    with rec.append_to(path, seconds=0, sync=False):
        go_on(rec, 5)
    data = path.read_bytes()
    num_refused = 0
    for at in range(0, len(data), 421):
        rewrite(path, data[:at] + bytes([data[at] ^ 16]) + data[at + 1 :])
        try:
            # Some bytes are in free parts of the file, which nothing reads.
            assert same(gl.Recorder.load(path), rec)
        except DataLossError:
            num_refused += 1
    assert num_refused > len(data) // 421 // 3
    path = tmp_path / "other.rec"
    with GrowingFile(path) as log:
        log.append({"experiment": "another"})
    with pytest.raises(DataLossError, match="its first piece is missing"):
        gl.Recorder.load(path)
    with pytest.raises(DataLossError, match="first piece"):
        rec.append_to(path)


def test_a_file_stays_a_few_times_as_large_as_what_it_holds(tmp_path: Path) -> None:
    rec, path = recorder(), tmp_path / "run.rec"
    with rec.append_to(path, seconds=0, sync=False):
        go_on(rec, 150)
        largest = path.stat().st_size
    with recorder().append_to(tmp_path / "once.rec") as file:
        file.heard(rec)
        file.flush()
    assert largest < 4.5 * (tmp_path / "once.rec").stat().st_size


def test_pieces_are_as_far_apart_as_they_were_asked_for(tmp_path: Path) -> None:
    rec = recorder()
    with rec.append_to(tmp_path / "run.rec", seconds=3600) as file:
        go_on(rec, 5)
        assert file.steps == 0 or file.steps == 1  # the first may be written
        file.flush()
        assert gl.Recorder.load(tmp_path / "run.rec").seen == 5
        go_on(rec, 6)
    assert gl.Recorder.load(tmp_path / "run.rec").seen == 6 and file.closed


def test_of_a_traced_run_it_follows_what_absorb_returns(tmp_path: Path) -> None:
    rec, path, grads = recorder(), tmp_path / "run.rec", {"a": np.ones((3, 2)), "b": np.ones(2)}
    rec.init(grads, loss=0.0)
    with rec.append_to(path, seconds=0, sync=False) as file:
        for steps in (3, 20):
            go_on(traced := recorder(), steps)
            rec = rec.absorb(traced.init(grads, loss=0.0))
            assert (
                same(gl.Recorder.load(path), rec) and file.steps == steps and file.recorder is rec
            )


def test_another_run_is_not_written_over(tmp_path: Path) -> None:
    rec, path = recorder(), tmp_path / "run.rec"
    with rec.append_to(path):
        go_on(rec, 5)
    for other in (recorder(), recorder()):
        with pytest.raises(ValueError, match="5 steps of another run"):
            other.append_to(path)
        other.record({"a": np.ones((3, 2)), "b": np.ones(2)}, loss=0.0)
    with pytest.raises(ValueError, match="of another run"):
        other.append_to(path)
    with pytest.raises(ValueError, match=r"is no \.npz"):
        rec.append_to(tmp_path / "run.npz")
    assert same(gl.Recorder.load(path), rec)
    checkpoint = recorder()
    go_on(checkpoint, 3)
    with pytest.warns(RecordingWarning, match="2 steps more than this recorder"):
        checkpoint.append_to(path, seconds=0, sync=False).close()
    assert gl.Recorder.load(path).seen == 3


def test_appended_to_twice_the_later_one_goes_on(tmp_path: Path) -> None:
    rec, path = recorder(), tmp_path / "run.rec"
    first = rec.append_to(path, seconds=0, sync=False)
    go_on(rec, 2)
    with pytest.warns(RecordingWarning, match="closed now"):
        second = rec.append_to(path, seconds=0, sync=False)
    go_on(rec, 3)
    assert first.closed and second.steps == 3
    second.close()
    assert not len(rec.listeners)


def test_a_full_disk_costs_no_step_and_ends_no_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rec, path = recorder(), tmp_path / "run.rec"
    with rec.append_to(path, seconds=0, sync=False):
        go_on(rec, 3)

        def full(*_: Any) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(GrowingFile, "append", full)
            patch.setattr(GrowingFile, "restart", full)
            with pytest.warns(RecordingWarning, match=r"No space left.*so far 1 step") as warned:
                go_on(rec, 6)
            assert len(warned) == 1
            assert gl.Recorder.load(path).seen == 3
        go_on(rec, 7)
        assert same(gl.Recorder.load(path), rec)


def test_what_cannot_be_written_at_the_end_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rec = recorder()
    file: Appended = rec.append_to(tmp_path / "run.rec")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(GrowingFile, "restart", full)
    go_on(rec, 4)
    with pytest.warns(RecordingWarning) as warned:
        file.close()
    assert "is closed, and 4 steps are not in the file; the recorder has them" in str(
        warned[-1].message
    )


def crafted(path: Path, change: dict[str, Any], dtype_and_shape: Any = None) -> None:
    """A recording that grew by one piece, of which some arrays are others."""
    rec = recorder()
    go_on(rec, 1)
    before = contents_now(rec)
    go_on(rec, 2)
    after = contents_now(rec)
    assert before is not None and after is not None
    fields, arrays = change_record(before, after)
    if dtype_and_shape:
        fields["columns"]["norm"] = dtype_and_shape
    with GrowingFile(path, sync=False) as file:
        file.append(*whole_record(before))
        file.append(fields, {**arrays, **change})


@pytest.mark.parametrize(
    "change",
    [
        {"norm length": np.array([10**9])},
        {
            "norm start": np.array([0, 0]),
            "norm length": np.array([4, 4]),
            "norm value": np.ones(8, np.float32),
        },
        {"norm start": np.array([2**62]), "norm length": np.array([2**62])},
        {"norm start": np.array([-1])},
        {"norm value": np.ones(1, np.float32)},
    ],
    ids=[
        "longer than the column",
        "one over the other",
        "an overflow",
        "before it",
        "fewer numbers",
    ],
)
def test_places_that_a_piece_cannot_have_take_no_memory(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    crafted(tmp_path / "run.rec", change)
    tracemalloc.start()
    with pytest.raises(DataLossError, match="its changes are not where its numbers are"):
        gl.Recorder.load(tmp_path / "run.rec")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1 << 24


@pytest.mark.parametrize("shape", [[1 << 40, 1 << 40], [-1, 4], [1.5], "8"], ids=str)
def test_shapes_that_no_column_has_are_refused(tmp_path: Path, shape: Any) -> None:
    crafted(tmp_path / "run.rec", {}, ["<f4", shape])
    with pytest.raises(DataLossError, match=r"max_bytes allows|is not a shape"):
        gl.Recorder.load(tmp_path / "run.rec")


def test_max_bytes_holds_for_the_first_piece(tmp_path: Path) -> None:
    rec, path = recorder(), tmp_path / "run.rec"
    with rec.append_to(path, seconds=0, sync=False):
        go_on(rec, 3)
    with pytest.raises(DataLossError, match="max_bytes allows 100"):
        gl.Recorder.load(path, max_bytes=100)


def test_a_run_goes_on_from_the_file_of_a_killed_process(tmp_path: Path) -> None:
    rec, path = recorder(), tmp_path / "run.rec"
    with rec.append_to(path, seconds=0, sync=False):
        go_on(rec, 5)
    back = gl.Recorder.load(path)
    with back.append_to(path, seconds=0, sync=False):
        go_on(back, 30)
    go_on(rec, 30)
    assert np.array_equal(back.every_step("global_norm"), rec.every_step("global_norm"))
    assert same(gl.Recorder.load(path), back)
    assert [p.name for p in tmp_path.iterdir()] == ["run.rec"]


def test_a_python_without_sqlite_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rec = recorder()
    with rec.append_to(tmp_path / "run.rec", seconds=0):
        go_on(rec, 2)
    rec.save(tmp_path / "run.npz")
    monkeypatch.setitem(sys.modules, "sqlite3", None)
    for use in (
        lambda: rec.append_to(tmp_path / "new.rec"),
        lambda: gl.Recorder.load(tmp_path / "run.rec"),
    ):
        with pytest.raises(
            ModuleNotFoundError,
            match="a file that grows needs the module sqlite3, which this Python",
        ):
            use()
    assert same(gl.Recorder.load(tmp_path / "run.npz"), rec)

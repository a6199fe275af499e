"""Recordings on disk: all of it comes back, and foreign files are refused."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab._base.archive import ArchiveWriter
from gradlab.record.columns import Layout
from gradlab.record.file import parts as saved_parts
from tests._base.damage import damaged, rewrite

SMALL = {"entries": 5, "sample_every": 2}


def recorded(steps: int, **options: Any) -> gl.Recorder:
    rec, rng = gl.Recorder(6, **options), np.random.default_rng(0)
    for k in range(steps):
        rec.record({"b": rng.normal(size=(3, 2)), "a": rng.normal(size=4)}, loss=k)
    return rec


def check_same_steps(back: gl.Recorder, rec: gl.Recorder) -> None:
    np.testing.assert_array_equal(back.flush().columns["sketch"], rec.flush().columns["sketch"])
    for column in ("global_norm", "leading_norm", "largest", "skipped", "scale", "loss"):
        np.testing.assert_array_equal(back.every_step(column), rec.every_step(column))
    assert back.known.all()


@pytest.mark.parametrize("steps", [4, 21])
def test_everything_comes_back_without_pickle(tmp_path: Path, steps: int) -> None:
    rec = recorded(steps, **SMALL)
    rec.save(tmp_path / "run.npz")
    back = gl.Recorder.load(tmp_path / "run.npz")
    assert repr(back) == repr(rec) and back.layout == rec.layout
    for column in (
        "norm",
        "norm_low",
        "largest",
        "nonfinite",
        "histogram",
        "square",
        "entry",
        "seconds",
        "loss",
        "peak",
        "taken",
        "scale",
    ):
        np.testing.assert_array_equal(back[column], rec[column])
    check_same_steps(back, rec)
    rec.save(tmp_path / "again.npz")
    assert (tmp_path / "run.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()
    for recorder in (rec, back):
        recorder.record({"b": np.ones((3, 2)), "a": np.ones(4)})
    np.testing.assert_array_equal(back["norm"], rec["norm"])


def test_a_recording_without_entries_says_what_it_has_not(tmp_path: Path) -> None:
    recorded(3, entries=0).save(tmp_path / "run.npz")
    back = gl.Recorder.load(tmp_path / "run.npz")
    for column in ("entry", "square"):
        with pytest.raises(ValueError, match="holds no single entries: it was made with entries=0"):
            back[column]


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=np.ones(2))
    header, columns = parts(recorded(3))
    with ArchiveWriter(tmp_path / "later.npz", "recording", 2, header) as file:
        for name, x in columns.items():
            file.array(name, x)
    (tmp_path / "x.bin").write_bytes(bytes(range(256)))
    for name, why in (
        ("x.bin", "not a zip file"),
        ("x.npz", "it has no gradlab.json"),
        ("later.npz", "version 2, this gradlab reads 1"),
    ):
        with pytest.raises(
            gl.errors.DataLossError, match=f"{name} is no recording of gradlab's, or .*{why}"
        ):
            gl.Recorder.load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        gl.Recorder.load(tmp_path / "missing")


def test_a_name_without_an_ending_is_found_again(tmp_path: Path) -> None:
    recorded(3).save(tmp_path / "plain")
    assert [path.name for path in tmp_path.iterdir()] == ["plain.npz"]
    assert (
        gl.Recorder.load(tmp_path / "plain").seen
        == gl.Recorder.load(str(tmp_path / "plain.npz")).seen
        == 3
    )
    (tmp_path / "plain.npz").rename(tmp_path / "renamed")
    assert gl.Recorder.load(tmp_path / "renamed").seen == 3


def write_recording(path: Path, header: dict[str, Any], columns: dict[str, np.ndarray]) -> None:
    with ArchiveWriter(path, "recording", 1, header, compressed=True) as file:
        for name, x in columns.items():
            file.array(name, x)


def parts(rec: gl.Recorder) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and columns of a recording as they are saved."""
    store = rec.flush()
    filled = len(rec)
    columns = {name: x[:filled] for name, x in store.columns.items()}
    columns["histogram"] = store.columns["histogram"][: -(-filled // rec.layout.histogram_every)]
    columns |= {"sketch": store.columns["sketch"], "each": store.columns["each"][:, : store.seen]}
    return saved_parts(store)[0], columns


@pytest.mark.parametrize(
    ("column", "change", "why"),
    [
        ("norm", lambda x: None, "it has the columns"),
        ("norm", lambda x: x[:1, :1], r"norm must have shape \(6, 4\), it has \(1, 1\)"),
        ("norm", lambda x: x.astype(np.complex64) + 1j, "norm must be float32, it is complex64"),
        ("square", lambda x: x.astype(np.float64), "square must be float32"),
        ("peak", lambda x: x.astype(np.float32), "peak must be int32"),
        ("histogram", lambda x: np.full_like(x, -1), "histogram must hold counts"),
        ("mean", lambda x: x[:-1], r"mean must have shape \(6, 2\)"),
    ],
)
def test_columns_that_do_not_fit_are_refused(
    tmp_path: Path, column: str, change: Callable[[Any], Any], why: str
) -> None:
    header, columns = parts(recorded(21, **SMALL))
    write_recording(tmp_path / "good.npz", header, columns)
    assert gl.Recorder.load(tmp_path / "good.npz").seen == 21
    changed = {name: change(x) if name == column else x for name, x in columns.items()}
    write_recording(
        tmp_path / "bad.npz", header, {name: x for name, x in changed.items() if x is not None}
    )
    with pytest.raises(gl.errors.DataLossError, match=why):
        gl.Recorder.load(tmp_path / "bad.npz")


@pytest.mark.parametrize(
    "lie",
    [
        {"seen": 10**6, "capacity": 10**6},
        {"capacity": 10**9},
        {"capacity": 6.0},
        {"entries": 10**12, "shapes": [[10**12], [4]]},
        {"shapes": [[2**40, 2**40], [4]]},
        {"shapes": [[3, -2], [4]]},
        {"shapes": [6]},
        {"names": ["a", "a"]},
        {"names": ["a"]},
        {"names": "ab"},
        {"scalars": ["norm"]},
        {"stride": 3},
        {"stride": True},
        {"seen": 25},
        {"seen": 0},
        {"histogram_every": 0},
        {"seen": None},
    ],
    ids=str,
)
def test_a_header_that_lies_costs_an_error_and_no_memory(
    tmp_path: Path, lie: dict[str, Any]
) -> None:
    header, columns = parts(recorded(21, **SMALL))
    write_recording(tmp_path / "bad.npz", header | lie, columns)
    tracemalloc.start()
    try:
        with pytest.raises(gl.errors.DataLossError):
            gl.Recorder.load(tmp_path / "bad.npz")
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()


def test_room_for_more_than_is_allowed_is_refused_and_given_when_allowed(tmp_path: Path) -> None:
    rec = gl.Recorder(20_000, entries=20)
    rec.record({"w": np.ones(30)})
    rec.save(tmp_path / "run.npz")
    with pytest.raises(
        gl.errors.DataLossError,
        match=r"20,000 buckets and 1 steps take [\d,]+ bytes, max_bytes allows 1,000,000",
    ):
        gl.Recorder.load(tmp_path / "run.npz", max_bytes=10**6)
    assert gl.Recorder.load(tmp_path / "run.npz", max_bytes=10**7).capacity == 20_000


@pytest.mark.parametrize("sizes", [[868 * 16, 32], [30, 1, 0, 7], [2]])
@pytest.mark.parametrize("entries", [0, 1, 5, 100])
def test_the_room_of_a_layout_is_known_before_it_is_taken(sizes: list[int], entries: int) -> None:
    shapes = tuple((size,) for size in sizes)
    layout = Layout(tuple(map(str, range(len(sizes)))), shapes, ("loss",), 9, entries, 4)
    room = sum(x.nbytes for x in layout.empty().values()) + sum(x.nbytes for x in layout.sampled)
    assert layout.nbytes == room


def test_of_damaged_copies_none_is_another_recording(tmp_path: Path) -> None:
    rec, path = recorded(21, **SMALL), tmp_path / "run.npz"
    rec.save(path)
    for copy in damaged(path.read_bytes(), 150):
        rewrite(path, copy)
        try:
            back = gl.Recorder.load(path)
        except gl.errors.DataLossError:
            continue
        others = {k: x for k, x in rec.flush().columns.items() if k not in ("mean", "each")}
        assert back.layout == rec.layout and all(
            (x == back.flush().columns[k]).all() for k, x in others.items()
        )
        check_same_steps(back, rec)


@pytest.mark.parametrize(
    ("column", "change", "why"),
    [
        ("sketch", lambda x: x.astype(np.float32), "sketch must hold counts"),
        ("sketch", lambda x: x[:, :-1], "sketch must have shape"),
        ("sketch", lambda x: -x, "sketch must hold counts"),
        (
            "sketch",
            lambda x: x + np.eye(*x.shape, 1, dtype=x.dtype) * 99,
            "bins that are not there",
        ),
        (
            "sketch",
            lambda x: x + np.eye(*x.shape, 100, dtype=x.dtype),
            "does not count the norms of 21 steps",
        ),
        ("taken", lambda x: x + 1, "more steps taken than there were"),
        ("each", lambda x: x[:, 1:], r"each must have shape \(6, 21\)"),
    ],
)
def test_numbers_of_single_steps_have_to_fit(
    tmp_path: Path, column: str, change: Callable[[Any], Any], why: str
) -> None:
    header, columns = parts(recorded(21, **SMALL))
    write_recording(tmp_path / "bad.npz", header, columns | {column: change(columns[column])})
    with pytest.raises(gl.errors.DataLossError, match=why):
        gl.Recorder.load(tmp_path / "bad.npz")


def test_how_many_steps_are_missing_is_saved(tmp_path: Path) -> None:
    rec = recorded(21, **SMALL)
    rec.missing_steps = 3
    rec.save(tmp_path / "run.npz")
    back, copy = gl.Recorder.load(tmp_path / "run.npz"), gl.Recorder(6, **SMALL)
    copy.load_state_dict(rec.state_dict())
    assert back.missing_steps == copy.missing_steps == 3 and "3 more steps missing" in repr(back)
    header, columns = parts(rec)
    for lie in (-1, 1.5, "3", None):
        write_recording(tmp_path / "bad.npz", header | {"missing": lie}, columns)
        with pytest.raises(gl.errors.DataLossError):
            gl.Recorder.load(tmp_path / "bad.npz")


@pytest.mark.parametrize("name", ["run.csv", "trainer_state.json"])
def test_a_log_of_another_tool_is_not_called_damaged(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text('{"log_history": [{"grad_norm": 1.5, "step": 1}]}\n')
    with pytest.raises(
        ValueError, match=r"is a text file, not a recording. .* gl.record.read_log reads logs"
    ) as found:
        gl.Recorder.load(tmp_path / name)
    assert "damaged" not in str(found.value)
    assert gl.Report(tmp_path / name, limit=1.0).sentences

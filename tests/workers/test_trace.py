"""What a run leaves behind: derived numbers, and files that come back whole or not at all."""

import contextlib
import json
import pickle
import sys
import zipfile
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradlab as gl
from gradlab._base.archive import Archive, ArchiveWriter
from gradlab._base.arrays import is_jax, precision
from gradlab.errors import DataLossError
from gradlab.workers import Bowl, Crash, Experiment, FromLoss, Round, Speeds, Trace, replay, run

OWN = FromLoss(
    lambda w, x: (w["a"] - x) ** 2, {"a": np.float32(1)}, lambda rng: np.float32(rng.random()), 0.5
)


def hand_made() -> Trace:
    e = Experiment(Bowl(), workers=3, gradients=4)
    rounds = [
        Round(
            worker=0,
            number=0,
            began=0,
            ended=5,
            read=0,
            recorded=0,
            checked=0,
            applied_to=0,
            moved=True,
        ),
        Round(
            worker=1,
            number=0,
            began=0,
            ended=6,
            read=0,
            recorded=0,
            checked=1,
            applied_to=-1,
            moved=False,
        ),
        Round(
            worker=0,
            number=1,
            began=5,
            ended=7,
            read=0,
            recorded=1,
            checked=1,
            applied_to=2,
            moved=True,
        ),
        Round(
            worker=1,
            number=1,
            began=6,
            ended=8,
            read=1,
            recorded=1,
            checked=2,
            applied_to=2,
            moved=True,
        ),
    ]
    return Trace.of(e, "hand", "ticks", [(0, 0, 0), (3, 0, 5)], rounds, {})


def test_derived_numbers_by_hand() -> None:
    trace = hand_made()
    assert len(trace) == 4 and trace.updates == 3
    assert trace.accepted.tolist() == [True, False, True, True]
    assert trace.staleness.tolist() == [0, 1, 0, 1]
    assert trace.true_staleness.tolist() == [0, 1, 2, 1]
    found = trace.by_worker()
    assert found["handed_in"].tolist() == [2, 2, 0] and found["accepted"].tolist() == [2, 1, 0]
    np.testing.assert_array_equal(found["staleness"], [1, 1, np.nan])
    assert repr(trace).startswith(
        "<gradlab.workers.Trace of 4 gradients, 3 accepted, 3 updates, 3 workers, hand, last"
    )


def test_of_nothing() -> None:
    trace = run(Experiment(Bowl(), gradients=0))
    assert (len(trace), trace.updates, trace.moves.shape, trace.by_worker()["handed_in"].sum()) == (
        0,
        0,
        (0, 2),
        0,
    )
    assert trace.weights["w"].tolist() == [1, 1] and "last move" not in repr(trace)


def assert_same(a: Trace, b: Trace) -> None:
    assert (a.experiment, a.engine, a.unit) == (b.experiment, b.engine, b.unit)
    for x, y in ((a.moves, b.moves), (a.times, b.times)):
        np.testing.assert_array_equal(x, y, strict=True)
    for x, y in ((a.rounds, b.rounds), (a.weights, b.weights)):
        assert list(x) == list(y)
        for name in x:
            assert (x[name].dtype, is_jax(x[name])) == (y[name].dtype, is_jax(y[name]))
            assert np.asarray(x[name]).tobytes() == np.asarray(y[name]).tobytes()


@pytest.mark.parametrize("engine", ["simulated", "threads"])
def test_a_loaded_trace_is_the_saved_one_and_replays(engine: str, tmp_path: Path) -> None:
    crashes = Speeds(slow={1: 2.5}, crashes=(Crash(0, 1, 7), Crash(2, 3, 20)))
    trace = run(
        Experiment(Bowl(noise=0.1), gl.rules.Adam(), workers=3, gradients=30, speeds=crashes),
        engine,
    )
    trace.save(tmp_path / "run.npz")
    again = Trace.load(tmp_path / "run.npz")
    assert_same(trace, again)
    assert replay(again.experiment, again)["w"].tobytes() == trace.weights["w"].tobytes()


@pytest.mark.parametrize(
    "dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64], ids=lambda d: d.__name__
)
@pytest.mark.parametrize("library", [np, jnp], ids=["numpy", "jax"])
def test_weights_come_back_in_their_dtype_and_library(
    library: Any, dtype: Any, tmp_path: Path
) -> None:
    with precision(dtype):
        start = {"w": library.asarray([1.0, 0.5], dtype), "b": library.asarray([0.1, 2.0], dtype)}
    e = Experiment(
        FromLoss(lambda w, x: (w["w"] * w["b"]).sum(), {}, lambda rng: 0, 0),
        gradients=0,
        weights=start,
    )
    trace = Trace.of(e, "hand", "ticks", [], [], start)
    trace.save(tmp_path / "run.npz")
    again = Trace.load(tmp_path / "run.npz", e.problem)
    assert_same(trace, again)
    assert_same(
        trace, Trace.of(again.experiment, "hand", "ticks", [], [], again.experiment.start())
    )


def test_a_problem_of_your_own_has_to_be_given(tmp_path: Path) -> None:
    trace = run(Experiment(OWN, workers=2, gradients=6))
    trace.save(str(tmp_path / "run.npz"))
    with pytest.raises(
        ValueError, match=r"the problem of .*run.npz is not one that ships: give it as problem="
    ):
        Trace.load(tmp_path / "run.npz")
    assert_same(trace, Trace.load(tmp_path / "run.npz", OWN))


def test_nothing_in_the_file_is_pickled(tmp_path: Path) -> None:
    run(Experiment(Bowl(), gradients=6)).save(tmp_path / "run.npz")
    with zipfile.ZipFile(tmp_path / "run.npz") as file:
        for name in file.namelist():
            assert b"'|O'" not in file.read(name)[:128]
    trace = Trace.of(
        Experiment(Bowl(), gradients=0), "hand", "ticks", [], [], {"w": np.array([{}], object)}
    )
    with pytest.raises(TypeError, match=r"arrays of numbers; these hold Python objects: weight\.w"):
        trace.save(tmp_path / "object.npz")
    assert not (tmp_path / "object.npz").exists()


@pytest.mark.parametrize("name", ["run", "run.json", "run.npz.gz"])
def test_a_trace_is_saved_as_an_npz_only(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=rf"end the path in \.npz, got '.*{name}'"):
        run(Experiment(Bowl(), gradients=3)).save(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("saved") / "run.npz"
    run(Experiment(Bowl(), gradients=6)).save(path)
    return path.read_bytes()


def loads_whole_or_refuses(data: bytes, path: Path) -> None:
    path.write_bytes(data)
    with contextlib.suppress(DataLossError):
        assert_same(Trace.load(path), run(Experiment(Bowl(), gradients=6)))


@given(share=st.floats(0, 1))
def test_a_file_that_was_cut_off(
    saved: bytes, share: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    loads_whole_or_refuses(
        saved[: int(share * (len(saved) - 1))], tmp_path_factory.mktemp("cut") / "run.npz"
    )


@given(place=st.floats(0, 1, exclude_max=True), by=st.integers(1, 255))
def test_a_file_that_was_changed(
    saved: bytes, place: float, by: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    at = int(place * len(saved))
    changed = saved[:at] + bytes([saved[at] ^ by]) + saved[at + 1 :]
    loads_whole_or_refuses(changed, tmp_path_factory.mktemp("changed") / "run.npz")


@pytest.mark.parametrize(
    "content",
    [b"", b"a text", pickle.dumps({"a": 1}), b"\x93NUMPY", b"PK\x05\x06" + bytes(18)],
    ids=["empty", "text", "pickle", "npy", "zip"],
)
def test_other_files(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "other.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"other\.npz is no trace of gradlab's, or it is damaged"):
        Trace.load(tmp_path / "other.npz")


def test_another_npz(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", a=np.ones(2))
    with pytest.raises(
        gl.errors.DataLossError, match=r"is no trace of gradlab.s, .*: it has no gradlab\.json"
    ):
        Trace.load(tmp_path / "other.npz")


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Trace.load(tmp_path / "none.npz")


def test_a_trace_is_equal_to_itself_and_can_be_a_key() -> None:
    trace, other = (run(Experiment(Bowl(), gradients=3)) for _ in range(2))
    assert trace == trace != other
    assert {trace: "this one"}[trace] == "this one"


def rewritten(source: Path, target: Path, head: dict[str, Any], arrays: dict[str, Any]) -> None:
    """A trace of today with parts of its head and its arrays changed, sealed as if it were meant;
    None leaves out.
    """
    with Archive(source, "trace", (1,)) as file:
        content, found = file.head | head, file.arrays() | arrays
    with ArchiveWriter(
        target, "trace", 1, {k: x for k, x in content.items() if x is not None}
    ) as new:
        for name, x in found.items():
            if x is not None:
                new.array(name, x)


@pytest.mark.parametrize(
    ("head", "arrays", "why"),
    [
        ({"experiment": None}, {}, "it has no experiment"),
        ({"experiment": "[]"}, {}, "damaged"),
        ({"experiment": "{}"}, {}, "problem"),
        ({"experiment": "[" * 100_000}, {}, "damaged"),
        ({"engine": 3}, {}, "its engine is 3, not str"),
        ({"jax": ["weight.z"]}, {}, "it has no weight.z"),
        ({}, {"round.read": None}, "its rounds have"),
        (
            {},
            {"round.read": np.zeros(1, np.int64)},
            r"read is int64 of shape \(1,\), and does not fit",
        ),
        ({}, {"round.read": np.zeros(6, np.float64)}, "read is float64"),
        ({}, {"round.worker": np.full(6, 99)}, "its rounds name a worker outside 0 to 3"),
        ({}, {"moves": np.zeros((2, 2), np.int32)}, "moves is int32"),
        ({}, {"moves": None}, "moves"),
    ],
)
def test_parts_that_do_not_fit_are_refused(
    saved: bytes, tmp_path: Path, head: dict[str, Any], arrays: dict[str, Any], why: str
) -> None:
    (tmp_path / "good.npz").write_bytes(saved)
    rewritten(tmp_path / "good.npz", tmp_path / "bad.npz", head, arrays)
    with pytest.raises(DataLossError, match=why):
        Trace.load(tmp_path / "bad.npz")


def test_loading_imports_nothing(saved: bytes, tmp_path: Path) -> None:
    (tmp_path / "good.npz").write_bytes(saved)
    with Archive(tmp_path / "good.npz", "trace", (1,)) as file:
        experiment = json.loads(file.head["experiment"])
    rule = {"rule": "UserDefined", "function": "antigravity:geohash", "initial_values": {}}
    text = json.dumps(experiment | {"optimizer": rule})
    rewritten(tmp_path / "good.npz", tmp_path / "bad.npz", {"experiment": text}, {})
    with pytest.raises(
        ValueError, match="calls 'antigravity:geohash', and loading imports nothing"
    ):
        Trace.load(tmp_path / "bad.npz")
    assert "antigravity" not in sys.modules


def test_more_than_is_allowed_is_refused_and_read_when_allowed(
    saved: bytes, tmp_path: Path
) -> None:
    (tmp_path / "run.npz").write_bytes(saved)
    with pytest.raises(DataLossError, match="max_bytes allows 1,000"):
        Trace.load(tmp_path / "run.npz", max_bytes=1000)
    assert len(Trace.load(tmp_path / "run.npz", max_bytes=100_000)) == 6

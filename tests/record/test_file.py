"""Recordings on disk: all of it comes back, older files load, and foreign ones are refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab import char_rnn
from gradlab.record.measure import norm_edges


def recorded(steps: int, **options: Any) -> gl.Recorder:
    rec, rng = gl.Recorder(6, **options), np.random.default_rng(0)
    for k in range(steps):
        rec.record({"b": rng.normal(size=(3, 2)), "a": rng.normal(size=4)}, loss=k)
    return rec


@pytest.mark.parametrize("steps", [4, 21])
def test_everything_comes_back_without_pickle(tmp_path: Path, steps: int) -> None:
    rec = recorded(steps, entries=5, histogram_every=2)
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
    ):
        np.testing.assert_array_equal(back[column], rec[column])
    np.testing.assert_array_equal(back.norm_counts, rec.norm_counts)
    rec.save(tmp_path / "again.npz")
    assert (tmp_path / "run.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()
    for recorder in (rec, back):
        recorder.record({"b": np.ones((3, 2)), "a": np.ones(4)})
    np.testing.assert_array_equal(back["norm"], rec["norm"])


def test_a_file_of_the_first_version_has_norms_and_says_what_it_has_not() -> None:
    rec = char_rnn.shipped()[None]
    assert (rec.shapes[1], rec.stride, rec.seen, len(rec)) == ((rec.sizes[1],), 1, 300, 300)
    assert rec.global_norm == pytest.approx(np.sqrt((rec["norm"].astype(np.float64) ** 2).sum(axis=1)), rel=1e-6)
    np.testing.assert_array_equal(rec["norm_low"], rec["norm"])
    assert np.isnan(rec["seconds"]).all() and rec.norm_counts.sum() == 300 * 7
    for column in ("entry", "square"):
        with pytest.raises(ValueError, match="holds no single entries: it was made with entries=0, or by an earlier"):
            rec[column]


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=np.ones(2))
    np.savez(tmp_path / "later.npz", header=np.array(json.dumps({"version": 3})))
    (tmp_path / "x.csv").write_text("step,loss\n0,1\n")
    with pytest.raises(ValueError, match="is not a recording"):
        gl.Recorder.load(tmp_path / "x.csv")
    with pytest.raises(ValueError, match="is not a recording; write one with"):
        gl.Recorder.load(tmp_path / "x.npz")
    with pytest.raises(ValueError, match="of version 3, this gradlab reads 1 to 2"):
        gl.Recorder.load(tmp_path / "later.npz")


def test_the_bins_of_norms_are_eighths_of_an_octave() -> None:
    at = norm_edges()
    assert at.shape == (2041,) and (np.diff(at) > 0).all() and 1.0 in at and 1.125 in at

"""The recorded run: what it says is what the recorder answers, and recording afresh replaces the run."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab import char_rnn


@pytest.mark.parametrize(
    ("method", "kind"), [("global", "clip_global_norm"), ("norm", "clip_norm"), ("value", "clip_value")]
)
def test_the_words_are_the_recorders_answer(method: str, kind: str) -> None:
    lab = gl.labs.clipping(method=method, limit=0.7, run="1")
    answer = char_rnn.shipped()[1.0].what_if(**{kind: 0.7})  # type: ignore[arg-type]
    assert f"{answer.fraction_fired * 100:.1f} % of 300 steps" in lab.description.summary
    table = dict(lab.description.table)
    assert table["exact or estimate"] == ("exact" if answer.exact else "estimate from histograms")


def test_the_nearest_recorded_run_is_named() -> None:
    for limit, nearest in ((0.05, "0.1"), (0.25, "0.3"), (20.0, "3")):
        assert f"loss at the end of the run trained with global norm {nearest}" in dict(
            gl.labs.clipping(limit=limit).description.table
        )


def test_the_figure_shows_every_step_once() -> None:
    lab = gl.labs.clipping(limit=1.0, run="0.3")
    view = lab.make_view()
    trace = lab.compute(lab.params)
    lab.draw(view, trace)
    calm, fired = (len(line.get_xdata()) for line in (view._calm, view._fired))
    assert fired == trace.what_if.fired.sum()
    assert calm + fired == 300
    assert (view._after.get_ydata() <= 1.0 + 1e-6).all()


def test_a_limit_on_entries_has_no_line_among_norms() -> None:
    lab = gl.labs.clipping(method="value")
    view = lab.make_view()
    lab.draw(view, lab.compute(lab.params))
    assert np.isnan(view._limits[0].get_ydata()).all()


def test_recording_afresh_shows_the_new_run(monkeypatch: pytest.MonkeyPatch) -> None:
    lab, said = gl.labs.clipping(), []
    before = lab.live.png()
    monkeypatch.setattr(lab.live, "say", said.append)
    real = char_rnn.record

    def short(progress: Any) -> Any:
        return real(steps=12, limits=(None, 1.0), progress=progress)

    monkeypatch.setattr(char_rnn, "record", short)
    lab.record_afresh()
    assert said[:2] == ["Recording: training with no limit ...", "Recording: training with limit 1 ..."]
    assert said[2].startswith("Recorded afresh on this machine. Limit 1 on the global norm fires on ")
    assert "of 12 steps" in lab.live.description.summary
    assert lab.live.png() != before


def test_ones_own_recording_can_be_looked_at() -> None:
    rec = gl.Recorder(5)
    for k in range(5):
        rec.record({"w": np.full(3, 2.0**k)}, loss=1.0 / (k + 1))
    lab = gl.labs.clipping({None: rec}, limit=4.0)
    assert "of 5 steps" in lab.description.summary
    assert lab.live.frame()


def test_a_recording_of_ones_own_is_shown_whole_whatever_its_range(tmp_path: Path) -> None:
    rec = gl.Recorder(20)
    for k in range(20):
        rec.record({"w": np.full(3, 1e-6 * 2.0**k, np.float32)})  # no loss
    rec.save(tmp_path / "run.npz")
    for recording in (rec, str(tmp_path / "run.npz"), tmp_path / "run.npz"):
        lab = gl.labs.clipping(recording, limit=0.01)
        view = lab.make_view()
        lab.draw(view, lab.compute(lab.params))
        (left, right), (bottom, top) = view.loss.get_xlim(), view.norm.get_ylim()
        assert left < right
        assert bottom < rec.global_norm.min() < rec.global_norm.max() < top
        bars = view._bars[0].get_path().vertices.reshape(-1, 5, 2)
        assert (bars[:, 1, 0] - bars[:, 0, 0]).sum() == 20
        assert dict(lab.description.table)["loss at the end of the run trained with no limit"] == "not recorded"
        lab.save(tmp_path / "x.csv")


def test_a_small_loss_keeps_its_axis_the_right_way_up() -> None:
    rec = gl.Recorder(5)
    for k in range(5):
        rec.record([np.ones(2)], loss=0.5 / (k + 1))
    low, high = gl.labs.clipping(rec).make_view().loss.get_ylim()
    assert low < 0.1 < 0.5 < high

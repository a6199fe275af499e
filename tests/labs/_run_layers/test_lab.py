"""Limits layer by layer: the lab says what the recording answers, groups, and follows clicks."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.models.reader_run import shipped
from gradlab.record.analysis.summary import parts
from tests import sick_runs


def trace_of(**params: object) -> object:
    lab = gl.labs.run_layers(**params)
    return lab.compute(lab.params)


def test_shares_are_the_recordings_answer() -> None:
    trace = trace_of(limit=0.3)
    np.testing.assert_array_equal(trace.shares, shipped().what_if(clip_norm=0.3).share_by_tensor)
    trace = trace_of(limit=1.5, method="global")
    fired = shipped().global_norm > 1.5
    np.testing.assert_allclose(trace.shares, parts(shipped(), fired))
    assert trace.shares.sum() == pytest.approx(1)


def test_rows_are_sorted_by_norm_and_can_be_of_one_layer_or_one_of_each() -> None:
    names = shipped().names

    def rows(show: str) -> list[str]:
        return [names[k] for k in trace_of(show=show).rows]

    assert rows("all")[0] == "embed" and len(rows("all")) == 7
    assert rows("layers") == ["embed", "hidden1/w", "hidden2/w", "readout/w"]
    assert rows("only readout") == ["readout/w", "readout/b"]


def test_the_picture_marks_percentiles_and_the_steps_on_which_the_limit_fires() -> None:
    lab = gl.labs.run_layers(limit=0.3, tensor="hidden1/w")
    view, trace = lab.make_view(), lab.compute(lab.params)
    lab.draw(view, trace)
    norms = shipped()["norm"][:, shipped().names.index("hidden1/w")]
    assert len(view._fired.get_xdata()) == (norms > np.float32(0.3)).sum()
    assert len(view._calm.get_xdata()) == (norms <= np.float32(0.3)).sum()
    row = trace.rows.index(trace.tensor)
    assert view._marks[1].get_xdata()[row] == pytest.approx(np.median(norms), rel=1e-5)
    lab.draw(view, lab.compute({**lab.params, "method": "global"}))
    assert np.isnan(view._level.get_ydata()).all(), (
        "a global limit has no place among norms of tensors"
    )


def test_a_clicked_tensor_is_shown_over_time() -> None:
    lab = gl.labs.run_layers()
    lab.live.selected = shipped().names.index("readout/b")
    assert lab.params["tensor"] == "readout/b"
    lab.live.tensor = "embed"
    assert lab.live.selected == 0


@pytest.mark.parametrize(
    ("target", "reached", "missed"),
    [
        ("one_alone", {"limit": 0.52}, {"limit": 0.52, "method": "global"}),
        ("one_alone", {"limit": 0.52}, {"limit": 0.3}),
        ("not_as_usual", {"method": "global", "limit": 1.4}, {"method": "global", "limit": 0.9}),
    ],
)
def test_targets_can_be_reached_and_missed(
    target: str, reached: dict[str, object], missed: dict[str, object]
) -> None:
    lab = gl.labs.run_layers(target=target)
    for values, end in ((reached, "reached."), (missed, "not yet.")):
        lab.set(**values)
        assert lab.description.goal.endswith(end), lab.description.goal


def test_the_suggestion_and_its_reason_are_in_the_words() -> None:
    lab = gl.labs.run_layers()
    suggested = shipped().summary().suggested
    assert dict(lab.description.table)["suggestion"] == shipped().summary().reason
    assert lab.presets["The suggested limit"]["limit"] == pytest.approx(suggested, rel=0.03)


def test_the_sentence_tells_which_tensor_has_most_of_it() -> None:
    def said(**params: object) -> str:
        return gl.labs.run_layers(**params).description.summary

    assert said(limit=0.5).endswith(", and no other tensor on more than 10%.")
    assert (
        said(limit=0.06)
        == "Limit 0.06 clips embed on 100% of its 512 steps, then readout/w on 100%."
    )
    assert (
        said(limit=4.0)
        == "Limit 4 on the norm of each tensor clips none of them on any of 512 steps."
    )
    assert (
        said(limit=4.0, method="global") == "Limit 4 on the global norm fires on none of 512 steps."
    )
    alone = gl.Recorder()
    alone.record({"a/very/long/name/of/one/tensor/alone/kernel": 4 * np.ones(4)})
    assert gl.labs.run_layers(alone, limit=6.0).description.summary.endswith(
        "alone/kernel on 100% of its 1 step."
    )


def test_shares_of_a_run_with_nan_are_of_its_finite_steps() -> None:
    lab = gl.labs.run_layers(sick_runs.nan_from_step_51(), limit=20.0)
    assert (
        lab.description.summary
        == "Limit 20 on the norm of each tensor clips none of them on any of 50 finite steps."
    )


def test_a_sick_run_has_no_preset_of_a_suggested_limit() -> None:
    lab = gl.labs.run_layers(sick_runs.diverged())
    assert "The suggested limit" not in lab.presets
    assert dict(lab.description.table)["suggestion"].startswith(
        "no limit is suggested, because 72 of 80 steps held NaN or Inf"
    )


def test_a_limit_that_clips_every_tensor_on_every_step_says_so() -> None:
    rec = gl.Recorder(4)
    for _ in range(3):
        rec.record({"a": np.array([3.0]), "b": np.array([4.0])}, loss=1.0)
    said = gl.labs.run_layers(rec, limit=2.0).description.summary
    assert said == "Limit 2 on the norm of each tensor clips all of them on each of 3 steps."

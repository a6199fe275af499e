"""Runs on the same axes: shares are each run's own, words say what differs first, what is no
recording is refused.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from tests.labs.test_own_run import recorded, shown


def spoiled(steps: int = 60, room: int = 1000) -> gl.Recorder:
    """A run in which NaN, 0, and a skipped step come up."""
    rec, rng = gl.Recorder(room), np.random.default_rng(1)
    for t in range(steps):
        factor = {3: np.nan, 7: 0.0, 9: np.inf}.get(t, 1.0)
        rec.record(
            {"layer0/0": factor * rng.normal(size=5).astype(np.float32)},
            skipped=t == 9,
            scale=1024.0,
        )
    return rec


def test_shares_are_those_of_every_run_alone() -> None:
    lab = gl.labs.compare(tensor="hidden", limit=0.5)
    runs = [gl.models.char_rnn.shipped()[limit] for limit in (None, 1.0)]
    trace = lab.compute(lab.params)
    k, limit = runs[0].names.index("hidden"), lab.params["limit"]
    expected = [rec.what_if(clip_norm=limit).share_by_tensor[k] for rec in runs]
    np.testing.assert_array_equal(trace.shares, expected)
    lab.set(tensor=None)
    expected = [(rec.every_step("global_norm") > limit).mean() for rec in runs]
    np.testing.assert_array_equal(lab.compute(lab.params).shares, expected)


def test_the_glance_is_that_of_the_shipped_runs() -> None:
    assert (
        "A limit fires on nearly every step of one and on a tenth of the other's."
        in gl.labs.glance(gl.labs.compare)
    )
    lab = gl.labs.compare()
    shares = lab.compute(lab.params).shares
    assert shares[0] > 0.97
    assert round(float(shares[1]), 2) == 0.10


def test_words_say_what_differs_first_and_how_often_the_limit_fires() -> None:
    lab = gl.labs.compare()
    assert lab.description.summary == (
        "Limit 1 fires on 97.7% of the steps of “unclipped” and on 10.0% of “clip at 1”."
    )
    said = (
        "unclipped and clip at 1 first differ at step 5: loss 3.82 and "
        "3.69, global norm 1.7 and 0.904."
    )
    assert dict(lab.description.table)["what differs first"] == said
    several = gl.labs.compare(*gl.models.char_rnn.shipped().values(), limit=1.0)
    assert "The 5 runs first differ at step 1: loss 4.51 to 4.55," in several.description.alt
    assert "8.0% of run 3, the fewest, to 97.7% of run 1, the most" in several.description.alt
    assert (
        several.description.summary
        == "Limit 1 fires on 8.0% of the steps of “run 3” to 97.7% of “run 1”."
    )


def test_shipped_runs_are_single_ones_at_one_rate_and_have_no_winner() -> None:
    lab = gl.labs.compare()
    table = dict(lab.description.table)
    assert table["what the runs are"] == (
        "one run of each, from one seed, with learning rate 0.4 and momentum 0.9; which limit is "
        "better can't be seen from single runs"
    )
    assert not any(word in lab.description.summary for word in ("best", "better", "lowest"))
    runs = gl.models.char_rnn.shipped()
    assert "what the runs are" not in dict(gl.labs.compare(runs[None], runs[1.0]).description.table)


def test_a_preset_leaves_most_steps_alone_and_the_target_can_be_reached_and_missed() -> None:
    lab = gl.labs.compare(target="one_run_only")
    lab.set(**lab.presets["Leave 90% of unclipped alone"])
    assert 0.05 < lab.compute(lab.params).shares[0] <= 0.1
    assert lab.description.goal.endswith("not yet.")
    lab.set(limit=1.41)
    assert lab.description.goal.endswith("3% and 96% now: reached.")
    lab.set(tensor="bias")
    assert lab.description.goal.endswith("The limit is on the norm of bias now: not yet.")


def test_a_click_on_a_tensor_picks_it_and_back() -> None:
    lab = gl.labs.compare()
    lab.live.selected = 1
    assert lab.params["tensor"] == "readout_bias"
    lab.set(tensor=None)
    assert lab.live.selected is None


def test_recorders_and_paths_are_taken_and_what_is_none_is_refused(tmp_path: Path) -> None:
    a, b = recorded(), spoiled()
    a.save(tmp_path / "a.npz")
    b.save(tmp_path / "b")
    lab = gl.labs.compare(tmp_path / "a.npz", str(tmp_path / "b"))
    assert eval(lab.code(), {"gl": gl}).description == lab.description
    assert gl.labs.compare(a, b).code() == "gl.labs.compare(recording_1, recording_2)"
    assert dict(lab.description.table)["b: steps skipped"] == "1"
    (tmp_path / "torn.npz").write_bytes(b"no recording")
    with pytest.raises(
        ValueError, match=r"torn.npz is no recording of gradlab's, or it is damaged"
    ):
        gl.labs.compare(a, tmp_path / "torn.npz")
    with pytest.raises(ValueError, match="2 to 6 recordings, got 1"):
        gl.labs.compare(a)
    with pytest.raises(ValueError, match="2 runs are called 'a'"):
        gl.labs.compare(tmp_path / "a.npz", tmp_path / "elsewhere" / "a.npz")
    again = gl.labs.compare(a, b)
    a.record({name: np.ones(5) for name in a.names})
    # As it was.
    assert again.description.table == gl.labs.compare(*again.comparison.recs).description.table
    with pytest.raises(TypeError, match=r"a recording is a gl\.Recorder"):
        gl.labs.compare(a, [1.0, 2.0])


@pytest.mark.parametrize(
    "runs",
    [
        (recorded(scale=0.0), recorded(scale=0.0)),
        (recorded(1), recorded(300, room=16), spoiled(steps=60, room=32), recorded(names=1)),
        (recorded(names=1), gl.models.char_rnn.shipped()[None]),
    ],
    ids=["all zero", "one step, merged, spoiled, one tensor", "nothing in common"],
)
def test_every_pair_of_runs_can_be_looked_at(runs: Any) -> None:
    lab = gl.labs.compare(*runs)
    shown(lab)
    assert "nan" not in lab.description.summary.lower()


@pytest.mark.exhaustive
def test_runs_without_a_tensor_in_common_can_be_saved(tmp_path: Path) -> None:
    runs = [gl.Recorder(steps=4), gl.Recorder(steps=4)]
    for rec, name in zip(runs, ("a", "b"), strict=True):
        for norm in (1.0, 2.0, 4.0):
            rec.record({name: np.float32([norm])})
    page = tmp_path / "apart.html"
    gl.labs.compare(*runs).save(page)
    assert "gl-saved" in page.read_text("utf-8")

"""The recorded run: what it says is what the recorder answers, and recording afresh replaces the
run.
"""

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import gradlab as gl
from gradlab import Recorder
from gradlab.models import char_rnn, claims
from tests import sick_runs


def count_texts(view: Any) -> list[str]:
    """Return how many steps are called untouched, and how many clipped."""
    return [view.counts.untouched_label.get_text(), view.counts.clipped_label.get_text()]


@pytest.mark.parametrize(
    ("method", "kind"),
    [("global", "clip_global_norm"), ("norm", "clip_norm"), ("value", "clip_value")],
)
def test_the_words_are_the_recorders_answer(method: str, kind: str) -> None:
    lab = gl.labs.clipping(method=method, limit=0.7, run="1")
    answer = char_rnn.tuned()[1.0].what_if(**{kind: 0.7})  # type: ignore[arg-type]
    assert f"clips {answer.fraction_fired * 100:.1f}% of steps" in lab.description.summary
    assert f"{answer.fraction_fired * 100:.1f}% of 300 steps" in lab.description.alt
    table = dict(lab.description.table)
    assert table["exact or estimate"] == (
        "exact" if answer.exact else "estimate from histograms of 300 of 300 steps"
    )


def test_the_nearest_recorded_run_is_named() -> None:
    for limit, nearest in ((0.05, "0.1"), (0.25, "0.3"), (8.0, "3")):
        lab = gl.labs.clipping(limit=limit)
        assert lab.compute(lab.params).nearest == nearest
        assert f"10 runs with limit {nearest}, the nearest," in lab.description.summary
    for limit in (0.015, 20.0):
        lab = gl.labs.clipping(limit=limit)
        assert lab.compute(lab.params).nearest is None
    ends = char_rnn.final_losses(3.0, char_rnn.TUNED[3.0])
    of_ten = f"end at losses of {ends.min():.2f} to {ends.max():.2f}."
    said = {limit: gl.labs.clipping(limit=limit).description.summary for limit in (3.0, 8.0, 20.0)}
    assert said[3.0].endswith(f"; 10 runs with it {of_ten}")
    assert said[8.0].endswith(f"; 10 runs with limit 3, the nearest, {of_ten}")
    assert said[20.0].endswith("; no run was trained with a limit near it.")


@pytest.mark.parametrize("run", ["none", "none tuned", "0.1", "0.3", "1", "3"])
def test_the_words_say_of_which_run_and_at_which_rate_each_number_is(run: str) -> None:
    lab = gl.labs.clipping(limit=1.0, run=run)
    rate = (
        char_rnn.ONE_RATE
        if run == "none"
        else char_rnn.TUNED[None if run == "none tuned" else float(run)]
    )
    limit = "without a limit" if run in ("none", "none tuned") else f"with limit {run}"
    free = {"none": "the unclipped run's steps", "none tuned": "the tuned unclipped run's steps"}
    own, trained = lab.description.summary.split("; ")
    assert own.endswith(f"% of {free.get(run, f'steps of the run with limit {run}')}")
    its_limit = "limit 1" if run in ("0.1", "0.3", "3") else "it"
    assert trained.startswith(f"10 runs with {its_limit} end at losses of ")
    assert f" of 300 steps of the run recorded at rate {rate:g} {limit}; " in lab.description.alt
    assert (
        f" 10 runs trained at rate {char_rnn.TUNED[1.0]:g} with limit 1 end at "
        in lab.description.alt
    )
    assert "best" not in lab.description.summary


def test_what_is_said_of_limits_comes_from_the_claims() -> None:
    table = dict(gl.labs.clipping().description.table)
    assert table["at the rates of a sweep"] == claims.sentence("clip.final_loss")
    assert table["at one rate"] == claims.sentence("clip.same_rate")
    lost = char_rnn.lost_runs(None, char_rnn.ONE_RATE)
    words = table["final loss, no limit, rate 0.4"]
    assert lost > 0 and words.endswith(f"; {lost} of them ended above the loss they began with")


def test_a_limit_that_clips_no_step_of_any_run_can_be_reached() -> None:
    lab = gl.labs.clipping()
    lab.set(limit=lab.controls[0].maximum)  # type: ignore[union-attr]
    for run in lab.runs:
        lab.set(run=run)
        assert lab.description.summary.startswith("Limit 100,000 clips 0.0% of ")


def test_the_figure_shows_every_step_once() -> None:
    lab = gl.labs.clipping(limit=1.0, run="0.3")
    view = lab.make_view()
    trace = lab.compute(lab.params)
    lab.draw(view, trace)
    calm, fired = (len(line.get_xdata()) for line in (view.norms.unclipped, view.norms.clipped))
    assert fired == trace.what_if.fired.sum()
    assert calm + fired == 300
    assert (view.norms.after.get_ydata() <= 1.0 + 1e-6).all()


def test_a_limit_on_entries_has_no_line_among_norms() -> None:
    lab = gl.labs.clipping(method="value")
    view = lab.make_view()
    lab.draw(view, lab.compute(lab.params))
    assert np.isnan(view.norms.limit.get_ydata()).all()


def test_no_run_is_near_to_a_limit_of_another_kind() -> None:
    lab = gl.labs.clipping(limit=1.0)
    assert lab.compute(lab.params).nearest == "1"
    assert lab.compute(lab.params | {"method": "norm"}).nearest is None


@pytest.mark.exhaustive
def test_recording_afresh_shows_the_new_run(monkeypatch: pytest.MonkeyPatch) -> None:
    lab, said = gl.labs.clipping(), []
    before = lab.live.png()
    monkeypatch.setattr(lab.live, "say", said.append)
    real = char_rnn.record

    def short(limits: Any = (None, 1.0), **options: Any) -> Any:
        return real(steps=12, limits=limits, **options)

    monkeypatch.setattr(char_rnn, "record", short)
    lab.record_afresh()
    assert said[0] == f"Recording: training with no limit at rate {char_rnn.TUNED[None]:g} ..."
    assert said[1] == f"Recording: training with limit 1 at rate {char_rnn.TUNED[1.0]:g} ..."
    assert said[2] == "Recording: training with no limit at rate 0.4 ..."
    one = "Recorded afresh on this machine: one run of each, which can't say which limit is better."
    assert said[3].startswith(f"{one} Limit 1 clips ")
    assert "of 12 steps" in lab.live.description.alt
    assert "; the run with it ends at loss " in said[3]
    assert (
        f" The run trained at rate {char_rnn.TUNED[1.0]:g} with limit 1 ends at loss "
        in lab.live.description.alt
    )
    assert dict(lab.live.description.table)["which limit is better"].startswith(
        "one run of each can't say"
    )
    assert lab.live.png() != before
    assert lab._view.losses.axes.get_title("left") == "Loss of three runs, one with each limit"


def test_single_runs_by_limit_have_no_winner() -> None:
    lab = gl.labs.clipping(char_rnn.shipped(), limit=1.0, run="1")
    end = char_rnn.shipped()[1.0].every_step("loss")[-30:].mean()
    assert lab.description.summary == (
        "Limit 1 clips 10.0% of steps of the run with limit 1; the run "
        f"with it ends at loss {end:.2f}."
    )
    assert dict(lab.description.table)["which limit is better"].startswith(
        "one run of each can't say"
    )


def test_ones_own_recording_can_be_looked_at() -> None:
    rec = gl.Recorder(5)
    for k in range(5):
        rec.record({"w": np.full(3, 2.0**k)}, loss=1.0 / (k + 1))
    lab = gl.labs.clipping({None: rec}, limit=4.0)
    assert not any(control.name == "record" for control in lab.controls), (
        "nobody's own recording is replaced"
    )
    assert lab.code() == "gl.labs.clipping(recording, limit=4.0)"
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
        (left, right), (bottom, top) = view.losses.axes.get_xlim(), view.norms.axes.get_ylim()
        assert left < right
        assert bottom < rec.global_norm.min() < rec.global_norm.max() < top
        bars = np.concatenate(
            [bars.get_path().vertices.reshape(-1, 5, 2) for bars in view.counts.bars]
        )
        assert (bars[:, 1, 0] - bars[:, 0, 0]).sum() == 20
        assert dict(lab.description.table)["loss at the end"] == "not recorded"
        assert " of the recorded run;" in lab.description.alt, (
            "whether a limit was there is not known"
        )
        lab.save(tmp_path / "x.csv")


def merged(**record: Any) -> gl.Recorder:
    """Ten steps in buckets of four, of norms 1, 2, ... 10."""
    rec = gl.Recorder(4)
    for k in range(10):
        rec.record({"w": np.array([k + 1.0])}, **{name: value(k) for name, value in record.items()})
    assert rec.stride == 4
    return rec


@pytest.mark.parametrize("method", ["global", "norm", "value"])
def test_the_picture_counts_steps_also_where_they_share_a_bucket(method: str) -> None:
    lab = gl.labs.clipping(merged(), limit=6.0, method=method)
    view = lab.make_view()
    lab.draw(view, lab.compute(lab.params))
    assert "clips 40.0% of 10 steps" in lab.description.summary
    assert count_texts(view) == [
        "6 untouched",
        "4 clipped",
    ]
    calm, fired = (bars.get_path().vertices.reshape(-1, 5, 2) for bars in view.counts.bars)
    lengths = [(bars[:, 1, 0] - bars[:, 0, 0]).sum() for bars in (calm, fired)]
    assert lengths[0] / lengths[1] == pytest.approx(6 / 4)


def test_steps_that_were_skipped_are_not_counted() -> None:
    lab = gl.labs.clipping(merged(skipped=lambda k: k in (0, 9)), limit=6.0)
    view = lab.make_view()
    lab.draw(view, lab.compute(lab.params))
    assert "clips 37.5% of 8 steps" in lab.description.summary
    assert count_texts(view) == [
        "5 untouched",
        "3 clipped",
    ]


def forgetful(rec: gl.Recorder, norms: list[float]) -> gl.Recorder:
    """A traced run of such norms; it has forgotten those for which its ring had no room."""
    step = jax.jit(lambda state, norm: rec.update(state, {"w": norm}))
    state = rec.init({"w": np.ones(1)})
    for norm in norms:
        state = step(state, np.array([norm]))
    return rec.absorb(state)


@pytest.mark.exhaustive
def test_a_count_that_is_an_estimate_says_so() -> None:
    run = forgetful(gl.Recorder(4, ring=4), [k + 1.0 for k in range(32)])
    lab = gl.labs.clipping(run, limit=14.0)
    view = lab.make_view()
    answer = lab.compute(lab.params)
    lab.draw(view, answer)
    assert answer.what_if.bounds[0] < answer.what_if.bounds[1]
    assert all(words.startswith("≈ ") for words in count_texts(view))


@pytest.mark.exhaustive
def test_where_steps_are_forgotten_the_largest_is_named_by_its_bucket() -> None:
    norms = [5000.0 if k == 187 else 1.0 + k % 7 for k in range(200)]
    lab = gl.labs.clipping(forgetful(gl.Recorder(64, ring=4), norms), limit=3.0)
    view = lab.make_view()
    lab.draw(view, lab.compute(lab.params))
    assert view.norms.peak_label.get_text() == "from 184 on: 5,000 becomes 3"


def test_the_largest_of_merged_steps_has_its_own_number() -> None:
    rec = gl.Recorder(64)
    for k in range(400):
        rec.record({"w": np.array([5000.0 if k == 203 else 1.0 + k % 7])})
    lab = gl.labs.clipping(rec, limit=3.0)
    view = lab.make_view()
    lab.draw(view, lab.compute(lab.params))
    assert rec.stride == 8
    assert view.norms.peak_label.get_text() == "step 203: 5,000 becomes 3"


def test_the_loss_at_the_end_is_the_mean_of_the_last_thirty_steps() -> None:
    rec = gl.Recorder(16)
    for k in range(100):
        rec.record({"w": np.ones(1)}, loss=float(k))
    lab = gl.labs.clipping(rec)
    assert rec.stride > 1
    assert dict(lab.description.table)["loss at the end"] == f"{np.arange(70, 100).mean():.2f}"


@pytest.mark.parametrize("narrow", [False, True])
def test_without_a_loss_the_norms_have_its_room(narrow: bool) -> None:
    heights = []
    for rec in (merged(), merged(loss=float)):
        lab = gl.labs.clipping(rec)
        lab.live._stage.fit(narrow)
        view = lab._view
        shown = view.losses.axes.get_visible()
        assert shown == ("loss" in rec.scalars)
        assert view.norms.axes.get_xlabel() == "" if shown else "training step"
        heights.append(view.norms.axes.get_position().height * view.figure.get_figheight())
    assert heights[0] > (0.9 if narrow else 1.5) * heights[1]


def test_a_small_loss_keeps_its_axis_the_right_way_up() -> None:
    rec = gl.Recorder(5)
    for k in range(5):
        rec.record([np.ones(2)], loss=0.5 / (k + 1))
    low, high = gl.labs.clipping(rec).make_view().losses.axes.get_ylim()
    assert low < 0.1 < 0.5 < high


def shares(lab: Any) -> tuple[float, float]:
    """Share of steps on which the limit fires, and the median turn."""
    answer = lab.compute(lab.params).what_if
    return answer.fraction_fired, float(np.median(answer.angle))


def test_presets_show_what_their_names_say() -> None:
    lab, seen = gl.labs.clipping(), {}
    for label, values in lab.presets.items():
        lab.set(**values)
        seen[label] = shares(lab)
    assert seen["Only the explosions"][0] == 3 / 300
    assert seen["Every step"][0] == 1
    assert seen["Each tensor alone"][1] > 20
    assert seen["Each entry alone"][1] > 20
    assert lab.params["run"] == "1"


@pytest.mark.parametrize("target", gl.labs.clipping().targets)
def test_no_preset_gives_a_target_away(target: str) -> None:
    lab = gl.labs.clipping(target=target)
    for values in lab.presets.values():
        lab.set(**values)
        assert lab.description.goal.endswith("not yet.")


def test_presets_of_ones_own_run_are_its_suggested_limit_if_there_is_one() -> None:
    rec = gl.Recorder(5)
    for k in range(5):
        rec.record({"w": np.full(4, k / 2)})
    lab = gl.labs.clipping(rec)
    assert lab.presets["The suggested limit"]["limit"] == pytest.approx(
        rec.summary().suggested, rel=0.03
    )
    for values in lab.presets.values():
        lab.set(**values)
    rec = gl.Recorder(5)
    rec.record({"w": np.zeros(3)})
    assert gl.labs.clipping(rec).presets == {}


def test_presets_about_runs_that_are_not_there_are_left_out() -> None:
    rec = gl.Recorder(5)
    rec.record({"w": np.ones(3)})
    assert all(values["run"] == "none" for values in gl.labs.clipping({None: rec}).presets.values())


@pytest.mark.parametrize("run", ["none", "none tuned", "0.1", "0.3", "1", "3"])
def test_95_percent_can_be_kept_in_every_run_and_by_no_limit_that_never_fires(run: str) -> None:
    lab = gl.labs.clipping(run=run, target="keep_95")
    limits = lab.controls[0].values()  # type: ignore[union-attr]
    reached = [
        x
        for x in limits
        if lab.targets["keep_95"].measure(lab.compute({**lab.params, "limit": x}))[0]
    ]
    assert 2 <= len(reached) <= 40
    assert max(reached) < lab.runs[run].global_norm.max()


def test_a_small_turn_needs_another_method_and_another_limit() -> None:
    lab = gl.labs.clipping(target="turn_little")
    for values, end in (
        ({"limit": 4.0}, "Now the clip is by the global norm: not yet."),
        (
            {"limit": 1.0, "method": "norm"},
            "Now 97.0% of the steps are clipped, with a median turn of 30.6 degrees: not yet.",
        ),
        (
            {"limit": 10.0, "method": "norm"},
            "Now 2.7% of the steps are clipped, with a median turn of 0.0 degrees: not yet.",
        ),
        ({"limit": 4.0, "method": "norm"}, "degrees: reached."),
    ):
        lab.set(**values)
        assert lab.description.goal.endswith(end), lab.description.goal


def test_a_log_in_place_of_recordings_is_refused() -> None:
    with pytest.raises(
        TypeError, match=r"recording must be a gl.Recorder, .* got a dict with 'grad_norm'"
    ):
        gl.labs.clipping({"grad_norm": [1, 2, 3]})


@pytest.mark.parametrize("limit", ["adam", "none tuned", 0.0, -1.0, np.nan, np.inf, True])
def test_a_key_that_is_not_a_limit_is_refused(limit: Any) -> None:
    rec = Recorder()
    rec.record({"w": np.ones(2)}, loss=1.0)
    for runs in ({limit: rec}, {None: rec, limit: rec}):
        with pytest.raises(ValueError, match=rf"the keys of recording .* got {limit!r}\. Show"):
            gl.labs.clipping(runs)


def test_a_dict_without_runs_is_refused() -> None:
    with pytest.raises(ValueError, match="recording must hold at least one run"):
        gl.labs.clipping({})


def test_a_sick_run_has_no_preset_of_a_suggested_limit() -> None:
    assert "The suggested limit" not in gl.labs.clipping(sick_runs.diverged()).presets


def test_a_step_is_one_item_in_every_panel() -> None:
    lab = gl.labs.clipping(limit=1.0, run="0.3")
    view, trace = lab.make_view(), lab.compute(lab.params)
    items = lab.items(view, trace)
    assert len(items) == 300
    assert set(items.places) == {view.norms.axes, view.losses.axes}
    assert list(items.values) == ["norm before", "norm after", "turn (degrees)", "loss"]
    run = char_rnn.tuned()[0.3]
    np.testing.assert_array_equal(items.places[view.losses.axes][1], run["loss"])
    np.testing.assert_allclose(items.places[view.norms.axes][1], run.global_norm)


def test_a_recorder_goes_first() -> None:
    for run in (Recorder(), {None: Recorder()}):
        with pytest.raises(
            TypeError, match=r"your own Recorder goes first: gl\.labs\.clipping\(rec\)"
        ):
            gl.labs.clipping(run=run)


def test_an_empty_recorder_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"nothing is recorded yet: call rec\.record"):
        gl.labs.clipping(Recorder(steps=3))
    runs = char_rnn.shipped()
    with pytest.raises(ValueError, match=r"nothing is recorded yet in the run '0\.7'"):
        gl.labs.clipping({**runs, 0.7: Recorder()})


def test_merged_rows_lie_at_their_steps_and_shares_count_all_steps() -> None:
    rec = gl.Recorder(steps=8)
    for k in range(30):
        rec.record({"w": np.full(4, 1.0 + 9.0 * (k % 4 == 3))}, loss=1.0)
    lab = gl.labs.clipping(rec, limit=4.0)
    view, trace = lab.make_view(), lab.compute(lab.params)
    lab.draw(view, trace)
    assert (
        view.norms.clipped.get_xdata().tolist() == [0, 4, 8, 12, 16, 20, 24]
        and view.norms.axes.get_xlim()[1] == 32
    )
    assert view.norms.axes.get_title(loc="left") == "Norm of every 4 steps:"
    assert lab.description.summary.startswith("Limit 4 clips 23.3% of 30 steps")
    assert lab.items(view, trace).places[view.losses.axes][0].tolist() == list(range(0, 32, 4))


@pytest.mark.parametrize(
    ("norm", "words"), [(999.6, "1,000"), (1234.5, "1,234"), (5e6, "5,000,000")]
)
def test_large_numbers_read_alike_in_the_lab_and_in_the_report(norm: float, words: str) -> None:
    rec = gl.Recorder(2)
    for x in (norm, norm / 50):
        rec.record({"w": np.array([x])}, loss=1.0)
    lab = gl.labs.clipping(rec, limit=norm)
    assert lab.description.summary.startswith(f"Limit {words} clips ")
    assert f"the largest norm, {words}, becomes {words}" in lab.description.alt
    view = lab.make_view()
    lab.draw(view, lab.compute(lab.params))
    assert view.counts.limit_chip.get_text() == f"limit {words}"
    assert f"the largest is {words} at step 0" in gl.Report(rec).sentences[1]


def test_runs_without_losses_are_not_compared() -> None:
    recs = {limit: gl.Recorder() for limit in (None, 1.0, 0.1)}
    for rec in recs.values():
        for k in range(5):
            rec.record([np.full(3, k + 1.0)])
    limited = {limit: recs[limit] for limit in (1.0, 0.1)}
    for known, steps in (
        (recs, "the unclipped run's steps"),
        (limited, "steps of the run with limit 1"),
    ):
        said = gl.labs.clipping(known, limit=1.0).description.summary
        assert said == f"Limit 1 clips 100.0% of {steps}."

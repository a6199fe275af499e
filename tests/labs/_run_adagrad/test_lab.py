"""Adagrad on a recorded run: the lab shows what `Recorder.held_back` finds, entry by entry."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.models.reader_run import shipped

NAMES = [shipped().entry_name(k) for k in range(128)]


@pytest.mark.parametrize("values", [{}, {"step": 120, "below": 0.5}])
def test_what_is_held_back_is_what_the_recording_says(values: dict[str, float]) -> None:
    lab = gl.labs.run_adagrad(**values)
    trace, p = lab.compute(lab.params), lab.params
    expected = shipped().held_back(below=p["below"], step=p["step"])
    np.testing.assert_array_equal(trace.found.held, expected.held)
    np.testing.assert_array_equal(lab.columns(trace)["ratio"], expected.ratio)
    assert (
        f"{expected.held.sum()} of {expected.countable} countable entries are held back"
        in lab.description.summary
    )
    assert expected.count_in_words in lab.description.alt
    assert expected.verdict_in_words in lab.description.alt


def test_what_the_first_sentence_says_of_the_dots() -> None:
    said = "In the shipped run dots spread around 0.7; 12 of 99 lie below the threshold."
    assert gl.labs.glance(gl.labs.run_adagrad) == said
    lab = gl.labs.run_adagrad()
    ratio = lab.compute(lab.params).found.ratio
    counted = ratio[np.isfinite(ratio)]
    assert round(float(np.median(counted)), 1) == 0.7
    assert ((counted < lab.params["below"]).sum(), len(counted)) == (12, 99)


def test_a_healthy_run_does_not_read_as_trouble() -> None:
    said = gl.labs.run_adagrad().description
    assert said.summary.endswith("; of 2 judged tensors none is in trouble.")
    assert "Neither of the 2 tensors that can be judged is in trouble." in said.alt
    assert dict(said.table)["hidden1/w"] == "1 of 20; fine"
    assert "frozen" not in str(said)


def test_the_row_of_unknown_words_never_has_a_gradient() -> None:
    lab = gl.labs.run_adagrad(entry="embed[0, 0]")
    assert dict(lab.description.table)["no gradient at all"] == "embed[0, 0]"
    assert dict(lab.description.table)["R of embed[0, 0]"] == "can't be counted"
    view, trace = lab.make_view(), lab.compute(lab.params)
    lab.draw(view, trace)
    assert len(view._dots[2].get_xdata()) == trace.found.no_gradient.sum()
    assert sum(len(dots.get_xdata()) for dots in view._dots) == 128


def test_the_initial_accumulator_is_another_fact_and_has_a_unit() -> None:
    few, many = (dict(gl.labs.run_adagrad(initial=x).description.table) for x in (1e-6, 1000.0))
    assert few["initial accumulator"].startswith(
        "An initial accumulator of 1e-06 is more than half of the accumulator"
    )
    assert "depends on the unit of the loss" in many["initial accumulator"]
    held = "held back, R below 0.1"
    assert few[held] == many[held], "R has no say of it"


def test_every_dot_goes_by_its_name_and_a_click_tells_its_story() -> None:
    lab = gl.labs.run_adagrad()
    items = lab.live.description.items
    assert items is not None and list(items.names) == NAMES
    lab.live.selected = 100
    assert lab.params["entry"] == NAMES[100]


def test_the_story_is_the_entrys_and_its_tensors_median() -> None:
    lab = gl.labs.run_adagrad(entry="readout/b[0]")
    view, trace = lab.make_view(), lab.compute(lab.params)
    lab.draw(view, trace)
    grown = np.cumsum(shipped()["square"][:, NAMES.index("readout/b[0]")], dtype=np.float64)
    assert view._story[1].get_ydata()[-1] == pytest.approx(grown[-1], rel=1e-5)
    mine = [k for k, name in enumerate(NAMES) if name.startswith("readout/b")]
    assert view._median[0].get_ydata()[-1] == pytest.approx(np.median(trace.found.ratio[mine]))
    assert view._story[0].get_ydata()[-1] == pytest.approx(
        trace.found.ratio[NAMES.index("readout/b[0]")]
    )


@pytest.mark.parametrize(
    ("target", "reached", "missed"),
    [
        ("recovers", {"step": 144}, {"step": 512}),
        ("recovers", {"step": 144}, {"step": 144, "below": 0.05}),
        ("past_counts", {"initial": 1e-5}, {"initial": 0.1}),
        ("past_counts", {"initial": 1e-5}, {"initial": 1e-5, "step": 300}),
    ],
)
def test_targets_can_be_reached_and_missed(
    target: str, reached: dict[str, float], missed: dict[str, float]
) -> None:
    for values, end in ((reached, "reached."), (missed, "not yet.")):
        goal = gl.labs.run_adagrad(target=target, **values).description.goal
        assert goal.endswith(end), goal


def test_the_preset_about_half_of_the_run_is_within_a_position_of_the_slider() -> None:
    lab = gl.labs.run_adagrad()
    slider = next(control for control in lab.controls if control.name == "step")
    half = lab.presets["About half of the run"]["step"]
    assert abs(half - lab.rec.seen / 2) < slider.step

"""Adagrad on a recorded run: the lab shows what `Recorder.frozen` finds, entry by entry."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.reader_run import shipped
from gradlab.rules import Adagrad

NAMES = [shipped().entry_name(k) for k in range(128)]


@pytest.mark.parametrize("values", [{"initial": 10.0}, {"initial": 1e-6, "epsilon": 1e-10, "step": 120, "below": 0.01}])
def test_what_is_frozen_is_what_the_recording_says(values: dict[str, float]) -> None:
    lab = gl.labs.run_adagrad(**values)
    trace, p = lab.compute(lab.params), lab.params
    expected = shipped().frozen(Adagrad(p["initial"], p["epsilon"]), below=p["below"], step=p["step"])
    np.testing.assert_array_equal(trace.frozen.frozen, expected.frozen)
    np.testing.assert_array_equal(lab.columns(trace)["share_of_first_rate"], expected.share)
    assert f"{expected.frozen.sum()} of 128 sampled entries are frozen: below " in lab.description.summary
    most = int(np.nanargmax(expected.share_by_tensor))
    assert f"most of all in {expected.names[most]}" in lab.description.alt


def test_the_row_of_unknown_words_never_moves() -> None:
    lab = gl.labs.run_adagrad(entry="embed[0, 0]")
    assert dict(lab.description.table)["never moved"] == "embed[0, 0]"
    assert dict(lab.description.table)["rate of embed[0, 0]"] == "100% of its first rate"
    view, trace = lab.make_view(), lab.compute(lab.params)
    lab.draw(view, trace)
    assert len(view._dots[2].get_xdata()) == 1
    assert sum(len(dots.get_xdata()) for dots in view._dots) == 128


def test_every_dot_goes_by_its_name_and_a_click_tells_its_story() -> None:
    lab = gl.labs.run_adagrad()
    items = lab.live.description.items
    assert items is not None and list(items.names) == NAMES
    lab.live.selected = 100
    assert lab.params["entry"] == NAMES[100]


def test_the_story_is_the_entrys_and_its_tensors_median() -> None:
    lab = gl.labs.run_adagrad(entry="readout/b[0]", initial=1.0)
    view, trace = lab.make_view(), lab.compute(lab.params)
    lab.draw(view, trace)
    grown = 1 + np.cumsum(shipped()["square"][:, NAMES.index("readout/b[0]")], dtype=np.float64)
    assert view._story[1].get_ydata()[-1] == pytest.approx(grown[-1], rel=1e-5)
    mine = [k for k, name in enumerate(NAMES) if name.startswith("readout/b")]
    assert view._median[0].get_ydata()[-1] == pytest.approx(np.median(trace.frozen.share[mine]))


@pytest.mark.parametrize(
    ("target", "reached", "missed"),
    [
        ("all_alive", {"initial": 100.0}, {"initial": 100.0, "step": 0}),
        ("all_alive", {"initial": 100.0}, {"initial": 10.0, "below": 0.05}),
        ("first_gone", {"step": 12, "initial": 0.237}, {"step": 512}),
    ],
)
def test_targets_can_be_reached_and_missed(target: str, reached: dict[str, float], missed: dict[str, float]) -> None:
    lab = gl.labs.run_adagrad(target=target)
    for values, end in ((reached, "reached."), (missed, "not yet.")):
        lab.set(**values)
        assert lab.description.goal.endswith(end), lab.description.goal

"""What labs say at their presets: each shows what it is named for."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.live import Slider


@pytest.mark.parametrize(
    ("name", "preset", "said"),
    [
        ("accumulators", "Two rounds", "A gets the mean of 4 gradients; 3 of 11"),
        ("accumulators", "Forgotten step", "0 of 3 are in; 9 of 12 noted a step that is over and were dropped"),
        ("accumulators", "In line", "A waits for 2 more gradients: 1 of 3 is in."),
        ("accumulators", "Steps from the future", "A gets the mean of 4 gradients."),
        ("staleness", "Everybody at one speed", "All 48 gradients are accepted; the largest staleness is 3 updates."),
        ("staleness", "A straggler starves", "The slow worker 4 starves: all 3 of its gradients are dropped."),
        ("staleness", "All wait for it", "are accepted, but workers wait 46% of the time."),
        ("staleness", "One backup worker", "The slow worker 4 starves: all 3 of its gradients are dropped."),
        ("staleness", "Older than it says", "66 of 73 gradients are staler than recorded, by up to 12."),
        ("tpu_embedding", "A popular id", "fetched once, and moves by the sum of 5 samples' gradients."),
        ("tpu_embedding", "A padding sample", "Row 8 is named once, fetched once, and moves by one sample's gradient"),
        ("tpu_embedding", "An id out of range", "Row 23 is named once, fetched once, and moves by one"),
        ("tpu_embedding", "FTRL forgets", "and moves, though its gradients sum to 0."),
        ("tpu_embedding_run", "Rows dealt out in turn", "serves 27% of all rows"),
        ("tpu_engines", "Split, and exact", "All lookups have room in 5 minibatches, and every row moves alike."),
        (
            "run_layers",
            "The suggested limit",
            "fires on 10% of 512 steps; there embed is 47% of the squared norm",
        ),
        ("run_layers", "Suggested limit, per tensor", "clips embed on 1% of its 512 steps"),
        (
            "optimizers",
            "Saddle",
            "Gradient descent and Adagrad end lowest; Momentum, third of four, is below the picture, too.",
        ),
        ("run_adagrad", "The end of the run", "12 of 99 countable entries are held back by their past"),
        ("run_adagrad", "A tiny initial accumulator", "12 of 99 countable entries are held back by their past"),
        ("run_staleness", "Two workers", "With 2 workers gradients are 0.83 updates stale on average"),
        ("run_staleness", "All in step", "updates stale on average; limit 7 drops none."),
        ("compare", "Most different tensor", "Limit 1 on readout fires on 96.3% of the steps of unclipped"),
    ],
)
def test_a_preset_says_what_it_shows(name: str, preset: str, said: str) -> None:
    lab = gl.labs.catalogue()[name]()
    lab.set(**lab.presets[preset])
    assert said in lab.description.summary


def test_the_suggested_limit_is_the_one_that_a_report_suggests() -> None:
    recording = gl.reader_run.shipped()
    suggested = recording.summary().suggested
    for lab in (gl.labs.clipping(recording), gl.labs.run_layers(recording)):
        shown = lab.presets["The suggested limit"]["limit"]
        assert shown == pytest.approx(suggested, rel=0.005), "to the digits that the slider shows"
    lab = gl.labs.compare()
    lab.set(**lab.presets["Leave 90% of unclipped alone"])
    assert "fires on 10.0% of the steps of unclipped" in lab.description.summary


def test_a_preset_leads_back_from_any_other() -> None:
    for name in ("run_staleness", "staleness"):
        lab = gl.labs.catalogue()[name]()
        said = {}
        for label, values in lab.presets.items():
            lab.set(**values)
            said[label] = lab.description.summary
        for before, label in itertools.permutations(lab.presets, 2):
            lab.set(**lab.presets[before])
            lab.set(**lab.presets[label])
            assert lab.description.summary == said[label], (before, label)


def test_the_clipping_lab_counts_the_steps_of_a_recording() -> None:
    lab = gl.labs.clipping(gl.reader_run.shipped(), limit=1.2)
    share = gl.reader_run.shipped().what_if(clip_global_norm=lab.params["limit"]).fraction_fired
    assert f"clips {100 * share:.1f}% of 512 steps" in lab.description.summary


BEYOND = 1.5  # pixels: by which a word with other letters may move a panel


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.exhaustive] * (name not in ("descent", "gate_race")))
        for name in gl.labs.catalogue()
    ],
)
def test_the_layout_has_room_for_every_state_whichever_the_lab_began_with(name: str) -> None:
    lab = gl.labs.catalogue()[name]()
    live = lab.live
    slider = live._state.controls.get(lab.axis)
    ends = [{lab.axis: end} for end in (slider.minimum, slider.maximum)] if isinstance(slider, Slider) else [{}]
    start = _places(lab)
    for values, end in itertools.product(lab.presets.values(), ends):
        lab.set(**{**values, **end})
        live.redraw_still()
        assert np.abs(_places(lab) - start).max() < BEYOND, (values, end)


def _places(lab: Any) -> np.ndarray:
    """Where the panels of a lab lie, in pixels."""
    return np.array([axes.get_window_extent().extents for axes in lab._view.figure.axes])

"""What labs say at their presets: each shows what it is named for."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.live import Slider

pytestmark = pytest.mark.exhaustive


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        (
            "descent",
            {"step": 0},
            "jumps across the minimum and lands lower: loss 8 before the first step.",
        ),
        ("accumulators", {"event": 0}, "A waits for 4 gradients: none is in yet."),
        (
            "accumulators",
            {"needs": 1},
            "A waits for one gradient: none is in yet; 9 of 15 were stale and were dropped.",
        ),
        (
            "sparse_accumulators",
            {"case": "two", "event": 2},
            "its mean is 6 over that one, 3 over both.",
        ),
        ("staleness", {"workers": 1}, "All 3 gradients are accepted; none is stale."),
        ("staleness", {"now": 0}, "No gradient has been handed in yet."),
        (
            "staleness_phases",
            {"straggler": 3.0, "measure": "slow"},
            "limit 4 accepts none of the slow worker's",
        ),
        ("staleness_phases", {"limit": 24}, "limit 24 accepts all of the gradients."),
        ("staleness_phases", {"measure": "waiting"}, "no worker waits."),
        ("staleness_races", {"event": 0}, "Before the first move no gradient is applied."),
        (
            "staleness_races",
            {"schedule": "turns"},
            "Limit 0 holds: all 3 gradients are accepted, none too stale.",
        ),
        ("sync_replicas", {"workers": 1}, "and none will come: only 1 of 2 gradients is there."),
        (
            "compare",
            {},
            "Limit 1 fires on 97.7% of the steps of “unclipped” and on 10.0% of “clip at 1”.",
        ),
        (
            "adagrad_libraries",
            {"step": 0},
            "Before the first step all five libraries have the same weights.",
        ),
        (
            "run_layers",
            {"limit": 2.0},
            "Limit 2 on the norm of each tensor clips none of them on any of 512 steps.",
        ),
        (
            "optimizers",
            {"step": 0, "third": "none", "fourth": "none"},
            "Both rules start at (−1.7, −0.6).",
        ),
        (
            "optimizers",
            {"factor": 0.01},
            "At 0.01 times their own rates (at least 0.0001), turning the ravine",
        ),
    ],
)
def test_a_sentence_is_true_and_english_at_the_ends(
    name: str, values: dict[str, Any], said: str
) -> None:
    lab = gl.labs.catalog()[name](**values)
    assert said in lab.description.summary


def test_two_gradients_are_both() -> None:
    said = [
        gl.labs.staleness(now=now, workers=2, spread=0.0).description.summary
        for now in range(0, 400, 20)
    ]
    assert any(one.startswith("Both gradients are accepted") for one in said)
    assert not any("All 2" in one for one in said)


@pytest.mark.parametrize(
    ("name", "preset", "said"),
    [
        ("accumulators", "Two rounds", "A gets the mean of 4 gradients; 3 of 11"),
        (
            "accumulators",
            "Forgotten step",
            "none is in yet; 9 of 12 noted a step that is over and were dropped",
        ),
        ("accumulators", "In line", "A waits for 2 more gradients: 1 of 3 is in."),
        ("accumulators", "Steps from the future", "A gets the mean of 4 gradients."),
        (
            "staleness",
            "Everybody at one speed",
            "All 48 gradients are accepted; the largest staleness is 3 updates.",
        ),
        (
            "staleness",
            "A straggler starves",
            "The slow worker 4 starves: all 3 of its gradients are dropped.",
        ),
        ("staleness", "All wait for it", "are accepted, but workers wait 46% of the time."),
        (
            "staleness",
            "One backup worker",
            "The slow worker 4 starves: all 3 of its gradients are dropped.",
        ),
        (
            "staleness",
            "Older than it says",
            "66 of 73 gradients are staler than recorded, by up to 12.",
        ),
        (
            "tpu_embedding",
            "A popular id",
            "fetched once, and moves by the sum of 5 samples' gradients.",
        ),
        (
            "tpu_embedding",
            "A padding sample",
            "Sample 7 names no id: its activation is 0, and it moves no row.",
        ),
        (
            "tpu_embedding",
            "An id out of range",
            "Id 30, beyond the 24 rows, is clamped to row 23, which moves.",
        ),
        ("tpu_embedding", "FTRL and a zero gradient", "and moves, though its gradients sum to 0."),
        ("tpu_embedding_run", "Rows dealt out in turn", "serves 27% of all rows"),
        (
            "tpu_engines",
            "Two ways, one answer",
            "All lookups have room in the buffers, and every row moves alike.",
        ),
        (
            "tpu_engines",
            "Accumulation off",
            (
                "Every row moves alike; without sums of gradients, row 0 "
                "moves by 1.41 instead of 0.529."
            ),
        ),
        (
            "gate_race",
            "TensorFlow race",
            "Without a gate, a is wrong: its gradient read the new b; with GATE_OP, a and",
        ),
        (
            "gate_race",
            "Luck",
            (
                "In the first, a is wrong: its gradient read the new b; in "
                "the second, a and b are right."
            ),
        ),
        ("gate_race", "Two gates", "Either way, update b waits at the gate."),
        (
            "tpu_engines",
            "Split, and exact",
            "All lookups have room in 5 minibatches, and every row moves alike.",
        ),
        (
            "run_layers",
            "The suggested limit",
            "fires on 10% of 512 steps; on those embed is 47% of the squared norm",
        ),
        ("run_layers", "Suggested limit, per tensor", "clips embed on 1% of its 512 steps"),
        (
            "optimizers",
            "Saddle",
            (
                "Here gradient descent and Adagrad end lowest; Momentum, third, is below the "
                "picture, too."
            ),
        ),
        (
            "run_adagrad",
            "The end of the run",
            "12 of 99 countable entries are held back; of 2 judged tensors none is in trouble.",
        ),
        (
            "run_adagrad",
            "A small initial accumulator",
            "12 of 99 countable entries are held back; of 2 judged tensors none is in trouble.",
        ),
        (
            "run_staleness",
            "Two workers",
            "With 2 workers gradients are 0.83 updates stale on average",
        ),
        ("run_staleness", "All in step", "updates stale on average; limit 7 drops none."),
        (
            "compare",
            "Most different tensor",
            "Limit 1 on readout fires on 96.3% of the steps of “unclipped”",
        ),
    ],
)
def test_a_preset_says_what_it_shows(name: str, preset: str, said: str) -> None:
    lab = gl.labs.catalog()[name]()
    lab.set(**lab.presets[preset])
    assert said in lab.description.summary


def test_the_suggested_limit_is_the_one_that_a_report_suggests() -> None:
    recording = gl.models.reader_run.shipped()
    suggested = recording.summary().suggested
    for lab in (gl.labs.clipping(recording), gl.labs.run_layers(recording)):
        shown = lab.presets["The suggested limit"]["limit"]
        assert shown == pytest.approx(suggested, rel=0.005), "to the digits that the slider shows"
    lab = gl.labs.compare()
    lab.set(**lab.presets["Leave 90% of unclipped alone"])
    assert "fires on 10.0% of the steps of “unclipped”" in lab.description.summary


def test_a_preset_leads_back_from_any_other() -> None:
    for name in ("run_staleness", "staleness"):
        lab = gl.labs.catalog()[name]()
        said = {}
        for label, values in lab.presets.items():
            lab.set(**values)
            said[label] = lab.description.summary
        for before, label in itertools.permutations(lab.presets, 2):
            lab.set(**lab.presets[before])
            lab.set(**lab.presets[label])
            assert lab.description.summary == said[label], (before, label)


def test_the_clipping_lab_counts_the_steps_of_a_recording() -> None:
    lab = gl.labs.clipping(gl.models.reader_run.shipped(), limit=1.2)
    share = (
        gl.models.reader_run.shipped().what_if(clip_global_norm=lab.params["limit"]).fraction_fired
    )
    assert f"clips {100 * share:.1f}% of 512 steps" in lab.description.summary


BEYOND = 1.5  # pixels: by which a word with other letters may move a panel


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.exhaustive] * (name not in ("descent", "gate_race")))
        for name in gl.labs.catalog()
    ],
)
def test_the_layout_has_room_for_every_state_whichever_the_lab_began_with(name: str) -> None:
    lab = gl.labs.catalog()[name]()
    live = lab.live
    slider = live._state.controls.get(lab.axis)
    ends = (
        [{lab.axis: end} for end in (slider.minimum, slider.maximum)]
        if isinstance(slider, Slider)
        else [{}]
    )
    start = _places(lab)
    for values, end in itertools.product(lab.presets.values(), ends):
        lab.set(**{**values, **end})
        live.redraw_still()
        assert np.abs(_places(lab) - start).max() < BEYOND, (values, end)


def _places(lab: Any) -> np.ndarray:
    """Where the panels of a lab lie, in pixels."""
    return np.array([axes.get_window_extent().extents for axes in lab._view.figure.axes])

"""One gradient, four clips: the region drawn is where the clip leaves a gradient alone."""

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.labs._clip_arrows.lab import _clip, _region


@pytest.mark.parametrize("others", [0.0, 1.5])
@pytest.mark.parametrize("method", ["value", "norm", "average", "global"])
def test_inside_the_region_nothing_moves_and_outside_it_does(method: str, others: float) -> None:
    outline = _region(method, 2.0, others)
    for corner in outline[::7]:
        inside, outside = (corner * 0.98).astype(np.float32), (corner * 1.02).astype(np.float32)
        np.testing.assert_allclose(_clip(inside, method, 2.0, others), inside, rtol=1e-6)
        assert not np.allclose(_clip(outside, method, 2.0, others), outside, rtol=1e-3)


def test_the_ball_of_the_global_norm_vanishes_when_the_others_fill_the_limit() -> None:
    assert not _region("global", 2.0, 3.0).any()


def test_the_numbers_are_the_librarys() -> None:
    lab = gl.labs.clip_arrows(method="global", g1=3.0, g2=4.0, others=9.0, limit=1.0)
    trace = lab.compute(lab.params)
    np.testing.assert_array_equal(
        trace.after, gl.clip_by_global_norm([np.float32([3, 4]), np.float32([9])], 1.0)[0][0]
    )


def test_a_zero_gradient_is_drawn_and_described() -> None:
    lab = gl.labs.clip_arrows(g1=0.0, g2=0.0)
    assert lab.live.frame()
    assert lab.description.summary == "A clip by value leaves the arrow alone: its norm is 0."


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({}, "A clip by value turns the arrow by 15.9 degrees, and shortens it from 5.15 to 2.83."),
        (
            {"method": "norm"},
            "A clip by norm shortens the arrow from 5.15 to 2 and does not turn it.",
        ),
        (
            {"method": "global", "others": 6.0},
            "A clip by global norm shortens the arrow from 5.15 to 1.3 and does not ",
        ),
        (
            {"g1": 4.0, "g2": 4.0},
            "A clip by value shortens the arrow from 5.66 to 2.83 and does not turn it.",
        ),
        (
            {"g1": 1.0},
            "A clip by value turns the arrow by 4.8 degrees, and shortens it from 2.69 to 2.24.",
        ),
        ({"limit": 6.0}, "A clip by value leaves the arrow alone: its norm is 5.15."),
        # TensorFlow's formula moves the last digit of what it leaves alone.
        (
            {"method": "global", "limit": 2.9, "g1": 1.2, "g2": 0.9},
            "A clip by global norm leaves the arrow alone",
        ),
    ],
)
def test_the_sentence_says_whether_the_arrow_turns(params: dict[str, Any], said: str) -> None:
    lab = gl.labs.clip_arrows(**params)
    assert lab.description.summary.startswith(said)
    assert (
        f"turned by {np.nan_to_num(lab.compute(lab.params).report.angle):.1f} degrees"
        in lab.description.alt
    )


def test_presets_show_what_their_names_say() -> None:
    lab = gl.labs.clip_arrows()
    reports = {
        label: lab.compute({**lab.params, **values}).report for label, values in lab.presets.items()
    }
    assert reports["Inside the box"].factor == 1
    assert reports["Twice the room"].norm_after == pytest.approx(
        2 * reports["Never turned"].norm_after
    )
    assert reports["On the diagonal"].factor < 1
    assert reports["On the diagonal"].angle == pytest.approx(0, abs=1e-3)
    assert reports["Never turned"].angle == pytest.approx(0, abs=1e-3)
    assert reports["No room beside the others"].factor < 1


def test_the_target_is_reached_where_one_entry_alone_is_cut() -> None:
    lab = gl.labs.clip_arrows(target="turn_25")
    assert lab.description.goal.endswith("Now it turns by 15.9 degrees: not yet.")
    lab.set(g1=6.0, g2=2.0)
    assert lab.description.goal.endswith("Now it turns by 26.6 degrees: reached.")

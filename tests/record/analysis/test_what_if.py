"""What a limit would have done: exact answers against clips of the gradients themselves, and honest
estimates.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.record.analysis.what_if import WhatIf

STEPS = 30
Clip = Callable[[list[np.ndarray], float], list[np.ndarray]]


def run() -> list[list[np.ndarray]]:
    rng = np.random.default_rng(0)
    scale = np.exp(rng.normal(size=(STEPS, 2)) * 2)
    return [
        [(s * rng.normal(size=n)).astype(np.float32) for s, n in zip(row, (40, 7), strict=True)]
        for row in scale
    ]


def recorded(steps: list[list[np.ndarray]]) -> gl.Recorder:
    rec = gl.Recorder(len(steps), sample_every=1)
    for grads in steps:
        rec.record(grads)
    return rec


CLIPS: dict[str, Clip] = {
    "clip_norm": lambda gs, c: [gl.clip_by_norm(g, c) for g in gs],
    "clip_global_norm": lambda gs, c: gl.clip_by_global_norm(gs, c)[0],
    "clip_value": lambda gs, c: [gl.clip_by_value(g, -c, c) for g in gs],
}


def truth(kind: str, limit: float) -> dict[str, np.ndarray]:
    """The same numbers from clipping every gradient."""
    reports = [gl.clip_report(gs, CLIPS[kind](gs, limit)) for gs in run()]
    fired = np.array([r.fraction_clipped > 0 for r in reports])
    return {
        "fired": fired,
        "norm_before": np.array([r.norm_before for r in reports]),
        "norm_after": np.array([r.norm_after for r in reports]),
        "angle": np.array([r.angle for r in reports]),
        "fraction_hit": np.array([r.fraction_clipped for r in reports]),
    }


def answer(kind: str, limit: float) -> WhatIf:
    return recorded(run()).what_if(**{kind: limit})  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["clip_norm", "clip_global_norm"])
@pytest.mark.parametrize("limit", [0.5, 5.0, 50.0, 1e4])
def test_norm_limits_are_answered_exactly(kind: str, limit: float) -> None:
    got, want = answer(kind, limit), truth(kind, limit)
    assert got.exact
    np.testing.assert_array_equal(got.fired, want["fired"])
    for name in ("norm_before", "norm_after", "fraction_hit"):
        np.testing.assert_allclose(getattr(got, name), want[name], rtol=1e-5)
    # An angle from its cosine is good to about 0.05 degrees around 0.
    np.testing.assert_allclose(got.angle, want["angle"], atol=0.05)


@pytest.mark.parametrize("limit", [0.5, 4.0, 32.0])
def test_value_limits_say_exactly_which_steps_fire_and_estimate_the_rest(limit: float) -> None:
    got, want = answer("clip_value", limit), truth("clip_value", limit)
    assert not got.exact and "estimated" in got.note
    np.testing.assert_array_equal(got.fired, want["fired"])
    # A power of two is a bin edge: the share of entries is exact there.
    np.testing.assert_allclose(got.fraction_hit, want["fraction_hit"], atol=1e-12)
    np.testing.assert_allclose(got.norm_after, want["norm_after"], rtol=0.15)
    np.testing.assert_allclose(got.angle, want["angle"], atol=8)


def test_a_limit_above_everything_changes_nothing() -> None:
    for kind in CLIPS:
        got = answer(kind, 1e6)
        assert got.fraction_fired == 0 and (got.factor == 1).all() and (got.angle == 0).all()


def test_steps_that_are_not_finite_fire_and_end_in_nan() -> None:
    got = recorded([[np.array([np.nan, 1], np.float32)], [np.ones(2, np.float32)]]).what_if(
        clip_global_norm=10.0
    )
    assert (
        got.fired.tolist() == [True, False]
        and np.isnan(got.norm_after[0])
        and got.norm_after[1] > 0
    )


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({}, "exactly one of clip_norm, clip_value, clip_global_norm; got none"),
        ({"clip_norm": 1.0, "clip_value": 1.0}, "got clip_norm, clip_value"),
        ({"clip_norm": 0.0}, "clip_norm must be positive and finite, got 0.0"),
        ({"clip_global_norm": float("nan")}, "positive and finite, got nan"),
        ({"clip_value": float("inf")}, "positive and finite, got inf"),
    ],
)
def test_limits_that_make_no_sense_are_refused(limits: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        recorded(run()).what_if(**limits)


def test_the_summary_suggests_the_limit_of_its_percentile() -> None:
    summary = recorded(run()).summary(percentile=80)
    got = recorded(run()).what_if(clip_global_norm=summary.suggested)
    assert got.fraction_fired == pytest.approx(0.2, abs=0.04)
    assert "fires on 20.0%" in summary.reason and list(summary.fired) == sorted(
        summary.fired, reverse=True
    )
    assert "by global norm" in str(summary) and set(summary.fired_by_tensor) == {"0", "1"}


def test_a_summary_needs_something_to_sum_up() -> None:
    with pytest.raises(ValueError, match="nothing is recorded yet"):
        gl.Recorder(3).summary()
    with pytest.raises(ValueError, match="between 0 and 100, got 100"):
        recorded(run()).summary(100)
    with pytest.raises(ValueError, match="no limit can be suggested"):
        recorded([[np.zeros(3, np.float32)]]).summary()


def test_an_answer_says_itself_in_one_line() -> None:
    text = str(answer("clip_norm", 5.0))
    assert (
        text.startswith("clip_norm=5 fires on ") and text.endswith("(exact)") and "\n" not in text
    )


def test_where_float32_squares_overflow_the_answer_is_the_clips_own() -> None:
    g = [np.array([1e30, 1.0], np.float32)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gl.errors.ClipWarning)
        assert np.isnan(gl.clip_by_global_norm(g, 1.0)[0][0]).all()
        assert not gl.clip_by_norm(g[0], 1.0).any()
    assert np.isnan(recorded([g]).what_if(clip_global_norm=1.0).norm_after[0])
    assert recorded([g]).what_if(clip_norm=1.0).norm_after[0] == 0


def test_shares_of_finite_steps_leave_out_those_that_are_not() -> None:
    steps = [[np.full(2, x, np.float32)] for x in (1.0, 2.0, 4.0, np.nan, np.inf)]
    for kind in CLIPS:
        got = recorded(steps).what_if(**{kind: 3.0})  # type: ignore[arg-type]
        fires = [x for x in (1.0, 2.0, 4.0) if x * (1 if kind == "clip_value" else np.sqrt(2)) > 3]
        assert got.nonfinite == 2 and got.nonfinite_by_tensor.tolist() == [2]
        assert got.fraction_fired == (2 + len(fires)) / 5
        assert got.of_finite == pytest.approx(len(fires) / 3) == got.of_finite_by_tensor[0]
        assert "of 3 finite steps, 2 more held NaN or Inf" in str(got)


def test_one_share_for_all_tensors_is_said_once() -> None:
    assert "(on all tensors alike)" in str(answer("clip_global_norm", 5.0))

"""ClipReport says what a clip did, in numbers that can be checked by hand."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given

import gradlab as gl
from tests.clip.cases import arrays, limits


def test_the_numbers_of_a_known_clip() -> None:
    before = {"a": np.array([3.0, 4.0]), "b": np.array([0.0, 12.0])}
    after = {"a": np.array([3.0, 1.0]), "b": np.array([0.0, 12.0])}
    r = gl.clip_report(before, after)
    assert (r.norm_before, r.norm_after) == (13.0, math.sqrt(154))
    assert r.factor == pytest.approx(math.sqrt(154) / 13)
    assert r.fraction_clipped == 0.25
    assert r.angle == pytest.approx(math.degrees(math.acos((9 + 4 + 144) / (13 * math.sqrt(154)))))
    assert list(r.tensors) == ["a", "b"]
    a, b = r.tensors.values()
    assert (a.norm_before, a.fraction_clipped, b.factor, b.fraction_clipped, b.angle) == (
        5.0,
        0.5,
        1.0,
        0.0,
        0.0,
    )


@given(arrays(), limits)
def test_clips_by_norm_keep_the_direction(t: np.ndarray, limit: float) -> None:
    r = gl.clip_report([t], gl.clip_by_global_norm([t], limit)[0])
    assert r.norm_after <= min(limit, r.norm_before) * 1.00001
    assert r.norm_before == 0 or r.angle < 0.1
    assert r.factor == pytest.approx(
        min(1.0, limit / r.norm_before) if r.norm_before else 1.0, rel=1e-5
    )


@given(arrays(), limits)
def test_rounding_is_not_counted_as_clipping(t: np.ndarray, limit: float) -> None:
    r = gl.clip_report(t, gl.clip_by_norm(t, limit))
    if r.norm_before < limit * 0.9999:
        assert r.fraction_clipped == 0
    elif r.norm_before > limit * 1.0001:
        assert r.fraction_clipped == np.count_nonzero(t) / t.size


def test_values_are_counted_entry_by_entry() -> None:
    t = np.float32([-3.0, -0.5, 0.0, 0.5, 9.0])
    assert gl.clip_report(t, gl.clip_by_value(t, -1.0, 1.0)).fraction_clipped == 0.4


def test_float32_that_overflows_is_still_measured() -> None:
    r = gl.clip_report(np.float32([3e30, 4e30]), np.zeros(2, np.float32))
    assert r.norm_before == pytest.approx(5e30, rel=1e-6)
    assert (r.factor, r.nonfinite) == (0.0, ())


def test_bad_entries_are_named() -> None:
    v = gl.Variable([1.0, np.nan], name="v")
    r = gl.clip_report(
        [(v.numpy(), v), (np.ones(2), gl.Variable([1.0, 1.0], name="w"))], [np.ones(2), np.ones(2)]
    )
    assert r.nonfinite == ("v:0",)
    assert r.tensors["v:0"].nonfinite == ("v:0",)
    assert r.tensors["w:0"].nonfinite == ()
    assert math.isnan(r.angle)
    assert "not finite: v:0" in str(r)


def test_none_and_slices_and_jax() -> None:
    slices = gl.IndexedSlices(jnp.array([[3.0, 4.0]]), [1], (3, 2))
    r = gl.clip_report([None, slices], [None, slices.with_values(slices.values / 2)])
    assert (r.norm_before, r.norm_after, r.factor) == (5.0, 2.5, 0.5)
    assert list(r.tensors) == ["1"]


def test_nothing_before_is_factor_one_and_no_angle() -> None:
    r = gl.clip_report([np.zeros(2)], [np.zeros(2)])
    assert (r.factor, r.fraction_clipped) == (1.0, 0.0)
    assert math.isnan(r.angle)
    assert gl.clip_report([], []).factor == 1.0


def test_it_reads_well() -> None:
    text = str(gl.clip_report({"w": np.array([3.0, 4.0])}, {"w": np.array([0.6, 0.8])}))
    line = "norm 5 -> 1  factor 0.2  entries hit 100%  turned 0.0 deg"
    assert text.splitlines() == [f"all          {line}", f"w            {line}"]

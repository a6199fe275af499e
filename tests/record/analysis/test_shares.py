"""Shares of steps: counted for all tensors together at any length, and within their bounds for each
alone.
"""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import gradlab as gl
from tests.report.test_skipped import mixed_precision

KINDS = ["clip_norm", "clip_value", "clip_global_norm"]


def recorded(norm: np.ndarray, buckets: int = 1000, bad: np.ndarray | None = None) -> gl.Recorder:
    """A recorder that has seen (steps, tensors) norms, some of them of tensors with an entry that
    is not finite.
    """
    rec = gl.Recorder(buckets, entries=0)
    rec.prepare({f"w{k}": (4,) for k in range(norm.shape[1])})
    bad = np.zeros(norm.shape, int) if bad is None else bad
    shown = np.where(bad > 0, np.nan, norm)
    rec.extend({"norm": shown, "largest": norm / 2, "nonfinite": bad})
    return rec


@pytest.mark.parametrize(
    "steps", [1_000, 1_001, 5_000, 10_000, pytest.param(1_000_000, marks=pytest.mark.exhaustive)]
)
@pytest.mark.parametrize("spread", [0.05, 0.02])
def test_the_share_of_the_global_norm_is_counted_at_any_length(steps: int, spread: float) -> None:
    x = np.exp(np.random.default_rng(0).normal(0, spread, (steps, 1))).astype(np.float32)
    rec = recorded(x)
    norms = rec.every_step("global_norm")
    assert len(norms) == steps
    for percent in (10, 50, 90, 99):
        limit = float(np.percentile(norms.astype(float), percent))
        for kind in ("clip_global_norm", "clip_norm"):
            answer = rec.what_if(**{kind: limit})  # type: ignore[arg-type]
            assert (
                answer.fraction_fired == (norms > limit).mean()
                and answer.bounds == (answer.fraction_fired,) * 2
            )
        answer = rec.what_if(clip_global_norm=limit)
        assert answer.exact and answer.median_factor == np.median(
            np.minimum(1, limit / norms.astype(float))
        )


@pytest.mark.parametrize("steps", [1_000, 1_001, 5_000])
@pytest.mark.parametrize("spread", [0.05, 0.02])
def test_a_summary_does_not_contradict_itself(steps: int, spread: float) -> None:
    x = np.exp(np.random.default_rng(0).normal(0, spread, (steps, 1))).astype(np.float32)
    rec = recorded(x)
    summary = rec.summary()
    for share, percent in zip(summary.fired, (50, 75, 90, 95, 99), strict=True):
        assert share == pytest.approx(1 - percent / 100, abs=0.006)
    share = (rec.every_step("global_norm") > summary.suggested).mean()
    assert (
        f"the 90th percentile of the recorded norms; it fires on {100 * share:.1f}%"
        in summary.reason
    )
    assert share == pytest.approx(0.1, abs=0.006)
    typed = float(summary.reason.split("limit ")[1].split(":")[0])
    assert typed == summary.suggested, "what is said of a limit holds for whoever types it"


@given(
    seed=st.integers(0, 99), spread=st.one_of(st.floats(1e-3, 0.1), st.floats(0.1, 12)),
    buckets=st.sampled_from([1, 7, 64]), place=st.floats(-2.5, 2.5), kind=st.sampled_from(KINDS),
)  # fmt: skip
# A norm is the limit rounded to float32.
@example(seed=50, spread=0.0625, buckets=1, place=0.1, kind="clip_norm")
def test_shares_by_tensor_are_within_their_bounds(
    seed: int, spread: float, buckets: int, place: float, kind: str
) -> None:
    draw = np.random.default_rng(seed)
    x = np.exp(spread * draw.normal(size=(500, 3)).clip(-6, 6)).astype(np.float32)
    x[draw.random(x.shape) < 0.01] = 0
    bad = (draw.random(x.shape) < 0.005).astype(int)
    exact, merged = (recorded(x, n, bad) for n in (500, buckets))
    limit = float(np.exp(spread * place))
    want, got = (rec.what_if(**{kind: limit}) for rec in (exact, merged))  # type: ignore[arg-type]
    assert (
        want.bounds[0]
        == want.bounds[1]
        == want.fraction_fired
        == got.fraction_fired
        == want.fired.mean()
    )
    low, high = got.bounds_by_tensor
    assert (low <= want.share_by_tensor).all() and (want.share_by_tensor <= high).all()
    assert (low <= got.share_by_tensor).all() and (got.share_by_tensor <= high).all()
    if kind != "clip_global_norm":
        np.testing.assert_array_equal(want.share_by_tensor, want.fired_by_tensor.mean(axis=0))


def test_an_estimate_is_said_with_its_bounds() -> None:
    x = np.exp(np.random.default_rng(0).normal(size=(5000, 2))).astype(np.float32)
    rec = recorded(x, 4)
    answer = rec.what_if(clip_norm=1.0)
    low, high = (100 * answer.bounds_by_tensor[:, 0]).tolist()
    assert f"({low:.1f}% to {high:.1f}%)" in answer.percent_of(0) and not answer.exact
    assert "by tensor are estimates, at most " in str(rec.summary())
    single = recorded(x, 5000)
    assert "(" not in single.what_if(clip_norm=1.0).percent_of(0) and "estimate" not in str(
        single.summary()
    )


@pytest.mark.parametrize("buckets", [200, 9])
@pytest.mark.parametrize("kind", KINDS)
def test_skipped_steps_are_no_steps_that_a_limit_fires_on(buckets: int, kind: str) -> None:
    rec = mixed_precision(100, [3, 4, 50, 77], buckets)
    answer = rec.what_if(**{kind: 1e-9})  # type: ignore[arg-type]
    assert (answer.steps, answer.skipped, answer.fraction_fired) == (96, 4, 1.0)
    assert rec.what_if(**{kind: 1e9}).fraction_fired == 0  # type: ignore[arg-type]
    assert rec.seen == 100 and rec.skipped_steps == 4 and rec.nonfinite_steps == 0
    assert "4 steps more skipped" in str(answer)


@pytest.mark.parametrize("kind", KINDS)
def test_the_norm_of_a_merged_bucket_is_that_of_its_largest_step(kind: str) -> None:
    """Not one made of the largest norms of its tensors, which may be of different steps."""
    x = np.exp(np.random.default_rng(0).normal(size=(64, 5))).astype(np.float32)
    merged = recorded(x, 8)
    answer = merged.what_if(**{kind: 1.0})  # type: ignore[arg-type]
    np.testing.assert_allclose(answer.norm_before, merged.global_norm)
    assert (answer.norm_after <= answer.norm_before * 1.000001).all()

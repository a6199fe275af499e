"""Norms and parts by tensor; shares of steps stay what they are when steps are merged, and are said
in few words.
"""

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab._base.numbers import in_full
from gradlab.record.analysis.summary import parts, percentiles
from tests import sick_runs

NORMS = np.exp(np.random.default_rng(0).normal((0, 1, 4), size=(400, 3)))


def both(steps: int = 1000, tensors: int = 3) -> tuple[gl.Recorder, gl.Recorder]:
    """The same run with a bucket for each step, and in 8 to 16 buckets."""
    norm = np.exp(np.random.default_rng(0).normal(size=(steps, tensors))).astype(np.float32)
    columns = {"norm": norm, "largest": norm / 2, "nonfinite": np.zeros(norm.shape, int)}
    recorders = gl.Recorder(steps, entries=0), gl.Recorder(16, entries=0)
    for rec in recorders:
        rec.prepare({f"w{k}": (4,) for k in range(tensors)})
        rec.extend(columns)
    return recorders


@pytest.mark.parametrize("kind", ["clip_norm", "clip_global_norm", "clip_value"])
@pytest.mark.parametrize("limit", [0.3, 1.7, 9.0, 1e3])
def test_shares_count_steps_however_they_are_kept(kind: str, limit: float) -> None:
    single, merged = (rec.what_if(**{kind: limit}) for rec in both())  # type: ignore[arg-type]
    assert (
        merged.fraction_fired == single.fraction_fired == single.fired.mean()
        and merged.stride == 64
    )
    np.testing.assert_allclose(merged.share_by_tensor, single.share_by_tensor, atol=0.01)
    low, high = merged.bounds_by_tensor
    assert (low <= single.share_by_tensor).all() and (single.share_by_tensor <= high).all()
    assert merged.fired.mean() >= single.fraction_fired, "a bucket shows its largest step"
    every = kind == "clip_global_norm"
    assert merged.exact == every and "of 1,000 steps" in str(merged)
    assert ("of the largest in every 64 steps" in str(merged)) != every
    if every:
        assert (merged.median_factor, merged.median_angle) == (
            single.median_factor,
            single.median_angle,
        )


def test_the_summary_of_merged_buckets_is_that_of_the_steps() -> None:
    single, merged = (rec.summary() for rec in both())
    assert (merged.limits, merged.fired, merged.suggested) == (
        single.limits,
        single.fired,
        single.suggested,
    )
    assert (
        "of 1,000 steps" in merged.reason
        and "each of the 16 buckets kept stands for 64 steps" in merged.reason
    )
    assert "bucket" not in single.reason


@pytest.mark.parametrize(("tensors", "more"), [(8, ""), (1000, "992 more")])
def test_many_tensors_are_said_in_few_words(tensors: int, more: str) -> None:
    _, rec = both(40, tensors)
    said: list[Any] = [rec, rec.what_if(clip_norm=1.0), rec.summary()]
    assert all(
        more in str(x) and ("more" in str(x)) == bool(more) and len(str(x)) < 2000 for x in said
    )


def test_nonfinite_steps_are_counted_one_by_one() -> None:
    rec = gl.Recorder(2)
    for k in range(9):
        rec.record(
            {
                "a": np.float32([np.nan if k in (2, 7) else 1.0]),
                "b": np.float32([np.inf if k == 7 else 1.0]),
            }
        )
    assert rec.nonfinite_steps == 2 and rec["nonfinite"].sum() == 3
    assert "2 steps held NaN or Inf" in rec.summary().reason


def test_what_a_summary_says_of_a_limit_holds_for_the_number_that_is_printed() -> None:
    rec = gl.models.reader_run.shipped()
    summary = rec.summary()
    for limit, share in zip(summary.limits, summary.fired, strict=True):
        assert rec.what_if(clip_global_norm=float(in_full(limit))).fraction_fired == share


def of_norms(norms: np.ndarray, steps: int) -> gl.Recorder:
    rec = gl.Recorder(steps=steps, entries=0)
    rec.prepare(dict.fromkeys("abc", (5,)))
    rec.extend({"norm": norms, "largest": norms, "nonfinite": ~np.isfinite(norms)})
    return rec


def test_percentiles_are_those_of_all_steps_and_nearly_so_when_buckets_are_merged() -> None:
    expected = np.percentile(NORMS, [10, 50, 100], axis=0)
    np.testing.assert_allclose(
        percentiles(of_norms(NORMS, 400), (10, 50, 100)), expected, rtol=1e-5
    )
    np.testing.assert_allclose(percentiles(of_norms(NORMS, 50), (10, 50, 100)), expected, rtol=0.1)


@pytest.mark.parametrize("steps", [8, 2])
def test_norms_that_are_0_or_not_finite_are_left_out(steps: int) -> None:
    norms = np.array([[0, 2.0, 0], [np.nan, 2.0, 0], [np.inf, 0, 0], [3.0, 2.0, 0]])
    np.testing.assert_allclose(percentiles(of_norms(norms, steps), (50,)), [[3, 2, 0]], rtol=0.1)


def test_parts_add_up_to_the_whole_norm_of_the_buckets_asked_about() -> None:
    rec = of_norms(
        np.array([[3.0, 4.0, 0.0], [1.0, 0.0, 0.0], [np.nan, 1.0, 1.0], [0.0, 0.0, 0.0]]), 4
    )
    np.testing.assert_allclose(parts(rec, np.array([True, False, False, False])), [0.36, 0.64, 0])
    np.testing.assert_allclose(parts(rec, np.ones(4, bool)), [0.68, 0.32, 0])
    assert parts(rec, np.zeros(4, bool)).tolist() == [0, 0, 0]


def test_shares_of_a_run_with_nan_are_of_its_finite_steps() -> None:
    summary = sick_runs.nan_from_step_51().summary()
    assert "it fires on 10.0% of 50 finite steps and leaves the others alone" in summary.reason
    assert "30 steps held NaN or Inf (first: step 50)" in summary.reason
    norms = sick_runs.nan_from_step_51().every_step("global_norm")[:50]
    assert summary.fired == pytest.approx([(norms > limit).mean() for limit in summary.limits])
    assert max(max(shares) for shares in summary.fired_by_tensor.values()) < 0.5


@pytest.mark.parametrize("run", [sick_runs.diverged, sick_runs.exploding])
def test_no_limit_is_suggested_for_a_sick_run(run: Any) -> None:
    summary = run().summary()
    assert summary.suggested is None and summary.reason.startswith(
        "no limit is suggested, because "
    )
    assert "explodes" in summary.reason and summary.reason.endswith("find out why first")
    assert summary.reason in str(summary) and "leaves the others alone" not in str(summary)


def test_names_in_a_table_stay_distinct() -> None:
    names = [f"transformer.h.{k}.attention.output.dense.kernel" for k in range(4)]
    rec = gl.Recorder()
    for scale in (1.0, 2.0):
        rec.record({name: scale * np.ones(2) for name in names})
    rows = str(rec.summary()).splitlines()[3:7]
    assert len({row.split()[0] for row in rows}) == 4


def test_all_lines_of_a_table_are_as_wide() -> None:
    title, *rows = str(sick_runs.healthy().summary()).splitlines()
    assert len({len(row) for row in rows[:10]}) == 1 and title.startswith("share of finite steps")

"""Shares of steps stay what they are when rows merge, and say themselves in few words."""

from typing import Any

import numpy as np
import pytest

import gradlab as gl


def both(steps: int = 1000, tensors: int = 3) -> tuple[gl.Recorder, gl.Recorder]:
    """The same run with a row for each step, and in 8 to 16 rows."""
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
    assert single.fraction_fired == single.fired.mean() and merged.stride == 64 and not merged.exact
    assert merged.fraction_fired == pytest.approx(single.fraction_fired, abs=0.01)
    np.testing.assert_allclose(merged.share_by_tensor, single.share_by_tensor, atol=0.01)
    assert merged.fired.mean() >= single.fraction_fired, "a row shows its largest step"
    assert "of 1000 steps" in str(merged) and "of the largest in every 64 steps" in str(merged)


def test_the_summary_of_merged_rows_is_that_of_the_steps() -> None:
    single, merged = (rec.summary() for rec in both())
    np.testing.assert_allclose(merged.limits, single.limits, rtol=0.02)
    np.testing.assert_allclose(merged.fired, single.fired, atol=0.01)
    assert "of 1000 steps" in merged.reason and "each of the 16 rows kept stands for 64 steps" in merged.reason
    assert "rows" not in single.reason


@pytest.mark.parametrize(("tensors", "more"), [(8, ""), (1000, "992 more")])
def test_many_tensors_are_said_in_few_words(tensors: int, more: str) -> None:
    _, rec = both(40, tensors)
    said: list[Any] = [rec, rec.what_if(clip_norm=1.0), rec.summary()]
    assert all(more in str(x) and ("more" in str(x)) == bool(more) and len(str(x)) < 2000 for x in said)


def test_nonfinite_steps_are_counted_one_by_one() -> None:
    rec = gl.Recorder(2)
    for k in range(9):
        rec.record({"a": np.float32([np.nan if k in (2, 7) else 1.0]), "b": np.float32([np.inf if k == 7 else 1.0])})
    assert rec.nonfinite_steps == 2 and rec["nonfinite"].sum() == 3
    assert "2 steps held NaN or Inf" in rec.summary().reason


def test_what_a_summary_says_of_a_limit_holds_for_the_number_that_is_printed() -> None:
    rec = gl.reader_run.shipped()
    summary = rec.summary()
    for limit, share in zip(summary.limits, summary.fired, strict=True):
        assert rec.what_if(clip_global_norm=float(f"{limit:.3g}")).fraction_fired == share

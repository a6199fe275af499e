"""Steps that a loss scaler skipped: recorded eagerly, in batches and in compiled code, and said in
the report.
"""

from typing import Any

import jax
import numpy as np
import pytest

import gradlab as gl
from gradlab.report._run import Run
from gradlab.report.skipped import skipped


def gradients(step: int, overflows: bool) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(step)
    found = {name: draw.normal(size=size).astype(np.float32) for name, size in (("a", 4), ("b", 3))}
    if overflows:
        found["b"][1] = np.inf
    return found


def mixed_precision(
    steps: int, skipped: list[int], buckets: int = 1000, **options: Any
) -> gl.Recorder:
    """A run whose scaler halves its scale, from 65,536, in each of some steps."""
    rec, scale = gl.Recorder(buckets, **options), 65536.0
    for k in range(steps):
        rec.record(gradients(k, k in skipped), scale=scale, skipped=k in skipped, loss=1.0)
        scale /= 2 if k in skipped else 1
    return rec


def said(rec: gl.Recorder) -> dict[str, str]:
    return {s.key: s.sentence for s in gl.Report(rec, labs=False).sections}


@pytest.mark.exhaustive
def test_the_report_says_what_was_skipped_and_not_that_nothing_overflowed() -> None:
    rec = mixed_precision(100, [3, 4, 50, 77])
    assert rec.seen == 100 and rec.every_step("skipped").nonzero()[0].tolist() == [3, 4, 50, 77]
    sentences = said(rec)
    assert sentences["skipped"] == (
        "4 of 100 steps were skipped, first in step 3: gradients overflowed in b (4). "
        "The loss scale went from 65,536 to 4,096, with 4,096 the least."
    )
    assert sentences["nonfinite"] == "None of the 96 steps that were taken held NaN or Inf."
    assert "of 96 steps that were taken, while 4 were skipped" in sentences["limits"]
    assert sentences["recorded"].startswith("100 steps (4 of them skipped) of 2 tensors")
    page = gl.Report(rec, labs=False).html()
    assert all(f">{x}</t" in page for x in ("77", "8,192", "b"))
    assert "4 more steps were skipped" in rec.summary().reason
    assert "No step of" not in page


def test_without_skipped_steps_there_is_no_section() -> None:
    sentences = said(mixed_precision(20, []))
    assert "skipped" not in sentences and sentences["nonfinite"] == "No step of 20 held NaN or Inf."


def test_a_step_that_was_taken_with_nan_is_told_apart_from_a_skipped_one() -> None:
    rec = mixed_precision(10, [2])
    rec.record(gradients(11, True), loss=1.0)
    sentences = said(rec)
    assert sentences["nonfinite"].startswith(
        "1 of 10 steps that were taken held NaN or Inf, first in step 10 in b"
    )
    assert rec.nonfinite_by_tensor.tolist() == [0, 2] and rec.overflows.tolist() == [0, 1]


@pytest.mark.parametrize("buckets", [1, 3, 16])
def test_merged_buckets_have_the_norms_of_the_steps_taken(buckets: int) -> None:
    skipped = [0, 1, 9, 30, 31]
    every, merged = (mixed_precision(40, skipped, n) for n in (40, buckets))
    assert merged.taken.sum() == 35 and merged["skipped"].sum() == 5
    for k, (start, n) in enumerate(zip(merged.step, merged.bucket_steps, strict=True)):
        taken = np.array([step for step in range(start, start + n) if step not in skipped], int)
        if len(taken):
            assert merged.global_norm[k] == every.global_norm[taken].max()
            assert merged["global_norm_low"][k] == every.global_norm[taken].min()
            assert merged.peak[k] == taken[every.global_norm[taken].argmax()]
            np.testing.assert_array_equal(merged["entry"][k], every["entry"][taken[0]])
            np.testing.assert_allclose(
                merged["square"][k], (every["entry"][taken] ** 2).sum(axis=0), rtol=1e-5
            )
    assert merged["nonfinite"].sum() == 5
    assert np.isfinite(merged.held_back().accumulator).all(), (
        "what was never applied is not in the accumulator"
    )


@pytest.mark.parametrize("buckets", [4, 50])
def test_compiled_code_and_batches_record_the_same(buckets: int) -> None:
    skipped = [0, 7, 8, 21]
    eager = mixed_precision(30, skipped, buckets)
    rec = gl.Recorder(buckets)
    state = rec.init(gradients(0, False), loss=0.0)
    step = jax.jit(
        lambda state, g, scale, skip: rec.update(state, g, scale=scale, skipped=skip, loss=1.0)
    )
    for k in range(30):
        state = step(state, gradients(k, k in skipped), eager.every_step("scale")[k], k in skipped)
    traced, batch = rec.absorb(state), gl.Recorder(buckets)
    whole = mixed_precision(30, skipped, 30)
    batch.prepare({"a": (4,), "b": (3,)}, ["loss"])
    names = ("norm", "largest", "nonfinite", "entry", "loss", "scale", "skipped")
    batch.extend({name: whole[name] for name in names})
    for other in (traced, batch):
        for name in ("taken", "peak", "nonfinite", "scale", "skipped"):
            np.testing.assert_array_equal(other[name], eager[name], err_msg=name)
        for name in ("norm", "norm_low", "largest", "square", "entry"):
            np.testing.assert_allclose(other[name], eager[name], rtol=1e-5, err_msg=name)
        assert other.overflows.tolist() == eager.overflows.tolist() == [0, 4]
        np.testing.assert_array_equal(other.every_step("skipped"), eager.every_step("skipped"))


def test_skipped_steps_are_saved(tmp_path: Any) -> None:
    rec = mixed_precision(40, [3, 4], 8)
    rec.save(tmp_path / "run.npz")
    back = gl.Recorder.load(tmp_path / "run.npz")
    assert said(back) == said(rec) and back.skipped_steps == 2
    assert "first in step 3:" in said(rec)["skipped"], "though its bucket has 8 steps"


def test_a_run_of_skipped_steps_alone_has_a_report() -> None:
    rec = mixed_precision(5, [0, 1, 2, 3, 4])
    sentences = said(rec)
    assert (
        sentences["skipped"].startswith("5 of 5 steps were skipped")
        and "No limit can be suggested" in sentences["limits"]
    )
    assert rec.what_if(clip_global_norm=1.0).steps == 0


@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, np.nan])
def test_a_scale_that_is_none_is_refused(scale: float) -> None:
    rec = gl.Recorder()
    with pytest.raises(
        ValueError, match="scale must be a loss scale above 0 and finite, or None, got"
    ):
        rec.record({"w": np.ones(2)}, scale=scale)
    assert rec.seen == 0


@pytest.mark.exhaustive
def test_the_report_says_how_many_steps_are_missing() -> None:
    """Of a run in which two steps were skipped and recorded, and five were taken back with the
    recorder.
    """
    rec = mixed_precision(20, [3, 4])
    assert rec.summary().missing_steps == 0
    rec = rec.absorb(rec.init(gradients(0, False), loss=0.0), nonfinite=5)
    assert (rec.seen, rec.missing_steps, rec.summary().missing_steps) == (20, 5, 5)
    sentences = said(rec)
    assert sentences["recorded"].startswith(
        "20 steps (2 of them skipped), 5 more missing, of 2 tensors"
    )
    assert sentences["skipped"].startswith("2 of 20 steps were skipped, first in step 3")
    missing = (
        "5 more steps are missing: gradients held NaN or Inf, and nothing of them was recorded."
    )
    assert sentences["skipped"].endswith(missing)
    assert sentences["nonfinite"] == "None of the 18 steps that were taken held NaN or Inf."
    assert "around=optax.apply_if_finite" in gl.Report(rec, labs=False).html()
    finite = mixed_precision(20, [])
    finite = finite.absorb(finite.init(gradients(0, False), loss=0.0), nonfinite=1)
    sentences = said(finite)
    assert sentences["skipped"] == (
        "1 more step is missing: gradients held NaN or Inf, and nothing of it was recorded."
    )
    assert "No step of" not in sentences["nonfinite"]
    assert "1 more step held NaN or Inf and is missing" in finite.summary().reason


def test_the_first_overflow_says_where_it_came_from() -> None:
    rec = gl.Recorder(entries=0)
    names = ["wte", "up", "down", "head"]
    rec.prepare(dict.fromkeys(names, (2,)))
    bad = np.array([[1, 1, 0, 0], [0, 0, 0, 0]])
    rec.extend(
        {
            "norm": np.where(bad, np.inf, 1.0),
            "largest": 1.0 - bad,
            "nonfinite": bad,
            "skipped": [True, False],
        }
    )
    assert said(rec)["skipped"].endswith(
        "In the first of them: in recorded order, everything up to up has NaN or Inf, and "
        "everything from down on is finite: look at the output of up."
    )


def test_several_skipped_steps_in_a_row_at_the_start_are_normal() -> None:
    reader = gl.workers.Reader()
    weights, scale, rec = reader.start(), 2.0**24, gl.Recorder()
    rng = np.random.default_rng(1)
    was_skipped = []
    for _ in range(40):
        with np.errstate(over="ignore"):
            half = {
                name: np.float16(scale * g) for name, g in reader.gradient(weights, rng).items()
            }
        gradient = {name: g.astype(np.float32) / scale for name, g in half.items()}
        was_skipped.append(not all(np.isfinite(g).all() for g in half.values()))
        rec.record(gradient, scale=scale, skipped=was_skipped[-1])
        if was_skipped[-1]:
            scale /= 2
        else:
            weights = {name: w - gradient[name] for name, w in weights.items()}
    assert was_skipped[:7] == [True] * 6 + [False]
    assert sum(was_skipped[7:]) <= 3  # one now and then
    section = skipped(Run(rec, None, 0))
    assert section is not None
    assert "Several in a row at the start, while the scale comes down, are normal" in section.body()

"""What can be asked of a log: everything that global norms answer, and nothing else."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.record import read_log

STEPS = 200
NORMS = np.exp(np.random.default_rng(0).normal(size=STEPS)).astype(np.float32)
SPIKE = 79


def write(path: Path, norms: np.ndarray, every: int = 10, first: int = 10, digits: int = 8) -> Path:
    """Write a log of these norms, with a loss that falls."""
    lines = [
        f"{first + every * k},{2 - k / 1000},{norm:.{digits}g}" for k, norm in enumerate(norms)
    ]
    path.write_text("\n".join(["step,loss,grad_norm", *lines, ""]))
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    norms = NORMS.copy()
    norms[SPIKE] = 100.0
    return write(tmp_path / "run.csv", norms, digits=12)


def recorded(norms: np.ndarray) -> gl.Recorder:
    """Record gradients of one entry with these norms."""
    rec = gl.Recorder(4096)
    for norm in norms:
        rec.record([np.array([norm])])
    return rec


def test_a_limit_has_the_answer_that_a_recording_gives(path: Path) -> None:
    rec = read_log(path)
    like = recorded(rec.every_step("global_norm"))
    answer = rec.what_if(clip_global_norm=0.5)
    expected = like.what_if(clip_global_norm=0.5)
    assert answer.fraction_fired == expected.fraction_fired
    np.testing.assert_array_equal(answer.norm_after, expected.norm_after)
    np.testing.assert_array_equal(answer.factor, expected.factor)
    summary = rec.summary()
    assert (summary.suggested, summary.fired) == (like.summary().suggested, like.summary().fired)
    assert summary.fired_by_tensor == {}


def test_a_log_says_what_it_is_wherever_it_is_asked(path: Path) -> None:
    rec = read_log(path)
    sample = "200 logged steps (steps 10 to 2,000, every 10 steps), and nothing of single tensors"
    assert sample in rec.about[0]
    assert "a sample" in rec.about[0]
    assert rec.about[0] in str(rec.summary())
    assert rec.about[0] in dict(gl.labs.clipping(rec).description.table).values()
    assert gl.Report(rec).sentences[0] == rec.about[0]
    assert "global norms alone" in repr(rec)


@pytest.mark.parametrize(
    "ask",
    [
        lambda rec: rec.what_if(clip_norm=1.0),
        lambda rec: rec.what_if(clip_value=1.0),
        lambda rec: rec["largest"],
        lambda rec: rec["histogram"],
        lambda rec: gl.labs.run_layers(rec),
        lambda rec: gl.labs.run_adagrad(rec),
        lambda rec: gl.labs.run_staleness(rec),
        lambda rec: rec.stream("steps.jsonl"),
    ],
)
def test_what_needs_tensors_is_refused(path: Path, ask: Any) -> None:
    rec = read_log(path)
    with pytest.raises(ValueError, match="needs the gradients of single tensors"):
        ask(rec)
    assert rec.seen == STEPS


@pytest.mark.parametrize("ask", ["held_back", "updates", "noise_scale", "agreement"])
def test_what_was_never_recorded_is_refused(path: Path, ask: str) -> None:
    with pytest.raises(ValueError, match="this recording holds no"):
        getattr(read_log(path), ask)()


def test_a_gradient_cannot_be_added(path: Path) -> None:
    rec = read_log(path)
    with pytest.raises(ValueError, match="this recorder holds tensors"):
        rec.record([np.ones(2)])
    assert rec.seen == STEPS


def test_a_saved_log_is_a_log(path: Path, tmp_path: Path) -> None:
    rec = read_log(path)
    rec.save(tmp_path / "log.npz")
    loaded = gl.Recorder.load(tmp_path / "log.npz")
    assert loaded.about == rec.about
    assert loaded.snapshot().norms_only
    np.testing.assert_array_equal(loaded.global_norm, rec.global_norm)
    with pytest.raises(ValueError, match="needs the gradients of single tensors"):
        loaded.what_if(clip_norm=1.0)


def test_many_lines_share_buckets_and_are_counted_one_by_one(tmp_path: Path) -> None:
    norms = np.exp(np.random.default_rng(1).normal(size=10_000)).astype(np.float32)
    rec = read_log(write(tmp_path / "long.csv", norms, every=1, first=0, digits=12))
    assert rec.stride == 4
    answer = rec.what_if(clip_global_norm=1.0)
    assert answer.fraction_fired == (norms > 1).mean()
    assert answer.exact
    assert gl.labs.clipping(rec).description.summary
    assert "and nothing of single tensors." in rec.about[0]
    assert "sample" not in rec.about[0]


def test_the_clipping_lab_asks_about_the_global_norm_only(path: Path) -> None:
    lab = gl.labs.clipping(path)
    method: Any = next(control for control in lab.controls if control.name == "method")
    assert list(method.values()) == ["global"]
    assert list(lab.presets) == ["The suggested limit"]
    assert not [name for name, _ in lab.description.table if name.startswith("fires on")]
    lab.save(path.with_suffix(".png"))


def test_a_report_names_the_training_step_of_a_spike(path: Path) -> None:
    report = gl.Report(path)
    assert f"is 100 at step {SPIKE} (training step {10 * SPIKE + 10})" in report.sentences[1]
    page = report.html()
    assert "What was logged" in page
    assert "Layer by layer" not in page
    assert "each tensor alone" not in page


def test_a_report_says_which_logged_norms_are_not_finite(tmp_path: Path) -> None:
    norms = NORMS.copy()
    norms[150:] = np.nan
    report = gl.Report(write(tmp_path / "sick.csv", norms), labs=False)
    (sentence,) = [s for s in report.sentences if "NaN or Inf, first" in s or "is NaN or Inf" in s]
    assert "The norm of 50 of 200 steps is NaN or Inf" in sentence
    assert "step 150 (training step 1,510)" in sentence
    assert report.html()


def test_the_command_reports_on_a_log(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from gradlab.__main__ import main

    main(["report", str(path), "--still"])
    said = capsys.readouterr().out
    assert "nothing of single tensors" in said
    assert path.with_suffix(".html").is_file()


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (
            2.0,
            "differ by 2.000 in every step.*sqrt of 4 processes.*a loss scale of 2.*over 2 micro",
        ),
        (0.5, "differ by 2.000 in every step, and those of a.csv are larger"),
        (3**0.5, r"differ by 1.732 .*What fits: those of a.csv are of one shard \(sqrt of 3"),
        (65536.0, "differ by 65536.000 .*What fits: those of b.csv have a loss scale of 65,536"),
        (24.0, "differ by 24.000 .*What fits: those of b.csv are of a sum over 24 micro-batches"),
        (1.37, "differ by 1.370 .*no number of processes or micro-batches"),
        (1.0, "The norms are the same, to 1%, in every step"),
    ],
)
def test_two_logs_of_a_run_differ_by_a_factor(tmp_path: Path, factor: float, words: str) -> None:
    paths = write(tmp_path / "a.csv", NORMS), write(tmp_path / "b.csv", factor * NORMS)
    first = gl.Report(*paths, labs=False)
    assert first.sentences[0].count("The norms") == 1
    assert re.search(words, first.sentences[0])
    assert "no tensors are compared" in first.html()


def test_norms_with_no_factor_have_none(tmp_path: Path) -> None:
    paths = write(tmp_path / "a.csv", NORMS), write(tmp_path / "b.csv", NORMS[::-1])
    assert "The norms" not in gl.Report(*paths, labs=False).sentences[0]


def test_a_step_that_differs_is_counted(tmp_path: Path) -> None:
    other = 2 * NORMS
    other[:5] = 7.0
    paths = write(tmp_path / "a.csv", NORMS), write(tmp_path / "b.csv", other)
    assert "differ by 2.000 in 97.5% of 200 steps" in gl.Report(*paths, labs=False).sentences[0]


def test_logs_are_compared_at_common_steps(tmp_path: Path) -> None:
    every = np.exp(np.random.default_rng(2).normal(size=101)).astype(np.float32)
    a = write(tmp_path / "a.csv", every, every=1, first=0)
    b = write(tmp_path / "b.csv", 4 * every[::10], every=10, first=0)
    report = gl.Report(a, b, labs=False)
    assert "differ by 4.000 in every step" in report.sentences[0]
    assert gl.labs.compare(a, b).description.table
    c = write(tmp_path / "c.csv", every, every=1, first=1000)
    with pytest.raises(ValueError, match="no training step in common"):
        gl.Report(a, c)


def test_a_log_beside_a_recording(tmp_path: Path) -> None:
    rec = recorded(NORMS)
    log = write(tmp_path / "a.csv", 2 * NORMS, every=1, first=0)
    report = gl.Report(rec, log, labs=False)
    assert "differ by 2.000 in every step" in report.sentences[0]
    assert "A log is compared with a recording line by line" in report.html()

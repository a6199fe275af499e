"""The page on several runs: its sentences, its tables, what cannot be compared, and what is
refused.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab import __main__ as command
from tests import sick_runs
from tests.hostile import NAMES
from tests.report.conftest import Page, Recorded


def louder(step: int, grads: dict[str, Any]) -> dict[str, Any]:
    """The bias 3 times as large from step 6 on."""
    return grads | {"layer0/bias": grads["layer0/bias"] * (3 if step >= 6 else 1)}


def with_skips(recorded: Recorded) -> gl.Recorder:
    """A run with NaN in one step taken, and two steps skipped, of fewer steps and without a loss."""
    rec = recorded(
        15, lambda t, g: {name: x * (np.nan if t == 4 else 1) for name, x in g.items()}, loss=False
    )
    for _ in range(2):
        rec.record(
            {
                name: np.full(shape, np.inf)
                for name, shape in zip(rec.names, rec.shapes, strict=True)
            },
            skipped=True,
        )
    return rec


@pytest.mark.exhaustive
def test_a_page_says_what_differs_and_what_cannot_be_compared(recorded: Recorded) -> None:
    report = gl.Report(recorded(), recorded(change=louder), with_skips(recorded), labs=False)
    said = dict(zip((s.key for s in report.sections), report.sentences, strict=True))
    assert said["recorded"] == "The 3 runs first differ at step 4: global norm 33.2, 33.2 and nan."
    assert said["limits"] == (
        "Limit 121 on the global norm, suggested for run 1, fires on 10.0% of 20 steps of run 1, "
        "35.0% of 20 steps of run 2 and 0% of 14 finite steps taken of run 3."
    )
    assert (
        said["tensors"]
        == "layer0/bias: its norm in run 2 is 3 times that in run 1, in the median over the steps."
    )
    assert said["skipped"] == (
        "run 3 skipped 2 of 17 steps; no other run skipped any. NaN or Inf was in steps that "
        "were taken: run 3 in 1."
    )
    assert said["incomparable"] == "2 things differ between the recordings."
    html = report.html()
    page = Page(html)
    assert len(page.ids) == len(set(page.ids))
    assert page.tables["Steps of each run"][3] == [
        "run 3", "17", "2", "0", "1", "layer0/bias (2), layer0/kernel (2) and layer1/kernel (2)"
    ]  # fmt: skip
    rows = page.tables["The same limits on all runs"]
    assert rows[0] == ["limit", "run 1", "run 2", "run 3", ""]
    assert {row[-1] for row in rows[1:]} == {
        "suggested for run 1",
        "suggested for run 2",
        "suggested for run 3",
    }
    assert "No loss was recorded in run 3, so losses are not compared." in html
    assert report.title == "run 1, run 2 and run 3"


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore:Glyph .* missing from")
def test_names_and_the_limit_asked_about(recorded: Recorded) -> None:
    one, other = NAMES["script"], NAMES["formula"]
    report = gl.Report(
        recorded(), recorded(change=louder), names=[one, other], limit=100.0, labs=False
    )
    assert (
        f"Limit 100 on the global norm, asked about, fires on 25.0% of 20 steps of {one}"
        in report.sentences[1]
    )
    assert one not in report.html()  # but as text


@pytest.mark.exhaustive
def test_runs_with_nothing_to_clip_can_be_drawn(recorded: Recorded) -> None:
    nothing = gl.Report(
        *[recorded(change=lambda t, g: {n: 0 * x for n, x in g.items()}, loss=False)] * 2,
        labs=False,
    )
    assert (
        nothing.sentences[1]
        == "No limit can be suggested: no run has a finite gradient that is not 0."
    )
    assert "limits" in Page(nothing.html()).ids


def test_what_cannot_be_compared_at_all_is_refused(recorded: Recorded) -> None:
    with pytest.raises(ValueError, match="takes 2 to 6 recordings, got 7"):
        gl.Report(*[recorded()] * 7)
    with pytest.raises(ValueError, match="names are for several runs"):
        gl.Report(recorded(), names=["one"])
    with pytest.raises(ValueError, match="nothing is recorded yet"):
        gl.Report(recorded(), gl.Recorder())


@pytest.mark.exhaustive
def test_the_command_writes_one_page_and_names_the_file_that_is_wrong(
    recorded: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("a.npz", "b.npz", "sub/a.npz"):
        recorded().save(tmp_path / name)
    a, b, again = (str(tmp_path / name) for name in ("a.npz", "b.npz", "sub/a.npz"))
    assert command.main(["report", a, b, "--still"]) == 0
    assert "a and b are the same in all 20 steps: loss and global norm." in capsys.readouterr().out
    assert (tmp_path / "a-compared.html").exists()
    assert command.main(["report", a, again, "--still"]) == 2
    assert "2 runs are called 'a'" in capsys.readouterr().err
    assert command.main(["report", a, again, "--names", "old", "new", "-o", "page.txt"]) == 2
    # Nothing was wrong with the names.
    assert "a report is an .html file" in capsys.readouterr().err
    (tmp_path / "b.npz").write_bytes(b"torn")
    for wrong, said in (
        (b, "b.npz is no recording"),
        (str(tmp_path / "c.npz"), "c.npz: No such file"),
    ):
        assert command.main(["report", a, wrong, "--still"]) == 2
        assert said in capsys.readouterr().err


def tensors_of(*recs: gl.Recorder) -> str:
    report = gl.Report(*recs, names=["fine", "wrong"], labs=False)
    return next(section.sentence for section in report.sections if section.key == "tensors")


def test_one_factor_of_all_tensors_is_said_once() -> None:
    assert tensors_of(sick_runs.healthy(), sick_runs.times_four()) == (
        "At the first step the norms of all tensors of wrong are 4 times those of fine, "
        "as if the loss were scaled, for example a sum in place of a mean."
    )


def test_tensors_without_a_gradient_are_named_by_layer_and_not_as_0_times() -> None:
    said = tensors_of(sick_runs.healthy(), sick_runs.dead_block())
    assert said == "blocks.1 (5 tensors) has no gradient in wrong, but has one in fine."


@pytest.mark.exhaustive
def test_a_run_that_ends_in_nan_is_marked_in_the_table_and_its_shares_are_of_finite_steps() -> None:
    report = gl.Report(
        sick_runs.healthy(), sick_runs.nan_from_step_51(), names=["fine", "wrong"], labs=False
    )
    rows = Page(report.html()).tables["The runs"]
    assert rows[2][-1] == "NaN from step 51 on"
    assert "of 50 finite steps of wrong" in report.sentences[1]
    skipped = next(section.sentence for section in report.sections if section.key == "skipped")
    assert skipped == "No run skipped a step. NaN or Inf was in steps that were taken: wrong in 30."


def test_runs_that_went_wrong_suggest_no_limit() -> None:
    report = gl.Report(sick_runs.diverged(), sick_runs.exploding(), names=["a", "b"], labs=False)
    assert report.sentences[1] == "No limit can be suggested: a and b went wrong."

"""What was recorded: tensors, the loudest first; NaN and Inf by name and step; the caveats that
hold, and no others.
"""

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.report._run import Run
from gradlab.report.recorded import caveats, nonfinite, overview
from tests import sick_runs
from tests.report.conftest import Page, Recorded


def test_tensors_are_listed_with_shape_norm_and_largest_entry(recorded: Recorded) -> None:
    page = Page(overview(Run(recorded(steps=3), None, 0)).body())
    head, *rows = page.tables["Tensors by median norm, largest first"]
    assert head == [
        "tensor",
        "shape",
        "entries",
        "median norm",
        "largest entry",
        "steps with NaN or Inf",
    ]
    assert rows == [
        ["layer0/kernel", "8 × 4", "32", "11.3", "3", "0"],
        ["layer1/kernel", "4 × 2", "8", "5.66", "3", "0"],
        ["layer0/bias", "4", "4", "4", "3", "0"],
    ]
    assert (
        page.pictures
        == [
            (
                "Map of the norm of 3 tensors over 3 steps; the largest is layer0/kernel with a "
                "median norm of 11.3."
            )
        ]
        * 2
    )  # wide and narrow


def bad(step: int, grads: dict[str, Any]) -> dict[str, Any]:
    if step in (5, 6, 17):
        grads["layer0/bias"][:2] = np.nan
    return grads


def test_every_such_step_and_tensor_is_named(recorded: Recorded) -> None:
    said = nonfinite(Run(recorded(change=bad), None, 0))
    assert said.sentence == "3 of 20 steps held NaN or Inf, first in step 5 in layer0/bias."
    (rows,) = Page(said.body()).tables.values()
    assert rows[1:] == [
        ["5", "layer0/bias", "2"],
        ["6", "layer0/bias", "2"],
        ["17", "layer0/bias", "2"],
    ]


def test_of_merged_rows_the_steps_of_the_row_are_named(recorded: Recorded) -> None:
    said = nonfinite(Run(recorded(change=bad, rows=8), None, 0))
    assert "first in step 5, and in steps 4 to 7 in layer0/bias." in said.sentence
    (rows,) = Page(said.body()).tables.values()
    assert rows[1:] == [["4 to 7", "layer0/bias", "4"], ["16 to 19", "layer0/bias", "2"]]


MERGED, SAMPLED, NONE = (
    "each bucket stands for 2 steps",
    "computed on 5 entries of 44 entries",
    "holds no single entries",
)


@pytest.mark.parametrize(
    ("options", "said"),
    [({}, []), ({"rows": 16}, [MERGED]), ({"entries": 5}, [SAMPLED]), ({"entries": 0}, [NONE])],
    ids=["plain", "merged", "sampled", "no entries"],
)
def test_only_what_holds_is_said(
    options: dict[str, int], said: list[str], recorded: Recorded
) -> None:
    body = caveats(Run(recorded(**options), None, 0)).body()
    assert (
        "With another limit the weights, and so all later gradients, would have been different."
        in body
    )
    assert [words for words in (MERGED, SAMPLED, NONE) if words in body] == said


def said_of(rec: gl.Recorder) -> dict[str, str]:
    return {section.key: section.sentence for section in gl.Report(rec, labs=False).sections}


def test_a_run_that_ends_in_nan_does_not_fall() -> None:
    said = said_of(sick_runs.nan_from_step_51())
    assert (
        "The loss is NaN from step 51 on, in 29 of 80 steps. Before that it falls from "
        in said["course"]
    )
    assert said["nonfinite"] == (
        "30 of 80 steps held NaN or Inf, first in step 50 in 12 of 18 tensors. In recorded order, "
        "everything up to blocks.1.down.bias has NaN or Inf, and everything from "
        "blocks.2.ln.weight on is finite: look at the output of blocks.1.down.bias."
    )
    assert list(said)[:3] == ["recorded", "course", "nonfinite"], "what is wrong comes first"


def test_a_bad_batch_and_a_bad_layer_are_told_apart_beside_the_largest_norm() -> None:
    batch, layer = (
        said_of(sick_runs.bad_batch())["course"],
        said_of(sick_runs.bad_layer())["course"],
    )
    assert "at step 70. There, all 18 tensors have " in batch and " in the step before, " in batch
    assert (
        "at step 70. There, only blocks.1.up.weight (" in layer
        and "look at the examples" not in layer
    )


def test_tensors_that_no_gradient_reaches_or_that_have_all_of_the_norm_are_named() -> None:
    assert (
        "The gradient of blocks.1 (5 tensors) is 0 in every step"
        in said_of(sick_runs.dead_block())["recorded"]
    )
    assert "blocks.0.qkv.weight has 9" in said_of(sick_runs.dominated())["recorded"]


def test_a_healthy_run_has_none_of_these_sentences() -> None:
    said = said_of(sick_runs.healthy())
    assert said["recorded"].endswith("every step has a bucket of its own.")
    assert said["course"].count(". ") == 1, "the norms, and the loss"
    assert said["nonfinite"] == "No step of 120 held NaN or Inf."


def with_entries() -> gl.Recorder:
    rng = np.random.default_rng(0)
    rec = gl.Recorder()
    for _ in range(64):
        rec.record({"a": rng.normal(size=8), "b": rng.normal(size=4)}, loss=1.0)
    return rec


def test_questions_on_other_training_come_after_the_run_and_are_no_headlines() -> None:
    report = gl.Report(with_entries(), labs=False)
    assert [section.key for section in report.sections][-3:] == ["adagrad", "staleness", "caveats"]
    assert not any("Adagrad" in line or "workers" in line for line in report.headlines)


@pytest.mark.exhaustive
def test_the_list_on_top_of_the_page_links_to_questions_on_other_training() -> None:
    html = gl.Report(with_entries(), labs=False).html()
    assert '<li><a href="#adagrad">' in html and html.index('id="nonfinite"') < html.index(
        'id="adagrad"'
    )


def test_the_first_step_is_named_exactly_though_steps_were_merged() -> None:
    rec = gl.Recorder(750, entries=0)
    rec.prepare({"a": (2,), "b": (2,)})
    bad = np.zeros((12_000, 2), int)
    bad[7001, 1] = 1
    rec.extend(
        {"norm": np.where(bad > 0, np.nan, 1.0), "largest": np.ones((12_000, 2)), "nonfinite": bad}
    )
    assert (
        nonfinite(Run(rec, None, 0)).sentence
        == "1 of 12,000 steps held NaN or Inf, first in step 7,001 in b."
    )


def test_weights_that_hold_nan_are_not_mended_by_skipping_a_step() -> None:
    assert (
        "go back to weights from before step 50"
        in nonfinite(Run(sick_runs.nan_from_step_51(), None, 0)).body()
    )


@pytest.mark.filterwarnings("ignore::gradlab.errors.ClipWarning")
def test_what_clips_make_of_nan_and_inf_is_what_the_page_says() -> None:
    body = nonfinite(Run(sick_runs.nan_from_step_51(), None, 0)).body()
    assert (
        "In TensorFlow a clip by global norm makes all of it NaN; a clip by value bounds Inf "
        "but lets NaN"
    ) in body
    for bad in (np.inf, np.nan):
        gradient = np.float32([bad, 1.0])
        assert np.isnan(gl.clip_by_global_norm([gradient], 1.0)[0][0]).all()
    np.testing.assert_array_equal(
        gl.clip_by_value(np.float32([np.inf, np.nan]), -1.0, 1.0), [1.0, np.nan]
    )

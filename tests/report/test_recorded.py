"""What was recorded: tensors, the loudest first; NaN and Inf by name and step; the caveats that hold, and no others."""

from typing import Any

import numpy as np
import pytest

from gradlab.report._run import Run
from gradlab.report.recorded import caveats, nonfinite, overview
from tests.report.conftest import Page, Recorded


def test_tensors_are_listed_with_shape_norm_and_largest_entry(recorded: Recorded) -> None:
    page = Page(overview(Run(recorded(steps=3), None, 0)).body())
    head, *rows = page.tables["Tensors by median norm, largest first"]
    assert head == ["tensor", "shape", "entries", "median norm", "largest entry", "steps with NaN or Inf"]
    assert rows == [
        ["layer0/kernel", "8 × 4", "32", "11.3", "3", "0"],
        ["layer1/kernel", "4 × 2", "8", "5.66", "3", "0"],
        ["layer0/bias", "4", "4", "4", "3", "0"],
    ]
    assert (
        page.pictures
        == ["Map of the norm of 3 tensors over 3 steps; the largest is layer0/kernel with a median norm of 11.3."] * 2
    )  # wide and narrow


def bad(step: int, grads: dict[str, Any]) -> dict[str, Any]:
    if step in (5, 6, 17):
        grads["layer0/bias"][:2] = np.nan
    return grads


def test_every_such_step_and_tensor_is_named(recorded: Recorded) -> None:
    said = nonfinite(Run(recorded(change=bad), None, 0))
    assert said.sentence == "3 of 20 steps held NaN or Inf, first in step 5 in layer0/bias."
    (rows,) = Page(said.body()).tables.values()
    assert rows[1:] == [["5", "layer0/bias", "2"], ["6", "layer0/bias", "2"], ["17", "layer0/bias", "2"]]


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
def test_only_what_holds_is_said(options: dict[str, int], said: list[str], recorded: Recorded) -> None:
    body = caveats(Run(recorded(**options), None, 0)).body()
    assert "With another limit the weights, and so all later gradients, would have been different." in body
    assert [words for words in (MERGED, SAMPLED, NONE) if words in body] == said

"""NaN and Inf in a report: by name and step."""

from typing import Any

import numpy as np

from gradlab.report._run import Run
from gradlab.report.nonfinite import section
from tests.report.conftest import Page, Recorded


def bad(step: int, grads: dict[str, Any]) -> dict[str, Any]:
    if step in (5, 6, 17):
        grads["layer0/bias"][:2] = np.nan
    return grads


def test_every_such_step_and_tensor_is_named(recorded: Recorded) -> None:
    said = section(Run(recorded(change=bad), None, 0))
    assert said.sentence == "3 of 20 steps held NaN or Inf, first in step 5 in layer0/bias."
    (rows,) = Page(said.body()).tables.values()
    assert rows[1:] == [["5", "layer0/bias", "2"], ["6", "layer0/bias", "2"], ["17", "layer0/bias", "2"]]


def test_of_merged_rows_the_steps_of_the_row_are_named(recorded: Recorded) -> None:
    said = section(Run(recorded(change=bad, rows=8), None, 0))
    assert "first in steps 4 to 7 in layer0/bias." in said.sentence
    (rows,) = Page(said.body()).tables.values()
    assert rows[1:] == [["4 to 7", "layer0/bias", "4"], ["16 to 19", "layer0/bias", "2"]]

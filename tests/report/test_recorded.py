"""What was recorded: the table of tensors, the loudest first."""

from gradlab.report._run import Run
from gradlab.report.recorded import section
from tests.report.conftest import Page, Recorded


def test_tensors_are_listed_with_shape_norm_and_largest_entry(recorded: Recorded) -> None:
    page = Page(section(Run(recorded(steps=3), None, 0)).body())
    head, *rows = page.tables["Tensors, the loudest first"]
    assert head == ["tensor", "shape", "entries", "median norm", "largest entry", "steps with NaN or Inf"]
    assert rows == [
        ["layer0/kernel", "8 × 4", "32", "11.3", "3", "0"],
        ["layer1/kernel", "4 × 2", "8", "5.66", "3", "0"],
        ["layer0/bias", "4", "4", "4", "3", "0"],
    ]
    assert (
        page.pictures
        == ["Map of the norm of 3 tensors over 3 steps; the loudest is layer0/kernel with a median norm of 11.3."] * 2
    )  # wide and narrow

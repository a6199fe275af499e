"""The picture of policies: a line for each over updates and over time, losses beyond at the edge, the best in bold."""

import numpy as np
import pytest

from gradlab.figures.policies import _LOOKS, HIGHEST, LOWEST, Curve, PoliciesView, written

NAMES = ["apply", "drop", "wait", "damp", "compensate", "backup"]


def curve(last: float = 1.0, then: float = 1.5) -> Curve:
    return Curve(np.array([0, 4]), np.array([0.0, 2.5]), np.array([2.3, last]), then)


def drawn(**changed: Curve) -> PoliciesView:
    view = PoliciesView(NAMES, 200, 60.0)
    view.draw({name: curve() for name in NAMES} | changed, 2.0)
    return view


def test_every_policy_is_a_line_over_updates_and_over_time() -> None:
    steps, times = drawn(wait=curve(0.5))._lines
    assert steps[2].get_xydata().tolist() == [[0, 2.3], [4, 0.5]]
    assert times[2].get_xydata().tolist() == [[0, 2.3], [2.5, 0.5]]
    assert drawn()._then.get_xdata() == [2.0, 2.0]


@pytest.mark.parametrize(("loss", "shown"), [(0.01, LOWEST), (99.0, HIGHEST), (np.inf, HIGHEST), (np.nan, HIGHEST)])
def test_losses_that_have_no_place_are_at_an_edge(loss: float, shown: float) -> None:
    assert drawn(drop=curve(loss))._lines[0][1].get_ydata()[-1] == shown


def test_everybody_has_a_dash_and_a_marker_of_their_own() -> None:
    assert len({(str(looks["ls"]), looks["marker"]) for looks in _LOOKS}) == len(_LOOKS) == len(NAMES)
    assert len({looks["marker"] for looks in _LOOKS}) == len({looks["color"] for looks in _LOOKS}) == len(NAMES)


def test_the_best_at_the_end_and_at_the_line_are_bold() -> None:
    view = drawn(damp=curve(0.5), backup=curve(2.0, then=0.7), apply=curve(np.nan, then=np.nan))
    bold = [
        (name, column)
        for name, row in zip(NAMES, view._cells, strict=True)
        for column, cell in enumerate(row) if cell.get_fontweight() == "bold"
    ]  # fmt: skip
    assert bold == [("damp", 2), ("backup", 3)]
    assert [cell.get_text() for cell in view._cells[3]] == ["damp", "4", "0.5", "1.5"]
    assert view._cells[0][2].get_text() == "NaN"


def test_losses_are_written_for_readers() -> None:
    assert [written(x) for x in (0.12345, 12.0, 1e9, np.inf, np.nan)] == [
        "0.123", "12", "> 1,000", "NaN", "NaN"
    ]  # fmt: skip

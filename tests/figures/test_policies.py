"""The picture of policies: a line for each over updates and over time, losses beyond at the edge, the lowest heavy."""

import numpy as np
import pytest

from gradlab.figures._style import BLACK, BLUE, BLUE_TEXT, OTHERS, QUIET, SELECTED
from gradlab.figures.policies import _DASHES, HIGHEST, LOWEST, Curve, PoliciesView, written

NAMES = ["apply", "drop", "wait", "damp", "compensate", "backup"]


def curve(last: float = 1.0, then: float = 1.5) -> Curve:
    return Curve(np.array([0, 2, 4]), np.array([0.0, 1.5, 2.5]), np.array([2.3, 1.5, last]), then)


def drawn(lowest: str = "wait", ahead: str = "apply", **changed: Curve) -> PoliciesView:
    view = PoliciesView(NAMES, 200, 60.0)
    view.draw({name: curve() for name in NAMES} | changed, 2.0, lowest, ahead)
    return view


def test_every_policy_is_a_line_over_updates_and_over_time_until_the_first_is_through() -> None:
    view = drawn(wait=curve(0.5))
    steps, times = view.steps.lines[2], view.times.lines[2]
    assert steps.get_xdata().tolist() == [0, 2, 4]
    assert steps.get_ydata()[[0, -1]].tolist() == pytest.approx([2.3, 0.5])
    assert times.get_xdata().tolist() == [0, 1.5]  # 2.5 is after 2.0


@pytest.mark.parametrize(("loss", "shown"), [(0.01, LOWEST), (99.0, HIGHEST), (np.inf, HIGHEST), (np.nan, HIGHEST)])
def test_losses_that_have_no_place_are_at_an_edge(loss: float, shown: float) -> None:
    assert drawn(drop=curve(loss)).steps.lines[1].get_ydata()[-1] == pytest.approx(shown)


def test_every_policy_has_a_dash_of_its_own() -> None:
    assert len({str(dash) for dash in _DASHES}) == len(NAMES)


def test_the_lowest_of_a_panel_is_heavy_and_both_can_be_followed() -> None:
    view = drawn("wait", "apply")
    for panel, heavy in ((view.steps, "wait"), (view.times, "apply")):
        widths = dict(zip(NAMES, [line.get_linewidth() for line in panel.lines], strict=True))
        assert [name for name in NAMES if widths[name] == SELECTED] == [heavy]
        assert {widths[name] for name in NAMES[3:]} == {OTHERS}
        colors = [line.get_color() for line in panel.lines]
        assert colors == [BLACK, QUIET, BLUE, QUIET, QUIET, QUIET]
        assert [n for n, name in zip(NAMES, panel.names._names, strict=True) if name.get_weight() == "bold"] == [heavy]
    assert view.steps.names._names[2].get_color() == BLUE_TEXT
    assert view.steps.title.get_text().endswith("wait ends lowest")
    assert view.times.title.get_text().endswith("apply leads")


def test_names_have_the_loss_at_the_end_and_at_the_time() -> None:
    view = drawn(damp=curve(0.5, then=0.7), apply=curve(np.nan, then=np.nan))
    said = [[name.get_text() for name in panel.names._names] for panel in (view.steps, view.times)]
    assert said[0][3] == "damp 0.5" and said[1][3] == "damp 0.7"
    assert said[0][0] == said[1][0] == "apply NaN"


def test_a_line_that_ends_early_is_joined_to_its_name() -> None:
    x, y = drawn(wait=curve(0.5)).steps._leaders.get_data()
    assert [x[6], x[7]] == [4, 200] and y[6] == y[7] == 0.5


def test_losses_are_written_for_readers() -> None:
    assert [written(x) for x in (0.12345, 12.0, 1e9, np.inf, np.nan)] == [
        "0.123", "12", "> 1,000", "NaN", "NaN"
    ]  # fmt: skip

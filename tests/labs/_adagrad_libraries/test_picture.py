"""The first digit that differs stands out by weight, color and a line below it, and the parts of a
number join.
"""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from gradlab.labs._adagrad_libraries.picture import LOOKS, Cell, DigitsView


def drawn(*cells: Cell, narrow: bool = False) -> DigitsView:
    view = DigitsView(["gradient", "mine"], ["a", "b"])
    view.arrange(narrow)
    view.draw(
        "After 3 steps, beside mine",
        ["", "acc 0"],
        [[Cell("1", None, "", "same")] * 2, list(cells)],
    )
    return view


@pytest.mark.parametrize(
    ("at", "parts"), [(3, ("0.7", "0", "41")), (0, ("", "0", ".7041")), (5, ("0.704", "1", ""))]
)
def test_a_number_is_cut_at_the_digit_that_differs(at: int, parts: tuple[str, str, str]) -> None:
    cell = drawn(Cell("0.7041", at, "alike", "early"), Cell("1", None, "same", "same"))._cells[1][0]
    assert (cell.kept.get_text(), cell.first.get_text(), cell.rest.get_text()) == parts
    assert cell.first.get_fontweight() == "bold"
    assert len({text.get_color() for text in (cell.kept, cell.first, cell.rest)}) == 3


@pytest.mark.parametrize("narrow", [False, True], ids=["wide", "narrow"])
@pytest.mark.parametrize("dpi", [100, 125, 150, 200])
def test_the_parts_join_and_the_line_is_below_the_digit(narrow: bool, dpi: int) -> None:
    view = drawn(
        Cell("−1.16045", 4, "alike", "early"), Cell("1", None, "same", "same"), narrow=narrow
    )
    view.figure.set_dpi(dpi)
    canvas = FigureCanvasAgg(view.figure)
    canvas.draw()
    cell = view._cells[1][0]
    kept, first, rest = (
        t.get_window_extent(canvas.get_renderer()) for t in (cell.kept, cell.first, cell.rest)
    )
    assert kept.x1 == pytest.approx(first.x0, abs=dpi / 60)
    assert first.x1 == pytest.approx(rest.x0, abs=dpi / 60)
    ends = view.axes.transData.transform(np.column_stack(view._lines.get_data())[1:3])
    assert ends[:, 0] == pytest.approx([first.x0, first.x1], abs=dpi / 60)
    assert (ends[:, 1] < kept.y0 + 2).all()


def test_a_number_that_agrees_has_no_line_and_cells_change_their_color() -> None:
    view = drawn(Cell("1", None, "same", "same"), Cell("NaN", None, "no number", "none"))
    assert np.isnan(view._lines.get_xdata()).all()
    sizes = {look: len(patch.get_path().vertices) // 5 for look, patch in view._boxes.items()}
    assert sizes == dict.fromkeys(LOOKS, 0) | {"same": 3, "none": 1}
    assert view._cells[1][1].kept.get_text() == "NaN"


def test_a_narrow_page_breaks_the_title() -> None:
    one = Cell("1", None, "same", "same")
    assert "\n" not in drawn(one, one)._title.get_text()
    assert drawn(one, one, narrow=True)._title.get_text() == "After 3 steps,\nbeside mine"

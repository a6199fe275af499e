"""A phase diagram: cells in their places, lines between full and empty ones, cuts through one
place.
"""

import numpy as np

from gradlab.labs._staleness_phases.picture import LEVELS, PhasesView, Scale, borders

SCALE = Scale("share", 2.0, lambda x: f"{x:g} of 2")
# 3 limits, 4 workers.
VALUES = np.array([[0.0, 0.4, 0.8, 0.0], [1.2, 1.6, 2.0, 0.1], [2.0, 2.0, 2.0, 0.2]])


def drawn(limit: int = 1, workers: int = 2) -> PhasesView:
    view = PhasesView(range(3), range(1, 5))
    view.draw(VALUES, SCALE, limit, workers)
    return view


def test_cells_have_limits_across_and_workers_upwards() -> None:
    view = drawn()
    np.testing.assert_array_equal(view._cells.get_array(), VALUES.T / 2)
    assert view._cells.get_extent() == [-0.5, 2.5, 0.5, 4.5]
    assert view._cells.origin == "lower"


def test_cuts_go_through_the_place() -> None:
    view = drawn(limit=1, workers=2)
    across, up = (cut.get_xydata().tolist() for cut in view._cuts)
    assert across == [[0, 0.2], [1, 0.8], [2, 1.0]]
    assert up == [[1, 0.6], [2, 0.8], [3, 1.0], [4, 0.05]]
    assert [here.get_xydata().tolist() for here in view._here] == [[[1, 2]], [[1, 0.8]], [[2, 0.8]]]


def test_numbers_are_those_of_the_scale() -> None:
    view = drawn()
    assert [title.get_text() for title in view._titles] == [
        "Share", "2 workers: 1.6 of 2 at limit 1", "Limit 1: 1.6 of 2, 2 workers"
    ]  # fmt: skip
    assert [number.get_text() for number in view._ends] == ["0 of 2", "2 of 2"]
    assert [tick.get_text() for tick in view._ticks[0]] == ["0 of 2", "1 of 2", "2 of 2"]


def test_lines_run_between_cells_that_are_inside_and_those_that_are_not() -> None:
    edges = borders(np.array([[True, False], [True, True]])).reshape(-1, 3, 2)[:, :2]
    assert sorted(map(np.ndarray.tolist, edges)) == [[[0, 1], [1, 1]], [[1, 1], [1, 2]]]
    assert borders(np.ones((3, 3), bool)).shape == (0, 2)


def test_each_level_has_its_line_in_the_diagram() -> None:
    view = drawn()
    for casing, line, level in zip(view._casings, view._lines, LEVELS, strict=True):
        np.testing.assert_array_equal(casing.get_xydata(), line.get_xydata())
        x, y = borders(2 * level <= VALUES).T
        np.testing.assert_array_equal(line.get_xydata(), np.stack([x - 0.5, y + 0.5], axis=1))
    assert len({line.get_linestyle() for line in view._lines}) == len(LEVELS)


def test_a_line_is_named_where_it_leaves_the_diagram() -> None:
    view = PhasesView(range(4), range(1, 5))
    values = np.tile([0.0, 0.6, 1.2, 2.0], (4, 1)).T  # by limit
    view.draw(values, SCALE, 1, 2)
    assert [name.get_text() for name in view._names] == [f"{2 * level:g} of 2" for level in LEVELS]
    x, y = np.transpose([name.get_position() for name in view._names])
    assert (y > 1).all() and np.diff(x).min() > 0.1 and np.allclose(x[1:], (0.5, 0.75), atol=0.13)
    view.draw(values.T, SCALE, 1, 2)  # by workers
    x, y = np.transpose([name.get_position() for name in view._names])
    assert (x > 1).all() and np.allclose(y, (0.25, 0.5, 0.75), atol=0.01)
    view.draw(0 * values, SCALE, 1, 2)
    assert not any(name.get_visible() for name in view._names)

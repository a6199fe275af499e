"""What the picture of Adagrad shows: paths up to the step, curves over all, contours that follow
the loss.
"""

import numpy as np

from gradlab.labs._adagrad.picture import (
    FAR,
    LOSSES,
    RATES,
    SUMS,
    AdagradView,
    EffectiveRates,
    Ground,
    Walk,
    _rings,
)


def ground(bottom: float) -> Ground:
    x = y = np.linspace(-3, 3, 61)
    return Ground(x, y, np.add.outer(y**2, (x - bottom) ** 2), (bottom, 0.0))


def walk(steps: int, slope: float) -> Walk:
    weights = np.stack([np.linspace(-4, 0, steps + 1), slope * np.arange(steps + 1.0)], axis=1)
    return Walk(weights, np.arange(steps + 1.0), np.r_[np.nan, np.full(steps, 0.1)])


def drawn(step: int, descent: Walk, floor: float = 0.5) -> AdagradView:
    view = AdagradView(10)
    column = np.r_[np.nan, np.full(10, 0.2)]
    rates = EffectiveRates(
        np.ones((11, 2)), np.stack([column, 2 * column], axis=1), floor, 3 * column
    )
    view.draw(step, ground(0.0), walk(10, 0.1), descent, rates)
    return view


def test_paths_end_at_the_step_and_curves_do_not() -> None:
    view = drawn(4, walk(10, 0.2))
    assert [len(path.get_xdata()) for path in view._paths] == [5, 5]
    assert {len(line.get_xdata()) for line in (*view._losses, *view._sums, *view._rates)} == {11}
    assert [mark.get_xdata()[0] for mark in view._here["adagrad"][1:]] == [4, 4, 4]
    assert all(list(line.get_xdata()) == [4, 4] for line in view._now)


def test_what_has_left_the_page_is_not_drawn() -> None:
    far = walk(10, 10 * FAR)
    view = drawn(6, far._replace(above=np.full(11, np.inf)))
    assert np.isfinite(view._paths[0].get_ydata()).sum() == 1  # the start only
    assert np.isnan(view._losses[0].get_ydata()).all()


def test_what_is_beyond_an_axis_stands_at_its_end() -> None:
    view = drawn(6, walk(10, 0.2)._replace(above=np.r_[1e5, np.full(10, 1e-9)]))
    assert view._losses[0].get_ydata()[[0, -1]].tolist() == list(LOSSES[::-1])
    write = view.loss.yaxis.get_major_formatter()
    assert [write(end) for end in LOSSES] == ["≤ 10⁻⁴", "≥ 10⁴"]


def test_both_ends_of_an_axis_have_ticks_and_room_for_a_whole_mark() -> None:
    view = drawn(6, walk(10, 0.2))
    view.figure.draw_without_rendering()
    for axes, ends in ((view.loss, LOSSES), (view.accumulator, SUMS), (view.rate, RATES)):
        assert set(ends) <= set(axes.get_yticks()), ends
        panel = axes.get_window_extent()
        radius = 8 / 2 * view.figure.dpi / 72
        low, high = axes.transData.transform([(0, end) for end in ends])[:, 1]
        assert low - radius > panel.y0 - 1.5
        assert high + radius < panel.y1 + 1.5


def test_walkers_are_named_where_they_are_and_only_in_the_picture() -> None:
    view = drawn(4, walk(10, 0.2))
    assert [(one.get_text(), one.get_visible()) for one in view._walkers] == [
        ("descent", True),
        ("Adagrad", True),
    ]
    below, above = (one.get_position()[1] for one in view._walkers)
    assert below < 0.8 and above > 0.4
    assert [one.get_visible() for one in drawn(4, walk(10, 1.0))._walkers] == [False, True]
    assert not any(one.get_visible() for one in drawn(0, walk(10, 0.2))._walkers)


def test_epsilon_has_its_line_in_both_panels() -> None:
    view = drawn(2, walk(10, 0.1), floor=0.25)
    assert list(view._floor.get_ydata()) == [0.25, 0.25]
    np.testing.assert_allclose(view._ceiling.get_ydata()[1:], 0.6)


def test_contours_lie_where_the_loss_is_the_same_and_follow_the_ground() -> None:
    for bottom in (0.0, 1.0):
        vertices = _rings(ground(bottom)).vertices
        radii = np.hypot(vertices[:, 0] - bottom, vertices[:, 1])
        levels = np.hypot(3 + bottom, 3) * np.arange(1, 10) / 10
        apart = np.abs(radii[:, None] - levels).min(axis=1)
        assert np.quantile(apart, 0.95) < 0.01
    view = drawn(1, walk(10, 0.1))
    first = view._rings.get_path()
    rates = EffectiveRates(np.ones((11, 2)), np.ones((11, 2)), np.nan, np.ones(11))
    view.draw(2, view._ground, walk(10, 0.1), walk(10, 0.1), rates)  # type: ignore[arg-type]
    assert view._rings.get_path() is first
    view.draw(2, ground(1.0), walk(10, 0.1), walk(10, 0.1), rates)
    assert view._rings.get_path() is not first
    assert list(view._bottom.get_xdata()) == [1.0]


def test_curves_are_named_at_their_ends() -> None:
    view = drawn(4, walk(10, 0.2))
    assert [
        [name.get_text() for name in ends._names if name.get_visible()] for ends in view._ends
    ] == [
        ["descent", "Adagrad"],
        ["flat", "steep"],
        ["descent", "flat", "steep"],
    ]
    assert view._directions.get_text() == "→ flat, ↑ steep"


def test_the_triangle_is_drawn_over_the_dots_that_lie_on_it() -> None:
    view = drawn(4, walk(10, 0.2))
    triangle, dots = view._here["descent"][-1], view._here["adagrad"][-1]
    assert triangle.axes is dots.axes is view.rate
    assert triangle.get_zorder() > dots.get_zorder()
    assert triangle.get_markersize() > dots.get_markersize()

"""Ways through a picture: where they begin and end, and that bands side by side do not touch."""

import numpy as np

from gradlab.live.drawing.ways import arc, bent, curve, head, joined, side_by_side


def test_a_curve_begins_and_ends_level() -> None:
    way = curve(0, 10, 100, 50)
    assert way[:, 0].tolist() == [0, 10] and way[:, -1].tolist() == [100, 50]
    slope = np.diff(way[1]) / np.diff(way[0])
    assert slope[0] < 0.1 > slope[-1] and slope.max() > 0.5


def test_an_arc_goes_from_the_first_point_to_the_last_and_is_drawn_to_the_others() -> None:
    way = arc((0, 0), (0, 30), (30, 30), (30, 0))
    assert way[:, 0].tolist() == [0, 0] and way[:, -1].tolist() == [30, 0]
    np.testing.assert_allclose(way[:, 10], [15, 22.5])


def test_corners_are_round_and_fit_short_ways() -> None:
    x, y = bent((0, 0), (100, 0), (100, 50), radius=10.0)
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 100, 50)
    assert not np.isclose(np.hypot(x - 100, y), 0).any(), "the corner itself is cut off"
    assert ((y == 0) | (x == 100) | ((x >= 90) & (y <= 10))).all()
    short = bent((0, 0), (4, 0), (4, 3), radius=10.0)
    assert short[0].max() == 4 and short[1].max() == 3 and short.min() == 0


def test_bands_lie_side_by_side_around_zero() -> None:
    widths = np.array([10.0, 4.0, 1.0])
    middles = side_by_side(widths)
    assert (np.diff(middles) > (widths[:-1] + widths[1:]) / 2).all()
    assert np.isclose(middles[0] - widths[0] / 2, -(middles[-1] + widths[-1] / 2))
    assert side_by_side(np.empty(0)).size == 0


def test_ways_are_joined_with_gaps() -> None:
    line = joined([np.ones((2, 3)), np.zeros((2, 2))])
    assert np.flatnonzero(np.isnan(line[0])).tolist() == [3, 6] and joined([]).shape == (2, 0)


def test_a_head_points_along_its_way() -> None:
    tip, *back = head(np.array([[0, 5, 10], [0, 0, 0]], float)).vertices[:3].tolist()
    assert tip == [10, 0] and back == [[1, 4.5], [1, -4.5]]

"""Bars, hatching and contours: as many as asked for, where matplotlib has them."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.path import Path

from gradlab.live.drawing.shapes import bars, contours, hatching


def test_bars_are_closed_rectangles() -> None:
    path = bars([0.0, 2.0], [1.0, 5.0], 0, [1.0, 3.0])
    assert path.vertices.reshape(2, 5, 2)[1].tolist() == [[2, 0], [5, 0], [5, 3], [2, 3], [2, 0]]
    assert np.isnan(bars(np.array([]), np.array([]), 0, 1).vertices).all()


def test_hatching_stays_inside_and_leans() -> None:
    lines = hatching(
        np.array([0.0, 20.0]),
        np.array([10.0, 21.0]),
        np.array([0.0, 1.0]),
        np.array([1.0, 3.0]),
        4,
        2,
    )
    pieces = lines.reshape(-1, 3, 2)
    assert np.isnan(pieces[:, 2]).all()
    x, y = pieces[:, :2, 0], pieces[:, :2, 1]
    first = x[:, 0] < 15
    assert ((x[first] >= 0) & (x[first] <= 10)).all() and ((y[first] >= 0) & (y[first] <= 1)).all()
    assert ((x[~first] >= 20) & (x[~first] <= 21)).all() and (
        (y[~first] >= 1) & (y[~first] <= 3)
    ).all()
    np.testing.assert_allclose(np.diff(x[first]) / np.diff(y[first]), 4)
    assert first.sum() == 7 and (~first).any()
    assert hatching(*np.empty((4, 0)), 1, 1).shape == (0, 2)


@pytest.mark.parametrize("levels", [(0.3, 1.0, 2.5), (99.0,), ()])
def test_they_are_the_lines_of_axes_contour(levels: tuple[float, ...]) -> None:
    x, y = np.linspace(-2, 2, 31), np.linspace(-1, 3, 21) ** 3
    height = np.hypot(*np.meshgrid(x, np.cbrt(y))) + np.random.default_rng(0).uniform(
        0, 0.3, (21, 31)
    )
    found = contours(x, y, height, levels)
    if levels == (0.3, 1.0, 2.5):
        expected = Path.make_compound_path(
            *Figure().add_subplot().contour(x, y, height, levels).get_paths()
        )
        np.testing.assert_array_equal(found.vertices, expected.vertices)
        np.testing.assert_array_equal(found.codes, expected.codes)
    else:
        assert len(found.vertices) == 0

"""The lines are those that matplotlib draws."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.path import Path

from gradlab.figures._contours import contours


@pytest.mark.parametrize("levels", [(0.3, 1.0, 2.5), (99.0,), ()])
def test_they_are_the_lines_of_axes_contour(levels: tuple[float, ...]) -> None:
    x, y = np.linspace(-2, 2, 31), np.linspace(-1, 3, 21) ** 3
    height = np.hypot(*np.meshgrid(x, np.cbrt(y))) + np.random.default_rng(0).uniform(0, 0.3, (21, 31))
    found = contours(x, y, height, levels)
    if levels == (0.3, 1.0, 2.5):
        expected = Path.make_compound_path(*Figure().add_subplot().contour(x, y, height, levels).get_paths())
        np.testing.assert_array_equal(found.vertices, expected.vertices)
        np.testing.assert_array_equal(found.codes, expected.codes)
    else:
        assert len(found.vertices) == 0

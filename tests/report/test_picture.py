"""The map of a report: rows have names, and what is 0 doesn't look like what isn't finite."""

import numpy as np

from gradlab.report.picture import map_figure


def map_of(norm: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Return the colors of a map, (tensors, steps, 4), and the names at its rows."""
    names = [f"w{k}" for k in range(norm.shape[1])]
    axes = map_figure(norm, np.arange(len(norm)), len(norm), names).axes[0]
    (picture,) = axes.images
    return picture.cmap(picture.norm(picture.get_array())), [
        words.get_text() for words in axes.get_yticklabels()
    ]


def test_nan_and_infinity_stand_out_from_0() -> None:
    norm = np.ones((4, 3))
    norm[1, 0], norm[2, 0], norm[3, 0] = np.nan, np.inf, 0.0
    colors, names = map_of(norm)
    assert names == ["w0", "w1", "w2"]
    assert (colors[0, 1] == colors[0, 2]).all(), "NaN is colored as Inf is"
    assert (colors[0, 3] != colors[0, 1]).any() and (colors[0, 3] != colors[0, 0]).any()


def test_of_many_tensors_as_many_are_named_as_fit() -> None:
    _, names = map_of(np.ones((4, 41)))
    assert names == [f"w{k}" for k in range(0, 41, 2)]
    _, names = map_of(np.ones((4, 500)))
    assert 10 < len(names) <= 24 and names[0] == "w0"

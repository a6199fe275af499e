import io

import matplotlib.image
import numpy as np
import pytest
from matplotlib.figure import Figure

from gradlab.live import Drag
from gradlab.live.scene import Scene, moving, usable_ratio


def figure_with_a_line(**options: object) -> tuple[Figure, object]:
    figure = Figure(figsize=(4, 2), dpi=100, **options)
    axes = figure.add_subplot()
    (line,) = axes.plot([0, 1], [0, 1], color="red", lw=5, animated=True)
    return figure, line


def pixels(png: bytes) -> np.ndarray:
    return matplotlib.image.imread(io.BytesIO(png))[..., :3]


def red(image: np.ndarray) -> int:
    return int(((image[..., 0] > 0.9) & (image[..., 1] < 0.1)).sum())


def test_the_still_picture_lacks_the_moving_artists_and_the_full_one_has_them() -> None:
    scene = Scene(figure_with_a_line()[0])
    assert red(pixels(scene.still(1.0))) == 0
    assert red(pixels(scene.png(None))) > 1000
    assert pixels(scene.still(2.0)).shape == (400, 800, 3)


def test_the_same_state_gives_the_same_bytes() -> None:
    first, second = Scene(figure_with_a_line()[0]), Scene(figure_with_a_line()[0])
    assert first.png(80) == second.png(80)
    assert first.still(1.5) == second.still(1.5)
    assert b"Software" not in first.png(80)
    assert b"tIME" not in first.png(80)


def test_a_picture_at_another_resolution_leaves_the_frames_as_they_are() -> None:
    scene = Scene(figure_with_a_line(layout="constrained")[0])
    before = scene.frame(1.0)
    scene.png(300)
    scene.still(2.0)
    assert scene.frame(1.0) == before
    assert scene.size == (400, 200)


def test_settling_lays_the_figure_out_again() -> None:
    figure, _ = figure_with_a_line(layout="constrained")
    scene = Scene(figure)
    before = scene.frame(1.0)
    figure.axes[0].set_title("a title\nof two lines", fontsize=20)
    assert scene.frame(1.0) == before
    scene.settle()
    assert scene.frame(1.0) != before


def test_moving_artists_come_in_drawing_order() -> None:
    figure = Figure()
    left, right = figure.subfigures(1, 2)
    axes = left.add_subplot()
    inner = axes.inset_axes((0.5, 0.5, 0.4, 0.4))
    top = axes.plot([0, 1], zorder=9, animated=True)[0]
    low = axes.plot([0, 1], zorder=-1, animated=True)[0]
    axes.plot([0, 1])
    inset = inner.plot([0, 1], animated=True)[0]
    words = right.text(0.1, 0.1, "x", animated=True)
    assert list(moving(figure)) == [low, inset, top, words]


def test_an_area_says_what_its_edges_mean() -> None:
    figure = Figure(figsize=(4, 2))
    axes = figure.add_axes((0.25, 0.25, 0.5, 0.5))
    axes.set(xlim=(8, 0), yscale="log", ylim=(0.1, 10))
    area = Scene(figure).area(Drag(axes, x="a", y="b"))
    assert (area["left"], area["top"], area["width"], area["height"]) == (0.25, 0.25, 0.5, 0.5)
    assert area["x"] == {"name": "a", "first": 8, "last": 0, "log": False}
    assert area["y"] == {"name": "b", "first": 0.1, "last": 10, "log": True}


@pytest.mark.parametrize(
    ("given", "ratio"),
    [(1, 1), (1.1, 1), (1.5, 1.5), (2.63, 2.75), (0, 0.5), (-3, 0.5), (99, 4), (None, 1), ("2", 1), (float("nan"), 1)],
)
def test_ratios_are_kept_in_bounds(given: object, ratio: float) -> None:
    assert usable_ratio(given) == ratio

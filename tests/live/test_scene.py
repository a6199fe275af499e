import io

import matplotlib.image
import numpy as np
import pytest
from matplotlib.figure import Figure

from gradlab.live import Drag, Items
from gradlab.live.display_list import ITEMS, decode, unpack_items
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


@pytest.mark.exhaustive
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


def test_a_change_lays_the_figure_out_again() -> None:
    scene = Scene(figure_with_a_line(layout="constrained")[0])
    before = scene.frame(1.0)
    scene.figure.axes[0].set_title("a title\nof two lines", fontsize=20)
    assert scene.frame(1.0) == before
    scene.rearranged(lambda: scene.figure.axes[0].set_title("a title\nof two lines", fontsize=20))
    assert scene.frame(1.0) != before


def test_a_change_and_back_gives_the_same_picture() -> None:
    figure = Figure(figsize=(6, 3), dpi=100, layout="constrained")
    axes = figure.subplots(1, 2)
    axes[0].set(aspect="equal", xlim=(0, 1000), ylim=(0, 1000))
    axes[1].plot([0, 1], animated=True)
    scene = Scene(figure)
    before = scene.png(None), scene.frame(1.0), scene.panels()

    def narrow(yes: bool) -> None:
        figure.set_size_inches((3, 6) if yes else (6, 3))
        grid = figure.add_gridspec(*((2, 1) if yes else (1, 2)))
        for each, place in zip(axes, grid, strict=True):
            each.set_subplotspec(place)

    scene.rearranged(lambda: narrow(True))
    assert scene.size == (300, 600)
    assert pixels(scene.still(1.0)).shape == (600, 300, 3)
    scene.rearranged(lambda: narrow(False))
    assert (scene.png(None), scene.frame(1.0), scene.panels()) == before


@pytest.mark.parametrize("dpi", [72.0, 97.3, 150.0])
@pytest.mark.parametrize("dark", [False, True])
def test_moving_parts_are_painted_over_still_ones_at_any_resolution(dpi: float, dark: bool) -> None:
    scene = Scene(figure_with_a_line()[0])
    still = scene.blank(dpi, dark)
    kept = still.copy()
    both = scene.over(still, dark)
    assert (still == kept).all()
    assert both.shape[1:] == (round(4 * dpi), 4)
    scene.frame(2.0)
    assert (scene.over(still, dark) == both).all()
    np.testing.assert_array_equal(both[..., :3], np.round(255 * pixels(scene.png(dpi, dark))))


def test_a_dark_picture_differs_in_color_only() -> None:
    figure, line = figure_with_a_line()
    scene = Scene(figure, {"red": "lime"})
    light, dark = pixels(scene.png(None)), pixels(scene.png(None, dark=True))
    assert (dark[0, 0] * 255 == 0x11).all()
    assert (((light == (1, 0, 0)).all(axis=2)) == (dark == (0, 1, 0)).all(axis=2)).all()
    assert line.get_color() == "red"  # type: ignore[attr-defined]
    assert (pixels(scene.still(1.0, dark=True))[0, 0] * 255 == 0x11).all()


def test_every_recorded_color_has_its_dark_counterpart() -> None:
    figure, line = figure_with_a_line()
    scene = Scene(figure, {"red": "lime"})
    before = scene.frame(1.0)
    assert scene.colors == {0xFF0000FF: 0xFF00FF00}
    line.set_alpha(128 / 255)  # type: ignore[attr-defined]
    scene.frame(1.0)
    assert scene.colors == {0xFF0000FF: 0xFF00FF00, 0x800000FF: 0x8000FF00}
    line.set_alpha(None)  # type: ignore[attr-defined]
    assert scene.frame(1.0) == before


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


def test_the_handle_of_a_line_sits_where_its_drag_says() -> None:
    figure = Figure()
    axes = figure.add_subplot()
    axes.set(xlim=(8, 0), yscale="log", ylim=(0.1, 10))
    scene = Scene(figure)
    assert scene.area(Drag(axes, x="a"))["at"] is None
    assert scene.area(Drag(axes, x="a", at=1.0))["at"] == pytest.approx(0.5)
    assert scene.area(Drag(axes, y="b", at=6.0))["at"] == pytest.approx(0.25)
    assert scene.area(Drag(axes, y="b", at=-1.0))["at"] == 1


def test_panels_are_the_axes_that_show_their_axes() -> None:
    figure = Figure()
    left, right, key, hidden = figure.subplots(1, 4)
    left.set_title("norms", loc="left")
    key.set_axis_off()
    hidden.set_visible(False)
    scene = Scene(figure)
    assert scene.axes == [left, right]
    assert [panel["label"] for panel in scene.panels()] == ["norms", ""]
    area = scene.area(Drag(left, x="a"))
    assert {name: area[name] for name in ("left", "top", "width", "height")} == {
        name: value for name, value in scene.panels()[0].items() if name != "label"
    }


def test_items_follow_the_moving_parts_of_a_frame() -> None:
    figure = Figure(figsize=(4, 2), dpi=100)
    left, right = figure.add_axes((0, 0, 0.5, 1)), figure.add_axes((0.5, 0, 0.5, 1))
    left.set(xlim=(0, 100), ylim=(0.01, 100), yscale="log")
    line = left.plot([1, 99], [1, 1], animated=True)[0]
    scene = Scene(figure)
    assert line in list(moving(figure))
    items = Items(
        "step",
        {left: ([0, 50, 70, 101, np.nan], [0.1, 1, 0, 1, 1])},
        {"norm": [1, 2, 3, 1e300, np.nan]},
    )
    plain, data = scene.frame(2.0), scene.frame(2.0, items)
    assert data.startswith(plain)
    ((code, body),) = decode(data[len(plain) :])
    places, columns = unpack_items(body)
    assert code == ITEMS
    assert scene.axes == [left, right]
    np.testing.assert_allclose(places[0, :2], [[0, 300], [200, 200]])
    assert np.isnan(places[0, 2:]).all()  # zero on a log axis, beyond the edge, not a number
    assert np.isnan(places[1]).all()
    np.testing.assert_array_equal(columns, np.array([[1, 2, 3, np.inf, np.nan]], np.float32))


def test_no_items_are_items_as_well() -> None:
    scene = Scene(Figure())
    ((_, body),) = decode(scene.frame(1.0, Items("step", {}, {"norm": []})))
    assert [numbers.shape for numbers in unpack_items(body)] == [(0, 0, 2), (1, 0)]


def test_zooming_moves_the_limits_and_the_ticks_find_room() -> None:
    figure, _ = figure_with_a_line(layout="constrained")
    axes = figure.axes[0]
    scene = Scene(figure)
    before = scene.png(None), axes.get_xlim()
    scene.rearranged(lambda: scene.zoom(0, (0.5, 0.5001), (0.5, 0.5001)))
    assert scene.zoomed
    assert axes.get_position().x0 > 0.15  # the labels have grown
    scene.rearranged(scene.unzoom)
    assert not scene.zoomed
    assert (scene.png(None), axes.get_xlim()) == before


@pytest.mark.parametrize(
    ("given", "ratio"),
    [
        (1, 1),
        (1.1, 1),
        (1.5, 1.5),
        (2.63, 2.75),
        (0, 0.5),
        (-3, 0.5),
        (99, 4),
        (None, 1),
        ("2", 1),
        (float("nan"), 1),
    ],
)
def test_ratios_are_kept_in_bounds(given: object, ratio: float) -> None:
    assert usable_ratio(given) == ratio

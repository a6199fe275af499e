"""Texts on whole pixels, and names at the ends of curves: beside them, in their order, never on
each other.
"""

import struct

import numpy as np
from matplotlib.backends.backend_agg import RendererAgg

from gradlab.live.display_list import TEXT, decode
from gradlab.live.drawing.labels import EndLabels, apart, chip, label
from gradlab.live.drawing.style import new_figure
from gradlab.live.scene import Scene


def test_labels_stand_on_whole_pixels_around_their_place() -> None:
    axes = new_figure(4, 2).add_subplot()
    axes.set(xlim=(0, 1), ylim=(0, 1))
    for aligned in ("left", "center", "right"):
        label(axes, x=0.5, y=0.5, text="0.25", ha=aligned)
    scene = Scene(axes.figure, {})
    x, y = axes.transData.transform((0.5, 0.5))
    shapes = [
        struct.unpack_from("<IiiII", body)
        for code, body in decode(scene.frame(1.0))
        if code == TEXT
    ]
    at = [
        left + part * width
        for (_, left, _, width, _), part in zip(shapes, (0, 0.5, 1), strict=True)
    ]
    np.testing.assert_allclose(at, x, atol=2)
    middle = [top + height / 2 for _, _, top, _, height in shapes]
    np.testing.assert_allclose(middle, axes.figure.bbox.height - y, atol=1.5)


def test_a_label_that_is_hidden_or_empty_is_not_painted() -> None:
    axes = new_figure(4, 2).add_subplot()
    label(axes, text="hidden").set_visible(False)
    label(axes)
    assert TEXT not in [code for code, _ in decode(Scene(axes.figure, {}).frame(1.0))]


def test_a_label_looks_alike_in_pixels_and_in_the_browser() -> None:
    axes = new_figure(4, 2).add_subplot()
    axes.set_axis_off()
    label(axes, x=0.3, y=0.3, text="−1.25")
    scene = Scene(axes.figure, {})
    dark = np.argwhere(scene.over(scene.blank(scene.dpi))[..., :3].min(axis=2) < 128)
    _, left, top, width, height = next(
        struct.unpack_from("<IiiII", body)
        for code, body in decode(scene.frame(1.0))
        if code == TEXT
    )
    assert (dark.min(axis=0) >= (top, left)).all() and (
        dark.max(axis=0) < (top + height, left + width)
    ).all()


def test_places_are_moved_apart_as_little_as_possible_and_stay_in_their_order() -> None:
    rng = np.random.default_rng(0)
    for count in (0, 1, 2, 5, 8):
        places = rng.random(count).round(1)
        moved = apart(places, 0.1)
        assert (np.diff(np.sort(moved)) >= 0.1 - 1e-9).all()
        assert ((moved >= -1e-9) & (moved <= 1 + 1e-9)).all()
        assert (np.diff(places[np.argsort(moved)]) >= 0).all()
    assert apart(np.array([0.2, 0.8]), 0.1).tolist() == [0.2, 0.8]


def test_names_stand_at_the_ends_that_there_are() -> None:
    axes = new_figure(4, 3).add_subplot()
    axes.set(xlim=(0, 10), ylim=(1e-4, 1), yscale="log")
    names = EndLabels(axes, 4)
    names.draw(
        10, [1e-2, 1e-2, np.nan], ["one", "two", "three"], weight=["bold", "normal", "normal"]
    )
    names._leaders.draw(RendererAgg(400, 300, 100))  # which puts them where the panel is by then
    shown = [name for name in names._names if name.get_visible()]
    assert [(name.get_text(), name.get_weight()) for name in shown] == [
        ("one", "bold"),
        ("two", "normal"),
    ]
    low, high = (name.get_position()[1] for name in shown)
    np.testing.assert_allclose((low + high) / 2, 0.5, atol=1e-9)
    assert high > low and shown[0].get_position()[0] > 1
    assert len(names._leaders.get_xydata()) == 6
    for limits in ((0, 5), (12, 20)):  # the ends are out of sight
        axes.set_xlim(*limits)
        names.draw(10, [1e-2, 1e-2, np.nan], ["one", "two", "three"])
        assert not any(name.get_visible() for name in names._names)


def test_a_chip_stays_inside_the_place_that_it_is_aligned_to() -> None:
    for aligned in ("left", "right"):
        axes = new_figure(4, 2).add_subplot()
        axes.set_axis_off()
        axes.set(xlim=(0, 1), ylim=(0, 1))
        chip(axes, "#175C36", x=0.5, y=0.5, text="limit 1", ha=aligned)
        scene = Scene(axes.figure, {})
        _, columns = np.nonzero(scene.over(scene.blank(scene.dpi))[..., :3].min(axis=2) < 200)
        place = axes.transData.transform((0.5, 0.5))[0]
        edge = columns.min() if aligned == "left" else columns.max()
        assert abs(edge - place) <= 1.5

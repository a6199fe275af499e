"""Numbers with bars, and places that are whole pixels."""

import struct

import numpy as np

from gradlab.figures._labels import label
from gradlab.figures._numbers import Numbers, written
from gradlab.figures._style import new_figure
from gradlab.live.display_list import TEXT, decode
from gradlab.live.scene import Scene


def test_numbers_have_a_true_minus_and_only_an_exact_zero_is_short() -> None:
    assert [written(x) for x in (-1.234, 0.0, -0.0, 0.001, -0.001)] == ["−1.23", "0", "0", "0.00", "0.00"]
    assert written(-0.26, 1) == "−0.3"


def test_bars_start_in_the_middle_and_end_with_the_cell() -> None:
    axes = new_figure(4, 2).add_subplot()
    numbers = Numbers(axes, 4)
    numbers.draw(np.array([0.0, 1.0, 2.0]), np.zeros(3), np.array([1.0, -0.5, 9.0]), 1.0)
    more, less = (patch.get_path().vertices for patch in axes.patches)
    np.testing.assert_allclose([more[:, 0].min(), more[:, 0].max()], [0.0, 2.42])
    np.testing.assert_allclose([less[:, 0].min(), less[:, 0].max()], [0.79, 1.0])
    assert [t.get_text() for t in axes.texts if t.get_visible()] == ["1.00", "−0.50", "9.00"]


def test_labels_stand_on_whole_pixels_around_their_place() -> None:
    axes = new_figure(4, 2).add_subplot()
    axes.set(xlim=(0, 1), ylim=(0, 1))
    for aligned in ("left", "center", "right"):
        label(axes, x=0.5, y=0.5, text="0.25", ha=aligned)
    scene = Scene(axes.figure, {})
    x, y = axes.transData.transform((0.5, 0.5))
    shapes = [struct.unpack_from("<IiiII", body) for code, body in decode(scene.frame(1.0)) if code == TEXT]
    at = [left + part * width for (_, left, _, width, _), part in zip(shapes, (0, 0.5, 1), strict=True)]
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
        struct.unpack_from("<IiiII", body) for code, body in decode(scene.frame(1.0)) if code == TEXT
    )
    assert (dark.min(axis=0) >= (top, left)).all() and (dark.max(axis=0) < (top + height, left + width)).all()

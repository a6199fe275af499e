"""Ticks that are remembered give the same layouts and pictures, in fewer steps, and leave nothing behind."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator, ScalarFormatter

from gradlab.live import scene, ticks
from gradlab.live.lettering import Agg
from gradlab.live.scene import Scene

pytestmark = pytest.mark.exhaustive


def _shared() -> Figure:
    """Panels with one axis in common, labels below one another, titles, and a number that belongs to all ticks."""
    figure = Figure(figsize=(6, 4), dpi=100, layout="constrained")
    panels = figure.subplots(2, 2, sharex="col", sharey="row")
    for k, axes in enumerate(panels.flat):
        axes.set(title=f"Panel {k}\nof four" if k % 2 else f"Panel {k}", ylabel="y")
        axes.plot([0, 1 + 1e-6 * k], [1e6, 1e6 + 10**k])
    panels[1, 0].set_xlabel("x")
    panels[0, 0].tick_params(axis="x", labelrotation=40)
    figure.align_ylabels()
    return figure


def _logarithmic() -> Figure:
    figure = Figure(figsize=(5, 3), dpi=90, layout="constrained")
    axes = figure.add_subplot()
    axes.loglog([1e-3, 1e5], [2, 3], animated=True)
    axes.set(title="Powers", xlabel="x")
    axes.xaxis.tick_top()
    other = axes.twinx()
    other.plot([1, 100], [0, 1e-9])
    return figure


def _within() -> Figure:
    """An image with a colorbar, equal units, and a panel within another one."""
    figure = Figure(figsize=(5, 3), dpi=100, layout="constrained")
    left, right = figure.subplots(1, 2)
    figure.colorbar(left.imshow(np.arange(12.0).reshape(3, 4)), label="how much")
    right.set(xlim=(0, 1000), ylim=(-0.001, 0.001), aspect=1e6, title="right")
    right.inset_axes((0.4, 0.4, 0.5, 0.5)).plot([0, 1e9])
    return figure


PRIVATE = ticks.METHODS[0]
FIGURES = (_shared, _logarithmic, _within)
each_figure = pytest.mark.parametrize("make", FIGURES)


def _painted(figure: Figure) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the panels lie, to a last digit in which the layout's own solver varies; a light picture and a dark one."""
    made = Scene(figure)
    lie = [[panel[side] for side in ("left", "top", "width", "height")] for panel in made.panels()]
    return np.array(lie), made.whole(100), made.whole(150, dark=True)


@each_figure
def test_the_picture_is_the_same(make: Callable[[], Figure], monkeypatch: pytest.MonkeyPatch) -> None:
    panels, light, dark = _painted(make())
    monkeypatch.setattr(scene, "ticks_once", nullcontext)
    own_panels, own_light, own_dark = _painted(make())
    np.testing.assert_allclose(panels, own_panels, rtol=1e-12)
    np.testing.assert_array_equal(light, own_light)
    np.testing.assert_array_equal(dark, own_dark)


def _noting(asked: list[Axis]) -> Callable[[Axis], list[Any]]:
    """Compute ticks as matplotlib does, and note of which axis."""
    compute: Callable[[Axis], list[Any]] = getattr(Axis, PRIVATE)

    def noted(axis: Axis) -> list[Any]:
        asked.append(axis)
        return compute(axis)

    return noted


@pytest.mark.exhaustive
@each_figure
def test_ticks_are_computed_less_often(make: Callable[[], Figure], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Axis] = []
    monkeypatch.setattr(Axis, PRIVATE, _noting(asked))
    _painted(make())
    once = len(asked)
    monkeypatch.setattr(scene, "ticks_once", nullcontext)
    _painted(make())
    assert 0 < once < len(asked) - once


@each_figure
def test_nothing_is_left_behind(make: Callable[[], Figure]) -> None:
    figure = make()
    axes = [axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)]

    def fail() -> None:
        with ticks.ticks_once(figure):
            assert all(set(ticks.METHODS) <= vars(axis).keys() for axis in axes)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert not any(set(ticks.METHODS) & vars(axis).keys() for axis in axes)


def _linear(figure: Figure) -> None:
    axes = figure.axes[0]
    axes.set_xscale("linear")
    axes.xaxis.set_major_locator(MultipleLocator(20_000))


def test_a_change_of_the_ticks_is_seen() -> None:
    figure = _logarithmic()
    made = Scene(figure)
    before = made.whole(100)
    made.rearranged(lambda: _linear(figure))
    other = _logarithmic()
    _linear(other)
    assert (made.whole(100) != before).any()
    np.testing.assert_array_equal(made.whole(100), Scene(other).whole(100))


def test_a_view_that_moves_meanwhile_has_ticks_of_its_own() -> None:
    figure = _within()
    axes = figure.axes[1]
    axis: Any = axes.xaxis
    with ticks.ticks_once(figure):
        axis._update_ticks()
        axes.set_xlim(0, 3)
        shown = [tick.get_loc() for tick in axis._update_ticks()]
    assert shown and max(shown) <= 3


def _one_formatter() -> Figure:
    """Two axes, of a million and of a hundred million, whose numbers one formatter writes."""
    figure = Figure(figsize=(5, 3), dpi=100, layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0, 2e6])
    axes.set_title("One formatter")
    other = axes.twinx()
    other.plot([0, 3e8])
    formatter = ScalarFormatter()
    for axis in (axes.yaxis, other.yaxis):
        axis.set_major_formatter(formatter)
        formatter.set_axis(axis)
    return figure


def _in_space() -> Figure:
    figure = Figure(figsize=(4, 4), dpi=100, layout="constrained")
    axes: Any = figure.add_subplot(projection="3d")
    axes.set(xlabel="x", title="Both sides")
    axes.xaxis.set_ticks_position("both")
    return figure


@pytest.mark.parametrize("make", [_one_formatter, _in_space])
def test_what_a_view_does_not_say_is_computed_every_time(
    make: Callable[[], Figure], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, light, dark = _painted(make())
    monkeypatch.setattr(scene, "ticks_once", nullcontext)
    _, own_light, own_dark = _painted(make())
    np.testing.assert_array_equal(light, own_light)
    np.testing.assert_array_equal(dark, own_dark)


def test_labels_on_both_sides_of_a_panel_in_space_have_boxes_of_their_own() -> None:
    figure = _in_space()
    Scene(figure).whole(100)
    (axes,) = figure.axes
    with ticks.ticks_once(figure):
        within = axes.xaxis.get_tightbbox(Agg(400, 400, 100))
    box = axes.xaxis.get_tightbbox(Agg(400, 400, 100))
    assert within and box and within.extents.tolist() == box.extents.tolist()


@pytest.mark.exhaustive
def test_a_figure_drawn_again_while_it_is_drawn_gives_a_picture() -> None:
    figure = _within()
    made, found = Scene(figure), list[np.ndarray]()

    def draw_smaller(_: object) -> None:
        figure.canvas.mpl_disconnect(connection)
        found.append(made.whole(70))

    connection = figure.canvas.mpl_connect("draw_event", draw_smaller)
    made.whole(100)
    np.testing.assert_array_equal(found[0], Scene(_within()).whole(70))
    assert not any(set(ticks.METHODS) & vars(axes.xaxis).keys() for axes in figure.axes)


@pytest.mark.exhaustive
def test_another_matplotlib_computes_its_ticks_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Axis] = []
    _, light, _ = _painted(_shared())
    monkeypatch.setattr(ticks, "METHODS", ("_called_otherwise",))
    monkeypatch.setattr(Axis, PRIVATE, _noting(asked))
    _, own_light, _ = _painted(_shared())
    np.testing.assert_array_equal(light, own_light)
    computed = len(asked)
    monkeypatch.setattr(scene, "ticks_once", nullcontext)
    _painted(_shared())
    assert len(asked) == 2 * computed

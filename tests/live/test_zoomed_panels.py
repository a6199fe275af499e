"""What is out of sight of a panel that is shown closer isn't drawn, on no neighbor, and comes back
as it was.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation

from gradlab import labs
from gradlab.live.lettering import Agg
from gradlab.live.scene import Scene

pytestmark = pytest.mark.exhaustive

WHOLE = (0.0, 1.0)
Words = list[tuple[Any, float, float]]


def painted(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Words:
    """The texts in a picture that nothing clips, and the pixels where their middles are."""
    found: Words = []
    draw = Agg.draw_text

    def note(
        self: Agg,
        gc: Any,
        x: float,
        y: float,
        s: str,
        prop: Any,
        angle: float,
        ismath: Any = False,
        mtext: Any = None,
    ) -> None:
        width, height, _ = self.get_text_width_height_descent(s, prop, ismath)
        if s.strip() and gc.get_clip_rectangle() is None:
            found.append((mtext, x + width / 2, self.height - y + height / 2))
        draw(self, gc, x, y, s, prop, angle, ismath, mtext)

    with monkeypatch.context() as patch:
        patch.setattr(Agg, "draw_text", note)
        scene._blanks.clear()
        scene.whole()
    return found


def zoom(scene: Scene, panel: int, x: tuple[float, float], y: tuple[float, float]) -> None:
    scene.rearranged(lambda: scene.zoom(panel, x, y))


def two_panels(**options: Any) -> tuple[Figure, Any]:
    """A figure and its left panel, from 0 to 10 both ways."""
    figure = Figure(figsize=(6, 3), dpi=100, **options)
    for axes in figure.subplots(1, 2):
        axes.set(xlim=(0, 10), ylim=(0, 10))
    return figure, figure.axes[0]


def raised(base: Any, axes: Any) -> Any:
    return base + ScaledTranslation(0, 0.05, axes.figure.dpi_scale_trans)


# What is added to a panel and whether it is drawn when x, or y, is shown from 0 to 5 alone.
PLACES: dict[str, tuple[Callable[[Any, Any], object], bool, bool]] = {
    "data": (lambda axes, on: axes.text(8, 2, "word", **on), False, True),
    "above its place": (
        lambda axes, on: axes.text(8, 2, "word", transform=raised(axes.transData, axes), **on),
        False,
        True,
    ),
    "beside the panel": (lambda axes, on: axes.text(2, -1, "word", **on), True, False),
    "over the panel's width": (
        lambda axes, on: axes.text(8, 7, "word", transform=axes.get_yaxis_transform(), **on),
        True,
        False,
    ),
    "above a place in its height": (
        lambda axes, on: axes.text(
            7, 0.2, "word", transform=raised(axes.get_xaxis_transform(), axes), **on
        ),
        False,
        True,
    ),
    "in the panel": (
        lambda axes, on: axes.text(0.8, 1.1, "word", transform=axes.transAxes, **on),
        True,
        True,
    ),
    "on the page": (
        lambda axes, on: axes.text(8, 7, "word", transform=axes.figure.dpi_scale_trans, **on),
        True,
        True,
    ),
    "beside a point": (
        lambda axes, on: axes.annotate("word", (8, 2), (5, 5), textcoords="offset points", **on),
        False,
        True,
    ),
    "beside a point that moves one way": (
        lambda axes, on: axes.annotate(
            "word",
            (2, 8),
            (0.2, 0.2),
            xycoords=("axes fraction", "data"),
            textcoords="axes fraction",
            **on,
        ),
        True,
        False,
    ),
    "away from a point": (
        lambda axes, on: axes.annotate("word", (2, 2), (8, 2), **on),
        False,
        True,
    ),
    "away from a place in the panel": (
        lambda axes, on: axes.annotate("word", (0.1, 0.1), (0.9, 0.9), "axes fraction", **on),
        True,
        True,
    ),
}


@pytest.mark.parametrize("animated", [False, True])
@pytest.mark.parametrize("place", PLACES)
def test_a_text_is_drawn_while_its_place_in_data_is_in_sight(
    place: str, animated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    add, stays_in_x, stays_in_y = PLACES[place]
    figure, axes = two_panels()
    text: Any = add(axes, {"animated": animated})
    scene = Scene(figure)
    before = scene.whole(), scene.frame(1.0)
    for x, y, stays in (((0.0, 0.5), WHOLE, stays_in_x), (WHOLE, (0.0, 0.5), stays_in_y)):
        zoom(scene, 1, x, y)
        # It is the other panel's neighbor.
        assert text in [one for one, *_ in painted(scene, monkeypatch)]
        scene.rearranged(scene.unzoom)
        zoom(scene, 0, x, y)
        assert (text in [one for one, *_ in painted(scene, monkeypatch)]) == stays
        assert text.get_visible()
        scene.rearranged(scene.unzoom)
        np.testing.assert_array_equal(scene.whole(), before[0])
        assert scene.frame(1.0) == before[1]


def test_titles_ticks_and_edges_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    figure, axes = two_panels()
    axes.set(title="title", xlabel="x", ylabel="y")
    scene = Scene(figure)
    zoom(scene, 0, (0.2, 0.4), (0.2, 0.4))
    said = [text.get_text() for text, *_ in painted(scene, monkeypatch)]
    assert {"title", "x", "y", "2.0", "4.0"} <= set(said)


def orange(scene: Scene) -> np.ndarray:
    """The columns of pixels with that color, of the width."""
    red, green, blue = np.moveaxis(scene.whole()[..., :3].astype(int), -1, 0)
    return np.flatnonzero(((red - blue > 100) & (green > 30)).any(axis=0)) / 600


@pytest.mark.parametrize("animated", [False, True])
def test_what_is_not_clipped_ends_at_the_edges_in_the_directions_that_are_shown_closer(
    animated: bool,
) -> None:
    figure, axes = two_panels()
    on: Any = {"clip_on": False, "color": "C1", "animated": animated}
    figure.axes[1].set_visible(False)
    line, bar = (
        axes.plot([2, 12], [-1, -1], lw=3, **on)[0],
        axes.add_collection(axes.vlines([4], -2, 12, **on)),
    )
    dots = axes.scatter([14], [5], **on)
    axes.set(xlim=(0, 10), ylim=(0, 10))
    scene = Scene(figure)
    start, frame = orange(scene), scene.frame(1.0)
    edge = axes.bbox.x1 / 600
    assert start.max() > edge + 0.1
    clips = [(one.get_clip_box(), one.get_clip_on()) for one in (line, bar, dots)]
    zoom(scene, 0, (0.0, 0.9), WHOLE)
    assert edge - 0.01 < orange(scene).max() <= edge  # below the panel, too
    zoom(scene, 0, (0.5, 1.0), WHOLE)
    assert (scene.frame(1.0) != frame) == animated
    scene.rearranged(scene.unzoom)
    np.testing.assert_array_equal(orange(scene), start)
    assert scene.frame(1.0) == frame
    assert clips == [(one.get_clip_box(), one.get_clip_on()) for one in (line, bar, dots)]


def test_what_is_out_of_sight_takes_no_room() -> None:
    figure, axes = two_panels(layout="constrained")
    axes.text(9, 0.5, "far from the left", transform=axes.get_xaxis_transform())
    scene = Scene(figure)
    zoom(scene, 0, (0.0, 0.1), WHOLE)  # where it was, there is no page
    assert axes.get_position().width > 0.35


def test_a_text_that_moves_comes_into_sight_and_leaves_it_with_the_state() -> None:
    figure, axes = two_panels()
    text = axes.text(8, 2, "word", animated=True)
    scene = Scene(figure)
    zoom(scene, 0, (0.0, 0.5), WHOLE)
    nothing = scene.frame(1.0)
    for x, drawn in ((2, True), (8, False), (2, True), (2, True), (9, False)):
        text.set_x(x)
        assert (len(scene.frame(1.0)) > len(nothing)) == drawn
    assert scene.frame(1.0) == nothing


def test_whatever_fails_all_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    figure, axes = two_panels()
    text = axes.text(8, 2, "word")
    (line,) = axes.plot([2, 12], [2, 2], clip_on=False, animated=True)
    clip = line.get_clip_box()
    scene = Scene(figure)
    zoom(scene, 0, (0.0, 0.5), WHOLE)
    with monkeypatch.context() as patch:
        for artist in (axes.patch, line):
            patch.setattr(artist, "draw", lambda renderer: 1 / 0)
        for picture in (scene.whole, lambda: scene.frame(1.0)):
            with pytest.raises(ZeroDivisionError):
                picture()
    assert text.get_visible()
    assert (line.get_clip_box(), line.get_clip_on()) == (clip, False)


FIRST = ("descent", "word_rates", "staleness", "run_layers", "run_adagrad", "compare")
LABS = [
    pytest.param(name, marks=[pytest.mark.exhaustive] * (name not in FIRST))
    for name in labs.catalog()
]
CLOSER = ((0.65, 1.0), (0.3, 0.6))  # a corner and the middle


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", LABS)
def test_no_lab_leaves_words_of_one_panel_on_another(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = labs.catalog()[name]()
    view, trace = lab.make_view(), lab.compute(lab.params)
    lab.draw(view, trace)
    scene = Scene(view.figure)
    before = scene.whole(), scene.frame(1.0)
    for panel, axes in enumerate(scene.axes):
        others = [
            one
            for one in scene.figure.axes
            if one.get_visible() and not one.bbox.overlaps(axes.bbox)
        ]
        for part in CLOSER:

            def closer(panel: int = panel, part: tuple[float, float] = part) -> None:
                scene.zoom(panel, part, part)
                lab.draw(view, trace)

            scene.rearranged(closer)
            lost = [
                (axes.get_title("left"), part, text.get_text())
                for text, x, y in painted(scene, monkeypatch)
                if text in axes.texts and any(other.bbox.contains(x, y) for other in others)
            ]
            assert lost == []
        scene.rearranged(scene.unzoom)
        lab.draw(view, trace)
    np.testing.assert_array_equal(scene.whole(), before[0])
    assert scene.frame(1.0) == before[1]

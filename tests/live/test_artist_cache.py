"""Moving artists are drawn again exactly when they would differ: each change is made, and the frame
compared.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.transforms import Affine2D

from gradlab.live.drawing.moving import MovingPath, MovingText
from gradlab.live.drawing.style import moving_line
from gradlab.live.scene import Scene

TRIANGLE = np.array([[1.0, 1.0], [4.0, 1.0], [4.0, 4.0]])


def scene() -> Scene:
    """A line, a path and two texts, which move."""
    figure = Figure(figsize=(4, 3), dpi=100)
    axes = figure.add_subplot()
    axes.set(xlim=(0, 10), ylim=(0, 10))
    moving_line(axes, "o-").set_data([1, 9], [1, 8])
    axes.add_patch(MovingPath(Path(TRIANGLE.copy()), fc="none", animated=True))
    axes.add_artist(MovingText(2, 8, "words", animated=True))
    axes.add_artist(MovingText(6, 3, "boxed", bbox={"fc": "white"}, animated=True))
    made = Scene(figure)
    made.frame(1.0)
    return made


def afresh(scene: Scene) -> bytes:
    """The frame with nothing remembered."""
    scene._recorders.clear()
    return scene.frame(1.0)


def parts(scene: Scene) -> tuple[Any, Any, Any, Any, Any]:
    (axes,) = scene.figure.axes
    return axes, axes.lines[0], axes.patches[0], *axes.texts


def drawn(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The artists that are drawn for the next frame."""
    found: list[Any] = []
    for artist in parts(scene)[1:]:
        draw = artist.draw
        monkeypatch.setattr(
            artist, "draw", lambda renderer, a=artist, d=draw: (found.append(a), d(renderer))
        )
    scene.frame(1.0)
    monkeypatch.undo()
    return found


def moved_in_place(path: Path) -> Path:
    vertices: np.ndarray = np.asarray(path.vertices)
    vertices += 1
    return path


CHANGES: dict[str, Callable[[Any, Any, Any, Any, Any], object]] = {
    "data": lambda axes, line, patch, words, boxed: line.set_data([1, 5], [2, 2]),
    "one coordinate": lambda axes, line, patch, words, boxed: line.set_ydata([2, 2]),
    "color": lambda axes, line, patch, words, boxed: line.set_color("red"),
    "width": lambda axes, line, patch, words, boxed: line.set_linewidth(5),
    "marker": lambda axes, line, patch, words, boxed: line.set_marker("s"),
    "path": lambda axes, line, patch, words, boxed: patch.set_path(Path(TRIANGLE + 1)),
    "codes": lambda axes, line, patch, words, boxed: patch.set_path(Path(TRIANGLE, [1, 1, 2])),
    "path in place": lambda axes, line, patch, words, boxed: patch.set_path(
        moved_in_place(patch.get_path())
    ),
    "fill": lambda axes, line, patch, words, boxed: patch.set_facecolor("blue"),
    "words": lambda axes, line, patch, words, boxed: words.set_text("others"),
    "place": lambda axes, line, patch, words, boxed: words.set_position((3, 3)),
    "size": lambda axes, line, patch, words, boxed: words.set_fontsize(20),
    "weight": lambda axes, line, patch, words, boxed: words.set(weight="bold"),
    "box": lambda axes, line, patch, words, boxed: words.set_bbox({"fc": "red"}),
    "no box": lambda axes, line, patch, words, boxed: boxed.set_bbox(None),
    "color of the box": lambda axes, line, patch, words, boxed: (
        boxed.get_bbox_patch().set_facecolor("red")
    ),
    "hidden": lambda axes, line, patch, words, boxed: line.set_visible(False),
    "order": lambda axes, line, patch, words, boxed: line.set_zorder(9),
    "limits": lambda axes, line, patch, words, boxed: axes.set_xlim(0, 20),
    "scale": lambda axes, line, patch, words, boxed: axes.set_xscale("symlog"),
    "place of the panel": lambda axes, line, patch, words, boxed: axes.set_position(
        (0.2, 0.2, 0.5, 0.5)
    ),
    "removed": lambda axes, line, patch, words, boxed: line.remove(),
    "transform": lambda axes, line, patch, words, boxed: words.set_transform(axes.transAxes),
    "clip": lambda axes, line, patch, words, boxed: line.set_clip_on(False),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_shows(change: str) -> None:
    it = scene()
    before = it.frame(1.0)
    CHANGES[change](*parts(it))
    after = it.frame(1.0)
    assert after != before
    assert after == afresh(it)


def test_what_stays_is_not_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    it = scene()
    _, line, _, words, boxed = parts(it)
    assert drawn(it, monkeypatch) == [boxed], "a box may change unseen"
    words.set_text("others")
    assert set(drawn(it, monkeypatch)) == {words, boxed}
    line.set_color("red")  # the pen that the next one finds is another one
    assert line in drawn(it, monkeypatch)
    assert it.frame(1.0) == afresh(it)


@pytest.mark.parametrize("change", ["data", "fill", "words"])
def test_a_picture_by_agg_does_not_hide_a_change(change: str) -> None:
    it = scene()
    CHANGES[change](*parts(it))
    it.png(None)
    after = it.frame(1.0)
    assert after == afresh(it)


def test_each_screen_has_its_own_drawings() -> None:
    it = scene()
    both = it.frame(1.0), it.frame(2.0)
    _, line, *_ = parts(it)
    line.set_data([1, 5], [2, 2])
    twice = it.frame(2.0)
    assert it.frame(1.0) != both[0]
    assert (it.frame(1.0), it.frame(2.0)) == (afresh(it), twice)


def test_a_transform_of_its_own_is_looked_at_every_time() -> None:
    it = scene()
    axes, line, *_ = parts(it)
    turned = Affine2D()
    line.set_transform(turned + axes.transData)
    before = it.frame(1.0)
    turned.rotate_deg(20)
    assert it.frame(1.0) != before


def test_a_panel_within_a_panel_moves() -> None:
    it = scene()
    inner = parts(it)[0].inset_axes((0.5, 0.5, 0.4, 0.4))
    inner.plot([0, 1], [0, 1], animated=True)
    before = it.frame(1.0)
    inner.set_xlim(0, 3)
    after = it.frame(1.0)
    assert after != before
    assert after == afresh(it)


def test_plain_artists_are_drawn_every_time() -> None:
    it = scene()
    (axes,) = it.figure.axes
    (line,) = axes.plot([0, 1], [0, 1], animated=True)
    it.frame(1.0)
    before = it.frame(1.0)
    line.get_xydata()[0, 1] = 5.0  # in place, which an artist of ours would not notice
    assert it.frame(1.0) != before

"""Moving artists count a change where they are set to something else, and only there."""

from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.path import Path

from gradlab.live.drawing.labels import EndLabels
from gradlab.live.drawing.lanes import text
from gradlab.live.drawing.moving import MovingPath
from gradlab.live.drawing.style import moving_line
from gradlab.live.scene import Scene


def panel() -> Any:
    return Figure(figsize=(4, 3)).add_subplot()


def test_they_are_drawn_as_plain_ones_are() -> None:
    frames = []
    for own in (True, False):
        axes = panel()
        axes.set(xlim=(0, 3), ylim=(0, 3))
        make, write = (moving_line, text) if own else (axes.plot, axes.text)
        for style in ("o-", "--", "^"):
            (line,) = (
                [make(axes, style, color="red")]
                if own
                else make([], [], style, color="red", animated=True)
            )
            line.set_data([1, 2], [1, 2])
        looks = {"fontsize": 9, "color": "black", "zorder": 4, "animated": True}
        words = write(axes, **looks) if own else write(0, 0, "", **looks)
        words.set(x=1, y=2, text="words", weight="bold")
        frames.append(Scene(axes.figure).frame(1.0))
    assert frames[0] == frames[1]
    assert len(frames[0]) > 1000


def test_a_line_that_is_given_its_data_again_stays_fresh() -> None:
    line = moving_line(panel(), "o", color="red")
    assert (line.get_marker(), line.get_linestyle(), line.get_animated()) == ("o", "None", True)
    line.set_data([1, 2], [3.0, np.nan])
    line.stale = False
    line.set_data(np.array([1.0, 2.0]), [3.0, np.nan])
    line.set(data=([1, 2], [3.0, np.nan]), visible=True, color="red")
    assert line.stale is False
    line.set_data([1, 2], [3.0, 4.0])
    assert line.stale and line.get_ydata() == [3.0, 4.0]


def test_a_path_that_is_given_again_is_unchanged() -> None:
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, np.nan]])
    patch = MovingPath(Path(corners))
    patch.set_path(Path(corners))
    changes = patch.changes

    patch.set_path(Path(corners))
    assert patch.changes == changes

    patch.set_path(Path(corners + 1))
    assert patch.changes > changes


def test_drawing_is_not_a_change() -> None:
    line = moving_line(panel(), "o")
    line.set_data([1, 2], [3, 4])
    changes = line.changes
    line.draw(RendererAgg(100, 100, 72))
    assert line.changes == changes and not line.stale


def test_one_coordinate_alone_is_not_mistaken_for_both() -> None:
    line = moving_line(panel())
    line.set_data([1, 2], [3, 4])
    line.set_ydata([5, 6])
    line.set_data([1, 2], [3, 4])
    assert line.get_ydata() == [3, 4]
    line.set_xdata([0, 0])
    line.set_data([1, 2], [3, 4])
    assert line.get_xdata() == [1, 2]


@pytest.mark.parametrize(
    "look",
    [
        {"x": 2},
        {"y": 3},
        {"text": "b"},
        {"color": "red"},
        {"weight": "bold"},
        {"ha": "right"},
        {"visible": False},
    ],
)
def test_a_text_is_stale_once_a_look_differs(look: dict[str, object]) -> None:
    words = text(panel(), x=1, y=1, s="a", color="black")
    words.stale = False
    words.set(x=1, y=1, text="a", color="black", weight="normal", ha="left", visible=True)
    words.set_position((1, 1))
    words.set_visible(True)
    assert words.stale is False
    words.set(**look)
    assert words.stale
    words.stale = False
    words.set(**look)
    assert words.stale is False


def test_names_at_ends_move_with_their_curves() -> None:
    axes = panel()
    names = EndLabels(axes, 2)
    scene = Scene(axes.figure)
    frames = []
    for ends in ([0.2, 0.8], [0.2, 0.8], [0.4, 0.8]):
        names.draw(1.0, ends, ["a", "b"])
        frames.append(scene.frame(1.0))
    assert frames[0] == frames[1] != frames[2]

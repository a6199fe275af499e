"""A text that was painted once looks as if it were painted for the first time."""

import struct
from typing import Any

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text

from gradlab.live.display_list import TEXT, decode
from gradlab.live.lettering import Agg
from gradlab.live.scene import Scene

FORMS: dict[str, list[Any]] = {
    "text": ["staleness 4", "two\nlines", "$10^{-3}$", ""],
    "fontsize": [8.0, 13.5],
    "fontweight": ["normal", "bold"],
    "rotation": [0, 30, 90],
    "rotation_mode": ["default", "anchor"],
    "ha": ["left", "center", "right"],
    "va": ["top", "baseline", "bottom", "center"],
    "multialignment": ["left", "right"],
    "linespacing": [1.0, 2.0],
    "parse_math": [True, False],
    # There is no way back: matplotlib 3.11 itself paints a turned text otherwise that was wrapped
    # once.
    "wrap": [True],
    "transform_rotates_text": [True, False],
    "x": [20.0, 333.3],
    "y": [50.0, 120.4],
    "color": ["k", "r"],
}
SHAPED = hasattr(Text, "set_fontfeatures")  # by matplotlib, from 3.11 on
if SHAPED:
    FORMS |= {"fontfeatures": [None, ("-kern",)], "language": [None, "sr"]}
CHANGES = st.lists(
    st.sampled_from(sorted(FORMS)).flatmap(
        lambda name: st.tuples(st.just(name), st.sampled_from(FORMS[name]))
    ),
    min_size=1,
    max_size=8,
)


def scene_with_text(**form: Any) -> tuple[Scene, Text]:
    figure = Figure(figsize=(4, 2), dpi=100)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 400), ylim=(0, 200))
    axes.set_axis_off()  # its ticks are off the page, and each scene would lay them out
    text = axes.text(20, 50, "staleness 4", animated=True)
    text.set(**form)
    return Scene(figure), text


@pytest.mark.exhaustive
@given(CHANGES)
def test_whatever_changes_it_looks_as_if_it_were_new(changes: list[tuple[str, Any]]) -> None:
    scene, text = scene_with_text()
    form: dict[str, Any] = {}
    scene.frame(1.0)
    for name, value in changes:
        text.set(**{name: value})
        form[name] = value
        assert scene.frame(1.0) == scene_with_text(**form)[0].frame(1.0)


@pytest.mark.skipif(not SHAPED, reason="matplotlib shapes texts from 3.11 on")
@pytest.mark.parametrize("rotation", [0, 30])
@pytest.mark.parametrize(
    "shaping",
    [{}, {"fontfeatures": ["-kern"]}, {"fontfeatures": ["-liga"]}, {"language": "sr"}],
    ids=str,
)
def test_a_text_is_shaped_as_agg_shapes_it(shaping: dict[str, Any], rotation: int) -> None:
    words = "AVAVAVAVAV fi \N{CYRILLIC SMALL LETTER BE}"  # 20 pixels longer without kerning
    scene, text = scene_with_text(text=words, rotation=rotation, fontsize=15)
    plain = scene.frame(1.0)  # the same words in another shape are remembered by now
    text.set(**shaping)
    (words_painted,) = (body for code, body in decode(scene.frame(1.0)) if code == TEXT)
    _, left, top, width, height = struct.unpack_from("<IiiII", words_painted)
    mask = np.frombuffer(words_painted, np.uint8, width * height, 20).reshape(height, width)
    seen = np.zeros((200, 400))
    seen[top : top + height, left : left + width] = mask
    agg = RendererAgg(400, 200, 100)
    text.draw(agg)
    rounded = 4 if rotation else 0  # of 255: a mask starts at a 64th of a pixel
    np.testing.assert_allclose(seen, np.asarray(agg.buffer_rgba())[..., 3], rtol=0, atol=rounded)
    assert (scene.frame(1.0) == plain) == (not shaping)


def test_a_text_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    renderer = Agg(1, 1, 100.0)
    size = renderer.get_text_width_height_descent("10 steps", FontProperties(size=9), False)
    monkeypatch.delattr(RendererAgg, "get_text_width_height_descent")
    assert renderer.get_text_width_height_descent("10 steps", FontProperties(size=9), False) == size


def test_settings_that_change_change_the_next_picture_and_no_other() -> None:
    def pictures(scene: Scene) -> tuple[np.ndarray, bytes]:
        return scene.whole(), scene.frame(1.0)

    def scene_with_title() -> Scene:
        made, _ = scene_with_text()
        made.figure.text(0.5, 0.8, "which stays")
        return made

    def same(one: tuple[np.ndarray, bytes], other: tuple[np.ndarray, bytes]) -> None:
        np.testing.assert_array_equal(one[0], other[0])
        assert one[1] == other[1]

    old = scene_with_title()
    before, old_title = pictures(old), old.blank(100)
    with matplotlib.rc_context({"text.hinting": "none", "font.sans-serif": ["DejaVu Serif"]}):
        changed = pictures(old)
        assert not (changed[0] == before[0]).all() and changed[1] != before[1]
        assert not (old.blank(100) == old_title).all()
        same(pictures(scene_with_title()), changed)
    same(pictures(scene_with_title()), before)
    same(pictures(old), before)

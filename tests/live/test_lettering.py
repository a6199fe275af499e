"""A text is laid out once for each form it takes, wherever it stands, and looks as if that were not so."""

import struct
import sys
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

from gradlab.live import lettering
from gradlab.live.display_list import TEXT, decode
from gradlab.live.lettering import Agg, Recent
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
    "wrap": [True],  # there is no way back: matplotlib 3.11 itself paints a turned text otherwise that was wrapped once
    "transform_rotates_text": [True, False],
    "x": [20.0, 333.3],
    "y": [50.0, 120.4],
    "color": ["k", "r"],
}
SHAPED = hasattr(Text, "set_fontfeatures")  # by matplotlib, from 3.11 on
if SHAPED:
    FORMS |= {"fontfeatures": [None, ("-kern",)], "language": [None, "sr"]}
CHANGES = st.lists(
    st.sampled_from(sorted(FORMS)).flatmap(lambda name: st.tuples(st.just(name), st.sampled_from(FORMS[name]))),
    min_size=1, max_size=8,
)  # fmt: skip


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


@pytest.fixture
def layouts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that matplotlib has laid out since."""
    found, lay_out = [], Text._get_layout

    def counted(text: Text, renderer: Any) -> Any:
        found.append(text.get_text())
        return lay_out(text, renderer)

    monkeypatch.setattr(Text, "_get_layout", counted)
    return found


def test_what_only_moves_is_not_laid_out_again(layouts: list[str]) -> None:
    scene, text = scene_with_text()
    frames = {scene.frame(1.0)}
    layouts.clear()
    for x in (30, 40, 50):
        text.set_x(x)
        frames.add(scene.frame(1.0))
    assert layouts == [] and len(frames) == 4


def test_another_resolution_has_layouts_of_its_own(layouts: list[str]) -> None:
    scene, text = scene_with_text()
    scene.frame(1.0)
    layouts.clear()
    scene.frame(2.0)
    assert layouts == [text.get_text()]
    layouts.clear()
    scene.frame(1.0)
    assert layouts == []


@pytest.mark.parametrize("hidden", ["_get_layout", "_multialignment", "_linespacing", "get_fontfeatures"])
def test_without_that_part_of_matplotlib_a_text_is_drawn_all_the_same(hidden: str) -> None:
    class Renamed(Text):
        """As in another matplotlib."""

        def __getattribute__(self, name: str) -> Any:
            if name == hidden and sys._getframe(1).f_globals["__name__"].startswith("gradlab"):
                raise AttributeError(name)
            return super().__getattribute__(name)

    scene, text = scene_with_text()
    text.__class__ = Renamed
    form: dict[str, Any] = {"text": "two\nlines of text"}
    for change in ({}, {"multialignment": "right"}, {"linespacing": 2.0}):
        form |= change
        text.set(**form)
        assert scene.frame(1.0) == scene_with_text(**form)[0].frame(1.0)


@pytest.mark.skipif(not SHAPED, reason="matplotlib shapes texts from 3.11 on")
@pytest.mark.parametrize("rotation", [0, 30])
@pytest.mark.parametrize(
    "shaping", [{}, {"fontfeatures": ["-kern"]}, {"fontfeatures": ["-liga"]}, {"language": "sr"}], ids=str
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


def test_a_figure_is_left_as_it_was() -> None:
    scene, text = scene_with_text()
    before = set(vars(text))
    scene.frame(1.0)
    assert set(vars(text)) <= before | {"_renderer"}


LINES = ["97.7% are clipped", "AVA fi", "", " ", "$10^{-3}$", r"$\frac{a}{b}$"]  # a fraction is more than its glyphs
# Agg puts glyphs on a 64th of a pixel, and rounds halves to even.
PLACES = st.builds(lambda *parts: sum(parts), st.integers(40, 43), st.sampled_from([0, 1 / 128, 3 / 128, 0.33]))

BESIDE = [0.0, 0.4 / 64, -0.4 / 64]


@given(
    st.sampled_from(LINES), PLACES, PLACES, st.sampled_from([0, 30, 90]), st.sampled_from(["default", "none"]),
    st.sampled_from(["normal", "bold"]), st.booleans(), st.sampled_from(BESIDE),
)  # fmt: skip
def test_a_line_from_memory_is_what_agg_itself_paints(
    line: str, x: float, y: float, angle: float, hinting: str, weight: str, smooth: bool, beside: float
) -> None:
    def painted(renderer: Any, x: float = x) -> np.ndarray:
        pen = renderer.new_gc()
        pen.set_foreground((0.2, 0.4, 0.6))
        pen.set_antialiased(smooth)
        renderer.draw_text(pen, x, y, line, FontProperties(size=9.5, weight=weight), angle, "$" in line)
        return np.array(renderer.buffer_rgba())

    with matplotlib.rc_context({"text.hinting": hinting}):
        by_agg = painted(RendererAgg(200, 100, 120))
        painted(Agg(200, 100, 120), x + beside)
        for _ in range(2):
            np.testing.assert_array_equal(painted(Agg(200, 100, 120)), by_agg)


@pytest.mark.parametrize("line", ["10 steps", "$10^{-3}$", "$x_i^2+y$"])
def test_a_line_is_the_same_whichever_place_in_a_part_of_a_pixel_was_painted_first(line: str) -> None:
    def painted(kind: Any, x: float, size: float) -> np.ndarray:
        renderer = kind(200, 60, 111)
        renderer.draw_text(renderer.new_gc(), x, 30, line, FontProperties(size=size), 0, "$" in line)
        return np.array(renderer.buffer_rgba())

    for size in (8.0, 9.5, 11.0, 13.0):
        for x in (40 - 0.4 / 64, 40 + 0.4 / 64):
            np.testing.assert_array_equal(painted(Agg, x, size), painted(RendererAgg, x, size))


def test_a_size_measured_under_other_settings_is_not_remembered() -> None:
    def width(renderer: Agg) -> float:
        return renderer.get_text_width_height_descent("measured once", FontProperties(), False)[0]

    renderer = Agg(1, 1, 79.0)
    with matplotlib.rc_context({"font.sans-serif": ["DejaVu Serif"]}):
        other = width(renderer)
    assert width(renderer) == width(Agg(1, 1, 79.0)) != other


@pytest.mark.skipif(not SHAPED, reason="matplotlib has an image of each glyph from 3.11 on")
def test_a_line_is_laid_out_once_for_all_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    def paint() -> np.ndarray:
        renderer: Any = Agg(200, 100, 77.0)
        renderer.draw_text(renderer.new_gc(), 10.25, 20, "once", FontProperties(size=9), 0)
        return np.array(renderer.buffer_rgba())

    first = paint()
    monkeypatch.delattr(RendererAgg, "_prepare_font")
    assert first.any() and (paint() == first).all()


def test_settings_that_change_change_the_next_picture_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
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
        monkeypatch.setattr(lettering, "_memories", Recent(1))
        same(pictures(scene_with_title()), changed)
    same(pictures(scene_with_title()), before)
    same(pictures(old), before)


def test_another_matplotlib_paints_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that has no image of each glyph."""
    asked = []

    def draw_text(renderer: Any, gc: Any, x: float, y: float, s: str, *_: Any) -> None:
        asked.append(s)
        renderer._renderer.draw_text_as_a_whole(s)

    monkeypatch.setattr(RendererAgg, "draw_text", draw_text)
    renderer: Any = Agg(20, 10, 78.0)
    for _ in range(2):
        with pytest.raises(AttributeError, match="draw_text_as_a_whole"):  # by the real one, which has no such thing
            renderer.draw_text(renderer.new_gc(), 1, 2, "words", FontProperties(), 0)
    assert asked == ["words"] * 3

"""A text is laid out once for each form it takes, wherever it stands, and looks as if that were not so."""

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.text import Text

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
    "wrap": [True, False],
    "transform_rotates_text": [True, False],
    "x": [20.0, 333.3],
    "y": [50.0, 120.4],
    "color": ["k", "r"],
}
CHANGES = st.lists(
    st.sampled_from(sorted(FORMS)).flatmap(lambda name: st.tuples(st.just(name), st.sampled_from(FORMS[name]))),
    min_size=1, max_size=8,
)  # fmt: skip


def scene_with_text(**form: Any) -> tuple[Scene, Text]:
    figure = Figure(figsize=(4, 2), dpi=100)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 400), ylim=(0, 200))
    text = axes.text(20, 50, "staleness 4", animated=True)
    text.set(**form)
    return Scene(figure), text


@given(CHANGES)
def test_whatever_changes_it_looks_as_if_it_were_new(changes: list[tuple[str, Any]]) -> None:
    scene, text = scene_with_text()
    form: dict[str, Any] = {}
    for name, value in changes:
        scene.frame(1.0)
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


def test_without_that_private_part_of_matplotlib_a_text_is_drawn_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    class Renamed(Text):
        """As in a matplotlib to come."""

        def __getattribute__(self, name: str) -> Any:
            if name == "_get_layout" and sys._getframe(1).f_code.co_name == "draw_text":
                raise AttributeError(name)
            return super().__getattribute__(name)

    scene, text = scene_with_text()
    expected = scene.frame(1.0)
    text.__class__ = Renamed
    assert scene.frame(1.0) == expected


def test_a_figure_is_left_as_it_was() -> None:
    scene, text = scene_with_text()
    before = set(vars(text))
    scene.frame(1.0)
    assert set(vars(text)) <= before | {"_renderer"}

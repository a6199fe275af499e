"""Captions: what is said around a saved picture, that it fits, and that the picture between is
untouched.
"""

import io
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image, ImageSequence

from gradlab.live import Button, Menu, Range, Slider, Toggle
from gradlab.live.caption import (
    BETWEEN,
    DONE,
    RAIL,
    STATE,
    TITLE,
    Around,
    Caption,
    _ruler,
    broken,
    settings,
)
from gradlab.live.film import save_film
from gradlab.live.theme import Palette
from tests.live.examples import clipped

COLORS = [tuple(int(color[k : k + 2], 16) for k in (1, 3, 5)) for color in (DONE, RAIL)]


def test_settings_are_said_as_a_reader_sees_them() -> None:
    controls = [
        Slider("limit", "Limit", 0.01, 1000.0, 1.0, scale="log", unit="V"),
        Range("of", "Steps", 0, 9, (2, 5)),
        Menu("rule", "Rule", (("sgd", "plain SGD"), ("ada", "Adagrad")), "sgd"),
        Toggle("on", "Clip", True),
        Button("go", "Train", lambda: None),
    ]
    values = {"limit": 999.6, "of": (2, 5), "rule": "ada", "on": False}
    said = settings({control.name: control for control in controls}, values)
    assert said.split(BETWEEN) == ["Limit: 999.6 V", "Steps: 2 to 5", "Rule: Adagrad", "Clip: off"]


def test_lines_fit_and_nothing_is_lost() -> None:
    text = f"one{BETWEEN}two words{BETWEEN}{'long' * 30}{BETWEEN}$x$"
    lines = list(broken(text, STATE, 1.5))
    assert BETWEEN.join(lines) == text
    assert all(_ruler(STATE)(line) <= 1.5 for line in lines if BETWEEN in line)
    assert list(broken("", TITLE, 1.0)) == []


def test_a_picture_stands_between_its_strips_as_it_was() -> None:
    live = clipped()
    for dark in (False, True):
        plain, framed = (
            np.asarray(Image.open(io.BytesIO(live.png(120, dark, source))).convert("RGB"))
            for source in ("", "a $x$ of mine")
        )
        assert framed.shape[1] == plain.shape[1]
        above = next(k for k in range(len(framed)) if (framed[k : k + len(plain)] == plain).all())
        strips = framed[:above], framed[above + len(plain) :]
        assert all((strip[0, 0] == plain[0, 0]).all() and strip.std() > 10 for strip in strips)


def test_a_drawing_keeps_its_axes_where_they_were() -> None:
    figure = Figure((4, 3))
    axes = figure.add_subplot()
    place = axes.get_position().bounds
    around = Around.of([Caption("Seen.", "Limit: 1", "gradlab")], 4.0)
    around.save_drawing(figure, text := io.StringIO(), format="svg")
    height = 72 * (3 + around.top + around.below.height)
    assert f'viewBox="0 0 288 {height:g}' in text.getvalue()
    assert axes.get_position().bounds == place


def test_a_film_says_how_far_it_has_come(tmp_path: Path) -> None:
    save_film(clipped(axis="limit"), tmp_path / "x.gif", frames=5, source="gradlab")
    with Image.open(tmp_path / "x.gif") as film:
        pictures = [
            np.asarray(one.convert("RGB")).astype(int) for one in ImageSequence.Iterator(film)
        ]
    done, rail = (
        (np.abs(np.array(pictures) - color).max(axis=-1) <= 3).sum(axis=2).max(axis=1)
        for color in COLORS
    )
    width = pictures[0].shape[1]
    assert done.tolist() == [round(width * k / 4) for k in range(5)]
    assert (done[1:4] + rail[1:4] == width).all()
    assert len({picture.shape for picture in pictures}) == 1


def test_the_bar_is_dark_in_a_dark_film() -> None:
    around = Around.of(
        [Caption(title, "", "gradlab") for title in ("One.", "Two, of more words than fit.")], 1.0
    )
    picture = np.full((5, 100, 4), 17, np.uint8)
    light, dark = (around.stacked(picture, 100.0, palette, 1) for palette in (None, Palette()))
    assert light.shape == dark.shape
    assert light[0, 0, 0] == 255
    assert dark[0, 0, 0] == 17

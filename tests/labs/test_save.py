"""Files of every kind from every lab: what is in them, how large they are, and what is refused."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

import gradlab as gl
from gradlab.labs._save import _source
from gradlab.live import Description, Menu, Slider
from gradlab.live.film import FRAMES, save_film

FILMED = "staleness_models"  # in the default run; films of all other labs take minutes
ENCODED = (FILMED, "clipping")  # as .mp4 too: the second gives the largest of all


class View:
    """A line that ends where it is told."""

    def __init__(self) -> None:
        self.figure = Figure(figsize=(2, 1))
        (self.line,) = self.figure.add_subplot(title="A short line").plot(
            [0, 1], [0, 1], animated=True
        )

    def draw(self, trace: dict[str, Any]) -> None:
        self.line.set_ydata([0, trace["end"]])


class plain(gl.labs.Lab):
    """Has a slider and a menu, and no axis."""

    label = "A plain lab"

    def make_controls(self) -> list[Any]:
        return [Slider("end", "End", 0.0, 1.0, 0.5), Menu("kind", "Kind", ("a", "b"), "a")]

    def compute(self, values: dict[str, Any]) -> dict[str, Any]:
        return values

    def make_view(self) -> View:
        return View()

    def describe(self, trace: dict[str, Any]) -> Description:
        return Description(
            f"The end is {trace['end']:g}.", f"end {trace['end']:g}, kind {trace['kind']}"
        )


@pytest.mark.parametrize(
    ("name", "theme", "message"),
    [
        (
            "x.bmp",
            "light",
            r"cannot save 'x.bmp': allowed are .png, .svg, .pdf, .csv, .html, .gif and .mp4",
        ),
        ("x", "light", r"cannot save 'x': allowed are "),
        ("x.png", "blue", r"theme must be one of light, dark, got 'blue'"),
        ("x.svg", "dark", r"the dark theme is for .png, .gif and .mp4, not for .svg"),
        ("x.html", "dark", r"the dark theme is for .png, .gif and .mp4, not for .html"),
        (
            "x.gif",
            "light",
            r"A plain lab has no axis to film along: allowed are .png, .svg, .pdf, .csv and .html",
        ),
        (
            "x.MP4",
            "light",
            r"A plain lab has no axis to film along: allowed are .png, .svg, .pdf, .csv and .html",
        ),
    ],
)
def test_what_cannot_be_saved_is_said(name: str, theme: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        plain().save(tmp_path / name, theme=theme)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("ending", [".png", ".svg", ".pdf", ".html", ".csv", ".gif", ".mp4"])
def test_other_params_are_saved_and_the_lab_stays(ending: str, tmp_path: Path) -> None:
    lab = gl.labs.clip_libraries()
    lab.save(tmp_path / f"a{ending}", case="inf")
    assert lab.params == {"case": "overflow"}
    lab.set(case="inf")
    lab.save(tmp_path / f"b{ending}")
    assert (tmp_path / f"a{ending}").read_bytes() == (tmp_path / f"b{ending}").read_bytes()
    with pytest.raises(ValueError, match="has no control 'speed'"):
        lab.save(tmp_path / f"c{ending}", speed=1)


@pytest.mark.parametrize("there", ["the last good one", None])
@pytest.mark.parametrize("ending", [".png", ".csv", ".svg", ".pdf", ".html", ".gif"])
def test_a_save_that_fails_leaves_what_was_there(
    ending: str, there: str | None, tmp_path: Path
) -> None:
    class torn(plain):
        axis = "end"

        def compute(self, values: dict[str, Any]) -> dict[str, Any]:
            raise MemoryError

    path = tmp_path / f"x{ending}"
    if there is not None:
        path.write_text(there)
    with pytest.raises(MemoryError):
        torn().save(path)
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == (
        {path.name: there} if there else {}
    )


def test_a_lab_that_is_shown_can_be_saved_and_stays_where_it_is(tmp_path: Path) -> None:
    lab = plain(end=0.25)
    shown = lab.live.frame()
    lab.save(tmp_path / "x.html", end=0.75)
    lab.save(tmp_path / "x.png", end=0.75)
    assert (lab.params["end"], lab.live.frame()) == (0.25, shown)


def test_a_picture_may_be_dark(tmp_path: Path) -> None:
    for theme, corner in (("light", (255, 255, 255)), ("dark", (17, 17, 17))):
        plain().save(tmp_path / f"{theme}.png", theme=theme)
        with Image.open(tmp_path / f"{theme}.png") as image:
            assert image.width == 300
            assert image.height > 150
            assert image.convert("RGB").getpixel((0, 0)) == corner


def test_text_in_an_svg_is_text_and_says_what_is_seen_at_which_settings_and_where_it_is_from(
    tmp_path: Path,
) -> None:
    lab = plain(end=0.25)
    lab.save(tmp_path / "x.svg")
    svg = (tmp_path / "x.svg").read_text("utf-8")
    said = " ".join(" ".join(re.findall(r"<text[^>]*>(.*?)</text>", svg)).split())
    for words in (
        "A short line",
        "end 0.25, kind a",
        "End: 0.25 · Kind: a",
        f"gradlab {gl.__version__} · plain(end=0.25)",
    ):
        assert all(word in said for word in words.split())
    assert f"<title>{lab.description.summary}</title>" in svg
    lab.save(tmp_path / "x.pdf")
    assert f"/Title ({lab.description.summary})".encode() in (tmp_path / "x.pdf").read_bytes()


@pytest.mark.exhaustive
def test_a_page_tells_how_to_get_the_lab(tmp_path: Path) -> None:
    gl.labs.clip_libraries(case="inf").save(tmp_path / "x.html")
    html = unescape((tmp_path / "x.html").read_text("utf-8"))
    assert "as saved: <code>import gradlab as gl; gl.labs.clip_libraries(case='inf')</code>" in html
    plain(end=0.25).save(tmp_path / "y.html")
    assert "<code>plain(end=0.25)</code>" in unescape((tmp_path / "y.html").read_text("utf-8"))


def test_a_page_without_an_axis_has_its_menu_and_says_what_it_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert re.fullmatch(r"10 states, \d+ bytes each, \d+ kB", plain().save(tmp_path / "x.html"))
    assert re.fullmatch(r"\d+ kB", plain().save(tmp_path / "x.png"))
    assert capsys.readouterr().out == "", "only the command prints"
    html = (tmp_path / "x.html").read_text("utf-8")
    (layout,) = json.loads(
        re.search(r'type="application/json">(.*?)</script>', html, re.DOTALL)[1]
    )["layouts"]
    assert [c["name"] for c in layout["setup"]["controls"] if not c.get("fixed")] == ["end", "kind"]


def test_the_line_below_a_film_says_that_its_axis_moves() -> None:
    lab = gl.labs.clipping(limit=0.5, run="0.3")
    assert _source(lab, lab.axis).endswith("gl.labs.clipping(limit=..., run='0.3')")
    assert _source(lab).endswith(lab.code())


@pytest.mark.exhaustive
def test_no_picture_of_a_film_says_where_its_axis_stood_before(tmp_path: Path) -> None:
    pictures = []
    for delay in (0, 16):
        gl.labs.catalog()[FILMED](delay=delay).save(tmp_path / "x.gif")
        with Image.open(tmp_path / "x.gif") as film:
            pictures.append(np.asarray(film.convert("RGB")))
    assert np.array_equal(*pictures)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.exhaustive] * (name != FILMED))
        for name in gl.labs.catalog()
    ],
)
def test_a_film_of_every_lab_is_small(name: str, tmp_path: Path) -> None:
    """Every fifth picture is a fifth of its bytes, or more: neighbors that are alike take fewer."""
    lab = gl.labs.catalog()[name]()
    save_film(lab.live, tmp_path / "x.gif", frames=FRAMES // 5)
    assert (tmp_path / "x.gif").stat().st_size <= 4_000_000 // 5
    if name in ENCODED:
        lab.save(tmp_path / "x.mp4", theme="dark")
        assert (tmp_path / "x.mp4").stat().st_size <= 500_000
    with Image.open(tmp_path / "x.gif") as film:
        assert lab.description.alt in film.info["comment"].decode()
        corner = np.asarray(film.convert("RGB"))[0, 0]
    assert corner.tolist() == [255, 255, 255]

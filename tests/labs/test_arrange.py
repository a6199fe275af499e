"""Every figure fits a wide and a narrow page: nothing cut off, no text on another, and back again
pixel by pixel.

And it can be read, in light and in dark: each figure is made once for all of these tests.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Affine2D, Bbox

from gradlab.live.lettering import Agg
from gradlab.live.scene import moving
from tests.labs.contrast import PAPERS, THEMES, too_faint
from tests.labs.language import broken
from tests.labs.views import STATES, Shown

pytestmark = pytest.mark.exhaustive


class Texts(Agg):
    """Keeps the box and the size of every text that is painted, and counts the rest."""

    def __init__(self, width: int, height: int, dpi: float) -> None:
        super().__init__(width, height, dpi)
        self.boxes: dict[tuple[str, float, float], Bbox] = {}
        self.sizes: dict[str, set[float]] = {}
        self.painted = 0
        for name in ("draw_path", "draw_markers", "draw_image", "draw_path_collection"):
            setattr(self, name, self._counted(getattr(self, name)))

    def _counted(self, draw: Callable[..., object]) -> Callable[..., None]:
        def counted(*args: object, **kwargs: object) -> None:
            self.painted += 1
            draw(*args, **kwargs)

        return counted

    def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None):  # type: ignore[no-untyped-def]
        if not s.strip():  # keeps room for a title that moves
            return
        self.painted += 1
        width, height, descent = self.get_text_width_height_descent(s, prop, ismath)
        box = Bbox([[0, -descent], [width, height - descent]])
        self.boxes[s, x, y] = box.transformed(
            Affine2D().rotate_deg(angle).translate(x, self.height - y)
        )
        self.sizes.setdefault(s, set()).add(prop.get_size_in_points())


def texts(shown: Shown) -> tuple[Texts, list[str]]:
    """What is painted, and the moving artists of which nothing is, though they have something to
    show.
    """
    size = shown.scene._at(shown.scene.dpi)
    renderer, silent = Texts(*size), []
    shown.view.figure.draw(renderer)
    for artist in moving(shown.view.figure):
        before = renderer.painted
        artist.draw(renderer)
        if renderer.painted == before and has_something(artist):
            silent.append(str(artist))
    return renderer, silent


def has_something(artist: Any) -> bool:
    if isinstance(artist, Text):
        return artist.get_visible() and bool(artist.get_text().strip())
    if (
        isinstance(artist, Line2D)
        and artist.get_linestyle() == "None"
        and artist.get_marker() in ("None", None)
    ):
        return False
    points = artist.get_path().vertices if hasattr(artist, "get_path") else np.zeros((1, 2))
    return artist.get_visible() and bool(np.isfinite(points).all(axis=1).any())


@dataclass(frozen=True)
class Page:
    """What lies where on a page: texts, and panels."""

    size: tuple[int, int]
    texts: Texts
    panels: list[Bbox]
    faint: dict[str, list[str]]  # by theme, what is hard to see
    broken: list[str]  # what is not as the visual language has it
    silent: list[str]  # what should be seen and is not painted


# Of every second lab one state, and those with the longest texts; the others are exhaustive.
TELLING = {"libraries, errors", "five adagrads, refused", "race, long names", "engines, refused"}
OFTEN = {*TELLING, *[state for state in STATES if "," not in state][::2]}
FIGURES = [
    pytest.param(state, marks=[pytest.mark.exhaustive] * (state not in OFTEN)) for state in STATES
]


@pytest.fixture(scope="module", params=FIGURES)
def pages(request: pytest.FixtureRequest) -> dict[bool, Page]:
    """A figure on a narrow page (True) and on a wide one, made once for all tests."""
    shown, found = Shown(request.param), {}
    papers = PAPERS.get(request.param.split(",")[0], ["white"])
    for narrow in (False, True):
        if narrow:  # a figure is made for a wide page
            shown.arrange(narrow)
        panels = [axes.get_window_extent().frozen() for axes in shown.scene.axes]
        faint = too_faint(shown.view, papers)
        wrong = broken(shown.view, shown.scene.axes)
        written, silent = texts(shown)
        found[narrow] = Page(shown.scene.size, written, panels, faint, wrong, silent)
    return found


either = pytest.mark.parametrize("narrow", [False, True], ids=["wide", "narrow"])


@either
def test_texts_are_on_the_page_and_apart(pages: dict[bool, Page], narrow: bool) -> None:
    width, height = pages[narrow].size
    assert width == (360 if narrow else 728)
    boxes = pages[narrow].texts.boxes
    for (text, *_), box in boxes.items():
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height, text
    (x0, y0), (x1, y1) = (
        np.array([getattr(box, edge) for box in boxes.values()]).T for edge in ("min", "max")
    )
    together = (
        (x0[:, None] + 1 <= x1)
        & (x1[:, None] - 1 >= x0)
        & (y0[:, None] + 1 <= y1)
        & (y1[:, None] - 1 >= y0)
    )
    words = [text for text, *_ in boxes]
    assert not [(words[a], words[b]) for a, b in np.argwhere(np.triu(together, 1))]


@either
def test_what_moves_is_painted(pages: dict[bool, Page], narrow: bool) -> None:
    assert not pages[narrow].silent


@either
def test_panels_are_on_the_page_apart_and_large_enough(
    pages: dict[bool, Page], narrow: bool
) -> None:
    (width, height), boxes = pages[narrow].size, pages[narrow].panels
    for box in boxes:
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height
        assert box.width > (165 if narrow else 120)
        assert box.height > 50
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)
    if narrow:
        assert len({round(box.x0) for box in boxes}) <= 1  # one column


def test_texts_are_as_large_on_a_narrow_page(
    pages: dict[bool, Page], request: pytest.FixtureRequest
) -> None:
    wide, narrow = pages[False].texts.sizes, pages[True].texts.sizes
    shared = set(wide) & set(narrow)
    assert len(shared) >= 5 or "gate" in request.node.callspec.params["pages"]
    assert {text: wide[text] for text in shared} == {text: narrow[text] for text in shared}


@either
@pytest.mark.parametrize("theme", THEMES)
def test_texts_are_readable_and_marks_stand_out(
    pages: dict[bool, Page], narrow: bool, theme: str
) -> None:
    assert not pages[narrow].faint[theme]


@either
def test_figures_speak_the_visual_language(pages: dict[bool, Page], narrow: bool) -> None:
    assert not pages[narrow].broken
    assert pages[narrow].size[1] <= 540 or narrow


@pytest.mark.parametrize("state", ["clipping", "arrows", "libraries", "gate"])
def test_there_and_back_gives_the_same_pixels(state: str) -> None:
    shown = Shown(state)
    pictures = []
    for narrow in (False, True, False, True):
        shown.arrange(narrow)
        pictures.append((shown.scene.png(None), shown.scene.frame(2.0)))
    assert pictures[:2] == pictures[2:]
    assert pictures[0] != pictures[1]


@pytest.mark.exhaustive
def test_nothing_is_painted_beyond_the_edge() -> None:
    for state in ("clipping", "arrows"):
        shown = Shown(state)
        for narrow in (False, True):
            shown.arrange(narrow)
            pixels = shown.scene.over(shown.scene.blank(100.0))
            edges = (pixels[0], pixels[-1], pixels[:, 0])
            assert all(
                np.array_equal(edge[..., :3], np.full_like(edge[..., :3], 255)) for edge in edges
            )

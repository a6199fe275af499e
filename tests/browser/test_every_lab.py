"""Every lab in one page: axe-core finds nothing, nothing sticks out, and pictures follow JupyterLab's theme.

Light and dark, wide and as narrow as a phone. axe-core reads the whole page for each question, so it is asked once of
all labs; what it finds says where.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest

import gradlab as gl

from .axe import violations
from .conftest import NOTEBOOKS
from .lab import until
from .pages import PHONE, WIDE, Notebook

pytestmark = pytest.mark.browser

LABS = gl.labs.catalogue()

# What sticks out of a lab at its right end.
BEYOND = """(labs) => labs.flatMap((lab) => { const edge = lab.getBoundingClientRect().right + 1;
  return [...lab.querySelectorAll("canvas, label, input, output, select, button, p, table")]
    .filter((node) => node.getBoundingClientRect().right > edge).map((node) => node.outerHTML.slice(0, 120)) })"""

# The colour (0 to 255: red, green, blue) of the corner of each lab's picture, as text.
CORNERS = """(pictures) => pictures.map((picture) => {
  const corner = new OffscreenCanvas(1, 1).getContext("2d");
  corner.drawImage(picture, 3, 3, 1, 1, 0, 0, 1, 1);
  return [...corner.getImageData(0, 0, 1, 1).data].slice(0, 3) })"""


@pytest.fixture(scope="module", params=[WIDE["width"], PHONE["width"]])
def whole(request: Any, every_lab: Notebook) -> Iterator[Notebook]:
    """Every lab, wide and narrow, its table open."""
    with every_lab.whole(request.param):
        every_lab.page.locator(".gl-live details").evaluate_all("(all) => all.forEach((one) => { one.open = true })")
        yield every_lab


@pytest.fixture(scope="module", params=["light", "dark"])
def shown(request: Any, whole: Notebook) -> Iterator[Notebook]:
    """The same in each theme."""
    with whole.dark() if request.param == "dark" else nullcontext():
        yield whole


def test_axe_finds_nothing(shown: Notebook) -> None:
    found = violations(shown.page, ".gl-live")
    assert not found, "\n".join(found)


def test_nothing_sticks_out(shown: Notebook) -> None:
    labs = shown.page.locator(".gl-live")
    assert {make.label for make in LABS.values()} == {one.get_attribute("aria-label") for one in labs.all()}
    assert labs.evaluate_all(BEYOND) == []


def test_every_picture_has_the_background_of_the_theme(shown: Notebook, request: Any) -> None:
    """Light comes twice, so pictures turn dark and light again."""

    def backgrounds() -> list[list[int]]:
        shown.page.wait_for_timeout(200)  # between questions: decoding all pictures keeps the page from its work
        found: list[list[int]] = shown.page.locator(".gl-still").evaluate_all(CORNERS)
        assert len(found) == len(LABS)
        return found

    if request.node.callspec.params["shown"] == "dark":
        until(lambda: all(max(one) < 60 for one in backgrounds()), saying="every background is dark")
    else:
        until(lambda: all(one == [255, 255, 255] for one in backgrounds()), saying="every background is white")


def test_what_takes_the_keyboard_has_a_name_of_its_own(every_lab: Notebook) -> None:
    """Two handles that a screen reader calls alike cannot be told apart."""
    for lab in every_lab.page.locator(".gl-live").all():
        names = lab.locator(".gl-handle").evaluate_all("(all) => all.map((one) => one.getAttribute('aria-label'))")
        assert len(set(names)) == len(names), names


def test_a_bad_element_is_found(every_lab: Notebook) -> None:
    lab = every_lab.lab(gl.labs.clipping.label)
    bad = '<p class="bad" style="color:#aaa;background:#fff">faint</p><img class="bad" src="data:,"><input class="bad">'
    lab.group.evaluate("(group, html) => group.insertAdjacentHTML('beforeend', html)", bad)
    with every_lab.whole():
        found = "\n".join(violations(every_lab.page, f'.gl-live[aria-label="{lab.label}"]'))
    lab.group.locator(".bad").evaluate_all("(all) => all.forEach((node) => node.remove())")
    assert all(rule in found for rule in ("color-contrast (serious)", "image-alt (critical)", "label (critical)")), (
        found
    )


def test_nothing_failed_and_nothing_left_the_machine(every_lab: Notebook) -> None:
    assert every_lab.troubles == []


def test_every_notebook_is_driven_by_a_file_of_its_own() -> None:
    """And each of these files asks axe-core, while its notebook is there."""
    files = [path.read_text("utf-8") for path in NOTEBOOKS.parent.glob("tests/browser/test_*_notebook.py")]
    for path in NOTEBOOKS.glob("*.ipynb"):
        assert any(path.name in text and "assert_accessible(notebook)" in text for text in files), path.name

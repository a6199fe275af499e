"""Every lab in one page, and all else that notebooks show: axe-core finds nothing, nothing sticks
out.

Pictures follow JupyterLab's theme. Light and wide, then dark and as narrow as a phone: the theme
changes colors alone, the width places alone. axe-core reads the whole page for each question, so it
is asked of all at once; what it finds says where. Each lab has a bad element of each kind
meanwhile, which it must find, and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.axe import violations
from tests.browser.lab import until
from tests.browser.pages import Notebook
from tests.browser.written import BEGIN, labels

pytestmark = pytest.mark.browser

LABELS = labels()

# What sticks out of a lab at its right end.
BEYOND = """(labs) => labs.flatMap((lab) => { const edge = lab.getBoundingClientRect().right + 1;
  return [...lab.querySelectorAll("canvas, label, input, output, select, button, p, table")]
    .filter((node) => node.getBoundingClientRect().right > edge).map((node) => node.outerHTML.slice(0, 120)) })"""

# How wide and how high each lab is with nothing unfolded and a sentence of two lines, and how wide
# its picture.
SIZES = """(labs) => labs.map((lab) => { const folds = [...lab.querySelectorAll("details")].filter((one) => one.open);
  const sentence = lab.querySelector(".gl-readout"), kept = sentence.style.minHeight;
  for (const one of folds) one.open = false;
  sentence.style.minHeight = "2.6em";
  const { width, height } = lab.getBoundingClientRect(), label = lab.getAttribute("aria-label");
  const picture = lab.querySelector(".gl-picture").getBoundingClientRect().width;
  sentence.style.minHeight = kept;
  for (const one of folds) one.open = true;
  return [label, width, height, picture] })"""

# What handles are called, of each lab.
HANDLES = """(labs) => labs.map((lab) => [...lab.querySelectorAll(".gl-handle")]
  .map((one) => one.getAttribute("aria-label")))"""

# Labels that take two lines, but for those of switches, and options that are cut off in their menu.
TIGHT = """(labs) => labs.flatMap((lab) => {
  const pen = document.createElement("canvas").getContext("2d"), found = [];
  for (const label of lab.querySelectorAll("label, .gl-range > .gl-label")) {
    const line = 1.9 * parseFloat(getComputedStyle(label).fontSize);
    if (!label.closest(".gl-toggle") && label.getBoundingClientRect().height > line) found.push(label.textContent);
  }
  for (const menu of lab.querySelectorAll(".gl-menu select")) {
    const style = getComputedStyle(menu), sides = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
    pen.font = style.font;
    for (const { text } of menu.options)
      if (pen.measureText(text).width > menu.clientWidth - sides - 16) found.push(text); // 16 px for its arrow
  }
  return found.map((words) => `${lab.getAttribute("aria-label")}: ${words}`) })"""

BAD = """<p class="bad" style="color:#888;background:#999">faint</p>
<img class="bad" src="data:,"><input class="bad">"""

# The color (0 to 255: red, green, blue, opacity) of the corner of the pictures at these places;
# before a picture is decoded, all four are 0.
CORNERS = """(pictures, places) => places.map((place) => {
  const corner = new OffscreenCanvas(1, 1).getContext("2d");
  corner.drawImage(pictures[place], 3, 3, 1, 1, 0, 0, 1, 1);
  return [...corner.getImageData(0, 0, 1, 1).data] })"""


@pytest.fixture(scope="module")
def whole(everything: Notebook) -> Iterator[Notebook]:
    """Everything as it begins, every table open."""
    everything.evaluate(BEGIN)
    with everything.whole():
        folds = everything.page.locator(".gl-live details")
        folds.evaluate_all("(all) => all.forEach((one) => { one.open = true })")
        yield everything
        # A table that is open is written anew with each frame.
        folds.evaluate_all("(all) => all.forEach((one) => { one.open = false })")
        everything.theme(dark=False)


@pytest.fixture(scope="module", params=["light-1168", "dark-390"])
def shown(request: Any, whole: Notebook) -> Notebook:
    """The same in each theme, wide or narrow."""
    theme, width = request.param.split("-")
    whole.theme(theme == "dark")
    whole.widen(int(width))
    return whole


def test_a_laptop_shows_all_of_a_lab(whole: Notebook) -> None:
    """Picture, controls, sentence, and target, in the 779 px that JupyterLab leaves of 900, with
    room for a heading.
    """
    whole.widen(1168)
    labs = whole.page.locator(".gl-live")
    until(
        lambda: min(picture for *_, picture in labs.evaluate_all(SIZES)) >= 660,
        saying="all pictures are wide",
    )
    found = labs.evaluate_all(SIZES)
    assert {width for _, width, *_ in found} == {1000}
    high = [f"{label} is {height:.0f} px high" for label, _, height, _ in found if height > 700]
    assert not high, ", ".join(high)


def test_labels_and_options_are_not_cut_off(shown: Notebook) -> None:
    tight = shown.page.locator(".gl-live").evaluate_all(TIGHT)
    assert not tight, "\n".join(tight)


def test_axe_finds_bad_elements_wherever_they_are_and_nothing_else(shown: Notebook) -> None:
    labs = shown.page.locator(".gl-live")
    labs.evaluate_all(
        "(all, html) => all.forEach((one) => one.insertAdjacentHTML('beforeend', html))", BAD
    )
    texts = violations(shown.page)
    shown.page.locator(".bad").evaluate_all("(all) => all.forEach((node) => node.remove())")
    others = [text for text in texts if 'class="bad"' not in text]
    assert not others, "\n".join(others)
    found = Counter(text.partition(" at ")[0] for text in texts)
    assert found == dict.fromkeys(
        ("color-contrast (serious)", "image-alt (critical)", "label (critical)"), len(LABELS)
    )


def test_nothing_sticks_out(shown: Notebook) -> None:
    labs = shown.page.locator(".gl-live")
    assert (
        set(labs.evaluate_all("(all) => all.map((one) => one.getAttribute('aria-label'))"))
        == LABELS
    )
    assert labs.evaluate_all(BEYOND) == []


def test_every_picture_has_the_background_of_the_theme(shown: Notebook, request: Any) -> None:
    pictures, dark = (
        shown.page.locator(".gl-still"),
        request.node.callspec.params["shown"].startswith("dark"),
    )
    places = list(range(pictures.count()))
    assert len(places) == len(LABELS)

    def wrong(places: list[int]) -> list[int]:
        corners: list[list[int]] = pictures.evaluate_all(CORNERS, places)
        right = [
            (max(rgb) < 60 if dark else min(rgb) == 255) and opacity == 255
            for *rgb, opacity in corners
        ]
        return [place for place, is_right in zip(places, right, strict=True) if not is_right]

    # A picture has to be decoded to be asked, which keeps the page from painting: those that are
    # right are not again.
    left = wrong(places)

    def all_right() -> bool:
        if left:
            shown.page.wait_for_timeout(100)
            left[:] = wrong(left)
        return not left

    until(all_right, saying=f"every background is {'dark' if dark else 'white'}")
    assert wrong(places) == []  # all at once


def test_what_takes_the_keyboard_has_a_name_of_its_own(everything: Notebook) -> None:
    """Two handles that a screen reader calls alike cannot be told apart."""
    for names in everything.page.locator(".gl-live").evaluate_all(HANDLES):
        assert len(set(names)) == len(names), names


def test_nothing_failed_and_nothing_left_the_machine(everything: Notebook) -> None:
    assert everything.troubles == []

"""What the pages of the site ask their readers to do, and a reader who does it."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

VERBS = ("press", "select", "drag", "draw", "reach", "target", "choose", "click", "set", "point", "write")
ASKS = re.compile(rf"\b({'|'.join(VERBS)})\b", re.IGNORECASE)
MOVE_FIRST = "move your guess first"


def sentences(html: str) -> list[str]:
    """The sentences of a page that ask for something."""
    article = re.search(r"<article.*?</article>", html, re.DOTALL)
    prose = re.findall(r"<(?:li|p)>(.*?)</(?:li|p)>", article[0] if article else "", re.DOTALL)
    cut = [one for text in prose for one in re.split(r"(?<=[.?!:])\s+(?=[A-Z<])", text)]
    return [unescape(one) for one in cut if ASKS.search(re.sub("<[^>]*>", "", one))]


def pressed(said: list[str]) -> set[str]:
    """What the sentences with "press" name in italics: buttons and presets."""
    return {name for one in said if "press" in one.lower() for name in re.findall("<em>(.*?)</em>", one)}


def answer(place: Any) -> None:
    """Answer a multiple-choice question with every letter; one of them is right."""
    buttons, right = place.get_by_role("button"), 0
    for k in range(buttons.count()):
        buttons.nth(k).click()
        said = place.get_by_role("status")
        assert buttons.nth(k).get_attribute("aria-pressed") == "true"
        assert len(said.inner_text()) > 20
        right += said.get_attribute("class") == "right"
    assert right == 1


def predict(page: Any, place: Any) -> str:
    """Reveal too early, draw a guess across the picture, and reveal it."""
    reveal, said, handle = place.get_by_role("button"), place.get_by_role("status"), place.get_by_role("slider").first
    reveal.click()
    assert MOVE_FIRST in said.inner_text()
    before = handle.get_attribute("aria-valuetext")
    picture = place.locator("svg")
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.12, box["y"] + box["height"] * 0.6)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.95, box["y"] + box["height"] * 0.3, steps=6)
    page.mouse.up()
    assert handle.get_attribute("aria-valuetext") != before
    handle.press("ArrowUp")
    reveal.click()
    told: str = said.inner_text()
    assert told.startswith("Your guess is ") and "The result: " in told and "NaN" not in told
    assert place.locator("path.result").get_attribute("d")
    return told


def press_presets(lab: Any) -> set[str]:
    """Press every preset of a lab, each of which has to work; give their names."""
    chips = lab.locator(".gl-chip")
    names = chips.all_inner_texts()
    for name in names:
        lab.locator(".gl-chip", has_text=name).first.click()
        lab.locator(".gl-chip[aria-pressed=true]", has_text=name).first.wait_for()
    return set(names)

"""The frame of a figure in a page: what stands beside what, what is folded, marked, or cannot be
moved.
"""

from dataclasses import replace
from typing import Any

import pytest

from gradlab.live import Description
from tests.live.conftest import Wire
from tests.live.everything import everything
from tests.live.examples import clipped

pytestmark = pytest.mark.browser

BOXES = """() => Object.fromEntries(["head", "picture", "main", "side", "foot"].map((part) => {
  const { left, right, top, bottom } = document.querySelector(`.gl-${part}`).getBoundingClientRect();
  return [part, { left, right, top, bottom, width: right - left }];
}))"""


def opened(page: Any, *folded: str) -> Wire:
    """A figure of 728 pixels, as wide as those of the labs."""
    live = everything(folded=folded)
    live.redraw_still(lambda: live._state.scene.figure.set_size_inches(7.28, 3))
    wire = Wire(live, page)
    wire.open()
    return wire


def test_controls_stand_beside_the_picture_where_there_is_room(page: Any) -> None:
    opened(page)

    def boxes(width: int) -> dict[str, dict[str, float]]:
        page.set_viewport_size({"width": width, "height": 700})
        found: dict[str, dict[str, float]] = page.evaluate(BOXES)
        return found

    for width, picture in ((1400, 728), (984, 728), (950, 694), (916, 660)):
        wide = boxes(width)
        assert (wide["picture"]["width"], wide["main"]["width"]) == (picture, 236)
        assert wide["main"]["left"] == wide["side"]["left"] == wide["picture"]["right"] + 20
        assert wide["head"]["bottom"] <= wide["picture"]["top"] == wide["main"]["top"]
        assert wide["side"]["top"] == wide["main"]["bottom"]
    assert boxes(915)["main"]["top"] >= boxes(915)["picture"]["bottom"]
    low = boxes(390)["main"]
    page.set_viewport_size({"width": 390, "height": 150})  # lower than the picture
    assert page.locator(".gl-main").bounding_box()["y"] + low["bottom"] - low["top"] == 150
    assert page.get_by_role("button", name="Play").is_visible()


def test_what_is_folded_is_counted_and_what_has_changed_is_marked(page: Any) -> None:
    wire = opened(page, "rule", "window")
    more, chip = page.locator(".gl-more"), wire.button("Tight")
    assert more.locator("summary").inner_text().split("\n") == ["More", "2 settings"]
    assert not page.get_by_label("Rule").is_visible()
    assert chip.get_attribute("aria-pressed") == "false"
    chip.click()
    assert more.locator(".gl-count").inner_text() == "2 settings, 1 changed"
    assert chip.get_attribute("aria-pressed") == "true"
    more.locator("summary").click()
    page.get_by_label("Rule").select_option(label="two")
    assert more.locator(".gl-count").inner_text() == "2 settings, 2 changed"
    wire.settle()
    wire.live.set(rule="sgd", window=(5, 20))
    wire.settle()
    assert more.locator(".gl-count").inner_text() == "2 settings"
    assert chip.get_attribute("aria-pressed") == "false"


def test_presets_stay_where_they_are_when_more_is_opened(page: Any) -> None:
    opened(page, "rule", "window")
    page.set_viewport_size({"width": 1400, "height": 900})
    starts, more = page.locator(".gl-starts"), page.locator(".gl-more")
    before = starts.bounding_box()
    more.locator("summary").click()
    assert page.get_by_label("Rule").is_visible()
    assert starts.bounding_box() == before


def test_what_changes_nothing_cannot_be_moved_and_a_goal_that_is_met_is_marked(page: Any) -> None:
    wire, goal = opened(page), page.locator(".gl-goal")
    wire.live.set(on=False, limit=10.0)
    wire.settle()
    assert wire.slider().is_disabled() and "gl-met" not in goal.get_attribute("class")
    wire.live.set(on=True, limit=6.0)
    wire.settle()
    assert wire.slider().is_enabled() and "gl-met" in goal.get_attribute("class")


def test_room_is_kept_for_the_longest_sentence_that_a_slider_leads_to(page: Any) -> None:
    live = clipped(axis="steps")
    update = live._state._update

    def wordy(values: dict[str, Any]) -> Description:
        return replace(update(values), summary="long " * 40 if values["steps"] == 7 else "short")

    live._state._update = wordy
    live.set(steps=1)
    wire = Wire(live, page)
    wire.open()
    two_lines = "parseFloat(document.querySelector('.gl-head').style.minHeight) > 45"
    wire.until(lambda: page.evaluate(two_lines))  # the states along the axis have come
    height = page.locator(".gl-head").bounding_box()["height"]
    top = page.locator(".gl-picture").bounding_box()["y"]
    assert wire.readout() == "short"
    wire.slider("Steps").press("End")
    wire.slider("Steps").press("ArrowLeft")
    wire.slider("Steps").press("ArrowLeft")
    wire.settle()
    assert wire.readout().startswith("long long")
    assert page.locator(".gl-head").bounding_box()["height"] == height
    assert page.locator(".gl-picture").bounding_box()["y"] == top


def test_a_sentence_that_needs_more_lines_moves_the_picture_once(page: Any) -> None:
    wire, picture = opened(page), page.locator(".gl-picture")

    def top(text: str) -> float:
        wire.live.say(text)
        wire.reply()
        y: float = picture.bounding_box()["y"]
        return y

    one = top("short")
    two = top("long " * 40)
    assert two > one
    assert top("short") == two

"""Controls in a page: keys, names, values in words, presets, and that the notebook never sees a
key.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.live.conftest import Wire, sets
from tests.live.everything import everything
from tests.live.examples import clipped

pytestmark = pytest.mark.browser


@pytest.fixture
def wire(page: object) -> Wire:
    wire = Wire(everything(), page)
    wire.open()
    return wire


@pytest.mark.parametrize(
    ("name", "keys", "expected"),
    [
        ("Limit", "ArrowRight ArrowRight ArrowLeft", "1.05 N"),
        ("Limit", "Home", "0.01 N"),
        ("Limit", "End", "100 N"),
        ("Phase", "ArrowUp", "0.5"),
        ("Phase", "End PageDown", "9.0"),
        ("Steps", "ArrowUp ArrowUp", "5"),
    ],
)
def test_keys_move_sliders_and_nothing_else(page: Any, name: str, keys: str, expected: str) -> None:
    wire = Wire(clipped(), page)
    wire.open()
    wire.page.evaluate("window.escaped = 0; document.onkeydown = () => window.escaped++; 0")
    for key in keys.split():
        wire.slider(name).press(key)
    assert wire.slider(name).get_attribute("aria-valuetext") == expected
    assert wire.page.evaluate("window.escaped") == 0


def test_everything_that_takes_the_focus_has_a_name_keeps_its_keys_and_is_large_enough(
    wire: Wire,
) -> None:
    page = wire.page
    page.locator(".gl-field").press("ArrowRight")  # with an item selected there is more to see
    page.set_viewport_size({"width": 590, "height": 900})
    focusable = (
        page.locator("#here")
        .locator("input, select, button, summary, [tabindex]")
        .locator("visible=true")
    )
    assert focusable.count() == 21
    for item in focusable.all():
        assert item.get_attribute("data-lm-suppress-shortcuts") == "true"
        assert min(item.bounding_box()["height"], item.bounding_box()["width"]) >= 44
    page.set_viewport_size({"width": 900, "height": 700})
    assert focusable.count() == 23  # speed and loop have room again
    for item in focusable.all():
        assert min(item.bounding_box()["height"], item.bounding_box()["width"]) >= 24
    tree = page.locator("#here").aria_snapshot()
    for line in tree.splitlines():
        role, _, name = line.strip("- ").partition(" ")
        assert (
            role not in ("slider", "button", "combobox", "switch", "group", "application")
            or '"' in name
        ), line


def test_nothing_overlaps_on_a_narrow_page(wire: Wire) -> None:
    for width in (390, 300):
        wire.page.set_viewport_size({"width": width, "height": 1200})
        assert wire.page.evaluate("document.documentElement.scrollWidth") <= width
        boxes = [
            item.bounding_box()
            for item in wire.page.locator(".gl-main, .gl-side")
            .locator(
                "label, .gl-label, .gl-track, .gl-slider > input, select, button, output, "
                "[role=switch]"
            )
            .locator("visible=true")
            .all()
        ]
        for k, a in enumerate(boxes):
            for b in boxes[:k]:
                beside = a["x"] + a["width"] <= b["x"] + 0.5 or b["x"] + b["width"] <= a["x"] + 0.5
                assert (
                    beside
                    or a["y"] + a["height"] <= b["y"] + 0.5
                    or b["y"] + b["height"] <= a["y"] + 0.5
                ), (a, b)


def test_a_range_has_two_ends_that_do_not_cross(wire: Wire) -> None:
    assert wire.page.get_by_role("group", name="Window", exact=True).count() == 1
    low, high = wire.slider("Window, from"), wire.slider("Window, to")
    assert (low.get_attribute("aria-valuetext"), high.get_attribute("aria-valuetext")) == (
        "5 steps",
        "20 steps",
    )
    low.press("ArrowRight")
    assert sets(wire.settle()) == [{"window": [6, 20]}]
    assert wire.page.locator(".gl-range output").inner_text() == "6 – 20 steps"
    low.press("End")
    wire.settle()
    assert wire.live.values["window"] == (20, 20)
    high.press("Home")
    wire.settle()
    assert wire.live.values["window"] == (20, 20)


def test_the_pointer_moves_the_nearer_end_of_a_range(wire: Wire) -> None:
    page, box = wire.page, wire.page.locator(".gl-track").bounding_box()

    def drag(*parts: float) -> tuple[float, float]:
        places = [box["x"] + 9 + part * (box["width"] - 18) for part in parts]
        page.mouse.move(places[0], box["y"] + 10)
        page.mouse.down()
        for place in places[1:]:
            page.mouse.move(place, box["y"] + 10)
        page.mouse.up()
        wire.settle()
        values: tuple[float, float] = wire.live.values["window"]
        return values

    assert drag(0.9) == (5, 35)
    assert drag(5 / 39, 0.5) == (20, 35)
    assert drag(20 / 39, 0.0) == (0, 35)
    assert drag(0.0, 1.0) == (35, 35)
    assert drag(35 / 39, 0.2) == (8, 35)  # from one place both ways
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Window, from"


def test_a_toggle_is_a_switch(wire: Wire) -> None:
    switch = wire.page.get_by_role("switch", name="Clip", exact=True)
    assert switch.is_checked()
    switch.press("Space")
    assert sets(wire.settle()) == [{"on": False}]
    wire.page.get_by_text("Clip", exact=True).click()
    assert sets(wire.settle()) == [{"on": True}]
    wire.live.set(on=False)
    wire.reply()
    assert not switch.is_checked()


def test_a_menu_holds_plain_values(wire: Wire) -> None:
    menu = wire.page.get_by_role("combobox", name="Rule")
    for label, value in (("two", 2), ("none", None), ("Adagrad", "ada")):
        menu.select_option(label=label)
        assert sets(wire.settle()) == [{"rule": value}]
        assert wire.live.values["rule"] == value
    wire.live.set(rule=2)
    wire.reply()
    assert menu.locator("option:checked").inner_text() == "two"


def test_presets_and_reset_move_several_controls_at_once(wire: Wire) -> None:
    assert wire.page.get_by_role("group", name="Start from").get_by_role(
        "button"
    ).all_inner_texts() == [
        "No limit",
        "Tight",
    ]
    wire.button("No limit").click()
    assert sets(wire.settle()) == [{"limit": 10, "on": False}]
    wire.button("Tight").click()
    assert sets(wire.settle()) == [{"limit": 0.5, "window": [0, 39]}]
    assert wire.page.locator(".gl-range output").inner_text() == "0 – 39 steps"
    wire.button("Reset").click()
    assert sets(wire.settle()) == [{"limit": 1, "window": [5, 20], "on": True}]
    wire.button("Reset").click()
    assert sets(wire.settle()) == []


def test_the_goal_has_its_own_line_and_is_announced_when_it_changes(
    hurry: Callable[[], None], wire: Wire
) -> None:
    goal, spoken = wire.page.locator(".gl-goal"), wire.page.locator("[aria-live=polite]")
    assert goal.is_hidden()
    hurry()
    wire.slider().press("End")
    wire.settle()
    assert goal.inner_text() == "Goal: bring the limit below 5."
    assert spoken.text_content() == "limit 10, mean 1.63 Goal: bring the limit below 5."
    hurry()
    wire.slider().press("ArrowLeft")
    wire.settle()
    assert goal.is_visible()
    assert spoken.text_content() == "limit 9.55, mean 1.63"


def test_a_control_that_is_fixed_does_not_move(wire: Wire) -> None:
    message, buffers = wire.live._state.setup(1.0, False, view="*")
    for spec in message["controls"]:
        spec["fixed"] = spec["name"] != "limit"
    wire.page.evaluate("window.close_view(); sent.length = 0; window.open_view()")
    message["view"] = wire.page.evaluate("sent[0].view")
    wire.replies[:] = [({**message, "fixed": True}, buffers)]
    wire.reply()
    wire.page.wait_for_selector("[data-frame]")
    page = wire.page
    assert all(
        item.is_disabled()
        for item in page.locator(".gl-track input, select[id], [role=switch], .gl-button").all()
    )
    assert wire.slider().is_enabled()
    assert page.locator(".gl-handle").count() == 1
    assert wire.button("Zoom").is_hidden()

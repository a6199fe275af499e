"""Pointing at an item in one panel marks it in all of them; a click or the keys select it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.live.conftest import Wire, canvas_url
from tests.live.everything import everything

pytestmark = pytest.mark.browser


@pytest.fixture
def wire(page: object) -> Wire:
    wire = Wire(everything(), page)
    wire.open()
    wire.page.wait_for_timeout(20)
    return wire


def place(wire: Wire, item: int, panel: int = 0) -> tuple[float, float]:
    """Where an item lies on the page."""
    axes = wire.live._state.scene.figure.axes[panel]
    wire.live._state.scene._at(wire.live._state.scene.dpi)
    x, y = wire.live.description.items.places[axes]
    left, bottom = axes.transData.transform((x[item], y[item]))
    box = wire.page.locator(".gl-picture").bounding_box()
    return box["x"] + left, box["y"] + box["height"] - bottom


def rings(wire: Wire, chosen: bool = False) -> list[tuple[float, float]]:
    """The middles of the rings."""
    found = (
        wire.page.locator(".gl-chosen" if chosen else ".gl-ring:not(.gl-chosen)")
        .locator("visible=true")
        .all()
    )
    boxes = [ring.bounding_box() for ring in found]
    return [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]


def tip(wire: Wire) -> str | None:
    node = wire.page.locator(".gl-tip")
    text: str | None = node.inner_text() if node.is_visible() else None
    return text


def test_pointing_at_an_item_marks_it_in_all_panels(wire: Wire) -> None:
    norm = float(wire.live.description.items.values["norm"][4])
    x, y = place(wire, 4)
    wire.page.mouse.move(x + 3, y - 3)
    assert np.allclose(rings(wire), [place(wire, 4), place(wire, 4, 1)], atol=1)
    assert tip(wire) == f"step 4\nnorm {norm:.4g}"
    x, y = place(wire, 30, 1)
    wire.page.mouse.move(x + 1, y)
    assert np.allclose(rings(wire), [place(wire, 30), place(wire, 30, 1)], atol=1)
    wire.page.mouse.move(5, 600)
    assert (rings(wire), tip(wire)) == ([], None)


def test_items_with_names_go_by_them(page: Any) -> None:
    wire = Wire(everything(names=[f"word{k}" for k in range(40)]), page)
    wire.open()
    wire.page.wait_for_timeout(20)
    x, y = place(wire, 4)
    wire.page.mouse.move(x, y)
    assert (tip(wire) or "").startswith("word4\nnorm ")
    wire.page.mouse.click(x, y)
    assert "word4: norm" in wire.aside()


def test_nothing_is_marked_far_from_every_item(wire: Wire) -> None:
    x, y = place(wire, 4)
    wire.page.mouse.move(x, y + 60)
    assert (rings(wire), tip(wire)) == ([], None)


def test_a_click_beside_items_and_handles_moves_nothing(wire: Wire) -> None:
    box = wire.page.locator(".gl-area").first.bounding_box()
    x, y = box["x"] + 0.5 * box["width"], box["y"] + 5
    wire.page.mouse.click(x, y)
    wire.settle()
    assert wire.live.values["limit"] == 1.0
    wire.page.mouse.move(x, y)
    wire.page.mouse.down()
    wire.page.mouse.move(x, y + 10, steps=3)
    wire.page.mouse.up()
    wire.settle()
    assert wire.live.values["limit"] > 5  # a drag takes the line from anywhere


def test_the_keys_take_the_tooltip_along(wire: Wire) -> None:
    wire.page.mouse.click(*place(wire, 4))
    wire.page.keyboard.press("ArrowRight")
    assert (tip(wire) or "").startswith("step 5")
    wire.page.keyboard.press("Escape")
    assert (rings(wire, chosen=True), tip(wire)) == ([], None)


def test_a_click_selects_and_another_lets_go(wire: Wire) -> None:
    wire.page.mouse.click(*place(wire, 4))
    assert wire.page.evaluate("[traits.selected, saved.length]") == [4, 1]
    wire.page.mouse.move(5, 600)
    assert np.allclose(rings(wire, chosen=True), [place(wire, 4), place(wire, 4, 1)], atol=1)
    assert wire.aside().startswith("step 4: norm 0.508")
    assert (tip(wire) or "").startswith("step 4")
    wire.page.mouse.click(*place(wire, 4))
    assert wire.page.evaluate("traits.selected") is None
    wire.page.mouse.move(5, 600)
    assert (rings(wire, chosen=True), tip(wire), wire.aside()) == ([], None, "")


def test_the_keys_go_on_from_a_click(wire: Wire) -> None:
    wire.page.mouse.click(*place(wire, 4))  # in an area that a handle listens to as well
    wire.page.keyboard.press("ArrowRight")
    assert wire.page.evaluate("traits.selected") == 5
    wire.page.keyboard.press("Escape")
    assert wire.page.evaluate("traits.selected") is None


@pytest.mark.parametrize(
    ("keys", "selected"),
    [
        ("ArrowRight", 0),
        ("ArrowLeft", 39),
        ("Home ArrowRight ArrowRight", 2),
        ("End ArrowRight", 39),
        ("Home ArrowLeft", 0),
        ("End Escape", None),
    ],
)
def test_keys_go_from_item_to_item(wire: Wire, keys: str, selected: int | None) -> None:
    field = wire.page.get_by_role("application")
    assert "Left and Right go from step to step" in field.get_attribute("aria-label")
    for key in keys.split():
        field.press(key)
    assert wire.page.evaluate("traits.selected") == selected
    assert len(rings(wire, chosen=True)) == (0 if selected is None else 2)


def test_the_selected_item_is_said_aloud_once(hurry: Callable[[], None], wire: Wire) -> None:
    hurry()
    wire.page.get_by_role("application").press("End")
    assert (
        wire.page.locator("[aria-live=polite]").text_content() == f"{wire.readout()} {wire.aside()}"
    )
    assert wire.aside() == "step 39: norm 1"


def test_a_selection_survives_frames_and_follows_them(wire: Wire) -> None:
    wire.page.mouse.click(*place(wire, 4))
    wire.page.mouse.move(5, 600)
    for limit in (0.2, 5.0):
        wire.live.set(limit=limit)
        wire.reply()
        assert np.allclose(rings(wire, chosen=True), [place(wire, 4), place(wire, 4, 1)], atol=1)
        assert f"step 4: norm {min(limit, 0.5082):.4g}" in wire.aside()


def test_a_selection_from_elsewhere_is_shown_and_not_sent_back(wire: Wire) -> None:
    wire.page.evaluate("model.set('selected', 7)")
    assert len(rings(wire, chosen=True)) == 2
    assert "step 7" in wire.aside()
    wire.page.evaluate("model.set('selected', 400)")
    assert rings(wire, chosen=True) == []
    assert wire.page.evaluate("saved") == []
    wire.page.evaluate("model.set('selected', null)")
    assert wire.aside() == ""


def test_selecting_saves_nothing_but_the_selection(wire: Wire) -> None:
    wire.slider().press("ArrowRight")
    wire.answer()
    wire.live.set(limit=5.0)
    wire.page.get_by_role("application").press("Home")
    assert wire.page.evaluate("saved") == [{"selected": 0}]
    wire.settle()
    assert wire.slider().get_attribute("aria-valuetext") == "5 N"


def test_a_view_opened_later_shows_the_selection(wire: Wire) -> None:
    wire.page.mouse.click(*place(wire, 4))
    wire.open()
    assert [("step 4" in text) for text in wire.page.locator(".gl-aside").all_inner_texts()] == [
        True,
        True,
    ]


def test_the_tip_stays_inside_the_picture(wire: Wire) -> None:
    picture = wire.page.locator(".gl-picture").bounding_box()
    field = wire.page.get_by_role("application")
    for key in ("Home", "End"):
        field.press(key)
        box = wire.page.locator(".gl-tip").bounding_box()
        assert picture["x"] <= box["x"]
        assert box["x"] + box["width"] <= picture["x"] + picture["width"]
        assert box["y"] + box["height"] <= picture["y"] + picture["height"]


def test_the_painter_passes_over_items(wire: Wire) -> None:
    with_items = canvas_url(wire.page)
    message: Any = wire.live._state.now()
    frame = wire.live._state.scene.frame(1.0, None)
    wire.replies[:] = [
        (
            {"kind": "frame", "ratio": 1, "answer": None, **message, "number": 99, "edition": 99},
            [frame],
        )
    ]
    wire.reply()
    assert canvas_url(wire.page) == with_items

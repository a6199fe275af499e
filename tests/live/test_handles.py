"""Handles in the picture: by pointer and by keys, lines and points, and a curve drawn over several
of them.
"""

import math
from typing import Any

import pytest

from tests.live.conftest import Wire, sets
from tests.live.everything import everything

pytestmark = pytest.mark.browser


@pytest.fixture
def whole(page: object) -> Wire:
    """A line, three points side by side, and items."""
    wire = Wire(everything(), page)
    wire.open()
    return wire


def drag(wire: Wire, *places: tuple[float, float], area: int = 0) -> list[dict[str, Any]]:
    """Press, move and release in an area, in parts from its left and bottom; give what the kernel
    is asked for.
    """
    box = wire.page.locator(".gl-area").nth(area).bounding_box()
    points = [(box["x"] + box["width"] * x, box["y"] + box["height"] * (1 - y)) for x, y in places]
    wire.page.mouse.move(*points[0])
    wire.page.mouse.down()
    for point in points[1:]:
        wire.page.mouse.move(*point)
    wire.page.mouse.up()
    return sets(wire.settle())


def test_dragging_sets_sliders_on_linear_and_log_axes(wire: Wire) -> None:
    drag(wire, (0.2, 0.2), (0.5, 0.5), (0.75, 0.75))
    assert wire.live.values["phase"] == 7.5
    assert math.isclose(wire.live.values["limit"], 10, rel_tol=0.05)
    assert wire.slider().get_attribute("aria-valuetext") == f"{wire.live.values['limit']:g} N"
    focused = "document.activeElement.getAttribute('aria-label')"
    # The keys go on where the pointer stopped.
    assert wire.page.evaluate(focused) == "Drag to set the limit"


def test_dragging_beyond_the_axes_stops_at_the_ends(wire: Wire) -> None:
    drag(wire, (0.5, 0.5), (-0.3, 1.3))
    assert (wire.live.values["phase"], wire.live.values["limit"]) == (0.0, 100.0)
    drag(wire, (0.5, 0.5), (1.3, -0.1))
    assert (wire.live.values["phase"], wire.live.values["limit"]) == (10.0, 0.01)


def test_moving_the_pointer_without_pressing_does_nothing(wire: Wire) -> None:
    box = wire.page.locator(".gl-area").bounding_box()
    wire.page.mouse.move(box["x"] + 50, box["y"] + 50)
    assert wire.requests() == []
    assert (
        wire.page.locator(".gl-area").evaluate("(node) => getComputedStyle(node).touchAction")
        == "none"
    )


def test_a_point_is_a_slider_that_goes_both_ways(wire: Wire) -> None:
    handle = wire.slider("Drag to set the limit")
    assert handle.get_attribute("aria-valuetext") == "Phase 0.0, Limit 1 N"
    for key in ("ArrowRight", "ArrowRight", "ArrowUp", "ArrowLeft"):
        handle.press(key)
        wire.settle()
    assert (wire.live.values["phase"], wire.live.values["limit"]) == (0.5, 1.05)
    assert handle.get_attribute("aria-valuetext") == "Phase 0.5, Limit 1.05 N"
    handle.press("PageUp")
    wire.settle()
    assert wire.live.values["phase"] == 5.5
    handle.press("End")
    handle.press("ArrowDown")
    wire.settle()
    assert (wire.live.values["phase"], wire.live.values["limit"]) == (10.0, 1.0)


def test_a_line_is_a_slider_with_value_and_unit(whole: Wire) -> None:
    handle = whole.slider("Limit line")
    aria = {
        name: handle.get_attribute(f"aria-{name}")
        for name in ("valuenow", "valuemin", "valuemax", "valuetext")
    }
    assert aria == {"valuenow": "1", "valuemin": "0.1", "valuemax": "10", "valuetext": "1 N"}
    assert (handle.get_attribute("aria-orientation"), handle.get_attribute("tabindex")) == (
        "vertical",
        "0",
    )
    for key, value in (
        ("ArrowUp", 1.05),
        ("ArrowLeft", 1.0),
        ("PageDown", 0.631),
        ("End", 10),
        ("Home", 0.1),
    ):
        handle.press(key)
        whole.settle()
        assert whole.live.values["limit"] == value
    assert handle.get_attribute("aria-valuetext") == "0.1 N"


def test_a_handle_stands_where_its_value_is(whole: Wire) -> None:
    area = whole.page.locator(".gl-area").first.bounding_box()

    def middle() -> float:
        box = whole.slider("Limit line").bounding_box()
        assert box["width"] == pytest.approx(area["width"], abs=0.5)  # a line lies across its panel
        part: float = (area["y"] + area["height"] - box["y"] - box["height"] / 2) / area["height"]
        return part

    assert middle() == pytest.approx(0.5, abs=0.005)
    whole.live.set(limit=10 ** (-0.5))
    whole.reply()
    assert middle() == pytest.approx(0.25, abs=0.005)


def test_a_handle_without_a_label_has_the_name_of_its_slider(whole: Wire) -> None:
    assert whole.slider("Knot 1, in the picture").count() == 1
    assert whole.slider("Knot 1").count() == 0  # hidden: the handle stands for it
    whole.slider("Knot 1, in the picture").press("End")
    assert sets(whole.settle()) == [{"k1": 1}]


def test_pressing_takes_the_nearest_handle(whole: Wire) -> None:
    drag(whole, (0.45, 0.9), area=1)
    assert [whole.live.values[f"k{k}"] for k in range(3)] == [0.5, 0.9, 0.5]
    drag(whole, (0.95, 0.1), (0.9, 0.2), area=1)
    assert [whole.live.values[f"k{k}"] for k in range(3)] == [0.5, 0.9, 0.2]


def test_a_stroke_over_several_handles_draws_a_curve(whole: Wire) -> None:
    # One move of the pointer passes over all three.
    requests = drag(whole, (0.1, 0.2), (0.9, 1.0), area=1)
    assert requests[-1].keys() == {"k0", "k1", "k2"}
    assert whole.live.values["k0"] == pytest.approx(0.3, abs=0.02)
    assert whole.live.values["k1"] == pytest.approx(0.6, abs=0.02)
    assert whole.live.values["k2"] == pytest.approx(
        1.0, abs=0.02
    )  # the nearest to where the pointer is
    drag(whole, (0.9, 0.3), (0.5, 0.3), (0.1, 0.3), area=1)
    assert [whole.live.values[f"k{k}"] for k in range(3)] == pytest.approx([0.3] * 3, abs=0.02)


def test_handles_keep_the_focus_when_the_picture_changes(whole: Wire) -> None:
    whole.slider("Limit line").focus()
    whole.live.redraw_still()
    whole.reply()
    assert whole.page.evaluate("document.activeElement.getAttribute('aria-label')") == "Limit line"


def test_handles_are_large_enough_and_shown_when_they_are_needed(whole: Wire) -> None:
    page, handle = whole.page, whole.slider("Knot 1, in the picture")
    opacity = "(node) => getComputedStyle(node, '::before').opacity"
    assert handle.evaluate(opacity) == "0"
    handle.focus()
    assert handle.evaluate(opacity) == "1"
    page.evaluate("document.activeElement.blur()")
    box = page.locator(".gl-area").nth(1).bounding_box()
    page.mouse.move(box["x"] + 10, box["y"] + 10)
    assert handle.evaluate(opacity) == "1"
    for width, least in ((900, 24), (590, 44)):
        page.set_viewport_size({"width": width, "height": 700})
        box = handle.bounding_box()
        assert (box["width"], box["height"]) == (least, least)


def test_with_items_under_the_pointer_a_click_is_theirs_and_a_drag_the_handles(whole: Wire) -> None:
    assert drag(whole, (4 / 41, 0.35)) == []  # step 4 is here, and the line is not
    assert whole.page.evaluate("traits.selected") == 4
    assert drag(whole, (4 / 41, 0.35), (0.3, 0.3), (0.3, 0.25)) != []
    assert whole.live.values["limit"] == pytest.approx(10**-0.5, rel=0.03)
    assert whole.page.evaluate("traits.selected") == 4

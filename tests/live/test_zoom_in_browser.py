"""A closer look at a panel: box, wheel, pan, keys, and back; one request at a time."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.live.conftest import Wire
from tests.live.everything import everything

pytestmark = pytest.mark.browser


@pytest.fixture
def wire(page: object) -> Wire:
    wire = Wire(everything(), page)
    wire.open()
    wire.button("Zoom").click()
    return wire


def limits(wire: Wire, panel: int = 0) -> list[float]:
    axes = wire.live._state.scene.figure.axes[panel]
    return [*map(float, axes.get_xlim()), *map(float, axes.get_ylim())]


def at(wire: Wire, x: float, y: float, panel: int = 1) -> tuple[float, float]:
    """A place on the page, by parts of a panel from its left and bottom."""
    part, box = (
        wire.live._state.scene.panels()[panel],
        wire.page.locator(".gl-picture").bounding_box(),
    )
    left, top = part["left"] + x * part["width"], part["top"] + (1 - y) * part["height"]
    return box["x"] + left * box["width"], box["y"] + top * box["height"]


def drag(wire: Wire, *places: tuple[float, float]) -> list[dict[str, Any]]:
    wire.page.mouse.move(*at(wire, *places[0]))
    wire.page.mouse.down()
    for place in places[1:]:
        wire.page.mouse.move(*at(wire, *place))
    wire.page.mouse.up()
    return wire.settle()


def test_zoom_is_off_until_it_is_asked_for(page: object) -> None:
    wire = Wire(everything(), page)
    wire.open()
    assert wire.button("Zoom").get_attribute("aria-pressed") == "false"
    assert wire.button("Reset view").is_hidden()
    wire.page.mouse.move(*at(wire, 0.5, 0.5))
    wire.page.mouse.wheel(0, -100)
    assert wire.requests() == []


def test_a_box_is_shown_and_then_fills_its_panel(wire: Wire) -> None:
    wire.page.mouse.move(*at(wire, 0.2, 0.3))
    wire.page.mouse.down()
    wire.page.mouse.move(*at(wire, 0.6, 0.8))
    assert wire.page.locator(".gl-box").is_visible()
    wire.page.mouse.up()
    wire.settle()
    assert limits(wire) == [-1, 40, 0.1, 10]
    assert limits(wire, 1) == pytest.approx([0.2, 0.6, 0.3, 0.8], abs=0.01)
    assert wire.page.locator(".gl-box").is_hidden()
    wire.button("Reset view").click()
    wire.settle()
    assert limits(wire, 1) == [0, 1, 0, 1]
    assert wire.button("Reset view").is_hidden()


def test_a_thin_box_leaves_the_other_direction_alone(wire: Wire) -> None:
    drag(wire, (0.2, 0.5), (0.6, 0.51))
    assert limits(wire, 1) == pytest.approx([0.2, 0.6, 0, 1], abs=0.01)
    assert drag(wire, (0.2, 0.5), (0.21, 0.51)) == []


def test_handles_do_not_take_the_pointer_while_zooming(wire: Wire) -> None:
    drag(wire, (0.45, 0.2), (0.8, 0.9))
    assert wire.live.values["k1"] == 0.5


def test_the_wheel_zooms_about_the_pointer(wire: Wire) -> None:
    wire.page.mouse.move(*at(wire, 0.25, 0.5))
    wire.page.mouse.wheel(0, -300)
    wire.settle()
    x0, x1, y0, y1 = limits(wire, 1)
    assert x1 - x0 == pytest.approx(y1 - y0, abs=0.01)
    assert x0 + 0.25 * (x1 - x0) == pytest.approx(0.25, abs=0.01)
    assert x1 - x0 < 0.7


def test_one_request_is_under_way_and_the_rest_adds_up(wire: Wire) -> None:
    wire.page.mouse.move(*at(wire, 0.5, 0.5))
    for _ in range(4):
        wire.page.mouse.wheel(0, -100)
    wire.page.wait_for_function("window.sent.length")
    wire.page.wait_for_timeout(100)
    first = wire.requests()
    assert [m["kind"] for m in first] == ["zoom"]
    wire.live._inbox.receive(first[0])
    wire.reply()
    second = wire.settle()
    assert [m["kind"] for m in second] == ["zoom"]
    x0, x1, _, _ = limits(wire, 1)
    assert x1 - x0 == pytest.approx(2.718281828**-0.8, abs=0.01)
    assert (x0 + x1) / 2 == pytest.approx(0.5, abs=0.01)


def test_a_look_that_is_refused_blocks_nothing(wire: Wire, hurry: Callable[[], None]) -> None:
    field = wire.page.get_by_role("application")
    field.press("+")
    (refused,) = wire.requests()
    field.press("+")  # a closer look at what would have been shown
    assert wire.requests() == []
    hurry()
    wire.settle()
    x0, x1, _, _ = limits(wire, 1)
    assert refused["panel"] == 1
    assert refused["x"] == pytest.approx([1 / 6, 5 / 6])
    assert x1 - x0 == pytest.approx(1 / 2.25, abs=0.01)
    field.press("0")
    assert [message["panel"] for message in wire.settle()] == [None]


def test_shift_and_drag_moves_what_is_shown(wire: Wire) -> None:
    drag(wire, (0.25, 0.25), (0.75, 0.75))
    wire.page.keyboard.down("Shift")
    drag(wire, (0.5, 0.5), (0.3, 0.6), (0.1, 0.7))
    wire.page.keyboard.up("Shift")
    assert limits(wire, 1) == pytest.approx([0.45, 0.95, 0.15, 0.65], abs=0.02)


def test_keys_zoom_move_and_go_back(wire: Wire) -> None:
    field = wire.page.get_by_role("application")
    assert "plus and minus zoom" in field.get_attribute("aria-label")
    drag(wire, (0.25, 0.25), (0.75, 0.75))  # the keys mean the panel that was used last
    field.press("+")
    wire.settle()
    assert limits(wire, 1) == pytest.approx([1 / 3, 2 / 3, 1 / 3, 2 / 3], abs=0.01)
    field.press("-")
    wire.settle()
    field.press("Shift+ArrowRight")
    field.press("Shift+ArrowDown")
    wire.settle()
    assert limits(wire, 1) == pytest.approx([0.375, 0.875, 0.125, 0.625], abs=0.02)
    field.press("0")
    wire.settle()
    assert limits(wire, 1) == [0, 1, 0, 1]


def test_a_double_click_goes_back(wire: Wire) -> None:
    drag(wire, (0.25, 0.25), (0.75, 0.75))
    wire.page.mouse.dblclick(*at(wire, 0.9, 0.9))
    wire.settle()
    assert limits(wire, 1) == [0, 1, 0, 1]


def test_without_panels_there_is_no_zoom(page: object) -> None:
    live = everything()
    for axes in live._state.scene.figure.axes:
        axes.set_axis_off()
    wire = Wire(live, page)
    wire.open()
    assert wire.button("Zoom").is_hidden()

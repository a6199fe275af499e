"""A figure alone, as large as the screen or the window: how it gets there, what keys do there, how
it comes back.
"""

from typing import Any

import pytest

from gradlab.live import Preset
from tests.live.conftest import Wire
from tests.live.examples import clipped

pytestmark = pytest.mark.browser

PRESETS = [
    Preset("Low", {"limit": 0.1}),
    Preset("High", {"limit": 10.0}),
    Preset("Late", {"phase": 5.0, "limit": 1.0}),
]
SHOWN = """() => { const root = document.querySelector(".gl-live"), frame = root.querySelector(".gl-frame");
  const { width, height } = root.getBoundingClientRect(), inner = frame.getBoundingClientRect();
  return { fills: width === innerWidth && height === innerHeight, whole: document.fullscreenElement === root,
    grown: inner.width / frame.offsetWidth, fits: inner.right <= width && inner.bottom <= height } }"""


def test_the_button_takes_the_screen_and_keys_go_from_preset_to_preset(page: Any) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    wire = Wire(clipped(presets=PRESETS), page)
    wire.open()
    wire.button("Present").click()
    page.wait_for_function("document.fullscreenElement")
    wire.settle()
    shown = page.evaluate(SHOWN)
    assert shown["fills"] and shown["whole"] and shown["fits"]
    assert shown["grown"] > 1.2
    assert wire.live._state.views.ratios[0] >= shown["grown"] - 0.25  # sharp at that size
    limits = []
    for key in ("ArrowRight", "PageDown", "ArrowDown", "PageDown", "ArrowLeft", "PageUp", "PageUp"):
        page.keyboard.press(key)
        wire.settle()
        limits.append(wire.live.values["limit"])
    assert limits == [0.1, 10.0, 1.0, 1.0, 10.0, 0.1, 0.1]
    wire.slider().press("ArrowRight")  # an arrow on a slider is the slider's
    wire.settle()
    assert 0.1 < wire.live.values["limit"] < 0.2
    wire.slider().press("PageDown")  # what a remote sends is not
    wire.settle()
    assert wire.live.values["limit"] in (0.1, 10.0)
    page.keyboard.press("Escape")
    page.wait_for_function("!document.fullscreenElement")
    wire.settle()
    shown = page.evaluate(SHOWN)
    assert not shown["fills"] and shown["grown"] == 1
    assert wire.live._state.views.ratios == [1.0]
    before = wire.live.values
    page.keyboard.press("PageDown")
    wire.settle()
    assert wire.live.values == before
    assert page.evaluate("document.activeElement.textContent") == "Present"


def test_python_lets_the_last_view_take_the_window(page: Any) -> None:
    wire = Wire(clipped(presets=PRESETS), page)
    wire.live._state.presented = True  # as `present` leaves it when there is no view yet
    wire.open()
    assert page.evaluate(SHOWN)["fills"]
    page.keyboard.press("Escape")
    assert not page.evaluate(SHOWN)["fills"]
    wire.live.present()
    wire.both()
    assert page.evaluate(SHOWN)["fills"]
    page.evaluate("close_view()")
    assert page.evaluate("document.querySelector('.gl-live')") is None


def test_what_was_noted_before_is_not_shown_to_the_room(page: Any) -> None:
    wire = Wire(clipped(presets=PRESETS, name="clipped"), page)
    wire.open()
    page.evaluate("""() => Object.defineProperty(navigator, "clipboard",
      { configurable: true, value: { writeText: async () => {} } })""")
    wire.button("Copy link").click()
    page.wait_for_function(
        "document.querySelector('.gl-aside').textContent === 'The link is copied.'"
    )
    wire.button("Present").click()
    assert wire.aside() == ""
    page.keyboard.press("Escape")

"""Playing a slider like a film."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from .conftest import Wire
from .everything import everything

pytestmark = pytest.mark.browser

LAST = 100  # two decades of 50 positions


@pytest.fixture
def wire(page: object) -> Wire:
    wire = Wire(everything(), page)
    wire.open()
    return wire


def position(wire: Wire) -> int:
    return int(wire.slider().input_value())


def put(wire: Wire, place: int) -> None:
    wire.slider().fill(str(place))
    wire.settle()


def until(wire: Wire, true: Callable[[], Any]) -> None:
    end = time.monotonic() + 10
    while not true():
        assert time.monotonic() < end
        wire.both()


def test_nothing_plays_by_itself_and_steps_go_both_ways(wire: Wire) -> None:
    assert wire.page.get_by_role("group", name="Play Limit").count() == 1
    wire.page.wait_for_timeout(200)
    assert position(wire) == 50
    wire.button("Step forward").click()
    wire.button("Step forward").click()
    wire.button("Step back").click()
    assert position(wire) == 51
    wire.settle()
    assert wire.live.values["limit"] == 1.05
    put(wire, 0)
    wire.button("Step back").click()
    assert position(wire) == 0


def test_playing_goes_on_to_the_end_and_stops(wire: Wire) -> None:
    put(wire, LAST - 4)
    wire.page.get_by_role("combobox", name="Speed").select_option("4×")
    wire.button("Play").click()
    assert wire.button("Pause").is_visible()
    until(wire, wire.button("Play").is_visible)
    wire.settle()
    assert position(wire) == LAST
    assert wire.live.values["limit"] == 10
    wire.button("Play").click()  # from the start again
    until(wire, lambda: 0 < position(wire) < LAST)
    wire.button("Pause").click()
    here = position(wire)
    wire.page.wait_for_timeout(200)
    assert position(wire) == here


def test_space_plays_and_pauses(wire: Wire) -> None:
    slider = wire.slider()
    slider.press("Space")
    until(wire, lambda: position(wire) > 51)
    slider.press("Space")
    here = position(wire)
    wire.page.wait_for_timeout(200)
    assert position(wire) == here
    slider.press("Space")
    slider.dispatch_event("pointerdown")  # whoever takes the handle stops the film
    assert wire.button("Play").is_visible()


def test_a_loop_goes_round(wire: Wire) -> None:
    put(wire, LAST - 2)
    loop = wire.button("Loop")
    loop.click()
    assert loop.get_attribute("aria-pressed") == "true"
    wire.page.get_by_role("combobox", name="Speed").select_option("4×")
    wire.button("Play").click()
    until(wire, lambda: position(wire) < 50)
    loop.click()
    assert loop.get_attribute("aria-pressed") == "false"
    assert wire.button("Pause").is_visible()


def rate(wire: Wire, speed: str) -> float:
    """Positions a second."""
    wire.page.get_by_role("combobox", name="Speed").select_option(speed)
    put(wire, 0)
    seconds: float = wire.page.evaluate("""async () => {
      const slider = document.querySelector(".gl-slider input"), play = document.querySelector("[aria-label=Play]");
      const moved = () => new Promise((done) => {
        const check = (was) => slider.value === was ? requestAnimationFrame(() => check(was)) : done(performance.now());
        check(slider.value);
      });
      play.click();
      const start = await moved(), first = Number(slider.value);
      for (let k = 0; k < 3; k++) await moved();
      const last = Number(slider.value), end = performance.now();
      document.querySelector("[aria-label=Pause]").click();
      return (end - start) / 1000 / (last - first);
    }""")
    return 1 / seconds


def test_speed_follows_the_number_of_positions(wire: Wire) -> None:
    assert rate(wire, "1×") == pytest.approx(LAST / 8, rel=0.25)
    assert rate(wire, "0.25×") == pytest.approx(LAST / 32, rel=0.25)


def test_readers_who_want_less_motion_get_less(wire: Wire) -> None:
    wire.page.emulate_media(reduced_motion="reduce")
    try:
        assert rate(wire, "4×") == pytest.approx(4, rel=0.1)
    finally:
        wire.page.emulate_media(reduced_motion="no-preference")


def test_no_style_moves_by_itself(wire: Wire) -> None:
    moving = """[...document.querySelectorAll("#here *")].filter((node) => {
      const style = getComputedStyle(node);
      return style.transitionDuration !== "0s" || style.animationName !== "none" }).length"""
    assert wire.page.evaluate(moving) == 0


def test_a_view_that_is_closed_stops_its_film(wire: Wire) -> None:
    wire.button("Play").click()
    wire.page.evaluate("window.close_view(); sent.length = 0")
    wire.page.wait_for_timeout(300)
    assert wire.requests() == []

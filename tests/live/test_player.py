"""Playing a slider like a film."""

from collections.abc import Callable, Iterator

import pytest

from tests.live.conftest import Wire
from tests.live.everything import everything

pytestmark = pytest.mark.browser

LAST = 100  # two decades of 50 positions
Film = Callable[..., None]


@pytest.fixture
def wire(page: object) -> Wire:
    wire = Wire(everything(), page)
    wire.open()
    return wire


@pytest.fixture
def film(wire: Wire) -> Iterator[Film]:
    """Let so many seconds pass for the player, in frames of a screen; without it, none pass."""
    wire.page.evaluate("""() => { const { requestAnimationFrame, cancelAnimationFrame } = window, due = new Map();
      let now = 0, asked = 0;
      performance.now = () => now;
      window.requestAnimationFrame = (act) => { due.set(++asked, act); return asked };
      window.cancelAnimationFrame = (id) => { due.delete(id) };
      window.film = (seconds, frames) => {
        for (let k = 0; k < frames; k++) {
          now += 1000 * seconds / frames;
          const acts = [...due.values()];
          due.clear();
          for (const act of acts) act(now);
        }
      };
      window.live_again = () => {
        delete performance.now;
        Object.assign(window, { requestAnimationFrame, cancelAnimationFrame });
      } }""")

    def film(seconds: float, frames: int | None = None) -> None:
        wire.page.evaluate(
            "([seconds, frames]) => film(seconds, frames)", [seconds, frames or round(60 * seconds)]
        )

    yield film
    wire.page.evaluate("live_again()")


def position(wire: Wire) -> int:
    return int(wire.slider().input_value())


def put(wire: Wire, place: int) -> None:
    wire.slider().fill(str(place))
    wire.settle()


def speed(wire: Wire, name: str) -> None:
    wire.page.get_by_role("combobox", name="Speed").select_option(name)


def test_nothing_plays_by_itself_and_steps_go_both_ways(wire: Wire, film: Film) -> None:
    assert wire.page.get_by_role("group", name="Play Limit").count() == 1
    film(1)
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


def test_playing_goes_on_to_the_end_and_stops(wire: Wire, film: Film) -> None:
    put(wire, LAST - 4)
    speed(wire, "4×")
    wire.button("Play").click()
    film(0.05)
    assert LAST - 4 < position(wire) < LAST
    assert wire.button("Pause").is_visible()
    film(0.1)
    assert wire.button("Play").is_visible()
    assert position(wire) == LAST
    wire.settle()
    assert wire.live.values["limit"] == 10
    wire.button("Play").click()  # from the start again
    film(0.5)
    here = position(wire)
    assert 0 < here < LAST
    wire.button("Pause").click()
    film(0.5)
    assert position(wire) == here


def test_a_real_screen_plays_it_too(wire: Wire) -> None:
    speed(wire, "4×")
    wire.button("Play").click()
    wire.until(lambda: position(wire) == LAST)
    wire.until(wire.button("Play").is_visible)


def test_space_plays_and_pauses(wire: Wire, film: Film) -> None:
    slider = wire.slider()
    slider.press("Space")
    film(0.5)
    here = position(wire)
    assert here > 51
    slider.press("Space")
    film(0.5)
    assert position(wire) == here
    slider.press("Space")
    slider.dispatch_event("pointerdown")  # whoever takes the handle stops the film
    assert wire.button("Play").is_visible()


def test_a_loop_goes_round(wire: Wire, film: Film) -> None:
    put(wire, LAST - 2)
    loop = wire.button("Loop")
    loop.click()
    assert loop.get_attribute("aria-pressed") == "true"
    speed(wire, "4×")
    wire.button("Play").click()
    film(0.5)
    assert 0 < position(wire) < 50
    loop.click()
    assert loop.get_attribute("aria-pressed") == "false"
    assert wire.button("Pause").is_visible()
    film(2)
    assert position(wire) == LAST
    assert wire.button("Play").is_visible()


def played(wire: Wire, film: Film, name: str, seconds: float, frames: int | None = None) -> int:
    """How many positions it goes on in that time."""
    put(wire, 0)
    speed(wire, name)
    wire.button("Step forward").click()
    wire.button("Play").click()
    film(seconds, frames)
    wire.button("Pause").click()
    return position(wire) - 1


def test_speed_follows_the_number_of_positions(wire: Wire, film: Film) -> None:
    assert played(wire, film, "1×", 4) == pytest.approx(LAST / 2, abs=1)
    assert played(wire, film, "0.25×", 16) == pytest.approx(LAST / 2, abs=1)


def test_time_without_frames_counts_little(wire: Wire, film: Film) -> None:
    """As in a page in the background, which goes on about where it was."""
    assert 0 < played(wire, film, "1×", 10, frames=1) <= 4


def test_readers_who_want_less_motion_get_less(wire: Wire, film: Film) -> None:
    wire.page.emulate_media(reduced_motion="reduce")
    try:
        assert played(wire, film, "4×", 4) == pytest.approx(16, abs=1)
    finally:
        wire.page.emulate_media(reduced_motion="no-preference")


def test_no_style_moves_by_itself(wire: Wire) -> None:
    moving = """[...document.querySelectorAll("#here *")].filter((node) => {
      const style = getComputedStyle(node);
      return style.transitionDuration !== "0s" || style.animationName !== "none" }).length"""
    assert wire.page.evaluate(moving) == 0


def test_a_view_that_is_closed_stops_its_film(wire: Wire, film: Film) -> None:
    wire.button("Play").click()
    wire.page.evaluate("window.close_view(); sent.length = 0")
    film(1)
    assert wire.requests() == []

"""Pictures that were sent ahead are shown at once, and the kernel is told later."""

from typing import Any

import pytest

from gradlab.live._bundle import WEB, joined
from gradlab.live.frame_cache import pack
from tests.live.conftest import Wire, canvas_url
from tests.live.everything import everything

pytestmark = pytest.mark.browser

HERE = 50  # the position of 1


@pytest.fixture
def wire(page: object) -> Wire:
    """A view whose kernel has not recorded anything yet."""
    live = everything(axis="limit")
    live._stage.preloader.wake = lambda at_once=False: None
    wire = Wire(live, page)
    wire.open()
    return wire


def send_ahead(wire: Wire, *places: int, edition: int | None = None) -> None:
    """Record positions of the limit as the kernel would, and send them."""
    live, entries, spec = wire.live, [], wire.live._state.controls["limit"]
    for place in places:
        description = live._state.describe({**live.values, "limit": spec.at(place)})
        key = f"{place},5-20,0,1,50,50,50"
        entries.append((key, description, live._state.scene.frame(1.0, description.items)))
    live._state.describe(live.values)
    now = live._state.edition if edition is None else edition
    colors = list(live._state.scene.colors.items())
    wire.replies.append(
        ({"kind": "reel", "ratio": 1, "edition": now, "colors": colors}, [pack(entries)])
    )
    wire.reply()


def shown(wire: Wire, limit: float) -> bool:
    """Whether the canvas shows what the kernel would paint for a limit."""
    live = wire.live
    description = live._state.describe({**live.values, "limit": limit})
    frame = live._state.scene.frame(1.0, description.items)
    live._state.describe(live.values)
    same: bool = wire.page.evaluate(
        """(list) => {
          const seen = document.querySelector(".gl-moving"), canvas = document.createElement("canvas");
          Object.assign(canvas, { width: seen.width, height: seen.height });
          window.paint(canvas, list);
          return canvas.toDataURL() === seen.toDataURL();
        }""",
        wire.text(frame),
    )
    return same


def test_a_picture_that_is_here_is_shown_at_once_with_its_words(wire: Wire) -> None:
    send_ahead(wire, 51, 52)
    wire.requests()
    said, heard = wire.page.evaluate("""() => { // in one piece, so that no timer goes off
      const slider = document.querySelector(".gl-slider input"), said = [];
      for (let k = 0; k < 2; k++) {
        slider.value = Number(slider.value) + 1;
        slider.dispatchEvent(new Event("input", {bubbles: true}));
        said.push(document.querySelector(".gl-readout").textContent);
      }
      return [said, window.sent.length];
    }""")
    assert said == ["limit 1.05, mean 0.86", "limit 1.1, mean 0.89"]
    assert heard == 0  # the kernel hears of it later, and once
    (message,) = [message for message in wire.settle() if message["kind"] == "set"]
    assert (message["values"], message["have"]) == ({"limit": 1.1}, True)
    assert shown(wire, 1.1)
    assert wire.live.values["limit"] == 1.1


def test_the_picture_is_painted_before_the_key_press_is_over(wire: Wire) -> None:
    send_ahead(wire, 51)
    before, after = wire.page.evaluate("""() => {
      const frame = () => document.querySelector(".gl-live").dataset.frame;
      const slider = document.querySelector(".gl-slider input");
      const before = frame();
      slider.value = Number(slider.value) + 1;
      slider.dispatchEvent(new Event("input", {bubbles: true}));
      return [before, frame()];
    }""")
    assert int(after) == int(before) + 1


def test_many_moves_of_the_pointer_make_one_painting_a_frame(wire: Wire) -> None:
    send_ahead(wire, *range(51, 60))
    painted = wire.page.evaluate("""async () => {
      const frame = () => Number(document.querySelector(".gl-live").dataset.frame), before = frame();
      const slider = document.querySelector(".gl-slider input");
      slider.dispatchEvent(new PointerEvent("pointerdown", {bubbles: true}));
      for (let place = 51; place < 60; place++) {
        slider.value = place;
        slider.dispatchEvent(new Event("input", {bubbles: true}));
      }
      const now = frame() - before;
      await new Promise(requestAnimationFrame);
      slider.dispatchEvent(new PointerEvent("pointerup", {bubbles: true}));
      return [now, frame() - before];
    }""")
    assert painted == [0, 1]
    assert shown(wire, 1.51)


def test_a_neighbor_stands_in_until_the_kernel_answers(wire: Wire) -> None:
    send_ahead(wire, 60)
    wire.slider().fill("57")
    assert shown(wire, 1.58)  # position 60
    assert wire.readout() == "limit 1, mean 0.84"  # but its words are not true here
    messages = wire.both()
    assert messages[0]["have"] is False
    assert shown(wire, 1.38)
    assert wire.readout().startswith("limit 1.38")
    before = canvas_url(wire.page)
    wire.slider().fill("80")  # too far from anything
    assert canvas_url(wire.page) == before


def test_pictures_the_kernel_was_asked_for_are_kept(wire: Wire) -> None:
    first = canvas_url(wire.page)
    wire.slider().press("ArrowRight")
    wire.settle()
    assert shown(wire, 1.05)
    second = canvas_url(wire.page)
    seen, said = wire.page.evaluate("""() => { // in one piece, so that no timer goes off
      const slider = document.querySelector(".gl-slider input"), seen = [], said = [];
      for (const step of [-1, 1]) {
        slider.value = Number(slider.value) + step;
        slider.dispatchEvent(new Event("input", {bubbles: true}));
        seen.push(document.querySelector(".gl-moving").toDataURL());
        said.push(document.querySelector(".gl-readout").textContent);
      }
      return [seen, said];
    }""")
    assert seen == [first, second]  # the first picture came with its key as well
    assert said == ["limit 1, mean 0.84", "limit 1.05, mean 0.86"]
    (message,) = wire.settle()
    assert message["have"] is True


def test_what_arrives_late_does_not_go_back(wire: Wire) -> None:
    send_ahead(wire, 52)
    wire.slider().press("ArrowRight")  # 51 is asked for
    wire.slider().press("ArrowRight")  # 52 is here
    assert shown(wire, 1.1)
    wire.both()
    assert shown(wire, 1.1)
    assert wire.slider().get_attribute("aria-valuetext") == "1.1 N"
    wire.settle()
    assert wire.live.values["limit"] == 1.1


def test_a_new_edition_drops_what_was_sent_ahead(wire: Wire) -> None:
    send_ahead(wire, 51)
    wire.live.redraw_still()
    wire.reply()
    wire.slider().press("ArrowRight")
    assert wire.requests()[0]["have"] is False
    send_ahead(wire, 53, edition=0)  # recorded before, arrived after
    wire.slider().fill("53")
    wire.live._inbox.receive({"kind": "set"})
    assert not shown(wire, 1.15)


def test_on_another_screen_the_pictures_are_dropped(wire: Wire) -> None:
    send_ahead(wire, 51)
    (view,) = wire.live._state.views
    wire.live._inbox.receive(
        {"kind": "open", "view": view, "ratio": 2.0, "dark": False, "narrow": False}
    )
    wire.reply()
    wire.page.wait_for_function("document.querySelector('.gl-moving').width === 1200")
    wire.slider().press("ArrowRight")
    assert wire.requests()[0]["have"] is False


def test_the_store_is_bounded_and_the_oldest_go(wire: Wire) -> None:
    kept = wire.page.evaluate(
        """async (source) => {
          const { newFrameCache } = await import(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
          const cache = newFrameCache(), list = new Uint8Array(2 ** 20), entry = { list, words: {} };
          for (let k = 0; k < 40; k++) cache.keep(String(k), entry);
          return Array.from({ length: 40 }, (_, k) => Boolean(cache.get(String(k))));
        }""",
        joined(WEB, "frame_cache.js") + "export { newFrameCache };",
    )
    assert kept == [False] * 8 + [True] * 32


def test_the_real_kernel_sends_every_position_ahead(page: Any) -> None:
    live = everything(axis="limit")
    wire = Wire(live, page)
    wire.open()
    wire.until(lambda: live._stage.preloader._thread is None)
    wire.reply()
    for key in ("Home", "End", "ArrowLeft"):
        wire.slider().press(key)
        assert wire.readout().startswith(
            f"limit {(wire.slider().get_attribute('aria-valuetext') or '').split()[0]},"
        )
    assert shown(wire, 9.55)
    asked = [message["have"] for message in wire.settle() if message["kind"] == "set"]
    assert asked and all(asked)

"""A view on a page without a notebook: what it shows first, the still picture, words aloud, size,
clean-up.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.live.conftest import Wire, canvas_url
from tests.live.examples import clipped

pytestmark = pytest.mark.browser


def test_a_view_shows_the_current_state(wire: Wire) -> None:
    page = wire.page
    assert page.get_by_role("img", name="The limit is 1.").count() == 1
    assert page.get_by_role("group", name="Clipping & more").count() == 1
    assert wire.readout() == "limit 1"
    assert wire.slider().get_attribute("aria-valuetext") == "1 N"
    assert page.get_by_role("combobox", name="Rule").input_value() == "0"
    page.get_by_text("Values").click()
    page.locator("td").first.wait_for()
    assert page.locator("table").inner_text().split() == ["limit", "1", "rule", "<sgd>"]
    wire.live.set(limit=50, rule="ada")
    wire.reply()
    assert page.get_by_role("img", name="The limit is 50.").count() == 1
    assert page.get_by_role("combobox", name="Rule").input_value() == "1"
    assert wire.slider().get_attribute("aria-valuetext") == "50 N"


def test_a_view_opened_later_starts_at_the_current_state(wire: Wire) -> None:
    wire.live.set(limit=0.5)
    wire.open()
    assert [s.get_attribute("aria-valuetext") for s in wire.slider().all()] == ["0.5 N", "0.5 N"]
    wire.live.set(limit=2)
    wire.reply()
    assert wire.page.locator(".gl-readout").all_inner_texts() == ["limit 2", "limit 2"]


def test_a_view_that_is_hidden_waits_until_it_is_shown(page: object) -> None:
    wire = Wire(clipped(), page)
    wire.page.evaluate("document.getElementById('here').hidden = true; window.open_view()")
    assert wire.requests() == []
    wire.page.evaluate("document.getElementById('here').hidden = false")
    wire.page.wait_for_function("window.sent.length")
    (message,) = wire.answer()
    assert (message["kind"], message["ratio"], message["dark"], message["narrow"]) == (
        "open",
        1,
        False,
        False,
    )


def test_an_opening_that_is_lost_is_asked_for_again(page: Any, hurry: Callable[[], None]) -> None:
    wire = Wire(clipped(), page)
    page.evaluate("window.open_view()")
    (lost,) = wire.requests()
    hurry()
    assert wire.answer() == [lost | {"again": True}]
    wire.reply()
    page.wait_for_function("document.querySelector('.gl-live[data-frame]')")
    hurry()
    assert wire.requests() == []


def test_a_figure_that_cannot_be_drawn_says_so_and_is_asked_for_again(
    page: Any,
    hurry: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    wire = Wire(clipped(), page)
    page.evaluate("window.open_view()")
    with monkeypatch.context() as broken, caplog.at_level("CRITICAL", "gradlab.live"):
        broken.setattr(wire.live._state.scene, "still", lambda ratio, dark: 1 / 0)
        wire.both()
    assert wire.readout() == "ZeroDivisionError: division by zero"
    hurry()
    wire.both()
    page.wait_for_function("document.querySelector('.gl-live[data-frame]')")
    assert wire.readout() == "limit 1"


@pytest.fixture
def undecoded(page: Any, hurry: object) -> Iterator[Wire]:
    """A view whose browser was given the first picture and never decodes it."""
    page.evaluate("""() => { const { decode } = HTMLImageElement.prototype;
      window.decode_again = () => { HTMLImageElement.prototype.decode = decode };
      window.asked = false;
      HTMLImageElement.prototype.decode = () => { window.asked = true; return new Promise(() => {}) } }""")
    wire = Wire(clipped(), page)
    page.evaluate("window.open_view()")
    wire.answer()
    wire.together()
    page.wait_for_function("window.asked")
    page.evaluate("new Promise((done) => setTimeout(done))")  # the patience with it has begun, too
    assert page.locator(".gl-live[data-frame]").count() == 0
    yield wire
    page.evaluate("decode_again()")


def test_a_browser_that_never_decodes_shows_the_picture_all_the_same(
    undecoded: Wire, hurry: Callable[[], None]
) -> None:
    hurry()
    undecoded.page.wait_for_function("document.querySelector('.gl-live[data-frame]')")
    assert undecoded.readout() == "limit 1"


def test_a_picture_that_is_overtaken_holds_nothing_back(
    undecoded: Wire, hurry: Callable[[], None]
) -> None:
    undecoded.page.evaluate("decode_again()")
    undecoded.live.redraw_still()
    undecoded.reply()
    undecoded.page.wait_for_function("document.querySelector('.gl-live[data-frame]')")
    hurry()  # the first is given up
    undecoded.reply()
    assert undecoded.page.locator(".gl-live[data-frame]").count() == 1
    assert undecoded.readout() == "limit 1"


def test_still_parts_are_exchanged_without_losing_the_frame(wire: Wire) -> None:
    before = wire.page.locator(".gl-still").get_attribute("src")
    wire.live._state.scene.figure.axes[0].set_title("a new title")
    wire.live.redraw_still()
    wire.live.set(limit=9)
    wire.reply()
    wire.page.wait_for_function(
        "(old) => document.querySelector('.gl-still').src !== old", arg=before
    )
    assert wire.readout() == "limit 9"
    assert wire.page.locator(".gl-area").count() == 1


def test_changes_are_announced_at_most_once_a_second(hurry: Callable[[], None], wire: Wire) -> None:
    spoken = wire.page.locator("[aria-live=polite]")
    hurry()
    wire.page.evaluate("""window.spoken = []; new MutationObserver(() => window.spoken.push(
        document.querySelector('[aria-live=polite]').textContent)).observe(
        document.querySelector('[aria-live=polite]'), {childList: true}); 0""")
    for limit in (2, 3, 4, 5):
        wire.live.set(limit=limit)
        wire.reply()
    assert wire.page.evaluate("window.spoken") == ["limit 2"]
    hurry()
    assert spoken.text_content() == "limit 5"
    assert wire.page.evaluate("window.spoken") == ["limit 2", "limit 5"]
    assert wire.page.locator("output[aria-live=off]").count() == wire.page.locator("output").count()


def test_a_status_stays_until_the_next_change(wire: Wire) -> None:
    wire.live.say("step 3 of 9")
    wire.reply()
    assert wire.readout() == "step 3 of 9"
    wire.live.set(limit=2)
    wire.reply()
    assert wire.readout() == "limit 2"


def test_a_reset_at_the_start_takes_a_status_away(wire: Wire) -> None:
    wire.live.say("Move your guess first.")
    wire.reply()
    wire.button("Reset").click()
    assert wire.readout() == "limit 1"
    assert wire.settle() == []


def test_a_status_outlives_the_picture_it_was_said_after(wire: Wire) -> None:
    before = wire.page.locator(".gl-still").get_attribute("src")
    wire.live.redraw_still(lambda: wire.live._state.scene.figure.axes[0].set_title("step 3"))
    wire.live.say("step 3 of 9")
    wire.together()
    wire.page.wait_for_function(
        "(old) => document.querySelector('.gl-still').src !== old", arg=before
    )
    assert wire.readout() == "step 3 of 9"
    wire.live.redraw_still()
    wire.together()
    wire.page.wait_for_function("document.querySelector('.gl-readout').textContent === 'limit 1'")


def test_a_status_goes_when_a_state_comes_back_that_was_here_before(page: object) -> None:
    wire = Wire(clipped(axis="limit"), page)
    wire.open()
    wire.live.say("done")
    wire.reply()
    wire.slider().press("ArrowRight")
    assert wire.readout() == "done"
    wire.slider().press("ArrowLeft")
    assert wire.readout() == "limit 1"


def test_the_picture_fits_a_narrow_page(wire: Wire) -> None:
    wire.page.set_viewport_size({"width": 390, "height": 844})
    wire.page.wait_for_function("window.sent.length")
    (message,) = wire.both()
    assert (message["kind"], message["narrow"]) == ("open", True)
    for width in (390, 300):
        wire.page.set_viewport_size({"width": width, "height": 844})
        assert wire.page.evaluate("document.documentElement.scrollWidth") <= width
        box = wire.page.locator(".gl-moving").bounding_box()
        assert box["width"] == pytest.approx(width, abs=1)
        assert box["height"] == pytest.approx(width * 2.5 / 4, abs=1)
    wire.page.set_viewport_size({"width": 900, "height": 700})
    assert wire.page.locator(".gl-moving").bounding_box()["width"] == 400


def test_the_view_that_the_reader_turns_to_has_its_arrangement(page: Any) -> None:
    arranged: list[bool] = []
    wire = Wire(clipped(arrange=arranged.append), page)
    wire.open()
    page.evaluate("document.querySelector('.gl-live').style.width = '500px'")
    page.wait_for_function("window.sent.length")
    wire.settle()
    wire.open()  # a wide one
    assert arranged == [True, False]
    assert wire.settle() == []  # the narrow one keeps still
    narrow, wide = page.locator(".gl-live").all()
    narrow.get_by_role("slider", name="Limit", exact=True).focus()
    assert [message["narrow"] for message in wire.settle()] == [True]
    narrow.get_by_role("slider", name="Phase").focus()
    assert wire.settle() == []
    wide.locator(".gl-picture").click()
    assert wire.settle()[0]["narrow"] is False
    assert arranged == [True, False, True, False]


def test_a_figure_of_one_arrangement_is_not_asked_again(wire: Wire) -> None:
    wire.page.set_viewport_size({"width": 390, "height": 844})
    wire.page.wait_for_function("window.sent.length")
    wire.settle()
    wire.slider().focus()
    assert wire.settle() == []


def test_buffers_need_not_be_aligned(wire: Wire) -> None:
    same = wire.page.evaluate(
        """(list) => {
          const data = Uint8Array.from(atob(list), (c) => c.charCodeAt(0)), shifted = new Uint8Array(data.length + 3);
          shifted.set(data, 3);
          const [a, b] = [data, shifted.subarray(3)].map((bytes) => {
            const canvas = Object.assign(document.createElement("canvas"), { width: 400, height: 250 });
            window.module.paint(canvas.getContext("2d"), new DataView(bytes.buffer, bytes.byteOffset, bytes.length));
            return canvas.toDataURL();
          });
          return a === b && a.length > 2000;
        }""",
        wire.text(wire.live.frame()),
    )
    assert same


def test_late_frames_are_dropped(wire: Wire) -> None:
    wire.live.set(limit=2)
    early, _trait = wire.replies
    wire.replies.clear()
    wire.live.set(limit=3)
    wire.reply()
    newest = canvas_url(wire.page)
    wire.replies.append(early)
    wire.reply()
    assert canvas_url(wire.page) == newest
    assert wire.readout() == "limit 3"
    assert wire.slider().get_attribute("aria-valuetext") == "3 N"


def test_cleaning_up_leaves_nothing(wire: Wire) -> None:
    wire.page.evaluate("window.close_view()")
    (message,) = wire.answer()
    assert message["kind"] == "close"
    assert wire.live._state.views == {}
    assert wire.page.evaluate("Object.values(window.listeners).flat().length") == 0
    assert wire.page.locator("#here").inner_html() == ""
    wire.live.set(limit=2)
    # Which is there without a view as well.
    assert [content["kind"] for content, _ in wire.replies] == ["trait"]

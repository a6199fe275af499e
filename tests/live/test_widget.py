"""The browser's half on a page without a notebook: requests, frames, keys, pointer, clean-up."""

import math
from typing import Any

import pytest

from .conftest import Wire
from .examples import clipped

pytestmark = pytest.mark.browser


@pytest.fixture
def wire(page: Any) -> Wire:
    wire = Wire(clipped(), page)
    wire.open()
    return wire


def slider(wire: Wire, name: str = "Limit") -> Any:
    return wire.page.get_by_role("slider", name=name)


def set_requests(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [message["values"] for message in messages if message["kind"] == "set"]


def canvas_hash(wire: Wire) -> str:
    return wire.page.evaluate("document.querySelector('.gl-moving').toDataURL()")


def test_a_view_shows_the_current_state(wire: Wire) -> None:
    page = wire.page
    assert page.get_by_role("img", name="The limit is 1.").count() == 1
    assert page.get_by_role("group", name="Clipping & more").count() == 1
    assert page.locator(".gl-readout").inner_text() == "limit 1"
    assert slider(wire).get_attribute("aria-valuetext") == "1 N"
    assert page.get_by_role("combobox", name="Rule").input_value() == "0"
    page.get_by_text("Values").click()
    page.locator("td").first.wait_for()
    assert page.locator("table").inner_text().split() == ["limit", "1", "rule", "<sgd>"]
    wire.live.set(limit=50, rule="ada")
    wire.reply()
    assert page.get_by_role("img", name="The limit is 50.").count() == 1
    assert page.get_by_role("combobox", name="Rule").input_value() == "1"
    assert slider(wire).get_attribute("aria-valuetext") == "50 N"


def test_a_view_opened_later_starts_at_the_current_state(wire: Wire) -> None:
    wire.live.set(limit=0.5)
    wire.open()
    assert [s.get_attribute("aria-valuetext") for s in slider(wire).all()] == ["0.5 N", "0.5 N"]
    wire.live.set(limit=2)
    wire.reply()
    assert wire.page.locator(".gl-readout").all_inner_texts() == ["limit 2", "limit 2"]


def test_the_newest_value_wins_and_one_request_is_under_way(wire: Wire) -> None:
    slider(wire).focus()
    for _ in range(10):
        wire.page.keyboard.press("ArrowRight")
    first = wire.answer()
    assert len(set_requests(first)) == 1
    shown = slider(wire).get_attribute("aria-valuetext")
    assert shown == "1.58 N"  # the slider's own read-out does not wait
    assert wire.answer() == []
    wire.reply()
    assert slider(wire).get_attribute("aria-valuetext") == shown
    assert set_requests(wire.both()) == [{"limit": 1.58}]
    assert wire.live.values["limit"] == 1.58
    assert wire.both() == []
    assert wire.page.locator(".gl-readout").inner_text() == "limit 1.58"


def test_different_controls_share_the_next_request(wire: Wire) -> None:
    for name in ("Limit", "Phase", "Steps"):
        slider(wire, name).press("End")
    assert set_requests(wire.both()) == [{"limit": 100}]
    assert set_requests(wire.both()) == [{"phase": 10, "steps": 9}]


def test_a_late_answer_is_nudged_a_few_times_only(wire: Wire) -> None:
    slider(wire).press("Home")
    wire.page.wait_for_timeout(300)
    kinds = wire.page.evaluate("window.sent.splice(0).map((message) => message.kind)")
    assert kinds == ["set", "nudge", "nudge"]
    wire.live._inbox.receive({"kind": "nudge"})
    assert wire.replies == []


def test_an_answer_without_a_picture_lets_the_view_go_on(wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL", "gradlab.live")
    before = canvas_hash(wire)
    wire.page.get_by_role("combobox").select_option("broken")
    wire.both()
    assert wire.page.locator(".gl-readout.gl-error").inner_text() == "RuntimeError: no such rule"
    assert wire.page.get_by_role("combobox").input_value() == "0"
    assert canvas_hash(wire) == before
    slider(wire).press("Home")
    wire.both()
    assert wire.page.locator(".gl-error").count() == 0
    assert wire.page.locator(".gl-readout").inner_text() == "limit 0.01"
    assert canvas_hash(wire) != before


def test_late_frames_are_dropped(wire: Wire) -> None:
    wire.live.set(limit=2)
    early = wire.replies.pop()
    wire.live.set(limit=3)
    wire.reply()
    newest = canvas_hash(wire)
    wire.replies.append(early)
    wire.reply()
    assert canvas_hash(wire) == newest
    assert wire.page.locator(".gl-readout").inner_text() == "limit 3"
    assert slider(wire).get_attribute("aria-valuetext") == "3 N"


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
def test_keys_move_sliders_and_nothing_else(wire: Wire, name: str, keys: str, expected: str) -> None:
    wire.page.evaluate("window.escaped = 0; document.onkeydown = () => window.escaped++; 0")
    for key in keys.split():
        slider(wire, name).press(key)
    assert slider(wire, name).get_attribute("aria-valuetext") == expected
    assert wire.page.evaluate("window.escaped") == 0


def test_everything_that_takes_the_focus_keeps_its_keys_and_is_large_enough(wire: Wire) -> None:
    focusable = wire.page.locator("input, select, button, summary")
    assert focusable.count() == 6
    for item in focusable.all():
        assert item.get_attribute("data-lm-suppress-shortcuts") == "true"
        assert item.bounding_box()["height"] >= 24


def drag(wire: Wire, *places: tuple[float, float]) -> None:
    box = wire.page.locator(".gl-area").bounding_box()
    points = [(box["x"] + box["width"] * x, box["y"] + box["height"] * (1 - y)) for x, y in places]
    wire.page.mouse.move(*points[0])
    wire.page.mouse.down()
    for point in points[1:]:
        wire.page.mouse.move(*point)
    wire.page.mouse.up()
    while wire.both():
        pass


def test_dragging_sets_sliders_on_linear_and_log_axes(wire: Wire) -> None:
    drag(wire, (0.2, 0.2), (0.5, 0.5), (0.75, 0.75))
    assert wire.live.values["phase"] == 7.5
    assert math.isclose(wire.live.values["limit"], 10, rel_tol=0.05)
    assert slider(wire).get_attribute("aria-valuetext") == f"{wire.live.values['limit']:g} N"
    focused = "document.activeElement.labels[0].textContent"
    assert wire.page.evaluate(focused) == "Phase"  # the keys go on where the pointer stopped


def test_dragging_beyond_the_axes_stops_at_the_ends(wire: Wire) -> None:
    drag(wire, (0.5, 0.5), (-0.3, 1.3))
    assert (wire.live.values["phase"], wire.live.values["limit"]) == (0.0, 100.0)
    drag(wire, (0.5, 0.5), (1.3, -0.1))
    assert (wire.live.values["phase"], wire.live.values["limit"]) == (10.0, 0.01)


def test_moving_the_pointer_without_pressing_does_nothing(wire: Wire) -> None:
    box = wire.page.locator(".gl-area").bounding_box()
    wire.page.mouse.move(box["x"] + 50, box["y"] + 50)
    assert wire.requests() == []
    assert wire.page.locator(".gl-area").evaluate("(node) => getComputedStyle(node).touchAction") == "none"


def test_what_the_reader_moves_is_not_pulled_back(wire: Wire) -> None:
    slider(wire).press("End")
    wire.live.set(limit=5, phase=2)  # before Python has read the request
    wire.reply()
    assert slider(wire).get_attribute("aria-valuetext") == "100 N"
    assert slider(wire, "Phase").get_attribute("aria-valuetext") == "2.0"
    wire.both()
    assert wire.live.values["limit"] == 100


def test_a_button_is_busy_until_its_work_is_done(wire: Wire) -> None:
    button = wire.page.get_by_role("button", name="Train")
    button.click()
    (message,) = wire.requests()
    assert (message["kind"], message["name"]) == ("press", "train")
    wire.page.evaluate("window.say({kind: 'busy', name: 'train', busy: true})")
    assert (button.is_disabled(), button.get_attribute("aria-busy")) == (True, "true")
    wire.live.say("step 3 of 9")
    wire.reply()
    assert wire.page.locator(".gl-readout").inner_text() == "step 3 of 9"
    wire.page.evaluate("window.say({kind: 'busy', name: 'train', busy: false})")
    assert (button.is_disabled(), button.get_attribute("aria-busy")) == (False, "false")


def test_changes_are_announced_at_most_once_a_second(wire: Wire) -> None:
    spoken = wire.page.locator("[aria-live=polite]")
    wire.page.evaluate("""window.spoken = []; new MutationObserver(() => window.spoken.push(
        document.querySelector('[aria-live=polite]').textContent)).observe(
        document.querySelector('[aria-live=polite]'), {childList: true}); 0""")
    for limit in (2, 3, 4, 5):
        wire.live.set(limit=limit)
        wire.reply()
    assert len(wire.page.evaluate("window.spoken")) <= 1
    wire.page.wait_for_timeout(1200)
    assert spoken.text_content() == "limit 5"
    assert len(wire.page.evaluate("window.spoken")) <= 2


def test_still_parts_are_exchanged_without_losing_the_frame(wire: Wire) -> None:
    before = wire.page.locator(".gl-still").get_attribute("src")
    wire.live._scene.figure.axes[0].set_title("a new title")
    wire.live.redraw_still()
    wire.live.set(limit=9)
    wire.reply()
    wire.page.wait_for_function("(old) => document.querySelector('.gl-still').src !== old", arg=before)
    assert wire.page.locator(".gl-readout").inner_text() == "limit 9"
    assert wire.page.locator(".gl-area").count() == 1


def test_the_picture_fits_a_narrow_page(wire: Wire) -> None:
    wire.page.set_viewport_size({"width": 390, "height": 844})
    assert wire.page.evaluate("document.documentElement.scrollWidth") <= 390
    box = wire.page.locator(".gl-moving").bounding_box()
    assert box["width"] == pytest.approx(390, abs=1)
    assert box["height"] == pytest.approx(390 * 2.5 / 4, abs=1)
    wire.page.set_viewport_size({"width": 900, "height": 700})
    assert wire.page.locator(".gl-moving").bounding_box()["width"] == 400


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


def test_cleaning_up_leaves_nothing(wire: Wire) -> None:
    wire.page.evaluate("window.close_view()")
    (message,) = wire.answer()
    assert message["kind"] == "close"
    assert wire.live._inbox.views == {}
    assert wire.page.evaluate("window.listeners.length") == 0
    assert wire.page.locator("#here").inner_html() == ""
    wire.live.set(limit=2)
    assert wire.replies == []

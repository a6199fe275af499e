"""What the browser asks the kernel for: one request at a time, the newest value, and nothing pulled
back.
"""

from collections.abc import Callable

import pytest

from gradlab._base.addresses import PROMPT
from tests.live.conftest import QUIET_MS, Wire, canvas_url, sets

pytestmark = pytest.mark.browser


def test_the_newest_value_wins_and_one_request_is_under_way(wire: Wire) -> None:
    wire.slider().focus()
    for _ in range(10):
        wire.page.keyboard.press("ArrowRight")
    first = wire.answer()
    assert len(sets(first)) == 1
    assert first[0]["have"] is False
    shown = wire.slider().get_attribute("aria-valuetext")
    assert shown == "1.58 N"  # the slider's own read-out does not wait
    assert wire.answer() == []
    wire.reply()
    assert wire.slider().get_attribute("aria-valuetext") == shown
    assert sets(wire.both()) == [{"limit": 1.58}]
    assert wire.live.values["limit"] == 1.58
    assert wire.both() == []
    assert wire.readout() == "limit 1.58"


def test_different_controls_share_the_next_request(wire: Wire) -> None:
    for name in ("Limit", "Phase", "Steps"):
        wire.slider(name).press("End")
    assert sets(wire.both()) == [{"limit": 100}]
    assert sets(wire.both()) == [{"phase": 10, "steps": 9}]


def test_a_late_answer_is_nudged_a_few_times_only(wire: Wire) -> None:
    wire.slider().press("Home")
    wire.page.wait_for_function("sent.length > 2")
    wire.page.wait_for_timeout(QUIET_MS)
    kinds = wire.page.evaluate("window.sent.splice(0).map((message) => message.kind)")
    assert kinds == ["set", "nudge", "nudge"]
    wire.live._inbox.receive({"kind": "nudge"})
    assert wire.replies == []


@pytest.fixture
def prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel was started by a server that sends every packet at once."""
    monkeypatch.setenv(PROMPT, "1")


def test_a_server_that_sends_at_once_needs_no_nudge(prompt: None, wire: Wire) -> None:
    wire.slider().press("Home")
    wire.page.wait_for_timeout(QUIET_MS)
    assert wire.page.evaluate("window.sent.splice(0).map((message) => message.kind)") == ["set"]


def test_an_answer_that_never_comes_blocks_nothing(wire: Wire, hurry: Callable[[], None]) -> None:
    wire.slider().press("Home")
    assert sets(wire.requests()) == [{"limit": 0.01}]  # lost
    wire.slider().press("End")
    assert wire.requests() == []
    hurry()
    assert sets(wire.both()) == [{"limit": 100}]
    assert wire.readout() == "limit 100"


def test_an_answer_with_the_picture_of_another_screen_counts(wire: Wire) -> None:
    wire.slider().press("Home")
    wire.answer()
    content, buffers = wire.replies[0]
    wire.replies[:] = [({**content, "ratio": 2.0}, buffers)]
    wire.reply()
    wire.slider().press("End")
    assert sets(wire.both()) == [{"limit": 100}]


def test_an_answer_without_a_picture_lets_the_view_go_on(
    wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("CRITICAL", "gradlab.live")
    before = canvas_url(wire.page)
    wire.page.get_by_role("combobox").select_option("broken")
    wire.both()
    assert wire.page.locator(".gl-readout.gl-error").inner_text() == "RuntimeError: no such rule"
    assert wire.page.get_by_role("combobox").input_value() == "0"
    assert canvas_url(wire.page) == before
    wire.slider().press("Home")
    wire.both()
    assert wire.page.locator(".gl-error").count() == 0
    assert wire.readout() == "limit 0.01"
    assert canvas_url(wire.page) != before


def test_what_the_reader_moves_is_not_pulled_back(wire: Wire) -> None:
    wire.slider().press("End")
    wire.live.set(limit=5, phase=2)  # before Python has read the request
    wire.reply()
    assert wire.slider().get_attribute("aria-valuetext") == "100 N"
    assert wire.slider("Phase").get_attribute("aria-valuetext") == "2.0"
    wire.both()
    assert wire.live.values["limit"] == 100


def test_a_button_is_busy_until_its_work_is_done(wire: Wire) -> None:
    button = wire.button("Train")
    button.click()
    (message,) = wire.requests()
    assert (message["kind"], message["name"]) == ("press", "train")
    wire.page.evaluate("window.say({kind: 'busy', name: 'train', busy: true})")
    assert (button.is_disabled(), button.get_attribute("aria-busy")) == (True, "true")
    wire.page.evaluate("window.say({kind: 'busy', name: 'train', busy: false})")
    assert (button.is_disabled(), button.get_attribute("aria-busy")) == (False, "false")


def test_a_trait_set_by_another_widget_is_shown_and_not_asked_for(wire: Wire) -> None:
    wire.page.evaluate("model.set('limit', 50); model.save_changes()")  # as jslink does
    assert wire.slider().get_attribute("aria-valuetext") == "50 N"
    assert wire.settle() == []
    wire.live.limit = 50  # what was saved
    wire.reply()
    assert wire.readout() == "limit 50"
    assert wire.settle() == []


def test_the_echo_of_a_move_moves_nothing(wire: Wire) -> None:
    wire.slider().press("End")
    wire.slider().press("ArrowLeft")
    wire.answer()
    wire.reply()  # 100, and that the trait is 100
    assert wire.page.evaluate("traits.limit") == 100
    assert wire.slider().get_attribute("aria-valuetext") == "95.5 N"
    wire.settle()
    assert (wire.live.values["limit"], wire.page.evaluate("traits.limit")) == (95.5, 95.5)
    assert wire.page.evaluate("saved") == []

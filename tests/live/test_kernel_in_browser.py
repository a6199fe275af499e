"""A figure whose kernel is gone says so, shows what belongs together, and moves no more; nothing is
thrown.
"""

from typing import Any

import pytest

from tests.live.conftest import Wire, canvas_url, sets
from tests.live.everything import everything
from tests.live.examples import clipped

pytestmark = pytest.mark.browser

NO_KERNEL = "No kernel: run the cell again. The controls show what the picture shows."

# What JupyterLab does when a kernel is shut down: each message to it throws.
SHUT_DOWN = "() => { model.send = () => { throw new Error('Cannot send') } }"
# The part of a kernel that widgets see: signals that can be connected to.
HOST = """() => {
  const signal = () => { const all = new Set(); return {
    connect: (f) => all.add(f), disconnect: (f) => all.delete(f), count: () => all.size,
    emit: (value) => { for (const f of [...all]) f(null, value) } } };
  window.kernel = { isDisposed: false, statusChanged: signal(), connectionStatusChanged: signal(), disposed: signal() };
  model.widget_manager = { kernel: window.kernel };
}"""


def bar(wire: Wire) -> str:
    """What is said in the place of the target."""
    text: str = wire.page.locator(".gl-head").get_by_role("status").inner_text()
    return text


def hosted(page: Any) -> Wire:
    """A figure in a host that shows widgets its kernel."""
    page.evaluate(HOST)
    wire = Wire(clipped(), page)
    wire.open()
    return wire


def test_a_kernel_that_cannot_be_sent_to_is_gone(wire: Wire) -> None:
    before, position = canvas_url(wire.page), wire.slider().input_value()
    wire.page.evaluate(SHUT_DOWN)
    wire.slider().press("End")
    assert bar(wire) == NO_KERNEL
    assert wire.slider().get_attribute("aria-valuetext") == "1 N"  # what the picture shows
    assert wire.slider().input_value() == position
    assert wire.readout() == "limit 1"
    assert canvas_url(wire.page) == before
    wire.page.wait_for_timeout(400)
    assert wire.page.locator(".gl-computing").count() == 0


def test_a_promise_that_is_broken_counts_too(wire: Wire) -> None:
    wire.page.evaluate("() => { model.send = () => Promise.reject(new Error('gone')) }")
    wire.slider().press("End")
    wire.page.wait_for_function("document.querySelector('.gl-kernel').textContent !== ''")
    assert wire.slider().get_attribute("aria-valuetext") == "1 N"


def test_nothing_moves_without_a_kernel_and_the_focus_stays(wire: Wire) -> None:
    page = wire.page
    page.evaluate(SHUT_DOWN)
    wire.slider().press("End")
    assert page.evaluate("document.activeElement.type") == "range"
    wire.slider().press("ArrowRight")
    wire.slider("Phase").press("End")
    wire.button("Reset").press("Enter")
    page.locator(".gl-handle").first.press("ArrowRight")
    page.get_by_role("combobox").press("ArrowDown")
    texts = [
        slider.get_attribute("aria-valuetext") for slider in page.locator("input[type=range]").all()
    ]
    assert texts == ["1 N", "0.0", "3"]
    assert page.get_by_role("combobox").input_value() == "0"
    for control in page.locator(
        ".gl-main input, .gl-controls :is(input, select, button), .gl-handle"
    ).all():
        assert control.get_attribute("aria-disabled") == "true"
    assert page.evaluate("window.sent.filter(({ kind }) => kind === 'press').length") == 0


def test_what_is_under_way_is_dropped_with_the_kernel(page: Any) -> None:
    wire = hosted(page)
    wire.slider().press("End")
    wire.slider("Phase").press("End")
    assert sets(wire.requests()) == [{"limit": 100}]  # unanswered; the phase waits
    page.evaluate("kernel.statusChanged.emit('restarting')")
    assert bar(wire) == NO_KERNEL
    assert wire.slider().get_attribute("aria-valuetext") == "1 N"
    assert wire.slider("Phase").get_attribute("aria-valuetext") == "0.0"
    assert wire.requests() == []


@pytest.mark.parametrize(
    "end",
    [
        "kernel.statusChanged.emit('dead')",
        "kernel.statusChanged.emit('autorestarting')",
        "kernel.disposed.emit()",
        "kernel.isDisposed = true; kernel.connectionStatusChanged.emit('disconnected')",
        "[...window.listeners['comm_live_update']].forEach((f) => f())",
    ],
)
def test_the_host_tells_before_anybody_moves_anything(page: Any, end: str) -> None:
    wire = hosted(page)
    page.evaluate(f"() => {{ {end} }}")
    assert bar(wire) == NO_KERNEL
    assert wire.slider().get_attribute("aria-disabled") == "true"


def test_a_connection_that_comes_back_brings_the_newest_state(page: Any) -> None:
    wire = hosted(page)
    page.evaluate("kernel.connectionStatusChanged.emit('connecting')")
    assert bar(wire) == "No connection to the kernel. The controls show what the picture shows."
    wire.live._state.values = {**wire.live._state.values, "limit": 50}  # a message that was lost
    wire.live.refresh()
    wire.replies.clear()
    page.evaluate("kernel.connectionStatusChanged.emit('connected')")
    wire.settle()
    assert bar(wire) == ""
    assert wire.readout() == "limit 50"
    wire.slider().press("End")
    wire.settle()
    assert wire.readout() == "limit 100"


def test_a_kernel_that_only_works_is_not_gone(page: Any) -> None:
    wire = hosted(page)
    for status in ("busy", "idle", "unknown"):
        page.evaluate("(status) => kernel.statusChanged.emit(status)", status)
    assert bar(wire) == ""


def test_a_play_ends_with_the_kernel(page: Any) -> None:
    wire = Wire(everything(), page)
    wire.open()
    wire.button("Play").click()
    page.evaluate(SHUT_DOWN)
    page.wait_for_function("document.querySelector('.gl-kernel').textContent !== ''")
    assert wire.button("Pause").count() == 0
    assert wire.button("Play").get_attribute("aria-disabled") == "true"
    wire.button("Play").press("Enter")
    assert wire.button("Pause").count() == 0


def test_a_button_at_work_does_not_stay_busy(page: Any) -> None:
    wire = hosted(page)
    page.evaluate("window.say({kind: 'busy', name: 'train', busy: true})")
    assert wire.button("Train").get_attribute("aria-busy") == "true"
    page.evaluate("kernel.statusChanged.emit('dead')")
    assert wire.button("Train").get_attribute("aria-busy") == "false"
    assert wire.button("Train").get_attribute("aria-disabled") == "true"


def test_what_needs_no_kernel_still_works(page: Any) -> None:
    wire = Wire(everything(folded=("rule",)), page)
    wire.open()
    page.evaluate(SHUT_DOWN)
    page.evaluate("() => { model.save_changes = () => { throw new Error('Cannot send') } }")
    chip = wire.button("Tight")
    chip.press("Enter")
    assert bar(wire) == NO_KERNEL
    assert chip.get_attribute("aria-pressed") == "false"
    assert page.locator(".gl-goal").is_hidden()
    page.locator(".gl-field").press("Home")  # the items are here
    assert wire.aside() == "step 0: norm 1"
    page.locator(".gl-more summary").click()
    assert page.get_by_label("Rule").is_visible()
    page.get_by_text("Values").click()
    assert page.locator("td").inner_text() == "1"
    wire.button("Present").click()
    wire.button("Leave").press("Escape")
    assert page.locator(".gl-presenting").count() == 0
    for name in ("Copy link", "Present"):
        assert wire.button(name).get_attribute("aria-disabled") is None
    for name in ("Reset", "Zoom", "Tight"):
        assert wire.button(name).get_attribute("aria-disabled") == "true"


def test_a_view_lets_go_of_the_kernel_when_it_is_closed(page: Any) -> None:
    wire = hosted(page)
    page.evaluate(SHUT_DOWN)
    page.evaluate("window.close_view()")  # as when the cell runs again: nothing is thrown
    signals = "[kernel.statusChanged, kernel.connectionStatusChanged, kernel.disposed]"
    assert page.evaluate(f"{signals}.map((signal) => signal.count())") == [0, 0, 0]
    assert wire.requests() == []


def test_voila_has_no_cells_to_run(wire: Wire) -> None:
    wire.page.evaluate("() => { document.body.dataset.voila = 'voila' }")
    wire.page.evaluate(SHUT_DOWN)
    wire.slider().press("End")
    said = bar(wire)
    wire.page.evaluate("() => { delete document.body.dataset.voila }")
    assert said.startswith("No kernel: reload the page.")

"""A picture that is older than the controls is dimmed and says so, but not while answers come at
once.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.live.conftest import Wire
from tests.live.examples import clipped

pytestmark = pytest.mark.browser

DIMMED = "document.querySelector('.gl-live').classList.contains('gl-computing')"
# The moments after which a picture is old: they never end by themselves.
HOLD = """() => { const { setTimeout, clearTimeout } = window;
  window.moments = new Map();
  window.usual = { setTimeout, clearTimeout };
  window.setTimeout = (act, ms, ...rest) => {
    const id = setTimeout(ms === 300 ? () => {} : act, ms, ...rest);
    if (ms === 300) window.moments.set(id, act);
    return id };
  window.clearTimeout = (id) => { window.moments.delete(id); clearTimeout(id) } }"""


@pytest.fixture
def moments(page: Any) -> Iterator[Callable[[], list[int]]]:
    """Which moments have begun and are not over."""
    page.evaluate(HOLD)
    yield lambda: page.evaluate("[...moments.keys()]")
    page.evaluate("() => { Object.assign(window, usual) }")


def is_busy(wire: Wire) -> bool:
    busy: bool = wire.page.locator(".gl-moving").get_attribute("aria-busy") == "true"
    return busy


def test_an_unanswered_move_dims_the_picture_until_the_answer(wire: Wire) -> None:
    assert not is_busy(wire)
    wire.slider().press("End")
    wire.page.wait_for_function(DIMMED)
    pill = wire.page.locator(".gl-picture").get_by_role("status")
    assert pill.inner_text() == "computing"
    assert is_busy(wire)
    assert wire.readout() == "limit 1"  # old, and dimmed
    assert wire.slider().get_attribute("aria-valuetext") == "100 N"
    wire.settle()
    assert wire.readout() == "limit 100"
    assert pill.inner_text() == ""
    assert not is_busy(wire)
    assert not wire.page.evaluate(DIMMED)


def test_an_answer_that_comes_at_once_does_not_flicker(
    moments: Callable[[], list[int]], wire: Wire
) -> None:
    assert moments() == []
    wire.slider().press("End")
    assert len(moments()) == 1
    wire.settle()
    assert moments() == []
    assert not is_busy(wire)


def test_pictures_that_follow_a_drag_are_not_old(
    moments: Callable[[], list[int]], wire: Wire
) -> None:
    """The controls are ahead all the time, but each picture is young."""
    wire.slider().press("ArrowRight")
    (first,) = moments()
    wire.slider().press("ArrowRight")  # waits for the answer to the first
    wire.answer()
    wire.reply()  # the picture of the first, while the second is asked for
    (second,) = moments()
    assert second != first
    wire.settle()
    assert moments() == []


def test_a_picture_that_is_here_already_is_not_old(
    moments: Callable[[], list[int]], page: Any
) -> None:
    wire = Wire(clipped(axis="limit"), page)
    wire.open()
    wire.slider().press("ArrowRight")
    wire.settle()
    wire.slider().press("ArrowLeft")  # where it was before; nothing answers
    assert wire.readout() == "limit 1"
    assert moments() == []
    wire.settle()


def test_a_move_that_is_taken_back_is_not_waited_for(wire: Wire) -> None:
    wire.slider().press("ArrowRight")
    wire.page.wait_for_function(DIMMED)
    wire.slider().press("ArrowLeft")
    assert not wire.page.evaluate(DIMMED)
    wire.settle()
    assert wire.readout() == "limit 1"


def test_a_widget_that_moves_it_in_the_page_makes_the_picture_old(wire: Wire) -> None:
    wire.page.evaluate("model.set('limit', 50); model.save_changes()")  # as jslink does
    wire.page.wait_for_function(DIMMED)
    wire.live.limit = 50  # what was saved
    wire.settle()
    assert not wire.page.evaluate(DIMMED)


def test_an_answer_that_is_long_in_coming_is_said_to_be_missing(
    wire: Wire, hurry: Callable[[], None]
) -> None:
    wire.slider().press("End")
    wire.page.wait_for_function(DIMMED)
    hurry()
    wire.page.wait_for_function(
        "document.querySelector('.gl-pill').textContent === 'no answer from the kernel yet'"
    )
    wire.settle()
    assert not wire.page.evaluate(DIMMED)

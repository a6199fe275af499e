"""A prediction as a reader makes it: sketched with the mouse or by keys, then revealed."""

from collections.abc import Iterator
from typing import Any

import pytest

from gradlab.exercises import predict
from tests.live.conftest import Wire, canvas_url, page, shared_page  # noqa: F401

pytestmark = pytest.mark.browser


@pytest.fixture
def sketched(page: Any) -> Iterator[tuple[Any, Wire]]:  # noqa: F811
    """A curve with a guess drawn across it, from high on the left to low on the right."""
    prediction = predict("clipping.share")
    wire = Wire(prediction.live, page)
    wire.open()
    box, panel = (
        page.locator(".gl-picture").bounding_box(),
        prediction.live._state.scene.panels()[0],
    )

    def to(x: float, y: float) -> None:
        across, down = panel["left"] + panel["width"] * x, panel["top"] + panel["height"] * (1 - y)
        page.mouse.move(box["x"] + box["width"] * across, box["y"] + box["height"] * down)
        wire.both()

    to(0.02, 0.9)
    page.mouse.down()
    for k in range(1, 25):
        to(0.02 + 0.04 * k, 0.9 - 0.03 * k)
    page.mouse.up()
    wire.settle()
    yield prediction, wire
    page.evaluate("window.close_view()")


def revealed(wire: Wire, prediction: Any) -> None:
    wire.button("Reveal").click()
    # A button works in a thread.
    wire.until(lambda: prediction.compute(prediction.params).first is not None)
    wire.until(lambda: " off" in wire.readout())
    wire.settle()


def test_dragging_across_the_picture_draws_a_curve(sketched: Any) -> None:
    guess = list(sketched[0].params.values())
    assert guess == sorted(guess, reverse=True)
    assert guess[0] > 80
    assert guess[-1] < 30


def test_the_result_joins_the_guess_and_both_stay(sketched: Any) -> None:
    prediction, wire = sketched
    before, guess = canvas_url(wire.page), prediction.params
    assert "Reveal" in wire.readout()
    revealed(wire, prediction)
    assert canvas_url(wire.page) != before
    assert "percentage points off" in wire.readout()
    assert prediction.params == guess


def test_a_picture_without_the_result_does_not_come_back(sketched: Any) -> None:
    prediction, wire = sketched
    revealed(wire, prediction)
    seen = canvas_url(wire.page)
    handle = wire.slider("Guess at limit 0.01, in the picture")
    handle.focus()
    for key in ("ArrowDown", "ArrowUp"):
        wire.page.keyboard.press(key)
        wire.settle()
    assert canvas_url(wire.page) == seen


def test_without_a_guess_there_is_no_result(page: Any) -> None:  # noqa: F811
    prediction = predict("clipping.spikes")
    wire = Wire(prediction.live, page)
    wire.open()
    wire.button("Reveal").click()
    wire.until(lambda: "made before" in wire.readout())
    wire.slider("drag your guess").press("ArrowRight")
    wire.settle()
    revealed(wire, prediction)
    assert "steps off" in wire.readout()

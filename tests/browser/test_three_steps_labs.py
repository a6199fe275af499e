"""The lab of the gate race in JupyterLab: it is stepped, played and chosen, and both schedules
follow.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.lab import Lab, until

pytestmark = pytest.mark.browser

RACE, STEP = "The gate race", "Tasks done"

HALVES = """(canvas) => [0, 1].map((half) => {
  const part = document.createElement("canvas");
  [part.width, part.height] = [canvas.width / 2, canvas.height];
  part.getContext("2d").drawImage(canvas, -half * part.width, 0);
  return part.toDataURL() })"""


@pytest.fixture
def lab(shown: Any) -> Lab:
    """The race, two tasks done."""
    lab: Lab = shown(RACE, step=2, first="none_b", second="op_b")
    return lab


def halves(lab: Lab) -> list[str]:
    """What is painted of the first and of the second schedule."""
    painted: list[str] = lab.canvas.evaluate(HALVES)
    return painted


def pressed(lab: Lab, key: str) -> list[bool]:
    """Press a key on the slider; tell which of the two schedules look different then."""
    before = halves(lab)
    lab.slider(STEP).press(key)
    until(lambda: halves(lab) != before, saying=f"{key} paints something else")
    until(lambda: lab.is_settled(), saying=f"kernel, slider and text agree after {key}")
    return [now != then for now, then in zip(halves(lab), before, strict=True)]


def test_keys_step_both_schedules_to_the_verdict(lab: Lab, screenshots: str | None) -> None:
    lab.slider(STEP).handle.focus()
    cell = lab.notebook.selected_cell()
    for step, first, second in (
        (
            3,
            "Without a gate, gradient a reads the new b",
            "with GATE_OP, update b comes after both gradients",
        ),
        (
            4,
            "Without a gate, a is wrong: its gradient read the new b",
            "with GATE_OP, a and b are right",
        ),
    ):
        assert pressed(lab, "ArrowRight") == [True, True]
        assert lab.slider(STEP).value() == lab.params()["step"] == step
        assert first in lab.readout() and second in lab.readout()
        lab.screenshot(screenshots, f"race-{step}")
    assert "4 of the 8 new values differ" in lab.alt()
    assert lab.notebook.selected_cell() == cell  # JupyterLab's own keys stay out of it


def test_home_is_before_the_first_task_and_end_behind_the_last(lab: Lab) -> None:
    assert pressed(lab, "Home") == [True, True]
    assert "Either way, the scheduler begins with gradient b" in lab.readout()
    assert pressed(lab, "End") == [True, True]
    assert "a is wrong" in lab.readout()


def test_it_plays_from_the_start_to_the_verdict(lab: Lab) -> None:
    pressed(lab, "End")
    lab.group.get_by_role("button", name="Play", exact=True).click()
    until(lambda: lab.slider(STEP).value() < 4, saying="it begins again")
    until(lambda: "a is wrong" in lab.readout() and lab.is_settled(), saying="it plays to the end")


def test_another_schedule_is_another_half_of_the_picture(lab: Lab) -> None:
    pressed(lab, "End")
    before = halves(lab)
    lab.menu("Second schedule").select_option(label="No gate, lucky order")
    until(lambda: lab.params()["second"] == "none_lucky" and lab.is_settled())
    until(lambda: halves(lab)[1] != before[1])
    assert "in the second, a and b are right" in lab.readout()


def test_a_preset_chooses_both_schedules_and_the_target_can_be_reached(
    lab: Lab, screenshots: str | None
) -> None:
    lab.group.get_by_role("button", name="The other race", exact=True).click()
    until(
        lambda: (
            lab.params() == {"step": 2, "first": "none_a", "second": "op_a"} and lab.is_settled()
        )
    )
    lab.slider(STEP).press("Home")
    until(lambda: "not yet" in lab.goal(), saying="the target is not reached")
    lab.slider(STEP).press("End")
    until(lambda: "b is wrong: reached." in lab.goal(), saying="the target is reached")
    lab.screenshot(screenshots, "race-target")

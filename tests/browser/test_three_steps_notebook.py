"""The notebook of the three steps in JupyterLab: the race is stepped, played and chosen, and both schedules follow."""

from __future__ import annotations

import pytest

from tests.browser.axe import assert_accessible
from tests.browser.conftest import NOTEBOOKS
from tests.browser.lab import Lab, until
from tests.browser.pages import Notebook

pytestmark = pytest.mark.browser

PATH = NOTEBOOKS / "01_three_steps.ipynb"
RACE, STEP, START = "The gate race", "Tasks done", 2  # the step at which the notebook shows the lab

HALVES = """(canvas) => [0, 1].map((half) => {
  const part = document.createElement("canvas");
  [part.width, part.height] = [canvas.width / 2, canvas.height];
  part.getContext("2d").drawImage(canvas, -half * part.width, 0);
  return part.toDataURL() })"""


@pytest.fixture
def lab(notebook: Notebook) -> Lab:
    """The race, back at the start."""
    lab = notebook.lab(RACE)
    notebook.evaluate(f"{lab.object}.set(step={START}, first='none_b', second='op_b')")
    until(lambda: lab.slider(STEP).value() == START and agreed(lab), saying="the race is back at the start")
    return lab


def agreed(lab: Lab) -> bool:
    return lab.agrees(step=STEP)


def halves(lab: Lab) -> list[str]:
    """What is painted of the first and of the second schedule."""
    painted: list[str] = lab.canvas.evaluate(HALVES)
    return painted


def pressed(lab: Lab, key: str) -> list[bool]:
    """Press a key on the slider; tell which of the two schedules look different then."""
    before = halves(lab)
    lab.slider(STEP).press(key)
    until(lambda: halves(lab) != before, saying=f"{key} paints something else")
    until(lambda: agreed(lab), saying=f"kernel, slider and text agree after {key}")
    return [now != then for now, then in zip(halves(lab), before, strict=True)]


def test_keys_step_both_schedules_to_the_verdict(lab: Lab, screenshots: str | None) -> None:
    lab.slider(STEP).handle.focus()
    cell = lab.notebook.selected_cell()
    for step, first, second in (
        (3, "gradient a is 10.2 = 4.6 + 5.6, from the new b", "update b gives 4.6"),
        (4, "First: a is wrong, its gradient read the new b", "Second: a and b are right"),
    ):
        assert pressed(lab, "ArrowRight") == [True, True]
        assert lab.slider(STEP).value() == lab.params()["step"] == step
        assert first in lab.readout() and second in lab.readout()
        lab.screenshot(screenshots, f"race-{step}")
    assert "4 of the 8 new values differ" in lab.alt()
    assert lab.notebook.selected_cell() == cell  # JupyterLab's own keys stay out of it


def test_home_is_before_the_first_task_and_end_behind_the_last(lab: Lab) -> None:
    assert pressed(lab, "Home") == [True, True]
    assert "First: the scheduler begins with gradient b" in lab.readout()
    assert pressed(lab, "End") == [True, True]
    assert "a is wrong" in lab.readout()


def test_it_plays_from_the_start_to_the_verdict(lab: Lab) -> None:
    pressed(lab, "End")
    lab.group.get_by_role("button", name="Play", exact=True).click()
    until(lambda: lab.slider(STEP).value() < 4, saying="it begins again")
    until(lambda: "a is wrong" in lab.readout() and agreed(lab), saying="it plays to the end")


def test_another_schedule_is_another_half_of_the_picture(lab: Lab) -> None:
    pressed(lab, "End")
    before = halves(lab)
    lab.menu("Second schedule").select_option(label="GATE_NONE, lucky order")
    until(lambda: lab.params()["second"] == "none_lucky" and agreed(lab))
    until(lambda: halves(lab)[1] != before[1])
    assert "Second: a and b are right" in lab.readout()


def test_a_preset_chooses_both_schedules_and_the_target_can_be_reached(lab: Lab, screenshots: str | None) -> None:
    lab.group.get_by_role("button", name="The other race", exact=True).click()
    until(lambda: lab.params() == {"step": 0, "first": "none_a", "second": "op_a"} and agreed(lab))
    until(lambda: "not yet" in lab.goal(), saying="the target is not reached")
    lab.slider(STEP).press("End")
    until(lambda: "b is wrong: reached." in lab.goal(), saying="the target is reached")
    lab.screenshot(screenshots, "race-target")


def test_it_is_accessible(notebook: Notebook) -> None:
    assert_accessible(notebook)


def test_nothing_failed_and_nothing_left_the_machine(notebook: Notebook) -> None:
    assert notebook.troubles == []

"""The labs on TPU embeddings in JupyterLab: steps forth and back, rows chosen, targets reached."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradlab.live.display_list import ITEMS, decode, unpack_items
from tests.browser.lab import Lab, axis, until

pytestmark = pytest.mark.browser

STEP, RUN = "One step of an embedding table", "Two embedding tables on eight devices"


@pytest.mark.parametrize("label", [STEP, RUN])
def test_states_come_while_it_plays_and_under_the_mouse(label: str, shown: Any) -> None:
    lab = shown(label)
    name, label = axis(label)
    slider = lab.slider(label)
    slider.press("Home")
    until(lab.is_settled)
    start = lab.params()[name]
    lab.click("Play")
    until(lambda: slider.position() > 3 and lab.params()[name] > start, saying="states come")
    lab.click("Pause")
    frame = lab.frame()
    slider.drag(0.1)
    until(lab.is_settled, saying="kernel, slider and text agree after the drag")
    assert slider.position() < 4 and lab.frame() > frame + 1


def test_a_row_is_chosen_by_a_click_and_by_keys(shown: Any, screenshots: str | None) -> None:
    lab = shown(STEP)
    picture, (table,) = lab.group.locator(".gl-picture"), spots(lab)
    row = 11
    picture.click(position=dict(zip("xy", table[row], strict=True)))
    until(lambda: is_chosen(lab, row), saying="the row that was clicked")
    lab.screenshot(screenshots, "row-clicked")
    lab.group.locator(".gl-field").first.press("ArrowLeft")
    until(lambda: is_chosen(lab, row - 1), saying="the row before it")
    picture.click(position=dict(zip("xy", table[20], strict=True)))
    until(lambda: is_chosen(lab, 20), saying="a row of the table")


def is_chosen(lab: Lab, row: int) -> bool:
    """Whether a row is told of, in the text and at its slider, and its numbers are there."""
    aside = lab.group.locator(".gl-aside").text_content()
    told = f"Row {row} is named" in lab.readout() and f"row {row}: weight 0" in aside
    return told and lab.params()["row"] == lab.slider("Row to follow").value() == row


def spots(lab: Lab) -> list[Any]:
    """Where rows lie in the picture, for each panel that shows them, (rows, 2)."""
    frame = bytes.fromhex(lab.notebook.evaluate(f"{lab.object}.live.frame().hex()"))
    places, _ = unpack_items(next(body for code, body in decode(frame) if code == ITEMS))
    box, width = lab.box(lab.canvas), lab.canvas.evaluate("(canvas) => canvas.width")
    shown = places[np.isfinite(places).any(axis=(1, 2))] * (box["width"] / width)
    return list(shown.tolist())


def test_one_update_for_each_lookup_is_told(shown: Any) -> None:
    lab = shown(STEP)
    lab.click("A popular id")
    until(lambda: "moves by the sum" in lab.readout() and lab.agrees(step="Step"))
    lab.unfold()
    lab.group.get_by_role("switch", name="Sum gradients first").click()
    until(lambda: "updates, one for each" in lab.readout() and lab.agrees())


def test_one_device_is_asked_for_most(shown: Any, screenshots: str | None) -> None:
    lab = shown(RUN, target="one_device")
    assert lab.goal().endswith("not yet.")
    lab.slider("Popularity of words").press("End")
    until(lambda: lab.goal().endswith("reached."), saying="the target is reached")
    lab.menu("Rows of a device").select_option(label="in turn (mod)")
    until(
        lambda: lab.goal().endswith("not yet."),
        saying="rows that are dealt out in turn share the work",
    )
    lab.screenshot(screenshots, "dealt-out")


def test_each_table_has_its_own_rate(shown: Any) -> None:
    lab = shown(RUN)
    words, users = losses(lab)
    lab.slider("Learning rate, users").press("ArrowRight", times=4)
    until(lambda: losses(lab)[1] != users and lab.agrees(rate_users="Learning rate, users"))
    assert losses(lab)[0] == words


def losses(lab: Lab) -> list[str]:
    return lab.alt().partition("Loss ")[2].rstrip(".").split(", ")

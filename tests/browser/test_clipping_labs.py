"""The lab of a recorded run in JupyterLab, as a reader uses it: what is seen is what the kernel
holds.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.lab import Lab, until

pytestmark = pytest.mark.browser

CLIPPING = "Clipping a recorded run"


@pytest.fixture
def lab(shown: Any) -> Lab:
    """The lab, at a limit in the middle."""
    lab: Lab = shown(CLIPPING, limit=1.0)
    return lab


@pytest.mark.parametrize("part", [0.2, 0.8])
def test_the_mouse_drags_the_handle(part: float, lab: Lab, screenshots: str | None) -> None:
    slider = lab.slider("Limit")
    before, frame = lab.pixels(), lab.frame()
    slider.drag(part)
    until(
        lambda: abs(slider.position() / slider.last() - part) < 0.02 and lab.is_settled(),
        saying="the handle is where it was dragged to, and kernel, slider and text agree",
    )
    assert lab.pixels() != before
    assert lab.frame() > frame + 1  # it moved while the handle moved, not only at the end
    assert lab.notebook.selected_cell() == lab.notebook.go_to(
        label=CLIPPING
    )  # a click selects the cell it is in
    lab.screenshot(screenshots, f"clipping-drag-{part}")


def test_the_mouse_drags_the_limit_in_the_picture(lab: Lab) -> None:
    area, page = lab.group.locator(".gl-area").first, lab.notebook.page
    box, before = lab.box(area), lab.pixels()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 0.5 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 0.2 * box["height"], steps=8)
    high = until(lambda: lab.is_settled() and lab.params()["limit"])
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 0.8 * box["height"], steps=8)
    page.mouse.up()
    until(
        lambda: lab.is_settled() and lab.params()["limit"] < high,
        saying="lower in the picture is a lower limit",
    )
    assert lab.pixels() != before


def test_a_menu_changes_picture_and_kernel(lab: Lab) -> None:
    before = lab.pixels()
    lab.menu("Clip by").select_option(label="value of each entry")
    until(lambda: lab.params()["method"] == "value" and lab.is_settled())
    assert lab.pixels() != before
    assert "on the value of each entry" in lab.readout()


def test_what_is_read_aloud_follows_the_picture(lab: Lab) -> None:
    before = lab.alt()
    lab.slider("Limit").press("End")
    until(lambda: before != lab.alt() == lab.notebook.evaluate(f"{lab.object}.description.alt"))


def test_python_moves_the_page(lab: Lab) -> None:
    before = lab.pixels()
    lab.notebook.evaluate(f"{lab.object}.set(limit=100.0)")
    until(lambda: lab.slider("Limit").value() == 100.0 and lab.pixels() != before)

"""The clipping notebook in JupyterLab, as a reader uses it: what is seen is what the kernel holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.browser.axe import assert_accessible
from tests.browser.conftest import NOTEBOOKS
from tests.browser.lab import Lab, until
from tests.browser.pages import Notebook

pytestmark = pytest.mark.browser

PATH = NOTEBOOKS / "02_clipping.ipynb"
CLIPPING, ARROWS, LIBRARIES = (
    "Clipping a recorded run",
    "Four ways to clip one gradient",
    "Same gradients, five libraries",
)
START = 1.0  # the limit at which the notebook shows the lab


@pytest.fixture
def lab(notebook: Notebook) -> Lab:
    """The lab of a recorded run, its limit back at the start."""
    lab = notebook.lab(CLIPPING)
    notebook.evaluate(f"{lab.object}.set(limit={START}, method='global', run='none')")
    until(lambda: lab.slider("Limit").value() == START, saying="the slider is back at the start")
    return lab


def agreed(lab: Lab) -> bool:
    return lab.agrees(limit="Limit")


@pytest.mark.parametrize("part", [0.2, 0.8])
def test_the_mouse_drags_the_handle(part: float, lab: Lab, screenshots: str | None) -> None:
    slider = lab.slider("Limit")
    before, frame = lab.pixels(), lab.frame()
    slider.drag(part)
    until(lambda: agreed(lab), saying="kernel, slider and text agree after the drag")
    assert abs(slider.position() / slider.last() - part) < 0.02
    assert lab.pixels() != before
    assert lab.frame() > frame + 1  # it moved while the handle moved, not only at the end
    assert lab.notebook.selected_cell() == lab.notebook.go_to(label=CLIPPING)  # a click selects the cell it is in
    lab.screenshot(screenshots, f"clipping-drag-{part}")


def test_the_mouse_drags_the_limit_in_the_picture(lab: Lab) -> None:
    area, page = lab.group.locator(".gl-area").first, lab.notebook.page
    box, before = lab.box(area), lab.pixels()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 0.5 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 0.2 * box["height"], steps=8)
    high = until(lambda: agreed(lab) and lab.params()["limit"])
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 0.8 * box["height"], steps=8)
    page.mouse.up()
    until(lambda: agreed(lab) and lab.params()["limit"] < high, saying="lower in the picture is a lower limit")
    assert lab.pixels() != before


def test_a_menu_changes_picture_and_kernel(lab: Lab) -> None:
    before = lab.pixels()
    lab.menu("Clip by").select_option(label="value of each entry")
    until(lambda: lab.params()["method"] == "value" and agreed(lab))
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


@pytest.mark.parametrize("label", [CLIPPING, ARROWS, LIBRARIES])
def test_every_lab_is_there(label: str, notebook: Notebook, screenshots: str | None) -> None:
    shown = notebook.lab(label)
    assert shown.readout() == notebook.evaluate(f"{shown.object}.description.summary")
    shown.screenshot(screenshots, label)


def test_it_is_accessible(notebook: Notebook) -> None:
    assert_accessible(notebook)


def test_nothing_failed_and_nothing_left_the_machine(notebook: Notebook) -> None:
    assert notebook.troubles == []
    assert len(notebook.requests) > 10  # requests are seen at all


def test_a_notebook_saved_after_its_run_keeps_the_pictures(notebook: Notebook, folder: Path) -> None:
    notebook.command("docmanager:save")
    cells = json.loads((folder / notebook.name).read_text("utf-8"))["cells"]
    data = [output["data"] for cell in cells for output in cell.get("outputs", []) if "data" in output]
    widgets = ["".join(d["text/html"]) for d in data if any("widget-view" in kind for kind in d)]
    pictures = [html for html in widgets if "<figure" in html]  # the others are buttons
    assert len(pictures) >= 3
    assert all('<img alt="' in html and "data:image/png;base64," in html for html in pictures)

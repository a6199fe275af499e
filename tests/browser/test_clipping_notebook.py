"""The clipping notebook in JupyterLab, as a reader uses it: what is seen is what the kernel holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import NOTEBOOKS
from .pages import Lab, Notebook, until

pytestmark = pytest.mark.browser

PATH = NOTEBOOKS / "02_clipping.ipynb"
CLIPPING, ARROWS, LIBRARIES = (
    "Clipping a recorded run",
    "Four ways to clip one gradient",
    "Same gradients, five libraries",
)
START = 1.0  # the limit at which the notebook shows the lab


@pytest.fixture(scope="module")
def notebook(opened: Callable[..., Notebook]) -> Notebook:
    """The notebook, run from top to bottom."""
    notebook = opened(PATH)
    notebook.run_all()
    return notebook


@pytest.fixture
def lab(notebook: Notebook) -> Lab:
    """The lab of a recorded run, its limit back at the start."""
    notebook.go_to(label=CLIPPING)
    lab = notebook.lab(CLIPPING)
    notebook.evaluate(f"{lab.object}.set(limit={START}, method='global', run='none')")
    until(lambda: lab.slider("Limit").value() == START, saying="the slider is back at the start")
    return lab


def agreed(lab: Lab) -> bool:
    """Kernel, slider and text say the same, and nothing is on its way."""
    kernel, shown = lab.params()["limit"], lab.slider("Limit").value()
    return kernel == shown and lab.readout() == lab.notebook.evaluate(f"{lab.object}.description.summary")


# key: where the handle goes from `here` on a track that ends at `last`
KEYS: dict[str, Callable[[int, int], bool]] = {
    "ArrowRight": lambda moved, here: moved == here + 1,
    "ArrowLeft": lambda moved, here: moved == here - 1,
    "ArrowUp": lambda moved, here: moved == here + 1,
    "ArrowDown": lambda moved, here: moved == here - 1,
    "PageUp": lambda moved, here: moved > here + 1,
    "PageDown": lambda moved, here: moved < here - 1,
}


def pressed(lab: Lab, key: str) -> tuple[int, int]:
    """Press a key; check that picture, kernel and text follow and the notebook stays; give the handle's two places."""
    slider, notebook = lab.slider("Limit"), lab.notebook
    notebook.select(0)
    slider.handle.focus()
    cell, before, here = notebook.selected_cell(), lab.pixels(), slider.position()
    slider.press(key)
    until(lambda: lab.pixels() != before, saying=f"{key} paints something else")
    until(lambda: agreed(lab), saying=f"kernel, slider and text agree after {key}")
    assert notebook.selected_cell() == cell
    return slider.position(), here


@pytest.mark.parametrize("key", KEYS)
def test_a_key_moves_slider_picture_and_kernel(key: str, lab: Lab, screenshots: str | None) -> None:
    moved, here = pressed(lab, key)
    assert KEYS[key](moved, here)
    lab.screenshot(screenshots, f"clipping-{key}")


@pytest.mark.parametrize(("key", "end"), [("Home", 0.001), ("End", 1000.0)])
def test_home_and_end_reach_the_ends(key: str, end: float, lab: Lab, screenshots: str | None) -> None:
    pressed(lab, key)
    assert lab.params()["limit"] == end
    lab.screenshot(screenshots, f"clipping-{key}")


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
    box, before = area.bounding_box(), lab.pixels()
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
    until(lambda: lab.alt() != before)
    assert lab.alt() == lab.notebook.evaluate(f"{lab.object}.description.alt")


def test_python_moves_the_page(lab: Lab) -> None:
    before = lab.pixels()
    lab.notebook.evaluate(f"{lab.object}.set(limit=100.0)")
    until(lambda: lab.slider("Limit").value() == 100.0 and lab.pixels() != before)


@pytest.mark.parametrize("label", [CLIPPING, ARROWS, LIBRARIES])
def test_every_lab_is_there(label: str, notebook: Notebook, screenshots: str | None) -> None:
    notebook.go_to(label=label)
    shown = notebook.lab(label)
    assert shown.readout() == notebook.evaluate(f"{shown.object}.description.summary")
    shown.screenshot(screenshots, label)


def test_nothing_failed_and_nothing_left_the_machine(notebook: Notebook) -> None:
    assert notebook.troubles == []
    assert len(notebook.requests) > 10  # requests are seen at all


def test_a_notebook_that_was_not_run_shows_pictures(opened: Callable[..., Notebook], screenshots: str | None) -> None:
    fresh = opened(PATH)
    for k, label in enumerate((ARROWS, CLIPPING, LIBRARIES)):
        fresh.go_to(label=label)
        picture = fresh.page.locator(".jp-OutputArea figure img").nth(k)
        picture.scroll_into_view_if_needed()
        assert len(picture.get_attribute("alt")) > 40
        until(lambda shown=picture: shown.evaluate("(image) => image.naturalWidth") > 300)
        if screenshots:
            fresh.page.screenshot(path=f"{screenshots}/not-run-{k}.png")
    assert fresh.page.locator(".gl-live").count() == 0
    assert fresh.troubles == []


def test_a_notebook_saved_after_its_run_keeps_the_pictures(notebook: Notebook, folder: Path) -> None:
    notebook.command("docmanager:save")
    cells = json.loads((folder / PATH.name).read_text("utf-8"))["cells"]
    data = [output["data"] for cell in cells for output in cell.get("outputs", []) if "data" in output]
    pictures = ["".join(d["text/html"]) for d in data if any("widget-view" in kind for kind in d)]
    assert len(pictures) == 3
    assert all('<img alt="' in html and "data:image/png;base64," in html for html in pictures)

"""The first notebook in JupyterLab, from top to bottom in a kernel of its own: labs, predictions,
buttons, checks.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.axe import violations
from tests.browser.conftest import NOTEBOOKS
from tests.browser.lab import until
from tests.browser.pages import Notebook

pytestmark = pytest.mark.browser

LABELS = [
    "Predict how fast the reader learns",
    "A ball on a bowl",
    "Four ways to clip one gradient",
]


@pytest.fixture(scope="module")
def notebook(ran: Callable[[Path], Notebook]) -> Notebook:
    return ran(NOTEBOOKS / "00_start_here.ipynb")


def test_every_lab_is_there(notebook: Notebook) -> None:
    for label in LABELS:
        lab = notebook.lab(label)
        assert lab.readout() == notebook.evaluate(f"{lab.object}.description.summary")


def test_it_keeps_its_pictures_when_it_is_saved(notebook: Notebook, folder: Path) -> None:
    notebook.command("docmanager:save")
    cells = json.loads((folder / notebook.name).read_text("utf-8"))["cells"]
    data = [
        output["data"] for cell in cells for output in cell.get("outputs", []) if "data" in output
    ]
    widgets = ["".join(d["text/html"]) for d in data if any("widget-view" in kind for kind in d)]
    pictures = [html for html in widgets if "<figure" in html]  # the others are buttons
    assert len(pictures) == len(LABELS)
    assert all('<img alt="' in html and "data:image/png;base64," in html for html in pictures)


def test_axe_finds_nothing(notebook: Notebook) -> None:
    """What all notebooks show is asked of together, elsewhere; a button that was pressed is here
    alone.
    """
    with notebook.whole():
        assert violations(notebook.page) == []


def test_a_button_answers(notebook: Notebook) -> None:
    notebook.go_to("Press (a)")
    notebook.page.get_by_role("button", name="(a)").locator("visible=true").first.click()
    status = notebook.page.locator(".jp-OutputArea [role=status]")
    until(lambda: status.count() and status.first.inner_text(), saying="the answer is judged")


def test_a_term_leads_to_its_place_in_the_glossary(notebook: Notebook, folder: Path) -> None:
    shutil.copy(NOTEBOOKS / "GLOSSARY.md", (folder / notebook.name).parent)
    page = notebook.page
    notebook.go_to(LABELS[-1])  # the text before it has the link
    page.get_by_role("link", name="norm", exact=True).click()
    heading = page.locator(".jp-MarkdownViewer").get_by_role("heading", name="norm")
    heading.wait_for()
    top = page.locator(".jp-MarkdownViewer .jp-RenderedMarkdown").bounding_box()["y"]
    until(lambda: 0 <= heading.bounding_box()["y"] - top < 60, saying="the term is at the top")
    notebook.command("application:close")
    page.wait_for_selector(".jp-MarkdownViewer", state="detached")


def test_nothing_failed_and_nothing_left_the_machine(notebook: Notebook) -> None:
    assert notebook.troubles == []
    assert len(notebook.requests) > 10  # requests are seen at all

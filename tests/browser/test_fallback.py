"""Where the widget cannot run, its picture is there, with a text alternative and its values."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

import gradlab as gl
from tests.browser.conftest import NOTEBOOKS
from tests.browser.lab import until
from tests.browser.pages import Notebook, Page
from tests.browser.written import written

pytestmark = pytest.mark.browser

UNTRUSTED = """() => [...window.jupyterapp.shell.currentWidget.content.model.cells]
  .every((cell) => cell.type !== "code" || !cell.trusted)"""

# Each picture as a reader comes to it, for what is far away need not be loaded.
UNFOLD = """async (all) => { for (const one of all) {
  one.scrollIntoView();
  await one.decode();
  one.closest("figure").querySelector("summary").click() } }"""
# Of each picture: how wide, in how many letters described, and whether values can be seen.
SEEN = """(all) => all.map((one) => [one.naturalWidth, one.alt.length,
  one.closest("figure").querySelector("table td").checkVisibility()])"""


@pytest.fixture
def no_widgets(address: str, scratch: Path) -> Iterator[None]:
    """Switch the extensions that show widgets off; JupyterLab reads this file whenever a page is
    asked for.
    """
    config = scratch / "config" / "labconfig" / "page_config.json"
    config.parent.mkdir(parents=True, exist_ok=True)
    extensions = ("@jupyter-widgets/jupyterlab-manager", "anywidget")
    config.write_text(
        json.dumps({"disabledExtensions": dict.fromkeys(extensions, True)}), encoding="utf-8"
    )
    yield
    config.unlink()


def check_pictures(page: Any, count: int) -> None:
    """Check that there are so many pictures in outputs: decoded, described, with the table of their
    values.
    """
    pictures = page.locator(".jp-OutputArea figure img")
    until(lambda: pictures.count() == count, saying=f"{count} pictures are shown")
    pictures.evaluate_all(UNFOLD)
    assert all(
        width > 300 and words > 40 and values
        for width, words, values in pictures.evaluate_all(SEEN)
    )
    assert page.locator(".gl-live").count() == 0


def labs_in(path: Path) -> int:
    """Count the saved labs of a notebook."""
    outputs = [
        o for cell in nbformat.read(path, as_version=4).cells for o in cell.get("outputs", [])
    ]
    return sum("<figure" in "".join(o.get("data", {}).get("text/html", "")) for o in outputs)


@pytest.mark.usefixtures("no_widgets")
def test_a_lab_without_the_widget_extensions(opened: Callable[..., Notebook], folder: Path) -> None:
    lab = "gl.labs.clipping(limit=1.0)"
    notebook = opened(written(folder / "no_widgets.ipynb", "import gradlab as gl", lab))
    notebook.run_all()
    check_pictures(notebook.page, 1)
    assert (
        gl.labs.clipping(limit=1.0).description.summary
        in notebook.page.locator("figcaption").inner_text()
    )
    # Where Lab says that it has no widgets.
    unexpected = [t for t in notebook.troubles if not t.startswith("console")]
    assert unexpected == []


def never_saved(path: Path, folder: Path) -> Path:
    """A copy with a mark of its own: Lab trusts what it saved itself, in any page of this server."""
    content = json.loads(path.read_text("utf-8"))
    content["metadata"]["copy"] = folder.name
    copy = folder / path.name
    copy.write_text(json.dumps(content), encoding="utf-8")
    return copy


# What JupyterLab cleans away is the same in all; of the others the test below sees every picture.
def test_a_notebook_that_was_not_run(
    not_run: Callable[[Path], Notebook], tmp_path: Path, screenshots: str | None
) -> None:
    name = "06_tpu_embeddings.ipynb"
    notebook = not_run(never_saved(NOTEBOOKS / name, tmp_path))
    with notebook.whole():
        assert notebook.page.evaluate(UNTRUSTED)
        check_pictures(notebook.page, labs_in(NOTEBOOKS / name))
        if screenshots:
            notebook.page.screenshot(path=f"{screenshots}/not-run-{name}.png")
    assert notebook.troubles == []


# nbconvert's own page asks for MathJax and require.js, whatever is in it; both can be switched off.
# Code is left out: to color it takes longer than all else.
OFFLINE = {"mathjax_url": "", "require_js_url": "", "exclude_input": True}


def test_notebooks_as_html_without_network(chromium: Any, tmp_path: Path) -> None:
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(**OFFLINE)
    context = chromium.new_context(offline=True)
    page = Page(context.new_page(), tmp_path.as_uri())
    for notebook in NOTEBOOKS.glob("*.ipynb"):
        path = (tmp_path / notebook.name).with_suffix(".html")
        path.write_text(exporter.from_filename(str(notebook))[0], encoding="utf-8")
        page.page.goto(path.as_uri())
        check_pictures(page.page, labs_in(notebook))
        assert page.troubles == [], notebook.name
    context.close()

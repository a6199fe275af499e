"""axe-core finds nothing inside outputs: every lab and notebook, light and dark, wide and as narrow as a phone.

Nor does a lab stick out of its place at any width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import gradlab as gl

from .axe import OUTPUTS, violations
from .conftest import NOTEBOOKS
from .pages import PHONE, WIDE, Notebook

pytestmark = pytest.mark.browser

LABS = gl.labs.catalogue()

# What sticks out of a lab at its right end.
BEYOND = """(group) => { const edge = group.getBoundingClientRect().right + 1;
  return [...group.querySelectorAll("canvas, label, input, output, select, button, p, table")]
    .filter((node) => node.getBoundingClientRect().right > edge).map((node) => node.outerHTML.slice(0, 120)) }"""


@pytest.fixture(scope="module", params=["light", "dark"])
def themed(request: Any, every_lab: Notebook) -> Iterator[Notebook]:
    """Every lab, in each theme."""
    with every_lab.dark() if request.param == "dark" else nullcontext():
        yield every_lab


@pytest.fixture(scope="module", params=[WIDE["width"], PHONE["width"]])
def shown(request: Any, themed: Notebook) -> Iterator[Notebook]:
    """Every lab, in each theme and width, its table open."""
    with themed.whole(request.param):
        themed.page.locator(".gl-live details").evaluate_all("(all) => all.forEach((one) => { one.open = true })")
        yield themed


@pytest.mark.parametrize("name", LABS)
def test_a_lab(name: str, shown: Notebook) -> None:
    found = violations(shown.page, f'.gl-live[aria-label="{LABS[name].label}"]')
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", LABS)
def test_a_lab_fits_its_width(name: str, shown: Notebook) -> None:
    assert shown.lab(LABS[name].label).group.evaluate(BEYOND) == []


@pytest.mark.parametrize("name", [path.name for path in NOTEBOOKS.glob("*.ipynb")])
def test_a_notebook(name: str, ran: Callable[[Path], Notebook]) -> None:
    notebook = ran(NOTEBOOKS / name)
    found = checked(notebook)
    with notebook.dark():
        found += checked(notebook)
    assert not found, "\n".join(found)


def checked(notebook: Notebook) -> list[str]:
    found = []
    for size in (WIDE, PHONE):
        with notebook.whole(size["width"]):
            found += violations(notebook.page) if notebook.page.locator(OUTPUTS).count() else []
    return found


def test_a_bad_element_is_found(every_lab: Notebook) -> None:
    lab = every_lab.lab(gl.labs.clipping.label)
    bad = '<p class="bad" style="color:#aaa;background:#fff">faint</p><img class="bad" src="data:,"><input class="bad">'
    lab.group.evaluate("(group, html) => group.insertAdjacentHTML('beforeend', html)", bad)
    with every_lab.whole():
        found = "\n".join(violations(every_lab.page))
    lab.group.locator(".bad").evaluate_all("(all) => all.forEach((node) => node.remove())")
    assert all(rule in found for rule in ("color-contrast (serious)", "image-alt (critical)", "label (critical)")), (
        found
    )

"""`gradlab dashboard` in earnest: every lab on a page of its own, answering keys, and nobody else is asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import gradlab as gl
from gradlab import _notebooks
from gradlab._repository import on_binder

from . import server
from .axe import violations
from .lab import until
from .pages import WIDE, Page

pytestmark = pytest.mark.browser

# The key that moves a slider or a menu away from where it stands.
AWAY = "(node) => node.tagName === 'SELECT' || node.value === node.max ? 'ArrowDown' : 'ArrowUp'"

LINKED = gl.labs.clip_arrows(method="norm", limit=3.0)


@pytest.fixture(scope="module")
def address(_tools: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where all labs are served; a linked one is shown first."""
    folder = tmp_path_factory.mktemp("dashboard")
    with server.dashboard(folder, folder / "jupyter", LINKED.link()) as address:
        yield address


@pytest.fixture(scope="module")
def reader(chromium: Any) -> Iterator[Any]:
    """One reader for all pages, whose browser keeps what they have in common."""
    context = chromium.new_context(viewport=WIDE)
    yield context
    context.close()


@pytest.fixture
def page(address: str, reader: Any) -> Iterator[Page]:
    """A fresh page; a page that goes away takes its kernel with it."""
    page = Page(reader.new_page(), address)
    yield page
    assert page.troubles == []
    page.page.close(run_before_unload=True)


@pytest.fixture(scope="module")
def index(address: str, reader: Any) -> dict[str, str]:
    """What the page with all labs leads to: addresses by label."""
    page = reader.new_page()
    page.goto(f"{address}/voila/render/index.ipynb")
    page.get_by_role("heading", name="The labs of gradlab").wait_for()
    links = page.locator("#rendered_cells li a")
    assert not violations(page, "#rendered_cells")
    return {link.inner_text(): link.evaluate("(node) => node.href") for link in links.all()}


@pytest.mark.parametrize("name", gl.labs.catalogue())
def test_every_lab_has_a_page_and_answers_a_key(
    name: str, page: Page, index: dict[str, str], screenshots: str | None
) -> None:
    label = gl.labs.catalogue()[name].label
    page.page.goto(index[label], wait_until="domcontentloaded")
    lab = page.lab(label)
    before = lab.pixels(), lab.readout()
    control = lab.group.locator(".gl-controls").locator("input, select").first
    control.press(control.evaluate(AWAY))
    until(lambda: (lab.pixels(), lab.readout()) != before, saying="another picture or another sentence")
    assert page.page.get_by_role("heading", name=label).is_visible()
    lab.screenshot(screenshots, f"dashboard-{name}")


def test_the_page_of_a_link_comes_first_and_at_its_state(page: Page, address: str) -> None:
    page.page.goto(address, wait_until="domcontentloaded")
    lab = page.lab(LINKED.label)
    until(lambda: lab.readout() == LINKED.description.summary, saying="the lab is where the link was copied")
    assert page.copied_link() == f"{address}/voila/render/clip_arrows.ipynb{LINKED.link()}"
    notebook = dict(_notebooks.titles())["02_clipping.ipynb"]
    assert page.page.get_by_role("link", name=notebook).get_attribute("href") == on_binder("02_clipping.ipynb")

"""`gradlab dashboard` in earnest: every lab on a page of its own, keys that are answered, and
nobody else is asked.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import gradlab as gl
from gradlab._base.addresses import on_binder
from gradlab._base.notebooks import titles
from tests.browser import server
from tests.browser.axe import violations
from tests.browser.conftest import LINKED
from tests.browser.lab import Lab, until
from tests.browser.pages import WIDE, Page

pytestmark = pytest.mark.browser

# The key that moves a slider or a menu away from where it stands.
AWAY = "(node) => node.tagName === 'SELECT' || node.value === node.max ? 'ArrowDown' : 'ArrowUp'"


def of_other_kinds() -> list[str]:
    """A lab for each kind of control that comes first, but for that of the link's: what is behind
    it is the same.
    """
    kinds = {type(make().controls[0]): name for name, make in reversed(gl.labs.catalog().items())}
    del kinds[type(LINKED.controls[0])]
    return sorted(kinds.values())


@pytest.fixture(scope="module")
def address(dashboard: str) -> str:
    """Where all labs are served."""
    return dashboard


@pytest.fixture(scope="module")
def reader(chromium: Any, address: str) -> Iterator[Any]:
    """One reader for all pages, whose browser keeps what they have in common: the cookie of the
    token, for one.
    """
    context = chromium.new_context(viewport=WIDE)
    assert context.request.get(f"{address}/voila/tree?token={server.TOKEN}").ok
    yield context
    context.close()


@pytest.fixture
def page(address: str, reader: Any) -> Iterator[Page]:
    """A fresh page."""
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
    shown = page.evaluate(
        "[...document.querySelectorAll('li img')].filter((one) => one.naturalWidth > 100).length"
    )
    assert shown == links.count()
    page.keyboard.press("Tab")
    while not page.evaluate("document.activeElement.matches('li a')"):
        page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    return {link.inner_text(): link.evaluate("(node) => node.href") for link in links.all()}


def test_its_settings_are_read_without_a_warning() -> None:
    from voila.configuration import VoilaConfiguration  # here, because only these tests have Voila

    from gradlab._app import voila_server

    app = voila_server.showing("index.ipynb")()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        app.parse_command_line([*voila_server.SETTINGS])
    assert VoilaConfiguration(config=app.config).extension_denylist == [
        "@jupyter-notebook/lab-extension"
    ]


def test_every_lab_has_a_page(index: dict[str, str], address: str) -> None:
    assert index == {
        make().label: f"{address}/voila/render/{name}.ipynb"
        for name, make in gl.labs.catalog().items()
    }


def kernel_of(text: str) -> str:
    """The kernel behind a page."""
    found = re.search(r'"kernelId": "([^"]+)"', text)
    assert found is not None
    return found[1]


def answers_a_key_until_it_is_left(page: Page, lab: Lab, text: str, reader: Any) -> None:
    """Move the first control of a page, which came as this text, and leave it: its kernel ends."""
    before = lab.pixels(), lab.readout()
    control = lab.group.locator(".gl-main").locator("input, select").first
    control.press(control.evaluate(AWAY))
    until(
        lambda: (lab.pixels(), lab.readout()) != before,
        saying="another picture or another sentence",
    )
    assert page.page.get_by_role("heading", name=lab.label).is_visible()
    kernel = f"{page.address}/api/kernels/{kernel_of(text)}"
    assert reader.request.get(kernel).ok
    page.page.goto("about:blank")
    until(lambda: reader.request.get(kernel).status == 404, saying="the kernel has ended")


@pytest.mark.parametrize("name", of_other_kinds())
def test_a_page_holds_its_lab_and_answers_a_key_until_it_is_left(
    name: str, page: Page, index: dict[str, str], reader: Any, screenshots: str | None
) -> None:
    make = gl.labs.catalog()[name]
    answer = page.page.goto(index[make().label], wait_until="domcontentloaded")
    lab = page.lab(make().label)
    text = answer.text()
    assert answer.ok
    assert all(
        part in text
        for part in (make().label, make().description.alt, "data:image/png", "widget-view+json")
    )
    lab.screenshot(screenshots, f"dashboard-{name}")
    answers_a_key_until_it_is_left(page, lab, text, reader)


def test_the_page_of_a_link_comes_first_and_at_its_state(
    page: Page, address: str, reader: Any
) -> None:
    answer = page.page.goto(f"{address}/?token={server.TOKEN}", wait_until="domcontentloaded")
    lab = page.lab(LINKED.label)
    until(
        lambda: lab.readout() == LINKED.description.summary,
        saying="the lab is where the link was copied",
    )
    assert page.copied_link() == f"{address}/voila/render/clip_arrows.ipynb{LINKED.link()}"
    notebook = dict(titles())["02_clipping.ipynb"]
    links = page.page.get_by_role("link", name=notebook)
    expected = [address for address in (on_binder("02_clipping.ipynb"),) if address]
    assert [link.get_attribute("href") for link in links.all()] == expected
    assert page.page.get_by_text(f"Its notebook is {notebook}").is_visible()
    answers_a_key_until_it_is_left(page, lab, answer.text(), reader)

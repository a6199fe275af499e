"""The site, built once in a hurry: whole, without warnings, asking nobody for anything, and alive in Chromium."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import gradlab as gl
from notebooks.site import api, links
from notebooks.site.pages import Notebook
from tests.browser.axe import TAGS, axe, violations

pytestmark = pytest.mark.site

ROOT = Path(__file__).parents[2]
NOTEBOOKS = [Notebook(path) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
MOVING = NOTEBOOKS[0].name  # its labs move in this build; of all others it is only seen that they can be made
WIDE, PHONE = {"width": 1280, "height": 720}, {"width": 390, "height": 844}
CONTRAST = "color-contrast"  # of axe-core's rules the one that takes longest


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built site; every warning of Sphinx is an error."""
    out = tmp_path_factory.mktemp("site").resolve()
    command = [sys.executable, "-m", "notebooks.site", str(out), "--moving", MOVING, "--states", "12"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return out


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, links.Page]:
    return links.read(site)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.name)
def test_every_notebook_is_a_page(notebook: Notebook, site: Path) -> None:
    html = (site / f"{notebook.name}.html").read_text("utf-8")
    assert f"<h1>{notebook.title}" in html
    for words in ("Open on Binder", "Open on Colab", "Download"):
        assert html.count(f">{words}</a>") == 1
    assert (site / "notebooks" / notebook.path.name).read_bytes() == notebook.path.read_bytes()
    front = (site / "index.html").read_text("utf-8")
    assert f'href="{notebook.name}.html">{notebook.title}</a>' in front


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.name)
def test_every_lab_of_a_notebook_moves_in_its_page(notebook: Notebook, site: Path) -> None:
    html = (site / f"{notebook.name}.html").read_text("utf-8")
    labels = "|".join(re.escape(lab.label) for lab in gl.labs.catalogue().values())
    shown = re.findall(rf'<figure role="group" aria-label="(?:{labels})"', html)
    embedded = re.findall(r'data-page="([^"]*)"', html)
    assert len(embedded) == len(shown) * (notebook.name == MOVING)
    assert all((site / address).stat().st_size > 10_000 for address in embedded)


def test_every_public_name_is_in_the_reference(pages: dict[Path, links.Page], site: Path) -> None:
    for place, module in api.modules().items():
        named = {f"{place}.{name}" for name, _ in api.contents(module)}
        assert named - pages[site / f"api/{place}.html"].anchors == set()


def test_links_within_the_site_lead_somewhere(pages: dict[Path, links.Page]) -> None:
    assert list(links.broken(pages)) == []
    assert len(pages) > 50


def test_nothing_comes_from_another_host(pages: dict[Path, links.Page], site: Path) -> None:
    assert [address for page in pages.values() for address in page.loaded if links.is_external(address)] == []
    for path in site.rglob("*.css"):
        assert re.findall(r"(?:url\(|@import)[\s'\"]*(?:https?:)?//[^)]*", path.read_text("utf-8")) == []


def test_every_picture_says_what_it_shows(pages: dict[Path, links.Page]) -> None:
    assert {path.name: page.silent for path, page in pages.items() if page.silent} == {}
    assert sum('<img alt="' in path.read_text("utf-8") for path in pages) > len(NOTEBOOKS) / 2


class Reader:
    """A page of the site in Chromium. `troubles` collects errors and requests to other hosts."""

    def __init__(self, page: Any, address: str) -> None:
        self.page, self.address = page, address
        self.troubles: list[str] = []
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("console", lambda said: said.type == "error" and self.troubles.append(said.text))
        page.on("request", lambda r: r.url.startswith((address, "data:", "blob:")) or self.troubles.append(r.url))

    def go(self, name: str) -> None:
        """Open a page by its name."""
        self.page.goto(f"{self.address}/{name}")

    def frame(self) -> Any:
        """The first lab, once it has taken the place of its picture."""
        place = self.page.locator(".lab").first
        place.scroll_into_view_if_needed()
        place.locator("iframe:not(.arriving)").wait_for(timeout=60_000)
        return place.frame_locator("iframe")


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Where the site is served."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_said: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def reader(chromium: Any, address: str) -> Iterator[Reader]:
    """A fresh page, light until the test turns it dark."""
    context = chromium.new_context(color_scheme="light")
    yield Reader(context.new_page(), address)
    context.close()


@pytest.mark.browser
def test_a_lab_in_a_page_is_scrubbed_by_keys(reader: Reader) -> None:
    reader.go(f"{MOVING}.html")
    lab = reader.frame()
    slider = lab.get_by_role("slider", disabled=False).first
    said, frame = lab.locator(".gl-readout").inner_text(), lab.locator("[data-frame]").get_attribute("data-frame")
    slider.press("ArrowRight")
    lab.locator(f"[data-frame]:not([data-frame='{frame}'])").wait_for()
    assert lab.locator(".gl-readout").inner_text() != said
    assert not reader.page.locator(".lab .output").first.is_visible()
    reader.page.evaluate("() => { document.body.dataset.theme = 'dark' }")
    lab.locator(":root[data-theme=dark]").wait_for()
    assert reader.troubles == []


@pytest.mark.browser
@pytest.mark.parametrize("name", ["index", MOVING, "api/gradlab.optax"])
def test_a_page_can_be_read_by_everybody(name: str, reader: Reader) -> None:
    """All rules once; on a phone all but that on contrast, which is the same there, and in the dark that one alone."""
    reader.go(f"{name}.html")
    if name == MOVING:
        reader.frame()
    assert violations(reader.page, "body") == []
    reader.page.set_viewport_size(PHONE)
    assert reader.page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    assert found(reader.page, "article", runOnly=TAGS, rules={CONTRAST: {"enabled": False}}) == []
    reader.page.set_viewport_size(WIDE)
    light = background(reader.page)
    reader.page.emulate_media(color_scheme="dark")
    assert background(reader.page) != light
    assert found(reader.page, "body", runOnly={"type": "rule", "values": [CONTRAST]}) == []
    assert reader.troubles == []


def background(page: Any) -> str:
    color: str = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    return color


def found(page: Any, place: str, **options: Any) -> list[str]:
    """Run some rules of axe-core in a place; give what they find."""
    response = axe().run(page, place, {"resultTypes": ["violations"], **options}).response
    return [f"{rule['id']}: {node['html'][:200]}" for rule in response["violations"] for node in rule["nodes"]]


@pytest.mark.browser
def test_without_scripts_a_lab_is_its_picture(chromium: Any, address: str) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/{MOVING}.html")
    assert page.locator(".lab img").first.is_visible()
    assert page.locator("iframe").count() == 0
    context.close()


@pytest.mark.browser
def test_a_name_is_found(reader: Reader) -> None:
    reader.go("search.html?q=clip_by_global_norm")
    reader.page.locator("#search-results li a").first.wait_for()
    assert reader.troubles == []

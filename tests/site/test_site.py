"""The site, built once in a hurry: whole, without warnings, asking nobody for anything, and alive
in Chromium.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest
from jupyterlite_pyodide_kernel.constants import PYODIDE_CDN_URL

import gradlab as gl
from gradlab._base.addresses import on_binder, on_colab, on_github, on_site
from gradlab.live.page import MOST_BYTES
from notebooks.site import api, hooks
from notebooks.site.pages import Notebook
from notebooks.site.shown import labs_in
from tests.browser.axe import TAGS, axe, violations
from tests.live.saved import data_of, states_of
from tests.site import links, walk

pytestmark = pytest.mark.site

ROOT = Path(__file__).parents[2]
NOTEBOOKS = [Notebook(path) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
# Its labs move in this build; of all others it is only seen that they can be made.
MOVING = NOTEBOOKS[0].name
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
PYODIDE = os.environ.get(
    "GRADLAB_PYODIDE"
)  # a folder with a distribution of it, to start a kernel in the tab
# Of labs and predictions, besides presets.
BUTTONS = {"Play", "Reveal", "Reset", "Copy link", "Zoom", "Reset view", "More"}
CONTRAST = "color-contrast"  # of axe-core's rules the one that takes longest


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built site, or the one in GRADLAB_SITE; every warning of Sphinx is an error."""
    if built := os.environ.get("GRADLAB_SITE"):
        return Path(built).resolve()
    out = tmp_path_factory.mktemp("site").resolve()
    command = [
        sys.executable,
        "-m",
        "notebooks.site",
        str(out),
        "--moving",
        MOVING,
        "--states",
        "12",
    ]
    command += ["--pyodide", PYODIDE] if PYODIDE else []
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "states, " in done.stdout
    assert len(done.stdout.splitlines()) == sum(
        len(list(labs_in(notebook.cells))) for notebook in NOTEBOOKS
    )
    return out


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, links.Page]:
    return links.read(site)


def words(page: Path) -> str:
    """The text of a page without its markup, with straight quotes."""
    return unescape(re.sub("<[^>]*>", "", page.read_text("utf-8"))).translate(
        str.maketrans("’‘“”", "''\"\"")
    )


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.name)
def test_every_notebook_is_a_page(notebook: Notebook, site: Path) -> None:
    html = (site / f"{notebook.name}.html").read_text("utf-8")
    assert f"<h1>{notebook.title}" in html
    for words in ("Run in this browser", "Download"):
        assert html.count(f">{words}</a>") == 1
    for words, address in (("Open on Binder", on_binder), ("Open on Colab", on_colab)):
        assert html.count(f">{words}</a>") == bool(address(notebook.path.name))
    assert (site / "notebooks" / notebook.path.name).read_bytes() == notebook.path.read_bytes()
    front = (site / "index.html").read_text("utf-8")
    assert f'href="{notebook.name}.html">{notebook.title}</a>' in front


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.name)
def test_every_lab_of_a_notebook_moves_in_its_page(notebook: Notebook, site: Path) -> None:
    html = (site / f"{notebook.name}.html").read_text("utf-8")
    labels = "|".join(re.escape(make().label) for make in gl.labs.catalog().values())
    shown = re.findall(rf'<figure role="group" aria-label="(?:{labels})"', html)
    embedded = re.findall(r'data-page="([^"]*)"', html)
    assert len(embedded) == len(shown) * (notebook.name == MOVING)
    assert all((site / address).stat().st_size > 10_000 for address in embedded)


def test_every_lab_has_a_page_that_says_what_is_seen(site: Path) -> None:
    for name, make in gl.labs.catalog().items():
        label = make().label
        html = unescape((site / "lab" / f"{name}.html").read_text("utf-8"))
        assert f"<h1>{label}" in html and "In the course: <a" in html
        assert gl.labs.glance(make) in words(site / "lab" / f"{name}.html")
        assert f'aria-label="{label}"' in html or f'alt="{label}' in html


def test_every_page_tells_others_what_it_is(pages: dict[Path, links.Page], site: Path) -> None:
    """Those who ask for whole addresses, search engines and messengers, get them where there is a
    repository.
    """
    assert (site / ".nojekyll").exists()
    told = {}
    for path in pages:
        page = path.relative_to(site).as_posix()
        if page.startswith(("labs/", "_modules/")) or page in (
            "404.html",
            "genindex.html",
            "py-modindex.html",
            "search.html",
        ):
            continue
        head = path.read_text("utf-8").partition("</head>")[0]
        told[page] = dict(re.findall(r'<meta (?:name|property)="([\w:]+)" content="([^"]*)"', head))
    assert len(told) > 40
    assert "02_clipping.html" in told
    for page, said in told.items():
        assert 20 < len(unescape(said["description"])) <= 210, page
        assert said["og:title"]
        assert said.get("og:url", "") == (on_site(page) if on_github() else ""), page
        assert (site / said.get("og:image", "index.html").removeprefix(on_site())).is_file(), page
    assert (site / "sitemap.xml").exists() == bool(on_github())
    assert (site / "robots.txt").exists() == bool(on_github())


def test_every_page_ends_with_what_a_stranger_asks_for(site: Path) -> None:
    pages = {name: (site / f"{name}.html").read_text("utf-8") for name in ("404", "02_clipping")}
    ends = {name: html.rpartition("<footer>")[2] for name, html in pages.items()}
    for end in ends.values():
        for part in (f"gradlab {gl.__version__}", ">Apache-2.0<", ">Cite<", on_github()):
            assert part in end
        assert ("Repository</a>" in end) == bool(on_github())
    edit = f'<a href="{on_github()}/edit/main/notebooks/02_clipping.ipynb">Edit this page</a>'
    assert (edit in ends["02_clipping"]) == bool(on_github())
    assert "Edit this page" not in ends["404"]
    edited = {
        hooks.source_of(path.relative_to(site).with_suffix("").as_posix())
        for path in site.rglob("*.html")
    }
    assert [path for path in edited if not (ROOT / path).exists()] == []


def test_a_page_that_is_not_there_is_answered_at_any_depth(site: Path) -> None:
    html = (site / "404.html").read_text("utf-8")
    folder = urlsplit(on_site()).path  # known where there is a repository
    assert (f'<base href="{folder}">' in html) == bool(folder)
    assert "<base" not in html or html.index("<base") < html.index("<link rel")
    assert "<base" not in (site / "index.html").read_text("utf-8")


def test_pages_are_light(site: Path) -> None:
    """As a plain server sends them, before any lab is opened: styles and scripts of all pages take
    300 kB.
    """
    # The search page alone loads it. It grows with the public names, of which there are some 900.
    assert (site / "searchindex.js").stat().st_size < 400_000
    for notebook in NOTEBOOKS:
        assert (site / f"{notebook.name}.html").stat().st_size < 600_000
    assert all(page.stat().st_size <= MOST_BYTES for page in (site / "labs").glob("*.html"))


def test_installing_and_citing_have_pages(site: Path) -> None:
    install, cited = (words(site / f"{name}.html") for name in ("install", "cite"))
    assert 'pip install -e ".[lab]" && gradlab lab' in install
    assert all(part in cited for part in ("@software{gradlab", gl.__version__, on_github()))


def test_every_public_name_is_in_the_reference(pages: dict[Path, links.Page], site: Path) -> None:
    for place, module in api.modules().items():
        named = {f"{place}.{name}" for name, _ in api.contents(module)}
        assert named - pages[site / f"api/{place}.html"].anchors == set()


def test_links_within_the_site_lead_somewhere(pages: dict[Path, links.Page]) -> None:
    assert list(links.broken(pages)) == []
    assert len(pages) > 50


def test_nothing_comes_from_another_host(pages: dict[Path, links.Page], site: Path) -> None:
    assert [
        address for page in pages.values() for address in page.loaded if links.is_external(address)
    ] == []
    for path in site.rglob("*.css"):  # JupyterLab's, too
        assert (
            re.findall(r"(?:url\(|@import)[\s'\"]*(?:https?:)?//[^)]*", path.read_text("utf-8"))
            == []
        )


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
        page.on(
            "request",
            lambda r: r.url.startswith((address, "data:", "blob:")) or self.troubles.append(r.url),
        )

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
    said, frame = (
        lab.locator(".gl-readout").inner_text(),
        lab.locator("[data-frame]").get_attribute("data-frame"),
    )
    slider.press("ArrowRight")
    lab.locator(f"[data-frame]:not([data-frame='{frame}'])").wait_for()
    assert lab.locator(".gl-readout").inner_text() != said
    assert not reader.page.locator(".lab .output").first.is_visible()
    reader.page.evaluate("() => { document.body.dataset.theme = 'dark' }")
    lab.locator(":root[data-theme=dark]").wait_for()
    assert reader.troubles == []


@pytest.fixture(scope="module")
def there() -> set[str]:
    """What labs have by name: presets, controls, their options, buttons."""
    run, labs = gl.models.reader_run.shipped(), gl.labs
    followed = [
        lab(run) for lab in (labs.clipping, labs.run_layers, labs.run_adagrad, labs.run_staleness)
    ]
    made = [*(lab() for lab in labs.catalog().values()), *followed]
    controls = [control for lab in made for control in lab.controls]
    # Not all words.
    menus = [
        options for control in controls if len(options := getattr(control, "options", ())) < 30
    ]
    options = {str(word) for menu in menus for option in menu for word in option}
    return (
        BUTTONS
        | options
        | {control.label for control in controls}
        | {name for lab in made for name in lab.presets}
    )


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.name)
def test_a_page_asks_for_nothing_that_is_not_there(
    notebook: Notebook, site: Path, there: set[str]
) -> None:
    """What a sentence says to press, drag or set is there; a target is in the lab's page, or its
    text has a link.
    """
    html = (site / f"{notebook.name}.html").read_text("utf-8")
    named = walk.named(walk.sentences(html))
    assert {verb for verb, _ in named} >= {"press"}, (
        "a page without a button to press; or the walk finds none"
    )
    assert {(verb, name) for verb, name in named if name not in there} == set()
    targets = [
        one
        for one in re.findall("<li>.*?</li>|<p>.*?</p>", html, re.DOTALL)
        if ">Target.</strong>" in one
    ]
    pages = [
        (site / address).read_text("utf-8") for address in re.findall(r'data-page="([^"]*)"', html)
    ]
    reached = sum(any(words["met"] for *_, words, _ in states_of(data_of(page))) for page in pages)
    assert sum("Run it in this browser" in one for one in targets) == len(targets) - reached


@pytest.mark.browser
def test_what_the_pages_ask_for_can_be_done(chromium: Any, site: Path, address: str) -> None:
    """Every question of every page, every preset and handle of the labs that move in this build:
    wide and narrow.
    """
    labs = [
        f"lab/{path.name}"
        for path in (site / "lab").glob("*.html")
        if "data-page=" in path.read_text("utf-8")
    ]
    context, done = chromium.new_context(), Counter[str]()
    reader = Reader(context.new_page(), address)
    for name in [*(f"{notebook.name}.html" for notebook in NOTEBOOKS), *labs]:
        for size in (WIDE, PHONE):
            reader.page.set_viewport_size(size)
            reader.go(name)
            done += walk.whole(reader.page)
            assert (
                reader.page.evaluate("() => document.documentElement.scrollWidth") <= size["width"]
            )
    assert (
        labs
        and done["questions"] > 60
        and done["presets"] > 30
        and done["handles"]
        and reader.troubles == []
    )
    context.close()


@pytest.mark.browser
def test_a_target_that_a_page_holds_is_reached(site: Path, reader: Reader) -> None:
    for path in (site / "labs").glob(f"{MOVING}-*.html"):
        data = data_of(path.read_text("utf-8"))
        setup, states = data["layouts"][0]["setup"], states_of(data)
        met = next((values for values, _, words, _ in states if words["met"]), None)
        if met is None:
            assert {words["goal"] for *_, words, _ in states} == {""}
            continue
        link = "".join(f"&{name}={value}" for name, value in {**setup["start"], **met}.items())
        reader.go(f"labs/{path.name}#gl=1&lab={setup['name']}{link}")
        reader.page.get_by_text(": reached").first.wait_for()


@pytest.mark.browser
@pytest.mark.parametrize("name", ["index", MOVING, "api/gradlab.optax"])
def test_a_page_can_be_read_by_everybody(name: str, reader: Reader) -> None:
    """All rules once; on a phone all but that on contrast, which is the same there, and in the dark
    that one alone.
    """
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
    return [
        f"{rule['id']}: {node['html'][:200]}"
        for rule in response["violations"]
        for node in rule["nodes"]
    ]


@pytest.mark.browser
def test_without_scripts_a_lab_is_its_picture(chromium: Any, address: str) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/{MOVING}.html")
    assert page.locator(".lab img").first.is_visible()
    assert page.locator("iframe").count() == 0
    context.close()


@pytest.mark.browser
def test_the_course_opens_in_a_tab(chromium: Any, address: str) -> None:
    """JupyterLab, files and notebook, at the cell that is asked for; then a kernel starts, or asks
    for its Python.
    """
    context = chromium.new_context()
    elsewhere: list[str] = []

    def left_out(route: Any) -> None:
        elsewhere.append(route.request.url)
        route.abort()

    context.route(lambda url: not url.startswith((address, "data:", "blob:")), left_out)
    # A kernel's start, below.
    asks = nullcontext() if PYODIDE else context.expect_event("requestfailed")
    page = context.new_page()
    with asks:
        page.goto(f"{address}/{MOVING}.html")
        answer = page.get_by_role("link", name="Write your answer in this browser").first
        top = page.get_by_role("link", name="Run in this browser").get_attribute("href")
        assert str(answer.get_attribute("href")).partition("#")[0] == top
        answer.click()
        page.locator(".jp-Notebook .jp-mod-active", has_text="gl.exercises.check(").wait_for(
            timeout=60_000
        )
        page.locator(f".jp-DirListing-item.jp-mod-selected[title*='{MOVING}']").wait_for()
        files = page.locator(".jp-DirListing-itemName").all_inner_texts()
        assert [name.strip() for name in files] == [notebook.path.name for notebook in NOTEBOOKS]
    if PYODIDE:
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        page.locator("[data-frame]").first.wait_for(timeout=300_000)
    assert set(elsewhere) == (set() if PYODIDE else {f"{PYODIDE_CDN_URL}/pyodide.mjs"})
    context.close()


@pytest.mark.browser
def test_a_name_is_found(reader: Reader) -> None:
    reader.go("search.html?q=clip_by_global_norm")
    reader.page.locator("#search-results li a").first.wait_for()
    assert reader.troubles == []

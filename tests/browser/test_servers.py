"""Who knocks on our servers, and what stands in names and links: nothing runs, nothing leaves,
nobody gets a kernel.

The dashboard and JupyterLab are asked with the Host, Origin, paths and links of a page elsewhere; a
notebook and saved pages hold recordings whose tensors have the names of `tests/hostile.py`.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import pytest

import gradlab as gl
from tests.browser import server
from tests.browser.lab import until
from tests.browser.pages import Notebook
from tests.browser.written import SETUP, written
from tests.hostile import NAMES
from tests.report.test_names import recorded

pytestmark = pytest.mark.browser

TOKEN = server.TOKEN
KERNEL = "11111111-2222-3333-4444-555555555555"
# What shows pages or hands out kernels and files, by server; each is refused without the token, one
# way or another.
PLACES = {
    "dashboard": (
        "/voila/render/clipping.ipynb",
        "/voila/render/%2e%2e/%2e%2e/etc/passwd",
        "/voila/render/../../../etc/passwd",
        "/voila/tree",
        "/voila/api/contents/",
        "/voila/files/clipping.ipynb",
        "/voila/files/..%2f..%2fetc%2fpasswd",
        f"/api/kernels/{KERNEL}",
        f"/api/kernels/{KERNEL}/channels",
        f"/voila/api/shutdown/{KERNEL}",
    ),
    "jupyterlab": (
        "/lab",
        "/api/kernels",
        "/api/contents/",
        "/api/sessions",
        "/files/..%2f..%2fetc%2fpasswd",
        f"/api/kernels/{KERNEL}/channels",
        "/voila/render/x.ipynb",
        "/api/terminals",
    ),
}
ELSEWHERE = (
    "evil.example",
    "evil.example:{port}",
    "127.0.0.1.evil.example:{port}",
    "localhost.evil.example",
    "0.0.0.0",
)


@pytest.fixture(params=PLACES)
def locked(request: Any) -> tuple[str, str]:
    """A server that asks for a token: which, and its address."""
    if request.param == "dashboard":
        return request.param, request.getfixturevalue("dashboard")
    return request.param, request.getfixturevalue("hub")[0]


def asked(address: str, path: str, method: str = "GET", **headers: str) -> tuple[int, str, str]:
    """Ask a server as the client says, whatever is in path and headers: status, where it sends one,
    and its words.

    The path goes on from where the server's pages begin.
    """
    place = urlsplit(address)
    connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=60)
    connection.putrequest(method, place.path + path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    words = (
        answer.status,
        answer.headers.get("Location", ""),
        answer.read().decode("utf-8", "replace"),
    )
    connection.close()
    return words


def kernels(address: str) -> list[Any]:
    """Ids of kernels that run, where the server tells them to those who have the token."""
    status, _, words = asked(address, f"/api/kernels?token={TOKEN}")
    return list(json.loads(words)) if status == 200 else []


def test_without_the_token_there_is_nothing_to_see(locked: tuple[str, str]) -> None:
    kind, address = locked
    before = kernels(address)
    for path in PLACES[kind]:
        for method in ("GET", "POST"):
            status, to, words = asked(address, path, method)
            assert status in (302, 403, 404, 405), (path, method, status)
            assert status != 302 or "/login" in to, (path, to)
            assert "root:" not in words
            assert "kernelId" not in words
    for wrong in ("?token=", "?token=wrong", f"?token={TOKEN}x"):
        status, to, _ = asked(address, PLACES[kind][0] + wrong)
        assert (status, "/login" in to) == (302, True)
    assert kernels(address) == before


def test_with_the_token_its_reader_gets_in(locked: tuple[str, str]) -> None:
    kind, address = locked
    place = {"dashboard": "/voila/tree", "jupyterlab": "/lab"}[kind]
    assert asked(address, f"{place}?token={TOKEN}")[0] == 200
    assert asked(address, place, Authorization=f"token {TOKEN}")[0] == 200
    assert "password" in asked(address, "/login")[2]


@pytest.mark.parametrize("host", ELSEWHERE)
def test_a_name_from_elsewhere_is_refused_even_with_the_token(
    host: str, locked: tuple[str, str]
) -> None:
    """DNS rebinding: a page at evil.example has its name point here, so that the browser takes us
    for its server.
    """
    kind, address = locked
    host = host.format(port=urlsplit(address).port)
    before = kernels(address)
    for path in PLACES[kind]:
        status, _, words = asked(address, f"{path}?token={TOKEN}", Host=host)
        assert status in (403, 404), (path, status)
        assert "kernelId" not in words
    assert kernels(address) == before


def knocked(address: str, **headers: str) -> int:
    """The status with which a server answers who wants a websocket to a kernel: 101 opens it."""
    handshake = {
        "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }  # fmt: skip
    return asked(address, f"/api/kernels/{KERNEL}/channels", **handshake, **headers)[0]


def test_a_websocket_needs_token_host_and_origin(locked: tuple[str, str]) -> None:
    _, address = locked
    cookie = f"token {TOKEN}"
    assert knocked(address) == 403
    assert knocked(address, Origin="http://evil.example") == 403
    assert knocked(address, Origin="http://evil.example", Cookie="username-x=forged") == 403
    assert (
        knocked(address, Host="evil.example", Origin="http://evil.example", Authorization=cookie)
        == 403
    )
    origin = address.removesuffix(urlsplit(address).path)
    # No such kernel, but not refused.
    assert knocked(address, Origin=origin, Authorization=cookie) in (101, 404)


def test_a_page_elsewhere_gets_no_kernel_with_the_readers_cookie(
    locked: tuple[str, str], chromium: Any
) -> None:
    """In a browser that is logged in, a page of another origin asks for all it can think of."""
    kind, address = locked
    context = chromium.new_context()
    assert context.request.get(f"{address}{PLACES[kind][0]}?token={TOKEN}").ok
    before = len(kernels(address))
    page = context.new_page()
    context.route(
        "http://evil.example/**",
        lambda route: route.fulfill(body="<title>evil</title>", content_type="text/html"),
    )
    page.goto("http://evil.example/")
    got = page.evaluate(
        """async ([address, places]) => {
          const got = [];
          for (const place of places) {
            for (const method of ["GET", "POST"]) {
              try {
                const answer = await fetch(address + place, { method, credentials: "include" });
                got.push([method, place, answer.status, await answer.text()]);
              } catch { /* refused */ }
            }
          }
          const socket = new WebSocket(`${address.replace("http", "ws")}/api/kernels/KERNEL/channels`);
          got.push(...await new Promise((done) => {
            socket.onopen = () => done(["opened"]);
            socket.onerror = () => done([]);
          }));
          return got }""".replace("KERNEL", KERNEL),
        [address, [*PLACES[kind], "/api/kernels", "/api/sessions"]],
    )
    assert got == []
    assert len(kernels(address)) == before
    context.close()


HOSTILE_LINKS = (
    "#gl=1&lab=run_layers&tensor=<script>document.title='owned'</script>&limit=1e999",
    "#gl=1&lab=run_layers&<img src=x onerror=document.title='owned'>=1"
    "&show=</script><script>document.title='owned'</script>",
    "#gl=<svg onload=document.title='owned'>&lab=run_layers",
    "#gl=1&lab=run_layers&__proto__=1&constructor=2&toString=3&limit=NaN",
)
CODE = """\
from tests.report.test_names import recorded
from tests.hostile import NAMES
rec = recorded(*(name for name in NAMES.values() if len(name) < 100 and name.isprintable()))"""
LAB = 3  # the place of its cell, after a heading and the code
WRONG = """\
for name in NAMES.values():
    try: gl.exercises.check(name, name)
    except ValueError as error: print(str(error)[:300])
gl.exercises.check("clipping.below", NAMES["script"])"""


class Watched:
    """What a page does that it must not: other hosts asked, script of a name run, errors."""

    def __init__(self, page: Any, allowed: str) -> None:
        self.wrong: list[str] = []
        page.on("request", lambda request: self._asked(request.url, allowed))
        page.on(
            "dialog",
            lambda dialog: (self.wrong.append(f"dialog {dialog.message}"), dialog.dismiss()),
        )
        page.on(
            "websocket", lambda socket: self._asked(socket.url.replace("ws", "http", 1), allowed)
        )

    def _asked(self, url: str, allowed: str) -> None:
        if not url.startswith((allowed, "data:", "blob:", "about:")):
            self.wrong.append(url)


def test_names_and_links_run_nothing_in_a_running_notebook(
    address: str, reader: Any, folder: Path
) -> None:
    """The page is opened with a link; the others come to it, and the lab, which is made anew, reads
    each of them.
    """
    path = written(folder / "hostile.ipynb", SETUP, CODE, "gl.labs.run_layers(rec)", WRONG)
    notebook = Notebook(reader.new_page(), address)
    watched = Watched(notebook.page, address)
    notebook.open(path.name, quote(HOSTILE_LINKS[0], safe="#&="))
    notebook.run_all()
    for link in HOSTILE_LINKS:
        if link != HOSTILE_LINKS[0]:
            notebook.page.evaluate("(link) => { location.hash = link }", quote(link, safe="#&="))
            notebook.select(LAB)
            notebook.command("notebook:run-cell")
            notebook.wait_until_idle()
            assert unquote(notebook.page.evaluate("location.hash")) == link
        lab = notebook.lab(gl.labs.run_layers().label)
        until(
            lambda lab=lab: "The link " in lab.aside(),
            saying="the lab has read the link, and says what it left out",
        )
        lab.group.locator("select").first.focus()
        lab.group.get_by_text("Values", exact=True).first.click()
        assert "owned" not in notebook.page.title(), link
        assert watched.wrong == [], link
    notebook.shut_down()
    notebook.page.close()


PAGES: dict[str, Callable[[Any, Path], None]] = {
    "lab": lambda rec, path: gl.labs.run_layers(rec).save(path),
    "report": lambda rec, path: gl.Report(
        rec, title=NAMES["image"] + NAMES["end of a script"]
    ).save(path),
}
# In a page with many labs each of them reads the link as the only lab of a page does. A report
# without labs holds no other elements than this one; tests/report/test_names.py reads it.
LINKS_OF = {"lab": HOSTILE_LINKS, "report": HOSTILE_LINKS[1:2]}


@pytest.mark.filterwarnings("ignore:Glyph .* missing from")
@pytest.mark.parametrize("kind", [*PAGES])
def test_names_and_links_run_nothing_in_a_saved_page(
    kind: str, tmp_path: Path, chromium: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradlab.report.report.STATES", 2)
    path = tmp_path / "x.html"
    PAGES[kind](recorded(*NAMES.values()), path)
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    watched = Watched(page, path.as_uri())
    for link in ("", *LINKS_OF[kind]):
        page.goto("about:blank")
        page.goto(path.as_uri() + link)
        page.locator(".gl-live[data-frame]").first.wait_for()
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert page.title() != "owned"
        assert (
            page.evaluate(
                "document.querySelectorAll('img[src=x], [onerror], [onload], iframe, "
                "object').length"
            )
            == 0
        )
    assert watched.wrong == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()

"""A Chromium for the tests that need one, and a page that holds the widget without JupyterLab."""

import base64
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gradlab.live

LIVE = Path(gradlab.live.__file__).parent

# The page plays the part of the notebook: `model` keeps what the widget sends and hands it what a test wants to say.
PAGE = """<!doctype html><meta charset="utf-8"><style>body{margin:0;background:#fff}%CSS%</style><div id="here"></div>
<script type="module">
const source = new Blob([%JS%], {type: "text/javascript"});
const module = await import(URL.createObjectURL(source));
const listeners = [];
const bytes = (text) => new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
window.sent = [];
window.model = {
  send: (message) => { window.sent.push(structuredClone(message)); window.answer?.(message); },
  on: (name, f) => listeners.push(f), off: (name, f) => listeners.splice(listeners.indexOf(f), 1),
};
window.say = (message, ...buffers) => [...listeners].forEach((f) => f(message, buffers.map(bytes)));
window.listeners = listeners;
window.paint = (canvas, list) => module.paint(canvas.getContext("2d"), bytes(list));
window.open_view = () => module.default.render({model: window.model, el: document.getElementById("here")});
window.module = module;
window.ready = true;
</script>"""


def _missing(reason: str) -> Any:
    if "browser" in os.environ.get("GRADLAB_REQUIRE", ""):
        pytest.fail(f"GRADLAB_REQUIRE asks for a browser, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A running Chromium."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("playwright is not installed")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        _missing("there is no chromium on the PATH")
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=flags)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page with widget.js loaded; a test fails when the page logs an error or asks the network for anything."""
    import json

    context = chromium.new_context(viewport={"width": 900, "height": 700})
    page = context.new_page()
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: troubles.append(request.url) if request.url.startswith("http") else None)
    script = json.dumps((LIVE / "widget.js").read_text("utf-8")).replace("</", "<\\/")
    html = PAGE.replace("%CSS%", (LIVE / "widget.css").read_text("utf-8")).replace("%JS%", script)
    page.set_content(html)
    page.wait_for_function("window.ready")
    yield page
    context.close()
    assert not troubles, troubles


def base64_text(data: bytes) -> str:
    return base64.b64encode(data).decode()

"""A page that holds the widget without JupyterLab."""

import base64
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gradlab.live
from gradlab.live._bundle import widget_source, widget_style
from tests.live.examples import clipped

QUIET_MS = 110  # more than the browser waits before it tells the kernel what it shows already
LIVE = Path(gradlab.live.__file__).parent

# The page plays the part of the notebook: `model` keeps what the widget sends and hands it what a
# test wants to say.
PAGE = """<!doctype html><meta charset="utf-8"><style>body{margin:0;background:#fff}%CSS%</style><div id="here"></div>
<script type="module">
const source = new Blob([%JS%], {type: "text/javascript"});
window.import_again = () => import(URL.createObjectURL(source));
window.module = await import_again();
const bytes = (text) => new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
const heard = (name) => (window.listeners[name] ??= []);
window.views = [];
window.fresh = () => {
  window.views.splice(0).forEach((close) => close());
  window.sent = [];
  window.saved = [];
  window.listeners = {};
  window.traits = {};
  let unsaved = {}; // ipywidgets sends with the next save whatever was set before
  window.hear = (name, value) => { // what the kernel says of a trait
    delete unsaved[name];
    if (window.traits[name] === value) return;
    window.traits[name] = value;
    [...heard(`change:${name}`)].forEach((f) => f());
  };
  window.model = {
    send: (message) => window.sent.push(structuredClone(message)),
    get: (name) => window.traits[name],
    set: (name, value) => {
      window.hear(name, value);
      unsaved[name] = value;
    },
    save_changes: () => {
      window.saved.push(structuredClone(unsaved));
      unsaved = {};
    },
    on: (name, f) => heard(name).push(f), off: (name, f) => heard(name).splice(heard(name).indexOf(f), 1),
  };
};
window.say = (message, ...buffers) => Promise.all([...heard("msg:custom")].map((f) => f(message, buffers.map(bytes))));
window.paint = (canvas, list, scheme) => module.paint(canvas.getContext("2d"), bytes(list), scheme && new Map(scheme));
window.open_view = () => {
  window.close_view = module.default.render({model: window.model, el: document.getElementById("here")});
  window.views.push(window.close_view);
};
window.fresh();
window.ready = true;
</script>"""


@pytest.fixture(scope="module")
def shared_page(chromium: Any) -> Iterator[Any]:
    """A page with the widget for the tests of a module; it may neither log an error nor ask for
    anything.
    """
    page = chromium.new_page()
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on(
        "console",
        lambda message: troubles.append(message.text) if message.type == "error" else None,
    )
    page.on(
        "request",
        lambda request: troubles.append(request.url) if request.url.startswith("http") else None,
    )
    script = json.dumps(widget_source()).replace("</", "<\\/")
    html = PAGE.replace("%CSS%", widget_style()).replace("%JS%", script)
    page.set_content(html)
    page.wait_for_function("window.ready")
    page.troubles = troubles
    yield page
    page.close()


@pytest.fixture
def page(shared_page: Any) -> Iterator[Any]:
    """That page, emptied for one test."""
    shared_page.set_viewport_size({"width": 900, "height": 700})
    shared_page.mouse.move(0, 0)
    yield shared_page
    shared_page.evaluate("fresh()")
    assert not shared_page.troubles, shared_page.troubles


@pytest.fixture
def hurry(page: Any) -> Iterator[Callable[[], None]]:
    """Let the timers of a second and more go off now, and only then; ask for it before the view
    that sets them.
    """
    page.evaluate("""() => { const overdue = new Map(), { setTimeout, clearTimeout } = window;
      window.setTimeout = (act, ms, ...rest) => {
        const id = setTimeout(ms >= 1000 ? () => {} : act, ms, ...rest);
        if (ms >= 1000) overdue.set(id, () => act(...rest));
        return id;
      };
      window.clearTimeout = (id) => { overdue.delete(id); clearTimeout(id) };
      window.hurry = () => { const due = [...overdue.values()]; overdue.clear(); for (const act of due) act() };
      window.be_patient = () => Object.assign(window, { setTimeout, clearTimeout }) }""")
    yield lambda: page.evaluate("hurry()")
    page.evaluate("() => { be_patient() }")


class Wire:
    """Carries messages between a LiveFigure and a page, one direction at a time, so that a test can
    hold them back.
    """

    def __init__(self, live: Any, page: Any = None) -> None:
        self.live, self.page = live, page
        self.replies: list[tuple[dict[str, Any], list[bytes]]] = []
        live.send = lambda content, buffers=None: self.replies.append(
            (content, list(buffers or ()))
        )
        if page is not None:  # which hears of traits as well
            live.observe(
                lambda change: self.replies.append(({"kind": "trait", **change}, [])),
                names=list(live.values),
            )

    @staticmethod
    def text(data: bytes) -> str:
        return base64.b64encode(data).decode()

    def requests(self) -> list[dict[str, Any]]:
        """Take what the browser has sent, but for the nudges, which mean nothing."""
        return [m for m in self.page.evaluate("window.sent.splice(0)") if m["kind"] != "nudge"]

    def answer(self) -> list[dict[str, Any]]:
        """Let Python read the browser's messages; give them."""
        messages = self.requests()
        for message in messages:
            self.live._inbox.receive(message)
        return messages

    def reply(self) -> None:
        """Let the browser read Python's messages, and show them."""
        while self.replies:
            content, buffers = self.replies.pop(0)
            if content["kind"] == "trait":
                self.page.evaluate(
                    "([name, value]) => hear(name, value)", [content["name"], content["new"]]
                )
                continue
            texts = [self.text(data) for data in buffers]
            self.page.evaluate(
                "([message, buffers]) => window.say(message, ...buffers)", [content, texts]
            )
        self.page.evaluate("new Promise((done) => setTimeout(done, 20))")

    def together(self) -> None:
        """Let the browser hear Python's messages one right after another, however long it takes to
        show them.
        """
        messages = [
            (content, [self.text(data) for data in buffers]) for content, buffers in self.replies
        ]
        self.replies.clear()
        self.page.evaluate(
            "(all) => { for (const [message, buffers] of all) say(message, ...buffers) }", messages
        )

    def slider(self, name: str = "Limit") -> Any:
        return self.page.get_by_role("slider", name=name, exact=True)

    def button(self, name: str) -> Any:
        return self.page.get_by_role("button", name=name, exact=True)

    def readout(self) -> str:
        text: str = self.page.locator(".gl-readout").inner_text()
        return text

    def aside(self) -> str:
        """The note and the item that is selected, under the picture."""
        text: str = self.page.locator(".gl-aside").inner_text()
        return text

    def settle(self) -> list[dict[str, Any]]:
        """Carry messages until neither side has had more to say for a while; give what the browser
        said.
        """
        messages: list[dict[str, Any]] = []
        while more := self.both() or self._later():
            messages += more
        return messages

    def _later(self) -> list[dict[str, Any]]:
        # By the clock of its timers.
        self.page.evaluate(f"new Promise((done) => setTimeout(done, {QUIET_MS}))")
        return self.both()

    def both(self) -> list[dict[str, Any]]:
        messages = self.answer()
        self.reply()
        return messages

    def until(self, true: Callable[[], Any]) -> None:
        """Carry messages until it is so."""
        end = time.monotonic() + 30
        while not true():
            assert time.monotonic() < end
            self.both()

    def frames(self) -> None:
        """Wait until the page has noticed what changed about it, which it does with its next frame."""
        self.page.evaluate(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    def open(self) -> None:
        """Show one more view and wait until it is painted."""
        views = self.page.locator(".gl-live").count()
        self.page.evaluate("window.open_view()")
        self.both()
        self.page.wait_for_function(
            f"document.querySelectorAll('.gl-live[data-frame]').length > {views}"
        )


def sets(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the browser asked the kernel to set, request by request."""
    return [message["values"] for message in messages if message["kind"] == "set"]


def canvas_url(page: Any) -> str:
    url: str = page.evaluate("document.querySelector('.gl-moving').toDataURL()")
    return url


@pytest.fixture
def wire(page: Any) -> Wire:
    """A figure with a point that moves along x and y, open in the page."""
    wire = Wire(clipped(), page)
    wire.open()
    return wire

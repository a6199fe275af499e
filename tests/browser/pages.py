"""Pages that hold labs, driven with the same words: JupyterLab, Notebook 7, Voila, or any page."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, urlsplit

from tests.browser.lab import WAIT_SECONDS, Lab

WIDE = {
    "width": 1168,
    "height": 900,
}  # of which JupyterLab leaves a lab 1,000, as on a laptop of 1440 with its side bar
PHONE = {"width": 390, "height": 844}

IDLE = """() => { const kernel = KERNEL;
  return kernel?.status === "idle" && kernel.connectionStatus === "connected" }"""

# Its kernel may compute: a cell that still trains ends with the kernel.
STARTED = """() => { const kernel = KERNEL;
  return ["idle", "busy"].includes(kernel?.status) && kernel.connectionStatus === "connected" }"""

# Asked over the page's own session, so it is this page's kernel that answers, after whatever the
# page asked before.
EVALUATE = """async (expression) => {
  const asked = { code: "", silent: true, store_history: false, user_expressions: { it: expression } };
  const it = (await KERNEL.requestExecute(asked).done).content.user_expressions.it;
  if (it.status !== "ok") throw new Error(`${expression}: ${it.ename}: ${it.evalue}`);
  return it.data["text/plain"] }"""

ERRORS = """() => [...window.jupyterapp.shell.currentWidget.content.model.cells]
  .filter((cell) => cell.type === "code")
  .flatMap((cell) => cell.outputs.toJSON().filter((output) => output.output_type === "error"))
  .map((output) => `${output.ename}: ${output.evalue}`)"""

# A saved fallback holds the label of its lab, so this finds labs that run and labs that do not; the
# last of several.
GO_TO = """async (label) => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  const says = ({ outputs }) => [...Array(outputs.length).keys()].some((k) => (
    String(outputs.get(k).data["text/plain"] ?? "").includes(label)));
  const place = [...notebook.model.cells].findLastIndex((cell) => cell.type === "code" && says(cell));
  if (place < 0) throw new Error(`no cell shows ${label}`);
  await notebook.scrollToItem(place, "start");
  return place }"""

LOADED = "() => window.jupyterapp?.shell.currentWidget?.context?.isReady"

EXECUTE = "async ([name, args]) => { await window.jupyterapp.commands.execute(name, args) }"

# A lab is painted before the next one runs: anywidget gives each of them two seconds, which many at
# once do not keep.
RUN_EACH = """async () => { const notebook = window.jupyterapp.shell.currentWidget.content;
  const unpainted = () => document.querySelector(".gl-live:not([data-frame])");
  for (let place = 0; place < notebook.model.cells.length; place++) {
    notebook.activeCellIndex = place;
    await window.jupyterapp.commands.execute("notebook:run-cell");
    for (let turn = 0; turn < 200 && unpainted(); turn++) await new Promise((next) => setTimeout(next, 20)) } }"""

# Lab asks no question about a notebook that has nothing to save. Nobody waits for the end of its
# kernel.
CLOSE = """() => { const panel = window.jupyterapp.shell.currentWidget, { id } = panel.sessionContext.session;
  panel.context.model.dirty = false;
  panel.close();
  return id }"""
END = "(id) => { window.jupyterapp.serviceManager.sessions.shutdown(id) }"

# The kernel of the notebook that is shown, so that another notebook can be shown with it.
KERNEL_MODEL = "() => { const { id, name } = KERNEL; return { id, name } }"

ALL_THERE = """() => { const cells = window.jupyterapp.shell.currentWidget.content.model.cells.length;
  return document.querySelectorAll(".jp-Notebook .jp-Cell").length === cells
    && !document.querySelector(".gl-live:not([data-frame])") }"""

# To axe-core what is scrolled away cannot be seen, nor what is in a body without a height that
# hides what overflows, as JupyterLab's. So nothing is scrolled or hidden, and the notebook goes on
# below the window.
UNROLL = """() => { const style = document.createElement("style");
  style.id = "unrolled";
  style.textContent = `body { min-height: 100vh } .jp-Cell { content-visibility: visible !important }
    html, body, :has(.jp-Notebook), .jp-Notebook, .jp-Notebook :has(.jp-OutputArea), .jp-Cell {
      overflow: visible !important; contain: none !important }`;
  document.head.append(style);
  document.querySelector(".jp-WindowedPanel-outer").scrollTop = 0 }"""
ROLL = "() => document.getElementById('unrolled').remove()"


COPY = """async () => { const { promise, resolve } = Promise.withResolvers();
  const value = { writeText: async (text) => resolve(text) };
  Object.defineProperty(navigator, "clipboard", { configurable: true, value });
  document.querySelectorAll(".gl-live button").forEach((node) => node.textContent === "Copy link" && node.click());
  return await promise }"""


class Page:
    """A page with labs in it.

    `troubles` collects page errors, console errors and requests that leave the machine.
    """

    own: tuple[str, ...] = ()  # parts of troubles that the host has without any lab
    # What the site is made with, where it is installed: an extension that fits JupyterLite alone.
    of_lite = ("module @jupyterlite/services doesn't exist", "(reading 'LicensesClient')")

    def __init__(self, page: Any, address: str) -> None:
        self.page, self.address = page, address
        page.set_default_timeout(1000 * WAIT_SECONDS)
        self.troubles: list[str] = []
        self.requests: list[str] = []
        page.on("pageerror", lambda error: self._trouble(f"page error: {error}"))
        page.on("console", self._heard)
        page.on("request", lambda request: self._requested(request.url))

    def _trouble(self, text: str) -> None:
        if not any(part in text for part in (*self.own, *self.of_lite)):
            self.troubles.append(text)

    def _heard(self, said: Any) -> None:
        if said.type == "error":
            self._trouble(f"console: {said.text} ({said.location.get('url')})")

    def _requested(self, url: str) -> None:
        self.requests.append(url)
        if not (url.startswith(self.address) or urlsplit(url).scheme in ("blob", "data", "about")):
            self._trouble(f"request to elsewhere: {url}")

    def lab(self, label: str) -> Lab:
        """Find a running lab by its label."""
        return self._lab_in(self.page, label)

    def _lab_in(self, place: Any, label: str) -> Lab:
        group = place.get_by_role("group", name=label, exact=True).locator("visible=true").first
        group.wait_for()
        group.scroll_into_view_if_needed()
        return Lab(self, label, group)

    def evaluate(self, expression: str) -> Any:
        """Give the value of a Python expression in the kernel; it must be JSON-like."""
        raise NotImplementedError("this page has no kernel")

    def copied_link(self) -> str:
        """Press "Copy link" of the page's lab and give what is in the clipboard then."""
        link: str = self.page.evaluate(COPY)
        return link


class Served(Page):
    """A notebook on a Jupyter server, with a kernel of its own."""

    name: str
    path: str  # on the server
    kernel: str  # in the page's JavaScript

    def open(self, name: str, link: str = "") -> Served:
        """Show a notebook, named from the folder that is served, alone in the page; its address
        ends in `link`.
        """
        self.name = name
        self.page.goto(self.address_of(name) + link, wait_until="domcontentloaded")
        self.page.wait_for_function("() => window.jupyterapp !== undefined")
        # Asked again and again: JupyterLab may send the page to another workspace first.
        self.page.wait_for_function(
            "async () => { await window.jupyterapp?.restored; return window.jupyterapp }"
        )
        return self

    def address_of(self, name: str) -> str:
        """Where the host shows a notebook."""
        return f"{self.address}/{self.path.format(quote(name))}"

    def wait_until_idle(self) -> None:
        """Wait until the kernel has nothing to do."""
        self.page.wait_for_function(IDLE.replace("KERNEL", self.kernel))

    def evaluate(self, expression: str) -> Any:
        text = self.page.evaluate(
            EVALUATE.replace("KERNEL", self.kernel), f"__import__('json').dumps({expression})"
        )
        return json.loads(ast.literal_eval(text))

    def run_all(self) -> None:
        """Run every cell; a cell that raises is an error here as well."""
        raise NotImplementedError

    def select(self, cell: int) -> None:
        """Make a cell the selected one, without a click."""

    def selected_cell(self) -> int | None:
        """Give the place of the cell that the host has selected, if it selects any."""

    def shut_down(self) -> None:
        """End the kernel, so that the next page starts its own."""
        raise NotImplementedError


class Notebook(Served):
    """A notebook in JupyterLab."""

    path = "doc/tree/{}?reset"
    kernel = "window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel"
    borrowed = False  # whether the kernel belongs to others as well

    def open(self, name: str, link: str = "") -> Notebook:
        super().open(name, link)
        self.page.wait_for_function(LOADED)  # until then Lab shows one empty cell
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", state="attached")
        return self

    def turn_to(self, name: str, kernel: dict[str, str] | None = None) -> Notebook:
        """Show another notebook in the same JupyterLab, with this kernel or one of its own; close
        the one before.
        """
        self.page.bring_to_front()  # what is behind another page is not painted
        # A notebook closed while its kernel starts is a page error. One whose test failed may
        # compute for ever.
        self.page.wait_for_function(STARTED.replace("KERNEL", self.kernel))
        before = self.page.evaluate(CLOSE)
        self.page.wait_for_function("() => !document.querySelector('.jp-NotebookPanel')")
        if not self.borrowed:
            self.page.evaluate(END, before)
        self.troubles.clear()
        self.requests.clear()  # what follows is the next one's
        self.name, self.borrowed = name, kernel is not None
        self.command("docmanager:open", path=name, **({"kernel": kernel} if kernel else {}))
        self.page.wait_for_function(LOADED)
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", state="attached")
        return self

    def lent(self) -> dict[str, str]:
        """The kernel of this notebook, for others to be shown with; it stays when the notebook is
        closed.
        """
        self.wait_until_idle()
        self.borrowed = True
        kernel: dict[str, str] = self.page.evaluate(KERNEL_MODEL.replace("KERNEL", self.kernel))
        return kernel

    def run_all(self, at_once: bool = True) -> None:
        self.wait_until_idle()
        if at_once:
            self.command("notebook:run-all-cells")
        else:
            self.page.evaluate(RUN_EACH)
        self.wait_until_idle()
        errors = self.page.evaluate(ERRORS)
        assert not errors, errors

    def command(self, name: str, **arguments: Any) -> None:
        """Run one of JupyterLab's commands and wait for its end."""
        self.page.evaluate(EXECUTE, [name, arguments])

    def select(self, cell: int) -> None:
        self.page.evaluate(
            "(k) => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = k }", cell
        )

    def selected_cell(self) -> int:
        place: int = self.page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.content.activeCellIndex"
        )
        return place

    def go_to(self, label: str) -> int:
        """Scroll to the last cell whose output holds this lab, for Lab leaves far cells out of the
        page; its place.
        """
        place: int = self.page.evaluate(GO_TO, label)
        return place

    def lab(self, label: str) -> Lab:
        cell = self.page.locator(
            f".jp-Notebook .jp-Cell[data-windowed-list-index='{self.go_to(label)}']"
        )
        return self._lab_in(cell, label)

    @contextmanager
    def whole(self, width: int = WIDE["width"]) -> Iterator[None]:
        """Show all of the notebook meanwhile, nothing scrolled away, and wait until all labs are
        painted.
        """
        self.page.bring_to_front()
        self.page.evaluate(UNROLL)
        self.widen(width)
        yield
        self.page.evaluate(ROLL)
        self.page.set_viewport_size(WIDE)

    def widen(self, width: int) -> None:
        """Make the window so wide, and wait until all labs are painted."""
        self.page.set_viewport_size({"width": width, "height": WIDE["height"]})
        self.page.wait_for_function(ALL_THERE)

    @contextmanager
    def dark(self) -> Iterator[None]:
        """Show the dark theme meanwhile; it is a setting of the server, so it must not stay."""
        self.theme(dark=True)
        try:
            yield
        finally:
            self.theme(dark=False)

    def theme(self, dark: bool) -> None:
        """Show the dark theme or the light one."""
        self.command("apputils:change-theme", theme=f"JupyterLab {'Dark' if dark else 'Light'}")
        light = str(not dark).lower()
        self.page.wait_for_function(
            "(light) => document.body.dataset.jpThemeLight === light", arg=light
        )

    def shut_down(self) -> None:
        self.page.evaluate(
            "async () => { await window.jupyterapp.shell.currentWidget.sessionContext.shutdown() }"
        )


class Linked(Notebook):
    """A notebook in JupyterLab, opened by its whole address."""

    def address_of(self, name: str) -> str:
        return name


class Notebook7(Notebook):
    """A notebook in Notebook 7, which is made of JupyterLab's parts."""

    path = "notebooks/{}"
    # Said by version 7.6 while it starts: shortcuts are asked for before they are loaded, there is
    # no file browser.
    own = ("(reading 'schema')", "'filebrowser:open-path' not registered")


class Voila(Served):
    """A notebook as a web page; Voila runs it when it is opened."""

    path = "voila/render/{}"
    kernel = "window.jupyterapp.widgetManager?.kernel"
    # Its templates ask for Font Awesome and MathJax there, whatever is in the notebook; no option
    # turns both off.
    own = (
        "https://cdn.jsdelivr.net/npm/@fortawesome/",
        "https://cdnjs.cloudflare.com/ajax/libs/mathjax/",
    )

    def run_all(self) -> None:
        self.page.locator("#rendered_cells").wait_for()
        self.wait_until_idle()

    def shut_down(self) -> None:
        self.page.goto("about:blank")  # a page that goes away takes its kernel with it

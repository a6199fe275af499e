"""A notebook in a JupyterLab page, in the words of a reader: run it, find a lab, move a slider, read what it says."""

from __future__ import annotations

import ast
import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

WAIT_SECONDS = 60.0  # a busy machine is slow, not wrong

IDLE = """() => { const context = window.jupyterapp.shell.currentWidget?.sessionContext;
  return context?.session?.kernel?.status === "idle" && context.session.kernel.connectionStatus === "connected" }"""

ERRORS = """() => [...window.jupyterapp.shell.currentWidget.content.model.cells]
  .filter((cell) => cell.type === "code")
  .flatMap((cell) => cell.outputs.toJSON().filter((output) => output.output_type === "error"))
  .map((output) => `${output.ename}: ${output.evalue}`)"""

# The saved fallback of a lab holds its label too, so this finds labs that run and labs that do not.
GO_TO = """async (label) => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  const place = [...notebook.model.cells].findIndex((cell) => cell.type === "code"
    && JSON.stringify(cell.outputs.toJSON().map((output) => output.data?.["text/plain"] ?? "")).includes(label));
  if (place < 0) throw new Error(`no cell shows ${label}`);
  await notebook.scrollToItem(place, "start");
  return place }"""

# Asked over the page's own session, so it is this page's kernel that answers, after whatever the page asked before.
EVALUATE = """async (expression) => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const asked = { code: "", silent: true, store_history: false, user_expressions: { it: expression } };
  const future = kernel.requestExecute(asked);
  const it = (await future.done).content.user_expressions.it;
  if (it.status !== "ok") throw new Error(`${expression}: ${it.ename}: ${it.evalue}`);
  return it.data["text/plain"] }"""


def until(what: Callable[[], Any], seconds: float = WAIT_SECONDS, saying: str = "") -> Any:
    """Ask again and again until the answer is true; give that answer."""
    end = time.monotonic() + seconds
    while not (answer := what()):
        if time.monotonic() > end:
            raise AssertionError(f"still not so after {seconds:g} s: {saying or what}")
        time.sleep(0.03)
    return answer


class Notebook:
    """One notebook in one page. `troubles` collects page errors and every request that leaves the machine."""

    def __init__(self, page: Any, address: str) -> None:
        self.page, self.address = page, address
        page.set_default_timeout(1000 * WAIT_SECONDS)
        self.troubles: list[str] = []
        self.requests: list[str] = []
        page.on("pageerror", lambda error: self.troubles.append(f"page error: {error}"))
        page.on("console", lambda said: self.troubles.append(f"console: {said.text}") if said.type == "error" else None)
        page.on("request", lambda request: self._note(request.url))

    def _note(self, url: str) -> None:
        self.requests.append(url)
        if not (url.startswith(self.address) or urlsplit(url).scheme in ("blob", "data", "about")):
            self.troubles.append(f"request to elsewhere: {url}")

    def open(self, name: str) -> Notebook:
        """Show a notebook alone in the page and wait for its kernel."""
        self.page.goto(f"{self.address}/doc/tree/{quote(name)}?reset", wait_until="domcontentloaded")
        self.page.wait_for_function("() => window.jupyterapp !== undefined")
        self.page.evaluate("async () => { await window.jupyterapp.restored }")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", state="attached")
        self.page.wait_for_function(IDLE)
        return self

    def run_all(self) -> None:
        """Run every cell; a cell that raises is an error here as well."""
        self.command("notebook:run-all-cells")
        self.page.wait_for_function(IDLE)
        errors = self.page.evaluate(ERRORS)
        assert not errors, errors

    def command(self, name: str) -> None:
        """Run one of JupyterLab's commands and wait for its end."""
        self.page.evaluate("(name) => window.jupyterapp.commands.execute(name)", name)

    def evaluate(self, expression: str) -> Any:
        """Give the value of a Python expression in the kernel; it must be JSON-like."""
        text = self.page.evaluate(EVALUATE, f"__import__('json').dumps({expression})")
        return json.loads(ast.literal_eval(text))

    def selected_cell(self) -> int:
        """Give the place of the cell that JupyterLab has selected."""
        place: int = self.page.evaluate("() => window.jupyterapp.shell.currentWidget.content.activeCellIndex")
        return place

    def select(self, cell: int) -> None:
        """Make a cell the selected one, without a click."""
        self.page.evaluate("(k) => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = k }", cell)

    def go_to(self, label: str) -> int:
        """Scroll to the cell whose output holds this lab, for Lab leaves far cells out of the page; give its place."""
        place: int = self.page.evaluate(GO_TO, label)
        return place

    def lab(self, label: str) -> Lab:
        """Find a running lab by its label."""
        group = self.page.get_by_role("group", name=label, exact=True).locator("visible=true").first
        group.wait_for()
        group.scroll_into_view_if_needed()
        return Lab(self, label, group)

    def shut_down(self) -> None:
        """End the kernel, so that the next page starts its own."""
        self.page.evaluate("async () => { await window.jupyterapp.shell.currentWidget.sessionContext.shutdown() }")


class Lab:
    """A lab in the page, and the object behind it in the kernel, which is the last output with this label."""

    def __init__(self, notebook: Notebook, label: str, group: Any) -> None:
        self.notebook, self.group = notebook, group
        self.object = f"[x for x in Out.values() if getattr(x, 'label', None) == {label!r}][-1]"
        self.canvas = group.locator("canvas").first
        self.canvas.wait_for()
        until(lambda: self.readout() and self.frame() >= 0, saying="the first picture is there")

    def slider(self, label: str) -> Slider:
        """Find a slider by its label."""
        handle = self.group.get_by_role("slider", name=label, exact=True)
        handle.wait_for(timeout=10_000)  # the lab is there already, so a slider that is not has no name
        return Slider(self, handle)

    def params(self) -> dict[str, Any]:
        """Give the values of all controls as the kernel has them."""
        params: dict[str, Any] = self.notebook.evaluate(f"{self.object}.params")
        return params

    def readout(self) -> str:
        """Give the short text that is shown below the picture."""
        text: str = self.group.locator(".gl-readout").inner_text()
        return text

    def alt(self) -> str:
        """Give what a screen reader says for the picture."""
        return self.canvas.get_attribute("aria-label") or ""

    def frame(self) -> int:
        """Give the number of the frame that is painted, -1 before the first."""
        return int(self.group.get_attribute("data-frame") or -1)

    def pixels(self) -> str:
        """Give a hash of what is painted on the canvas."""
        data: str = self.canvas.evaluate("(canvas) => canvas.toDataURL()")
        return hashlib.sha256(data.encode()).hexdigest()

    def menu(self, label: str) -> Any:
        """Find a menu by its label."""
        return self.group.get_by_role("combobox", name=label, exact=True)

    def screenshot(self, folder: str | Path | None, name: str) -> None:
        """Save the lab as the reader sees it, if somebody wants to look."""
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.group.screenshot(path=Path(folder) / f"{name}.png")


class Slider:
    """A slider in the page; its value is the number it says aloud, in data units."""

    def __init__(self, lab: Lab, handle: Any) -> None:
        self.lab, self.handle = lab, handle

    def value(self) -> float:
        """Give the number that the slider shows."""
        return float(self.handle.get_attribute("aria-valuetext").split()[0])

    def position(self) -> int:
        """Give the place of the handle, 0 at the left."""
        return int(self.handle.input_value())

    def last(self) -> int:
        """Give the place of the handle at the right end."""
        return int(self.handle.get_attribute("max"))

    def press(self, key: str) -> None:
        """Press a key on the focused slider."""
        self.handle.focus()
        self.handle.press(key)

    def drag(self, to: float, steps: int = 20) -> None:
        """Take the handle with the mouse and move it to a part (0 to 1) of the track."""
        box, page = self.handle.bounding_box(), self.lab.notebook.page
        middle, start = box["y"] + box["height"] / 2, self.position() / self.last()
        page.mouse.move(_track(box, start), middle)
        page.mouse.down()
        page.mouse.move(_track(box, to), middle, steps=steps)
        page.mouse.up()


def _track(box: dict[str, float], part: float) -> float:
    """The handle is 16 px wide in Chromium, so its middle never reaches the ends of the box."""
    return box["x"] + 8 + part * (box["width"] - 16)

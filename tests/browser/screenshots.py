"""Pictures of every lab in a real JupyterLab, for people to look at.

python -m tests.browser.screenshots DIR            light, dark, 390 px wide, and with the keyboard on the first slider
python -m tests.browser.screenshots DIR LAB...     these labs only
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import gradlab as gl
from tests.browser import server
from tests.browser.lab import Lab, until
from tests.browser.pages import PHONE, WIDE, Notebook
from tests.browser.written import every_lab

QUIET_SECONDS = 2.0
FRAMES = "() => [...document.querySelectorAll('.gl-live')].map((lab) => lab.dataset.frame)"


def main(target: Path, *names: str) -> None:
    """Write four pictures of each lab, or of those named, into `target`."""
    labels = {name: make.label for name, make in gl.labs.catalogue().items() if name in names or not names}
    with tempfile.TemporaryDirectory() as scratch, server.chromium() as browser:
        root = Path(scratch, "notebooks")
        root.mkdir()
        with server.jupyterlab(root, Path(scratch, "jupyter")) as address:
            notebook = Notebook(browser.new_page(viewport=WIDE), address)
            notebook.open(every_lab(root / "every_lab.ipynb", *labels).name)
            notebook.run_all()
            with notebook.whole():
                _look(notebook, labels, target, "light")
                _look(notebook, labels, target, "focus", _tab_into)
                with notebook.dark():
                    _look(notebook, labels, target, "dark")
            with notebook.whole(PHONE["width"]):
                _look(notebook, labels, target, "390")


def _look(
    notebook: Notebook,
    labels: dict[str, str],
    target: Path,
    name: str,
    before: Callable[[Lab], None] = lambda lab: None,
) -> None:
    _settle(notebook)
    for lab_name, label in labels.items():
        lab = notebook.lab(label)
        before(lab)
        lab.screenshot(target, f"{lab_name}-{name}")
        print(target / f"{lab_name}-{name}.png")


def _settle(notebook: Notebook) -> None:
    """Wait until no lab has painted for a while, as all do for another theme or width."""
    frames, since = None, 0.0
    while frames is None or time.monotonic() - since < QUIET_SECONDS:
        notebook.evaluate("0")  # answered after all that the page has asked for so far
        if (now := notebook.page.evaluate(FRAMES)) != frames:
            frames, since = now, time.monotonic()
        notebook.page.wait_for_timeout(100)


def _tab_into(lab: Lab) -> None:
    """Press Tab until the first slider has the keyboard, or the first control of a lab without one."""
    lab.group.evaluate("(group) => { group.tabIndex = -1; group.focus() }")  # the next Tab starts from there
    sliders, page = lab.group.get_by_role("slider"), lab.notebook.page
    page.keyboard.press("Tab")
    if sliders.count():
        until(lambda: sliders.first.evaluate("(s) => s === document.activeElement") or page.keyboard.press("Tab"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])

"""Pictures of every lab in a real JupyterLab, for people to look at.

python -m tests.browser.screenshots DIR            light, dark, 390 px wide, forced colors, the keyboard on a slider
python -m tests.browser.screenshots DIR LAB...     these labs only
python -m tests.browser.screenshots DIR --sheet    beside them a few sheets for each look, with all labs side by side
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from PIL import Image

import gradlab as gl
from tests.browser import server
from tests.browser.lab import Lab, until
from tests.browser.pages import PHONE, WIDE, Notebook
from tests.browser.written import every_lab

QUIET_SECONDS = 2.0
FRAMES = "() => [...document.querySelectorAll('.gl-live')].map((lab) => lab.dataset.frame)"


# Pixels: what can still be read when a sheet is shown as a whole, and between labs.
SHEET, GAP = 2100, 20


def main() -> None:
    """Write pictures of each lab, or of those named, into a folder."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.browser.screenshots", description=__doc__
    )
    parser.add_argument("target", metavar="DIR", type=Path)
    parser.add_argument(
        "names", metavar="LAB", nargs="*", help=f"{', '.join(gl.labs.catalog())} (default: all)"
    )
    parser.add_argument(
        "--sheet", action="store_true", help="write sheets with all labs of a look, too"
    )
    options = parser.parse_args()
    looks = pictures(options.target, *options.names)
    for name, paths in looks.items() if options.sheet else ():
        sheets(paths, options.target, name)


def pictures(target: Path, *names: str) -> dict[str, list[Path]]:
    """Write a picture of each lab in each look, all from one page; give their paths by look."""
    labels = {
        name: make().label for name, make in gl.labs.catalog().items() if name in names or not names
    }
    with tempfile.TemporaryDirectory() as scratch, server.chromium() as browser:
        root = Path(scratch, "notebooks")
        root.mkdir()
        with server.jupyterlab(root, Path(scratch, "jupyter")) as address:
            notebook = Notebook(browser.new_page(viewport=WIDE), address)
            notebook.open(every_lab(root / "every_lab.ipynb", *labels).name)
            notebook.run_all()
            return dict(_looks(notebook, labels, target))


def sheets(paths: Sequence[Path], target: Path, name: str) -> None:
    """Write pictures side by side, in order, as sheets of a size that can be read: NAME-sheet-1.png
    and so on.
    """
    images = [Image.open(path) for path in paths]
    width, height = (
        max(side) + GAP for side in zip(*(image.size for image in images), strict=True)
    )
    columns, rows = max(1, SHEET // width), max(1, SHEET // height)
    for number, start in enumerate(range(0, len(images), columns * rows), 1):
        sheet = Image.new("RGB", (columns * width, rows * height), "gray")
        for k, image in enumerate(images[start : start + columns * rows]):
            sheet.paste(image, (k % columns * width, k // columns * height))
        path = target / f"{name}-sheet-{number}.png"
        sheet.save(path)
        print(path, flush=True)


def _looks(
    notebook: Notebook, labels: dict[str, str], target: Path
) -> Iterator[tuple[str, list[Path]]]:
    notebook.page.evaluate(NO_BAR)
    with notebook.whole():
        yield "light", _look(notebook, labels, target, "light")
        yield "focus", _look(notebook, labels, target, "focus", _tab_into)
        notebook.page.emulate_media(forced_colors="active")
        yield "forced", _look(notebook, labels, target, "forced")
        notebook.page.emulate_media(forced_colors="none")
        with notebook.dark():
            yield "dark", _look(notebook, labels, target, "dark")
    with notebook.whole(PHONE["width"]):
        yield "390", _look(notebook, labels, target, "390")


# Lab's own bar floats over a page that nothing scrolls.
NO_BAR = "() => { document.getElementById('jp-bottom-panel').style.display = 'none' }"


def _look(
    notebook: Notebook,
    labels: dict[str, str],
    target: Path,
    name: str,
    before: Callable[[Lab], None] = lambda lab: None,
) -> list[Path]:
    _settle(notebook)
    paths = []
    for lab_name, label in labels.items():
        lab = notebook.lab(label)
        before(lab)
        lab.screenshot(target, f"{lab_name}-{name}")
        paths.append(target / f"{lab_name}-{name}.png")
        print(paths[-1], flush=True)
    return paths


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
    # The next Tab starts from there.
    lab.group.evaluate("(group) => { group.tabIndex = -1; group.focus() }")
    sliders, page = lab.group.get_by_role("slider"), lab.notebook.page
    page.keyboard.press("Tab")
    if sliders.count():
        until(
            lambda: (
                sliders.first.evaluate("(s) => s === document.activeElement")
                or page.keyboard.press("Tab")
            )
        )


if __name__ == "__main__":
    main()

"""One lab in JupyterLab, Notebook 7 and Voila: the keyboard moves it, and the page around it stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gradlab as gl

from .lab import Lab, until
from .pages import Notebook, Notebook7, Served, Voila
from .written import written

pytestmark = pytest.mark.browser

LABEL = gl.labs.clipping.label

# key: where the handle goes from `here` on a track that ends at `last`
KEYS: dict[str, Callable[[int, int, int], bool]] = {
    "ArrowRight": lambda moved, here, last: moved == here + 1,
    "ArrowLeft": lambda moved, here, last: moved == here - 1,
    "ArrowUp": lambda moved, here, last: moved == here + 1,
    "ArrowDown": lambda moved, here, last: moved == here - 1,
    "PageUp": lambda moved, here, last: here + 1 < moved < last,
    "PageDown": lambda moved, here, last: 0 < moved < here - 1,
    "Home": lambda moved, here, last: moved == 0,
    "End": lambda moved, here, last: moved == last,
}


@pytest.fixture(scope="module", params=[Notebook, Notebook7, Voila], ids=["lab", "notebook7", "voila"])
def host(request: Any, opened: Callable[..., Served], folder: Path) -> Served:
    """A notebook with one lab, run from top to bottom in each host."""
    path = written(folder / "one_lab.ipynb", "import gradlab as gl", "gl.labs.clipping(limit=1.0)", "1 + 1")
    page = opened(path, request.param)
    page.run_all()
    return page


@pytest.fixture(scope="module")
def lab(host: Served) -> Lab:
    """That lab."""
    return host.lab(LABEL)


@pytest.mark.parametrize("key", KEYS)
def test_a_key_moves_slider_picture_and_kernel(key: str, lab: Lab, screenshots: str | None) -> None:
    lab.notebook.evaluate(f"{lab.object}.set(limit=1.0)")
    slider = lab.slider("Limit")
    until(lambda: slider.value() == 1.0 and lab.agrees(limit="Limit"), saying="the slider is back at the start")
    lab.notebook.select(0)
    slider.handle.focus()
    cell, before, here = lab.notebook.selected_cell(), lab.pixels(), slider.position()
    slider.press(key)
    until(lambda: lab.pixels() != before, saying=f"{key} paints something else")
    until(lambda: lab.agrees(limit="Limit"), saying=f"kernel, slider and text agree after {key}")
    assert KEYS[key](slider.position(), here, slider.last())
    assert lab.notebook.selected_cell() == cell
    lab.screenshot(screenshots, f"{type(lab.notebook).__name__}-{key}")


def test_nothing_failed_and_nothing_left_the_machine(lab: Lab) -> None:
    assert lab.notebook.troubles == []
    assert len(lab.notebook.requests) > 10  # requests are seen at all


def test_a_trouble_is_seen(host: Served) -> None:
    known = len(host.troubles)
    host.page.evaluate("() => { setTimeout(() => { throw new Error('gone wrong') }); console.error('said so') }")
    host.page.evaluate("async () => { await fetch('https://example.invalid/').catch(() => 0) }")
    until(lambda: len(host.troubles) >= known + 3)
    seen = " ".join(host.troubles[known:])
    del host.troubles[known:]
    assert all(part in seen for part in ("gone wrong", "said so", "https://example.invalid/"))

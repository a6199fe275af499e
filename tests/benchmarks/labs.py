"""The same of every lab: along its axis, whose pictures are made ahead, and of a slider that asks
the kernel.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import gradlab as gl
from gradlab.live import Slider
from tests.benchmarks.contestants import Contestant
from tests.benchmarks.latency import drag, stepped
from tests.benchmarks.notebooks import Opener, each
from tests.benchmarks.table import Row, percentile
from tests.browser.pages import Notebook

AHEAD_SECONDS = 15.0  # for the pictures of the slowest lab
WHAT = "slider to pixels, every lab"


def rows() -> Iterator[Row]:
    """One row for each lab of the catalogue."""
    labs = [
        Contestant(name, f"import gradlab as gl\nlab = gl.labs.{name}()\nlab")
        for name in gl.labs.catalog()
    ]
    yield from each(WHAT, labs, _measured, lambda _, measured: measured[0])


def _measured(name: str, open_it: Opener) -> Row:
    with open_it() as notebook:
        notebook.run_all()
        notebook.page.locator(".jp-OutputArea canvas").first.wait_for()
        notebook.page.locator("details.gl-more").evaluate_all(
            "(all) => all.forEach((one) => { one.open = true })"
        )
        ahead, asked = _sliders(gl.labs.catalog()[name]())
        note = ""
        if asked:
            # Or the page has seen these pictures before.
            forget = partial(notebook.evaluate, "lab.live.refresh()")
            times, _ = stepped(
                notebook.page, _handle(notebook.page, asked), wanted=1, most=2, before=forget
            )
            shown = (
                f"{statistics.median(times):.0f} ms (p95 {percentile(times, 95):.0f})"
                if times
                else "nothing to see"
            )
            note = f"kernel in the loop, {asked}: {shown}; "
        if not ahead:
            return Row(WHAT, name, note=note + "no pictures are made ahead")
        _wait_for_pictures(notebook)
        handle = _handle(notebook.page, ahead)
        times, said = stepped(notebook.page, handle, wanted=4, most=6)
        if not times:
            return Row(WHAT, name, note=f"{note}the picture never changed along {ahead}")
        frames, settle = drag(notebook.page, handle)
        return Row(
            WHAT,
            name,
            statistics.median(times),
            percentile(times, 95),
            frames=frames,
            settle=settle,
            note=f"{ahead}; {note}{said}",
        )


def _wait_for_pictures(notebook: Notebook) -> None:
    """Until nothing more is made ahead."""
    end = time.monotonic() + AHEAD_SECONDS
    while (
        notebook.evaluate("lab.live._stage.preloader._thread is not None")
        and time.monotonic() < end
    ):
        time.sleep(0.5)
    time.sleep(0.5)  # the last of them reach the page


def _sliders(lab: gl.labs.Lab) -> tuple[str, str]:
    """The labels of the axis and of another slider; empty where there is none."""
    shown = [
        control for control in lab.controls if isinstance(control, Slider) and not control.hidden
    ]
    ahead = next((control.label for control in shown if control.name == lab.axis), "")
    return ahead, next((control.label for control in shown if control.label != ahead), "")


def _handle(page: Any, label: str) -> Any:
    handle = page.locator(".jp-OutputArea").get_by_role("slider", name=label, exact=True).first
    handle.wait_for()
    return handle

"""A lab whose kernel works, is slow, or is gone: what it shows belongs together, and says so where
it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gradlab as gl
from tests.browser.lab import Lab, until
from tests.browser.pages import Notebook, Notebook7, Served, Voila
from tests.browser.written import SETUP, written

pytestmark = pytest.mark.browser

LABEL = gl.labs.clip_arrows().label
# No picture is made while a file lies beside the notebook.
HELD = """\
import pathlib, time
from gradlab.labs._clip_arrows.lab import ClipArrowsLab
class Held(ClipArrowsLab):
    def compute(self, values):
        while pathlib.Path("hold").exists():
            time.sleep(0.02)
        return super().compute(values)
Held()"""

SESSION = "window.jupyterapp.shell.currentWidget.sessionContext"
# What ends a kernel, each in its own way; the last one tears the connection and mends it, and the
# kernel lives.
SHUT_DOWN = f"async () => {{ await {SESSION}.shutdown() }}"
RESTART = f"async () => {{ await {SESSION}.restartKernel() }}"
DIE = (
    f"() => {{ {SESSION}.session.kernel.requestExecute({{ code: 'import os; "
    "os.kill(os.getpid(), 9)' }) }"
)
NEW_KERNEL = f"async () => {{ await {SESSION}.changeKernel({{ name: 'python3' }}) }}"
RECONNECT = f"async () => {{ await {SESSION}.session.kernel.reconnect() }}"


def bar(lab: Lab) -> str:
    """What is said of the kernel above the picture; empty while it is there."""
    said: str = lab.group.locator(".gl-kernel").text_content()
    return said


def is_dimmed(lab: Lab) -> bool:
    """Tell whether the picture is said to be old."""
    return lab.group.locator(".gl-moving").get_attribute("aria-busy") == "true"


@pytest.fixture
def notebook(turned: Callable[[Path], Notebook], folder: Path) -> Iterator[Notebook]:
    """A notebook with one lab, run, in a kernel that the test may end."""
    notebook = turned(written(folder / "kernel.ipynb", SETUP, HELD))
    notebook.run_all()
    yield notebook
    # The page shows other notebooks next, and a notebook is closed once its kernel has started.
    if notebook.page.evaluate(f"() => !{SESSION}.session?.kernel"):
        notebook.page.evaluate(NEW_KERNEL)


@pytest.fixture
def hold(notebook: Notebook, folder: Path) -> Iterator[Path]:
    """The file that holds pictures back while it is there."""
    path = folder / Path(notebook.name).parent / "hold"
    yield path
    path.unlink(missing_ok=True)


@pytest.mark.parametrize("end", [SHUT_DOWN, RESTART, DIE], ids=["shut down", "restarted", "killed"])
def test_a_lab_without_its_kernel_shows_one_state_and_says_so(
    end: str, notebook: Notebook, screenshots: str | None
) -> None:
    lab = notebook.lab(LABEL)
    sentence, value, pixels = lab.readout(), lab.slider("Limit").value(), lab.pixels()
    lab.screenshot(screenshots, "kernel-alive")
    notebook.page.evaluate(end)
    until(lambda: bar(lab), saying="the lab notices")
    assert bar(lab) == "No kernel: run the cell again. The controls show what the picture shows."
    lab.slider("Limit").press("End")
    for chip in lab.group.locator(".gl-chip").all():
        chip.press("Enter")
    assert (lab.readout(), lab.slider("Limit").value(), lab.pixels()) == (sentence, value, pixels)
    assert lab.slider("Limit").handle.get_attribute("aria-disabled") == "true"
    assert not is_dimmed(lab)
    lab.screenshot(screenshots, "kernel-gone")
    if end == SHUT_DOWN:
        notebook.page.evaluate(NEW_KERNEL)
    notebook.run_all()
    again = notebook.lab(LABEL)
    assert bar(again) == ""
    again.slider("Limit").press("End")
    until(lambda: again.agrees(limit="Limit"), saying="the new lab works")
    assert again.readout() != sentence
    assert notebook.troubles == []


def test_a_connection_that_is_mended_brings_the_lab_back(notebook: Notebook) -> None:
    lab = notebook.lab(LABEL)
    notebook.page.evaluate(RECONNECT)
    until(lambda: bar(lab) == "", saying="the kernel has spoken again")
    lab.slider("Limit").press("End")
    until(lambda: lab.agrees(limit="Limit"), saying="it moves")
    assert notebook.troubles == []


def test_a_slow_kernel_dims_the_picture_until_it_has_answered(
    notebook: Notebook, hold: Path, screenshots: str | None
) -> None:
    lab = notebook.lab(LABEL)
    sentence = lab.readout()
    hold.touch()
    lab.slider("Limit").press("End")
    until(lambda: is_dimmed(lab), saying="the picture is said to be old")
    assert lab.group.locator(".gl-pill").text_content() == "computing"
    assert lab.readout() == sentence
    lab.screenshot(screenshots, "kernel-computing")
    hold.unlink()
    until(lambda: not is_dimmed(lab), saying="the answer has come")
    assert lab.readout() != sentence
    until(lambda: lab.agrees(limit="Limit"), saying="all say the same")
    assert lab.group.locator(".gl-pill").text_content() == ""
    assert notebook.troubles == []


def test_a_slow_browser_ends_with_the_newest_picture(notebook: Notebook) -> None:
    lab = notebook.lab(LABEL)
    throttle = notebook.page.context.new_cdp_session(notebook.page)
    throttle.send("Emulation.setCPUThrottlingRate", {"rate": 6})
    lab.slider("Limit").press("ArrowRight", times=8)
    until(lambda: lab.agrees(limit="Limit") and not is_dimmed(lab), saying="all say the same")
    throttle.send("Emulation.setCPUThrottlingRate", {"rate": 1})
    assert bar(lab) == ""


def test_a_lab_on_a_phone_says_it_too(
    notebook: Notebook, hold: Path, screenshots: str | None
) -> None:
    lab = notebook.lab(LABEL)
    with notebook.whole(390):
        hold.touch()
        lab.slider("Limit").press("End")
        until(lambda: is_dimmed(lab), saying="the picture is said to be old")
        lab.screenshot(screenshots, "kernel-computing-390")
        hold.unlink()
        until(lambda: not is_dimmed(lab), saying="the answer has come")
        notebook.page.evaluate(SHUT_DOWN)
        until(lambda: bar(lab), saying="the lab notices")
        box = lab.group.locator(".gl-kernel").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390
        lab.screenshot(screenshots, "kernel-gone-390")


@pytest.mark.parametrize(
    ("host", "said"),
    [(Notebook7, "No kernel: run the cell again."), (Voila, "No kernel: reload the page.")],
    ids=["notebook7", "voila"],
)
def test_other_hosts_say_what_helps_there(
    host: type[Served], said: str, fresh: Callable[..., Any], folder: Path
) -> None:
    page = fresh(written(folder / "kernel_elsewhere.ipynb", SETUP, "gl.labs.clip_arrows()"), host)
    page.run_all()
    lab = page.lab(LABEL)
    page.page.evaluate(f"async () => {{ await {page.kernel}.shutdown() }}")
    until(lambda: bar(lab), saying="the lab notices")
    assert bar(lab).startswith(said)
    assert page.troubles == []
    page.page.close()

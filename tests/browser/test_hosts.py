"""A lab in JupyterLab, Notebook 7 and Voila: the keyboard moves it, and the page around it stays as
it is.

A cell that runs again has a new lab; the old one is gone from page and kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import gradlab as gl
from tests.browser.axe import violations
from tests.browser.lab import Lab, until
from tests.browser.pages import Notebook, Notebook7, Served, Voila
from tests.browser.written import written

pytestmark = pytest.mark.browser

LABEL = gl.labs.clipping().label
ANOTHER = ("shown = gl.labs.clip_arrows(); shown", "shown")

OPEN = "[type(w).__name__ for w in __import__('ipywidgets').widgets.widget._instances.values()]"
AGAIN = """(times) => (async () => { for (let k = 0; k < times; k++)
  await window.jupyterapp.commands.execute("notebook:run-all-cells") })()"""

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

# what is focused, the key, and what it changes
USES: dict[str, tuple[Callable[[Lab], Any], str, Callable[[Lab], Any]]] = {
    "play": (
        lambda lab: lab.slider("Limit").handle,
        "Space",
        lambda lab: lab.slider("Limit").position(),
    ),
    "menu": (lambda lab: lab.menu("Clip by"), "ArrowDown", lambda lab: lab.params()["method"]),
    "handle up": (
        lambda lab: lab.group.locator(".gl-handle").first,
        "ArrowUp",
        lambda lab: lab.params()["limit"],
    ),
    "handle down": (
        lambda lab: lab.group.locator(".gl-handle").first,
        "ArrowDown",
        lambda lab: lab.params()["limit"],
    ),
    "next step": (
        lambda lab: lab.group.get_by_role("application"),
        "ArrowRight",
        lambda lab: lab.aside(),
    ),
    "step before": (
        lambda lab: lab.group.get_by_role("application"),
        "ArrowLeft",
        lambda lab: lab.aside(),
    ),
}


@pytest.fixture(
    scope="module", params=[Notebook, Notebook7, Voila], ids=["lab", "notebook7", "voila"]
)
def host(
    request: Any, opened: Callable[..., Served], ran: Callable[[Path], Served], folder: Path
) -> Served:
    """A notebook with two labs, run from top to bottom in each host."""
    path = written(
        folder / "two_labs.ipynb",
        "import gradlab as gl",
        "gl.labs.clipping(limit=1.0)",
        *ANOTHER,
        "1 + 1",
    )
    if request.param is Notebook:
        return ran(path)
    page = opened(path, request.param)
    page.run_all()
    return page


@pytest.fixture(scope="module")
def lab(host: Served) -> Lab:
    """That lab."""
    return host.lab(LABEL)


IN_JUPYTERLAB = pytest.mark.parametrize(
    "host", [Notebook], indirect=True, ids=["lab"], scope="module"
)
# A few in each host, for it is the page around a lab that may take a key; the lab itself is the
# same.
IN_EACH = {"ArrowUp", "PageDown", "Home", "menu", "handle up", "next step"}


@pytest.mark.parametrize("key", [key for key in KEYS if key in IN_EACH])
def test_a_key_moves_slider_picture_and_kernel(key: str, lab: Lab, screenshots: str | None) -> None:
    moves(lab, key, screenshots)


@IN_JUPYTERLAB
@pytest.mark.parametrize("key", [key for key in KEYS if key not in IN_EACH])
def test_the_other_keys_move_them_in_jupyterlab(
    key: str, lab: Lab, screenshots: str | None
) -> None:
    moves(lab, key, screenshots)


def moves(lab: Lab, key: str, screenshots: str | None) -> None:
    """A key at the slider moves it, the picture and the kernel, and nothing of the host."""
    lab.notebook.evaluate(f"{lab.object}.set(limit=1.0)")
    slider = lab.slider("Limit")
    until(
        lambda: slider.value() == 1.0 and lab.agrees(limit="Limit"),
        saying="the slider is back at the start",
    )
    lab.notebook.select(0)
    slider.handle.focus()
    cell, before, here = lab.notebook.selected_cell(), lab.pixels(), slider.position()
    slider.press(key)
    until(lambda: lab.pixels() != before, saying=f"{key} paints something else")
    until(lambda: lab.agrees(limit="Limit"), saying=f"kernel, slider and text agree after {key}")
    assert KEYS[key](slider.position(), here, slider.last())
    assert lab.notebook.selected_cell() == cell
    lab.screenshot(screenshots, f"{type(lab.notebook).__name__}-{key}")


@pytest.mark.parametrize("use", [use for use in USES if use in IN_EACH])
def test_what_else_takes_a_key_leaves_the_notebook_alone(use: str, lab: Lab) -> None:
    leaves_alone(lab, use)


@IN_JUPYTERLAB
@pytest.mark.parametrize("use", [use for use in USES if use not in IN_EACH])
def test_all_that_takes_a_key_leaves_jupyterlab_alone(use: str, lab: Lab) -> None:
    leaves_alone(lab, use)


def leaves_alone(lab: Lab, use: str) -> None:
    """Use the lab by its key; the host selects what it selected before."""
    find, key, state = USES[use]
    lab.notebook.evaluate(f"{lab.object}.set(limit=1.0, method='global')")
    until(lambda: lab.slider("Limit").value() == 1.0, saying="the slider is back at the start")
    lab.notebook.select(0)
    node = find(lab)
    node.focus()
    cell, before = lab.notebook.selected_cell(), state(lab)
    node.press(key)
    until(lambda: state(lab) != before, saying=f"{key} does something")
    assert lab.notebook.selected_cell() == cell
    if use == "play":
        node.press(key)
        until(
            lambda: lab.agrees(limit="Limit"), saying="it has stopped, and the kernel knows where"
        )
        assert lab.notebook.selected_cell() == cell
    if "step" in use:
        node.press("Escape")
        until(lambda: state(lab) == before, saying="the step is let go")


@IN_JUPYTERLAB
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_lab_in_full_use_is_accessible(dark: bool, host: Notebook) -> None:
    lab = host.lab(LABEL)
    zoom = lab.group.get_by_role("button", name="Zoom", exact=True)
    with host.dark() if dark else nullcontext(), host.whole():
        lab.group.get_by_role("application").press("Home")
        zoom.click()
        lab.group.locator("details").evaluate_all(
            "(all) => all.forEach((one) => { one.open = true })"
        )
        assert lab.group.locator(".gl-chosen").first.is_visible()
        found = violations(host.page, f'.gl-live[aria-label="{LABEL}"]')
        zoom.click()
        if dark:
            until(lambda: max(lab.background()) < 60, saying="the picture is dark")
    assert not found, "\n".join(found)
    until(
        lambda: lab.background() == (255, 255, 255),
        saying="the picture is light, again after the dark theme",
    )


@IN_JUPYTERLAB
def test_labs_that_are_shown_again_do_not_pile_up(host: Notebook) -> None:
    host.page.evaluate(AGAIN, 2)
    host.wait_until_idle()
    until(
        lambda: host.evaluate(OPEN).count("LiveFigure") == 2,
        saying="one lab for each that is shown",
    )
    lab = host.lab(gl.labs.clip_arrows().label)
    before = lab.readout()
    lab.slider("Limit").press("End")
    until(lambda: lab.readout() != before, saying="the lab that is shown moves")


def test_nothing_failed_and_nothing_left_the_machine(lab: Lab) -> None:
    assert lab.notebook.troubles == []
    assert len(lab.notebook.requests) > 10  # requests are seen at all


def test_a_trouble_is_seen(host: Served) -> None:
    known = len(host.troubles)
    host.page.evaluate(
        "() => { setTimeout(() => { throw new Error('gone wrong') }); console.error('said so') }"
    )
    host.page.evaluate("async () => { await fetch('https://example.invalid/').catch(() => 0) }")
    until(lambda: len(host.troubles) >= known + 3)
    seen = " ".join(host.troubles[known:])
    del host.troubles[known:]
    assert all(part in seen for part in ("gone wrong", "said so", "https://example.invalid/"))

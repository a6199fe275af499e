"""Controls linked with other widgets, in Python and in the browser alone, and a state that comes
with the address.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gradlab as gl
from tests.browser.lab import Lab, until
from tests.browser.pages import Linked, Notebook
from tests.browser.written import written

pytestmark = pytest.mark.browser

SETUP = """\
import ipywidgets as w
import gradlab as gl
lab = gl.labs.clip_arrows()
in_python, in_browser = (w.FloatSlider(min=0.05, max=6, step=0.05, description=d) for d in ("python", "browser"))
python_link = w.link((lab.live, "limit"), (in_python, "value"))
browser_link = w.jslink((lab.live, "limit"), (in_browser, "value"))
w.VBox([in_python, in_browser])"""


@pytest.fixture(scope="module")
def notebook(ran: Callable[[Path], Notebook], folder: Path) -> Notebook:
    return ran(written(folder / "links.ipynb", SETUP, "lab"))


@pytest.fixture(scope="module")
def lab(notebook: Notebook) -> Lab:
    return notebook.lab(gl.labs.clip_arrows().label)


def limits(notebook: Notebook) -> tuple[Any, ...]:
    return tuple(
        notebook.evaluate(
            "[lab.params['limit'], lab.live.limit, in_python.value, in_browser.value]"
        )
    )


@pytest.mark.parametrize("name", ["python", "browser"])
def test_another_widget_moves_the_lab(name: str, notebook: Notebook, lab: Lab) -> None:
    before = lab.pixels()
    # The handles of ipywidgets have no accessible name, so they are found by the text beside them.
    row = notebook.page.locator(".widget-slider", has_text=name)
    row.locator(".noUi-handle").focus()
    row.locator(".noUi-handle").press("ArrowRight")
    until(lambda: lab.pixels() != before, saying="the lab follows")
    until(lambda: len(set(limits(notebook))) == 1, saying="all four say the same")
    until(
        lambda: lab.slider("Limit").value() == pytest.approx(limits(notebook)[0]),
        saying="and the slider shows it",
    )


def test_the_lab_moves_the_other_widgets(notebook: Notebook, lab: Lab) -> None:
    lab.slider("Limit").press("End")
    until(lambda: limits(notebook) == (6.0, 6.0, 6.0, 6.0), saying="all follow")
    texts = notebook.page.locator(".widget-readout")
    until(lambda: texts.all_inner_texts() == ["6.00", "6.00"], saying="on the page as well")


def test_a_link_opens_the_lab_where_it_was_copied_beside_another_tab(
    address: str, folder: Path, reader: Any, notebook: Notebook
) -> None:
    """The other tab has the workspace, so JupyterLab sends this one to another; on the way it drops
    the hash.
    """
    wanted = gl.labs.clip_arrows(method="norm", limit=3.0, g1=-1.0)
    name = written(folder / "opened.ipynb", "import gradlab as gl", "gl.labs.clip_arrows()").name
    link = f"{address}/lab/tree/{name}{wanted.link()}"
    tab = Linked(reader.new_page(), address)
    # The first tab has half a second to say that it has the workspace; a busy machine may need more
    # than one try.
    assert any(opens_another_workspace(tab, link) for _ in range(10))
    tab.run_all()
    lab = tab.lab(wanted.label)
    until(lambda: lab.params() == wanted.params, saying="the kernel holds what the link says")
    assert lab.readout() == wanted.description.summary
    assert tab.copied_link() == link
    assert not tab.troubles
    tab.shut_down()
    tab.page.close()


def test_the_lab_of_a_link_comes_into_view_when_all_cells_have_run(
    address: str, folder: Path, reader: Any
) -> None:
    """JupyterLab goes to the last cell then, and gives a lab that is out of view no size."""
    wanted = gl.labs.clip_arrows(method="norm", limit=3.0, g1=-1.0)
    lines = "print('\\n'.join(map(str, range(80))))"
    cells = [
        "import gradlab as gl",
        "gl.labs.descent()",
        lines,
        "gl.labs.clip_arrows()",
        *3 * [lines],
    ]
    tab = Linked(reader.new_page(), address)
    tab.open(
        f"{address}/lab/tree/{written(folder / 'far.ipynb', *cells).name}?reset{wanted.link()}"
    )
    tab.run_all()
    view = tab.page.locator(f".gl-live[aria-label='{wanted.label}']")
    view.wait_for()  # it is painted, without having been scrolled to
    window = tab.page.locator(".jp-WindowedPanel-outer").bounding_box()
    until(lambda: shown_part(view.bounding_box(), window) > 0.9, saying="it is in view")
    assert tab.lab(wanted.label).params() == wanted.params
    assert not tab.troubles
    tab.shut_down()
    tab.page.close()


def shown_part(box: dict[str, float], window: dict[str, float]) -> float:
    """Tell how much of a box's height is within the window."""
    top, bottom = (
        max(box["y"], window["y"]),
        min(box["y"] + box["height"], window["y"] + window["height"]),
    )
    return (bottom - top) / box["height"]


def opens_another_workspace(tab: Linked, link: str) -> bool:
    tab.page.goto("about:blank")  # else the same address is a move within the page
    tab.open(link)
    return "/workspaces/" in tab.page.url

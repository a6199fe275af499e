"""A cell that runs again in a browser: the old lab is gone from page and kernel, the new one moves."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gradlab as gl
from tests.browser.lab import until
from tests.browser.pages import Notebook, Notebook7, Served
from tests.browser.written import written

pytestmark = pytest.mark.browser

OPEN = "[type(w).__name__ for w in __import__('ipywidgets').widgets.widget._instances.values()]"
AGAIN = """(times) => (async () => { for (let k = 0; k < times; k++)
  await window.jupyterapp.commands.execute("notebook:run-all-cells") })()"""


@pytest.mark.parametrize("host", [Notebook, Notebook7])
def test_labs_that_are_shown_again_do_not_pile_up(host: type[Served], opened: Callable[..., Any], folder: Path) -> None:
    path = written(
        folder / f"again_{host.__name__}.ipynb",
        "import gradlab as gl",
        "gl.labs.clip_arrows()",
        "shown = gl.labs.clip_arrows(); shown",
        "shown",
    )
    notebook = opened(path, host)
    notebook.wait_until_idle()
    notebook.page.evaluate(AGAIN, 4)
    notebook.wait_until_idle()
    until(lambda: notebook.evaluate(OPEN).count("LiveFigure") == 2, saying="one lab for each that is shown")
    lab = notebook.lab(gl.labs.clip_arrows.label)
    before = lab.readout()
    lab.slider("Limit").press("End")
    until(lambda: lab.readout() != before, saying="the lab that is shown moves")
    assert not notebook.troubles

"""Cells that run again, in a real kernel: what they showed before is closed, unless another cell
still shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.live.kernel import Kernel, kernel

SETUP = """
import gc, weakref
import ipywidgets
import gradlab as gl
from gradlab.live import LiveFigure
from ipywidgets.widgets import widget
from IPython.display import display
made = weakref.WeakSet()
def noted(one):
    if isinstance(one, LiveFigure): made.add(one)
ipywidgets.Widget.on_widget_constructed(noted)
def lab(limit=1.0): return gl.labs.clip_arrows(limit=limit)
def opened(): return sum(isinstance(one, LiveFigure) for one in widget._instances.values())
def alive(): gc.collect(); return len(made)
def widgets(): return len(widget._instances)
"""
AFTER = {"opened": "opened()", "alive": "alive()", "widgets": "widgets()"}


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with kernel(tmp_path_factory.mktemp("kernel")) as one:
        one.run(SETUP)
        yield one


@pytest.fixture
def notebook(started: Kernel) -> Kernel:
    """A kernel in which nothing is open and no cell is known."""
    started.run(
        "ipywidgets.Widget.close_all(); Out.clear(); made.clear(); "
        "gl.live.notebook_cells.cells._runs.clear()"
    )
    return started


@pytest.mark.exhaustive
def test_a_cell_that_runs_again_keeps_one_lab(notebook: Kernel) -> None:
    """IPython holds the labs themselves in Out; their figures and widgets must not stay with them."""
    for k in range(5):
        after = notebook.run(
            f"lab({k + 1})", "one", **AFTER, labs="sum(hasattr(x, 'params') for x in Out.values())"
        )
    assert after == {"opened": 1, "alive": 1, "widgets": 2, "labs": 5}
    # A lab of long ago goes on from where it was.
    first = notebook.run(
        "x = [x for x in Out.values() if hasattr(x, 'params')][0]; x",
        "two",
        limit="x.params['limit']",
    )
    assert first["limit"] == 1.0
    assert notebook.run("0", "three", **AFTER)["opened"] == 2


@pytest.mark.exhaustive
def test_what_another_cell_shows_stays(notebook: Kernel) -> None:
    notebook.run("a = lab(); a", "one")
    notebook.run("a", "two")
    live = "a.live"
    notebook.run(f"b = {live}", "three")
    after = notebook.run("a = lab(2.0); a", "one", kept="b.comm is not None", **AFTER)
    assert after["kept"]
    assert after["opened"] == 2
    after = notebook.run("a", "two", kept="b.comm is not None", **AFTER)
    assert not after["kept"]
    assert after["opened"] == 1


@pytest.mark.exhaustive
def test_what_is_shown_again_stays_open(notebook: Kernel) -> None:
    notebook.run("a = lab(); b = lab(2.0)", "none")
    for _ in range(3):
        after = notebook.run(
            "display(a); display(b); x = a.live.model_id, b.live.model_id", "one", ids="x", **AFTER
        )
        assert after["opened"] == 2
    assert (
        notebook.run("0", "other", ids="(a.live.model_id, b.live.model_id)")["ids"] == after["ids"]
    )


@pytest.mark.exhaustive
def test_a_cell_that_shows_nothing_more_or_raises_closes_what_it_showed(notebook: Kernel) -> None:
    notebook.run("display(lab()); display(lab())", "one")
    notebook.run("lab()", "two")
    assert notebook.run("'words'", "one", **AFTER)["opened"] == 1
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        notebook.run("1 / 0", "two")
    assert notebook.run("0", "three", **AFTER) == {"opened": 0, "alive": 0, "widgets": 0}


@pytest.mark.exhaustive
def test_without_the_ids_of_cells_nothing_is_closed(notebook: Kernel) -> None:
    for _ in range(3):
        after = notebook.run("lab()", **AFTER)
    assert after["opened"] == 3


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "elsewhere",
    [
        "box = ipywidgets.VBox([a.live]); display(box)",
        "out = ipywidgets.Output(); display(out)\nwith out: display(a)",
    ],
    ids=["in a box", "in an Output"],
)
def test_a_lab_that_another_widget_shows_stays(elsewhere: str, notebook: Kernel) -> None:
    notebook.run("a = lab(); x = a.live", "one")
    if "VBox" in elsewhere:
        notebook.run("a", "two")
    notebook.run(elsewhere, "three")
    notebook.run("lab(2.0)", "two")
    if "Output" in elsewhere:
        notebook.run("0", "three")  # the cell runs again, and `out` may be shown in yet another one
    assert notebook.run("0", "four", kept="x.comm is not None")["kept"]


@pytest.mark.exhaustive
def test_a_figure_leaves_out_when_it_is_closed(notebook: Kernel) -> None:
    """It is its picture, so IPython must not hold it; by the name that its reader gave it, it can
    be shown again.
    """
    figures = "[n for n, value in Out.items() if isinstance(value, LiveFigure)]"
    notebook.run("x = lab().live; x", "one", n=figures)
    for _ in range(4):
        after = notebook.run("lab().live", "one", **AFTER, n=figures)
    assert len(after["n"]) == 1
    assert after["alive"] <= 1 + 1 + 2  # the one that is shown, x, and those that __ and ___ hold
    after = notebook.run(
        "x", "two", opened="opened()", kept="x.comm is not None and x.layout.comm is not None"
    )
    assert after == {"opened": 2, "kept": True}
    assert notebook.run("0", "three", shown="'widget-view' in str(x._repr_mimebundle_())")["shown"]


@pytest.mark.exhaustive
def test_predictions_are_labs_too(notebook: Kernel) -> None:
    for _ in range(3):
        after: dict[str, Any] = notebook.run(
            "gl.exercises.predict('clipping.share')", "one", **AFTER
        )
    assert after == {"opened": 1, "alive": 1, "widgets": 2}


@pytest.mark.exhaustive
def test_a_file_leaves_no_widget_behind(notebook: Kernel) -> None:
    # Few states: each is recorded like the one before it, and 500 take eight seconds.
    notebook.run("from functools import partial; from gradlab.live import page")
    notebook.run("page.page_html = partial(page.page_html, most=8)")
    notebook.run("a = lab(); a.save('a.png'); said = a.save('a.html')", "one")
    after = notebook.run("0", "two", said="said", **AFTER)
    assert after["widgets"] == 0 and "states" in after["said"]

"""A lab that follows a recorder in JupyterLab: while a cell trains, and while a thread does."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import gradlab as gl
from tests.browser.lab import Lab, number, until
from tests.browser.pages import Notebook
from tests.browser.written import written

pytestmark = pytest.mark.browser

TRAIN = """\
import pathlib, threading, time
import numpy as np
import gradlab as gl
from gradlab.labs import _following
_following.turns.pace.share = 0.5  # on a busy machine pictures take their time
def train(rec, until):
    for k in range(rec.seen, 100_000):
        rng = np.random.default_rng(k)
        rec.record({"w": rng.normal(size=8) * (1e4 if k == 20 else 1), "b": rng.normal(size=3)}, loss=1 / (k + 1))
        time.sleep(0.01)
        if until():
            return
cell, thread = gl.Recorder(), gl.Recorder()
for rec in (cell, thread):
    train(rec, lambda: rec.seen == 5)"""
IN_A_CELL = """\
display(gl.labs.clipping(cell))
train(cell, lambda: pathlib.Path("enough").exists())"""
IN_A_THREAD = """\
enough = threading.Event()
threading.Thread(target=train, args=(thread, enough.is_set)).start()
gl.labs.run_layers(thread)"""
RUN = "() => { window.jupyterapp.commands.execute('notebook:run-all-cells') }"
RAN = "() => [...document.querySelectorAll('.jp-InputPrompt')].map((prompt) => prompt.textContent)"


def steps(lab: Lab) -> int:
    """How many the picture has, as its words say."""
    found = re.search(r"of (?:its )?([\d,]+) steps", lab.readout())
    return int(number(found[1])) if found else 0


def test_new_steps_appear_while_a_cell_trains_and_while_a_thread_does(
    turned: Callable[[Path], Notebook], folder: Path
) -> None:
    notebook = turned(written(folder / "following.ipynb", TRAIN, IN_A_CELL, IN_A_THREAD))
    notebook.wait_until_idle()
    notebook.page.evaluate(RUN)
    notebook.page.get_by_role("group", name=gl.labs.clipping().label, exact=True).wait_for()
    lab = notebook.lab(gl.labs.clipping().label)
    for more in (30, 60):
        before = lab.pixels()
        until(
            lambda more=more: steps(lab) > more, saying=f"more than {more} steps, {lab.readout()}"
        )
        until(lambda before=before: lab.pixels() != before, saying="they are painted")
    assert "[*]:" in notebook.page.evaluate(RAN)  # the cell still trains
    # Four decades of 40 positions since step 20.
    assert float(lab.slider("Limit").handle.get_attribute("max")) > 160
    (folder / Path(notebook.name).parent / "enough").touch()
    until(lambda: "[3]:" in notebook.page.evaluate(RAN), saying="the cells have run")
    until(lambda: steps(lab) == notebook.evaluate("cell.seen"), saying="the last steps are shown")

    lab = notebook.lab(gl.labs.run_layers().label)
    before = steps(lab)
    until(lambda: steps(lab) > before + 20, saying="steps of the thread appear")
    lab.slider("Limit").press("End")  # and the lab answers meanwhile
    until(
        lambda: lab.slider("Limit").value() == notebook.evaluate("Out[3].params['limit']"),
        saying="its limit moves",
    )
    notebook.evaluate("enough.set()")
    until(lambda: steps(lab) == notebook.evaluate("thread.seen"), saying="its last steps are shown")
    assert not notebook.troubles

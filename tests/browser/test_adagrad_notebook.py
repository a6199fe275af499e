"""The Adagrad notebook in JupyterLab: two walks are scrubbed and begun elsewhere, words chosen, targets reached."""

from __future__ import annotations

import pytest

from tests.browser.axe import assert_accessible
from tests.browser.conftest import NOTEBOOKS
from tests.browser.lab import Lab, until
from tests.browser.pages import Notebook

pytestmark = pytest.mark.browser

PATH = NOTEBOOKS / "03_adagrad.ipynb"
WALK, WORDS, LIBRARIES, RACE = (
    "Adagrad beside gradient descent",
    "Word frequency and learning rate",
    "Same gradients, five Adagrads",
    "A race of optimizers",
)
STEPS = {WALK: "Step", WORDS: "Steps done", LIBRARIES: "Step", RACE: "Steps done"}


def shown(notebook: Notebook, label: str) -> Lab:
    """The last lab with this label, once page and kernel agree."""
    lab = notebook.lab(label)
    until(lab.agrees, saying=f"{label}: kernel and text agree")
    return lab


@pytest.mark.parametrize("label", [WALK, WORDS, LIBRARIES, RACE])
def test_every_lab_is_there_and_scrubbed_by_keys(label: str, notebook: Notebook, screenshots: str | None) -> None:
    lab = shown(notebook, label)
    slider = lab.slider(STEPS[label])
    for key, end in (("Home", 0), ("End", slider.last())):
        before = lab.pixels()
        slider.press(key)
        until(lambda end=end: slider.position() == end and lab.agrees(step=STEPS[label]), saying=f"{label} at {key}")
        until(lambda before=before: lab.pixels() != before, saying=f"{key} paints something else")
    lab.screenshot(screenshots, label)


def test_the_start_is_taken_elsewhere_in_the_picture(notebook: Notebook) -> None:
    lab = shown(notebook, WALK)
    notebook.evaluate(f"{lab.object}.set(surface='bowl', condition=40.0, step=20)")
    until(lambda: lab.agrees(step="Step"))
    before, pixels = lab.params(), lab.pixels()
    handle = lab.group.get_by_role("slider", name="drag the start", exact=True)
    for key in ("ArrowRight", "ArrowDown"):
        handle.focus()
        handle.press(key)
    until(lambda: lab.params()["start_2"] < before["start_2"] and lab.agrees(), saying="both keys arrived")
    assert lab.params()["start_1"] > before["start_1"]
    assert lab.pixels() != pixels
    assert lab.alt() == notebook.evaluate(f"{lab.object}.description.alt")


def test_a_word_is_traced_by_menu(notebook: Notebook) -> None:
    lab = shown(notebook, WORDS)
    before = lab.pixels()
    options = f"dict(next(c.options for c in {lab.object}.controls if c.name == 'word'))"
    lab.menu("Word").select_option(label=notebook.evaluate(f"{options}['class']"))
    until(lambda: "class" in lab.readout() and lab.agrees())
    assert lab.pixels() != before


def test_a_target_says_when_it_is_reached(notebook: Notebook) -> None:
    lab = shown(notebook, WALK)
    tumours = {"surface": "tumours", "condition": 20.0, "learning_rate": 0.6}
    for rate, word in ((0.6, "not yet"), (1.0, "reached")):
        lab.reset("step", STEPS[WALK], **tumours, descent_rate=rate)
        until(lambda word=word: word in lab.goal(), saying=f"the target is {word} with the rate {rate}")


def test_it_is_accessible(notebook: Notebook) -> None:
    assert_accessible(notebook)


def test_nothing_failed_and_nothing_left_the_machine(notebook: Notebook) -> None:
    assert notebook.troubles == []
    assert len(notebook.requests) > 10  # requests are seen at all

"""The notebook on one's own run in JupyterLab: every lab on the recording answers, and says what it found."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.axe import assert_accessible
from tests.browser.conftest import NOTEBOOKS
from tests.browser.lab import step_forth_and_back, until
from tests.browser.pages import Notebook

pytestmark = pytest.mark.browser

PATH = NOTEBOOKS / "07_your_run.ipynb"
CLIPPING, LAYERS, ADAGRAD, STALENESS, COMPARED = (
    "Clipping a recorded run",
    "Limits, layer by layer",
    "Adagrad on a recorded run",
    "Staleness at the speed of a recorded run",
    "Recorded runs compared",
)
AXES = {
    CLIPPING: ("limit", "Limit"),
    LAYERS: ("limit", "Limit"),
    ADAGRAD: ("step", "Steps done"),
    STALENESS: ("limit", "Limit of staleness"),
    COMPARED: ("limit", "Limit"),
}


@pytest.mark.parametrize("label", [LAYERS, ADAGRAD, STALENESS, COMPARED])
def test_every_lab_is_there_and_stepped_forth_and_back(label: str, shown: Any, screenshots: str | None) -> None:
    step_forth_and_back(shown(label), *AXES[label], steps=4, screenshots=screenshots)


def test_the_clipping_lab_counts_the_steps_of_this_run(shown: Any) -> None:
    lab = shown(CLIPPING, limit=70.0)
    before = lab.readout(), lab.pixels()
    assert "clips 11.9% of 512 steps" in before[0]
    lab.slider("Limit").press("ArrowRight", times=2)
    until(lambda: lab.agrees(limit="Limit") and lab.pixels() != before[1], saying="a larger limit is painted")
    assert "11.9%" not in lab.readout() and "of 512 steps" in lab.readout()


@pytest.mark.parametrize(
    ("label", "preset", "said"),
    [
        (LAYERS, "The suggested limit", "there embed is 46% of the squared norm"),
        (LAYERS, "Suggested limit, per tensor", "fires most on embed, on 1.0% of its 512 steps"),
        (ADAGRAD, "A large accumulator", "25 of 128 sampled entries are frozen"),
        (ADAGRAD, "A tiny accumulator", "127 of 128 sampled entries are frozen"),
        (STALENESS, "Two workers", "With 2 workers mean staleness is"),
        (STALENESS, "All in step", "With 8 workers mean staleness is"),
        (COMPARED, "Most different tensor", "on the norm of readout fires on"),
    ],
)
def test_what_the_text_says_of_each_preset(label: str, preset: str, said: str, shown: Any) -> None:
    lab = shown(label)
    lab.click(preset)
    name, axis = AXES[label]
    until(lambda: said in lab.readout() and lab.agrees(**{name: axis}), saying=f"{preset}: {said}")


def test_it_is_accessible(notebook: Notebook) -> None:
    assert_accessible(notebook)

"""The sentence above a picture fits: in one line of a laptop where a lab begins and at its presets,
else in two.

Measured in DejaVu Sans, the widest of the fonts that a page of JupyterLab may fall back to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

import gradlab as gl

pytestmark = pytest.mark.exhaustive

LINE, SIZE = 984.0, 18.0  # CSS pixels: picture, gap and column at 1440 x 900; the largest type
BOLD = FontProperties(family="DejaVu Sans", weight="bold")
DRAWN = 6  # states at random


def width(words: str) -> float:
    """Of one line, in CSS pixels."""
    return float(TextPath((0, 0), words.replace("$", r"\$"), SIZE, prop=BOLD).get_extents().width)


def starts(lab: Any) -> Iterator[dict[str, Any]]:
    """Where readers begin: the defaults and all presets."""
    yield lab.params
    yield from ({**lab.params, **values} for values in lab.presets.values())


def somewhere(lab: Any) -> Iterator[dict[str, Any]]:
    """Settings at random, the same in every run."""
    rng, choices = (
        np.random.default_rng(0),
        {name: control.values() for name, control in lab._valued().items()},
    )
    for _ in range(DRAWN):
        yield {name: values[rng.integers(len(values))] for name, values in choices.items()}


@pytest.mark.parametrize(
    ("states", "most"),
    # A line ends at the end of a word.
    [(starts, 1.0), pytest.param(somewhere, 1.9, marks=pytest.mark.exhaustive)],
    ids=["starts", "somewhere"],
)
@pytest.mark.parametrize(("name", "make"), list(gl.labs.catalog().items()))
def test_a_sentence_fits(name: str, make: Any, states: Any, most: float) -> None:
    lab = make()
    for values in states(lab):
        lab.set(**values)
        said = lab.description.summary
        assert width(said) <= most * LINE, f"{width(said) / LINE:.2f} lines at {values}: {said}"

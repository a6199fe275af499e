"""Which notebooks there are, and which of them holds a lab."""

import pytest

import gradlab as gl
from gradlab._base import notebooks


def test_every_notebook_has_a_title() -> None:
    titles = dict(notebooks.titles())
    assert next(iter(titles)) == notebooks.START
    assert all(titles.values())


@pytest.mark.parametrize("lab", gl.labs.catalogue())
def test_every_lab_has_a_notebook(lab: str) -> None:
    assert notebooks.holding(lab)


def test_the_tour_comes_last() -> None:
    holding = notebooks.holding("clip_arrows")
    assert holding[-1] == notebooks.START
    assert holding[0] == "02_clipping.ipynb"
    assert notebooks.holding("clip") == notebooks.holding("no.such.lab") == []

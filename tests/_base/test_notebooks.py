"""Which notebooks there are, and which of them holds a lab."""

import pytest

import gradlab as gl
from gradlab._base import notebooks


def test_every_notebook_has_a_title() -> None:
    titles = dict(notebooks.titles())
    assert next(iter(titles)) == notebooks.START
    assert all(titles.values())


@pytest.mark.parametrize("lab", gl.labs.catalog())
def test_every_lab_has_a_notebook(lab: str) -> None:
    assert notebooks.find_with_lab(lab)


def test_the_tour_comes_last() -> None:
    holding = notebooks.find_with_lab("clip_arrows")
    assert holding[-1] == notebooks.START
    assert holding[0] == "02_clipping.ipynb"
    assert notebooks.find_with_lab("clip") == notebooks.find_with_lab("no.such.lab") == []


def test_a_notebook_says_how_long_it_takes_and_what_for() -> None:
    for introduction in notebooks.introductions():
        assert 10 <= introduction.minutes <= 60
        assert len(introduction.aims) >= 3
        assert all(aim[0].islower() and aim[-1] not in ".;" for aim in introduction.aims)


def test_a_notebook_has_pictures_of_its_labs() -> None:
    found = notebooks.pictures("02_clipping.ipynb")
    assert found[gl.labs.clipping().label].startswith(b"\x89PNG")

"""A lab that is shown follows JupyterLab's theme."""

from __future__ import annotations

import pytest

import gradlab as gl

from .lab import until
from .pages import Notebook

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("name", gl.labs.catalogue())
def test_the_picture_turns_dark_and_light_again(name: str, every_lab: Notebook) -> None:
    lab = every_lab.lab(gl.labs.catalogue()[name].label)
    until(lambda: min(lab.background()) > 200, saying="the picture's background is light")
    light = lab.background()
    with every_lab.dark():
        until(lambda: max(lab.background()) < 60, saying="the picture's background is dark")
    until(lambda: lab.background() == light, saying="the picture's background is what it was")
    assert every_lab.troubles == []

"""Every lab in JupyterLab: along its axis by keys, each step painted and told, and a preset with one click."""

from __future__ import annotations

from typing import Any

import pytest

import gradlab as gl
from tests.browser.lab import axis, until

pytestmark = pytest.mark.browser


# One lab's axis is a menu, which the page of its own tests uses.
@pytest.mark.parametrize("name", [name for name in gl.labs.catalogue() if name != "clip_libraries"])
def test_a_lab_is_stepped_forth_and_back(name: str, shown: Any, screenshots: str | None) -> None:
    make = gl.labs.catalogue()[name]
    lab = shown(make.label)
    slider = lab.slider(axis(make.label)[1])
    slider.press("Home")
    until(lambda: slider.position() == 0 and lab.is_settled(), saying=f"{name} at the start")
    start = lab.readout(), lab.pixels()
    slider.press("ArrowRight")
    until(lambda: slider.position() == 1 and lab.is_settled(), saying=f"{name} at its next step")
    until(lambda: lab.pixels() != start[1], saying="the step is painted")
    assert lab.alt() == lab.notebook.evaluate(f"{lab.object}.description.alt")
    lab.screenshot(screenshots, name)
    slider.press("ArrowLeft")
    until(lambda: (lab.readout(), lab.pixels()) == start, saying="the start is as it was")
    preset, values = lab.notebook.evaluate(f"[(label, dict(at)) for label, at in {lab.object}.presets.items()][-1]")
    lab.click(preset)
    until(lambda: values.items() <= lab.params().items() and lab.is_settled(), saying=preset)

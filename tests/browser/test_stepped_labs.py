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
    seen = [(lab.readout(), lab.pixels())]
    for key, there in (("ArrowRight", 1), ("End", slider.last())):
        slider.press(key)
        until(lambda there=there: slider.position() == there and lab.is_settled(), saying=f"{name} at {there}")
        until(lambda: lab.pixels() != seen[-1][1], saying=f"{key} is painted")
        seen.append((lab.readout(), lab.pixels()))
    assert lab.alt() == lab.notebook.evaluate(f"{lab.object}.description.alt")
    lab.screenshot(screenshots, name)
    slider.press("Home")
    until(lambda: (lab.readout(), lab.pixels()) == seen[0], saying="the start is as it was")
    preset, values = list(make.presets.items())[-1]
    lab.click(preset)
    until(lambda: values.items() <= lab.params().items() and lab.is_settled(), saying=preset)

"""Every lab in JupyterLab: along its axis by keys, each step painted and told, and a preset with
one click.

All labs take each step together: the kernel is asked once how they all are, and so is the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import gradlab as gl
from tests.browser.lab import HASH, Lab, axis, number, until
from tests.browser.pages import Notebook

pytestmark = pytest.mark.browser

# One lab's axis is a menu, which the page of its own tests uses.
LABELS = [make().label for name, make in gl.labs.catalog().items() if name != "clip_libraries"]
BY_LABEL = (
    f"{{lab.label: lab for lab in Out.values() if getattr(lab, 'label', None) in "
    f"{LABELS!r}}}.values()"
)

# What pages say and paint, by the label of the lab.
SAID = """(labs) => Object.fromEntries(labs.map((lab) => [lab.getAttribute("aria-label"),
  [lab.querySelector(".gl-readout").textContent, lab.querySelector("canvas").getAttribute("aria-label")]]))"""
# Where sliders stand, and the numbers they say, by the label of the lab; they are found by their
# marks.
SLID = """(marks) => Object.fromEntries(Object.entries(marks).map(([label, mark]) => {
  const slider = document.querySelector(`[data-mark="${mark}"]`);
  return [label, [slider.valueAsNumber, slider.getAttribute("aria-valuetext")]] }))"""
PAINTED = f"""(labs) => Object.fromEntries(labs.map((lab) => [lab.getAttribute("aria-label"),
  ({HASH})(lab.querySelector("canvas"))]))"""


class Together:
    """All labs of a page, which do the same one after another."""

    def __init__(self, page: Notebook) -> None:
        self.page, self.all = page, {label: page.lab(label) for label in LABELS}
        self.sliders = {label: lab.slider(axis(label)[1]) for label, lab in self.all.items()}
        self.marks = {
            label: slider.handle.get_attribute("data-mark")
            for label, slider in self.sliders.items()
        }

    def each(self, act: Callable[[Lab], Any]) -> None:
        """Do this in each lab, and wait until the page says of all what the kernel says."""
        for lab in self.all.values():
            act(lab)
        self.settle()

    def press(self, key: str, position: int) -> None:
        """Press a key on each slider, and wait until it is there."""
        self.each(lambda lab: self.sliders[lab.label].press(key))
        assert {label: at for label, (at, _) in self.slid().items()} == dict.fromkeys(
            LABELS, position
        )

    def slid(self) -> dict[str, tuple[int, float]]:
        """Where the sliders stand, and the numbers they say."""
        found: dict[str, tuple[int, str]] = self.page.page.evaluate(SLID, self.marks)
        return {label: (at, number(said)) for label, (at, said) in found.items()}

    def settle(self) -> None:
        left: set[str] = set(LABELS)

        def settled() -> bool:
            left.intersection_update(self.wrong())
            return not left

        until(settled, saying="kernel, slider and text agree")
        assert not self.wrong()  # all at once

    def wrong(self) -> set[str]:
        """The labs whose kernel, slider and text do not agree."""
        asked = (
            f"{{lab.label: [lab.params, lab.description.summary, lab.description.alt] for lab in "
            f"{BY_LABEL}}}"
        )
        known, said, slid = self.page.evaluate(asked), self.seen(SAID), self.slid()
        return {
            label for label, (params, *words) in known.items()
            if words != said[label] or params[axis(label)[0]] != slid[label][1]
        }  # fmt: skip

    def seen(self, script: str) -> dict[str, Any]:
        """What a script gives of each lab."""
        found: dict[str, Any] = self.page.page.locator(".gl-live").evaluate_all(script)
        return {label: found[label] for label in LABELS}

    def until_painted(
        self, what: Callable[[dict[str, str]], set[str]], saying: str
    ) -> dict[str, str]:
        """Wait until no lab is in what this says of the hashes of all pictures; give them."""
        painted: dict[str, str] = {}

        def right() -> bool:
            painted.update(self.seen(PAINTED))
            return not what(painted)

        try:
            until(right, saying=saying)
        except AssertionError as error:
            error.add_note(f"not so: {sorted(what(painted))}")
            raise
        return painted


@pytest.fixture
def labs(everything: Notebook) -> Iterator[Together]:
    """All labs as they begin."""
    everything.page.bring_to_front()
    everything.evaluate(f"[lab.set(**type(lab)().params) for lab in {BY_LABEL}] and None")
    with everything.whole():
        labs = Together(everything)
        labs.settle()
        yield labs
    assert everything.troubles == []


def test_labs_are_stepped_forth_and_back(labs: Together, screenshots: str | None) -> None:
    labs.press("Home", 0)
    said = labs.seen(SAID)
    start = labs.until_painted(lambda now: set(), "the start is painted")
    labs.press("ArrowRight", 1)
    labs.until_painted(
        lambda now: {label for label in LABELS if now[label] == start[label]}, "the step is painted"
    )
    for name, make in gl.labs.catalog().items():
        if (label := make().label) in labs.all:
            labs.all[label].screenshot(screenshots, name)
    labs.press("ArrowLeft", 0)
    assert labs.seen(SAID) == said
    labs.until_painted(
        lambda now: {label for label in LABELS if now[label] != start[label]},
        "the start is painted as it was",
    )


def test_a_preset_is_chosen_with_one_click(labs: Together) -> None:
    presets = labs.page.evaluate(f"{{lab.label: [*lab.presets.items()][-1] for lab in {BY_LABEL}}}")
    labs.each(lambda lab: lab.click(presets[lab.label][0]))
    params = labs.page.evaluate(f"{{lab.label: lab.params for lab in {BY_LABEL}}}")
    assert {
        label
        for label, (_, values) in presets.items()
        if not values.items() <= params[label].items()
    } == set()

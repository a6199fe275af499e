"""The labs on stale gradients in JupyterLab: lanes, a phase diagram, races, policies; their targets
are reached.
"""

from __future__ import annotations

from typing import Any

import pytest

from gradlab.models.claims import sentence
from tests.browser.lab import until
from tests.browser.pages import Notebook

pytestmark = pytest.mark.browser

LANES, PHASES, RACES, POLICIES, MODELS = (
    "Stale gradients",
    "Phases of staleness",
    "Races of stale gradients",
    "Six policies for stale gradients",
    "Staleness, depth and momentum",
)


def test_time_is_dragged_by_the_mouse_and_played(shown: Any) -> None:
    lab = shown(LANES)
    slider, frame = lab.slider("Time"), lab.frame()

    def dragged() -> bool:  # again, if what the kernel said before came while the mouse moved
        slider.drag(0.3)
        until(lambda: lab.agrees(now="Time"), saying="kernel, slider and text agree after the drag")
        return bool(abs(slider.position() / slider.last() - 0.3) < 0.02)

    until(dragged, saying="the slider is where the mouse left it")
    assert lab.frame() > frame + 1  # it moved while the handle moved, not only at the end
    lab.click("Play")
    until(lambda: lab.params()["now"] > 500, saying="time passes")
    lab.click("Pause")
    until(lambda: lab.agrees(now="Time"))


def test_everybody_is_fed_if_all_wait(shown: Any, screenshots: str | None) -> None:
    lab = shown(LANES)
    lab.slider("Workers").press("ArrowRight", times=2)
    lab.slider("Staleness limit").press("Home")
    until(lambda: lab.agrees(workers="Workers", threshold="Staleness limit"))
    assert lab.goal().endswith("not yet.")
    lab.menu("Policy").select_option(label="wait for the slowest")
    until(lambda: lab.goal().endswith("reached."), saying="the target is reached")
    lab.screenshot(screenshots, "staleness-target")


def test_the_whole_diagram_follows_the_spread(shown: Any) -> None:
    lab = shown(PHASES)
    before, frame = lab.pixels(), lab.frame()
    lab.slider("Spread of speed").drag(0.9, steps=12)
    until(lambda: lab.agrees(spread="Spread of speed"))
    assert lab.frame() > frame + 1  # not only where the handle ends
    assert lab.pixels() != before


def test_a_click_selects_a_place_of_the_diagram(shown: Any, screenshots: str | None) -> None:
    lab = shown(PHASES)
    box, mouse = lab.box(lab.group.locator(".gl-area").first), lab.notebook.page.mouse
    before = lab.pixels()
    # The panel shows limits from -0.5 to 24.5 and workers from 0.5 to 16.5.
    mouse.click(box["x"] + box["width"] * 18.5 / 25, box["y"] + box["height"] * (16.5 - 5) / 16)
    until(
        lambda: (lab.params()["limit"], lab.params()["workers"]) == (18, 5),
        saying="limit 18, 5 workers",
    )
    until(
        lambda: (
            lab.readout().startswith("With 5 workers, limit 18 accepts") and lab.pixels() != before
        )
    )
    lab.screenshot(screenshots, "phases-selected")
    mouse.move(box["x"] + box["width"] * 18.5 / 25, box["y"] + box["height"] * (16.5 - 5) / 16)
    mouse.down()
    mouse.move(
        box["x"] + box["width"] * 2.5 / 25, box["y"] + box["height"] * (16.5 - 14) / 16, steps=8
    )
    mouse.up()
    until(
        lambda: (lab.params()["limit"], lab.params()["workers"]) == (2, 14),
        saying="the diamond is dragged",
    )


def test_a_race_is_stepped_forth_and_back(shown: Any, screenshots: str | None) -> None:
    lab = shown(RACES)
    lab.click("Check, check, update")
    moves = lab.slider("Moves made")
    moves.press("Home")
    until(
        lambda: lab.readout().startswith("Before the first move") and lab.agrees(event="Moves made")
    )
    said = [(lab.readout(), lab.pixels())]
    for k in range(1, 13):
        moves.press("ArrowRight")
        until(lambda k=k: lab.params()["event"] == k and lab.agrees(event="Moves made"))
        until(lambda: lab.pixels() != said[-1][1], saying=f"move {k} is painted")
        said.append((lab.readout(), lab.pixels()))
    assert "are too stale by now" in said[10][0] and "Limit 0 fails" in said[11][0]
    for key, k in (("ArrowLeft", 11), ("Home", 0)):
        moves.press(key)
        until(lambda k=k: (lab.readout(), lab.pixels()) == said[k], saying=f"move {k} is as it was")
    lab.screenshot(screenshots, "races-0")


def test_delays_are_played_to_the_end(shown: Any) -> None:
    lab = shown(MODELS)
    lab.click("Play")
    until(
        lambda: lab.params()["delay"] == 32 and lab.agrees(delay="Largest delay"),
        saying="it plays to the end",
    )
    assert lab.readout().startswith(sentence("depth.slowdown.32"))


@pytest.mark.parametrize(
    "label", ["Predict the share of accepted gradients", "Predict the straggler's share"]
)
def test_a_prediction_is_revealed(
    label: str, everything: Notebook, screenshots: str | None
) -> None:
    lab = everything.lab(label)
    lab.click("Reveal")
    until(
        lambda: "move your guess first" in lab.readout(), saying="who has not guessed is asked to"
    )
    handle, before = lab.group.get_by_role("slider").first, lab.params()
    handle.focus()
    for _ in range(3):
        handle.press("ArrowUp")
    until(lambda: lab.params() != before)
    lab.click("Reveal")
    until(
        lambda: lab.readout().startswith("Your guess is") and lab.agrees(),
        saying="the result is there",
    )
    lab.screenshot(screenshots, label)

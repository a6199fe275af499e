"""The labs on Adagrad in JupyterLab: a walk begins elsewhere, a word is chosen, a target reached."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.lab import until

pytestmark = pytest.mark.browser

WALK, WORDS = "Adagrad beside gradient descent", "Word frequency and learning rate"


def test_the_start_is_taken_elsewhere_in_the_picture(shown: Any) -> None:
    lab = shown(WALK, surface="bowl", condition=40.0, step=20)
    before, pixels = lab.params(), lab.pixels()
    handle = lab.group.get_by_role("slider", name="drag the start", exact=True)
    for key in ("ArrowRight", "ArrowDown"):
        handle.focus()
        handle.press(key)
    until(
        lambda: lab.params()["start_2"] < before["start_2"] and lab.agrees(),
        saying="both keys arrived",
    )
    assert lab.params()["start_1"] > before["start_1"]
    assert lab.pixels() != pixels
    assert lab.alt() == lab.notebook.evaluate(f"{lab.object}.description.alt")


def test_a_word_is_traced_by_menu(shown: Any) -> None:
    lab = shown(WORDS)
    before = lab.pixels()
    options = f"dict(next(c.options for c in {lab.object}.controls if c.name == 'word'))"
    lab.menu("Word").select_option(label=lab.notebook.evaluate(f"{options}['class']"))
    until(lambda: "class" in lab.readout() and lab.agrees())
    assert lab.pixels() != before


def test_a_target_says_when_it_is_reached(shown: Any) -> None:
    tumors = {"surface": "tumors", "condition": 20.0, "learning_rate": 0.6}
    for rate, word in ((0.6, "not yet"), (1.0, "reached")):
        lab = shown(WALK, target="descent_wins", **tumors, descent_rate=rate)
        until(
            lambda lab=lab, word=word: word in lab.goal(),
            saying=f"the target is {word} with the rate {rate}",
        )

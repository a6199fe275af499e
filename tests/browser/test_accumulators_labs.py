"""The labs on accumulators in JupyterLab: filled gradient by gradient, back and forth; its targets
are reached.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.lab import until

pytestmark = pytest.mark.browser

FILLING, ROWS, TOKENS, SPARE = (
    "Filling an accumulator",
    "Rows in an accumulator",
    "Tokens and backup workers",
    "Backup workers",
)


def test_gradients_come_while_it_plays_and_under_the_mouse(shown: Any) -> None:
    lab = shown(FILLING)
    lab.click("Play")
    until(lambda: lab.params()["event"] > 20, saying="gradients come")
    lab.click("Pause")
    slider, frame = lab.slider("Gradients so far"), lab.frame()
    slider.drag(0.1)
    until(
        lambda: lab.agrees(event="Gradients so far"),
        saying="kernel, slider and text agree after the drag",
    )
    assert slider.value() < 6 and lab.frame() > frame + 1


def test_a_row_that_is_named_twice_has_two_lines_until_it_is_merged(shown: Any) -> None:
    lab = shown(ROWS)
    lab.click("Twice, in TensorFlow")
    until(lambda: "returns row 1 more than once" in lab.readout() and lab.agrees())
    before = lab.pixels()
    lab.menu("Rows of one index").select_option(label="merged")
    until(lambda: "more than once" not in lab.readout() and lab.agrees())
    until(lambda: lab.pixels() != before)


def test_too_few_workers_without_tokens_at_the_start_wait_for_ever(
    shown: Any, screenshots: str | None
) -> None:
    lab = shown(TOKENS)
    lab.click("Too few workers")
    until(
        lambda: lab.params()["start_tokens"] == 3 and lab.agrees(start_tokens="Tokens at the start")
    )
    assert "wait for a token" not in lab.readout()
    lab.slider("Tokens at the start").press("Home")
    until(
        lambda: (
            "Both workers wait for a token, and none will come" in lab.readout() and lab.agrees()
        )
    )
    lab.screenshot(screenshots, "tokens-stuck")


def test_spare_workers_are_much_faster(shown: Any) -> None:
    lab = shown(SPARE)
    lab.click("One backup worker")
    until(
        lambda: lab.readout().startswith("Waiting for 15 of 16") and lab.goal().endswith("not yet.")
    )
    lab.slider("Gradients per round").drag(11 / 15)
    until(
        lambda: lab.params()["aggregate"] == 12 and lab.goal().endswith("reached."),
        saying="the target is reached",
    )

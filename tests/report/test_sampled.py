"""Sections on Adagrad's past and on several workers: verdicts by tensor, and no agreement without
probes.
"""

from typing import Any

import numpy as np

import gradlab as gl


def sentence(rec: gl.Recorder, key: str) -> str:
    return next(
        section.sentence for section in gl.Report(rec, labs=False).sections if section.key == key
    )


def body(rec: gl.Recorder, key: str) -> str:
    """The page of one section, without the others, whose pictures take seconds."""
    return next(
        section.body() for section in gl.Report(rec, labs=False).sections if section.key == key
    )


def noisy(
    probes: bool = False, spike: float = 1.0, factor: float = 1.0, **room: Any
) -> gl.Recorder:
    rng = np.random.default_rng(0)
    rec = gl.Recorder(entries=40, **room)
    for step in range(128):
        if probes:
            rec.probe({"w": factor * (1 + rng.normal(size=40))})
        rec.record(
            {"w": np.float32(factor) * (1 + rng.normal(size=40)) * (spike if step == 5 else 1.0)}
        )
    return rec


def test_a_healthy_run_does_not_read_as_trouble_at_any_unit_of_the_loss() -> None:
    said = [sentence(noisy(factor=factor), "adagrad") for factor in (1 / 64, 1.0, 64.0)]
    assert (
        said
        == [
            "Under Adagrad 0 of 40 countable entries are held back by their past. "
            "w, the only tensor that can be judged, is not in trouble."
        ]
        * 3
    )


def test_a_spike_is_trouble_in_its_tensor() -> None:
    assert sentence(noisy(spike=1000.0), "adagrad").endswith("In trouble: w.")


def test_merged_steps_give_an_estimate_that_says_so() -> None:
    assert "An estimate: each bucket stands for 2 steps" in sentence(noisy(steps=64), "adagrad")


def test_the_shipped_run_in_words() -> None:
    assert sentence(gl.models.reader_run.shipped(), "adagrad") == (
        "Under Adagrad 12 of 99 countable entries are held back by their past. Neither of the 2 "
        "tensors that can be judged is in trouble. Not counted: 20 without a gradient in the last "
        "eighth of the steps; 9 with too few gradients to tell."
    )
    interval = gl.models.reader_run.shipped().agreement().in_words(3)
    assert sentence(gl.models.reader_run.shipped(), "staleness").endswith(
        f"agreement of gradients 3 updates apart: {interval}."
    )


def test_agreement_is_stated_with_its_interval_and_never_without_probes() -> None:
    with_probes, without = sentence(noisy(probes=True), "staleness"), sentence(noisy(), "staleness")
    assert "updates apart: 1.00 (" in with_probes or "updates apart: 0.9" in with_probes
    assert (
        "can't be told from a recording without probes: every few steps call rec.probe" in without
    )
    page = body(noisy(), "staleness")
    assert "cosine" not in page and "not known without probes" in page


def test_the_page_says_what_depends_on_the_unit_of_the_loss() -> None:
    page = body(gl.models.reader_run.shipped(), "adagrad")
    assert "that depends on the unit of the loss, such as mean or sum" in page
    assert (
        "These thresholds were set on a few runs" in page and "usual in a healthy run" not in page
    )
    assert "frozen" not in page

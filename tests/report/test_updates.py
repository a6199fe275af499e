"""The sections on updates and on noise: there where they were recorded, and what they say."""

from __future__ import annotations

import numpy as np

import gradlab as gl

RATES = {"deep/0/w": 1e-3, "deep/0/b": 3e-2, "deep/1/w": 2e-6, "deep/1/frozen": 0.0, "embed": 1e-3}


def recorded(tensors: int = 1, **kwargs: object) -> gl.Recorder:
    rec, one = gl.Recorder(sample_every=4), np.ones(9, np.float32)
    weights = {f"{name}{k or ''}": one for k in range(tensors) for name in RATES}
    for _ in range(10):
        updates = {f"{name}{k or ''}": np.float32(rate) * one for k in range(tensors) for name, rate in RATES.items()}
        rec.record(weights, weights=weights, updates=updates, **kwargs)
    return rec


def test_updates_and_noise() -> None:
    rec = recorded(micro_norms=[7.0, 8.0])
    report = gl.Report(rec, labs=False)
    found = {section.key: section for section in report.sections}
    assert found["updates"].sentence == (
        "The median ratio of update to weight is 0.001, measured in 10 of 10 steps; 2 of 5 tensors are outside of "
        "0.0001 to 0.01: deep/1/w and deep/0/b. deep/1/frozen never moved."
    )
    html = found["updates"].html()
    assert "about a thousandth" in html and "by layer, in 10 of 10 steps" in html and html.count("<svg") == 2
    assert found["noise"].sentence.startswith("Gradient noise scale about")
    assert "2e-06" in str(rec.summary())


def test_absent_where_they_were_not_recorded() -> None:
    rec = gl.Recorder()
    rec.record([np.ones(3)])
    assert not {"updates", "noise"} & {section.key for section in gl.Report(rec, labs=False).sections}


def test_many_tensors_and_one_that_never_moved() -> None:
    assert "125 tensors" in gl.Report(recorded(25), labs=False).sections[5].html()
    rec, one = gl.Recorder(sample_every=1), np.ones(3)
    rec.record({"a": one, "b": one}, weights={"a": 0 * one, "b": one}, updates={"a": one, "b": 0 * one})
    section = next(s for s in gl.Report(rec, labs=False).sections if s.key == "updates")
    assert section.sentence == "No ratio of update to weight is known in 1 of 1 step." and "not known" in section.html()

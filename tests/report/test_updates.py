"""The sections on updates and on noise: there where they were recorded, and what they say."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl

RATES = {"deep/0/w": 1e-3, "deep/0/b": 3e-2, "deep/1/w": 2e-6, "deep/1/frozen": 0.0, "embed": 1e-3}


def recorded(tensors: int = 1, steps: int = 40, **kwargs: object) -> gl.Recorder:
    rec = gl.Recorder(sample_every=4)
    names = [f"{name}{k or ''}" for k in range(tensors) for name in RATES]
    weights = {
        name: np.ones(3 if name.startswith("deep/0/b") else (3, 3), np.float32) for name in names
    }
    updates = {f"{name}{k or ''}": rate for k in range(tensors) for name, rate in RATES.items()}
    for _ in range(steps):
        moves = {name: np.float32(updates[name]) * w for name, w in weights.items()}
        rec.record(weights, weights=weights, updates=moves, **kwargs)
    return rec


def sentence(rec: gl.Recorder) -> str:
    return next(s.sentence for s in gl.Report(rec, labs=False).sections if s.key == "updates")


def trained(rate: float, growth: float = 1.0, steps: int = 40) -> gl.Recorder:
    """Weights of norm 1 that every step changes by `rate`; the first step by 5 times that, as
    Adam's without warm-up.

    They grow by `growth` after the first step. The bias began at 0.
    """
    rec = gl.Recorder(sample_every=4)
    for step in range(steps):
        size = 1.0 if step == 0 else growth
        weights = {"b": np.full(9, min(step, 1.0)), "w": size * np.eye(3), "v": size * np.eye(3)}
        move = size * rate * (5 if step == 0 else 1)
        updates = {"b": np.full(9, 0.1), "w": move * np.eye(3), "v": move * np.eye(3)}
        rec.record(weights, weights=weights, updates=updates)
    return rec


def test_updates_and_noise() -> None:
    rec = recorded(micro_norms=[7.0, 8.0])
    report = gl.Report(rec, labs=False)
    found = {section.key: section for section in report.sections}
    assert found["updates"].sentence == (
        "After the first 5 steps the median step changes the weights by 0.001 of their norm (half "
        "of the steps by 0.001 to 0.001), measured in 26 of 40 steps. For 33% of the weights it is "
        "below 0.0001: deep/1/w. deep/1/frozen never moved."
    )
    html = found["updates"].html()
    assert (
        "about a thousandth" in html
        and "by layer, in 26 of 40 steps" in html
        and html.count("<svg") == 2
    )
    assert found["noise"].sentence.startswith("Gradient noise scale about")
    assert "2e-06" in str(rec.summary())


def test_a_good_rate_is_told_from_a_ruinous_one_and_from_one_that_is_too_low() -> None:
    good, ruinous, low = (
        sentence(trained(0.002)),
        sentence(trained(0.002, 26.0)),
        sentence(trained(1e-6)),
    )
    assert good.endswith("For all weights it is within 0.0001 to 0.01, as is usual.")
    assert ruinous == good, (
        "weights that grow by other means than large steps say nothing of the rate"
    )
    assert low.endswith(
        "For all weights it is below 0.0001: the learning rate is too low, or gradients vanish."
    )
    ruinous = sentence(trained(0.1, 26.0))
    assert (
        "At step 0 it was 0.5 of their norm: the learning rate is too high, at least there."
        in ruinous
    )
    assert ruinous.endswith(
        "The weights have grown 26 times since step 0, which makes later ratios smaller."
    )
    assert "For all weights it is above 0.01, where about 0.001 is usual." in sentence(
        trained(0.02)
    )


def test_a_few_samples_say_nothing() -> None:
    assert sentence(recorded(steps=5)) == (
        "Updates were measured in 5 of 5 steps, too few to say how far steps move the weights. "
        "deep/1/frozen never moved."
    )


def test_absent_where_they_were_not_recorded() -> None:
    rec = gl.Recorder()
    rec.record([np.ones(3)])
    assert not {"updates", "noise"} & {
        section.key for section in gl.Report(rec, labs=False).sections
    }


@pytest.mark.exhaustive
def test_many_tensors_and_one_that_never_moved() -> None:
    assert "and 22 more never moved" in gl.Report(recorded(25), labs=False).sections[5].html()
    rec, one = gl.Recorder(sample_every=1), np.ones(3)
    rec.record(
        {"a": one, "b": one}, weights={"a": 0 * one, "b": one}, updates={"a": one, "b": 0 * one}
    )
    section = next(s for s in gl.Report(rec, labs=False).sections if s.key == "updates")
    assert section.sentence.startswith("Updates were measured in 1 of 1 step, too few to say")
    assert section.sentence.endswith("b never moved.") and "not known" in section.html()

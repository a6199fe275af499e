"""Adagrad over a recording: accumulators are those of the rule, and every kind of entry is told apart."""

import numpy as np
import pytest

from gradlab import Recorder
from gradlab.rules import Adagrad, Momentum
from gradlab.rules.adagrad import LIBRARIES

GRADS = np.random.default_rng(0).normal(size=(40, 6)).astype(np.float32) * np.float32([10, 3, 1, 0.1, 0.01, 0])


def recorded(grads: np.ndarray = GRADS, steps: int = 64) -> Recorder:
    rec = Recorder(steps=steps)
    for g in grads:
        rec.record({"w": g})
    return rec


def followed(rule: Adagrad, grads: np.ndarray) -> np.ndarray:
    """The accumulator after each step of the rule itself."""
    w = np.zeros(grads.shape[1], np.float32)
    slots, seen = rule.init(w), []
    for g in grads:
        w, slots = rule(w, slots, g, 0.1)
        seen.append(slots[0])
    return np.array(seen)


@pytest.mark.parametrize("library", LIBRARIES)
def test_accumulators_and_rates_are_the_rules_own(library: str) -> None:
    rule = LIBRARIES[library]
    expected = followed(rule, GRADS)
    for step in (1, 17, 40):
        found = recorded().frozen(rule, below=0.2, step=step)
        np.testing.assert_allclose(found.accumulator, expected[step - 1], rtol=1e-5)
        start = np.full(6, rule.initial_accumulator_value, np.float32)
        if rule.initial_accumulator_value == 0:
            start = expected[0]
        share = (rule.root(start) / rule.root(found.accumulator))[:5]
        np.testing.assert_allclose(found.share[:5], share, rtol=1e-5)
        np.testing.assert_array_equal(found.frozen[:5], share < 0.2)
    assert found.still.tolist() == [False] * 5 + [True]
    assert found.share[5] == 1 and not found.frozen[5]


def test_merged_buckets_lose_nothing_at_their_ends() -> None:
    whole, merged = recorded(), recorded(steps=10)
    assert merged.stride == 4
    for step in (0, 4, 20, 40):
        np.testing.assert_allclose(merged.frozen(step=step).accumulator, whole.frozen(step=step).accumulator, rtol=1e-5)
    assert merged.frozen(step=23).step == 20
    assert merged.frozen().step == 40


def test_an_accumulator_beyond_float32_is_frozen_for_good_and_nan_is_told_apart() -> None:
    grads = np.ones((5, 3), np.float32)
    grads[2] = [1e20, np.nan, 1.0]
    with np.errstate(all="ignore"):
        found = recorded(grads).frozen(below=1e-6)
    assert found.overflowed.tolist() == [True, False, False] == found.frozen.tolist()
    assert found.spoiled.tolist() == [False, True, False]
    assert found.beyond_by_tensor.tolist() == [True]
    assert "1 overflowed and are frozen for good: w[0]; 1 became NaN: w[1]; squares beyond float32" in str(found)
    assert not recorded(grads).frozen(step=2).overflowed.any()


def test_shares_are_counted_by_tensor_and_say_of_how_many() -> None:
    rec = Recorder(steps=10, entries=4)
    for _ in range(10):
        rec.record({"big": np.full(100, 50.0), "small": np.full(2, 0.01)})
    found = rec.frozen()
    assert found.sampled_by_tensor.tolist() == [2, 2]
    assert found.share_by_tensor.tolist() == [1, 0]
    assert found.fraction == 0.5
    assert all(name.startswith("big[") for name in found.named(found.frozen))
    assert "2 of 4 sampled entries are frozen, below 0.1 of the rate they started with (big 100% of 2" in str(found)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"rule": Momentum()}, TypeError, "rule must be a gl.rules.Adagrad, .* got Momentum"),
        ({"below": 0.0}, ValueError, "below must be a share above 0 and up to 1, got 0.0"),
        ({"step": 41}, ValueError, "step must be from 0 to 40, the steps of this recording; got 41"),
    ],
)
def test_what_cannot_be_asked_is_said(given: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        recorded().frozen(**given)  # type: ignore[arg-type]


def test_a_recording_without_entries_says_what_it_still_has() -> None:
    rec = Recorder(steps=3, entries=0)
    rec.record([np.ones(3)])
    with pytest.raises(ValueError, match="holds no single entries"):
        rec.frozen()
    with pytest.raises(ValueError, match="nothing is recorded yet"):
        Recorder().frozen()

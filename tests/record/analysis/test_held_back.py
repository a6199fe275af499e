"""Entries held back by their past: the measure has no unit, and every kind of entry is told apart."""

import numpy as np
import pytest

import gradlab as gl
from gradlab import Recorder
from gradlab.record import HeldBack
from gradlab.record.buckets import condensed

RNG = np.random.default_rng(0)


def recorded(grads: np.ndarray, factor: float = 1.0, steps: int = 1000) -> Recorder:
    rec = Recorder(steps=steps, entries=grads.shape[1])
    for g in grads:
        rec.record({"w": np.float32(factor) * g.astype(np.float32)})
    return rec


def spiked(steps: int = 128, entries: int = 40, hit: int = 20) -> np.ndarray:
    """Steady noise, in which the first entries had gradients 1,000 times as large at step 5."""
    grads = RNG.normal(size=(steps, entries))
    grads[5, :hit] = 1000
    return grads


def test_the_ratio_is_the_growth_of_the_last_eighth_over_the_mean_growth() -> None:
    grads = RNG.normal(size=(96, 5)).astype(np.float32)
    squares = (grads * grads).astype(np.float64)
    expected = np.sqrt(8 * squares[84:].sum(axis=0) / squares.sum(axis=0))
    np.testing.assert_allclose(recorded(grads).held_back().ratio, expected, rtol=1e-6)


def test_steady_gradients_have_a_ratio_near_1_and_none_is_held_back() -> None:
    found = recorded(RNG.normal(size=(1024, 100))).held_back()
    assert found.countable == 100 and not found.held.any()
    assert 0.7 < found.ratio.min() < 1 < found.ratio.max() < 1.3


@pytest.mark.parametrize("factor", [64.0, 1 / 64])
def test_no_factor_on_the_loss_changes_it_by_a_bit(factor: float) -> None:
    grads = spiked()
    np.testing.assert_array_equal(
        recorded(grads, factor).held_back().ratio, recorded(grads).held_back().ratio
    )


def test_no_factor_on_an_entry_changes_it() -> None:
    """The units of a feature are a factor on its weights' gradients."""
    grads = spiked()
    units = 10.0 ** np.linspace(-4, 4, grads.shape[1])
    found, other = recorded(grads).held_back(), recorded(grads * units).held_back()
    np.testing.assert_allclose(found.ratio, other.ratio, rtol=1e-6)
    np.testing.assert_array_equal(found.held, other.held)


def test_a_planted_spike_is_found_and_makes_the_tensor_trouble() -> None:
    found = recorded(spiked()).held_back()
    np.testing.assert_array_equal(found.held, np.arange(40) < 20)
    assert found.tensors(found.in_trouble) == ("w",)
    assert found.verdict_in_words == "In trouble: w" and found.verdict(0) == "trouble"


def test_a_tensor_of_few_or_rare_entries_gets_no_verdict() -> None:
    few = recorded(spiked(entries=19, hit=19)).held_back()
    assert few.held.all() and not few.in_trouble.any()
    assert few.verdict(0) == "no verdict: fewer than 20 countable entries"
    rare = spiked(steps=512) * (np.arange(512) % 4 == 1)[:, None]  # as rows of words
    found = recorded(rare).held_back()
    assert found.held.sum() == 20 and not found.is_dense.any() and not found.in_trouble.any()
    assert found.verdict(0) == "no verdict: gradients in too few steps"


def test_no_gradient_and_too_few_are_classes_of_their_own() -> None:
    grads = np.ones((64, 6), np.float32)
    grads[:, 0] = 0  # never any
    grads[40:, 1] = 0  # a dead unit
    grads[56:61, 2] = 0  # three in the last eighth
    grads[:57, 3] = 0  # seven in all
    with np.errstate(all="ignore"):
        grads[20, 4], grads[20, 5] = 1e25, np.nan
        found = recorded(grads).held_back()
    assert found.no_gradient.tolist() == [True, True, False, False, False, False]
    assert found.never.tolist() == [True, False, False, False, False, False]
    assert found.too_few.tolist() == [False, False, True, True, False, False]
    assert found.overflowed.tolist() == [False] * 4 + [True, False]
    assert found.spoiled.tolist() == [False] * 5 + [True]
    assert found.countable == 0 and found.verdict_in_words == "No tensor can be judged"


def test_a_run_of_under_32_steps_has_no_last_eighth_to_tell_from() -> None:
    found = recorded(np.ones((31, 3))).held_back()
    assert found.too_few.all() and not found.no_gradient.any()


def test_merged_buckets_give_an_estimate_that_says_so() -> None:
    """17, 16, 16, 11 of the run on which the measure was chosen; it was recorded in float32 on
    another machine.
    """
    whole = gl.models.reader_run.shipped()
    held = [condensed(whole, buckets).held_back() for buckets in (512, 256, 128, 64)]
    assert [found.stride for found in held] == [1, 2, 4, 8]
    assert [int(found.held.sum()) for found in held] == [12, 12, 12, 8]
    assert "an estimate, from buckets of 8 steps" in str(held[-1]) and "estimate" not in str(
        held[0]
    )


def test_skipped_steps_say_nothing() -> None:
    grads = spiked()
    rec = Recorder(entries=40)
    for g in grads:
        rec.record({"w": np.full(40, np.inf)}, skipped=True)
        rec.record({"w": g})
    np.testing.assert_allclose(rec.held_back().ratio, recorded(grads).held_back().ratio, rtol=1e-6)


def test_it_can_be_asked_at_any_step() -> None:
    grads = spiked()
    before = recorded(grads).held_back(step=64)
    assert before.step == 64
    np.testing.assert_array_equal(before.ratio, recorded(grads[:64]).held_back().ratio)


def test_the_share_of_the_initial_accumulator_depends_on_the_unit_of_the_loss() -> None:
    grads = 0.01 * np.ones((64, 1))
    mean, total = recorded(grads).held_back(), recorded(64 * grads).held_back()
    assert mean.initial_share(0.1)[0] > 0.9 > 0.1 > total.initial_share(0.1)[0]
    assert mean.ratio[0] == total.ratio[0]


def share_held(found: HeldBack, name: str) -> float:
    return float(found.share_by_tensor[found.names.index(name)])


def adagrad_run(seed: int, spike: float = 1.0) -> HeldBack:
    """The reader trained by Adagrad, 256 steps at rate 0.1; at step 5 the gradients of all tensors
    are multiplied.
    """
    from gradlab._base.named_leaves import named_leaves
    from gradlab.models import reader_run as reader

    rule = gl.rules.Adagrad(initial_accumulator_value=0.0, epsilon=1e-30)
    weights, text, rec = (
        reader.initial_weights(seed),
        reader.ordered(seed + 1),
        Recorder(256, entries=700),
    )
    slots = {name: rule.init(w) for name, w in named_leaves(weights)}
    for step in range(256):
        gradient = dict(
            named_leaves(reader.loss_and_gradient(weights, reader.batch(text, step))[1])
        )
        gradient = {name: g * (spike if step == 5 else 1.0) for name, g in gradient.items()}
        rec.record(gradient)
        for name, w in named_leaves(weights):
            new, slots[name] = rule(w, slots[name], gradient[name], 0.1)
            w[...] = new
    return rec.held_back()


def test_healthy_runs_are_not_trouble_and_spiked_ones_are() -> None:
    healthy, sick = adagrad_run(seed=0), adagrad_run(seed=0, spike=1000.0)
    assert not healthy.in_trouble.any(), healthy
    for name in ("hidden1/w", "hidden2/w", "readout/w"):
        assert name in healthy.tensors(healthy.is_judged) and share_held(healthy, name) <= 0.07
        assert name in sick.tensors(sick.in_trouble) and share_held(sick, name) > 0.3
    assert "embed" not in sick.tensors(sick.is_judged), (
        "its words come in too few steps for a verdict"
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"below": 0.0}, "below must be a share above 0 and up to 1, got 0.0"),
        ({"step": 41}, "step must be from 0 to 40, the steps of this recording; got 41"),
    ],
)
def test_what_cannot_be_asked_is_said(given: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        recorded(np.ones((40, 3))).held_back(**given)  # type: ignore[arg-type]


def test_a_recording_without_entries_says_what_it_still_has() -> None:
    rec = Recorder(steps=3, entries=0)
    rec.record([np.ones(3)])
    with pytest.raises(ValueError, match="holds no single entries"):
        rec.held_back()
    with pytest.raises(ValueError, match="nothing is recorded yet"):
        Recorder().held_back()

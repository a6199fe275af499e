"""One slider, four fates: what the lab says of a rate is what a walk of the library does at it."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.labs._descent import NEAR, RATE, STEPS, _bowl


def trace(**params: float):  # type: ignore[no-untyped-def]
    lab = gl.labs.descent(**params)
    return lab.compute(lab.params)


def test_the_ball_is_moved_by_the_librarys_optimizer() -> None:
    shown, weight = trace(learning_rate=1.7), gl.Variable(np.float32(-4.0))
    optimizer = gl.train.GradientDescentOptimizer(1.7)
    for step in range(STEPS):
        assert shown.weights[step] == weight.numpy()
        assert shown.gradient[step] == weight.numpy()  # the slope of w ** 2 / 2
        optimizer.apply_gradients([(weight.numpy(), weight)])


def test_the_zones_under_the_bowl_hold_at_every_rate_of_the_slider() -> None:
    zones = _bowl().zones
    assert [name for name, *_ in zones] == ["small", "arrives", "swings", "diverges"]
    assert zones[0][1] == RATE.minimum and zones[-1][2] == RATE.maximum
    for name, low, high in zones:
        for rate in (r for r in RATE.values() if low <= r < high):
            run = trace(learning_rate=rate)
            assert (run.loss[1] < run.loss[0]) is np.bool_(name != "diverges")
            assert (run.loss[: STEPS + 1].min() < NEAR) is np.bool_(name == "arrives")
            if name in ("small", "swings"):
                assert (run.weights[1] < 0) is np.bool_(name == "small")


@pytest.mark.parametrize(
    ("rate", "how"),
    [
        (0.05, "the ball creeps toward the minimum"),
        (0.5, "the ball rolls to the minimum"),
        (1.0, "the first step lands on the minimum"),
        (1.5, "every step jumps across the minimum and lands lower"),
        (2.0, "every step jumps across the minimum to the same loss"),
        (2.1, "every step jumps across the minimum and lands higher"),
    ],
)
def test_the_sentence_says_what_the_steps_do(rate: float, how: str) -> None:
    assert gl.labs.descent(learning_rate=rate).description.summary.startswith(f"At rate {rate:g} {how}: loss 8 to ")


def test_each_target_is_met_at_one_rate_only() -> None:
    rates = RATE.values()
    for name, only in (("one_step", 1.0), ("largest", 1.95)):
        measure = gl.labs.descent.targets[name].measure
        assert [rate for rate in rates if measure(trace(learning_rate=rate))[0]] == [only]
    lab = gl.labs.descent(target="one_step", learning_rate=2.0)
    assert lab.description.goal.endswith("At rate 2 the loss never falls below 0.001 now: not yet.")

"""One slider, four fates: what the lab says of a rate is what a walk of the library does at it."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.labs._descent.lab import NEAR, RATE, STEPS, _bowl


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
    assert [name for name, *_ in zones] == ["creeps", "rolls", "jumps", "flies"]
    assert zones[0][1] == RATE.minimum and zones[-1][2] == RATE.maximum
    for rate in RATE.values():
        # None stands on an edge.
        (name,) = (name for name, low, high in zones if low <= rate <= high)
        run = trace(learning_rate=rate)
        assert (run.loss[1] > run.loss[0]) is np.bool_(name == "flies")
        assert (run.weights[1] > 1e-6) is np.bool_(name in ("jumps", "flies"))
        if name in ("creeps", "rolls"):
            assert (run.loss[: STEPS + 1].min() < NEAR) is np.bool_(name == "rolls")


@pytest.mark.parametrize(
    ("rate", "how"),
    [
        (0.05, "the ball creeps toward the minimum"),
        (0.5, "the ball rolls to the minimum"),
        (1.0, "the first step lands on the minimum"),
        (1.5, "every step jumps across the minimum and lands lower"),
        (2.0, "every step jumps across the minimum to the same loss"),
        (2.1, "the ball flies off, each step higher"),
    ],
)
def test_the_sentence_says_what_the_steps_do(rate: float, how: str) -> None:
    assert gl.labs.descent(learning_rate=rate).description.summary.startswith(
        f"At rate {rate:g} {how}: loss 8 to "
    )


@pytest.mark.exhaustive
def test_the_sentence_and_the_strip_name_the_same_zone() -> None:
    lab = gl.labs.descent()
    view = lab.make_view()
    for rate in RATE.values():
        lab.set(learning_rate=rate)
        lab.draw(view, lab.compute(lab.params))
        (bold,) = (words.get_text() for words in view._zones if words.get_weight() == "bold")
        said = lab.description.summary
        assert bold in said or (rate == 1.0 and bold == "rolls" and "lands on the minimum" in said)


def test_a_loss_as_good_as_none_is_told_without_an_exponent() -> None:
    said = [
        gl.labs.descent(learning_rate=rate, step=STEPS).description.summary for rate in (0.9, 1.0)
    ]
    assert [words.partition(": ")[2] for words in said] == [
        "loss 8 to below 0.001 in 12 steps.",
        "loss 8 to 0 in 12 steps.",
    ]


def test_each_target_is_met_at_one_rate_only() -> None:
    rates = RATE.values()
    for name, only in (("one_step", 1.0), ("largest", 1.95)):
        measure = gl.labs.descent().targets[name].measure
        assert [rate for rate in rates if measure(trace(learning_rate=rate))[0]] == [only]
    lab = gl.labs.descent(target="one_step", learning_rate=2.0)
    assert lab.description.goal.endswith(
        "Now, at rate 2, the loss never falls below 0.001: not yet."
    )

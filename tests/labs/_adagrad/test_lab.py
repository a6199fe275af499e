"""Adagrad's lab: its numbers are the library's, presets show what they are called, targets can be
reached.
"""

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.labs._adagrad.lab import PLACES, SCHEDULES, STEPS, SURFACES, Descent, _gait
from gradlab.labs._adagrad.picture import Walk
from gradlab.models.surfaces import bowl


def trace(**settings: Any) -> Descent:
    lab = gl.labs.adagrad(**settings)
    return lab.compute(lab.params)


@pytest.mark.parametrize("place", [place for place, _ in PLACES])
def test_every_step_is_the_rules_and_every_rate_what_it_multiplied_the_gradient_by(
    place: str,
) -> None:
    shown = trace(
        condition=10.0, learning_rate=0.5, epsilon=0.5, epsilon_place=place, initial_accumulator=2.0
    )
    rule, w = gl.rules.Adagrad(2.0, 0.5, place), np.float32([-4, 2])  # type: ignore[arg-type]
    slots = rule.init(w)
    for step in range(1, STEPS + 1):
        g = np.float32([1, 10]) * w
        w, slots = rule(w, slots, g, 0.5)
        np.testing.assert_array_equal(shown.adagrad.weights[step], w)
        np.testing.assert_array_equal(shown.rates.accumulator[step], slots[0])
        moved = shown.adagrad.weights[step] - shown.adagrad.weights[step - 1]
        np.testing.assert_allclose(moved, -shown.rates.effective[step] * g, rtol=1e-4, atol=1e-6)
    assert shown.adagrad.above == pytest.approx(
        bowl(10.0).loss(shown.adagrad.weights.astype(float))
    )


def test_the_weights_of_the_real_loss_are_named_by_its_features() -> None:
    shown = trace(surface="tumors", condition=20.0, step=60)
    assert shown.ground.weights == ("radius", "texture")
    assert shown.rates.accumulator[-1, 0] > shown.rates.accumulator[-1, 1], (
        "the second weight has the smaller memory"
    )


def test_gradient_descent_takes_its_own_rate() -> None:
    shown = trace(condition=10.0, descent_rate=0.1)
    expected = np.array([-4, 2]) * np.power.outer([0.9, 0.0], np.arange(STEPS + 1)).T
    np.testing.assert_allclose(shown.descent.weights, expected, atol=1e-5)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_both_follow_the_schedule(schedule: str) -> None:
    shown = trace(schedule=schedule, learning_rate=0.5, descent_rate=0.01)
    last = {
        "constant": 1.0,
        "inverse": 1 / 6.9,
        "exponential": 0.5**5.9,
        "cosine": (1 + np.cos(np.pi * 59 / 60)) / 2,
    }
    assert shown.adagrad.rates[[1, -1]] == pytest.approx([0.5, 0.5 * last[schedule]], rel=1e-4)
    assert shown.descent.rates[[1, -1]] == pytest.approx([0.01, 0.01 * last[schedule]], rel=1e-4)


def test_the_condition_moves_gradient_descent_and_leaves_adagrad_alone() -> None:
    slow, fast = (
        trace(condition=k, initial_accumulator=1e-4, descent_rate=1 / k) for k in (100.0, 10.0)
    )
    np.testing.assert_allclose(slow.adagrad.weights, fast.adagrad.weights, atol=1e-4)
    assert slow.descent.above[-1] > 1000 * fast.descent.above[-1]


def test_a_clip_acts_before_the_accumulator() -> None:
    shown = trace(clip=1.0, initial_accumulator=0.1)
    growth = np.diff(shown.rates.accumulator, axis=0).sum(axis=1)
    assert growth.max() == pytest.approx(1.0, rel=1e-4)
    assert (np.hypot(*np.diff(shown.descent.weights, axis=0).T) <= 0.045 * 1.0001).all()


@pytest.mark.parametrize("surface", SURFACES)
def test_far_too_large_a_rate_is_shown_and_said_without_a_warning(surface: str) -> None:
    lab = gl.labs.adagrad(
        surface=surface, condition=100.0, descent_rate=10.0, learning_rate=100.0, step=STEPS
    )
    assert lab.live.frame()
    alt, summary = lab.description.alt, lab.description.summary
    assert (
        ("gradient descent beyond every number" in alt)
        == ("descent flies off" in summary)
        == (surface == "bowl")
    )


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {},
            "Adagrad walks straight, descent zigzags; after 20 steps descent is 4.4 times as high.",
        ),
        ({"step": 0}, "Both start 88 above the bottom."),
        (
            {"start_1": 0.0, "start_2": 0.0},
            "Both stay where they are; after 20 steps both are within 0.001 of the bottom.",
        ),
        (
            {"step": 1},
            "Adagrad's first step moves the weights by 0.598 and 0.6, descent's by 0.18 and 3.6.",
        ),
        (
            {"epsilon": 1000.0, "learning_rate": 45.0},
            "Both zigzag; after 20 steps Adagrad is about as high as descent.",
        ),
        (
            {"step": 60, "descent_rate": 0.2},
            (
                "Adagrad walks straight, descent flies off; after 60 steps Adagrad is 0.00135 "
                "above the bottom."
            ),
        ),
        (
            {"step": 60, "descent_rate": 0.2, "learning_rate": 1.0},
            (
                "Adagrad walks straight, descent flies off; after 60 steps Adagrad is less than "
                "0.001 above the bottom."
            ),
        ),
        (
            {"clip": 1.0},
            (
                "Adagrad walks a curve, descent walks straight; after 20 steps descent is 200 "
                "times as high."
            ),
        ),
    ],
)
def test_the_sentence_says_how_both_walk_and_which_is_higher(
    settings: dict[str, Any], said: str
) -> None:
    lab = gl.labs.adagrad(**settings)
    assert lab.description.summary == said
    table = dict(lab.description.table)
    shown, k = lab.compute(lab.params), lab.params["step"]
    assert float(table["Adagrad, above the bottom"]) == pytest.approx(
        shown.adagrad.above[k], rel=0.01
    )
    assert "effective rates" in table and "accumulator" in table


def test_walks_are_told_apart_by_their_turns_and_their_lengths() -> None:
    def gait(*weights: tuple[float, float]) -> str:
        return _gait(
            Walk(np.array(weights), np.zeros(len(weights)), np.zeros(len(weights))),
            len(weights) - 1,
        )[1]

    assert gait((0, 0), (1, 0), (2, 0.1), (3, 0)) == "walks straight"
    assert gait((0, 0), (1, 0), (1, 1), (0, 1)) == "walks a curve"
    assert gait((0, 0), (1, 3), (2, 0), (3, 3), (4, 0)) == "zigzags"
    assert gait((0, 0), (1, 0), (np.inf, 0)) == gait((0, 0), (1, 0), (1e9, 0)) == "flies off"


def test_presets_show_what_their_names_say() -> None:
    lab = gl.labs.adagrad()
    shown = {label: lab.compute({**lab.params, **values}) for label, values in lab.presets.items()}
    ravine = shown["Ravine"]
    assert (np.sign(ravine.descent.weights[1:10, 1]) == np.tile([-1, 1], 5)[:9]).all()  # it zigzags
    assert (ravine.adagrad.weights[:, 1] > 0).all()
    first = shown["First step has length lr"]
    assert np.abs(np.diff(first.adagrad.weights[:2], axis=0)).tolist()[0] == pytest.approx(
        [1, 1], rel=1e-5
    )
    epsilon = shown["Epsilon takes over"]
    assert (epsilon.rates.accumulator < epsilon.rates.floor).all()
    assert epsilon.adagrad.weights[:, 0] == pytest.approx(epsilon.descent.weights[:, 0], abs=0.05)
    low = shown["Adagrad's rate too low"]
    assert low.descent.above[-1] < low.adagrad.above[-1] < 0.1
    assert low.rates.effective[-1, 0] < low.rates.effective[1, 0] / 4
    higher = lab.compute(
        {**lab.params, **lab.presets["Adagrad's rate too low"], "learning_rate": 3.0}
    )
    assert higher.adagrad.above[-1] < low.descent.above[-1] / 100
    clipped = shown["Clipped before it counts"]
    assert clipped.rates.accumulator[-1, 1] < ravine.rates.accumulator[-1, 1] / 100


TUMORS = {"surface": "tumors", "condition": 20.0}


@pytest.mark.parametrize(
    ("target", "short_of", "settings"),
    [
        ("bottom_15", {"learning_rate": 1.0}, {"learning_rate": 1.0, "clip": 10.0}),
        (
            "bottom_15",
            {"learning_rate": 2.0},
            {"learning_rate": 0.8, "clip": 10.0, "initial_accumulator": 0.001},
        ),
        (
            "bottom_15",
            {"clip": 10.0, "learning_rate": 1.0, "start_1": 1.0},
            {"clip": 10.0, "learning_rate": 1.0},
        ),
        ("descent_wins", TUMORS | {"descent_rate": 0.6}, TUMORS | {"descent_rate": 1.0}),
        ("descent_wins", {"learning_rate": 0.1}, {"condition": 10.0, "descent_rate": 0.18}),
        ("become_descent", {"epsilon": 1000.0, "learning_rate": 45.0}, {"epsilon": 1e4}),
        ("become_descent", {"clip": 0.1}, {"clip": 0.1, "initial_accumulator": 100.0}),
    ],
)
def test_targets_can_be_reached(
    target: str, short_of: dict[str, Any], settings: dict[str, Any]
) -> None:
    lab = gl.labs.adagrad(target=target)
    for values, end in ((short_of, "not yet."), (settings, "reached.")):
        lab.set(**lab.presets["Ravine"])
        lab.set(**values)
        assert lab.description.goal.endswith(end), lab.description.goal


def test_looking_at_another_step_computes_nothing_again() -> None:
    lab = gl.labs.adagrad()
    one, other = (lab.compute({**lab.params, "step": step}) for step in (3, 30))
    assert one.adagrad is other.adagrad and one.ground is other.ground


def test_items_and_columns_are_the_steps() -> None:
    lab = gl.labs.adagrad(surface="tumors")
    view, shown = lab.make_view(), lab.compute(lab.params)
    items, columns = lab.items(view, shown), lab.columns(shown)
    assert len(items) == STEPS + 1 == len(columns["adagrad_weight_2"])
    np.testing.assert_array_equal(items.places[view.plane][1], columns["adagrad_weight_2"])
    assert set(items.places) == set(view.figure.axes)

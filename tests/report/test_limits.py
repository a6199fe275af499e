"""Limits in a report: the tables, by effect, and the reason in words."""

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.report._run import Run
from gradlab.report.limits import (
    LEFT_OF_A_STEP,
    LEFT_OF_ADAGRADS_STEP,
    by_layer,
    limits,
    optimizers_in_words,
    other_limit,
)
from tests import sick_runs
from tests.report.conftest import Page, Recorded


def only_last(step: int, grads: dict[str, Any]) -> dict[str, Any]:
    """Tensor k is 1 in the first k steps, then tiny."""
    return {name: g * 0 + (1.0 if step < k else 1e-3) for k, (name, g) in enumerate(grads.items())}


def test_tensors_are_sorted_by_effect_and_folded_beyond_twenty(recorded: Recorded) -> None:
    rec = recorded(change=only_last, shapes={f"w{k}": (1,) for k in range(24)}, steps=30)
    tables = Page(limits(Run(rec, 0.5, 0)).body()).tables
    caption = "Limits on the norm of each tensor alone, by effect"
    head, *first = tables[caption]
    assert head[:2] == ["tensor", "limit 0.005"] or head[0] == "tensor"
    column = head.index("limit 0.5")
    assert [row[0] for row in first] == [f"w{k}" for k in range(23, 3, -1)]
    assert first[0][column] == f"{100 * 23 / 30:.1f}%"
    assert [row[0] for row in tables[f"{caption}, continued"][1:]] == ["w3", "w2", "w1", "w0"]


def test_the_asked_limit_stands_among_the_percentiles_and_the_reason_says_why(
    recorded: Recorded,
) -> None:
    rec = recorded()  # norms are the square root of 44 entries times 1 to 20
    said = limits(Run(rec, 100.0, 0))
    assert said.sentence == "Your limit 100 on the global norm fires on 25.0% of 20 steps."
    body = said.body()
    rows = Page(body).tables["Limits on the global norm"][1:]
    assert ["100", "25.0%", "asked about"] in rows
    assert [row[2] for row in rows if row[2] != "asked about"] == [
        f"{p}th percentile" for p in (50, 75, 90, 95, 99)
    ]
    median = np.sqrt(44) * 10.5
    assert (
        f"The median norm is {median:.3g}; a limit of 132, the 99th percentile, leaves all "
        "but about 1%"
    ) in body
    assert "How often a limit fires doesn&#x27;t say how good it is." in body
    assert "Your limit fires on 25.0%; the suggested one is 121." in body


def test_shares_are_of_finite_steps_and_the_others_are_named() -> None:
    rec = sick_runs.nan_from_step_51()
    said = limits(Run(rec, None, 0)).sentence
    assert (
        "fires on 10.0% of 50 finite steps; 30 more steps held NaN or Inf, which no limit mends."
        in said
    )
    sentences = [
        section.sentence
        for section in (by_layer(Run(rec, 3.0, 0)), other_limit(Run(rec, 3.0, 0)))
        if section
    ]
    assert "of its finite steps" in sentences[0] and "of the finite steps" in sentences[1]


@pytest.mark.exhaustive
def test_no_limit_is_suggested_for_a_sick_run() -> None:
    diverged, exploding = sick_runs.diverged(), sick_runs.exploding()
    said = limits(Run(diverged, None, 0))
    assert said.sentence.startswith(
        "No limit is suggested, because 72 of 80 steps held NaN or Inf (first: step 8)"
    )
    assert "Look for the first step that did" in said.body()
    sentence = limits(Run(exploding, None, 0)).sentence
    assert sentence.startswith("No limit is suggested, because the gradient norm explodes: ")
    for rec in (diverged, exploding):
        assert other_limit(Run(rec, None, 0)) is None and by_layer(Run(rec, None, 0)) is None
        said = limits(Run(rec, 1.0, 0))
        assert said.sentence.startswith("Your limit 1 on the global norm fires on 100% of ")
        assert (
            "No limit is suggested, because " in said.sentence
            and "leaves the others alone" not in said.body()
        )


RULES = {
    "StochasticGradientDescent": gl.rules.StochasticGradientDescent(),
    "Momentum": gl.rules.Momentum(),
    "Adagrad": gl.rules.Adagrad(),
    "RMSProp": gl.rules.RMSProp(initial_rms=0.0),
    "Adam": gl.rules.Adam(),
    "Lion": gl.rules.Lion(),
}


def median_step(rule: Any, gradients: np.ndarray) -> float:
    weights, shared, lengths = np.zeros(gradients.shape[1]), rule.start(), []
    slots = rule.init(weights)
    for gradient in gradients:
        before = weights
        weights, slots = rule.at(shared)(weights, slots, gradient, 0.01)
        shared = rule.advance(shared)
        lengths.append(np.linalg.norm(weights - before))
    return float(np.median(lengths[100:]))


def left_of_a_step(rule: Any, factor: float = 1.0) -> float:
    draw = np.random.default_rng(0)
    gradients = factor * draw.standard_normal((300, 64)) * draw.lognormal(0, 0.5, (300, 1))
    norms = np.linalg.norm(gradients, axis=1, keepdims=True)
    clipped = gradients * np.minimum(1, 0.01 * np.median(norms) / norms)
    return median_step(rule, clipped) / median_step(rule, gradients)


@pytest.mark.parametrize("name", LEFT_OF_A_STEP)
def test_what_a_limit_that_always_fires_leaves_of_a_step(name: str) -> None:
    assert left_of_a_step(RULES[name]) == pytest.approx(LEFT_OF_A_STEP[name], abs=0.005)


@pytest.mark.parametrize("factor", LEFT_OF_ADAGRADS_STEP)
def test_what_is_left_of_adagrads_step_depends_on_the_size_of_gradients(factor: float) -> None:
    assert left_of_a_step(gl.rules.Adagrad(), factor) == pytest.approx(
        LEFT_OF_ADAGRADS_STEP[factor], abs=0.005
    )


def steps_around_a_large_gradient(rule: Any, factor: float) -> np.ndarray:
    """Return the steps (200, 4) of a rule whose gradient of step 100 is multiplied by a factor."""
    gradients = np.random.default_rng(1).standard_normal((200, 4))
    gradients[100] *= factor
    weights, shared, steps = np.zeros(4), rule.start(), []
    slots = rule.init(weights)
    for gradient in gradients:
        before = weights
        weights, slots = rule.at(shared)(weights, slots, gradient, 0.01)
        shared = rule.advance(shared)
        steps.append(weights - before)
    return np.array(steps)


@pytest.mark.parametrize("name", ["RMSProp", "Adam"])
def test_one_large_gradient_shortens_later_steps_of_rmsprop_and_adam(name: str) -> None:
    usual, after = (
        np.linalg.norm(steps_around_a_large_gradient(RULES[name], x)[110:140], axis=1)
        for x in (1, 1000)
    )
    assert np.median(after) < np.median(usual) / 2


def test_one_large_gradient_holds_the_direction_of_lion_and_not_its_length() -> None:
    usual, after = (steps_around_a_large_gradient(RULES["Lion"], x)[101:190] for x in (1, 1000))
    np.testing.assert_allclose(np.linalg.norm(after, axis=1), np.linalg.norm(usual, axis=1))
    assert (np.sign(after) == np.sign(after[0])).all()
    assert not (np.sign(usual) == np.sign(usual[0])).all()


def test_the_words_on_optimizers_are_those_numbers() -> None:
    said = optimizers_in_words()
    assert "1% of their step is left" in said and "kept 49% of its step" in said
    assert (
        "1% on gradients a hundredth as large, and all of it on gradients ten times as large"
        in said
    )
    assert (
        all(LEFT_OF_A_STEP[name] >= 0.995 for name in ("RMSProp", "Adam", "Lion"))
        and "all of their step" in said
    )

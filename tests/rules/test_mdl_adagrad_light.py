"""Plain Adagrad by default; with MDL, weights appear once they have paid for themselves."""

import numpy as np
import pytest

from gradlab.rules import Adagrad, MdlAdagradLight
from tests.rules.recorded import F, steps

# Gradients that push a weight up by sqrt(accumulator) after sqrt(accumulator).
ONES = np.full((4, 1), -1.0)


def served(rule: MdlAdagradLight, gradients: np.ndarray = ONES, w: float = 1.0) -> list[float]:
    return [w.item() for w, *_ in steps(rule, 1.0, np.array([w]), gradients)]


def benefits(rule: MdlAdagradLight, gradients: np.ndarray = ONES, w: float = 1.0) -> list[float]:
    return [b.item() for *_, b in steps(rule, 1.0, np.array([w]), gradients)]


def test_by_default_it_is_adagrad() -> None:
    for got, expected in zip(
        steps(MdlAdagradLight(), F(0.1)), steps(Adagrad(epsilon=0.0), F(0.1)), strict=True
    ):
        np.testing.assert_allclose(got[:2], expected, rtol=1e-6)
        np.testing.assert_array_equal(got[0], got[2])


def test_l2_and_the_power() -> None:
    rule = MdlAdagradLight(l2=0.5, lr_power=-1.0, initial_accumulator_value=0.0)
    assert rule(np.array([4.0]), rule.init(np.array([4.0])), np.array([2.0]), 1.0)[0].tolist() == [
        3.0
    ]


@pytest.mark.parametrize(("event_benefit", "expected"), [("linear", -2.0), ("quadratic", 0.0)])
def test_the_benefit_of_an_event(event_benefit: str, expected: float) -> None:
    rule = MdlAdagradLight(event_benefit=event_benefit)
    assert benefits(rule, np.array([[2.0]])) == [expected]


def test_benefits_are_limited_by_event_and_in_all() -> None:
    assert benefits(MdlAdagradLight(max_event_benefit=0.5, max_total_benefit=1.25)) == [
        0.5,
        1.0,
        1.25,
        1.25,
    ]
    assert benefits(MdlAdagradLight(max_event_benefit=0.5), -ONES)[0] == -0.5
    assert benefits(MdlAdagradLight(max_event_benefit=0.5, mdl_benefit_rampup_coeff=0.5))[:2] == [
        0.25,
        0.5,
    ]


def test_a_weight_appears_once_it_has_paid() -> None:
    rule = MdlAdagradLight(mdl_regularize=True, min_servable_mdl_benefit=1.0, max_event_benefit=0.5)
    assert [w != 0 for w in served(rule)] == [False, True, True, True]


def test_a_margin_lets_it_appear_little_by_little() -> None:
    rule = MdlAdagradLight(mdl_regularize=True, mdl_mix_in_margin=2.0, max_event_benefit=0.5)
    hidden = [u.item() for _, _, u, _ in steps(rule, 1.0, np.array([1.0]), ONES)]
    np.testing.assert_allclose(np.divide(served(rule), hidden), [0.25, 0.5, 0.75, 1.0])


def test_small_weights_are_not_served() -> None:
    rule = MdlAdagradLight(mdl_regularize=True, mdl_min_weight=2.5, initial_accumulator_value=0.0)
    assert served(rule)[:2] == [0.0, pytest.approx(2 + 1 / np.sqrt(2))]


@pytest.mark.parametrize(("keep", "benefit"), [(False, -0.75), (True, -1.0)])
def test_a_weight_that_costs_too_much_starts_again(keep: bool, benefit: float) -> None:
    rule = MdlAdagradLight(
        mdl_hard_limit=1.0, hard_limit_min_benefit=keep, benefit_revisit_scale=0.5
    )
    w, (_, u, b) = rule(np.array([1.5]), rule.init(np.array([1.5])), np.array([1.0]), 0.1)
    assert (w.tolist(), u.tolist(), b.tolist()) == ([0.0], [0.0], [benefit])


def test_hidden_weights_start_as_a_copy_of_the_weights() -> None:
    w = np.array([1.0, 2.0])
    hidden = MdlAdagradLight().init(w)[1]
    assert hidden.tolist() == [1.0, 2.0]
    assert not np.may_share_memory(hidden, w)


def test_an_unknown_estimate_is_refused() -> None:
    with pytest.raises(
        ValueError, match="event_benefit must be one of 'linear', 'quadratic'; got 'cubic'"
    ):
        MdlAdagradLight(event_benefit="cubic")

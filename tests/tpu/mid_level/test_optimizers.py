"""The five optimizers of TensorFlow's mid-level interface: what they refuse, and which rule they are."""

import pytest

import gradlab as gl
from gradlab.tpu import FTRL, Adagrad, AdagradMomentum, Adam


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Adagrad(initial_accumulator_value=0.0), "initial_accumulator_value must be positive, got 0.0"),
        (lambda: FTRL(initial_accumulator_value=0.0, allow_zero_accumulator=True), "initial_accumulator_value"),
        (lambda: AdagradMomentum(epsilon=0.0), "epsilon must be positive"),
        (lambda: AdagradMomentum(exponent=0), "exponent must be positive"),
        (lambda: Adam(beta_1=1.0), "beta_1 must be at least 0 and less than 1, got 1.0"),
        (lambda: Adam(beta_2=-0.1), "beta_2"),
        (lambda: Adam(epsilon=0), "epsilon"),
        (lambda: Adam(lazy_adam=False, use_gradient_accumulation=False), "needs use_gradient_accumulation=True"),
    ],
)
def test_numbers_out_of_range_are_refused(make: object, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        make()  # type: ignore[operator]


def test_adam_is_lazy_and_without_bias_correction() -> None:
    rule = Adam().rule
    assert isinstance(rule, gl.rules.Adam)
    assert (rule.bias_correction, rule.lazy, rule.epsilon_place) == (False, True, "inside")
    other = Adam(lazy_adam=False, sum_inside_sqrt=False).rule
    assert isinstance(other, gl.rules.Adam) and (other.lazy, other.epsilon_place) == (False, "outside")


def test_what_ftrl_may_do_with_zeros_is_written_and_nothing_else() -> None:
    with_it, without = FTRL(allow_zero_accumulator=True), FTRL()
    assert with_it.parameters({}).ftrl.allow_zero_accumulator and not without.parameters({}).ftrl.allow_zero_accumulator
    assert with_it.rule == without.rule


def test_initial_values_are_those_of_the_slots() -> None:
    assert [s((1, 1)).item() for s in FTRL(initial_accumulator_value=0.5).slot_initializers] == [0.5, 0.0]

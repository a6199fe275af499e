"""The optimizers of tables, by whichever interface they came: what they refuse, and which rule they
are.
"""

from __future__ import annotations

import pytest

import gradlab as gl
from gradlab.tpu.engine.messages import rule_of
from gradlab.tpu.experimental.embedding import (
    FTRL,
    Adadelta,
    Adagrad,
    AdagradMomentum,
    Adam,
    Assign,
    BoundedAdagrad,
    CenteredRMSProp,
    FrequencyAwareAdagrad,
    FrequencyEstimator,
    Lion,
    MDLAdagradLight,
    Momentum,
    OnlineYogi,
    Optimizer,
    ProximalAdagrad,
    ProximalYogi,
    RMSProp,
    TableConfig,
)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (
            lambda: Adagrad(initial_accumulator_value=0.0),
            "initial_accumulator_value must be positive, got 0.0",
        ),
        (
            lambda: FTRL(initial_accumulator_value=0.0, allow_zero_accumulator=True),
            "initial_accumulator_value",
        ),
        (lambda: AdagradMomentum(epsilon=0.0), "epsilon must be positive"),
        (lambda: AdagradMomentum(exponent=0), "exponent must be positive"),
        (lambda: Adam(beta_1=1.0), "beta_1 must be at least 0 and less than 1, got 1.0"),
        (lambda: Adam(beta_2=-0.1), "beta_2"),
        (lambda: Adam(epsilon=0), "epsilon"),
        (
            lambda: Adam(lazy_adam=False, use_gradient_accumulation=False),
            "needs use_gradient_accumulation=True",
        ),
        (lambda: ProximalAdagrad(initial_accumulator_value=0.0), "initial_accumulator_value"),
        (
            lambda: ProximalAdagrad(l1_regularization_strength=-1.0),
            "l1_regularization_strength must be at least 0",
        ),
        (lambda: ProximalYogi(beta1=1.0), "beta1"),
        (lambda: ProximalYogi(epsilon=0.0), "epsilon"),
        (lambda: OnlineYogi(beta2=1.5), "beta2"),
        (lambda: OnlineYogi(l2_regularization_strength=-1.0), "l2_regularization_strength"),
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
    assert isinstance(other, gl.rules.Adam) and (other.lazy, other.epsilon_place) == (
        False,
        "outside",
    )


def test_what_ftrl_may_do_with_zeros_is_written_and_nothing_else() -> None:
    with_it, without = FTRL(allow_zero_accumulator=True), FTRL()
    assert (
        with_it.parameters({}).ftrl.allow_zero_accumulator
        and not without.parameters({}).ftrl.allow_zero_accumulator
    )
    assert with_it.rule == without.rule


def test_initial_values_are_those_of_the_slots() -> None:
    assert [s((1, 1)).item() for s in FTRL(initial_accumulator_value=0.5).slot_initializers] == [
        0.5,
        0.0,
    ]


L1_L2 = {"l1_regularization_strength": 0.5, "l2_regularization_strength": 0.25}


@pytest.mark.parametrize(
    "optimizer",
    [
        ProximalAdagrad(0.5, 0.1, **L1_L2),
        ProximalYogi(0.5, 0.25, 0.5, 0.125, **L1_L2),
        OnlineYogi(0.5, beta2=0.5, **L1_L2),
        Momentum(0.5, 0.25, True),
        RMSProp(0.5, 0.25, 0.5, 0.125),
        FrequencyEstimator(0.5, 0.25, 8.0, 2.0, 0.5),
        Adadelta(0.5, 0.25, 0.125),
        CenteredRMSProp(0.5, 0.25, 0.5, 0.125),
        BoundedAdagrad(0.5, True, 2.0, 4.0),
        FrequencyAwareAdagrad(0.5, 0.25, 0.125, 8.0, 0.75, 0.5, 0.25),
        Lion(0.5, 0.25, 0.75, False),
        MDLAdagradLight(0.5, *[0.25, -0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], True, True),
        Assign(),
    ],
)
def test_every_field_gets_into_the_message_and_back(optimizer: Optimizer) -> None:
    assert rule_of(optimizer.parameters({})) == optimizer.rule


def test_mean_squares_begin_at_zero_in_tables() -> None:
    assert [s((1, 1)).item() for s in RMSProp().slot_initializers] == [0.0, 0.0]


def test_tables_take_them() -> None:
    assert TableConfig(4, 2, optimizer=Momentum()).optimizer == Momentum()


def test_the_step_comes_like_a_learning_rate() -> None:
    def step() -> float:
        return 7.0

    optimizer = FrequencyAwareAdagrad(step_counter=step)
    assert optimizer.functions == [step]
    message = optimizer.parameters({step: 1}).frequency_aware_adagrad
    assert message.HasField("step_counter") and message.step_counter.tag == 1
    assert (
        not FrequencyAwareAdagrad().parameters({}).frequency_aware_adagrad.HasField("step_counter")
    )


def test_lion_moves_every_row_only_with_accumulation() -> None:
    with pytest.raises(ValueError, match="needs use_gradient_accumulation=True"):
        Lion(lazy_lion=False, use_gradient_accumulation=False)

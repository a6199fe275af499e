"""The optimizers of TensorFlow 1: fields, messages and what is refused."""

import pytest

from gradlab.tpu import (
    FrequencyEstimator,
    Momentum,
    OnlineYogi,
    Optimizer,
    ProximalAdagrad,
    ProximalYogi,
    RMSProp,
    TableConfig,
)
from gradlab.tpu.config.optimizer_messages import rule_of

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
    ],
)
def test_every_field_gets_into_the_message_and_back(optimizer: Optimizer) -> None:
    assert rule_of(optimizer.parameters({})) == optimizer.rule


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: ProximalAdagrad(initial_accumulator_value=0.0), "initial_accumulator_value"),
        (lambda: ProximalAdagrad(l1_regularization_strength=-1.0), "l1_regularization_strength must be at least 0"),
        (lambda: ProximalYogi(beta1=1.0), "beta1"),
        (lambda: ProximalYogi(epsilon=0.0), "epsilon"),
        (lambda: OnlineYogi(beta2=1.5), "beta2"),
        (lambda: OnlineYogi(l2_regularization_strength=-1.0), "l2_regularization_strength"),
    ],
)
def test_numbers_out_of_range_are_refused(make: object, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        make()  # type: ignore[operator]


def test_mean_squares_begin_at_zero_in_tables() -> None:
    assert [s((1, 1)).item() for s in RMSProp().slot_initializers] == [0.0, 0.0]


def test_tables_take_them() -> None:
    assert TableConfig(4, 2, optimizer=Momentum()).optimizer == Momentum()

"""The optimizers that only the configuration has: fields, messages, counters."""

import pytest

from gradlab.tpu import (
    Adadelta,
    Assign,
    BoundedAdagrad,
    CenteredRMSProp,
    FrequencyAwareAdagrad,
    Lion,
    MDLAdagradLight,
    Optimizer,
)
from gradlab.tpu.config.optimizer_messages import rule_of


@pytest.mark.parametrize(
    "optimizer",
    [
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


def test_the_step_comes_like_a_learning_rate() -> None:
    def step() -> float:
        return 7.0

    optimizer = FrequencyAwareAdagrad(step_counter=step)
    assert optimizer.functions == [step]
    message = optimizer.parameters({step: 1}).frequency_aware_adagrad
    assert message.HasField("step_counter") and message.step_counter.tag == 1
    assert not FrequencyAwareAdagrad().parameters({}).frequency_aware_adagrad.HasField("step_counter")


def test_lion_moves_every_row_only_with_accumulation() -> None:
    with pytest.raises(ValueError, match="needs use_gradient_accumulation=True"):
        Lion(lazy_lion=False, use_gradient_accumulation=False)

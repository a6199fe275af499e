"""What all optimizers of tables share: arguments by position, limits, what is asked at every step,
the message.
"""

import inspect

import pytest

from gradlab.tpu.engine.messages import FORMS
from gradlab.tpu.engine.proto import GradientAccumulationStatus, LowDimensionalPackingStatus
from gradlab.tpu.experimental import embedding
from gradlab.tpu.experimental.embedding import (
    SGD,
    Adagrad,
    CustomOptimizer,
    Optimizer,
    UserDefinedProgram,
)

ALL = [
    c
    for c in vars(embedding).values()
    if inspect.isclass(c) and issubclass(c, Optimizer) and c is not Optimizer
]


def test_there_is_a_class_for_every_message() -> None:
    messages = {c().message().WhichOneof("parameters") for c in ALL if c is not CustomOptimizer}
    assert messages == {form.message for form in FORMS}


@pytest.mark.parametrize("cls", ALL)
def test_slots_of_the_class_are_those_of_its_rule(cls: type[Optimizer]) -> None:
    optimizer = CustomOptimizer(lambda *_: 0) if cls is CustomOptimizer else cls()
    assert (
        len(optimizer.slot_names) == len(optimizer.slot_initializers) == len(optimizer.rule.slots)
    )
    assert hash(optimizer) is not None and optimizer == optimizer


def test_arguments_come_by_position_too() -> None:
    assert Adagrad(0.5, 0.25, False, -1.0) == Adagrad(
        0.5, initial_accumulator_value=0.25, use_gradient_accumulation=False, clip_weight_min=-1.0
    )
    assert SGD(0.5, True, None, None, None, None, 2.0).clipvalue == 2.0
    with pytest.raises(TypeError, match="multiple values"):
        Adagrad(0.5, learning_rate=0.25)  # type: ignore[misc]
    with pytest.raises(TypeError, match="slot_variable_creation_fn"):
        SGD(slot_variable_creation_fn=lambda *_: {})


@pytest.mark.parametrize(
    ("clipvalue", "limits"),
    [(None, (None, None)), (2.0, (-2.0, 2.0)), ((None, 3.0), (None, 3.0)), (0.0, (0.0, 0.0))],
)
def test_limits_of_gradients(clipvalue: object, limits: tuple[float | None, float | None]) -> None:
    optimizer = SGD(clipvalue=clipvalue)  # type: ignore[arg-type]
    assert (optimizer.clip_gradient_min, optimizer.clip_gradient_max) == limits
    message = optimizer.parameters({}).gradient_clipping_limits
    assert [message.HasField("lower"), message.HasField("upper")] == [x is not None for x in limits]


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        ({"clipvalue": 1.0, "use_gradient_accumulation": False}, ValueError, "summed gradients"),
        ({"clipvalue": (1.0, 2.0, 3.0)}, ValueError, "got 3 limits"),
        ({"clipvalue": [1.0, 2.0]}, TypeError, "a number or a tuple"),
        ({"slot_variable_creation_fn": 3}, ValueError, "must be a function or None, got 3"),
    ],
)
def test_what_is_refused(arguments: dict[str, object], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        Adagrad(**arguments)  # type: ignore[arg-type]


def test_what_stands_around_the_rule_is_in_the_message() -> None:
    optimizer = SGD(
        0.5,
        use_gradient_accumulation=False,
        clip_weight_min=0.0,
        weight_decay_factor=0.25,
        multiply_weight_decay_factor_by_learning_rate=True,
        low_dimensional_packing_status=True,
    )
    made = optimizer.parameters({})
    assert made.gradient_accumulation_status == GradientAccumulationStatus.DISABLED
    assert made.low_dimensional_packing_status == LowDimensionalPackingStatus.ENABLED
    assert made.clipping_limits.HasField("lower") and not made.clipping_limits.HasField("upper")
    assert (made.weight_decay_factor, made.multiply_weight_decay_factor_by_learning_rate) == (
        0.25,
        True,
    )


def test_decay_by_the_rate_is_nothing_without_a_factor() -> None:
    made = SGD(multiply_weight_decay_factor_by_learning_rate=True).parameters({})
    assert not made.multiply_weight_decay_factor_by_learning_rate


def test_a_function_is_its_tag() -> None:
    def rate() -> float:
        return 0.5

    assert SGD(rate).parameters({rate: 2}).learning_rate.dynamic.tag == 2
    assert SGD(rate).functions == [rate] and SGD(0.5).functions == []


def test_every_optimizer_can_be_a_default_of_a_table() -> None:
    table = embedding.TableConfig(4, 2, optimizer=UserDefinedProgram(), name="t")
    assert (
        embedding.configuration([embedding.FeatureConfig(table)], [(2,)])
        .table_descriptor[0]
        .optimization_parameters.HasField("user_defined_program")
    )

"""Optimizers and combiners of one's own."""

from typing import Any

import numpy as np
import pytest

from gradlab.tpu.experimental.embedding import (
    Constant,
    CustomCombiner,
    CustomOptimizer,
    UserDefinedProgram,
)


def adagrad(gradient: Any, w: Any, slots: list[Any], lr: Any, hyperparameters: list[float]) -> Any:
    accumulator = slots[0] + gradient * gradient
    return w - lr * hyperparameters[0] * gradient / accumulator**0.5, accumulator


def make(**more: Any) -> CustomOptimizer:
    arguments = {
        "slot_names": ["a"],
        "slot_initializers": [Constant(7.0)],
        "hyperparameters": [2.0],
    } | more
    return CustomOptimizer(adagrad, 0.5, **arguments)


def test_the_function_gets_what_tensorflow_gives_it() -> None:
    rule = make().rule
    w, (a,) = rule(np.ones((1, 2)), (np.full((1, 2), 7.0),), np.full((1, 2), 3.0), 0.5)
    assert a.tolist() == [[16.0, 16.0]] and w.tolist() == [[0.25, 0.25]]


def test_slots_have_the_names_and_beginnings_given() -> None:
    optimizer = make()
    assert optimizer.slot_names == ("a",) and optimizer.slot_initializers[0]((1, 1)).item() == 7.0
    assert (
        optimizer == make()
        and hash(optimizer) == hash(make())
        and optimizer != make(hyperparameters=[3.0])
    )
    assert not optimizer.use_gradient_accumulation


@pytest.mark.parametrize(
    ("more", "error", "told"),
    [
        ({"slot_initializers": []}, ValueError, "as many as slot_names, 1; got 0"),
        ({"slot_dims": [1, 2]}, ValueError, "slot_dims must be as many"),
        ({"slot_dims": [3]}, ValueError, "dim of slot 'a' must be 1 or 2, got 3"),
        ({"hyperparameters": [lambda: 1.0]}, NotImplementedError, "must be numbers"),
    ],
)
def test_what_is_refused(more: dict[str, Any], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        make(**more)


def test_a_program_has_the_slots_it_names() -> None:
    optimizer = UserDefinedProgram(
        0.1, lambda w, slots, g, lr: (w - lr * slots[0], (g,)), (("last", 0.0),)
    )
    assert optimizer.slot_names == ("last",)
    assert optimizer.rule(np.ones(1), (np.ones(1),), np.ones(1), 0.5)[0].tolist() == [0.5]


def test_weights_of_a_combiner_need_a_beginning() -> None:
    with pytest.raises(ValueError, match="num_weights=2 needs an initializer"):
        CustomCombiner(lambda n, rows, weights: rows[0], 3, num_weights=2)
    assert CustomCombiner(lambda n, rows, weights: rows[0], 3, 2, Constant(1.0)).num_weights == 2

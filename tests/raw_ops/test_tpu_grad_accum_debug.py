"""Tables loaded and retrieved with their hidden sum of gradients."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from gradlab import raw_ops, tpu
from gradlab.errors import InvalidArgumentError
from gradlab.tpu.engine.messages import BY_MESSAGE

WHICH = ("num_shards", "shard_id", "table_id", "table_name", "config", "name")
WHOLE = {"num_shards": 1, "shard_id": 0, "table_id": 0}
MESSAGES = {
    "ADAM": "adam",
    "Adadelta": "adadelta",
    "Adagrad": "adagrad",
    "FTRL": "ftrl",
    "FrequencyEstimator": "frequency_estimator",
    "Momentum": "momentum",
    "ProximalAdagrad": "proximal_adagrad",
    "ProximalYogi": "proximal_yogi",
    "RMSProp": "rms_prop",
    "StochasticGradientDescent": "stochastic_gradient_descent",
}


def ops(optimizer: str) -> tuple[Any, Any]:
    names = [f"{verb}TPUEmbedding{optimizer}Parameters" for verb in ("Load", "Retrieve")]
    return tuple(getattr(raw_ops, f"{name}GradAccumDebug") for name in names)


def array_names(load: Any) -> list[str]:
    return [name for name in inspect.signature(load).parameters if name not in WHICH]


@pytest.mark.parametrize("optimizer", MESSAGES)
def test_arrays_are_slots_and_the_sum(optimizer: str) -> None:
    load, retrieve = ops(optimizer)

    names = ["parameters", *BY_MESSAGE[MESSAGES[optimizer]].slots, "gradient_accumulators"]

    assert array_names(load) == names
    assert load.shapes(**dict.fromkeys(names, (2, 1)), num_shards=1, shard_id=0, table_id=0) == []
    assert retrieve.shapes(**WHOLE) == [(None, None)] * len(names)


@pytest.mark.parametrize("optimizer", MESSAGES)
def test_what_is_loaded_is_retrieved(optimizer: str) -> None:
    load, retrieve = ops(optimizer)
    config = tpu.example_config(MESSAGES[optimizer], rows=5)
    tpu.initialize_system(config)
    names = array_names(load)[:-1]
    given = {n: np.arange(3, dtype=np.float32)[:, None] + 10 * k for k, n in enumerate(names)}

    load(
        **given,
        gradient_accumulators=np.zeros((3, 1)),
        num_shards=2,
        shard_id=0,
        table_name="t",
        config=config,
    )
    retrieved = retrieve(num_shards=2, shard_id=0, table_id=0)

    for name, x in given.items():
        assert (getattr(retrieved, name) == x).all()
    bits = retrieved.gradient_accumulators.view(np.uint32)
    assert bits.tolist() == [[1], [1], [1]]


def test_a_sum_that_holds_gradients_is_refused() -> None:
    system = tpu.initialize_system(tpu.example_config("adagrad"))
    rows = np.ones((4, 1))

    with pytest.raises(InvalidArgumentError, match="hidden accumulator of table 't'"):
        raw_ops.LoadTPUEmbeddingAdagradParametersGradAccumDebug(
            parameters=rows, accumulators=rows, gradient_accumulators=rows, **WHOLE
        )

    assert not system.retrieve(0)[0].any()


def test_a_table_without_accumulation_is_refused() -> None:
    config = tpu.parse(tpu.example_config("adagrad"))
    config.table_descriptor[0].optimization_parameters.gradient_accumulation_status = 2
    tpu.initialize_system(config)
    rows = np.ones((4, 1))

    with pytest.raises(InvalidArgumentError, match="without gradient accumulation"):
        raw_ops.LoadTPUEmbeddingAdagradParametersGradAccumDebug(
            parameters=rows, accumulators=rows, gradient_accumulators=0 * rows, **WHOLE
        )
    with pytest.raises(InvalidArgumentError, match="without gradient accumulation"):
        raw_ops.RetrieveTPUEmbeddingAdagradParametersGradAccumDebug(**WHOLE)

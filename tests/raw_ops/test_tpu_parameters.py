"""Tables and slots loaded and retrieved: each optimizer by its own operations, and all at once."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from gradlab import raw_ops, tpu
from gradlab.errors import InternalError, InvalidArgumentError
from gradlab.tpu.engine.messages import BY_MESSAGE

WHICH = ("num_shards", "shard_id", "table_id", "table_name", "config", "name")
LOADS = {
    n: x
    for n, x in vars(raw_ops).items()
    if n.startswith("LoadTPUEmbedding") and n.endswith("Parameters")
}
MESSAGES = {
    "ADAM": "adam",
    "Adadelta": "adadelta",
    "Adagrad": "adagrad",
    "AdagradMomentum": "adagrad_momentum",
    "CenteredRMSProp": "centered_rms_prop",
    "FTRL": "ftrl",
    "FrequencyEstimator": "frequency_estimator",
    "MDLAdagradLight": "mdl_adagrad_light",
    "Momentum": "momentum",
    "ProximalAdagrad": "proximal_adagrad",
    "ProximalYogi": "proximal_yogi",
    "RMSProp": "rms_prop",
    "StochasticGradientDescent": "stochastic_gradient_descent",
}
WHOLE = {"num_shards": 1, "shard_id": 0}


def arrays(op: Any, rows: int) -> dict[str, np.ndarray]:
    names = [n for n in inspect.signature(op).parameters if n not in WHICH]
    return {n: np.arange(rows, dtype=np.float32)[:, None] + 10 * k for k, n in enumerate(names)}


@pytest.mark.parametrize("optimizer", MESSAGES)
def test_a_table_by_the_operations_of_its_optimizer(optimizer: str) -> None:
    load, retrieve = (
        getattr(raw_ops, f"{verb}TPUEmbedding{optimizer}Parameters")
        for verb in ("Load", "Retrieve")
    )
    config = tpu.example_config(MESSAGES[optimizer], rows=5)
    tpu.initialize_system(config)
    given = arrays(load, 3)
    load(**given, num_shards=2, shard_id=0, table_id=0)
    found = retrieve(num_shards=2, shard_id=0, table_name="t", config=config)
    for name, x in given.items():
        assert (getattr(found, name, found) == x).all()
    first = retrieve(**WHOLE, table_id=0)
    first = first if isinstance(first, np.ndarray) else first.parameters
    assert first.ravel().tolist() == [0, 1, 2, 0, 0]


def test_every_optimizer_has_a_pair() -> None:
    assert set(LOADS) == {f"LoadTPUEmbedding{x}Parameters" for x in MESSAGES}


@pytest.mark.parametrize("optimizer", MESSAGES)
def test_the_arrays_are_the_slots_of_the_rule(optimizer: str) -> None:
    load = getattr(raw_ops, f"LoadTPUEmbedding{optimizer}Parameters")
    arrays = [name for name in inspect.signature(load).parameters if name not in WHICH]
    assert arrays == ["parameters", *BY_MESSAGE[MESSAGES[optimizer]].slots]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "give either table_id or table_name"),
        ({"table_id": 0, "table_name": "t"}, "give either table_id or table_name"),
        ({"table_id": 1}, "there is no table 1"),
        ({"table_name": "u"}, "there is no table 'u'"),
        ({"table_id": 0, "num_shards": 2, "shard_id": 2}, "shard_id must be 0 to 1, got 2"),
        ({"table_id": 0, "num_shards": 0}, "num_shards must be at least 1"),
        ({"table_id": 0, "num_shards": 9, "shard_id": 8}, "leave shard 8 empty"),
        ({"table_id": 0, "accumulators": np.ones((4, 2))}, "one shape"),
        ({"table_id": 0, "parameters": np.ones(4)}, "2 axes"),
        (
            {"table_id": 0, "parameters": np.ones((3, 1)), "accumulators": np.ones((3, 1))},
            r"shape \(4, 1\) here",
        ),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, Any], words: str) -> None:
    system = tpu.initialize_system(tpu.example_config("adagrad"))
    with pytest.raises(InvalidArgumentError, match=words):
        raw_ops.LoadTPUEmbeddingAdagradParameters(
            **{"parameters": np.ones((4, 1)), "accumulators": np.ones((4, 1)), **WHOLE, **change}
        )
    assert not system.retrieve(0)[0].any()


def test_a_table_of_another_optimizer_is_refused() -> None:
    tpu.initialize_system(tpu.example_config("adam"))
    with pytest.raises(InvalidArgumentError, match="table 't' is trained by adam, not by adagrad"):
        raw_ops.RetrieveTPUEmbeddingAdagradParameters(**WHOLE, table_id=0)


def two_tables() -> bytes:
    config = tpu.parse(tpu.example_config("adam", rows=5))
    config.MergeFromString(
        tpu.parse(tpu.example_config("lion", rows=3, width=2)).SerializeToString()
    )
    config.table_descriptor[1].name = "u"
    config.table_descriptor[1].optimization_parameters.gradient_accumulation_status = 2
    return config.SerializeToString()


def test_all_tables_at_once() -> None:
    config = two_tables()
    system = tpu.initialize_system(config)
    found = raw_ops.RetrieveAllTPUEmbeddingParameters(
        NumTables=2, config=config, num_shards=3, shard_id=1
    )
    assert [[x.shape for x in one] for one in found] == [
        [(2, 1), (1, 2)],
        [(2, 1), (1, 2)],
        [(2, 1), (0, 0)],
        [(2, 1), (0, 0)],
        *[[(0, 0), (0, 0)]] * 4,
    ]
    assert found.auxiliary3[0].view(np.uint32).tolist() == [[1], [1]]
    changed = found._asdict() | {"parameters": [x + 1 for x in found.parameters]}
    raw_ops.LoadAllTPUEmbeddingParameters(**changed, config=config, num_shards=3, shard_id=1)
    assert system.retrieve(0)[0].ravel().tolist() == [0, 0, 1, 1, 0]
    assert system.retrieve(1)[0].tolist() == [[0, 0], [1, 1], [0, 0]]


def test_all_or_none_are_loaded() -> None:
    config = two_tables()
    system = tpu.initialize_system(config)
    found = raw_ops.RetrieveAllTPUEmbeddingParameters(NumTables=2, config=config, **WHOLE)._asdict()
    ones = {"parameters": [x + 1 for x in found["parameters"]]}
    dirty = {"auxiliary3": [np.ones((5, 1)), found["auxiliary3"][1]]}
    with pytest.raises(
        InvalidArgumentError, match="the hidden accumulator of table 't' holds gradients"
    ):
        raw_ops.LoadAllTPUEmbeddingParameters(**{**found, **ones, **dirty}, config=config, **WHOLE)
    with pytest.raises(
        InvalidArgumentError, match=r"auxiliary2 of table 1 must have shape \(0, 0\)"
    ):
        raw_ops.LoadAllTPUEmbeddingParameters(
            **{**found, **ones, "auxiliary2": found["auxiliary1"]}, config=config, **WHOLE
        )
    with pytest.raises(InternalError, match="NumTables must be 2"):
        raw_ops.RetrieveAllTPUEmbeddingParameters(NumTables=1, config=config, **WHOLE)
    assert not any(x.any() for k in (0, 1) for x in system.retrieve(k))

"""What holds for every op of TPU embeddings: its name, its keywords, its shape function; and JAX is
imported late.
"""

from __future__ import annotations

import inspect
import subprocess
import sys

import numpy as np
import pytest

from gradlab import raw_ops, tpu
from gradlab.errors import FailedPreconditionError, InvalidArgumentError

OPS = {name: op for name in raw_ops.__all__ if hasattr(op := getattr(raw_ops, name), "shapes")}


def test_the_family_is_complete() -> None:
    of_embeddings = {n for n in OPS if "TPUEmbedding" in n or "DedupData" in n}
    # Pairs, debugging pairs, all, configure, dedup, enqueue, step, V2 and the oldest.
    assert len(of_embeddings) == 26 + 20 + 2 + 9 + 4 + 8 + 5 + 6
    # SparseCores: preprocessing, lookups, gradients, updates, custom combiners, stacks.
    assert len(OPS) - len(of_embeddings) == 8 + 3 + 11 + 5 + 7 + 2


@pytest.mark.parametrize("name", OPS)
def test_it_is_a_function_with_a_public_name(name: str) -> None:
    assert inspect.isfunction(OPS[name])
    assert (OPS[name].__module__, OPS[name].__name__) == ("gradlab.raw_ops", name)


@pytest.mark.parametrize("name", OPS)
def test_arguments_are_keywords(name: str) -> None:
    with pytest.raises(TypeError, match="positional"):
        OPS[name](1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        OPS[name](nonsense=1)
    with pytest.raises(TypeError, match="argument"):
        OPS[name].shapes(nonsense=1)


def test_the_shape_function_is_asked_before_anything_happens() -> None:
    system = tpu.initialize_system(tpu.example_config())
    system.enqueue({"t": tpu.Ids([0], [1])})
    dedup = system.receive_deduplication_data()
    with pytest.raises(
        InvalidArgumentError, match="there must be 1 outputs, one for each table; got 2"
    ):
        raw_ops.XlaRecvTPUEmbeddingActivations(
            deduplication_data=dedup, num_tables=2, config=tpu.example_config()
        )
    assert len(system.receive_activations(dedup)) == 1


def test_a_configuration_may_be_a_message_or_its_bytes_in_any_order() -> None:
    config = tpu.example_config()
    tpu.initialize_system(config)
    message = tpu.parse(config)
    shuffled = config[-2:] + config[:-2]  # the last field first
    assert tpu.parse(shuffled) == message
    for same in (config, message, shuffled, "", b""):
        assert raw_ops.IsTPUEmbeddingInitialized(config=same)
    assert not raw_ops.IsTPUEmbeddingInitialized(config=tpu.example_config(rows=5))
    with pytest.raises(FailedPreconditionError, match="wipes the tables"):
        raw_ops.ComputeDedupDataSize(config=tpu.example_config(rows=5))


def test_accumulators_do_not_wait_for_jax() -> None:
    code = (
        "import sys; from gradlab import raw_ops; raw_ops.ConditionalAccumulator; assert 'jax' "
        "not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_inputs_are_read_by_shape() -> None:
    shapes = OPS["XlaSendTPUEmbeddingGradients"].shapes
    given = {
        "gradients": [(3, 4), None],
        "learning_rates": [()],
        "deduplication_data": None,
        "config": b"",
    }
    assert shapes(**given) == []
    with pytest.raises(
        InvalidArgumentError, match=r"learning rate 1 must be a scalar, got shape \(2,\)"
    ):
        shapes(**{**given, "learning_rates": [(), (2,)]})
    assert (
        OPS["LoadTPUEmbeddingAdagradParameters"].shapes(
            parameters=np.shape(np.zeros((2, 3))),
            accumulators=(None, 3),
            num_shards=1,
            shard_id=0,
            table_id=0,
        )
        == []
    )

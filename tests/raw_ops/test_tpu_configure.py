"""The embedding is configured once, whole or in parts."""

from __future__ import annotations

import pytest

from gradlab import raw_ops, tpu
from gradlab.errors import DTypeError, FailedPreconditionError, InvalidArgumentError


def test_configured_once() -> None:
    config = tpu.example_config()
    assert not raw_ops.IsTPUEmbeddingInitialized()
    raw_ops.ConfigureTPUEmbedding(config=config)
    assert raw_ops.IsTPUEmbeddingInitialized(config=config)
    with pytest.raises(FailedPreconditionError, match="starts anew and wipes the tables"):
        raw_ops.ConfigureTPUEmbedding(config=config)
    tpu.initialize_system(tpu.example_config(rows=7))
    assert not raw_ops.IsTPUEmbeddingInitialized(config=config)


def test_in_parts() -> None:
    common = raw_ops.ExecuteTPUEmbeddingPartitioner(config=tpu.example_config())
    memory = [raw_ops.ConfigureTPUEmbeddingMemory(common_config=common) for _ in range(2)]
    merged = raw_ops.CollateTPUEmbeddingMemory(memory_configs=memory)
    hosts = [
        raw_ops.ConfigureTPUEmbeddingHost(
            common_config=common, memory_config=merged, config=tpu.example_config()
        )
        for _ in range(2)
    ]
    raw_ops.ConnectTPUEmbeddingHosts(network_configs=hosts)
    assert not raw_ops.IsTPUEmbeddingInitialized()
    raw_ops.FinalizeTPUEmbedding(common_config=common, memory_config=merged)
    assert raw_ops.IsTPUEmbeddingInitialized(config=tpu.example_config())


def test_parts_of_two_configurations_are_refused() -> None:
    one, other = tpu.example_config(), tpu.example_config(rows=5)
    with pytest.raises(InvalidArgumentError, match="several configurations"):
        raw_ops.CollateTPUEmbeddingMemory(memory_configs=[one, other])
    with pytest.raises(InvalidArgumentError, match="several configurations"):
        raw_ops.FinalizeTPUEmbedding(common_config=one, memory_config=other)
    with pytest.raises(InvalidArgumentError, match="must be scalars"):
        raw_ops.ConnectTPUEmbeddingHosts(network_configs=[[one, one]])
    with pytest.raises(InvalidArgumentError, match="got UNSPECIFIED"):
        raw_ops.ExecuteTPUEmbeddingPartitioner(config=b"")


@pytest.mark.parametrize("part", [2**31, 1.5, None, True])
def test_a_part_that_is_no_bytes_is_refused_at_once(part: object) -> None:
    """`bytes(2**31)` would be two gigabytes of zeros."""
    with pytest.raises(DTypeError, match="must be bytes, got"):
        raw_ops.FinalizeTPUEmbeddingV2(common_config=b"", memory_config=part)

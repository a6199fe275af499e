"""Ops that configure the TPU embedding: all at once, or in the parts that a graph pass of TensorFlow makes of that.

In the order of the parts: `ExecuteTPUEmbeddingPartitioner` and `ConfigureTPUEmbeddingMemory` on
each host, `CollateTPUEmbeddingMemory`, `ConfigureTPUEmbeddingHost` on each host,
`ConnectTPUEmbeddingHosts`, `FinalizeTPUEmbedding`. There is one process here, so every part is the
configuration itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import DTypeError, FailedPreconditionError, InvalidArgumentError
from . import tpu_shapes as shapes
from .tpu_op import Config, Tensor, Tensors, op, running_system, shapes_of, tpu_module


@op(shapes.fixed())
def ConfigureTPUEmbedding(*, config: Config, name: str | None = None) -> None:
    """Start the system with `gl.tpu.initialize_system(config)`, where none is running.

    Raises:
        FailedPreconditionError: one is running; it is configured once, and a new start wipes the
            tables.
        ValueError: bytes that aren't a configuration, or one that cannot be run.

    Source: `tf.raw_ops.ConfigureTPUEmbedding`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> ConfigureTPUEmbedding(config=tpu.example_config())
    >>> ConfigureTPUEmbedding(config=tpu.example_config())
    Traceback (most recent call last):
    gradlab.errors.FailedPreconditionError: the TPU embedding is configured; gl.tpu.initialize_system(config) \
starts anew and wipes the tables
    >>> tpu.shutdown_system()
    """
    systems = tpu_module("engine.system")
    if systems.is_initialized():
        raise FailedPreconditionError(
            "the TPU embedding is configured; gl.tpu.initialize_system(config) starts anew and "
            "wipes the tables"
        )
    systems.initialize_system(config)


@op(shapes.fixed(shapes.SCALAR))
def IsTPUEmbeddingInitialized(*, config: Config = "", name: str | None = None) -> np.bool_:
    """Tell whether a system is running, and with this configuration if one is given.

    Source: `tf.raw_ops.IsTPUEmbeddingInitialized`, TensorFlow 2.21 (2026).

    >>> bool(IsTPUEmbeddingInitialized())
    False
    """
    systems = tpu_module("engine.system")
    return np.bool_(systems.is_initialized() and systems.current_system().is_configured_by(config))


@op(shapes.partitioner)
def ExecuteTPUEmbeddingPartitioner(*, config: Config, name: str | None = None) -> bytes:
    """Return the data that all hosts need: here the checked configuration itself.

    Raises:
        ValueError: bytes that aren't a configuration, one that cannot be run, or one without a
            mode.

    Source: op `ExecuteTPUEmbeddingPartitioner`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> ExecuteTPUEmbeddingPartitioner(config=tpu.example_config()) == tpu.example_config()
    True
    """
    shapes.partitioner(config=config)
    parse = tpu_module("engine.parse")
    parse.plan_of(config)
    return _read_bytes(parse.parse(config))


@op(shapes.from_parts(shapes.SCALAR))
def ConfigureTPUEmbeddingMemory(*, common_config: Tensor, name: str | None = None) -> bytes:
    """Return the data that one host needs for its rows: here the same for all.

    Source: op `ConfigureTPUEmbeddingMemory`, TensorFlow 2.21 (2026).

    >>> ConfigureTPUEmbeddingMemory(common_config=b"")
    b''
    """
    shapes.check_parts(common_config=np.shape(common_config))
    return _read_bytes(common_config)


@op(shapes.from_parts(shapes.SCALAR))
def CollateTPUEmbeddingMemory(*, memory_configs: Tensors, name: str | None = None) -> bytes:
    """Merge the data that the hosts need.

    Raises:
        InvalidArgumentError: none are given, or they are of several configurations.

    Source: op `CollateTPUEmbeddingMemory`, TensorFlow 2.21 (2026).

    >>> CollateTPUEmbeddingMemory(memory_configs=[b"", b""])
    b''
    """
    shapes.check_parts(memory_configs=shapes_of(memory_configs))
    _check_equal(*memory_configs)
    return _read_bytes(memory_configs[0])


@op(shapes.from_parts(shapes.SCALAR))
def ConfigureTPUEmbeddingHost(
    *, common_config: Tensor, memory_config: Tensor, config: Config, name: str | None = None
) -> bytes:
    """Return the data that the other hosts need to reach one host.

    Raises:
        InvalidArgumentError: the parts are of several configurations.

    Source: op `ConfigureTPUEmbeddingHost`, TensorFlow 2.21 (2026).

    >>> ConfigureTPUEmbeddingHost(common_config=b"", memory_config=b"", config=b"")
    b''
    """
    shapes.check_parts(
        common_config=np.shape(common_config), memory_config=np.shape(memory_config), config=config
    )
    _check_equal(common_config, memory_config, config)
    return _read_bytes(common_config)


@op(shapes.from_parts())
def ConnectTPUEmbeddingHosts(*, network_configs: Tensors, name: str | None = None) -> None:
    """Let the hosts know each other; there is one process, so nothing is left to do.

    Raises:
        InvalidArgumentError: none are given, or they are of several configurations.

    Source: op `ConnectTPUEmbeddingHosts`, TensorFlow 2.21 (2026).

    >>> ConnectTPUEmbeddingHosts(network_configs=[b""])
    """
    shapes.check_parts(network_configs=shapes_of(network_configs))
    _check_equal(*network_configs)


@op(shapes.from_parts())
def FinalizeTPUEmbedding(
    *, common_config: Tensor, memory_config: Tensor, name: str | None = None
) -> None:
    """Start the system; the last of the parts of `ConfigureTPUEmbedding`.

    Raises:
        FailedPreconditionError: one is running.
        InvalidArgumentError: the parts are of several configurations.

    Source: op `FinalizeTPUEmbedding`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> common = ExecuteTPUEmbeddingPartitioner(config=tpu.example_config())
    >>> memory = CollateTPUEmbeddingMemory(memory_configs=[ConfigureTPUEmbeddingMemory(common_config=common)])
    >>> FinalizeTPUEmbedding(common_config=common, memory_config=memory)
    >>> bool(IsTPUEmbeddingInitialized(config=tpu.example_config()))
    True
    >>> tpu.shutdown_system()
    """
    shapes.check_parts(common_config=np.shape(common_config), memory_config=np.shape(memory_config))
    _check_equal(common_config, memory_config)
    ConfigureTPUEmbedding(config=_read_bytes(common_config))


@op(shapes.from_parts(None, None))
def FinalizeTPUEmbeddingV2(
    *, common_config: Tensor, memory_config: Tensor, name: str | None = None
) -> tuple[bytes, bytes]:
    """`FinalizeTPUEmbedding`, and what the V2 operations take as `embedding_partitions` and `hbm_buffers_config`.

    Source: op `FinalizeTPUEmbeddingV2`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> common = ExecuteTPUEmbeddingPartitioner(config=tpu.example_config())
    >>> FinalizeTPUEmbeddingV2(common_config=common, memory_config=common) == (common, common)
    True
    >>> tpu.shutdown_system()
    """
    FinalizeTPUEmbedding(common_config=common_config, memory_config=memory_config)
    config = running_system().config.SerializeToString()
    return config, config


def _check_equal(*parts: Any) -> None:
    if len({_read_bytes(part) for part in parts}) > 1:
        raise InvalidArgumentError(
            "the parts are of several configurations; all must come from one"
        )


def _read_bytes(part: Any) -> bytes:
    if hasattr(part, "SerializeToString"):
        part = part.SerializeToString()
    content = part.encode() if isinstance(part, str) else np.asarray(part, object).item()
    # bytes(5) would be five zeros, so anything else is refused rather than converted.
    if not isinstance(content, bytes):
        raise DTypeError(f"a part of a configuration must be bytes, got {content!r}")
    return content

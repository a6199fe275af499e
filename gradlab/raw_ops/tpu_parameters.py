"""Ops that load and retrieve a table and its slots: a pair for each of 13 optimizers, and one for all tables.

Loading writes the rows of one host, retrieving copies them. Slots have the names of TensorFlow's
ops, in the order of the table's optimizer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidArgumentError
from . import tpu_shapes as shapes
from .tpu_op import Config, Tensor, Tensors, op, running_system, shapes_of, tpu_module


def _load(
    optimizer: str,
    arrays: Sequence[Tensor],
    num_shards: int,
    shard_id: int,
    table_id: int,
    table_name: str | bytes,
    config: Config,
) -> None:
    """Load the rows of one host into a table that this optimizer trains, and into its slots."""
    shapes.check_load(table_id, table_name, shapes_of(arrays))
    system, table = find_table(optimizer, table_id, table_name, config)
    system.load(table, arrays, num_shards, shard_id)


def _retrieve(
    optimizer: str,
    num_shards: int,
    shard_id: int,
    table_id: int,
    table_name: str | bytes,
    config: Config,
) -> list[np.ndarray]:
    """Return copies of one host's rows of a table that this optimizer trains, and of its slots."""
    system, table = find_table(optimizer, table_id, table_name, config)
    return list(system.retrieve(table, num_shards, shard_id))


def find_table(
    optimizer: str, table_id: int, table_name: str | bytes, config: Config
) -> tuple[Any, int]:
    """Return the running system and the number of the table; refuse a table of another optimizer."""
    config_shapes = tpu_module("engine.shapes")
    name = shapes.text(table_name)
    config_shapes.check_one_of(table_id, name)
    system = running_system(config)
    table = config_shapes.table_number(system.config, table_id, name)
    trained_by = system.config.table_descriptor[table].optimization_parameters.WhichOneof(
        "parameters"
    )
    if trained_by != optimizer:
        raise InvalidArgumentError(
            f"table {system.plan.tables[table].name!r} is trained by {trained_by}, not by "
            f"{optimizer}; every optimizer has its own operations, and the All "
            "operations are for every one"
        )
    return system, table


class AdagradArrays(NamedTuple):
    """The rows and slots of a table trained by Adagrad: float32, each (rows of the host, width)."""

    parameters: np.ndarray
    accumulators: np.ndarray


@op(shapes.load)
def LoadTPUEmbeddingAdagradParameters(
    *,
    parameters: Tensor,
    accumulators: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by Adagrad, and their slot accumulators.

    Args:
        parameters: float32, (rows that the host has, width).
        accumulators: the slot, of the same shape.
        num_shards: the number of hosts that share the rows.
        shard_id: the host whose rows are loaded.
        table_id: the table, by its number in the configuration; -1 where `table_name` is given.
        table_name: the table, by its name; "" where `table_id` is given.
        config: the configuration of the running system, or "" for whichever is running.
        name: ignored.

    Raises:
        InvalidArgumentError: both or none of table_id and table_name, an unknown table or shard,
            another shape, a table of another optimizer. Nothing changes then.

    Source: `tf.raw_ops.LoadTPUEmbeddingAdagradParameters`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("adagrad"))
    >>> rows = np.full((2, 1), 0.5)
    >>> LoadTPUEmbeddingAdagradParameters(
    ...     parameters=rows, accumulators=rows, num_shards=2, shard_id=1, table_name="t"
    ... )
    >>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)]
    [[0.5, 0.5], [0.5, 0.5]]
    >>> tpu.shutdown_system()
    """
    _load("adagrad", [parameters, accumulators], num_shards, shard_id, table_id, table_name, config)


@op(shapes.matrices(2))
def RetrieveTPUEmbeddingAdagradParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> AdagradArrays:
    """Return copies of the rows of a table trained by Adagrad, and of their slot.

    An update that is held back, as pipelining does, is made first.

    Args:
        num_shards: the number of hosts that share the rows.
        shard_id: the host whose rows are returned.
        table_id: the table, by its number in the configuration; -1 where `table_name` is given.
        table_name: the table, by its name; "" where `table_id` is given.
        config: the configuration of the running system, or "" for whichever is running.
        name: ignored.

    Raises:
        InvalidArgumentError: both or none of table_id and table_name, an unknown table or shard, a
            table of another optimizer.

    Source: `tf.raw_ops.RetrieveTPUEmbeddingAdagradParameters`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("adagrad"))
    >>> retrieved = RetrieveTPUEmbeddingAdagradParameters(num_shards=2, shard_id=1, table_id=0)
    >>> retrieved.accumulators.shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    arrays = _retrieve("adagrad", num_shards, shard_id, table_id, table_name, config)
    return AdagradArrays(*arrays)


class AdagradMomentumArrays(NamedTuple):
    """The rows and slots of a table trained by Adagrad with momentum: float32, each (rows of the host, width)."""

    parameters: np.ndarray
    accumulators: np.ndarray
    momenta: np.ndarray


@op(shapes.load)
def LoadTPUEmbeddingAdagradMomentumParameters(
    *,
    parameters: Tensor,
    accumulators: Tensor,
    momenta: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by Adagrad with momentum, and their slots accumulators and momenta.

    Args and raises: as in `LoadTPUEmbeddingAdagradParameters`, an array for each slot.

    Source: `tf.raw_ops.LoadTPUEmbeddingAdagradMomentumParameters`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("adagrad_momentum"))
    >>> rows = np.full((2, 1), 0.5)
    >>> LoadTPUEmbeddingAdagradMomentumParameters(
    ...     parameters=rows, accumulators=rows, momenta=rows, num_shards=2, shard_id=1, table_name="t"
    ... )
    >>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)]
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    >>> tpu.shutdown_system()
    """
    _load(
        "adagrad_momentum",
        [parameters, accumulators, momenta],
        num_shards,
        shard_id,
        table_id,
        table_name,
        config,
    )


@op(shapes.matrices(3))
def RetrieveTPUEmbeddingAdagradMomentumParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> AdagradMomentumArrays:
    """Return copies of the rows of a table trained by Adagrad with momentum, and of their slots.

    Args and raises: as in `RetrieveTPUEmbeddingAdagradParameters`.

    Source: `tf.raw_ops.RetrieveTPUEmbeddingAdagradMomentumParameters`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("adagrad_momentum"))
    >>> retrieved = RetrieveTPUEmbeddingAdagradMomentumParameters(num_shards=2, shard_id=1, table_id=0)
    >>> retrieved.momenta.shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    arrays = _retrieve("adagrad_momentum", num_shards, shard_id, table_id, table_name, config)
    return AdagradMomentumArrays(*arrays)


class ADAMArrays(NamedTuple):
    """The rows and slots of a table trained by Adam: float32, each (rows of the host, width)."""

    parameters: np.ndarray
    momenta: np.ndarray
    velocities: np.ndarray


@op(shapes.load)
def LoadTPUEmbeddingADAMParameters(
    *,
    parameters: Tensor,
    momenta: Tensor,
    velocities: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by Adam, and their slots momenta and velocities.

    Args and raises: as in `LoadTPUEmbeddingAdagradParameters`, an array for each slot.

    Source: `tf.raw_ops.LoadTPUEmbeddingADAMParameters`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("adam"))
    >>> rows = np.full((2, 1), 0.5)
    >>> LoadTPUEmbeddingADAMParameters(
    ...     parameters=rows, momenta=rows, velocities=rows, num_shards=2, shard_id=1, table_name="t"
    ... )
    >>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)]
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    >>> tpu.shutdown_system()
    """
    _load(
        "adam",
        [parameters, momenta, velocities],
        num_shards,
        shard_id,
        table_id,
        table_name,
        config,
    )


@op(shapes.matrices(3))
def RetrieveTPUEmbeddingADAMParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> ADAMArrays:
    """Return copies of the rows of a table trained by Adam, and of their slots.

    Args and raises: as in `RetrieveTPUEmbeddingAdagradParameters`.

    Source: `tf.raw_ops.RetrieveTPUEmbeddingADAMParameters`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("adam"))
    >>> retrieved = RetrieveTPUEmbeddingADAMParameters(num_shards=2, shard_id=1, table_id=0)
    >>> retrieved.velocities.shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    arrays = _retrieve("adam", num_shards, shard_id, table_id, table_name, config)
    return ADAMArrays(*arrays)


class AdadeltaArrays(NamedTuple):
    """The rows and slots of a table trained by Adadelta: float32, each (rows of the host, width)."""

    parameters: np.ndarray
    accumulators: np.ndarray
    updates: np.ndarray


@op(shapes.load)
def LoadTPUEmbeddingAdadeltaParameters(
    *,
    parameters: Tensor,
    accumulators: Tensor,
    updates: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by Adadelta, and their slots accumulators and updates.

    Args and raises: as in `LoadTPUEmbeddingAdagradParameters`, an array for each slot.

    Source: `tf.raw_ops.LoadTPUEmbeddingAdadeltaParameters`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("adadelta"))
    >>> rows = np.full((2, 1), 0.5)
    >>> LoadTPUEmbeddingAdadeltaParameters(
    ...     parameters=rows, accumulators=rows, updates=rows, num_shards=2, shard_id=1, table_name="t"
    ... )
    >>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)]
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    >>> tpu.shutdown_system()
    """
    _load(
        "adadelta",
        [parameters, accumulators, updates],
        num_shards,
        shard_id,
        table_id,
        table_name,
        config,
    )


@op(shapes.matrices(3))
def RetrieveTPUEmbeddingAdadeltaParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> AdadeltaArrays:
    """Return copies of the rows of a table trained by Adadelta, and of their slots.

    Args and raises: as in `RetrieveTPUEmbeddingAdagradParameters`.

    Source: `tf.raw_ops.RetrieveTPUEmbeddingAdadeltaParameters`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("adadelta"))
    >>> retrieved = RetrieveTPUEmbeddingAdadeltaParameters(num_shards=2, shard_id=1, table_id=0)
    >>> retrieved.updates.shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    arrays = _retrieve("adadelta", num_shards, shard_id, table_id, table_name, config)
    return AdadeltaArrays(*arrays)


class CenteredRMSPropArrays(NamedTuple):
    """The rows and slots of a table trained by centered RMSProp: float32, each (rows of the host, width)."""

    parameters: np.ndarray
    ms: np.ndarray
    mom: np.ndarray
    mg: np.ndarray


@op(shapes.load)
def LoadTPUEmbeddingCenteredRMSPropParameters(
    *,
    parameters: Tensor,
    ms: Tensor,
    mom: Tensor,
    mg: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by centered RMSProp, and their slots ms, mom and mg.

    Args and raises: as in `LoadTPUEmbeddingAdagradParameters`, an array for each slot.

    Source: `tf.raw_ops.LoadTPUEmbeddingCenteredRMSPropParameters`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("centered_rms_prop"))
    >>> rows = np.full((2, 1), 0.5)
    >>> LoadTPUEmbeddingCenteredRMSPropParameters(
    ...     parameters=rows, ms=rows, mom=rows, mg=rows, num_shards=2, shard_id=1, table_name="t"
    ... )
    >>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)]
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    >>> tpu.shutdown_system()
    """
    _load(
        "centered_rms_prop",
        [parameters, ms, mom, mg],
        num_shards,
        shard_id,
        table_id,
        table_name,
        config,
    )


@op(shapes.matrices(4))
def RetrieveTPUEmbeddingCenteredRMSPropParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> CenteredRMSPropArrays:
    """Return copies of the rows of a table trained by centered RMSProp, and of their slots.

    Args and raises: as in `RetrieveTPUEmbeddingAdagradParameters`.

    Source: `tf.raw_ops.RetrieveTPUEmbeddingCenteredRMSPropParameters`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("centered_rms_prop"))
    >>> retrieved = RetrieveTPUEmbeddingCenteredRMSPropParameters(num_shards=2, shard_id=1, table_id=0)
    >>> retrieved.mg.shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    arrays = _retrieve("centered_rms_prop", num_shards, shard_id, table_id, table_name, config)
    return CenteredRMSPropArrays(*arrays)


class FTRLArrays(NamedTuple):
    """The rows and slots of a table trained by FTRL: float32, each (rows of the host, width)."""

    parameters: np.ndarray
    accumulators: np.ndarray
    linears: np.ndarray


@op(shapes.load)
def LoadTPUEmbeddingFTRLParameters(
    *,
    parameters: Tensor,
    accumulators: Tensor,
    linears: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by FTRL, and their slots accumulators and linears.

    Args and raises: as in `LoadTPUEmbeddingAdagradParameters`, an array for each slot.

    Source: `tf.raw_ops.LoadTPUEmbeddingFTRLParameters`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("ftrl"))
    >>> rows = np.full((2, 1), 0.5)
    >>> LoadTPUEmbeddingFTRLParameters(
    ...     parameters=rows, accumulators=rows, linears=rows, num_shards=2, shard_id=1, table_name="t"
    ... )
    >>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)]
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    >>> tpu.shutdown_system()
    """
    _load(
        "ftrl",
        [parameters, accumulators, linears],
        num_shards,
        shard_id,
        table_id,
        table_name,
        config,
    )


@op(shapes.matrices(3))
def RetrieveTPUEmbeddingFTRLParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> FTRLArrays:
    """Return copies of the rows of a table trained by FTRL, and of their slots.

    Args and raises: as in `RetrieveTPUEmbeddingAdagradParameters`.

    Source: `tf.raw_ops.RetrieveTPUEmbeddingFTRLParameters`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("ftrl"))
    >>> retrieved = RetrieveTPUEmbeddingFTRLParameters(num_shards=2, shard_id=1, table_id=0)
    >>> retrieved.linears.shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    arrays = _retrieve("ftrl", num_shards, shard_id, table_id, table_name, config)
    return FTRLArrays(*arrays)


class FrequencyEstimatorArrays(NamedTuple):
    """The rows and slots of a table trained by the frequency estimator: float32, each (rows of the host, width)."""

    parameters: np.ndarray
    last_hit_step: np.ndarray


@op(shapes.load)
def LoadTPUEmbeddingFrequencyEstimatorParameters(
    *,
    parameters: Tensor,
    last_hit_step: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by the frequency estimator, and their slot last_hit_step.

    Args and raises: as in `LoadTPUEmbeddingAdagradParameters`.

    Source: `tf.raw_ops.LoadTPUEmbeddingFrequencyEstimatorParameters`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("frequency_estimator"))
    >>> rows = np.full((2, 1), 0.5)
    >>> LoadTPUEmbeddingFrequencyEstimatorParameters(
    ...     parameters=rows, last_hit_step=rows, num_shards=2, shard_id=1, table_name="t"
    ... )
    >>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)]
    [[0.5, 0.5], [0.5, 0.5]]
    >>> tpu.shutdown_system()
    """
    _load(
        "frequency_estimator",
        [parameters, last_hit_step],
        num_shards,
        shard_id,
        table_id,
        table_name,
        config,
    )


@op(shapes.matrices(2))
def RetrieveTPUEmbeddingFrequencyEstimatorParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> FrequencyEstimatorArrays:
    """Return copies of the rows of a table trained by the frequency estimator, and of their slot.

    Args and raises: as in `RetrieveTPUEmbeddingAdagradParameters`.

    Source: `tf.raw_ops.RetrieveTPUEmbeddingFrequencyEstimatorParameters`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("frequency_estimator"))
    >>> retrieved = RetrieveTPUEmbeddingFrequencyEstimatorParameters(num_shards=2, shard_id=1, table_id=0)
    >>> retrieved.last_hit_step.shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    arrays = _retrieve("frequency_estimator", num_shards, shard_id, table_id, table_name, config)
    return FrequencyEstimatorArrays(*arrays)


class MDLAdagradLightArrays(NamedTuple):
    """The rows and slots of a table trained by MDL Adagrad Light: float32, each (rows of the host, width)."""

    parameters: np.ndarray
    accumulators: np.ndarray
    weights: np.ndarray
    benefits: np.ndarray


@op(shapes.load)
def LoadTPUEmbeddingMDLAdagradLightParameters(
    *,
    parameters: Tensor,
    accumulators: Tensor,
    weights: Tensor,
    benefits: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by MDL Adagrad Light, and their slots accumulators, weights and benefits.

    Args and raises: as in `LoadTPUEmbeddingAdagradParameters`, an array for each slot.

    Source: `tf.raw_ops.LoadTPUEmbeddingMDLAdagradLightParameters`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("mdl_adagrad_light"))
    >>> rows = np.full((2, 1), 0.5)
    >>> LoadTPUEmbeddingMDLAdagradLightParameters(
    ...     parameters=rows, accumulators=rows, weights=rows, benefits=rows, num_shards=2, shard_id=1, table_name="t"
    ... )
    >>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)]
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    >>> tpu.shutdown_system()
    """
    _load(
        "mdl_adagrad_light",
        [parameters, accumulators, weights, benefits],
        num_shards,
        shard_id,
        table_id,
        table_name,
        config,
    )


@op(shapes.matrices(4))
def RetrieveTPUEmbeddingMDLAdagradLightParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> MDLAdagradLightArrays:
    """Return copies of the rows of a table trained by MDL Adagrad Light, and of their slots.

    Args and raises: as in `RetrieveTPUEmbeddingAdagradParameters`.

    Source: `tf.raw_ops.RetrieveTPUEmbeddingMDLAdagradLightParameters`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("mdl_adagrad_light"))
    >>> retrieved = RetrieveTPUEmbeddingMDLAdagradLightParameters(num_shards=2, shard_id=1, table_id=0)
    >>> retrieved.benefits.shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    arrays = _retrieve("mdl_adagrad_light", num_shards, shard_id, table_id, table_name, config)
    return MDLAdagradLightArrays(*arrays)


class MomentumArrays(NamedTuple):
    """The rows and slots of a table trained by momentum: float32, each (rows of the host, width)."""

    parameters: np.ndarray
    momenta: np.ndarray


@op(shapes.load)
def LoadTPUEmbeddingMomentumParameters(
    *,
    parameters: Tensor,
    momenta: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by momentum, and their slot momenta.

    Args and raises: as in `LoadTPUEmbeddingAdagradParameters`.

    Source: `tf.raw_ops.LoadTPUEmbeddingMomentumParameters`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("momentum"))
    >>> rows = np.full((2, 1), 0.5)
    >>> LoadTPUEmbeddingMomentumParameters(
    ...     parameters=rows, momenta=rows, num_shards=2, shard_id=1, table_name="t"
    ... )
    >>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)]
    [[0.5, 0.5], [0.5, 0.5]]
    >>> tpu.shutdown_system()
    """
    _load("momentum", [parameters, momenta], num_shards, shard_id, table_id, table_name, config)


@op(shapes.matrices(2))
def RetrieveTPUEmbeddingMomentumParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> MomentumArrays:
    """Return copies of the rows of a table trained by momentum, and of their slot.

    Args and raises: as in `RetrieveTPUEmbeddingAdagradParameters`.

    Source: `tf.raw_ops.RetrieveTPUEmbeddingMomentumParameters`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("momentum"))
    >>> retrieved = RetrieveTPUEmbeddingMomentumParameters(num_shards=2, shard_id=1, table_id=0)
    >>> retrieved.momenta.shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    arrays = _retrieve("momentum", num_shards, shard_id, table_id, table_name, config)
    return MomentumArrays(*arrays)


class ProximalAdagradArrays(NamedTuple):
    """The rows and slots of a table trained by proximal Adagrad: float32, each (rows of the host, width)."""

    parameters: np.ndarray
    accumulators: np.ndarray


@op(shapes.load)
def LoadTPUEmbeddingProximalAdagradParameters(
    *,
    parameters: Tensor,
    accumulators: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by proximal Adagrad, and their slot accumulators.

    Args and raises: as in `LoadTPUEmbeddingAdagradParameters`.

    Source: `tf.raw_ops.LoadTPUEmbeddingProximalAdagradParameters`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("proximal_adagrad"))
    >>> rows = np.full((2, 1), 0.5)
    >>> LoadTPUEmbeddingProximalAdagradParameters(
    ...     parameters=rows, accumulators=rows, num_shards=2, shard_id=1, table_name="t"
    ... )
    >>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)]
    [[0.5, 0.5], [0.5, 0.5]]
    >>> tpu.shutdown_system()
    """
    _load(
        "proximal_adagrad",
        [parameters, accumulators],
        num_shards,
        shard_id,
        table_id,
        table_name,
        config,
    )


@op(shapes.matrices(2))
def RetrieveTPUEmbeddingProximalAdagradParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> ProximalAdagradArrays:
    """Return copies of the rows of a table trained by proximal Adagrad, and of their slot.

    Args and raises: as in `RetrieveTPUEmbeddingAdagradParameters`.

    Source: `tf.raw_ops.RetrieveTPUEmbeddingProximalAdagradParameters`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("proximal_adagrad"))
    >>> retrieved = RetrieveTPUEmbeddingProximalAdagradParameters(num_shards=2, shard_id=1, table_id=0)
    >>> retrieved.accumulators.shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    arrays = _retrieve("proximal_adagrad", num_shards, shard_id, table_id, table_name, config)
    return ProximalAdagradArrays(*arrays)


class ProximalYogiArrays(NamedTuple):
    """The rows and slots of a table trained by proximal Yogi: float32, each (rows of the host, width)."""

    parameters: np.ndarray
    v: np.ndarray
    m: np.ndarray


@op(shapes.load)
def LoadTPUEmbeddingProximalYogiParameters(
    *,
    parameters: Tensor,
    v: Tensor,
    m: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by proximal Yogi, and their slots v and m.

    Args and raises: as in `LoadTPUEmbeddingAdagradParameters`, an array for each slot.

    Source: `tf.raw_ops.LoadTPUEmbeddingProximalYogiParameters`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("proximal_yogi"))
    >>> rows = np.full((2, 1), 0.5)
    >>> LoadTPUEmbeddingProximalYogiParameters(
    ...     parameters=rows, v=rows, m=rows, num_shards=2, shard_id=1, table_name="t"
    ... )
    >>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)]
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    >>> tpu.shutdown_system()
    """
    _load("proximal_yogi", [parameters, v, m], num_shards, shard_id, table_id, table_name, config)


@op(shapes.matrices(3))
def RetrieveTPUEmbeddingProximalYogiParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> ProximalYogiArrays:
    """Return copies of the rows of a table trained by proximal Yogi, and of their slots.

    Args and raises: as in `RetrieveTPUEmbeddingAdagradParameters`.

    Source: `tf.raw_ops.RetrieveTPUEmbeddingProximalYogiParameters`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("proximal_yogi"))
    >>> retrieved = RetrieveTPUEmbeddingProximalYogiParameters(num_shards=2, shard_id=1, table_id=0)
    >>> retrieved.m.shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    arrays = _retrieve("proximal_yogi", num_shards, shard_id, table_id, table_name, config)
    return ProximalYogiArrays(*arrays)


class RMSPropArrays(NamedTuple):
    """The rows and slots of a table trained by RMSProp: float32, each (rows of the host, width)."""

    parameters: np.ndarray
    ms: np.ndarray
    mom: np.ndarray


@op(shapes.load)
def LoadTPUEmbeddingRMSPropParameters(
    *,
    parameters: Tensor,
    ms: Tensor,
    mom: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by RMSProp, and their slots ms and mom.

    Args and raises: as in `LoadTPUEmbeddingAdagradParameters`, an array for each slot.

    Source: `tf.raw_ops.LoadTPUEmbeddingRMSPropParameters`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("rms_prop"))
    >>> rows = np.full((2, 1), 0.5)
    >>> LoadTPUEmbeddingRMSPropParameters(
    ...     parameters=rows, ms=rows, mom=rows, num_shards=2, shard_id=1, table_name="t"
    ... )
    >>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)]
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    >>> tpu.shutdown_system()
    """
    _load("rms_prop", [parameters, ms, mom], num_shards, shard_id, table_id, table_name, config)


@op(shapes.matrices(3))
def RetrieveTPUEmbeddingRMSPropParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> RMSPropArrays:
    """Return copies of the rows of a table trained by RMSProp, and of their slots.

    Args and raises: as in `RetrieveTPUEmbeddingAdagradParameters`.

    Source: `tf.raw_ops.RetrieveTPUEmbeddingRMSPropParameters`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("rms_prop"))
    >>> retrieved = RetrieveTPUEmbeddingRMSPropParameters(num_shards=2, shard_id=1, table_id=0)
    >>> retrieved.mom.shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    arrays = _retrieve("rms_prop", num_shards, shard_id, table_id, table_name, config)
    return RMSPropArrays(*arrays)


@op(shapes.load)
def LoadTPUEmbeddingStochasticGradientDescentParameters(
    *,
    parameters: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by gradient descent, which has no slots.

    Args and raises: as in `LoadTPUEmbeddingAdagradParameters`.

    Source: `tf.raw_ops.LoadTPUEmbeddingStochasticGradientDescentParameters`, TensorFlow 2.21
    (2026).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("stochastic_gradient_descent"))
    >>> rows = np.full((2, 1), 0.5)
    >>> LoadTPUEmbeddingStochasticGradientDescentParameters(
    ...     parameters=rows, num_shards=2, shard_id=1, table_name="t"
    ... )
    >>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)]
    [[0.5, 0.5]]
    >>> tpu.shutdown_system()
    """
    _load(
        "stochastic_gradient_descent",
        [parameters],
        num_shards,
        shard_id,
        table_id,
        table_name,
        config,
    )


@op(shapes.matrices(1))
def RetrieveTPUEmbeddingStochasticGradientDescentParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> np.ndarray:
    """Return copies of the rows of a table trained by gradient descent, which has no slots.

    Args and raises: as in `RetrieveTPUEmbeddingAdagradParameters`.

    Source: `tf.raw_ops.RetrieveTPUEmbeddingStochasticGradientDescentParameters`, TensorFlow 2.21
    (2026).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("stochastic_gradient_descent"))
    >>> retrieved = RetrieveTPUEmbeddingStochasticGradientDescentParameters(num_shards=2, shard_id=1, table_id=0)
    >>> retrieved.shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    arrays = _retrieve(
        "stochastic_gradient_descent", num_shards, shard_id, table_id, table_name, config
    )
    return arrays[0]


@op(shapes.load_all)
def LoadAllTPUEmbeddingParameters(
    *,
    parameters: Tensors,
    auxiliary1: Tensors,
    auxiliary2: Tensors,
    auxiliary3: Tensors,
    auxiliary4: Tensors,
    auxiliary5: Tensors,
    auxiliary6: Tensors,
    auxiliary7: Tensors,
    config: Config,
    num_shards: int,
    shard_id: int,
    name: str | None = None,
) -> None:
    """Load rows of all tables and their slots: each list has an array for each table.

    Args:
        parameters: the rows of each table.
        auxiliary1: the first slot of each table; further slots follow, to `auxiliary7`. The last
            slot of a table is the hidden sum of gradients where gradients are accumulated. Arrays
            without entries stand for what a table lacks.
        num_shards: the number of hosts that share the rows.
        shard_id: the host whose rows are loaded.

    Raises:
        InvalidArgumentError: a shape that is not the configuration's, a shard that is not there, a
            hidden sum that is not empty. Nothing changes then.
        InternalError: another number of tables. Nothing changes then.

    Source: op `LoadAllTPUEmbeddingParameters`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config())
    >>> all_of_them = RetrieveAllTPUEmbeddingParameters(
    ...     NumTables=1, config=tpu.example_config(), num_shards=1, shard_id=0
    ... )
    >>> LoadAllTPUEmbeddingParameters(**all_of_them._asdict(), config=tpu.example_config(), num_shards=1, shard_id=0)
    >>> tpu.shutdown_system()
    """
    lists = {
        "parameters": parameters,
        "auxiliary1": auxiliary1,
        "auxiliary2": auxiliary2,
        "auxiliary3": auxiliary3,
        "auxiliary4": auxiliary4,
        "auxiliary5": auxiliary5,
        "auxiliary6": auxiliary6,
        "auxiliary7": auxiliary7,
    }
    shapes.load_all(
        config=config,
        num_shards=num_shards,
        shard_id=shard_id,
        **{name: shapes_of(arrays) for name, arrays in lists.items()},
    )
    system = running_system(config)
    tables = {}
    for k, (table, *slots) in enumerate(zip(*lists.values(), strict=True)):
        # Arrays without entries stand for slots that the table lacks.
        tables[k] = [table, *(slot for slot in slots if np.size(slot))]
    system.load_all(tables, num_shards, shard_id)


class AllParameters(NamedTuple):
    """The result of `RetrieveAllTPUEmbeddingParameters`: each list has an array for each table.

    Source: that op.

    >>> AllParameters._fields[:2]
    ('parameters', 'auxiliary1')
    """

    parameters: list[np.ndarray]
    auxiliary1: list[np.ndarray]
    auxiliary2: list[np.ndarray]
    auxiliary3: list[np.ndarray]
    auxiliary4: list[np.ndarray]
    auxiliary5: list[np.ndarray]
    auxiliary6: list[np.ndarray]
    auxiliary7: list[np.ndarray]


@op(shapes.retrieve_all)
def RetrieveAllTPUEmbeddingParameters(
    *, NumTables: int, config: Config, num_shards: int, shard_id: int, name: str | None = None
) -> AllParameters:
    """Return copies of the rows of all tables and their slots; arrays of shape (0, 0) stand for what a table lacks.

    The last slot is the hidden sum of gradients where they are accumulated; between steps it is the
    float32 whose bits are 1, which adds nothing and is not 0.

    Raises:
        InvalidArgumentError: a shard that is not there or would be empty.
        InternalError: another number of tables.

    Source: op `RetrieveAllTPUEmbeddingParameters`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("adagrad"))
    >>> found = RetrieveAllTPUEmbeddingParameters(
    ...     NumTables=1, config=tpu.example_config("adagrad"), num_shards=1, shard_id=0
    ... )
    >>> [x[0].shape for x in found[:4]], found.auxiliary2[0].view(np.uint32).ravel().tolist()
    ([(4, 1), (4, 1), (4, 1), (0, 0)], [1, 1, 1, 1])
    >>> tpu.shutdown_system()
    """
    shapes.retrieve_all(
        NumTables=NumTables, config=config, num_shards=num_shards, shard_id=shard_id
    )
    tables = running_system(config).retrieve_all(num_shards, shard_id)
    nothing = np.zeros((0, 0), np.float32)
    columns = range(len(AllParameters._fields))
    lists = [[table[k] if k < len(table) else nothing for table in tables] for k in columns]
    return AllParameters(*lists)

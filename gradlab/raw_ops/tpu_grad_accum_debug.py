"""Ops that load and retrieve a table with its hidden sum of gradients, for each of 10 optimizers.

With gradient accumulation a table has one slot more, in which the gradients of a row are summed
until its optimizer runs. These ops have that sum as their last array. Between two steps it is
empty: retrieving gives the float32 whose bits are 1, which adds nothing, and loading takes any
entries that are 0 or too small to count.

TensorFlow 1.15 has seven of the pairs, 2.4 nine and 2.5 all of them. Since 2.7 only
`LoadAllTPUEmbeddingParameters` and `RetrieveAllTPUEmbeddingParameters` have the sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidArgumentError
from . import tpu_shapes as shapes
from .tpu_op import Config, Tensor, op, shapes_of, tpu_module
from .tpu_parameters import find_table


def _load(
    optimizer: str,
    arrays: Sequence[Tensor],
    num_shards: int,
    shard_id: int,
    table_id: int,
    table_name: str | bytes,
    config: Config,
) -> None:
    """Load the rows of one host into a table, its slots, and its hidden sum of gradients."""
    shapes.check_load(table_id, table_name, shapes_of(arrays))
    system, table = find_table(optimizer, table_id, table_name, config)
    _check_accumulates(system.plan.tables[table])
    system.load(table, arrays, num_shards, shard_id)


def _retrieve(
    optimizer: str,
    num_shards: int,
    shard_id: int,
    table_id: int,
    table_name: str | bytes,
    config: Config,
) -> list[np.ndarray]:
    """Return copies of one host's rows of a table, of its slots, and of its hidden sum."""
    system, table = find_table(optimizer, table_id, table_name, config)
    _check_accumulates(system.plan.tables[table])
    arrays = list(system.retrieve(table, num_shards, shard_id))
    empty = tpu_module("engine.system_tables").empty_accumulator(arrays[0].shape)
    return [*arrays, empty]


def _check_accumulates(table: Any) -> None:
    """Refuse a table that has no hidden sum of gradients."""
    if not table.accumulate:
        raise InvalidArgumentError(
            f"table {table.name!r} is trained without gradient accumulation, so it has no "
            "gradient_accumulators; use the operations without GradAccumDebug"
        )


class AdadeltaDebugArrays(NamedTuple):
    """Rows, slots and hidden sum of a table trained by Adadelta, each (rows, width)."""

    parameters: np.ndarray
    accumulators: np.ndarray
    updates: np.ndarray
    gradient_accumulators: np.ndarray


@op(shapes.load)
def LoadTPUEmbeddingAdadeltaParametersGradAccumDebug(
    *,
    parameters: Tensor,
    accumulators: Tensor,
    updates: Tensor,
    gradient_accumulators: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by Adadelta, their slots and hidden sum of gradients.

    Args:
        parameters: float32, (rows that the host has, width).
        accumulators: the first slot, of the same shape.
        updates: the second slot.
        gradient_accumulators: the hidden sum of gradients, which must be empty.
        num_shards: the number of hosts that share the rows.
        shard_id: the host whose rows are loaded.
        table_id: the table, by its number in the configuration; -1 where `table_name` is given.
        table_name: the table, by its name; "" where `table_id` is given.
        config: the configuration of the running system, or "" for whichever is running.
        name: ignored.

    Raises:
        InvalidArgumentError: what `LoadTPUEmbeddingAdadeltaParameters` raises, a table without
            gradient accumulation, or a sum that isn't empty. Nothing changes then.

    Source: `tf.raw_ops.LoadTPUEmbeddingAdadeltaParametersGradAccumDebug`,
    TensorFlow 1.15 (2019).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("adadelta"))
    >>> rows = np.full((2, 1), 0.5)
    >>> LoadTPUEmbeddingAdadeltaParametersGradAccumDebug(
    ...     parameters=rows, accumulators=rows, updates=rows, gradient_accumulators=0 * rows,
    ...     num_shards=2, shard_id=1, table_name="t"
    ... )
    >>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)]
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    >>> tpu.shutdown_system()
    """
    _load(
        "adadelta",
        [parameters, accumulators, updates, gradient_accumulators],
        num_shards,
        shard_id,
        table_id,
        table_name,
        config,
    )


@op(shapes.matrices(4))
def RetrieveTPUEmbeddingAdadeltaParametersGradAccumDebug(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> AdadeltaDebugArrays:
    """Return copies of rows of a table trained by Adadelta, their slots and hidden sum.

    Args:
        num_shards: the number of hosts that share the rows.
        shard_id: the host whose rows are returned.
        table_id: the table, by its number in the configuration; -1 where `table_name` is given.
        table_name: the table, by its name; "" where `table_id` is given.
        config: the configuration of the running system, or "" for whichever is running.
        name: ignored.

    Raises:
        InvalidArgumentError: what `RetrieveTPUEmbeddingAdadeltaParameters` raises, or a table
            without gradient accumulation.

    Source: `tf.raw_ops.RetrieveTPUEmbeddingAdadeltaParametersGradAccumDebug`,
    TensorFlow 1.15 (2019).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("adadelta"))
    >>> retrieved = RetrieveTPUEmbeddingAdadeltaParametersGradAccumDebug(
    ...     num_shards=2, shard_id=1, table_id=0
    ... )
    >>> retrieved.gradient_accumulators.shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    arrays = _retrieve("adadelta", num_shards, shard_id, table_id, table_name, config)
    return AdadeltaDebugArrays(*arrays)


class AdagradDebugArrays(NamedTuple):
    """Rows, slots and hidden sum of a table trained by Adagrad, each (rows, width)."""

    parameters: np.ndarray
    accumulators: np.ndarray
    gradient_accumulators: np.ndarray


@op(shapes.load)
def LoadTPUEmbeddingAdagradParametersGradAccumDebug(
    *,
    parameters: Tensor,
    accumulators: Tensor,
    gradient_accumulators: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by Adagrad, their slots and hidden sum of gradients.

    Args and raises: as in `LoadTPUEmbeddingAdadeltaParametersGradAccumDebug`, an array for
    each slot.

    Source: `tf.raw_ops.LoadTPUEmbeddingAdagradParametersGradAccumDebug`,
    TensorFlow 1.15 (2019).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("adagrad"))
    >>> rows = np.full((2, 1), 0.5)
    >>> LoadTPUEmbeddingAdagradParametersGradAccumDebug(
    ...     parameters=rows, accumulators=rows, gradient_accumulators=0 * rows,
    ...     num_shards=2, shard_id=1, table_name="t"
    ... )
    >>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)]
    [[0.5, 0.5], [0.5, 0.5]]
    >>> tpu.shutdown_system()
    """
    _load(
        "adagrad",
        [parameters, accumulators, gradient_accumulators],
        num_shards,
        shard_id,
        table_id,
        table_name,
        config,
    )


@op(shapes.matrices(3))
def RetrieveTPUEmbeddingAdagradParametersGradAccumDebug(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> AdagradDebugArrays:
    """Return copies of rows of a table trained by Adagrad, their slots and hidden sum.

    Args and raises: as in `RetrieveTPUEmbeddingAdadeltaParametersGradAccumDebug`.

    Source: `tf.raw_ops.RetrieveTPUEmbeddingAdagradParametersGradAccumDebug`,
    TensorFlow 1.15 (2019).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("adagrad"))
    >>> retrieved = RetrieveTPUEmbeddingAdagradParametersGradAccumDebug(
    ...     num_shards=2, shard_id=1, table_id=0
    ... )
    >>> retrieved.gradient_accumulators.shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    arrays = _retrieve("adagrad", num_shards, shard_id, table_id, table_name, config)
    return AdagradDebugArrays(*arrays)


class ADAMDebugArrays(NamedTuple):
    """Rows, slots and hidden sum of a table trained by Adam, each (rows, width)."""

    parameters: np.ndarray
    momenta: np.ndarray
    velocities: np.ndarray
    gradient_accumulators: np.ndarray


@op(shapes.load)
def LoadTPUEmbeddingADAMParametersGradAccumDebug(
    *,
    parameters: Tensor,
    momenta: Tensor,
    velocities: Tensor,
    gradient_accumulators: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by Adam, their slots and hidden sum of gradients.

    Args and raises: as in `LoadTPUEmbeddingAdadeltaParametersGradAccumDebug`, an array for
    each slot.

    Source: `tf.raw_ops.LoadTPUEmbeddingADAMParametersGradAccumDebug`,
    TensorFlow 1.15 (2019).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("adam"))
    >>> rows = np.full((2, 1), 0.5)
    >>> LoadTPUEmbeddingADAMParametersGradAccumDebug(
    ...     parameters=rows, momenta=rows, velocities=rows, gradient_accumulators=0 * rows,
    ...     num_shards=2, shard_id=1, table_name="t"
    ... )
    >>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)]
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    >>> tpu.shutdown_system()
    """
    _load(
        "adam",
        [parameters, momenta, velocities, gradient_accumulators],
        num_shards,
        shard_id,
        table_id,
        table_name,
        config,
    )


@op(shapes.matrices(4))
def RetrieveTPUEmbeddingADAMParametersGradAccumDebug(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> ADAMDebugArrays:
    """Return copies of rows of a table trained by Adam, their slots and hidden sum.

    Args and raises: as in `RetrieveTPUEmbeddingAdadeltaParametersGradAccumDebug`.

    Source: `tf.raw_ops.RetrieveTPUEmbeddingADAMParametersGradAccumDebug`,
    TensorFlow 1.15 (2019).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("adam"))
    >>> retrieved = RetrieveTPUEmbeddingADAMParametersGradAccumDebug(
    ...     num_shards=2, shard_id=1, table_id=0
    ... )
    >>> retrieved.gradient_accumulators.shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    arrays = _retrieve("adam", num_shards, shard_id, table_id, table_name, config)
    return ADAMDebugArrays(*arrays)


class FTRLDebugArrays(NamedTuple):
    """Rows, slots and hidden sum of a table trained by FTRL, each (rows, width)."""

    parameters: np.ndarray
    accumulators: np.ndarray
    linears: np.ndarray
    gradient_accumulators: np.ndarray


@op(shapes.load)
def LoadTPUEmbeddingFTRLParametersGradAccumDebug(
    *,
    parameters: Tensor,
    accumulators: Tensor,
    linears: Tensor,
    gradient_accumulators: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by FTRL, their slots and hidden sum of gradients.

    Args and raises: as in `LoadTPUEmbeddingAdadeltaParametersGradAccumDebug`, an array for
    each slot.

    Source: `tf.raw_ops.LoadTPUEmbeddingFTRLParametersGradAccumDebug`,
    TensorFlow 1.15 (2019).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("ftrl"))
    >>> rows = np.full((2, 1), 0.5)
    >>> LoadTPUEmbeddingFTRLParametersGradAccumDebug(
    ...     parameters=rows, accumulators=rows, linears=rows, gradient_accumulators=0 * rows,
    ...     num_shards=2, shard_id=1, table_name="t"
    ... )
    >>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)]
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    >>> tpu.shutdown_system()
    """
    _load(
        "ftrl",
        [parameters, accumulators, linears, gradient_accumulators],
        num_shards,
        shard_id,
        table_id,
        table_name,
        config,
    )


@op(shapes.matrices(4))
def RetrieveTPUEmbeddingFTRLParametersGradAccumDebug(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> FTRLDebugArrays:
    """Return copies of rows of a table trained by FTRL, their slots and hidden sum.

    Args and raises: as in `RetrieveTPUEmbeddingAdadeltaParametersGradAccumDebug`.

    Source: `tf.raw_ops.RetrieveTPUEmbeddingFTRLParametersGradAccumDebug`,
    TensorFlow 1.15 (2019).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("ftrl"))
    >>> retrieved = RetrieveTPUEmbeddingFTRLParametersGradAccumDebug(
    ...     num_shards=2, shard_id=1, table_id=0
    ... )
    >>> retrieved.gradient_accumulators.shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    arrays = _retrieve("ftrl", num_shards, shard_id, table_id, table_name, config)
    return FTRLDebugArrays(*arrays)


class FrequencyEstimatorDebugArrays(NamedTuple):
    """Rows, slots and hidden sum of a table trained by a frequency estimator, each (rows, width)."""

    parameters: np.ndarray
    last_hit_step: np.ndarray
    gradient_accumulators: np.ndarray


@op(shapes.load)
def LoadTPUEmbeddingFrequencyEstimatorParametersGradAccumDebug(
    *,
    parameters: Tensor,
    last_hit_step: Tensor,
    gradient_accumulators: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by a frequency estimator, their slots and hidden sum of gradients.

    Args and raises: as in `LoadTPUEmbeddingAdadeltaParametersGradAccumDebug`, an array for
    each slot.

    Source: `tf.raw_ops.LoadTPUEmbeddingFrequencyEstimatorParametersGradAccumDebug`,
    TensorFlow 2.5 (2021).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("frequency_estimator"))
    >>> rows = np.full((2, 1), 0.5)
    >>> LoadTPUEmbeddingFrequencyEstimatorParametersGradAccumDebug(
    ...     parameters=rows, last_hit_step=rows, gradient_accumulators=0 * rows,
    ...     num_shards=2, shard_id=1, table_name="t"
    ... )
    >>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)]
    [[0.5, 0.5], [0.5, 0.5]]
    >>> tpu.shutdown_system()
    """
    _load(
        "frequency_estimator",
        [parameters, last_hit_step, gradient_accumulators],
        num_shards,
        shard_id,
        table_id,
        table_name,
        config,
    )


@op(shapes.matrices(3))
def RetrieveTPUEmbeddingFrequencyEstimatorParametersGradAccumDebug(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> FrequencyEstimatorDebugArrays:
    """Return copies of rows of a table trained by a frequency estimator, their slots and hidden sum.

    Args and raises: as in `RetrieveTPUEmbeddingAdadeltaParametersGradAccumDebug`.

    Source: `tf.raw_ops.RetrieveTPUEmbeddingFrequencyEstimatorParametersGradAccumDebug`,
    TensorFlow 2.5 (2021).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("frequency_estimator"))
    >>> retrieved = RetrieveTPUEmbeddingFrequencyEstimatorParametersGradAccumDebug(
    ...     num_shards=2, shard_id=1, table_id=0
    ... )
    >>> retrieved.gradient_accumulators.shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    arrays = _retrieve("frequency_estimator", num_shards, shard_id, table_id, table_name, config)
    return FrequencyEstimatorDebugArrays(*arrays)


class MomentumDebugArrays(NamedTuple):
    """Rows, slots and hidden sum of a table trained by momentum, each (rows, width)."""

    parameters: np.ndarray
    momenta: np.ndarray
    gradient_accumulators: np.ndarray


@op(shapes.load)
def LoadTPUEmbeddingMomentumParametersGradAccumDebug(
    *,
    parameters: Tensor,
    momenta: Tensor,
    gradient_accumulators: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by momentum, their slots and hidden sum of gradients.

    Args and raises: as in `LoadTPUEmbeddingAdadeltaParametersGradAccumDebug`, an array for
    each slot.

    Source: `tf.raw_ops.LoadTPUEmbeddingMomentumParametersGradAccumDebug`,
    TensorFlow 1.15 (2019).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("momentum"))
    >>> rows = np.full((2, 1), 0.5)
    >>> LoadTPUEmbeddingMomentumParametersGradAccumDebug(
    ...     parameters=rows, momenta=rows, gradient_accumulators=0 * rows,
    ...     num_shards=2, shard_id=1, table_name="t"
    ... )
    >>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)]
    [[0.5, 0.5], [0.5, 0.5]]
    >>> tpu.shutdown_system()
    """
    _load(
        "momentum",
        [parameters, momenta, gradient_accumulators],
        num_shards,
        shard_id,
        table_id,
        table_name,
        config,
    )


@op(shapes.matrices(3))
def RetrieveTPUEmbeddingMomentumParametersGradAccumDebug(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> MomentumDebugArrays:
    """Return copies of rows of a table trained by momentum, their slots and hidden sum.

    Args and raises: as in `RetrieveTPUEmbeddingAdadeltaParametersGradAccumDebug`.

    Source: `tf.raw_ops.RetrieveTPUEmbeddingMomentumParametersGradAccumDebug`,
    TensorFlow 1.15 (2019).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("momentum"))
    >>> retrieved = RetrieveTPUEmbeddingMomentumParametersGradAccumDebug(
    ...     num_shards=2, shard_id=1, table_id=0
    ... )
    >>> retrieved.gradient_accumulators.shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    arrays = _retrieve("momentum", num_shards, shard_id, table_id, table_name, config)
    return MomentumDebugArrays(*arrays)


class ProximalAdagradDebugArrays(NamedTuple):
    """Rows, slots and hidden sum of a table trained by proximal Adagrad, each (rows, width)."""

    parameters: np.ndarray
    accumulators: np.ndarray
    gradient_accumulators: np.ndarray


@op(shapes.load)
def LoadTPUEmbeddingProximalAdagradParametersGradAccumDebug(
    *,
    parameters: Tensor,
    accumulators: Tensor,
    gradient_accumulators: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by proximal Adagrad, their slots and hidden sum of gradients.

    Args and raises: as in `LoadTPUEmbeddingAdadeltaParametersGradAccumDebug`, an array for
    each slot.

    Source: `tf.raw_ops.LoadTPUEmbeddingProximalAdagradParametersGradAccumDebug`,
    TensorFlow 1.15 (2019).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("proximal_adagrad"))
    >>> rows = np.full((2, 1), 0.5)
    >>> LoadTPUEmbeddingProximalAdagradParametersGradAccumDebug(
    ...     parameters=rows, accumulators=rows, gradient_accumulators=0 * rows,
    ...     num_shards=2, shard_id=1, table_name="t"
    ... )
    >>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)]
    [[0.5, 0.5], [0.5, 0.5]]
    >>> tpu.shutdown_system()
    """
    _load(
        "proximal_adagrad",
        [parameters, accumulators, gradient_accumulators],
        num_shards,
        shard_id,
        table_id,
        table_name,
        config,
    )


@op(shapes.matrices(3))
def RetrieveTPUEmbeddingProximalAdagradParametersGradAccumDebug(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> ProximalAdagradDebugArrays:
    """Return copies of rows of a table trained by proximal Adagrad, their slots and hidden sum.

    Args and raises: as in `RetrieveTPUEmbeddingAdadeltaParametersGradAccumDebug`.

    Source: `tf.raw_ops.RetrieveTPUEmbeddingProximalAdagradParametersGradAccumDebug`,
    TensorFlow 1.15 (2019).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("proximal_adagrad"))
    >>> retrieved = RetrieveTPUEmbeddingProximalAdagradParametersGradAccumDebug(
    ...     num_shards=2, shard_id=1, table_id=0
    ... )
    >>> retrieved.gradient_accumulators.shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    arrays = _retrieve("proximal_adagrad", num_shards, shard_id, table_id, table_name, config)
    return ProximalAdagradDebugArrays(*arrays)


class ProximalYogiDebugArrays(NamedTuple):
    """Rows, slots and hidden sum of a table trained by proximal Yogi, each (rows, width)."""

    parameters: np.ndarray
    v: np.ndarray
    m: np.ndarray
    gradient_accumulators: np.ndarray


@op(shapes.load)
def LoadTPUEmbeddingProximalYogiParametersGradAccumDebug(
    *,
    parameters: Tensor,
    v: Tensor,
    m: Tensor,
    gradient_accumulators: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by proximal Yogi, their slots and hidden sum of gradients.

    Args and raises: as in `LoadTPUEmbeddingAdadeltaParametersGradAccumDebug`, an array for
    each slot.

    Source: `tf.raw_ops.LoadTPUEmbeddingProximalYogiParametersGradAccumDebug`,
    TensorFlow 2.4 (2020).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("proximal_yogi"))
    >>> rows = np.full((2, 1), 0.5)
    >>> LoadTPUEmbeddingProximalYogiParametersGradAccumDebug(
    ...     parameters=rows, v=rows, m=rows, gradient_accumulators=0 * rows,
    ...     num_shards=2, shard_id=1, table_name="t"
    ... )
    >>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)]
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    >>> tpu.shutdown_system()
    """
    _load(
        "proximal_yogi",
        [parameters, v, m, gradient_accumulators],
        num_shards,
        shard_id,
        table_id,
        table_name,
        config,
    )


@op(shapes.matrices(4))
def RetrieveTPUEmbeddingProximalYogiParametersGradAccumDebug(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> ProximalYogiDebugArrays:
    """Return copies of rows of a table trained by proximal Yogi, their slots and hidden sum.

    Args and raises: as in `RetrieveTPUEmbeddingAdadeltaParametersGradAccumDebug`.

    Source: `tf.raw_ops.RetrieveTPUEmbeddingProximalYogiParametersGradAccumDebug`,
    TensorFlow 2.4 (2020).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("proximal_yogi"))
    >>> retrieved = RetrieveTPUEmbeddingProximalYogiParametersGradAccumDebug(
    ...     num_shards=2, shard_id=1, table_id=0
    ... )
    >>> retrieved.gradient_accumulators.shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    arrays = _retrieve("proximal_yogi", num_shards, shard_id, table_id, table_name, config)
    return ProximalYogiDebugArrays(*arrays)


class RMSPropDebugArrays(NamedTuple):
    """Rows, slots and hidden sum of a table trained by RMSProp, each (rows, width)."""

    parameters: np.ndarray
    ms: np.ndarray
    mom: np.ndarray
    gradient_accumulators: np.ndarray


@op(shapes.load)
def LoadTPUEmbeddingRMSPropParametersGradAccumDebug(
    *,
    parameters: Tensor,
    ms: Tensor,
    mom: Tensor,
    gradient_accumulators: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by RMSProp, their slots and hidden sum of gradients.

    Args and raises: as in `LoadTPUEmbeddingAdadeltaParametersGradAccumDebug`, an array for
    each slot.

    Source: `tf.raw_ops.LoadTPUEmbeddingRMSPropParametersGradAccumDebug`,
    TensorFlow 1.15 (2019).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("rms_prop"))
    >>> rows = np.full((2, 1), 0.5)
    >>> LoadTPUEmbeddingRMSPropParametersGradAccumDebug(
    ...     parameters=rows, ms=rows, mom=rows, gradient_accumulators=0 * rows,
    ...     num_shards=2, shard_id=1, table_name="t"
    ... )
    >>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)]
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    >>> tpu.shutdown_system()
    """
    _load(
        "rms_prop",
        [parameters, ms, mom, gradient_accumulators],
        num_shards,
        shard_id,
        table_id,
        table_name,
        config,
    )


@op(shapes.matrices(4))
def RetrieveTPUEmbeddingRMSPropParametersGradAccumDebug(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> RMSPropDebugArrays:
    """Return copies of rows of a table trained by RMSProp, their slots and hidden sum.

    Args and raises: as in `RetrieveTPUEmbeddingAdadeltaParametersGradAccumDebug`.

    Source: `tf.raw_ops.RetrieveTPUEmbeddingRMSPropParametersGradAccumDebug`,
    TensorFlow 1.15 (2019).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("rms_prop"))
    >>> retrieved = RetrieveTPUEmbeddingRMSPropParametersGradAccumDebug(
    ...     num_shards=2, shard_id=1, table_id=0
    ... )
    >>> retrieved.gradient_accumulators.shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    arrays = _retrieve("rms_prop", num_shards, shard_id, table_id, table_name, config)
    return RMSPropDebugArrays(*arrays)


class StochasticGradientDescentDebugArrays(NamedTuple):
    """Rows, slots and hidden sum of a table trained by SGD, each (rows, width)."""

    parameters: np.ndarray
    gradient_accumulators: np.ndarray


@op(shapes.load)
def LoadTPUEmbeddingStochasticGradientDescentParametersGradAccumDebug(
    *,
    parameters: Tensor,
    gradient_accumulators: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by SGD, their slots and hidden sum of gradients.

    Args and raises: as in `LoadTPUEmbeddingAdadeltaParametersGradAccumDebug`, an array for
    each slot.

    Source: `tf.raw_ops.LoadTPUEmbeddingStochasticGradientDescentParametersGradAccumDebug`,
    TensorFlow 2.4 (2020).

    >>> import numpy as np
    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("stochastic_gradient_descent"))
    >>> rows = np.full((2, 1), 0.5)
    >>> LoadTPUEmbeddingStochasticGradientDescentParametersGradAccumDebug(
    ...     parameters=rows, gradient_accumulators=0 * rows,
    ...     num_shards=2, shard_id=1, table_name="t"
    ... )
    >>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)]
    [[0.5, 0.5]]
    >>> tpu.shutdown_system()
    """
    _load(
        "stochastic_gradient_descent",
        [parameters, gradient_accumulators],
        num_shards,
        shard_id,
        table_id,
        table_name,
        config,
    )


@op(shapes.matrices(2))
def RetrieveTPUEmbeddingStochasticGradientDescentParametersGradAccumDebug(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> StochasticGradientDescentDebugArrays:
    """Return copies of rows of a table trained by SGD, their slots and hidden sum.

    Args and raises: as in `RetrieveTPUEmbeddingAdadeltaParametersGradAccumDebug`.

    Source: `tf.raw_ops.RetrieveTPUEmbeddingStochasticGradientDescentParametersGradAccumDebug`,
    TensorFlow 2.4 (2020).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("stochastic_gradient_descent"))
    >>> retrieved = RetrieveTPUEmbeddingStochasticGradientDescentParametersGradAccumDebug(
    ...     num_shards=2, shard_id=1, table_id=0
    ... )
    >>> retrieved.gradient_accumulators.shape
    (2, 1)
    >>> tpu.shutdown_system()
    """
    arrays = _retrieve(
        "stochastic_gradient_descent", num_shards, shard_id, table_id, table_name, config
    )
    return StochasticGradientDescentDebugArrays(*arrays)

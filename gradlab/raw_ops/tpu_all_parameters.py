"""The operations that load and retrieve all tables and slots at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .tpu_op import Config, Tensors, op, system
from .tpu_shapes import load_all, retrieve_all


@op(load_all)
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
        auxiliary1 to auxiliary7: slots in order, then the hidden sum of gradients where gradients are accumulated;
            arrays without entries stand for what a table lacks.
        num_shards, shard_id: rows are shared by so many hosts, and this one's are loaded.

    Raises:
        InvalidArgumentError: a shape that is not the configuration's, a shard that is not there, a hidden sum that is
            not empty. InternalError: another number of tables. Nothing changes then.

    Source: op `LoadAllTPUEmbeddingParameters`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config())
    >>> all_of_them = RetrieveAllTPUEmbeddingParameters(
    ...     NumTables=1, config=tpu.example_config(), num_shards=1, shard_id=0
    ... )
    >>> LoadAllTPUEmbeddingParameters(**all_of_them._asdict(), config=tpu.example_config(), num_shards=1, shard_id=0)
    >>> tpu.shutdown_system()
    """
    running = system(config)
    lists = (auxiliary1, auxiliary2, auxiliary3, auxiliary4, auxiliary5, auxiliary6, auxiliary7)
    held = zip(parameters, *lists, strict=True)
    arrays = {k: [w, *(a for a in slots if np.size(a))] for k, (w, *slots) in enumerate(held)}
    running.load_all(arrays, num_shards, shard_id)


class AllParameters(NamedTuple):
    """What `RetrieveAllTPUEmbeddingParameters` gives: each list has an array for each table. Source: that op.

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


@op(retrieve_all)
def RetrieveAllTPUEmbeddingParameters(
    *, NumTables: int, config: Config, num_shards: int, shard_id: int, name: str | None = None
) -> AllParameters:
    """Copies of the rows of all tables and their slots; arrays of shape (0, 0) stand for what a table lacks.

    The last slot is the hidden sum of gradients where they are accumulated; between steps it is the float32 whose bits
    are 1, which adds nothing and is not 0.

    Raises:
        InvalidArgumentError: a shard that is not there or would be empty. InternalError: another number of tables.

    Source: op `RetrieveAllTPUEmbeddingParameters`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> system = tpu.initialize_system(tpu.example_config("adagrad"))
    >>> found = RetrieveAllTPUEmbeddingParameters(
    ...     NumTables=1, config=tpu.example_config("adagrad"), num_shards=1, shard_id=0
    ... )
    >>> [x[0].shape for x in found[:4]], found.auxiliary2[0].view(np.uint32).ravel().tolist()
    ([(4, 1), (4, 1), (4, 1), (0, 0)], [1, 1, 1, 1])
    >>> tpu.shutdown_system()
    """
    tables = system(config).retrieve_all(num_shards, shard_id)
    none = np.zeros((0, 0), np.float32)
    return AllParameters(*([t[k] if k < len(t) else none for t in tables] for k in range(8)))

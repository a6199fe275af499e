"""Operations that load and retrieve a table and its slots: a pair for each of 13 optimizers, and one for all tables.

Each of the 13 pairs is made from one line: the optimizer's name, its message, and its slots in order.
"""

from __future__ import annotations

import inspect
from collections import namedtuple
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidArgumentError
from .tpu_op import Config, Tensors, op, part, system
from .tpu_shapes import load, load_all, retrieve, retrieve_all, text

_LOAD = """Load rows of a table trained by {message}, and their slots: {arrays}.

Args:
    {arrays}: float32, each (rows that the shard holds, width).
    num_shards, shard_id: rows are shared by so many hosts, and this one's are loaded.
    table_id, table_name: which table; exactly one is given.
    config: that of the running system, or nothing.

Raises:
    InvalidArgumentError: both or none of table_id and table_name, an unknown table or shard, another shape, a table of
        another optimizer. Nothing changes then.

Source: `tf.raw_ops.{name}`, TensorFlow 2.21 (2026).

>>> import numpy as np
>>> from gradlab import raw_ops, tpu
>>> system = tpu.initialize_system(tpu.example_config("{message}"))
>>> given = dict.fromkeys({fields!r}, np.full((2, 1), 0.5))
>>> raw_ops.{name}(**given, num_shards=2, shard_id=1, table_name="t")
>>> [x.ravel().tolist() for x in system.retrieve(0, num_shards=2, shard_id=1)] == [[0.5, 0.5]] * {count}
True
>>> tpu.shutdown_system()
"""
_RETRIEVE = """Copies of the rows of a table trained by {message}, and of their slots: {arrays}.

A pipelined update that is held back is made first. Args and Raises: as in `{other}`.

Source: `tf.raw_ops.{name}`, TensorFlow 2.21 (2026).

>>> import numpy as np
>>> from gradlab import raw_ops, tpu
>>> system = tpu.initialize_system(tpu.example_config("{message}"))
>>> np.shape(raw_ops.{name}(num_shards=2, shard_id=1, table_id=0)){index}
(2, 1)
>>> tpu.shutdown_system()
"""
_KEYWORD = inspect.Parameter.KEYWORD_ONLY
_WHICH = (
    ("num_shards", inspect.Parameter.empty),
    ("shard_id", inspect.Parameter.empty),
    ("table_id", -1),
    ("table_name", ""),
    ("config", ""),
    ("name", None),
)


def _signature(inputs: Sequence[str], returns: Any) -> inspect.Signature:
    tensors = [inspect.Parameter(n, _KEYWORD, annotation="Tensor") for n in inputs]
    rest = [inspect.Parameter(n, _KEYWORD, default=default) for n, default in _WHICH]
    return inspect.Signature([*tensors, *rest], return_annotation=returns)


def _loading(optimizer: str, message: str, slots: str) -> Any:
    fields = ("parameters", *slots.split())

    def function(*, num_shards: int, shard_id: int, **given: Any) -> None:
        running, table = _table(message, **{k: x for k, x in given.items() if k not in fields})
        running.load(table, [given[f] for f in fields], num_shards, shard_id)

    return _named(function, f"LoadTPUEmbedding{optimizer}Parameters", message, fields, _LOAD, fields, load)


def _retrieving(optimizer: str, message: str, slots: str) -> Any:
    fields = ("parameters", *slots.split())
    name = f"RetrieveTPUEmbedding{optimizer}Parameters"
    output: Any = namedtuple(name, fields)  # type: ignore[misc]

    def function(*, num_shards: int, shard_id: int, **given: Any) -> Any:
        running, table = _table(message, **given)
        found = running.retrieve(table, num_shards, shard_id)
        return output(*found) if len(fields) > 1 else found[0]

    return _named(function, name, message, (), _RETRIEVE, fields, retrieve(len(fields)))


def _named(
    function: Any, name: str, message: str, inputs: Sequence[str], doc: str, fields: Sequence[str], shapes: Any
) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__signature__ = _signature(inputs, None if inputs else Any)
    function.__doc__ = doc.format(
        name=name,
        message=message,
        arrays=", ".join(fields),
        fields=list(fields),
        count=len(fields),
        other=name.replace("Retrieve", "Load"),
        index="[1:]" if len(fields) > 1 else "",
    )
    return op(shapes)(function)


def _table(
    message: str, table_id: int = -1, table_name: Any = "", config: Config = "", name: str | None = None
) -> tuple[Any, int]:
    """The system, and which of its tables is meant; refuses one of another optimizer."""
    running = system(config)
    table = part("engine.shapes").table_number(running.config, table_id, text(table_name))
    own = running.config.table_descriptor[table].optimization_parameters.WhichOneof("parameters")
    if own != message:
        raise InvalidArgumentError(
            f"table {running.plan.tables[table].name!r} is trained by {own}, not by {message}; "
            "every optimizer has its own operations, and the All operations are for every one"
        )
    return running, table


_OPTIMIZERS = {  # by its name in those of the operations: its message, and its slots in order
    "ADAM": ("adam", "momenta velocities"),
    "Adadelta": ("adadelta", "accumulators updates"),
    "Adagrad": ("adagrad", "accumulators"),
    "AdagradMomentum": ("adagrad_momentum", "accumulators momenta"),
    "CenteredRMSProp": ("centered_rms_prop", "ms mom mg"),
    "FTRL": ("ftrl", "accumulators linears"),
    "FrequencyEstimator": ("frequency_estimator", "last_hit_step"),
    "MDLAdagradLight": ("mdl_adagrad_light", "accumulators weights benefits"),
    "Momentum": ("momentum", "momenta"),
    "ProximalAdagrad": ("proximal_adagrad", "accumulators"),
    "ProximalYogi": ("proximal_yogi", "v m"),
    "RMSProp": ("rms_prop", "ms mom"),
    "StochasticGradientDescent": ("stochastic_gradient_descent", ""),
}
OUTPUTS: dict[str, tuple[str, ...]] = {}  # the arrays that an operation gives, by its name
for _name, (_message, _slots) in _OPTIMIZERS.items():
    for _made in (_loading(_name, _message, _slots), _retrieving(_name, _message, _slots)):
        globals()[_made.OP_NAME] = _made
    OUTPUTS[_made.OP_NAME] = ("parameters", *_slots.split())


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
    """The result of `RetrieveAllTPUEmbeddingParameters`: each list has an array for each table. Source: that op.

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

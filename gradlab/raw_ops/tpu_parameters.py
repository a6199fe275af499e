"""Operations that load and retrieve a table and its slots: a pair for each of 13 optimizers.

Each is made from one line: the optimizer's name, its message, and its slots in order.
"""

from __future__ import annotations

import inspect
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from .._base.errors import InvalidArgumentError
from .tpu_op import Config, op, part, system
from .tpu_shapes import load, retrieve, text

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


def _loading(optimizer: str, message: str, slots: str = "") -> Callable[..., None]:
    fields = ("parameters", *slots.split())

    def function(*, num_shards: int, shard_id: int, **given: Any) -> None:
        running, table = _table(message, **{k: x for k, x in given.items() if k not in fields})
        running.load(table, [given[f] for f in fields], num_shards, shard_id)

    return _named(function, f"LoadTPUEmbedding{optimizer}Parameters", message, fields, _LOAD, fields, load)


def _retrieving(optimizer: str, message: str, slots: str = "") -> Callable[..., Any]:
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
    table = part("config.shapes").table_number(running.config, table_id, text(table_name))
    own = running.config.table_descriptor[table].optimization_parameters.WhichOneof("parameters")
    if own != message:
        raise InvalidArgumentError(
            f"table {running.plan.tables[table].name!r} is trained by {own}, not by {message}; "
            "every optimizer has its own operations, and the All operations are for every one"
        )
    return running, table


LoadTPUEmbeddingADAMParameters = _loading("ADAM", "adam", "momenta velocities")
LoadTPUEmbeddingAdadeltaParameters = _loading("Adadelta", "adadelta", "accumulators updates")
LoadTPUEmbeddingAdagradParameters = _loading("Adagrad", "adagrad", "accumulators")
LoadTPUEmbeddingAdagradMomentumParameters = _loading("AdagradMomentum", "adagrad_momentum", "accumulators momenta")
LoadTPUEmbeddingCenteredRMSPropParameters = _loading("CenteredRMSProp", "centered_rms_prop", "ms mom mg")
LoadTPUEmbeddingFTRLParameters = _loading("FTRL", "ftrl", "accumulators linears")
LoadTPUEmbeddingFrequencyEstimatorParameters = _loading("FrequencyEstimator", "frequency_estimator", "last_hit_step")
LoadTPUEmbeddingMDLAdagradLightParameters = _loading(
    "MDLAdagradLight", "mdl_adagrad_light", "accumulators weights benefits"
)
LoadTPUEmbeddingMomentumParameters = _loading("Momentum", "momentum", "momenta")
LoadTPUEmbeddingProximalAdagradParameters = _loading("ProximalAdagrad", "proximal_adagrad", "accumulators")
LoadTPUEmbeddingProximalYogiParameters = _loading("ProximalYogi", "proximal_yogi", "v m")
LoadTPUEmbeddingRMSPropParameters = _loading("RMSProp", "rms_prop", "ms mom")
LoadTPUEmbeddingStochasticGradientDescentParameters = _loading(
    "StochasticGradientDescent", "stochastic_gradient_descent"
)
RetrieveTPUEmbeddingADAMParameters = _retrieving("ADAM", "adam", "momenta velocities")
RetrieveTPUEmbeddingAdadeltaParameters = _retrieving("Adadelta", "adadelta", "accumulators updates")
RetrieveTPUEmbeddingAdagradParameters = _retrieving("Adagrad", "adagrad", "accumulators")
RetrieveTPUEmbeddingAdagradMomentumParameters = _retrieving(
    "AdagradMomentum", "adagrad_momentum", "accumulators momenta"
)
RetrieveTPUEmbeddingCenteredRMSPropParameters = _retrieving("CenteredRMSProp", "centered_rms_prop", "ms mom mg")
RetrieveTPUEmbeddingFTRLParameters = _retrieving("FTRL", "ftrl", "accumulators linears")
RetrieveTPUEmbeddingFrequencyEstimatorParameters = _retrieving(
    "FrequencyEstimator", "frequency_estimator", "last_hit_step"
)
RetrieveTPUEmbeddingMDLAdagradLightParameters = _retrieving(
    "MDLAdagradLight", "mdl_adagrad_light", "accumulators weights benefits"
)
RetrieveTPUEmbeddingMomentumParameters = _retrieving("Momentum", "momentum", "momenta")
RetrieveTPUEmbeddingProximalAdagradParameters = _retrieving("ProximalAdagrad", "proximal_adagrad", "accumulators")
RetrieveTPUEmbeddingProximalYogiParameters = _retrieving("ProximalYogi", "proximal_yogi", "v m")
RetrieveTPUEmbeddingRMSPropParameters = _retrieving("RMSProp", "rms_prop", "ms mom")
RetrieveTPUEmbeddingStochasticGradientDescentParameters = _retrieving(
    "StochasticGradientDescent", "stochastic_gradient_descent"
)

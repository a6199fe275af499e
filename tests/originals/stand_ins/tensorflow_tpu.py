"""TensorFlow 2.21's namespace for the tests of TPU embeddings."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

import gradlab as gl
from tests.originals.namespaces import Namespace, StandIn
from tests.originals.stand_ins import graph, tensorflow
from tests.originals.stand_ins.graph import Tensor, as_tensor, call, raw
from tests.originals.stand_ins.tf_ops import of_numbers
from tests.originals.stand_ins.tf_ragged import RAGGED
from tests.originals.stand_ins.tf_tpu import (
    PerReplica,
    Strategy,
    TPUEmbedding,
    TPUEmbeddingForServing,
    constant_initializer,
    no_system,
)


def _where(condition: Any, x: Any, y: Any) -> Any:
    return call(
        lambda *values: graph.namespace(*values)[0].where(*values),
        *map(as_tensor, (condition, x, y)),
    )


def _concat(values: Any, axis: int = 0, **_: Any) -> Tensor:
    return Tensor.of(np.concatenate([np.asarray(raw(x)) for x in values], axis))


ROOMS = (gl.tpu, gl.tpu.experimental.embedding)
TPU: dict[str, Any] = {
    **{name: getattr(room, name) for room in ROOMS for name in room.__all__ if name[0].isupper()},
    **RAGGED,
    "Constant": constant_initializer,
    "InputOptions": SimpleNamespace,
    "TPUEmbedding": TPUEmbedding,
    "TPUEmbeddingForServing": TPUEmbeddingForServing,
    "TPUEmbeddingVariable": PerReplica,
    "TPUClusterResolver": SimpleNamespace,
    "TPUStrategy": Strategy,
    "Zeros": lambda: constant_initializer(0.0),
    "_Optimizer": gl.tpu.experimental.embedding.Optimizer,
    "concat": _concat,
    "connect_to_cluster": lambda *_: None,
    "enable_mlir_bridge": lambda: None,
    "expand_dims_v2": tensorflow.NAMES["expand_dims"],
    "initialize_tpu_system": lambda *_: None,
    "squared_difference": lambda a, b: call(lambda x, y: (x - y) * (x - y), as_tensor(a), b),
    "where": _where,
    "ones_like": of_numbers("ones_like"),
    "zeros_initializer": constant_initializer(0.0),
}
NAMES = tensorflow.NAMES | TPU
MODULES = tensorflow.MODULES | frozenset(["nest", "config"])
STAND_IN = StandIn(
    ("tensorflow",),
    Namespace("TensorFlow with TPU embeddings", NAMES),
    MODULES,
    around=no_system,
    beside="_test",
)

"""TensorFlow 2.21's namespace, eager unless a case says otherwise."""

from __future__ import annotations

from typing import Any

import gradlab as gl
from tests.originals.namespaces import Namespace, StandIn
from tests.originals.stand_ins import graph
from tests.originals.stand_ins.dtypes import DTYPES
from tests.originals.stand_ins.graph import Slices, Tensor, call, raw
from tests.originals.stand_ins.tf_accumulators import ACCUMULATORS
from tests.originals.stand_ins.tf_gradients import GRADIENTS
from tests.originals.stand_ins.tf_kernels import KERNELS
from tests.originals.stand_ins.tf_loss_scale import LOSS_SCALES
from tests.originals.stand_ins.tf_ops import OPS
from tests.originals.stand_ins.tf_test import TEST
from tests.originals.stand_ins.tf_train import TRAIN
from tests.originals.stand_ins.tf_variables import (
    ResourceVariable,
    Variable,
    get_variable,
    initialize_all,
    variable_scope,
)


def clip(name: str) -> Any:
    """A clip of gradlab on tensors."""

    def function(*arguments: Any, **keywords: Any) -> Any:
        keywords.pop("name", None)
        names = list(keywords)
        given = [*arguments, *keywords.values()]

        def compute(*values: Any) -> Any:
            fixed = len(values) - len(names)
            return getattr(gl, name)(
                *values[:fixed], **dict(zip(names, values[fixed:], strict=True))
            )

        return call(compute, *given)

    return function


def get_collection(name: str) -> list[Any]:
    """What has been collected in the Graph by a name."""
    return vars(graph.default_graph()).get(name, [])


CLIPS = {
    name: clip(name)
    for name in (
        "clip_by_value",
        "clip_by_norm",
        "clip_by_average_norm",
        "clip_by_global_norm",
        "global_norm",
    )
}
ERRORS = {name: getattr(gl.errors, name) for name in gl.errors.__all__}
VARIABLES = {
    "RefVariable": Variable,
    "ResourceVariable": ResourceVariable,
    "is_resource_variable": lambda x: isinstance(x, ResourceVariable),
    "Variable": Variable,
    "VariableV1": Variable,
    "get_variable": get_variable,
    "global_variables_initializer": initialize_all,
    "variables_initializer": initialize_all,
    "initialize_resources": initialize_all,
    "is_variable_initialized": lambda _variable: Tensor.of(True),
    "trainable_variables": gl.trainable_variables,
    "variable_scope": variable_scope,
    "get_collection": get_collection,
    "moving_average_variables": lambda: get_collection("moving_average_variables"),
    "GraphKeys": type("GraphKeys", (), {"TRAIN_OP": "train_ops", "GLOBAL_STEP": "global_step"}),
}
NAMES = {
    **DTYPES,
    **OPS,
    **TEST,
    **CLIPS,
    "_clip_by_value": CLIPS["clip_by_value"],
    **ERRORS,
    **ACCUMULATORS,
    **GRADIENTS,
    **KERNELS,
    **LOSS_SCALES,
    **VARIABLES,
    **TRAIN,
    "IndexedSlices": Slices,
    "Tensor": Tensor,
    "is_tensor": lambda x: isinstance(x, Tensor),
    "raw": raw,
}
MODULES = frozenset(
    [
        "cond",
        "context",
        "custom_gradient",
        "session",
        "test",
        "training",
        "variable_scope",
        "variables",
    ]
)
STAND_IN = StandIn(("tensorflow", "local_xla"), Namespace("TensorFlow", NAMES), MODULES)

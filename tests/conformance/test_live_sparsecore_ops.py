"""The operations of SparseCores beside TensorFlow's: names, signatures, outputs, shape functions.

What they compute is compared by `test_sparsecore_ops.py`, because TensorFlow for CPUs has no kernels
of them.
"""

from __future__ import annotations

import inspect
import typing
from typing import Any

import pytest

from gradlab import raw_ops
from tests.conformance import tensorflow_ops
from tests.conformance.compare import Raised
from tests.conformance.runner import attempt
from tests.golden.tensorflow_values import tensorflow

pytestmark = pytest.mark.tensorflow

PREPROCESSING = {
    "ConvertToCooTensor",
    "GetMinibatchesInCsrWithPhysicalReplica",
    "GetMinibatchSplitsWithPhysicalReplica",
    "StoreMinibatchStatisticsInFdo",
}
OPS = {
    name: getattr(raw_ops, name)
    for name in raw_ops.__all__
    if "SparseCore" in name or name.startswith("XlaSparse") or name in PREPROCESSING
}


def registered() -> set[str]:
    """The operations of SparseCores that TensorFlow registers."""
    tensorflow()
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.client import pywrap_tf_session as session

    found = op_def_pb2.OpList.FromString(session.TF_GetBuffer(session.TF_GetAllOpList()))
    names = {o.name for o in found.op}
    ours = {n for n in names if "SparseCore" in n or n.startswith("XlaSparse")}
    return ours | (PREPROCESSING & names)


def test_every_operation_is_there() -> None:
    assert registered() == set(OPS)


@pytest.mark.parametrize("name", OPS)
def test_signatures(name: str) -> None:
    """Names, order and defaults; names alone where TensorFlow has no function in Python."""
    parameters = dict(inspect.signature(OPS[name]).parameters)
    parameters.pop("name")
    public = getattr(tensorflow().raw_ops, name, None)
    if public is None:
        definition = tensorflow_ops.registered(name)
        inputs = {i.name for i in definition.input_arg}
        assert set(parameters) == inputs | {a.name for a in definition.attr}
        return
    theirs = dict(inspect.signature(public).parameters)
    theirs.pop("name")
    assert list(parameters) == list(theirs)
    for parameter, p in theirs.items():
        assert parameters[parameter].default == p.default, parameter


@pytest.mark.parametrize("name", OPS)
def test_outputs(name: str) -> None:
    """The fields of what an operation returns are TensorFlow's outputs, in its order."""
    outputs = [o.name for o in tensorflow_ops.registered(name).output_arg]
    returned = typing.get_type_hints(OPS[name])["return"]
    fields = list(getattr(returned, "_fields", ()))
    if len(outputs) < 2:
        assert fields == []
    else:
        assert fields == outputs


def shapes_of(name: str, **given: Any) -> None:
    """The same shapes from both, or an error from both."""
    mine = attempt(lambda: OPS[name].shapes(**given))
    theirs = attempt(lambda: tensorflow_ops.shapes(name, **given))
    if isinstance(theirs, Raised):
        assert isinstance(mine, Raised), f"{name}: gave {mine}, TensorFlow raised {theirs.error}"
        return
    assert not isinstance(mine, Raised), f"{name}: {mine.error}, TensorFlow gave {theirs}"
    flat = [s for x in mine for s in (x if isinstance(x, list) else [x])]
    flat_theirs = [s for x in theirs for s in (x if isinstance(x, list) else [x])]
    assert flat == flat_theirs, name


ATTRIBUTES = {
    "int": 2,
    "float": 0.5,
    "bool": True,
    "string": "t",
    "list(int)": [4, 2],
}
WITH_FUNCTIONS = {"CustomCombiner", "GradWithCsrInput"}
PLAIN = [name for name in OPS if not any(part in name for part in WITH_FUNCTIONS)]


@pytest.mark.parametrize("name", PLAIN)
def test_shapes(name: str) -> None:
    definition = tensorflow_ops.registered(name)
    numbers = {i.number_attr for i in definition.input_arg}
    types = {i.type_attr for i in definition.input_arg}
    given: dict[str, Any] = {
        a.name: ATTRIBUTES[a.type]
        for a in definition.attr
        if a.name not in numbers | types and a.type in ATTRIBUTES
    }
    if name in ("XlaSparseActivationsUnstack", "XlaSparseGradientsStack"):
        given |= {"dtype": "float32"}
    vectors = {i.name: [(6,)] * 2 if i.number_attr else (6,) for i in definition.input_arg}
    tables = ("embedding_table", "accumulator", "momenta", "velocity", "linear", "momentum")
    for table in tables:
        if table in vectors:
            vectors[table] = (8, 16)
    scalars = ("num_minibatches_per_physical_sparse_core", "offsets")
    for scalar in scalars:
        if scalar in vectors:
            vectors[scalar] = ()
    if "stacked_activations" in vectors:
        vectors["stacked_activations"] = (6, 8)
    if "unstacked_gradients" in vectors:
        vectors["unstacked_gradients"] = [(6, 3), (6, 9)]

    shapes_of(name, **given, **vectors)
    for changed in vectors:
        wrong = [(5, 1, 1)] * 2 if isinstance(vectors[changed], list) else (5, 1, 1)
        unknown = [None] * 2 if isinstance(vectors[changed], list) else None
        if changed not in ("unstacked_gradients", "stacked_activations"):
            shapes_of(name, **given, **{**vectors, changed: wrong})
            shapes_of(name, **given, **{**vectors, changed: unknown})

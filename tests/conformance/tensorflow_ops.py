"""TensorFlow's side of the operations of TPU embeddings: how they are registered, and their shape
functions, run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.golden.tensorflow_values import tensorflow

DTYPES = {"integer_tensor": "uint32", "float_tensor": "float32"}


def registered(name: str) -> Any:
    """The definition of an operation, None where there is none."""
    tensorflow()
    from tensorflow.python.framework import op_def_registry

    return op_def_registry.get(name)


def registered_names() -> set[str]:
    """Return the names of all public operations that TensorFlow registers."""
    tensorflow()
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.client import pywrap_tf_session as session

    operations = op_def_pb2.OpList.FromString(session.TF_GetBuffer(session.TF_GetAllOpList()))
    return {o.name for o in operations.op if not o.name.startswith("_")}


def family() -> set[str]:
    """Return the names of all operations of TPU embeddings that TensorFlow registers."""
    return {n for n in registered_names() if "TPUEmbedding" in n or "DedupData" in n}


def shapes(name: str, **given: Any) -> list[Any]:
    """The shapes of the outputs, from the shapes of the inputs and the attributes; None is an
    unknown shape.

    Raises: what adding the operation to a graph raises.
    """
    tf = tensorflow()
    from tensorflow.python.framework import op_def_library

    definition = registered(name)
    with tf.Graph().as_default() as graph:
        arguments = {i.name: _input(tf, i, given.pop(i.name)) for i in definition.input_arg}
        inferred = {x for i in definition.input_arg for x in (i.number_attr, i.type_attr) if x}
        attributes = {
            a.name: given[a.name] if a.name in given else _default(a)
            for a in definition.attr
            if a.name not in inferred
        }
        lists = [i.number_attr for i in definition.output_arg if i.number_attr]
        op_def_library.apply_op(name, **arguments, **attributes)
        (made,) = [o for o in graph.get_operations() if o.type == name]
        found = [None if o.shape.rank is None else tuple(o.shape.as_list()) for o in made.outputs]
    if len(definition.output_arg) > 1 and lists:
        each = len(found) // len(definition.output_arg)
        return [found[k : k + each] for k in range(0, len(found), each)]
    return found


def _input(tf: Any, argument: Any, given: Any) -> Any:
    dtype = DTYPES.get(argument.name) or tf.dtypes.as_dtype(argument.type or _dtype(argument)).name
    if argument.number_attr:
        return [_placeholder(tf, dtype, shape) for shape in given]
    return _placeholder(tf, dtype, given if argument.name != "mode_override" else ())


def _dtype(argument: Any) -> int:
    return {"T1": 3, "T2": 3, "T3": 1}[argument.type_attr]  # int32, int32, float32


def _placeholder(tf: Any, dtype: str, shape: Sequence[int | None] | None) -> Any:
    return tf.compat.v1.placeholder(dtype, None if shape is None else list(shape))


def _default(attribute: Any) -> Any:
    """The value of an attribute that is not given."""
    value = attribute.default_value
    kind = value.WhichOneof("value")
    return [] if kind == "list" else getattr(value, kind)

"""Run observations that are code on TensorFlow: eager, or each call in one session."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.golden.build import Json, word
from tests.golden.tensorflow_values import tensorflow


def outputs(scenario: Json) -> list[Json]:
    """The value or the class of the error of each line; what returns nothing has neither."""
    space = InGraph() if scenario["mode"] == "graph" else Eager()
    return [space.run(call["do"]) for call in scenario["calls"]]


class Eager:
    """The names that code may use, and those that it makes."""

    def __init__(self) -> None:
        tf = tensorflow()
        dtypes = {"f16": tf.float16, "f32": tf.float32, "f64": tf.float64, "bf16": tf.bfloat16, "boolean": tf.bool}
        self.names: dict[str, Any] = {
            **dtypes,
            **{name: getattr(tf, name) for name in ("int32", "int64", "complex64", "string")},
            "np": np,
            "SUM": "SUM",
            "tensor": self.tensor,
            "slices": self.slices,
            "CA": self.maker(tf.compat.v1.ConditionalAccumulator),
            "SCA": self.maker(tf.compat.v1.SparseConditionalAccumulator),
        }

    def maker(self, kind: Any) -> Callable[..., Any]:
        def make(dtype: Any, shape: Any, *reduction: Any, **named: Any) -> Any:
            return self.made(kind, dtype, shape, **dict(zip(["reduction_type"], reduction, strict=False)), **named)

        return make

    def made(self, kind: Any, *given: Any, **named: Any) -> Any:
        return kind(*given, **named)

    def tensor(self, x: Any, dtype: Any) -> Any:
        return tensorflow().constant(np.asarray(x, dtype.as_numpy_dtype))

    def slices(self, values: Any, indices: list[int], shape: list[int] | None) -> Any:
        tf = tensorflow()
        dense_shape = None if shape is None else tf.constant(shape, tf.int64)
        return tf.IndexedSlices(tf.constant(values, tf.float32), tf.constant(indices, tf.int64), dense_shape)

    def run(self, line: str) -> Json:
        *before, last = ast.parse(line).body
        try:
            exec(compile(ast.Module(before, []), line, "exec"), self.names)
            if not isinstance(last, ast.Expr):
                exec(compile(ast.Module([last], []), line, "exec"), self.names)
                return {}
            out = eval(compile(ast.Expression(last.value), line, "eval"), self.names)
        except Exception as error:  # which class it is, is the result
            return {"error": type(error).__name__}
        return {} if out is None else {"out": shown(out)}


class InGraph(Eager):
    """Accumulators whose methods build an operation and run it."""

    def __init__(self) -> None:
        super().__init__()
        tf = tensorflow()
        self.graph = tf.Graph()
        self.session = tf.compat.v1.Session(graph=self.graph)

    def run(self, line: str) -> Json:
        with self.graph.as_default():
            return super().run(line)

    def made(self, kind: Any, *given: Any, **named: Any) -> Any:
        return Built(kind(*given, **named), self)


class Built:
    """An accumulator in a graph, used as if it were eager."""

    def __init__(self, acc: Any, space: InGraph) -> None:
        self._acc, self._space = acc, space

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._acc, name)
        if not callable(found):
            return found
        return lambda *given, **named: self._space.session.run(found(*given, **named))


def shown(out: Any) -> Any:
    """Numbers as lists, dtypes by name, texts as they are."""
    if hasattr(out, "accumulator_ref"):
        return "constructed"
    if hasattr(out, "as_numpy_dtype"):
        return out.name
    if isinstance(out, str):
        return out
    array = np.asarray(out.numpy() if hasattr(out, "numpy") else out)
    return word(array.item()) if array.ndim == 0 else array.tolist()

"""Play steps that make objects and call their methods, on gradlab or on TensorFlow: one player for
both.

A step names the object it is about, so that several may be alive at once:

    {"do": "new", "as": "a", "class": "ConditionalAccumulator", "args": [{"dtype": "float32"}, [1]]}
    {"do": "method", "of": "a", "name": "take_grad", "args": [1], "as": "x"}
    {"do": "value", "of": "x"}
    {"do": "attribute", "of": "a", "name": "dtype"}
    {"do": "delete", "of": "a"}

Instead of a name, `of` may describe an object that only this step is about: its `class` and
arguments. Libraries refuse some arguments when an object is made and some when it is first used;
such a step fails either way.

Its outcome is `{}`, `{"out": array or text}` or `{"error": exception}`. In eager mode methods act
at once, in graph mode each one builds an operation and runs it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

import gradlab as gl
from tests.conformance import decode
from tests.conformance.scenarios import Unsupported
from tests.golden.tensorflow_values import Json, tensorflow, value

CLASSES = ("ConditionalAccumulator", "SparseConditionalAccumulator")


class Gradlab:
    """gradlab's classes, as strict as TensorFlow's."""

    def __init__(self, mode: str) -> None:
        self.scope = gl.Graph().as_default if mode == "graph" else contextlib.nullcontext

    def make(self, cls: str, /, *args: Any, **kwargs: Any) -> Any:
        return getattr(gl, cls)(*args, strict="tf", **kwargs)

    def run(self, method: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        returned = method(*args, **kwargs)
        # TensorFlow's apply returns nothing.
        return None if type(returned).__name__ == "Receipt" else returned

    def dtype(self, name: str) -> Any:
        return np.dtype(str) if name == "string" else decode.dtype(name)

    def tensor(self, x: Any) -> Any:
        """A bare array is a tensor, whose dtype stands as that of a JAX array does; slices are of
        NumPy arrays.
        """
        import jax

        if not decode.is_array(x):
            return decode.value(x)
        with jax.enable_x64(True):
            return jax.numpy.asarray(decode.array(x))


class TensorFlow:
    """`tf.compat.v1`; in graph mode with one session."""

    def __init__(self, mode: str) -> None:
        tf = tensorflow()
        self.scope: Callable[[], Any] = contextlib.nullcontext
        self.session = None
        if mode == "graph":
            graph = tf.Graph()
            self.scope = graph.as_default
            self.session = tf.compat.v1.Session(graph=graph)

    def make(self, cls: str, /, *args: Any, **kwargs: Any) -> Any:
        return getattr(tensorflow().compat.v1, cls)(*args, **kwargs)

    def run(self, method: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        returned = method(*args, **kwargs)
        return self.session.run(returned) if self.session else returned

    def dtype(self, name: str) -> Any:
        return tensorflow().as_dtype(name)

    def tensor(self, x: Any) -> Any:
        return value(x)


Library = Gradlab | TensorFlow


def play(calls: list[Json], library: Library) -> list[Json]:
    """The outcome of each call."""
    objects: dict[str, Any] = {}
    return [_outcome(call, library, objects) for call in calls]


def _outcome(call: Json, library: Library, objects: dict[str, Any]) -> Json:
    try:
        with library.scope():
            out = _play(call, library, objects)
    except Unsupported:
        raise
    except Exception as error:  # which class it is, is the result
        return {"error": error}
    return {} if out is None else {"out": shown(out)}


def _play(call: Json, library: Library, objects: dict[str, Any]) -> Any:
    verb = call["do"]
    if verb == "new":
        made = _make(call, library)
        if "as" in call:
            objects[call["as"]] = made
        return None
    if verb == "delete":
        del objects[call["of"]]
        return None
    subject = objects[call["of"]] if isinstance(call["of"], str) else _make(call["of"], library)
    if verb == "value":
        return subject
    if verb == "attribute":
        return getattr(subject, call["name"])
    if verb != "method":
        raise Unsupported(f"verb {verb!r}")
    args, kwargs = _arguments(call, library)
    returned = library.run(getattr(subject, call["name"]), *args, **kwargs)
    if "as" not in call:
        return returned
    objects[call["as"]] = returned
    return None


def _make(description: Json, library: Library) -> Any:
    if description["class"] not in CLASSES:
        raise Unsupported(f"class {description['class']!r}")
    args, kwargs = _arguments(description, library)
    return library.make(description["class"], *args, **kwargs)


def _arguments(call: Json, library: Library) -> tuple[list[Any], dict[str, Any]]:
    args = [argument(x, library) for x in call.get("args", [])]
    return args, {name: argument(x, library) for name, x in call.get("kwargs", {}).items()}


def argument(x: Any, library: Library) -> Any:
    """Plain numbers and texts as they are; a dtype, a NumPy array, slices and tensors as the
    library has them.
    """
    if not isinstance(x, dict):
        return x
    if x.keys() == {"dtype"}:
        return library.dtype(x["dtype"])
    if x.keys() == {"numpy"}:
        return decode.array(x["numpy"])
    return library.tensor(x)


def shown(out: Any) -> Any:
    """Texts as they are, dtypes by name, numbers as an array."""
    if isinstance(out, str):
        return out
    return (
        out.name if isinstance(out, np.dtype) or hasattr(out, "as_numpy_dtype") else np.asarray(out)
    )

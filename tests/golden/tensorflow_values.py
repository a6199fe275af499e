"""Golden JSON -> TensorFlow values and back: what every player of scenarios on TensorFlow needs.

TensorFlow is imported where it is used, so this file always imports. The JSON itself is read by
`tests/conformance/decode.py`, which gradlab's side reads with, too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from functools import cache
from itertools import chain, repeat
from typing import Any

import numpy as np

from tests.conformance.decode import NONFINITE, array, is_array

Json = dict[str, Any]


@cache
def tensorflow() -> Any:
    """The tensorflow module, without its start-up messages, on two logical CPUs if nothing has run
    on it yet.
    """
    import os

    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    tf.get_logger().setLevel("ERROR")
    (cpu,) = tf.config.list_physical_devices("CPU")
    with contextlib.suppress(RuntimeError):  # it is too late
        tf.config.set_logical_device_configuration(
            cpu, [tf.config.LogicalDeviceConfiguration()] * 2
        )
    return tf


def value(x: Any) -> Any:
    """A call argument."""
    if is_array(x):
        return tensorflow().constant(array(x))
    if isinstance(x, list):
        return [value(v) for v in x]
    if isinstance(x, dict):
        ((kind, inner),) = x.items()
        return WRAPPERS[kind](inner)
    return NONFINITE.get(x, x) if isinstance(x, str) else x


def _slices(inner: Json) -> Any:
    tf = tensorflow()
    shape = None if inner["dense_shape"] is None else tf.constant(inner["dense_shape"], tf.int64)
    return tf.IndexedSlices(value(inner["values"]), tf.constant(inner["indices"], tf.int64), shape)


def _callable(inner: Any) -> Callable[[], Any]:
    given = value(inner)
    values = chain(given, repeat(given[-1])) if isinstance(given, list) else repeat(given)
    return lambda: next(values)


WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "indexed_slices": _slices,
    "callable": _callable,
    "tfvar": lambda x: tensorflow().Variable(array(x)),
    "numpy": array,
    "tuple": lambda items: tuple(value(items)),
    "generator": lambda items: (item for item in value(items)),
    "dict": lambda items: {k: value(v) for k, v in items.items()},
}


def loss(x: Json, variables: Mapping[str, Any]) -> Any:
    """The loss as a tensor, computed now."""
    tf = tensorflow()
    ((kind, inner),) = x.items()
    if kind == "linear":
        return _add([tf.reduce_sum(value(coef) * variables[name]) for name, coef in inner.items()])
    if kind == "square":
        return _add([tf.reduce_sum(tf.square(variables[name])) for name in inner])
    if kind == "gather":
        return tf.reduce_sum(
            tf.gather(variables[inner["var"]], inner["ids"]) * value(inner["coef"])
        )
    if kind == "vector":
        return value(inner["coef"]) * variables[inner["var"]]
    if kind == "matmul_sum":
        return tf.reduce_sum(tf.matmul(*(variables[name] for name in inner)))
    if kind == "const":
        return tf.constant(inner)
    if kind == "sum":
        return _add([loss(term, variables) for term in inner])
    raise ValueError(f"loss {kind!r} is not known to the oracle")


def _add(terms: list[Any]) -> Any:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def constraint(name: str | None) -> Callable[[Any], Any] | None:
    tf = tensorflow()
    known = {
        None: None,
        "nonneg": lambda w: w * tf.cast(w >= 0, w.dtype),
        "clip01": lambda w: tf.clip_by_value(w, 0.0, 1.0),
    }
    return known[name]


def encode(x: np.ndarray) -> Json:
    """An array, exactly: Python writes every float so that it reads back as the same."""
    wide = x if x.dtype.kind in "ciub" else x.astype(np.float64)
    return {
        "dtype": x.dtype.name,
        "shape": list(x.shape),
        "values": [word(v.item()) for v in wide.reshape(-1)],
    }


def word(x: Any) -> Any:
    """JSON has no NaN and no infinity: they are words."""
    return str(x) if isinstance(x, float) and not np.isfinite(x) else x


def recorded(x: Any) -> Any:
    """What TensorFlow gave (already out of the session), as golden JSON."""
    if hasattr(x, "indices") and hasattr(x, "dense_shape"):
        shape = None if x.dense_shape is None else [int(n) for n in np.asarray(x.dense_shape)]
        indices = [int(i) for i in np.asarray(x.indices)]
        return {
            "indexed_slices": {
                "values": encode(np.asarray(x.values)),
                "indices": indices,
                "dense_shape": shape,
            }
        }
    if isinstance(x, list | tuple):
        return [recorded(v) for v in x]
    if isinstance(x, dict):
        return {k: recorded(v) for k, v in x.items()}
    if hasattr(x, "numpy"):
        return encode(np.asarray(x.numpy()))
    return encode(np.asarray(x)) if isinstance(x, np.ndarray | np.generic) else x


def error(raised: Exception) -> Json:
    """The class and its bases; messages change between versions and are not recorded."""
    bases = [c.__name__ for c in type(raised).__mro__ if issubclass(c, Exception)]
    return {"error": {"class": type(raised).__name__, "bases": bases}}

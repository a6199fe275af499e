"""Golden JSON -> Python values: arrays, IndexedSlices, argument wrappers and losses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain, repeat
from typing import Any

import numpy as np

import gradlab as gl
from tests.conformance.scenarios import Unsupported

NONFINITE = {
    "nan": np.nan,
    "inf": np.inf,
    "-inf": -np.inf,
    "NaN": np.nan,
    "Infinity": np.inf,
    "-Infinity": -np.inf,
}


def dtype(name: str) -> np.dtype:
    """The NumPy dtype of a TensorFlow dtype name, bfloat16 included."""
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def is_array(x: Any) -> bool:
    return isinstance(x, dict) and {"dtype", "shape", "values"} <= x.keys()


def number(x: Any) -> Any:
    """A number as written: "nan" and "inf" are words, complex numbers are pairs."""
    if isinstance(x, list):
        return complex(number(x[0]), number(x[1]))
    return NONFINITE.get(x, x) if isinstance(x, str) else x


def numbers(x: Any) -> Any:
    """Nested lists of real numbers with their words read: arrays in the files that write no dtype."""
    return [numbers(v) for v in x] if isinstance(x, list) else number(x)


def array(x: Mapping[str, Any], key: str = "values") -> np.ndarray:
    """The array; `key="hex"` reads `float.hex` entries instead of decimal ones."""
    entries = [float.fromhex(v) for v in x[key]] if key == "hex" else [number(v) for v in x[key]]
    with np.errstate(over="ignore"):
        return np.asarray(entries, dtype(x["dtype"])).reshape(x["shape"])


def slices(x: Mapping[str, Any], as_array: Callable[[Any], Any] = lambda a: a) -> gl.IndexedSlices:
    values = as_array(array(x["values"]))
    return gl.IndexedSlices(values, as_array(np.asarray(x["indices"], np.int32)), x["dense_shape"])


def value(x: Any, as_array: Callable[[Any], Any] = lambda a: a) -> Any:
    """A call argument.

    `as_array` turns decoded NumPy arrays into those of the library under test.
    """
    if is_array(x):
        return as_array(array(x))
    if isinstance(x, list):
        return [value(v, as_array) for v in x]
    if isinstance(x, dict):
        return _wrapped(x, as_array)
    return NONFINITE.get(x, x) if isinstance(x, str) else x


def _wrapped(x: dict[str, Any], as_array: Callable[[Any], Any]) -> Any:
    if len(x) != 1:
        raise Unsupported(f"argument {sorted(x)}")
    ((kind, inner),) = x.items()
    if kind == "indexed_slices":
        return slices(inner, as_array)
    if kind == "callable":
        return _callable(value(inner, as_array))
    if kind == "dict":
        return {k: value(v, as_array) for k, v in inner.items()}
    if kind not in WRAPPERS:
        raise Unsupported(f"argument wrapper {kind!r}")
    return WRAPPERS[kind](value(inner, as_array))


WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "tfvar": lambda a: gl.Variable(a),
    "numpy": lambda a: a,
    "tuple": tuple,
    "generator": lambda items: (item for item in items),
}


def _callable(result: Any) -> Callable[[], Any]:
    """A constant, or for a list one value per call and then the last one again."""
    if not isinstance(result, list):
        return lambda: result
    values = chain(result, repeat(result[-1]))
    return lambda: next(values)


def loss(x: dict[str, Any], variables: Mapping[str, Any]) -> Callable[[], Any]:
    """A scalar (for `vector`: an array) function of the variables, in jax.numpy."""
    ((kind, inner),) = x.items()
    if kind not in LOSSES:
        raise Unsupported(f"loss {kind!r}")
    return LOSSES[kind](inner, variables)


def _linear(inner: dict[str, Any], variables: Mapping[str, Any]) -> Callable[[], Any]:
    terms = [(array(coef), variables[name]) for name, coef in inner.items()]
    return lambda: _add([_jnp().sum(c * v.value) for c, v in terms])


def _square(names: list[str], variables: Mapping[str, Any]) -> Callable[[], Any]:
    return lambda: _add([_jnp().sum(variables[n].value * variables[n].value) for n in names])


def _gather(inner: dict[str, Any], variables: Mapping[str, Any]) -> Callable[[], Any]:
    ids, coef = np.asarray(inner["ids"], np.int32), array(inner["coef"])
    return lambda: _jnp().sum(gl.gather(variables[inner["var"]], ids) * coef)


def _vector(inner: dict[str, Any], variables: Mapping[str, Any]) -> Callable[[], Any]:
    coef = array(inner["coef"])
    return lambda: coef * variables[inner["var"]].value


def _matmul_sum(names: list[str], variables: Mapping[str, Any]) -> Callable[[], Any]:
    a, b = (variables[n] for n in names)
    return lambda: _jnp().sum(a.value @ b.value)


def _const(inner: float, variables: Mapping[str, Any]) -> Callable[[], Any]:
    return lambda: _jnp().asarray(number(inner), np.float32)


def _sum(inner: list[dict[str, Any]], variables: Mapping[str, Any]) -> Callable[[], Any]:
    terms = [loss(term, variables) for term in inner]
    return lambda: _add([term() for term in terms])


LOSSES: dict[str, Callable[[Any, Mapping[str, Any]], Callable[[], Any]]] = {
    "linear": _linear,
    "square": _square,
    "gather": _gather,
    "vector": _vector,
    "matmul_sum": _matmul_sum,
    "const": _const,
    "sum": _sum,
}

CONSTRAINTS: dict[str, Callable[[Any], Any]] = {
    "nonneg": lambda w: w * (w >= 0),
    "clip01": lambda w: gl.clip_by_value(w, 0.0, 1.0),
}


def _add(terms: list[Any]) -> Any:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _jnp() -> Any:
    import jax.numpy

    return jax.numpy

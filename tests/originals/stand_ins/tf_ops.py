"""The few operations that the suites compute with: NumPy's, or JAX's where a gradient is being
computed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import gradlab as gl
from tests.originals.stand_ins import graph
from tests.originals.stand_ins.dtypes import TensorShape, numpy_dtype
from tests.originals.stand_ins.graph import Slices, Tensor, as_tensor, call, constant_array, raw


def constant(
    value: Any, dtype: Any = None, shape: Any = None, name: str = "Const", **_: Any
) -> Tensor:
    return Tensor.of(constant_array(value, dtype, shape), name)


def placeholder(dtype: Any, shape: Any = None, name: str = "Placeholder") -> Tensor:
    def compute() -> np.ndarray:
        run = graph._RUN.get()
        if run is None or not run.building:
            raise gl.errors.InvalidArgumentError(
                f"You must feed a value for placeholder tensor {name!r}"
            )
        if shape is None:
            raise graph.UnknownShapeError(name)
        return np.zeros([n or 1 for n in shape], numpy_dtype(dtype))

    return Tensor(compute, name, shape, dtype)


def placeholder_with_default(value: Any, shape: Any = None, name: str = "Placeholder") -> Tensor:
    return Tensor(lambda: raw(as_tensor(value)), name)


def of_numbers(name: str) -> Callable[..., Any]:
    """An operation by NumPy's name, on one or two tensors."""

    def function(*tensors: Any, name_: Any = None, **keywords: Any) -> Any:
        keywords.pop("name", None)

        def compute(*values: Any) -> Any:
            xp, *arrays = graph.namespace(*values)
            return getattr(xp, name)(*arrays, **keywords)

        return call(compute, *tensors)

    return function


def matmul(a: Any, b: Any, **_: Any) -> Any:
    return of_numbers("matmul")(a, b)


def reduce_sum(x: Any, axis: Any = None, **_: Any) -> Any:
    return call(
        lambda value: graph.namespace(value)[0].sum(value, axis=axis, dtype=value.dtype),
        as_tensor(x),
    )


def reduce_mean(x: Any, axis: Any = None, **_: Any) -> Any:
    return call(lambda value: graph.namespace(value)[0].mean(value, axis=axis), as_tensor(x))


def cast(x: Any, dtype: Any, **_: Any) -> Any:
    return call(lambda value: value.astype(numpy_dtype(dtype)), as_tensor(x))


def convert_to_tensor(x: Any, dtype: Any = None, **_: Any) -> Any:
    if isinstance(x, Slices):
        return call(lambda slices: slices.to_dense(), x)
    return as_tensor(x, dtype)


def embedding_lookup(params: Any, ids: Any, **_: Any) -> Any:
    """Rows of one variable, or of several by which rows go in turn."""
    tables = list(params) if isinstance(params, list | tuple) else [params]
    if len(tables) == 1:
        return gather(tables[0], ids)
    rows = np.asarray(raw(as_tensor(ids)))
    return stack([gather(tables[i % len(tables)], i // len(tables)) for i in rows.ravel()])


def gather(params: Any, indices: Any, **_: Any) -> Any:
    """gradlab's own gather, whose gradient is slices, where a variable is read."""
    if isinstance(params, gl.Variable):
        if graph.is_node((params, indices)):
            return Tensor(lambda: gl.gather(params, raw(as_tensor(indices))), "Gather")
        return graph.boxed(gl.gather(params, raw(as_tensor(indices))))
    return call(lambda table, i: table[i], as_tensor(params), as_tensor(indices))


def stack(values: Any, axis: int = 0, **_: Any) -> Any:
    return call(
        lambda *items: graph.namespace(*items)[0].stack(items, axis), *map(as_tensor, values)
    )


def shaped(make: Callable[..., Any]) -> Callable[..., Any]:
    """`zeros` and `ones`."""

    def function(shape: Any, dtype: Any = np.float32, **_: Any) -> Any:
        return Tensor.of(
            make(
                tuple(int(n) for n in np.atleast_1d(raw(shape))) if np.ndim(shape) else shape,
                numpy_dtype(dtype),
            )
        )

    return function


def group(*inputs: Any, **_: Any) -> Any:
    return graph.deferred(lambda: [graph.fetched(x) for x in inputs] and None, "group")


@contextlib.contextmanager
def control_dependencies(inputs: Any) -> Iterator[None]:
    token = graph._BEFORE.set((*graph._BEFORE.get(), *inputs))
    try:
        yield
    finally:
        graph._BEFORE.reset(token)


def random_uniform(shape: Any, *_: Any, **__: Any) -> Tensor:
    return Tensor.of(np.random.default_rng(0).random(tuple(shape), np.float32))


def range_(*limits: Any, dtype: Any = np.int32, **_: Any) -> Tensor:
    return Tensor.of(np.arange(*[int(raw(x)) for x in limits], dtype=numpy_dtype(dtype)))


@contextlib.contextmanager
def nothing(*_: Any, **__: Any) -> Iterator[None]:
    """`tf.device`, `name_scope` and others that change no value."""
    yield


def assign(variable: Any, value: Any, **_: Any) -> Any:
    return variable.assign(value)


OPS: dict[str, Any] = {
    "TensorShape": TensorShape,
    "add": of_numbers("add"),
    "assign": assign,
    "assign_add": lambda variable, value, **_: variable.assign_add(value),
    "abs": of_numbers("abs"),
    "add_check_numerics_ops": group,
    "cast": cast,
    "constant": constant,
    "control_dependencies": control_dependencies,
    "convert_to_tensor": convert_to_tensor,
    "convert_to_tensor_v2": convert_to_tensor,
    "colocate_with": nothing,
    "device": nothing,
    "divide": of_numbers("divide"),
    "embedding_lookup": embedding_lookup,
    "equal": of_numbers("equal"),
    "exp": of_numbers("exp"),
    "expand_dims": lambda x, axis, **_: call(
        lambda value: graph.namespace(value)[0].expand_dims(value, axis), as_tensor(x)
    ),
    "gather": gather,
    "group": group,
    "identity": lambda x, **_: call(lambda value: value, as_tensor(x)),
    "matmul": matmul,
    "maximum": of_numbers("maximum"),
    "minimum": of_numbers("minimum"),
    "multiply": of_numbers("multiply"),
    "name_scope": nothing,
    "negative": of_numbers("negative"),
    "no_op": lambda *_, **__: graph.deferred(lambda: None, "no_op"),
    "ones": shaped(np.ones),
    "ones_like": of_numbers("ones_like"),
    "pack": stack,
    "pow": of_numbers("power"),
    "placeholder": placeholder,
    "placeholder_with_default": placeholder_with_default,
    "random_uniform": random_uniform,
    "range": range_,
    "real": of_numbers("real"),
    "reduce_mean": reduce_mean,
    "reduce_sum": reduce_sum,
    "shape": lambda x, **_: Tensor.of(np.asarray(as_tensor(x).shape, np.int32)),
    "size": lambda x, **_: Tensor.of(np.int32(as_tensor(x).shape.num_elements())),
    "sign": of_numbers("sign"),
    "sqrt": of_numbers("sqrt"),
    "square": of_numbers("square"),
    "stack": stack,
    "subtract": of_numbers("subtract"),
    "zeros": shaped(np.zeros),
    "zeros_like": of_numbers("zeros_like"),
}

"""TensorFlow's two modes as far as its tests show them: tensors that have a value, and nodes that
are run.

A node is a function without arguments. Running one computes what it reads first, each node once for
one run. The mode is gradlab's: inside a `gl.Graph` tensors are nodes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np

import gradlab as gl
from tests.originals.stand_ins.dtypes import DType, TensorShape, numpy_dtype

_RUN: ContextVar[Run | None] = ContextVar("run", default=None)
ON_CLOSE: list[Callable[[], None]] = []  # what closing a session ends
_BEFORE: ContextVar[tuple[Any, ...]] = ContextVar("before", default=())


class UnknownShapeError(Exception):
    """A placeholder of any shape cannot be made up."""


class Run:
    """One `Session.run`: what was fed, and what has been computed.

    `building`: a placeholder may be made up. `again`: values are computed again from what made
    them.
    """

    def __init__(
        self, feeds: dict[Any, Any] | None = None, building: bool = False, again: bool = False
    ) -> None:
        self.feeds, self.building, self.again = feeds or {}, building, again
        self.done: dict[int, Any] = {}


@contextlib.contextmanager
def running(feeds: dict[Any, Any] | None = None, building: bool = False) -> Iterator[None]:
    """A run of its own; inside another one it has the same feeds."""
    outer = _RUN.get()
    token = _RUN.set(
        Run(outer.feeds if outer else feeds, building or bool(outer and outer.building))
    )
    try:
        yield
    finally:
        _RUN.reset(token)


@contextlib.contextmanager
def recomputing(values: dict[Any, Any]) -> Iterator[None]:
    """A run in which these tensors have other values, and so has what was computed from them."""
    outer = _RUN.get()
    token = _RUN.set(Run({**(outer.feeds if outer else {}), **values}, building=True, again=True))
    try:
        yield
    finally:
        _RUN.reset(token)


def has_feeds() -> bool:
    """Whether this run was given values, which may be those of constants."""
    run = _RUN.get()
    return run is not None and bool(run.feeds)


def executing_eagerly() -> bool:
    """Whether operations happen at once: outside of a Graph, and while a node is computed."""
    return not default_graph().graph or _RUN.get() is not None


def default_graph() -> Any:
    from gradlab.train.variable import current_collection

    return current_collection()


class Operators:
    """What tensors and variables can do in expressions."""

    __slots__ = ()

    def _binary(name: str, swapped: bool = False) -> Any:  # type: ignore[misc]
        def method(self: Any, other: Any) -> Any:
            return call(
                lambda a, b: getattr(_numbers(a, b)[0], name)(*_numbers(a, b)[1:]),
                *_order(self, other, swapped),
                name=name,
            )

        return method

    __add__, __radd__ = _binary("add"), _binary("add", True)
    __sub__, __rsub__ = _binary("subtract"), _binary("subtract", True)
    __mul__, __rmul__ = _binary("multiply"), _binary("multiply", True)
    __truediv__, __rtruediv__ = _binary("true_divide"), _binary("true_divide", True)
    __matmul__, __pow__ = _binary("matmul"), _binary("power")
    __lt__, __le__, __gt__, __ge__ = (
        _binary("less"),
        _binary("less_equal"),
        _binary("greater"),
        _binary("greater_equal"),
    )

    def __neg__(self) -> Any:
        return call(lambda x: -x, self)

    def __getitem__(self, index: Any) -> Any:
        return call(lambda x: x[index], self)


class Tensor(Operators):
    """A value, or a node that computes one; operations are nodes without a value."""

    def __init__(
        self, compute: Callable[[], Any], name: str = "op", shape: Any = None, dtype: Any = None
    ) -> None:
        self._compute, self.name, self._shape, self._dtype = compute, name, shape, dtype
        self._before = _BEFORE.get()
        self._value: Any = None
        self.is_known = False

    @staticmethod
    def of(value: Any, name: str = "Const") -> Tensor:
        tensor = Tensor(lambda: value, name)
        tensor._value, tensor.is_known = value, True
        return tensor

    def compute(self) -> Any:
        """The value in this run."""
        run = _RUN.get()
        if run is not None and self in run.feeds:
            return run.feeds[self]
        if self.is_known and (run is None or not run.again):
            return self._value
        if run is None:
            with running():
                return self.compute()
        if id(self) not in run.done:
            for other in () if run.building else self._before:
                raw(other)
            run.done[id(self)] = self._compute()
        return run.done[id(self)]

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        Session().run(self, feed_dict)

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        return Session().run(self, feed_dict)

    def numpy(self) -> Any:
        if not self.is_known:
            raise AttributeError("a tensor of a Graph has no value of its own")
        return np.asarray(self._value)[()]

    @property
    def op(self) -> Tensor:
        return self

    @property
    def dtype(self) -> DType:
        return (
            DType(self._dtype) if self._dtype is not None else DType(np.dtype(self._sample().dtype))
        )

    @property
    def shape(self) -> TensorShape:
        return (
            TensorShape(self._shape)
            if self._shape is not None
            else TensorShape(np.shape(self._sample()))
        )

    @property
    def outputs(self) -> list[Tensor]:
        return [self]

    def get_shape(self) -> TensorShape:
        return self.shape

    def set_shape(self, shape: Any) -> None:
        self._shape = shape

    def _sample(self) -> Any:
        """The value with made-up placeholders, to know its shape and dtype."""
        with running(building=True):
            return self.compute()

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(raw(self), dtype=dtype)

    def __jax_array__(self) -> Any:
        return raw(self)

    def __float__(self) -> float:
        return float(self.numpy())

    def __int__(self) -> int:
        return int(self.numpy())

    __index__ = __int__

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __len__(self) -> int:
        return len(self.numpy())

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self.shape[0]))

    __hash__ = object.__hash__


class Slices:
    """`tf.IndexedSlices` whose parts may be nodes."""

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self.values, self.indices = as_tensor(values), as_tensor(indices)
        self.dense_shape = dense_shape

    @property
    def dtype(self) -> DType:
        return self.values.dtype

    def compute(self) -> gl.IndexedSlices:
        shape = (
            None
            if self.dense_shape is None
            else tuple(int(raw(n)) for n in np.asarray(raw(self.dense_shape)))
        )
        return gl.IndexedSlices(raw(self.values), raw(self.indices), shape)

    def __neg__(self) -> Slices:
        return Slices(-self.values, self.indices, self.dense_shape)

    @staticmethod
    def of(slices: gl.IndexedSlices) -> Slices:
        return Slices(Tensor.of(slices.values), Tensor.of(slices.indices), slices.dense_shape)


class Session:
    """`tf.compat.v1.Session`: nodes to values."""

    def __init__(self, *_: Any, graph: Any = None, **__: Any) -> None:
        self.graph = graph or default_graph()

    def run(self, fetches: Any, feed_dict: Any = None) -> Any:
        feeds = {k: np.asarray(raw(x), k.dtype.dtype) for k, x in (feed_dict or {}).items()}
        with running(feeds):
            return fetched(fetches)

    def close(self) -> None:
        for end in ON_CLOSE:
            end()

    @contextlib.contextmanager
    def as_default(self) -> Iterator[Session]:
        yield self

    def __enter__(self) -> Session:
        self._entered = (
            self.graph.as_default()
            if hasattr(self.graph, "as_default")
            else contextlib.nullcontext()
        )
        self._entered.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._entered.__exit__(*error)


def fetched(x: Any) -> Any:
    """What `Session.run` returns for a fetch."""
    if isinstance(x, dict):
        return {k: fetched(v) for k, v in x.items()}
    if isinstance(x, list | tuple):
        return type(x)(*map(fetched, x)) if hasattr(x, "_fields") else type(x)(map(fetched, x))
    if isinstance(x, gl.Operation):
        return x.run()
    value = raw(x)
    if value is None or isinstance(value, gl.IndexedSlices):
        return value
    return tuple(map(fetched, value)) if isinstance(value, tuple) else np.asarray(value)[()]


def is_node(x: Any) -> bool:
    """Whether something waits to be run."""
    if isinstance(x, list | tuple):
        return any(map(is_node, x))
    if isinstance(x, Slices):
        return any(map(is_node, (x.values, x.indices, x.dense_shape)))
    if isinstance(x, Tensor):
        return not x.is_known
    return isinstance(x, gl.Variable) and not executing_eagerly()


def raw(x: Any) -> Any:
    """An array, or gradlab's slices, out of anything; computed where it has to be."""
    if isinstance(x, Tensor):
        value = x.compute()
        return raw(value) if isinstance(value, Tensor | Slices | gl.Tensor) else value
    if isinstance(x, Slices):
        return x.compute()
    if isinstance(x, gl.Tensor):
        return x()
    if isinstance(x, gl.Variable):
        return gl.Variable.value.fget(x)  # type: ignore[attr-defined]
    if isinstance(x, DType):
        return numpy_dtype(x)
    if isinstance(x, list | tuple) and not hasattr(x, "_fields"):
        return type(x)(map(raw, x)) if type(x) in (list, tuple) else x
    return x


def call(function: Callable[..., Any], *arguments: Any, name: str = "op") -> Any:
    """The result of a function of arrays: now where all is known, else as a node."""
    if is_node(arguments):
        return Tensor(lambda: function(*map(raw, arguments)), name)
    result = boxed(function(*map(raw, arguments)), name)
    if isinstance(result, Tensor) and any(isinstance(x, Tensor | gl.Variable) for x in arguments):
        result._compute = lambda: function(*map(raw, arguments))
    return result


def deferred(function: Callable[[], Any], name: str = "op") -> Any:
    """Something with an effect: done now, or whenever it is run."""
    return boxed(function(), name) if executing_eagerly() else Tensor(function, name)


def boxed(value: Any, name: str = "Const") -> Any:
    """Results as tensors; structures stay structures."""
    if isinstance(value, gl.IndexedSlices):
        return Slices.of(value)
    if isinstance(value, list | tuple):
        return (
            type(value)(*map(boxed, value))
            if hasattr(value, "_fields")
            else type(value)(map(boxed, value))
        )
    return value if value is None or isinstance(value, Tensor | Slices) else Tensor.of(value, name)


def as_tensor(x: Any, dtype: Any = None) -> Any:
    if isinstance(x, Tensor | Slices):
        return x
    if isinstance(x, gl.Variable):
        return call(lambda value: value, x)
    if isinstance(x, list | tuple) and is_node(x):
        return call(lambda *items: _numbers(*items)[0].stack(items), *x)
    return Tensor.of(constant_array(x, dtype))


def constant_array(value: Any, dtype: Any = None, shape: Any = None) -> np.ndarray:
    """`tf.constant`: Python's floats are float32, its integers int32."""
    array = np.asarray(raw(value))
    if dtype is not None:
        array = array.astype(numpy_dtype(dtype))
    elif not hasattr(value, "dtype") and not (
        isinstance(value, list | tuple) and _has_dtype(value)
    ):
        array = array.astype(
            {"f": np.float32, "i": np.int32, "c": np.complex128}.get(array.dtype.kind, array.dtype)
        )
    if shape is not None:
        shape = tuple(int(n) for n in shape)
        array = np.broadcast_to(array, shape).copy() if array.size == 1 else array.reshape(shape)
    return array


def _has_dtype(items: Any) -> bool:
    return any(
        hasattr(x, "dtype") or (isinstance(x, list | tuple) and _has_dtype(x)) for x in items
    )


def _order(a: Any, b: Any, swapped: bool) -> tuple[Any, Any]:
    return (b, a) if swapped else (a, b)


def _numbers(*values: Any) -> tuple[Any, ...]:
    """The namespace of the values, and the values, a Python number in the dtype of the other one."""
    dtypes = [x.dtype for x in values if hasattr(x, "dtype")]
    arrays = [
        x if hasattr(x, "dtype") else np.asarray(x, dtypes[0] if dtypes else None) for x in values
    ]
    if any(type(x).__module__.startswith("jax") for x in arrays):
        import jax.numpy as jnp

        return jnp, *arrays
    return np, *arrays


namespace = _numbers

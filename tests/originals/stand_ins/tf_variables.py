"""`tf.Variable` in its many spellings, over `gl.Variable`."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import gradlab as gl
from tests.originals.stand_ins.dtypes import DType, TensorShape, numpy_dtype
from tests.originals.stand_ins.graph import (
    Operators,
    Tensor,
    as_tensor,
    call,
    constant_array,
    default_graph,
    deferred,
    executing_eagerly,
    is_node,
    raw,
    running,
)

_ALL: weakref.WeakSet[Variable] = weakref.WeakSet()
_SCOPE: list[str] = []
_BY_NAME: weakref.WeakKeyDictionary[Any, dict[str, Any]] = weakref.WeakKeyDictionary()


class Variable(gl.Variable):
    """`gl.Variable` with TensorFlow's methods. In a Graph what reads or assigns it is a node."""

    def __init__(
        self,
        initial_value: Any = None,
        trainable: Any = None,
        collections: Any = None,
        name: Any = None,
        dtype: Any = None,
        constraint: Any = None,
        **_: Any,
    ) -> None:
        given = initial_value() if callable(initial_value) else initial_value
        with running(building=True):
            value = constant_array(
                given if hasattr(given, "dtype") else list(given) if np.ndim(given) else given,
                dtype,
            )
        checked = (lambda x: np.asarray(raw(constraint(as_tensor(x))))) if constraint else None
        scoped = "/".join([*_SCOPE, name]) if name else name
        gl.Variable.__init__(self, value, trainable is not False, scoped, None, checked)
        self._given, self._first = given, value
        self.graph = default_graph()
        _ALL.add(self)
        if self.graph.graph:  # TensorFlow's keeps its variables, which gradlab's does not
            vars(self.graph).setdefault("kept", []).append(self)

    @staticmethod
    def adopt(variable: Any) -> Any:
        """TensorFlow's methods for a variable that gradlab has made, a slot."""
        if type(variable) is gl.Variable:
            here = default_graph()
            is_resource = any(isinstance(v, ResourceVariable) for v in _ALL if v.graph is here)
            variable.__class__ = ResourceVariable if is_resource else Variable
            variable._given = variable._first = np.array(raw(variable))
            variable.graph = default_graph()
        return variable

    def assign(
        self, value: Any, use_locking: Any = None, name: Any = None, read_value: bool = True
    ) -> Any:
        return self._changed(lambda: raw(value), "Assign")

    def assign_add(self, delta: Any, *_: Any, **__: Any) -> Any:
        return self._changed(lambda: raw(self) + raw(delta), "AssignAdd")

    def assign_sub(self, delta: Any, *_: Any, **__: Any) -> Any:
        return self._changed(lambda: raw(self) - raw(delta), "AssignSub")

    def _changed(self, new: Callable[[], Any], name: str) -> Any:
        """Set the value, in a Graph whenever the node is run."""

        def change() -> Any:
            self.load(new())
            return raw(self)

        if not executing_eagerly():
            return deferred(change, name)
        change()
        return self

    def restart(self) -> None:
        """What its initializer does."""
        given = self._given
        value = constant_array(given, self.dtype) if is_node(given) else self._first
        self.load(value)

    def ref(self) -> Any:
        """What a set holds in its place; here a variable has a hash itself."""
        return self

    experimental_ref = ref

    def read_value(self) -> Any:
        return call(lambda x: x, self)

    initialized_value = read_value

    def eval(self, session: Any = None) -> np.ndarray:
        return np.array(raw(self))[()]

    def get_shape(self) -> TensorShape:
        return TensorShape(self.shape)

    @property
    def dtype(self) -> Any:
        return DType(self._value.dtype)

    @property
    def initializer(self) -> Any:
        return deferred(self.restart, "init")

    @property
    def op(self) -> Tensor:
        return Tensor(lambda: raw(self), self.name.removesuffix(":0"))

    @property
    def _shared_name(self) -> str:
        return self.name.removesuffix(":0")

    @property
    def device(self) -> str:
        return ""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return gl.Variable.__array__(self, dtype, copy)

    def __getitem__(self, index: Any) -> Any:
        return call(lambda x: x[index], self)

    __hash__ = object.__hash__


class ResourceVariable(Variable):
    """TensorFlow's newer kind, which gradlab does not tell from the older; Adam's tests ask which
    one it is.
    """


# Not a base class: a slot of gradlab's could not become one of these.
for _name, _method in vars(Operators).items():
    if callable(_method) and _name not in vars(Variable):
        setattr(Variable, _name, _method)


def initialize_all(_variables: Any = None) -> Any:
    """`global_variables_initializer`: every variable of the graph that is there when it runs."""
    graph = default_graph()
    if executing_eagerly():
        return None  # what is eager has its value
    return deferred(lambda: [v.restart() for v in list(_ALL) if v.graph is graph] and None, "init")


@contextlib.contextmanager
def variable_scope(name: Any = None, *_: Any, **__: Any) -> Iterator[str]:
    _SCOPE.extend([name] if name else [])
    try:
        yield "/".join(_SCOPE)
    finally:
        if name:
            _SCOPE.pop()


def get_variable(
    name: str, shape: Any = None, dtype: Any = np.float32, initializer: Any = None, **keywords: Any
) -> Any:
    """A variable by name, made if it is not there."""
    known = _BY_NAME.setdefault(default_graph(), {})
    whole = "/".join([*_SCOPE, name])
    if whole not in known:
        if initializer is None:
            initializer = (
                np.random.default_rng(0).uniform(-1, 1, tuple(shape)).astype(numpy_dtype(dtype))
            )
        value = initializer
        if callable(initializer):
            value = initializer(tuple(shape or ()), dtype)
        known[whole] = Variable(value, name=name, dtype=dtype, trainable=keywords.get("trainable"))
    return known[whole]

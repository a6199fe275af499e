"""Variables, the collections they are in, and the global step."""

from __future__ import annotations

import re
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .._base.arrays import (
    Array,
    as_array,
    is_boxed,
    is_jax,
    is_traced,
    namespace,
    native_dtype,
    precision,
)
from .._base.forks import renew_in_child
from ..errors import InvalidArgumentError
from .buffers import Buffer

_tape: ContextVar[Any] = ContextVar("gradlab_tape", default=None)
# Whose id is the place in a memo of copy.deepcopy where `copies.follow` keeps a list.
FOLLOWERS = object()


if TYPE_CHECKING:

    class _Operators:
        """The operators of the mixin, which NumPy leaves untyped."""

        def _unary(self) -> Array: ...
        def _binary(self, other: Any) -> Array: ...

        __neg__ = __pos__ = __abs__ = __invert__ = _unary
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = (
            __rtruediv__
        ) = _binary
        __matmul__ = __rmatmul__ = __pow__ = __rpow__ = __floordiv__ = __rfloordiv__ = __mod__ = (
            __rmod__
        ) = _binary
        __lt__ = __le__ = __gt__ = __ge__ = __and__ = __or__ = __xor__ = __rand__ = __ror__ = (
            __rxor__
        ) = _binary

else:
    _Operators = NDArrayOperatorsMixin


class Variable(_Operators):
    """An array that keeps its name, dtype and shape while its value changes.

    Args:
        initial_value: array, number, list, or a function returning one. NumPy stays NumPy, JAX
            stays JAX.
        trainable: whether `trainable_variables()` lists it.
        name: shown as "name:0", TensorFlow's way; "Variable", "Variable_1", ... by default.
        dtype: what to convert to; by default the array's own, and float32 for Python floats.
        constraint: function from value to value that runs after each dense update.

    Raises: ValueError or TypeError as for arrays: None, ragged lists, strings.

    Usable in NumPy and jax.numpy expressions. `value` is a read-only array that never changes: an
    update makes a new one, or writes into memory that was never handed out. So several threads may
    read and differentiate one variable. A step by rows copies the table if `value` was read since
    the last step; `v[ids]` and `v.numpy()` don't cost that. Arrays of the other byte order become
    this machine's. After Ctrl-C in the middle of an update, and in a child forked while another
    thread was in the middle of one, make a new variable. Source: `tf.Variable`, TensorFlow 2.21 (2026).

    >>> v = Variable([1.0, 2.0], name="v")
    >>> (v * 2 + np.ones(2, np.float32)).tolist(), v.name
    ([3.0, 5.0], 'v:0')
    """

    _lock: threading.RLock  # held by a step from its first read to its last write
    _buffer: Buffer

    def __init__(
        self,
        initial_value: Any,
        trainable: bool = True,
        name: str | None = None,
        dtype: Any = None,
        constraint: Callable[[Array], Array] | None = None,
    ) -> None:
        value = as_array(
            initial_value() if callable(initial_value) else initial_value, "initial_value"
        )
        collection = current_collection()
        unique = name is None or collection.graph
        base = collection.unique_name(name or "Variable") if unique else name
        self.name, self.trainable, self.constraint = f"{base}:0", trainable, constraint
        self._set_up(_frozen(value if dtype is None else value.astype(native_dtype(dtype))))
        self._graph_key = collection.graph_key
        collection.add(self)
        register()

    def _set_up(self, value: Array) -> None:
        renew_in_child(self, "_lock")
        # A NumPy value was copied; a JAX value is still held by the caller.
        self._buffer = Buffer(value, is_shared=is_jax(value))

    @property
    def _value(self) -> Array:
        """The array now, for the library alone: what is kept, or given to a user, comes from
        `_buffer.share`.
        """
        array: Array = self._buffer.array
        return array

    @_value.setter
    def _value(self, value: Array) -> None:
        self._buffer.replace(value)

    @property
    def value(self) -> Array:
        """The array now, which never changes; while a gradient is being computed, the value to differentiate."""
        tape = _tape.get()
        value: Array = self._buffer.share() if tape is None else tape.read(self)
        return value

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._value.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self._value.dtype)

    def numpy(self) -> np.ndarray:
        """A copy of the value as a NumPy array."""
        return self._buffer.copy()

    def assign(self, value: Any) -> Variable:
        """Set the value, cast to this dtype; another shape is an InvalidArgumentError."""
        new = self._fitting(value)
        with self._lock:
            self._buffer.replace(_frozen(new), is_shared=is_jax(new))
        return self

    def assign_add(self, delta: Any) -> Variable:
        """value = value + delta, in one piece for other threads."""
        with self._lock, precision(self.dtype):
            return self.assign(self._value + self._fitting(delta))

    def assign_sub(self, delta: Any) -> Variable:
        """value = value - delta, in one piece for other threads."""
        with self._lock, precision(self.dtype):
            return self.assign(self._value - self._fitting(delta))

    def _fitting(self, value: Any) -> Array:
        """`value` as an array of this variable's kind and dtype; its shape must be the variable's."""
        new = as_array(value, f"the value for {self.name}")
        if tuple(new.shape) != self.shape:
            raise InvalidArgumentError(
                f"{self.name} has shape {self.shape}, got a value of shape {tuple(new.shape)}"
            )
        with precision(self.dtype):
            xp = namespace(self._value)
            same = xp is namespace(new)
            return (
                new.astype(self.dtype, copy=False)
                if same
                else xp.asarray(_not_followed(new), self.dtype)
            )

    def __getstate__(self) -> dict[str, Any]:
        """All but what belongs to this process, such as the lock."""
        return {
            "value": self._buffer.share(),
            "name": self.name,
            "trainable": self.trainable,
            "constraint": self.constraint,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Into the current collection, under the same name; in a Graph, where names are unique, under one like it."""
        collection = current_collection()
        self._set_up(_frozen(state["value"]))
        self._graph_key = collection.graph_key
        self.name = state["name"]
        self.trainable = state["trainable"]
        self.constraint = state["constraint"]
        if collection.graph:
            name = self.name.removesuffix(":0")
            self.name = f"{collection.unique_name(name)}:0"
        collection.add(self)
        register()

    def __copy__(self) -> Variable:
        """A Variable of its own: two that share a value would not be two."""
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        """A Variable of the same name and value, in the current collection; the constraint is shared."""
        new = memo[id(self)] = object.__new__(type(self))
        new.__setstate__(self.__getstate__())
        for follower in memo.get(id(FOLLOWERS), []):
            follower._follow(self, new)
        return new

    def __repr__(self) -> str:
        return f"<gradlab.Variable {self.name!r} shape={self.shape} dtype={self.dtype}>"

    def __jax_array__(self) -> Array:
        return self.value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if is_traced(self.value):
            raise TypeError(
                f"{self.name} is being differentiated: write the loss with jax.numpy, not with "
                "numpy; where JAX is not installed, with operators, or "
                "with autograd.numpy on its value"
            )
        return np.array(self.value, dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, Variable) for x in kwargs.get("out", ())):
            raise RuntimeError(
                "a Variable cannot be changed in place: use "
                "v.assign_add(x), or v = v + x for an array"
            )
        values = [x.value if isinstance(x, Variable) else x for x in inputs]
        if method == "__call__" and any(is_jax(x) or is_traced(x) for x in values):
            return getattr(namespace(*values), ufunc.__name__)(*values, **kwargs)
        return getattr(ufunc, method)(*values, **kwargs)

    def __getitem__(self, index: Any) -> Array:
        return self._buffer.take(index) if _tape.get() is None else self.value[index]

    def __iter__(self) -> Iterator[Array]:
        return iter(self.value)

    def __len__(self) -> int:
        return self.shape[0]

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    # Variables are dict keys, so == is identity; compare values with `.value ==`.
    __eq__ = object.__eq__
    __ne__ = object.__ne__
    __hash__ = object.__hash__


def register() -> None:
    """Make a Variable among the arguments of a JAX function stand for its value, as soon as JAX is there."""
    jax = sys.modules.get("jax")
    if jax is None or getattr(Variable, "_registered", False):
        return
    Variable._registered = True  # type: ignore[attr-defined]
    jax.tree_util.register_pytree_node(
        Variable, lambda v: ((v.value,), None), lambda _, values: values[0]
    )


def _frozen(value: Array) -> Array:
    if is_jax(value):
        return value
    value = np.array(_not_followed(value))
    value.flags.writeable = False
    return value


def _not_followed(value: Array) -> Array:
    if is_boxed(value):
        raise TypeError(
            "a value that is being differentiated cannot be kept in a "
            "Variable; return it from the loss"
        )
    return value


class GraphKey:
    """Which graph a variable is of; a key that keeps no graph alive."""


_EAGER = GraphKey()


class Collection:
    """The variables made while it is current, by weak reference, and their global step.

    `with gl.variable_collection():` gives an empty one of its own; leaving it brings the outer one
    back.
    """

    graph = False  # a Graph defers updates and makes names unique
    graph_key = _EAGER  # one for all that are no Graph

    def __init__(self) -> None:
        self._variables: list[weakref.ref[Variable]] = []
        self._names: set[str] = set()
        self._lock: threading.RLock
        renew_in_child(self, "_lock")
        self.global_step: Variable | None = None

    def unique_name(self, name: str) -> str:
        """`name`, or `name_1`, `name_2`, ... if it is taken."""
        with self._lock:
            candidate = self.next_name(name)
            self._names.add(candidate)
            return candidate

    def next_name(self, name: str) -> str:
        """Return what `unique_name` would give, and leave the name free."""
        with self._lock:
            candidate = name
            n = 0
            while candidate in self._names:
                n += 1
                candidate = f"{name}_{n}"
            return candidate

    def add(self, variable: Variable) -> None:
        with self._lock:
            self._variables = [r for r in self._variables if r() is not None]
            self._variables.append(weakref.ref(variable))

    def __iter__(self) -> Iterator[Variable]:
        with self._lock:
            alive = [r() for r in self._variables]
        return iter([v for v in alive if v is not None])

    def check_scope(self, name: Any) -> None:
        """Refuse what can't name an operation; outside a Graph no operation is named."""

    def finish(self, run: Callable[[], Any], name: str) -> Any:
        """Run an update that has been described: here it happens at once and returns None."""
        run()

    def fetch(self, run: Callable[[], Any], name: str) -> Any:
        """Run an update that has a result, and return it."""
        return run()


_current: ContextVar[Collection] = ContextVar("gradlab_collection")
_outermost = Collection()


def current_collection(otherwise: Collection | None = None) -> Collection:
    """The collection of this thread; where it has none, which is how threads start, `otherwise` or the outermost."""
    return _current.get(_outermost if otherwise is None else otherwise)


@contextmanager
def enter_collection(collection: Collection) -> Iterator[Collection]:
    """Make `collection` the current one of this thread."""
    token = _current.set(collection)
    try:
        yield collection
    finally:
        _current.reset(token)


def variable_collection() -> AbstractContextManager[Collection]:
    """Context manager: variables made inside are not seen outside, nor the other way round.

    Not in TensorFlow, where every `tf.Graph` has collections; a `gl.Graph` is one of these too.

    >>> import gradlab as gl
    >>> with variable_collection():
    ...     v = gl.Variable(1.0, name="inside")
    ...     len(gl.trainable_variables())
    1
    """
    return enter_collection(Collection())


def trainable_variables(scope: str | None = None) -> list[Variable]:
    """Trainable variables of the current collection in order of creation.

    Args:
        scope: regular expression, matched at the start of the name.

    Differs from TensorFlow: variables that nothing else refers to are gone.

    Source: `tf.compat.v1.trainable_variables`.

    >>> import gradlab as gl
    >>> with gl.variable_collection():
    ...     a, b = Variable(0.0, name="a1"), Variable(0.0, name="b1")
    ...     [v.name for v in trainable_variables(".*b")]
    ['b1:0']
    """
    pattern = re.compile(scope or "")
    return [v for v in current_collection() if v.trainable and pattern.match(v.name)]


def get_global_step() -> Variable | None:
    """The global step of the current collection, or None if none was made.

    Source: `tf.compat.v1.train.get_global_step`.

    >>> import gradlab as gl
    >>> with gl.variable_collection():
    ...     print(get_global_step())
    None
    """
    return current_collection().global_step


def get_or_create_global_step() -> Variable:
    """The global step of the current collection: an int64 variable that starts at 0 and is not trainable.

    Source: `tf.compat.v1.train.get_or_create_global_step`.

    >>> import gradlab as gl
    >>> with gl.variable_collection():
    ...     get_or_create_global_step().assign_add(2).numpy().item(), get_global_step().name
    (2, 'global_step:0')
    """
    collection = current_collection()
    with collection._lock:
        if collection.global_step is None:
            collection.global_step = Variable(np.int64(0), trainable=False, name="global_step")
        return collection.global_step
